#!/usr/bin/env python3
"""The language's speed beside the reference parser's, in the same run. Usage: run.py BUILD-FOLDER [PYTHON-WITH-RADL]

One JSON line a measurement: {name, ours, peer, unit, ratio, goal, goal_of, machine}; goal_of says what the goal is for, "ours" (at
most) or "ratio" (at least). Times are processor time, ours and the
peer's; `check` start to end is a process of its own, from exec to exit. Where ours and the peer read the same file,
their RADL-JSON must be the same value, or this fails. Without a Python that has the package radl 1.3.5 the peer is null.
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

BUILD, PYTHON = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else sys.executable
BENCH, RADLC = os.path.join(BUILD, "bin", "language_bench"), os.path.join(BUILD, "bin", "radlc")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USUAL = os.path.join(SOURCE, "examples", "cifar10", "training.radl")
PEER = """
import sys, time, warnings
warnings.simplefilter("ignore")
from radl import radl_json, radl_parse
text = open(sys.argv[1]).read()
start, clock = time.process_time(), time.perf_counter()
document = radl_parse.parse_radl(text)
document.check()
print(time.process_time() - start, time.perf_counter() - clock)
open(sys.argv[2], "w").write(radl_json.dump_radl(document))
"""


def machine():
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            name = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return "%s, %d CPUs" % (name, os.cpu_count())


MACHINE = machine()


def report(name, ours, unit, peer=None, goals=None):
    """`goals`: {"ours": at most} or {"ratio": at least}."""
    digits = "%.4g"
    goal_of, goal = next(iter((goals or {}).items()), (None, None))
    print(json.dumps({"name": name, "ours": float(digits % ours), "peer": peer and float(digits % peer), "unit": unit,
                      "ratio": peer and float(digits % (peer / ours)), "goal": goal, "goal_of": goal_of, "machine": MACHINE}), flush=True)


def run(command, runs):
    """Median processor time in seconds, the most memory in MiB and the median of elapsed seconds of a program, from exec
    to exit."""
    times, elapsed, memory = [], [], 0
    for _ in range(runs):
        start = time.perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            sys.exit("%s: exit status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
        elapsed.append(time.perf_counter() - start)
        times.append(usage.ru_utime + usage.ru_stime)
        memory = max(memory, usage.ru_maxrss / 1024)
    return statistics.median(times), memory, statistics.median(elapsed)


def peer_seconds(path, json_path):
    done = subprocess.run([PYTHON, "-c", PEER, path, json_path], capture_output=True, text=True)
    if done.returncode != 0:
        if "No module named" in done.stderr:
            return None
        sys.exit("the reference parser: " + done.stderr)
    return tuple(map(float, done.stdout.split()))  # processor time, elapsed


def same_work(ours, theirs):
    """In a process of its own: the most memory of a program counts from what the one that starts it has."""
    compare = "import json, sys; sys.exit(json.load(open(sys.argv[1])) != json.load(open(sys.argv[2])))"
    if subprocess.run([sys.executable, "-c", compare, ours, theirs]).returncode != 0:
        sys.exit("the RADL-JSON of the two differs: they did not do the same work")


def measure(folder, size, make, goals):
    path = os.path.join(folder, "document.radl")
    with open(path, "w") as file:
        subprocess.run([BENCH, *make], stdout=file, check=True)
    ours_json, peer_json = os.path.join(folder, "ours.json"), os.path.join(folder, "peer.json")
    found = json.loads(subprocess.run([BENCH, path, ours_json], capture_output=True, text=True, check=True).stdout)
    count = found["lines"]
    for stage in ("scan", "parse", "check", "json", "format"):
        report("%s, %s" % (stage, size), count / found[stage], "lines/s")
    report("tree, %s" % size, found["tree_bytes"] / found["nodes"], "bytes/node")
    peer = peer_seconds(path, peer_json)
    if peer is not None:
        same_work(ours_json, peer_json)
        peer = peer[0]
    report("from text to checked document, %s" % size, found["load"] + found["parse"] + found["check"], "s", peer,
           goals)
    seconds, memory, _ = run([RADLC, "check", path], 20 if count < 50000 else 3)
    report("radlc check, start to end, %s" % size, seconds, "s")
    report("radlc check, most memory, %s" % size, memory, "MiB")


def measure_whole(folder, systems):
    """Files with recipes: the whole of radlc check beside the peer's parse and check (without its start)."""
    path = os.path.join(folder, "clusters.radl")
    with open(path, "w") as file:
        subprocess.run([BENCH, "--make-clusters", str(systems)], stdout=file, check=True)
    with open(path) as file:
        size = "%d systems with recipes (%d lines)" % (systems, sum(1 for _ in file))
    ours_json, peer_json = os.path.join(folder, "clusters-ours.json"), os.path.join(folder, "clusters.json")
    peer = peer_seconds(path, peer_json)
    if peer is not None:
        subprocess.run([BENCH, path, ours_json], stdout=subprocess.DEVNULL, check=True)
        same_work(ours_json, peer_json)
    seconds, memory, elapsed = run([RADLC, "check", "-q", path], 15)
    report("radlc check, start to end, processor time, %s" % size, seconds, "s", peer and peer[0], {"ratio": 50})
    report("radlc check, start to end, elapsed, %s" % size, elapsed, "s", peer and peer[1], {"ours": 1.0})
    report("radlc check, most memory, %s" % size, memory, "MiB", None, {"ours": 1024})


def main():
    with tempfile.TemporaryDirectory() as folder:
        report("radlc check, start to end, %s" % os.path.relpath(USUAL, SOURCE), run([RADLC, "check", USUAL], 40)[0] * 1000,
               "ms", None, {"ours": 5})
        report("a program that does nothing", run(["/bin/true"], 40)[0] * 1000, "ms")
        for lines in (100, 10000):
            measure(folder, "%d lines" % lines, ["--make", str(lines)], {})
        goal = {"ratio": 50}
        measure(folder, "10000 small systems", ["--make-small", "10000"], goal)
        measure(folder, "10000 systems (110000 lines)", ["--make", "110000"], goal)
        measure_whole(folder, 10000)


main()
