"""How soon somebody's program is at work. Called by bench/program/run.

- Open MPI on three local nodes that are there: from the start of `radlc apply` to the program's first line, beside `mpirun` with the same
  host file, typed by hand into a shell on the first node, whose keys are there already. `ours` and `peer` are seconds; the goal is that
  the difference stays below three.
- A program of 0.3 s after an edit of one line, on one local node: from the start of `radlc apply` to its results on this computer, beside its
  files sent by tar over ssh, run there, and its results brought by tar; once with a source of a few lines, once with one of 200 MB. Goal: 1.2 times.
- Slurm, empty: from `radlc submit` to the job's first line, with the nodes that it needs made meanwhile. Goal: ten seconds, plus the
  machine's boot, which local nodes do not have.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}. RADL_PROGRAM_ROUNDS: how many of each, 5 (medians). As root, with Open MPI and Slurm of
packages.txt; a part that cannot run says "skipped: why".
"""
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RADLC = pathlib.Path(os.environ["RADL_BUILD"]) / "bin/radlc"
ROUNDS = int(os.environ.get("RADL_PROGRAM_ROUNDS", "5"))
MACHINE = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
FILE = """radl 2
description startup (name = 'startup')
input round (type = integer, default = 0)
network lan (outbound = 'no')
system worker (cpu.count >= 1, memory.size >= 512M, net_interface.0.connection = 'lan', net_interface.0.dns_name = 'worker-#N#')
deploy worker 3
use 'std/training/mpi' as first (
  nodes = system.worker
  main = 'sh'
  arguments = ['-c', 'date +first:%s.%N', input.round]
  install = no
)
output log (value = first.log_path)
"""


EDIT = """radl 2
description edit (name = 'edit')
system worker (cpu.count >= 1)
deploy worker 1
configure work (
  program 'work' (systems = system.worker, source = './source', main = 'sh', arguments = ['run.sh'])
)
output path (value = work.results_path)
"""


class Failed(Exception):
    pass


def run(command, folder, **more):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, **more)
    if done.returncode:
        raise Failed(f"{command[0]} {command[1]} ended with {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stdout


def line(name, ours, peer, goal):
    print(json.dumps({"name": name, "ours": round(ours, 2), "peer": peer and round(peer, 2), "unit": "s", "ratio": peer and round(ours / peer, 2), "goal": goal,
                      "machine": MACHINE}), flush=True)


def first_line(text, since):
    """The earliest of the members' times after `since`."""
    times = [float(word) for word in re.findall(r"first:(\d+\.\d+)", text)]
    times = [at for at in times if at > since]
    if len(times) != 3:
        raise Failed(f"{len(times)} of 3 processes have said their time:\n{text[-500:]}")
    return min(times)


class ByHand:
    """mpirun on the first node, in a shell that is reached with the system's ssh; what it needs there is put there before."""

    def __init__(self, folder, nodes):
        self.folder, first = folder, nodes[0]
        key = next((folder / ".radl").rglob("work/id_ed25519"))
        options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
        self.ssh = ["ssh", *options, "-i", str(key), "-p", str(first["port"]), f"{first['user']}@{first['host']}"]
        hosts = "".join(f"{node['private_ip']} slots=1\n" for node in nodes)
        config = "".join(f"Host {node['private_ip']}\n  Port {node['port']}\n  User {node['user']}\n" for node in nodes)
        config += "Host *\n  IdentityFile ~/.hand/key\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
        for name, text in (("key", key.read_text()), ("hosts", hosts), ("config", config)):
            subprocess.run([*self.ssh, f"umask 077; mkdir -p ~/.hand; cat > ~/.hand/{name}"], input=text, text=True, check=True, timeout=60)
        self.subnet = ".".join(first["private_ip"].split(".")[:2]) + ".0.0/16"

    def start(self):
        began = time.time()
        said = run([*self.ssh, "mpirun --allow-run-as-root --hostfile ~/.hand/hosts --map-by slot --bind-to none --mca plm_rsh_args \"-F $HOME/.hand/config\" "
                    f"--mca plm_rsh_no_tree_spawn 1 --mca btl_tcp_if_include {self.subnet} --mca oob_tcp_if_include {self.subnet} "
                    "sh -c 'date +first:%s.%N'"], self.folder)
        return first_line(said, began) - began


def mpi(folder, environment):
    (folder / "startup.radl").write_text(FILE)
    radlc = lambda *words: run([RADLC, *words], folder, env=environment)
    apply = lambda number: radlc("apply", "--auto-approve", "startup.radl", "--input", f"round={number}")
    try:
        apply(0)
        shown = json.loads(radlc("show", "--json", "startup.radl"))
        nodes = [one["attributes"] for one in shown["resources"] if one.get("system") == "worker"]
        hand = ByHand(folder, nodes)
        ours, theirs = [], []
        for number in range(1, ROUNDS + 1):
            began = time.time()
            apply(number)
            logs = pathlib.Path(json.loads(radlc("output", "--json", "startup.radl"))["log"]["value"])
            ours.append(first_line("".join(one.read_text() for one in (folder / logs).iterdir()), began) - began)
            theirs.append(hand.start())
        line("mpi: apply to the first line", statistics.median(ours), statistics.median(theirs), None)
        line("mpi: over what is done by hand", statistics.median(ours) - statistics.median(theirs), None, 3)
    finally:
        radlc("destroy", "--auto-approve", "startup.radl")


def edit(folder, environment):
    (folder / "edit.radl").write_text(EDIT)
    source = folder / "source"
    source.mkdir()
    script = lambda number: (source / "run.sh").write_text(
        f'mkdir -p "${{RADL_RESULTS:=results}}"; sleep 0.3; echo {number} > "$RADL_RESULTS/out"\n')
    script(0)
    radlc = lambda *words: run([RADLC, *words], folder, env=environment)
    radlc("apply", "--auto-approve", "edit.radl")
    try:
        node = next(one["attributes"] for one in json.loads(radlc("show", "--json", "edit.radl"))["resources"] if one.get("system") == "worker")
        key = next((folder / ".radl").rglob("work/id_ed25519"))
        ssh = f"ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i {key} -p {node['port']} {node['user']}@{node['host']}"
        hand = (f"rm -rf by-hand && mkdir by-hand && tar -C source -cf - . | {ssh} 'rm -rf ~/hand && mkdir ~/hand && cd ~/hand && tar -xf - && "
                "sh run.sh >&2 && tar -cf - results' | tar -C by-hand -xf -")
        results = pathlib.Path(folder / json.loads(radlc("output", "--json", "edit.radl"))["path"]["value"])
        for name, size in (("a few lines", 0), ("200 MB", 200)):
            if size:
                (source / "data").write_bytes(os.urandom(size * 1000000))
                radlc("apply", "--auto-approve", "edit.radl")
            ours, theirs = [], []
            for number in range(1, ROUNDS + 1):
                script(f"{size}-{number}")
                began = time.time()
                radlc("apply", "--auto-approve", "edit.radl")
                ours.append(time.time() - began)
                began = time.time()
                run(["bash", "-o", "pipefail", "-c", hand], folder)
                theirs.append(time.time() - began)
                if {(results / "out").read_text(), (folder / "by-hand/results/out").read_text()} != {f"{size}-{number}\n"}:
                    raise Failed("a result is not that of the edited program")
            line(f"edit to result: 0.3 s, {name}", statistics.median(ours), statistics.median(theirs), 1.2)
    finally:
        radlc("destroy", "--auto-approve", "edit.radl")


def slurm(folder, environment):
    environment = dict(environment, RADL_LOCAL_ISOLATION="required", RADL_LOCAL_NETWORK="own")
    text = (SOURCE / "examples/slurm/cluster.radl").read_text().replace("idle = input.idle", "idle = input.idle\n  accounting = no")
    (folder / "cluster.radl").write_text(text)
    given = ["--input", "idle=3s"]
    (folder / "job.sh").write_text("#!/bin/bash\n#SBATCH --ntasks=1\ndate +first:%s.%N\n")
    radlc = lambda *words: run([RADLC, *words], folder, env=environment)
    radlc("apply", "cluster.radl", "-y", *given)
    relay = subprocess.Popen([RADLC, "autoscale", "cluster.radl", *given], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workers = lambda: [one for one in json.loads(radlc("show", "--json", "cluster.radl"))["resources"] if one.get("system") == "worker"]
    try:
        took = []
        for _ in range(ROUNDS):
            deadline = time.time() + 120
            while workers():
                if time.time() > deadline:
                    raise Failed("nodes that are idle do not go")
                time.sleep(0.5)
            began = time.time()
            said = radlc("submit", "cluster.radl", "job.sh")
            took.append(float(re.search(r"first:(\d+\.\d+)", said)[1]) - began)
        line("slurm: submit to the first line, no node there", statistics.median(took), None, 10)
    finally:
        relay.send_signal(signal.SIGINT)
        relay.wait(120)
        radlc("destroy", "cluster.radl", "-y")


def main():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RADL_INPUT_")}
    failed = False
    for part, programs in ((edit, ("ssh", "tar")), (mpi, ("mpirun",)), (slurm, ("slurmctld", "slurmd", "sbatch", "munged", "slirp4netns"))):
        lacking = [name for name in programs if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
        if (os.geteuid() and part is not edit) or lacking:
            print(f"skipped: {part.__name__}: " + (", ".join(lacking) + " not installed" if lacking else "needs root"), flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix=f"radl-{part.__name__}-") as name:
            try:
                part(pathlib.Path(name), dict(kept, XDG_DATA_HOME=name + "/data", XDG_CACHE_HOME=name + "/cache", NO_COLOR="1"))
            except Failed as why:
                failed = True
                print(f"{part.__name__}: {why}", file=sys.stderr)
    sys.exit(failed)


main()
