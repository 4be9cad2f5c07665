#!/usr/bin/env python3
"""The language's speed beside the reference parser's, in the same run. Usage: run.py BUILD-FOLDER [PYTHON-WITH-RADL]

One JSON line a measurement: {name, ours, peer, unit, ratio, goal, machine}. Without a Python that has the package
radl 1.3.5 the peer is null.
"""
import json
import os
import platform
import subprocess
import sys
import tempfile

TIMED = """
import sys, time, warnings
warnings.simplefilter("ignore")
from radl import radl_parse
text = open(sys.argv[1]).read()
start = time.process_time()
document = radl_parse.parse_radl(text)
parsed = time.process_time()
document.check()
print(parsed - start, time.process_time() - start)
"""


def machine():
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            name = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return "%s, %d CPUs" % (name, os.cpu_count())


def main():
    bench = os.path.join(sys.argv[1], "bin", "language_bench")
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    where = machine()
    for size in (100, 10000, 110000, 1000000):
        out = subprocess.run([bench, str(size)], capture_output=True, text=True, check=True).stdout
        rows = [json.loads(line) for line in out.splitlines()]
        peer = None
        if size <= 110000:  # 110,000 lines are 10,000 systems; a million would take the reference minutes
            with tempfile.NamedTemporaryFile("w", suffix=".radl") as file:
                file.write(subprocess.run([bench, "--document", str(size)], capture_output=True, text=True, check=True).stdout)
                file.flush()
                run = subprocess.run([python, "-c", TIMED, file.name], capture_output=True, text=True)
                if run.returncode == 0:
                    peer = float(run.stdout.split()[1])
        for row in rows:
            row["machine"] = where
            if "loaded to checked" in row["name"] and peer is not None:
                row["peer"] = peer
                row["ratio"] = peer / row["ours"]
                if size == 110000:
                    row["goal"] = "500 times the peer"
            print(json.dumps(row), flush=True)


main()
