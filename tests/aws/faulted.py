"""One infrastructure after the other in an account, each through a proxy of its own that makes things go wrong, and what must hold.

After whatever went wrong: every thing of ours in the account is in the state or in an intent that is still open, and nothing is there
twice. After an apply without faults: the account has what the state says, no less and no more. After a destroy: nothing.
"""
import contextlib
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

import account
from aws_case import SYSTEM
from extras import Extras
from instances import Instances
from moto_site import Moto
from proxy import Proxy
from quick import QUICK
from radl_case import RADLC, clean_environment, found

FILE = f"""radl 2
input nodes ( type = 'integer', default = 1 )
input size ( type = 'string', default = 't3.micro' )
input team ( type = 'string', default = 'blue' )
network lan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system node (
  instance_type = input.size, instance_tags = 'team=${{input.team}}', placement_group = 'spread'
  disk.1.size = 5G, disk.1.device = 'hdb', net_interface.0.connection = 'lan', {SYSTEM}
)
system front ( instance_type = 't3.micro', elastic_ip = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy node input.nodes ec2
deploy front 1 ec2
"""
SECONDS = 120  # that one radlc may take


class Ground:
    """The account, and machines behind its instances; made anew now and then, since moto never forgets what is terminated."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-faults-"))
        self.moto = Moto.shared()
        self.machines = Instances(self.moto, self.folder / "machines", isolated=False, idle=10)  # nothing is configured on them
        self.moto.check_signatures()
        self.baseline = account.Baseline(self.moto, storage=False)

    def close(self):
        self.machines.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Fault(AssertionError):
    """Something does not hold; the text says what was done before."""


class Infrastructure:
    """`logs_in`: radlc waits until it can log in to what it has made, which takes machines behind it and half of a seed's time."""

    def __init__(self, ground, name, tls=None, logs_in=True):
        self.ground, self.name = ground, name
        ground.machines.boots = logs_in
        self.folder = ground.folder / f"infrastructure-{name}"
        self.folder.mkdir()
        (self.folder / "site.radl").write_text(FILE if logs_in else FILE + "contextualize ()\n")
        self.extras = Extras(ground.machines)
        self.proxy = Proxy(ground.moto.url, None, self.extras, tls)
        self.extras.forward = self.proxy.forward
        self.said = []  # of every run: its arguments, exit status and output
        self.environment = clean_environment(self.folder)
        self.environment.update(ground.moto.environment(url=self.proxy.url), HOME=str(self.folder), no_proxy="*",
                                RADL_CALLER_CIDR="203.0.113.7/32", RADL_EC2_SETTLES_AFTER="10", RADL_EC2_PACE="0.3", **QUICK)

    def close(self):
        self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- running

    def radlc(self, *arguments, faults=None, environment=None):
        """(exit status, output); negative for a signal."""
        first = len(self.proxy.treated)
        self.proxy.faults = faults
        process = subprocess.Popen([str(RADLC), *arguments], cwd=self.folder, env=dict(self.environment, **(environment or {})),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.proxy.victim = process.pid
        try:
            out, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            self.said.append((arguments, "no end", out, self.proxy.treated[first:]))
            calls = [f"{request.number} {request.action}" for request in self.proxy.log[-12:]]
            self.expect(False, f"radlc did not end in {SECONDS} s; its last calls: {calls}")
        finally:
            self.proxy.victim = self.proxy.faults = None
        self.said.append((arguments, process.returncode, out, self.proxy.treated[first:]))
        return process.returncode, out

    def well(self, *arguments):
        code, out = self.radlc(*arguments)
        self.expect(code == 0, f"{' '.join(arguments)} without faults ends with {code}")
        return out

    def apply(self, *inputs, faults=None):
        return self.radlc("apply", "--auto-approve", "site.radl", *inputs, faults=faults)

    def destroy(self, faults=None):
        return self.radlc("destroy", "--auto-approve", "site.radl", faults=faults)

    # ---- what must hold

    def expect(self, holds, what):
        if holds:
            return
        text = [what]
        for arguments, code, out, treated in self.said:
            text += [f"--- radlc {' '.join(arguments)}: {code}", f"    done to requests: {treated}", out.strip()]
        text.append(f"the last calls: {[f'{r.number} {r.action} {r.body.decode()[-160:]}' for r in self.proxy.log[-8:]]}")
        text.append(f"placement groups: {self.extras.groups}")
        raise Fault("\n".join(text))

    def there(self, surroundings=False):
        """What the account has of ours: (kind, id, token)."""
        new, missing = self.ground.baseline.changes(surroundings)
        self.expect(not missing, f"of somebody else's is gone: {[str(t) for t in missing]}")
        groups = [account.Thing("placement group", name, tuple(sorted(tags.items()))) for name, (_, tags) in self.extras.groups.items()]
        return new + groups

    def state_file(self):
        return next(iter(found(self.folder, "state.db")), None)

    def recorded(self):
        """(ids and tokens of resources, tokens of open intents), read from the state itself."""
        path = self.state_file()
        if not path:
            return set(), set()
        with tempfile.TemporaryDirectory(prefix="radl-state-") as folder:  # what a kill has left is rolled back in a copy
            for one in path.parent.glob("state.db*"):
                shutil.copy(one, folder)
            return self._recorded_in(pathlib.Path(folder) / "state.db")

    @staticmethod
    def _recorded_in(path):
        with contextlib.closing(sqlite3.connect(path)) as db:
            if not db.execute("select 1 from sqlite_schema where name = 'resources'").fetchone():
                return set(), set()  # killed before anything was in it
            resources = db.execute("select id, token from resources").fetchall()
            intents = db.execute("select token from journal where closed_at is null").fetchall()
        return {word for row in resources for word in row if word}, {token for (token,) in intents if token}

    def expect_nothing_forgotten(self):
        """Whatever went wrong: the next run can find all that is there."""
        names, open_tokens = self.recorded()
        for thing in self.there():
            if thing.kind in ("network interface", "volume") and not thing.tag("radlc:token"):
                continue  # a machine's own; gone with it, which is counted in the end
            token = thing.tag("radlc:token")
            self.expect(thing.id in names or token in names | open_tokens, f"forgotten: {thing}")

    def expect_whole(self, nodes):
        """The account has what the state says, and the file wants: each once."""
        exported = json.loads(self.well("state", "export", "site.radl"))
        said = {}
        for resource in exported["resources"]:
            self.expect(resource["status"] == "ready", f"{resource['address']} is {resource['status']}")
            said.setdefault(resource["type"], set()).add(resource["id"])
        there = {}
        for thing in self.there():
            there.setdefault(thing.kind, set()).add(thing.id)
        self.expect(said.get("instance", set()) == there.get("instance", set()), f"instances: {said} but {there}")
        self.expect(len(there.get("instance", ())) == nodes, f"not {nodes} nodes: {there}")
        for kind, name in (("security_group", "security group"), ("key_pair", "key pair"), ("elastic_ip", "address"),
                           ("placement_group", "placement group")):
            self.expect(len(said.get(kind, ())) == len(there.get(name, ())), f"{name}s: {said} but {there}")
        self.expect(not self.recorded()[1], "intents are open after an apply without faults")
        code, _ = self.radlc("plan", "--detailed-exitcode", "--refresh", "site.radl", *self.inputs)
        self.expect(code == 0, "a plan after the apply has changes")

    inputs = ()

    def expect_nothing(self):
        left = self.there(surroundings=True)
        self.expect(not left, f"left behind: {[str(t) for t in left]}")
        self.expect(self.state_file() is None or not self.recorded()[0], "resources are in the state after destroy")

