"""What plans said of runs beside what the runs took: examples/cifar10 on this computer, one profile before the first run, and each
run teaching the next. Called by bench/forecast/run.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: for each phase the mean error in percent over all runs, and the curve
of it (figures.py; there is no peer: no other tool says beforehand how long its phases take). RADL_FORECAST_RUNS: how many, 20.
"""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import figures

HERE = pathlib.Path(__file__).resolve().parent
RADLC = pathlib.Path(os.environ["RADL_BUILD"]) / "bin/radlc"
SHAPES = ((2, 2), (1, 2), (2, 4), (1, 3), (2, 3))  # workers and epochs, one run after another


def radlc(folder, command, *arguments):
    done = subprocess.run([RADLC, command, *arguments], cwd=folder, capture_output=True, text=True,
                          env=dict(os.environ, XDG_DATA_HOME=str(folder / "data"), XDG_CACHE_HOME=str(folder / "cache")))
    if done.returncode:
        sys.exit(f"radlc {command} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def inputs(workers, epochs):
    values = {"workers": workers, "epochs": epochs, "source": "subset", "model": "fastcifar-s", "result": "result"}
    return [word for name, value in values.items() for word in ("--input", f"{name}={value}")]


def main():
    with tempfile.TemporaryDirectory(prefix="radl-forecast-") as name:
        folder = pathlib.Path(name)
        shutil.copytree(HERE.parent.parent / "examples/cifar10", folder / "example")
        file = "example/training.radl"
        radlc(folder, "profile", file, "--seconds", "10", *inputs(2, 2))
        runs = []
        for workers, epochs in itertools.islice(itertools.cycle(SHAPES), figures.RUNS):
            radlc(folder, "apply", "--auto-approve", file, *inputs(workers, epochs))
            runs.append(figures.of_run(json.loads(radlc(folder, "history", "--newest", "1", "--json"))[0]))
            radlc(folder, "destroy", "--auto-approve", file, *inputs(workers, epochs))
            figures.tell_run("local", len(runs), {"workers": workers, "epochs": epochs}, runs[-1])
        figures.tell("local", runs)


main()
