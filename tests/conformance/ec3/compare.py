"""Sets of templates composed by EC3's own code (ec3_worker.py) and by `radlc convert`: the same systems, networks, recipes, deploys and items, or
refused by both. What differs on purpose is in differences.py, each with its reason (docs/decisions/0007-ec3-dialect.md).
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import time

import yaml

import differences
import sets
from plain_values import plain

HERE = os.path.dirname(os.path.abspath(__file__))
RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")


def asked_of_ec3(cases):
    """Some at a time, each in one process for many sets."""
    workers = os.cpu_count() or 1

    def some(part):
        lines = "".join(json.dumps({"folder": case.folder, "templates": case.templates}) + "\n" for case in part)
        folder = "worker-%d" % id(part)
        os.makedirs(folder, exist_ok=True)
        done = subprocess.run([sys.executable, os.path.join(HERE, "ec3_worker.py")], input=lines, capture_output=True, text=True, cwd=folder)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(part):
            raise SystemExit("EC3 ended early: " + done.stderr[-2000:])
        return answers

    parts = [cases[at::workers] for at in range(workers)]
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        answers = [None] * len(cases)
        for at, part in enumerate(pool.map(some, parts)):
            answers[at::workers] = part
    return answers


def asked_of_radlc(case):
    paths = [os.path.join(case.folder, name + ".radl") for name in case.templates]
    done = subprocess.run([RADLC, "convert", *paths], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return {"refused": done.stderr}
    aspects = json.loads(done.stdout)
    for aspect in aspects:
        if "recipes" in aspect:
            aspect["recipes"] = plain(yaml.safe_load(aspect["recipes"]))
    return {"aspects": aspects}


def by_name(aspects):
    found = {}
    for aspect in aspects:
        key = (aspect["class"], aspect.get("id", aspect.get("system", "")))
        if aspect["class"] == "deploy":
            found.setdefault(key, []).append(aspect)
        else:
            found[key] = aspect
    return found


def difference(theirs, ours):
    """What differs, in a line; empty when nothing does."""
    if "refused" in theirs or "refused" in ours:
        if "refused" in theirs and "refused" in ours:
            return "" if ours["refused"].lstrip().startswith(("error", "warning")) else "refused without a diagnostic: " + ours["refused"]
        who = "EC3" if "refused" in theirs else "radlc"
        return "only %s refuses: %s" % (who, (theirs.get("refused") or ours.get("refused")).strip())
    mine, other = by_name(ours["aspects"]), by_name(theirs["aspects"])
    if mine.keys() != other.keys():
        return "blocks: %s" % sorted(mine.keys() ^ other.keys())
    for key in other:
        if mine[key] != other[key]:
            return "%s %s: EC3 %s, radlc %s" % (*key, *apart(other[key], mine[key]))
    return ""


def apart(theirs, ours):
    """The innermost values that differ."""
    while True:
        if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
            key = next(key for key in theirs if theirs[key] != ours[key])
            theirs, ours = theirs[key], ours[key]
        elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
            theirs, ours = next(pair for pair in zip(theirs, ours) if pair[0] != pair[1])
        else:
            return json.dumps(theirs)[:500], json.dumps(ours)[:500]


def main():
    began = time.monotonic()
    cases = sets.all_cases(os.path.join(os.environ["EC3_SOURCE"], "templates"))
    theirs = asked_of_ec3(cases)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        ours = list(pool.map(asked_of_radlc, cases))
    failed = accepted = known = 0
    for case, one, other in zip(cases, theirs, ours):
        accepted += "aspects" in one
        problem = difference(one, other)
        if problem and differences.is_known(problem):
            known += 1
        elif problem:
            failed += 1
            if failed <= 20:
                print("%s: %s" % (" ".join(case.templates), problem))
    print("%d sets, %d accepted by EC3: %d differ, %d differ as documented (%.0f s)" %
          (len(cases), accepted, failed, known, time.monotonic() - began))
    return 1 if failed or accepted < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
