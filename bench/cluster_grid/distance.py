"""What distance costs: seconds of an epoch of 50,000 images by round trip, nodes, batch and way of exchanging, with real processes of
the engine whose steps are waits (docs/job.md, `pace`) behind delay_proxy. Called by bench/cluster_grid/run; prints its JSON lines.

    distance.py [--seconds 8] [--small]

The peer is a study of CIFAR-10 on two Azure machines (batch 64 a machine, synchronous all-reduce by TensorFlow), whose step took 95 ms.
"""
import argparse
import json
import os
import pathlib
import secrets
import sys
import tempfile

import measure

PACE = {"fixed_seconds": 0.005, "seconds_per_image": 0.0014, "spread": 0.02}  # 95 ms for 64 images
STUDY = {0: 37, 20: 145, 40: 254, 60: 362, 80: 469, 100: 576}  # seconds by round trip in ms
SMALL = (0, 100)
EPOCH = 50000
MODEL = "resnet20"
STEPS, DELAY = 16, 4
SYNC = {"synchronous": {"mode": "allreduce"}, "outer step": {"mode": "allreduce", "local_steps": STEPS, "delay": DELAY}, "auto": {"mode": "auto"}}
GOAL = 1.15  # an epoch at 100 ms, over one at 0 ms


def epoch(build, sync, nodes, batch, round_trip, loss, seconds):
    """Seconds of an epoch, and what `auto` chose at last."""
    step = PACE["fixed_seconds"] + PACE["seconds_per_image"] * batch
    far = step + (round_trip / 1000 * (nodes > 1) if sync["mode"] == "allreduce" and "delay" not in sync else 0)
    steps = max(5 * STEPS, STEPS * round(seconds / far / STEPS)) * nodes
    with tempfile.TemporaryDirectory(prefix="radl-distance-") as name, measure.Cluster(build, pathlib.Path(name), round_trip) as cluster:
        folder = pathlib.Path(name)
        (folder / "job.key").touch(mode=0o600)
        (folder / "job.key").write_text(secrets.token_hex(32) + "\n")
        job = {"job": 1, "model": MODEL, "dataset": {"name": "cifar10", "directory": str(measure.SUBSET), "test": 10},
               "batch_size": batch, "epochs": steps / (measure.IMAGES // batch), "threads": 1, "precision": "fp32", "pace": PACE,
               "sync": sync, "evaluate": {"every_epochs": 0}, "secrets": "job.key"}
        ends = measure.free_ports(2 * nodes)
        ports, doors = ends[::2], ends[1::2]
        cluster.far(doors, ports, loss)
        for index in range(nodes):
            lines = {"progress": "chief.jsonl"} if index == 0 else {}
            cluster.start(f"worker-{index}", dict(job, cluster={"worker": [measure.address(door) for door in doors]},
                                                    task={"type": "worker", "index": index, "listen": measure.address(ports[index])}, **lines))
        cluster.wait(120 + 20 * seconds)
        said = [json.loads(line) for line in (folder / "chief.jsonl").read_text().splitlines()]
        choices = [line["message"] for line in said if line["event"] == "strategy"]
        return EPOCH / measure.rate(folder / "chief.jsonl", batch), choices[-1] if choices else ""


def rows(small):
    for round_trip in SMALL if small else STUDY:
        for sync in SYNC:
            yield sync, 2, 64, round_trip, 0
    for loss in (0.01,) if small else (0.001, 0.01):
        for sync in SYNC:
            yield sync, 2, 64, 100, loss
    for nodes in (1, 4):
        for round_trip in (0,) if nodes == 1 else SMALL if small else STUDY:
            for sync in SYNC:
                yield sync, nodes, 64, round_trip, 0
    if not small:
        for batch in (16, 256):
            for round_trip in SMALL:
                for sync in SYNC:
                    yield sync, 2, batch, round_trip, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=os.environ.get("RADL_BUILD"))
    parser.add_argument("--seconds", type=float, default=8, help="about so long a run")
    parser.add_argument("--small", action="store_true", help="0 and 100 ms with a batch of 64 only: about five minutes")
    options = parser.parse_args()
    near = {}
    for sync, nodes, batch, round_trip, loss in rows(options.small):
        seconds, choice = epoch(pathlib.Path(options.build).resolve(), SYNC[sync], nodes, batch, round_trip, loss, options.seconds)
        near.setdefault((sync, nodes, batch), seconds)
        study = STUDY[round_trip] if nodes == 2 and batch == 64 and loss == 0 else None
        what = f"{nodes} nodes, batch {batch}, {round_trip} ms" + (f", {100 * loss:g}% lost" if loss else "") + f": {sync}"
        print(json.dumps({"name": what, "ours": round(seconds, 1), "peer": study, "unit": "s an epoch",
                          "ratio": round(seconds / near[sync, nodes, batch], 2), "goal": GOAL if sync != "synchronous" else None,
                          "machine": f"{os.cpu_count()} cores, paced workers", **({"choice": choice} if choice else {})}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
