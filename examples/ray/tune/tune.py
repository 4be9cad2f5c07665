"""Looks for the setting of a small model that fits best; each trial runs where the cluster has a free processor."""
import argparse
import json
import os
import pathlib
import socket

import ray
from ray import tune


def objective(config):
    error = 1.0
    for step in range(20):
        error = 0.01 + (config["rate"] - 0.3) ** 2 + error * config["keep"]
        tune.report({"error": error, "host": socket.gethostname()})


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--trials", type=int, default=6)
    options = arguments.parse_args()
    ray.init()
    results = pathlib.Path(os.environ.get("RADL_RESULTS", "."))
    tuner = tune.Tuner(
        objective,
        param_space={"rate": tune.grid_search([i / options.trials for i in range(options.trials)]), "keep": 0.5},
        run_config=tune.RunConfig(storage_path=str(results.resolve() / "tune"), verbose=0),
        tune_config=tune.TuneConfig(metric="error", mode="min"))
    grid = tuner.fit()
    best = grid.get_best_result()
    hosts = sorted({result.metrics["host"] for result in grid})
    (results / "best.json").write_text(json.dumps(best.config))
    print(json.dumps({"error": best.metrics["error"], "rate": best.config["rate"], "trials": len(grid),
                      "hosts": len(hosts)}), flush=True)


if __name__ == "__main__":
    main()
