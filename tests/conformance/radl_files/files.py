"""Every .radl file below RADL_FILES: what the reference takes passes `radlc check`, `compile` gives IR, and `plan` gives a
plan or says in one line what the local provider cannot do. What the reference refuses, `check` refuses, unless it is
EC3's dialect. Of the Infrastructure Manager's clusters `explain` names the modules that would take their place.
"""
import json
import os
import re
import subprocess
import sys

import yaml  # noqa: F401  the reference checks recipes only where it is there
from radl import radl_parse

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")


# Clusters of the Infrastructure Manager's repository, and the modules that do what their recipes do.
EXPLAINED = {
    "examples/slurm.radl": {"std/cluster/slurm", "std/storage/nfs"},
    "examples/galaxy.radl": {"std/cluster/slurm", "std/storage/nfs"},
    "examples/hadoop.radl": {"std/cluster/hdfs"},
    "examples/spark.radl": {"std/cluster/hdfs", "std/cluster/spark"},
}


def reference_takes(path):
    try:
        radl_parse.parse_radl(path).check()
        return True
    except Exception:  # whatever it raises, it refuses the file
        return False


def run(*arguments):
    return subprocess.run([RADLC, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60)


def look_at(path, number):
    """What is wrong with radlc's view of the file; empty when nothing is."""
    wanted = reference_takes(path)
    check = run("check", path)
    if wanted != (check.returncode == 0):
        if check.returncode == 0 and "ec3_" in open(path, encoding="utf-8", errors="replace").read():
            return ""
        return "check says %d, the reference %s" % (check.returncode, "takes it" if wanted else "refuses it")
    if not wanted:
        return ""
    ir = "ir-%d.json" % number
    compiled = run("compile", path, "-o", ir)
    if compiled.returncode != 0:
        return "compile: " + compiled.stderr
    with open(ir) as file:
        if not json.load(file).get("ir"):
            return "compile gave no IR"
    wanted = EXPLAINED.get(os.path.relpath(path, os.environ["RADL_FILES"]))
    if wanted:
        explained = run("explain", path)
        named = set(re.findall(r"'(std/[a-z_/]+)' would do this", explained.stdout))
        if named != wanted:
            return "explain names %s, not %s: %s" % (sorted(named), sorted(wanted), explained.stderr)
    plan = run("plan", "--provider", "local", "--state", "state-%d" % number, path)
    if plan.returncode == 0:
        return ""
    errors = [line for line in plan.stderr.splitlines() if line.startswith("error")]
    return "" if len(errors) == 1 else "plan: " + plan.stderr


def main():
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.environ["RADL_FILES"])
                   for name in names if name.endswith(".radl"))
    if not paths:
        print("skipped: no .radl file below " + os.environ["RADL_FILES"])
        return 77
    failed = 0
    for number, path in enumerate(paths):
        fault = look_at(path, number)
        if fault:
            failed += 1
            print("%s: %s" % (path, fault))
    print("%d files, %d differ" % (len(paths), failed))
    return 1 if failed else 0


sys.exit(main())
