"""How well the times of clusters that nobody measured are predicted, on a grid of this machine's own. Called by bench/cluster_grid/run.

Rows are measured by measure.py, or read from the file that RADL_GRID names. Prints JSON lines {name, ours, peer, unit, ratio, goal,
machine}: errors of an epoch's time in percent (so of its cost, which is price by time), and how much more the cluster that is
recommended takes, costs, or both weighted alike, than the best one. The peer is Ernest's model (Venkataraman et al., NSDI 2016)
fitted on the same rows, for each model and way of exchanging, with the latency added.
"""
import collections
import csv
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import zlib

import numpy
from scipy.optimize import nnls

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
MACHINE = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, paced workers"
FOLDS = 5
PARAMETERS = {"resnet20": 272474 * 4, "resnet44": 661338 * 4}
PROFILED = (16, 128, 512)  # batches, as radlc profile takes three
SPREAD = 0.05
SMALLEST = 16


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update({key: int(row[key]) for key in ("workers", "batch", "latency_ms", "images")})
        row.update({key: float(row[key]) for key in ("bits_per_second", "seconds")})
        del row["paced"]
    return rows


def profiles(rows):
    alone = {(r["family"], r["batch"]): r["seconds"] * r["batch"] / r["images"] for r in rows if r["exchange"] == "alone"}
    return [{"family": family, "points": [[batch, alone[family, batch]] for batch in PROFILED], "parameter_bytes": PARAMETERS[family],
             "spread": SPREAD} for family in sorted({f for f, _ in alone})]


def ours(known, asked, profile):
    done = subprocess.run([BUILD / "bin/grid_model"], input=json.dumps({"profiles": profile, "runs": known, "asked": asked}), text=True,
                          capture_output=True, check=True)
    return [float(line.split()[0]) for line in done.stdout.splitlines()]


def ernest(known, asked, _):
    def design(rows):
        table = numpy.array([(r["workers"], r["batch"], r["latency_ms"]) for r in rows], float)
        n, batch, latency = table.T
        return numpy.stack([numpy.ones(len(n)), batch, n, numpy.log(n), latency, latency * (n - 1)], 1)
    told = {}
    for key in {(r["family"], r["exchange"]) for r in asked}:
        mine = [r for r in known if (r["family"], r["exchange"]) == key]
        if mine:
            steps = numpy.array([r["seconds"] * r["workers"] * r["batch"] / r["images"] for r in mine])
            told[key] = nnls(design(mine) / steps[:, None], numpy.ones(len(steps)))[0]
    return [float((design([r]) @ told[r["family"], r["exchange"]])[0]) / (r["workers"] * r["batch"]) * r["images"]
            if (r["family"], r["exchange"]) in told else float("nan") for r in asked]


def cluster(row):
    return row["family"], row["exchange"], row["workers"], row["latency_ms"]


def held_out(rows, parts):
    """Pairs of what is known and what is asked; `parts` names what is left out together."""
    for part in sorted({parts(r) for r in rows}, key=str):
        yield [r for r in rows if parts(r) != part], [r for r in rows if parts(r) == part]


def in_folds(row):
    return zlib.crc32(repr(cluster(row)).encode()) % FOLDS


SCHEMES = {
    "nothing-but-a-profile": lambda rows: [([], rows)],
    "a-probe-of-each-cluster": lambda rows: [([r for r in rows if r["batch"] == SMALLEST], [r for r in rows if r["batch"] != SMALLEST])],
    "clusters-never-measured": lambda rows: held_out(rows, in_folds),
    "sizes-never-measured": lambda rows: held_out(rows, lambda r: r["workers"]),
    "distances-never-measured": lambda rows: held_out(rows, lambda r: r["latency_ms"]),
}


def answers(predict, scheme, rows, profile):
    said = {}
    for known, asked in SCHEMES[scheme](rows):
        for row, seconds in zip(asked, predict(known, asked, profile)):
            said[id(row)] = seconds
    return said


def machines(row):
    return row["workers"] + ("server" in row["exchange"])


VALUES = {"time": lambda row, seconds: seconds, "cost": lambda row, seconds: seconds * machines(row)}


def regrets(rows, said, alone):
    """Of each question (model, batch, distance): how much worse the cluster is that the predictions would choose."""
    lost = collections.defaultdict(list)
    questions = collections.defaultdict(list)
    for row in rows:
        if id(row) in said:
            questions[row["family"], row["batch"], row["latency_ms"]].append(row)
    for (family, batch, _), offered in questions.items():
        one = alone[family, batch]
        choices = [(row, row["seconds"], said[id(row)]) for row in offered] + [(one, one["seconds"], one["seconds"])]
        actual = {name: [value(row, seconds) for row, seconds, _ in choices] for name, value in VALUES.items()}
        guess = {name: [value(row, seconds) for row, _, seconds in choices] for name, value in VALUES.items()}
        for figures in (actual, guess):
            figures["both"] = [t / min(figures["time"]) + c / min(figures["cost"]) for t, c in zip(figures["time"], figures["cost"])]
        for name in actual:
            chosen = min(range(len(choices)), key=lambda i: guess[name][i])
            lost[name].append(100 * (actual[name][chosen] / min(actual[name]) - 1))
    return lost


def line(name, mine, peer, goal):
    print(json.dumps({"name": name, "ours": round(mine, 2), "peer": None if peer is None or numpy.isnan(peer) else round(peer, 2), "unit": "%",
                      "ratio": round(peer / mine, 2) if peer is not None and not numpy.isnan(peer) and mine else None, "goal": goal,
                      "machine": MACHINE}), flush=True)


def main():
    rows = read(sys.argv[1])
    profile = profiles(rows)
    alone = {(r["family"], r["batch"]): r for r in rows if r["exchange"] == "alone"}
    asked = [r for r in rows if r["exchange"] != "alone"]
    for scheme in SCHEMES:
        said = {"ours": answers(ours, scheme, asked, profile)}
        if scheme != "nothing-but-a-profile":
            said["peer"] = answers(ernest, scheme, asked, profile)
        errors = {who: [100 * abs(figures[id(r)] / r["seconds"] - 1) for r in asked if id(r) in figures] for who, figures in said.items()}
        peers = errors.get("peer")
        line(f"{scheme}: mean error", statistics.mean(errors["ours"]), statistics.mean(peers) if peers else None, 10)
        line(f"{scheme}: worst error", max(errors["ours"]), max(peers) if peers else None, 25)
        lost = {who: regrets(asked, figures, alone) for who, figures in said.items()}
        for name, mine in lost["ours"].items():
            other = lost["peer"][name] if "peer" in lost else None
            line(f"{scheme}: {name} lost by the choice, mean", statistics.mean(mine), statistics.mean(other) if other else None, 2)
            line(f"{scheme}: {name} lost by the choice, worst", max(mine), max(other) if other else None, 5)


main()
