"""Codecs of gradients in an all-reduce: two workers on loopback train the same job with each of them.

Prints JSON lines {name, ours, peer, unit, ratio, ms_per_step, test_accuracy, machine}: the bytes that worker 1 sends in a step, those of
fp32, and how many times fewer that is; the time of a step, and the mean accuracy on the test images of the subset over SEEDS. If the
links of a machine are no limit, the time shows what a codec computes; fewer bytes pay on slower links.
"""
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
BATCH = 50
EPOCHS = int(os.environ.get("EPOCHS", 12))
MODEL = os.environ.get("MODEL", "lenet")
CODECS = {"fp32": {}, "bf16": {}, "fp16": {}, "int8": {}, "power_sgd, rank 1": {"rank": 1}, "power_sgd, rank 2": {"rank": 2},
          "power_sgd, rank 4": {"rank": 4}, "top_k, density 0.01": {"density": 0.01}, "top_k, density 0.001": {"density": 0.001}}


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def train(folder, gradients, options, seed):
    held = []
    for _ in range(2):  # bound, and not listening: theirs alone (tests/support/reserved_port.h)
        held.append(socket.socket())
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held[-1].bind(("127.0.0.1", 0))
    (folder / "job.key").write_text("6b" * 32)
    (folder / "job.key").chmod(0o600)
    members = []
    for index in range(2):
        job = {"job": 1, "model": MODEL, "dataset": {"name": "cifar10", "directory": str(SOURCE / "examples/cifar10/subset")},
               "batch_size": BATCH, "epochs": EPOCHS, "threads": 1, "seed": seed, "precision": "fp32", "optimizer": {"name": "sgd"},
               "sync": {"mode": "allreduce", "gradients": gradients, **options},
               "cluster": {"worker": [f"127.0.0.1:{one.getsockname()[1]}" for one in held]}, "task": {"type": "worker", "index": index},
               "secrets": "job.key", "progress": f"{index}.jsonl", "evaluate": {"every_epochs": 0}}
        (folder / f"{index}.json").write_text(json.dumps(job))
        members.append(subprocess.Popen([BUILD / "bin/radl-train", folder / f"{index}.json"], cwd=folder, stdout=subprocess.DEVNULL))
    if any([member.wait() for member in members]):
        raise RuntimeError(f"{gradients} failed: see the events in {folder}")
    chief, worker = (events(folder / f"{index}.jsonl")[-1] for index in range(2))
    return worker["sent_bytes_per_step"], 1000 * 2 * BATCH / chief["images_per_second"], chief["test_accuracy"]


whole = None
for name, options in CODECS.items():
    runs = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory(prefix="radl-codecs-") as folder:
            runs.append(train(pathlib.Path(folder), name.partition(",")[0], options, seed))
    sent, ms, accuracy = (statistics.mean(column) for column in zip(*runs))
    whole = whole or sent
    print(json.dumps({"name": f"{MODEL}, {EPOCHS} epochs, {name}", "ours": round(sent), "peer": round(whole), "unit": "bytes per step",
                      "ratio": round(whole / sent, 2), "ms_per_step": round(ms, 1), "test_accuracy": round(accuracy, 4),
                      "machine": f"{os.cpu_count()} cores, loopback"}), flush=True)
