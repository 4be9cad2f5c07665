"""What distribution adds to a step: two members with one thread each and half of the batch, beside one process with two threads and the whole
batch; and beside one process with one thread and half of the batch, which does what a member does but for the exchange. Interleaved.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: milliseconds of a step, and ratio = ours / peer. The goal of the line
"two members beside two processes that exchange nothing" is 1.05: both use the machine alike. MODEL (resnet44), BATCH (128, of both members),
STEPS (60) of a run, ROUNDS (5).
"""
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
SUBSET = pathlib.Path(__file__).resolve().parents[2] / "examples/cifar10/subset"
MODEL, BATCH, ROUNDS = os.environ.get("MODEL", "resnet44"), int(os.environ.get("BATCH", 128)), int(os.environ.get("ROUNDS", 5))
STEPS = int(os.environ.get("STEPS", 60))
IMAGES = 2000


def job(batch, threads, seed=1, **more):
    return {"job": 1, "model": MODEL, "dataset": {"name": "cifar10", "directory": str(SUBSET), "test": 10}, "batch_size": batch, "threads": threads,
            "seed": seed, "evaluate": {"every_epochs": 0}, "progress": "progress.jsonl", **more}


def run(jobs):
    """Runs the jobs at the same time; milliseconds of a step of the first, but for its first quarter."""
    with tempfile.TemporaryDirectory(prefix="radl-distribution-") as name:
        members = []
        for index, each in enumerate(jobs):
            folder = pathlib.Path(name) / str(index)
            folder.mkdir()
            (folder / "job.key").touch(mode=0o600)
            (folder / "job.key").write_text("6b" * 32)
            (folder / "job.json").write_text(json.dumps(each))
            members.append(subprocess.Popen([BUILD / "bin/radl-train", "job.json"], cwd=folder, stdout=subprocess.DEVNULL))
        if any([member.wait() for member in members]):
            raise RuntimeError(f"a member failed; the jobs are {jobs}")
        lines = [json.loads(line) for line in (pathlib.Path(name) / "0/progress.jsonl").read_text().splitlines()]
        steps = [line for line in lines if line["event"] == "step"]
        steps = [line for line in steps if line["step"] >= line["steps"] / 4] or steps
        return statistics.median(steps_ms(steps))


def steps_ms(lines):
    return [1000 / line["images_per_second"] for line in lines]  # of an image


def single(batch, threads):
    return job(batch, threads, epochs=STEPS / (IMAGES // batch))


def members(overlap):
    held = []
    for _ in range(2):  # bound, and not listening: theirs alone (tests/support/reserved_port.h)
        held.append(socket.socket())
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held[-1].bind(("127.0.0.1", 0))
    workers = [f"127.0.0.1:{one.getsockname()[1]}" for one in held]
    half = BATCH // 2
    return [job(half, 1, epochs=2 * STEPS / (IMAGES // half), sync={"mode": "allreduce", "overlap": overlap}, secrets="job.key",
                cluster={"worker": workers}, task={"type": "worker", "index": index}) for index in range(2)]


# Milliseconds of a step of the whole batch, by what runs.
RUNS = {
    "two members": lambda: BATCH * run(members(True)),
    "two members without overlap": lambda: BATCH * run(members(False)),
    "two processes that exchange nothing": lambda: BATCH // 2 * run([single(BATCH // 2, 1), single(BATCH // 2, 1)]),
    "one process with two threads": lambda: BATCH * run([single(BATCH, 2)]),
}
taken = {name: [] for name in RUNS}
for _ in range(ROUNDS):
    for name, measure in RUNS.items():
        taken[name].append(measure())
for ours, peer, goal in (("two members", "two processes that exchange nothing", 1.05), ("two members", "one process with two threads", 1.05),
                         ("two members", "two members without overlap", 1.0)):
    ratios = [a / b for a, b in zip(taken[ours], taken[peer])]
    print(json.dumps({"name": f"{MODEL}, batch {BATCH}: {ours} beside {peer}", "ours": round(statistics.median(taken[ours]), 2),
                      "peer": round(statistics.median(taken[peer]), 2), "unit": "ms a step", "ratio": round(statistics.median(ratios), 3),
                      "goal": goal, "machine": f"{os.cpu_count()} cores, loopback"}), flush=True)
