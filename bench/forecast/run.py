"""What plans said of runs beside what the runs took: examples/cifar10 on this computer, one profile before the first run, and each
run teaching the next. Called by bench/forecast/run.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: for each phase the mean error in percent over all runs, over the
first ten and over the rest (there is no peer: no other tool says beforehand how long its phases take). RADL_FORECAST_RUNS: how many, 20.
"""
import itertools
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RADLC = pathlib.Path(os.environ["RADL_BUILD"]) / "bin/radlc"
RUNS = int(os.environ.get("RADL_FORECAST_RUNS", "20"))
MACHINE = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
SHAPES = ((2, 2), (1, 2), (2, 4), (1, 3), (2, 3))  # workers and epochs, one run after another
PHASES = ("create", "configure", "train", "whole")


def radlc(folder, command, *arguments):
    done = subprocess.run([RADLC, command, *arguments], cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, XDG_DATA_HOME=str(folder / "data"), XDG_CACHE_HOME=str(folder / "cache")))
    if done.returncode:
        sys.exit(f"radlc {command} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def inputs(workers, epochs):
    values = {"workers": workers, "epochs": epochs, "source": "subset", "model": "fastcifar-s", "result": "result"}
    return [word for name, value in values.items() for word in ("--input", f"{name}={value}")]


def line(name, errors, goal):
    if errors:
        print(json.dumps({"name": name, "ours": round(statistics.mean(errors), 1), "peer": None, "unit": "%", "ratio": None, "goal": goal,
                          "machine": MACHINE}), flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="radl-forecast-") as name:
        folder = pathlib.Path(name)
        shutil.copytree(HERE.parent.parent / "examples/cifar10", folder / "example")
        file = "example/training.radl"
        radlc(folder, "profile", file, "--seconds", "10", *inputs(2, 2))
        runs = []
        for workers, epochs in itertools.islice(itertools.cycle(SHAPES), RUNS):
            radlc(folder, "apply", "--auto-approve", file, *inputs(workers, epochs))
            figures = json.loads(radlc(folder, "history", "--newest", "1", "--json"))[0]
            radlc(folder, "destroy", "--auto-approve", file, *inputs(workers, epochs))
            runs.append({phase: (figures["predicted_seconds"].get(phase), figures["seconds"].get(phase)) for phase in PHASES})
            print(json.dumps({"run": len(runs), "workers": workers, "epochs": epochs, **runs[-1]}), file=sys.stderr, flush=True)
        for phase in PHASES:
            errors = [100 * abs(said / took - 1) for said, took in (run[phase] for run in runs) if said and took]
            line(f"{phase}: mean error", errors, 10)
            line(f"{phase}: the first ten runs", errors[:10], None)
            line(f"{phase}: the runs after", errors[10:], None)


main()
