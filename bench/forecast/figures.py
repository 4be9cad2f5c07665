"""What plans said beside what runs took, as lines for tools/bench; and as a curve, run after run."""
import json
import os
import platform
import statistics
import sys

RUNS = int(os.environ.get("RADL_FORECAST_RUNS", "20"))
MACHINE = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
PHASES = ("create", "configure", "stage", "train", "whole")
PARTS = ((0, 1, "the first run"), (1, 5, "runs 2 to 5"), (5, 10, "runs 6 to 10"), (10, 15, "runs 11 to 15"), (15, 20, "runs 16 to 20"))


def of_run(figures):
    """{phase: (seconds said, seconds taken)} of one record of `radlc history --json`."""
    return {phase: (figures["predicted_seconds"].get(phase), figures["seconds"].get(phase)) for phase in PHASES}


def tell_run(where, number, what, run):
    print(json.dumps({"where": where, "run": number, **what, **run}), file=sys.stderr, flush=True)


def line(name, errors, goal):
    if errors:
        print(json.dumps({"name": name, "ours": round(statistics.mean(errors), 1), "peer": None, "unit": "%", "ratio": None, "goal": goal,
                          "machine": MACHINE}), flush=True)


def tell(where, runs):
    """`runs`: of of_run(), in their order. A phase that nobody predicted counts as 100% wrong."""
    for phase in PHASES:
        errors = [100.0 if not said else 100 * abs(said / took - 1) for said, took in (run[phase] for run in runs) if took]
        line(f"{where}, {phase}: mean error", errors, 10)
        for begin, end, name in PARTS:
            line(f"{where}, {phase}: {name}", errors[begin:end], None)
