"""Twenty steps on 1 and 4 SSH servers of loopback: 5 folders, 8 files, 2 files from a template, 5 commands. By ours (`radlc apply` on machines of
cloud `hosts` that it has taken), by ansible-core as it comes, tuned (pipelining, as many forks as hosts, no facts, strategy free) and tuned with
mitogen, and by hand: one script over an OpenSSH master connection that is open already, on all hosts at once. Ours goes over that connection too
(ControlPath in ssh_config, docs/providers/hosts.md), as Ansible goes over one that it keeps; `ours-logging-in` makes a connection of its own each time.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: seconds of the wall clock of the whole command, the best of the rounds, turn by
turn; who takes longer than five seconds has one round. `cold`: nothing of it is there (each turn has a folder of its own); `again`: all of it is there, and every step is looked at (ours: `apply
--refresh`). After each cold turn the trees of all hosts are compared with what was to be made: who has done other work is not measured.
"""
import getpass
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

from hosts_test import Machine  # an SSH server of loopback with a home of its own

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
RADLC = BUILD / "bin" / "radlc"
BIN = pathlib.Path(sys.executable).parent
HOSTS = [int(n) for n in os.environ.get("BENCH_CONFIGURE_HOSTS", "1 4").split()]
ROUNDS = int(os.environ.get("BENCH_CONFIGURE_ROUNDS", "5"))
SLOW = 5  # seconds: who takes longer has one round, in which a tenth of a second is nothing
GOALS = {"ansible": 40, "ansible tuned": None, "mitogen": 10, "raw ssh": 1 / 1.5}
OURS = ["ours", "ours logging in"]
LETTERS = "abcde"
NUMBERS = range(8)
TEMPLATE = "server {name}\nport {port}\n"


def content(number):
    return f"file {number} of the benchmark\n" * 20


def expected():
    """Path below the folder of a turn -> (mode, SHA-256 or None for a folder)."""
    digest = lambda text: hashlib.sha256(text.encode()).hexdigest()
    tree = {f"d{letter}": (0o755, None) for letter in LETTERS}
    tree |= {f"da/f{n}": (0o644, digest(content(n))) for n in NUMBERS}
    tree |= {f"db/t{i}": (0o600, digest(TEMPLATE.format(name=f"t{i}", port=8000 + i))) for i in range(2)}
    tree |= {f"dc/c{letter}": (0o644, digest(f"done {letter}\n")) for letter in LETTERS}
    return tree


def found(home, turn):
    base = home / turn
    return {str(path.relative_to(base)): (path.stat().st_mode & 0o777,
                                          hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None)
            for path in base.rglob("*")}


class Site:
    """Servers, what each side needs to work on them, and one method a side."""

    def __init__(self, folder, count):
        self.folder = folder
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "id"], check=True)
        key = (folder / "id.pub").read_text()
        self.machines = [Machine(folder, f"m{i}", key) for i in range(count)]
        while not all(machine.listens() for machine in self.machines):
            time.sleep(0.05)
        (folder / "known_hosts").write_text("".join(f"[{m.host}]:{m.port} {m.host_key}\n" for m in self.machines))
        config = "".join(f"Host m{i}\n  HostName {m.host}\n  Port {m.port}\n  User {getpass.getuser()}\n" for i, m in enumerate(self.machines))
        (folder / "ssh_config").write_text(config + f"Host *\n  IdentityFile {folder}/id\n  IdentitiesOnly yes\n  IdentityAgent none\n"
                                           f"  UserKnownHostsFile {folder}/known_hosts\n  StrictHostKeyChecking yes\n")
        (folder / "ssh_config_shared").write_text(f"Host *\n  ControlPath {folder}/c%n\n" + (folder / "ssh_config").read_text())
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "RADL_INPUT_"))}
        self.environment = dict(kept, RADL_SSH_CONFIG=str(folder / "ssh_config"), XDG_CACHE_HOME=str(folder / "cache"),
                                XDG_STATE_HOME=str(folder / "state"), XDG_DATA_HOME=str(folder / "data"), NO_COLOR="1", PATH=f"{BIN}:{os.environ['PATH']}")
        self.write_radl()
        self.write_ansible()
        for i in range(count):
            subprocess.run([*self.ssh(i), "-fN", "-M", f"m{i}"], check=True)

    def close(self):
        # Also Ansible's, which outlive it: their names are those of the next site's hosts.
        for socket in [*self.folder.glob("cm*"), *(self.folder / "cp").glob("*")]:
            subprocess.run(["ssh", "-S", str(socket), "-O", "exit", "any"], check=False, capture_output=True)
        if (self.folder / ".radl").exists():
            self.run([RADLC, "destroy", "--auto-approve", "site.radl"])
        for machine in self.machines:
            machine.stop()

    def run(self, command, **more):
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **more}, check=False, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{command}: {done.stdout[-6000:]}{done.stderr[-1500:]}")
        return time.monotonic() - begin

    # ---- ours

    def write_radl(self):
        urls = ", ".join(f"'ssh://m{i}'" for i in range(len(self.machines)))
        (self.folder / "t.conf").write_text(TEMPLATE.format(name="${name}", port="${port}"))
        files = "".join(f"  file \"~/${{input.turn}}/da/f{n}\" ( content = {json.dumps(content(n))} )\n" for n in NUMBERS)
        (self.folder / "site.radl").write_text(
            f"radl 2\ninput turn ( type = string )\nsystem node ( disk.0.image.url = [{urls}] )\n"
            "configure work (\n"
            + "".join(f"  directory \"~/${{input.turn}}/d{letter}\"\n" for letter in LETTERS) + files
            + "".join(f"  file \"~/${{input.turn}}/db/t{i}\" ( content = template('t.conf', {{ name = 't{i}', port = {8000 + i} }}), mode = '0600' )\n"
                      for i in range(2))
            + "".join(f"  command \"echo done {letter} > dc/c{letter}\" ( directory = \"~/${{input.turn}}\", creates = \"~/${{input.turn}}/dc/c{letter}\" )\n"
                      for letter in LETTERS)
            + f")\ndeploy node {len(self.machines)} hosts\ncontextualize ( system node configure work )\n")

    def ours(self, turn, again, config="ssh_config_shared"):
        return self.run([RADLC, "apply", "--auto-approve", *(["--refresh"] if again else []), "--input", f"turn={turn}", "site.radl"],
                        RADL_SSH_CONFIG=str(self.folder / config))

    # ---- Ansible

    def write_ansible(self):
        (self.folder / "t.j2").write_text(TEMPLATE.format(name="{{ item.name }}", port="{{ item.port }}"))
        tasks = [{"file": {"path": f"{{{{ base }}}}/d{letter}", "state": "directory", "mode": "0755"}} for letter in LETTERS]
        tasks += [{"copy": {"dest": f"{{{{ base }}}}/da/f{n}", "content": content(n), "mode": "0644"}} for n in NUMBERS]
        tasks += [{"template": {"src": str(self.folder / "t.j2"), "dest": f"{{{{ base }}}}/db/t{i}", "mode": "0600"},
                   "vars": {"item": {"name": f"t{i}", "port": 8000 + i}}} for i in range(2)]
        tasks += [{"shell": {"cmd": f"echo done {letter} > dc/c{letter}", "chdir": "{{ base }}", "creates": f"{{{{ base }}}}/dc/c{letter}"}}
                  for letter in LETTERS]
        variables = {"base": "{{ home }}/{{ turn }}"}
        for name, head in (("plain", {}), ("tuned", {"gather_facts": False, "strategy": "free"}),
                           ("mitogen", {"gather_facts": False, "strategy": "mitogen_free"})):
            (self.folder / f"{name}.yml").write_text(json.dumps([{"hosts": "all", "vars": variables, **head, "tasks": tasks}]))
        (self.folder / "inventory").write_text("".join(f"m{i} home={m.home}\n" for i, m in enumerate(self.machines))
                                               + f"[all:vars]\nansible_python_interpreter={sys.executable}\n")
        args = f"-F {self.folder}/ssh_config"
        (self.folder / "plain.cfg").write_text(f"[defaults]\ninventory = inventory\ntimeout = 60\n[ssh_connection]\ncontrol_path_dir = {self.folder}/cp\n"
                                               f"ssh_args = -C -o ControlMaster=auto -o ControlPersist=60s {args}\n")
        tuned = (f"[defaults]\ninventory = inventory\ntimeout = 60\nforks = {max(5, len(self.machines))}\n%s[ssh_connection]\npipelining = True\ncontrol_path_dir = {self.folder}/cp\n"
                 f"ssh_args = -o ControlMaster=auto -o ControlPersist=600s {args}\n")
        (self.folder / "tuned.cfg").write_text(tuned % "")
        import ansible_mitogen
        (self.folder / "mitogen.cfg").write_text(tuned % f"strategy_plugins = {pathlib.Path(ansible_mitogen.__file__).parent}/plugins/strategy\n")

    def ansible(self, name, turn):
        return self.run([BIN / "ansible-playbook", f"{name}.yml", "-e", f"turn={turn}"], ANSIBLE_CONFIG=str(self.folder / f"{name}.cfg"),
                        ANSIBLE_HOME=str(self.folder / "ansible"))

    # ---- by hand

    def ssh(self, i):
        return ["ssh", "-F", str(self.folder / "ssh_config"), "-S", str(self.folder / f"cm{i}")]

    def raw(self, turn):
        script = f"set -eu\nmkdir -p \"$HOME/{turn}\"\ncd \"$HOME/{turn}\"\n"
        script += "".join(f"[ -d d{letter} ] || mkdir d{letter}\nchmod 0755 d{letter}\n" for letter in LETTERS)
        texts = [(f"da/f{n}", "0644", content(n)) for n in NUMBERS]
        texts += [(f"db/t{i}", "0600", TEMPLATE.format(name=f"t{i}", port=8000 + i)) for i in range(2)]
        for path, mode, text in texts:
            digest = hashlib.sha256(text.encode()).hexdigest()
            script += (f"s=$(sha256sum {path} 2>/dev/null) || s=\n[ \"${{s%% *}}\" = {digest} ] || cat > {path} <<'END'\n{text}END\nchmod {mode} {path}\n")
        script += "".join(f"[ -e dc/c{letter} ] || echo done {letter} > dc/c{letter}\n" for letter in LETTERS)
        begin = time.monotonic()
        runs = [subprocess.Popen([*self.ssh(i), f"m{i}", "exec /bin/sh -s"], stdin=subprocess.PIPE, text=True) for i in range(len(self.machines))]
        for run in runs:
            run.stdin.write(script)
            run.stdin.close()
        if any(run.wait() for run in runs):
            raise SystemExit("the raw script failed")
        return time.monotonic() - begin

    def turn(self, side, name, again):
        return {"ours": lambda: self.ours(name, again), "ours logging in": lambda: self.ours(name, again, "ssh_config"), "ansible": lambda: self.ansible("plain", name), "ansible tuned": lambda: self.ansible("tuned", name),
                "mitogen": lambda: self.ansible("mitogen", name), "raw ssh": lambda: self.raw(name)}[side]()

    def check(self, side, name):
        for machine in self.machines:
            there, wanted = found(machine.home, name), expected()
            if there != wanted:
                differs = {path for path in there.keys() | wanted.keys() if there.get(path) != wanted.get(path)}
                raise SystemExit(f"{side} did other work: {sorted(differs)}")


def machine_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{os.cpu_count()} cores, {line.split(':', 1)[1].strip()}"
    return f"{os.cpu_count()} cores, {platform.machine()}"


def main():
    sides = [*OURS, *GOALS]
    for count in HOSTS:
        with tempfile.TemporaryDirectory(prefix="radl-") as folder:
            site = Site(pathlib.Path(folder), count)
            try:
                site.ours("first", False)  # takes the machines; that is not measured
                best = {}
                for round_ in range(ROUNDS):
                    for side in sides:
                        if best.get((side, "cold"), 0) > SLOW:
                            continue
                        name = f"{side.replace(' ', '-')}-{round_}"
                        for kind in ("cold", "again"):
                            seconds = site.turn(side, name, kind == "again")
                            print(f"{count} hosts, round {round_}: {kind}, {side}: {seconds:.3f} s", file=sys.stderr, flush=True)
                            best[side, kind] = min(best.get((side, kind), seconds), seconds)
                            site.check(side, name)
            finally:
                site.close()
        for kind in ("cold", "again"):
            for side, goal in GOALS.items():
                for ours in OURS:
                    mine, other = best[ours, kind], best[side, kind]
                    name = f"{kind}-{count}-hosts{ours.removeprefix('ours').replace(' ', '-')}-vs-{side.replace(' ', '-')}"
                    print(json.dumps({"name": name, "ours": mine, "peer": other, "unit": "s", "ratio": other / mine,
                                      "goal": goal if ours == OURS[0] else None, "machine": machine_name()}), flush=True)


main()
