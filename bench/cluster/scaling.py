#!/usr/bin/env python3
"""How much more 1, 2, 3 ... workers on this machine do: the engine in its modes and, where --torch names a Python with PyTorch,
DistributedDataParallel over gloo. One JSON line a measurement; see README.md.

    scaling.py --engine build/bin/radl-train [--torch PYTHON] [--workers 1,2,3] [--model resnet20] [--batch 128]
"""
import argparse
import json
import os
import pathlib
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUBSET = HERE.parent.parent / "examples" / "cifar10" / "subset"
MODES = ("async", "sync", "allreduce")


def free_addresses(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    addresses = ["127.0.0.1:%d" % s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return addresses


def start(argv, folder, name, **environment):
    with open(folder / (name + ".log"), "wb") as log:
        return subprocess.Popen([str(a) for a in argv], cwd=folder, stdout=log, stderr=subprocess.STDOUT,
                                env=dict(os.environ, **environment))


def wait(processes, folder, seconds):
    try:
        codes = [p.wait(timeout=seconds) for p in processes]
    finally:
        for p in processes:
            if p.poll() is None:
                p.kill()
    if any(codes):
        logs = "\n".join(f.name + ": " + f.read_text(errors="replace")[-800:] for f in folder.glob("*.log"))
        raise RuntimeError(f"exit statuses {codes}\n{logs}")


def engine_run(options, mode, workers):
    """Images a second of all workers together, as the chief reports it."""
    with tempfile.TemporaryDirectory(prefix="radl-bench-") as name:
        folder = pathlib.Path(name)
        (folder / "job.key").touch(mode=0o600)
        (folder / "job.key").write_text(secrets.token_hex(32) + "\n")
        servers = [] if mode == "allreduce" else free_addresses(1)
        cluster = {"worker": free_addresses(workers)}
        if servers:
            cluster["ps"] = servers
        job = {"job": 1, "model": options.model, "dataset": {"name": "cifar10", "directory": str(SUBSET), "test": 10},
               "batch_size": options.batch, "epochs": options.epochs, "threads": options.threads, "precision": options.precision,
               "sync": {"mode": mode}, "evaluate": {"every_epochs": 0}, "checkpoint": {"every_epochs": 0, "every_seconds": 0},
               "cluster": cluster, "secrets": "job.key", "report": "report.json"}
        processes = []
        for kind, members in cluster.items():
            for index in range(len(members)):
                file = folder / f"{kind}-{index}.json"
                file.write_text(json.dumps(dict(job, task={"type": kind, "index": index}, progress=f"{kind}-{index}.jsonl")))
                processes.append(start([options.engine, file], folder, file.stem))
        wait(processes, folder, options.limit)
        return json.loads((folder / "report.json").read_text())["metrics"]["images_per_second"]


def torch_run(options, workers):
    with tempfile.TemporaryDirectory(prefix="radl-bench-") as name:
        folder = pathlib.Path(name)
        port = free_addresses(1)[0].rsplit(":", 1)[1]
        steps = int(options.epochs * (2000 // options.batch)) // workers
        processes = [start([options.torch, HERE / "ddp.py", options.model, options.batch, steps, options.precision], folder,
                           f"rank-{rank}", MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=str(rank), WORLD_SIZE=str(workers),
                           OMP_NUM_THREADS=str(options.threads)) for rank in range(workers)]
        wait(processes, folder, options.limit)
        return json.loads((folder / "rank-0.log").read_text().splitlines()[-1])["images_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=pathlib.Path, required=True)
    parser.add_argument("--torch", help="Python that has PyTorch")
    parser.add_argument("--workers", default="1,2,3")
    parser.add_argument("--model", default="resnet20", choices=("resnet20", "resnet44"))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--epochs", type=float, default=4, help="over the 2,000 images of the subset")
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, help="seconds for one run")
    options = parser.parse_args()
    options.engine = options.engine.resolve()
    runs = [("radl " + mode, lambda n, mode=mode: engine_run(options, mode, n)) for mode in MODES]
    if options.torch:
        runs.append(("torch ddp", lambda n: torch_run(options, n)))
    alone = {}
    for workers in map(int, options.workers.split(",")):
        values = {name: [] for name, _ in runs}
        for _ in range(options.repeat):  # one after another, so that a busy moment of the machine meets all
            for name, run in runs:
                values[name].append(run(workers))
        for name, _ in runs:
            rate = statistics.median(values[name])
            alone.setdefault(name, rate / workers)
            print(json.dumps({"what": name, "workers": workers, "model": options.model, "batch": options.batch,
                              "precision": options.precision, "threads": options.threads, "cores": os.cpu_count(),
                              "images_per_second": round(rate, 1), "lowest": round(min(values[name]), 1),
                              "highest": round(max(values[name]), 1),
                              "efficiency": round(rate / (workers * alone[name]), 3)}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
