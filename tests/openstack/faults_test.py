"""radlc while the services fail, and kill -9 of it before, during and after its calls: nothing is forgotten, nothing is there twice, and the next
apply or destroy brings everything to an end.

RADL_FAULT_RUNS and RADL_FAULT_SEED: how many seeds, from which on (2 from 1). RADL_KILL_POINTS: how many points of each run (4; 0: every call).
"""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

import cloud_faults
from faults import At, Faults
from gate import OPENSTACK_PASSING
from openstack_case import SYSTEM, OpenStackCase
from proxy import Treatment
from radl_case import RADLC

FILE = f"""radl 2
input nodes ( type = 'integer', default = 1 )
input team ( type = 'string', default = 'blue' )
network lan ( create = 'yes' )
network wan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system node (
  cpu.count >= 1, instance_tags = 'team=${{input.team}}', placement_group = 'spread', disk.1.size = 1G
  net_interface.0.connection = 'lan', {SYSTEM}
)
system front ( cpu.count >= 1, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', {SYSTEM} )
deploy node input.nodes openstack
deploy front 1 openstack
"""
KILLS = {"before": lambda request: Treatment(kill_before=True), "during": lambda request: Treatment(kill_during=0.4),
         "after": lambda request: Treatment(kill_after=True)}
KINDS = {"server": "server", "security_group": "security group", "key_pair": "key pair", "floating_ip": "floating address", "network": "network",
         "subnet": "subnet", "router": "router", "volume": "volume", "server_group": "server group"}


class Faulted(OpenStackCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)
        self.said = []

    def run_radlc(self, *arguments, faults=None, seconds=300):
        """(exit status, output); negative for a signal."""
        self.gate.faults = faults
        process = subprocess.Popen([str(RADLC), *map(str, arguments)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.gate.victim = process.pid
        first = len(self.gate.treated)
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            self.fail(f"radlc {arguments} did not end in {seconds} s: {[r.action for r in self.gate.log[-10:]]}\n{out}")
        finally:
            self.gate.victim = None
            settled = self.gate.wait_for_the_last()
            self.gate.faults = None
        self.assertTrue(settled, "requests are still under way")
        self.said.append(f"--- radlc {' '.join(map(str, arguments))}: {process.returncode} {self.gate.treated[first:]}\n{out}")
        return process.returncode, out

    def well(self, *arguments):
        code, out = self.run_radlc(*arguments)
        self.assertEqual(code, 0, "\n".join(self.said))
        return out

    def recorded(self):
        """Ids and tokens of the state, and of intents that are open."""
        path = next(iter(self.found("state.db")), None)
        if not path:
            return set()
        with tempfile.TemporaryDirectory() as folder:
            for one in path.parent.glob("state.db*"):
                shutil.copy(one, folder)
            with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / "state.db")) as db:
                if not db.execute("select 1 from sqlite_schema where name = 'resources'").fetchone():
                    return set()
                rows = db.execute("select id, token from resources").fetchall() + db.execute(
                    "select token, token from journal where closed_at is null").fetchall()
        return {word for row in rows for word in row if word}

    def tokens(self):
        """id -> token of everything that is marked, as OpenStack's own library reads it."""
        cloud = self.project.cloud
        found = {s.id: s.metadata.get("radlc:token") for s in self.project.servers()}
        found |= {v.id: v.metadata.get("radlc:token") for v in cloud.block_storage.volumes()}
        network = cloud.network
        for things in (network.networks(project_id=self.project.id), network.subnets(project_id=self.project.id),
                       network.routers(project_id=self.project.id), network.ips(project_id=self.project.id),
                       network.security_groups(project_id=self.project.id)):
            found |= {t.id: (t.description or "").split()[1] for t in things if (t.description or "").startswith("radlc ")}
        found |= {g.id: g.name.split()[1] for g in cloud.compute.server_groups() if g.name.startswith("radlc ")}
        found |= {k.name: k.name.rsplit("-", 1)[1] for k in cloud.compute.keypairs() if k.name.startswith("radlc-")}
        return {name: token for name, token in found.items() if token}

    def expect_nothing_forgotten(self):
        known = self.recorded()
        forgotten = {name: token for name, token in self.tokens().items() if name not in known and token not in known}
        self.assertEqual(forgotten, {}, "forgotten\n" + "\n".join(self.said))

    def expect_whole(self, *inputs):
        said = {}
        for resource in json.loads(self.well("state", "export", self.file))["resources"]:
            self.assertEqual(resource["status"], "ready", resource["address"])
            said.setdefault(KINDS[resource["type"]], set()).add(resource["id"])
        there = {}
        for kind, name, _ in self.baseline.changes()[0]:
            if kind != "port":
                there.setdefault(kind, set()).add(name)
        self.assertEqual(there, said, "\n".join(self.said))
        code, out = self.run_radlc("plan", "--detailed-exitcode", "--refresh", self.file, *inputs)
        self.assertEqual(code, 0, out)

    def brought_to_an_end(self, then, *inputs):
        self.expect_nothing_forgotten()
        if then == "apply":
            self.well("apply", "--auto-approve", self.file, *inputs)
            self.expect_whole(*inputs)
        self.well("destroy", "--auto-approve", self.file)
        self.assert_project_is_as_before(20)
        self.said.clear()


class WhileTheServicesFail(Faulted):
    def test_an_apply_a_change_and_a_destroy(self):
        first = int(os.environ.get("RADL_FAULT_SEED", 1))
        for seed in range(first, first + int(os.environ.get("RADL_FAULT_RUNS", 2))):
            with self.subTest(seed=seed):
                faults = lambda number: Faults(f"{seed}-{number}", 0.15, passing=OPENSTACK_PASSING, most=40)
                self.run_radlc("apply", "--auto-approve", self.file, faults=faults(1))
                self.expect_nothing_forgotten()
                self.run_radlc("apply", "--auto-approve", self.file, "--input", "team=red", "--input", "nodes=2", faults=faults(2))
                self.expect_nothing_forgotten()
                self.run_radlc("destroy", "--auto-approve", self.file, faults=faults(3))
                self.brought_to_an_end("apply" if seed % 2 else "destroy")
        self.assertTrue(self.gate.treated)


class OddAnswers(cloud_faults.OddAnswers, Faulted):
    pass


class Killed(Faulted):
    def killed(self, command, applied, *inputs):
        for line in applied:
            self.well(*line)
        first = len(self.gate.log)
        self.well(*command, *inputs)
        count = len(self.gate.log) - first
        self.well("destroy", "--auto-approve", self.file)
        rng = random.Random(f"{self.id()}{os.environ.get('RADL_FAULT_SEED', 1)}")
        most = int(os.environ.get("RADL_KILL_POINTS", 4))
        points = [(moment, call) for moment in KILLS for call in range(1, count + 1)]
        points = points if most == 0 else rng.sample(points, most)
        for number, (moment, call) in enumerate(points):
            for line in applied:
                self.well(*line)
            with self.subTest(moment=moment, call=call):
                code, _ = self.run_radlc(*command, *inputs, faults=At(call, KILLS[moment], name=f"kill {moment}"))
                self.assertIn(code, (-signal.SIGKILL, 0), "\n".join(self.said))
                self.brought_to_an_end("apply" if number % 2 else "destroy", *inputs)
        print(f"\n  {count} calls, killed at {len(points)} points", flush=True)

    def test_at_calls_of_an_apply(self):
        self.killed(("apply", "--auto-approve", self.file), [])

    def test_at_calls_of_a_change(self):
        self.killed(("apply", "--auto-approve", self.file), [("apply", "--auto-approve", self.file)], "--input", "nodes=2")

    def test_at_calls_of_a_destroy(self):
        self.killed(("destroy", "--auto-approve", self.file), [("apply", "--auto-approve", self.file)])


if __name__ == "__main__":
    unittest.main()
