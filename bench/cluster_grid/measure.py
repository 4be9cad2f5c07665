"""Measures the grid: real processes of the engine, paced (docs/job.md, `pace`), behind delay_proxy. One CSV row a run; runs that
the file already has are not repeated, so that it can be stopped and started.

    measure.py --build BUILD --rows grid.csv [--seconds 3] [--only resnet20]

A worker's computing is a wait in each cluster, also where two cores would do: more of them would compute slower than as many machines.
"""
import argparse
import csv
import itertools
import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUBSET = HERE.parent.parent / "examples" / "cifar10" / "subset"
COLUMNS = ("family", "exchange", "workers", "batch", "latency_ms", "bits_per_second", "images", "seconds", "paced")
IMAGES = 2000
PACES = {"resnet20": {"fixed_seconds": 0.004, "seconds_per_image": 0.00025, "spread": 0.05},
         "resnet44": {"fixed_seconds": 0.008, "seconds_per_image": 0.0006, "spread": 0.05}}
PARAMETERS = {"resnet20": 1.10e6, "resnet44": 2.64e6}  # bytes, for the length of a run only
BATCHES = (16, 32, 64, 128, 256, 512)
ROUND_TRIPS = (0, 2, 5, 10, 20, 50)  # ms
MODES = {"ring": "allreduce", "sync server": "sync", "async server": "async", "alone": "async"}
BITS = 1e9
FEWEST_ROUNDS = 10


def cells(only):
    for family in (only,) if only else PACES:
        for batch in BATCHES:
            yield family, "alone", 1, batch, 0
        for exchange, workers, batch, latency in itertools.product(("ring", "sync server", "async server"), (2, 3, 4), BATCHES, ROUND_TRIPS):
            yield family, exchange, workers, batch, latency


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def rounds(family, exchange, workers, batch, latency, seconds):
    """So many steps of each worker that the run takes about that long."""
    pace = PACES[family]
    step = pace["fixed_seconds"] + pace["seconds_per_image"] * batch
    if exchange != "alone":
        step += 2 * PARAMETERS[family] * 8 / BITS * (1 if exchange == "ring" else workers) + latency / 1000 * (workers - 1 if exchange == "ring" else 1)
    return max(FEWEST_ROUNDS, round(seconds / step))


class Cluster:
    def __init__(self, build, folder, latency):
        self.build, self.folder, self.latency, self.members = build, folder, latency, []

    def far(self, doors, ports, loss=0):
        """The others find what listens at the ports behind the doors."""
        self.proxy = subprocess.Popen([self.build / "bin/delay_proxy", str(self.latency / 2), str(int(BITS)), f"loss={loss}",
                                       *(f"{door}={port}" for door, port in zip(doors, ports))],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.proxy.stdout.readline() != "ready\n":
            raise RuntimeError("delay_proxy did not start")

    def start(self, name, job):
        file = self.folder / (name.replace("/", "-") + ".json")
        file.write_text(json.dumps(job))
        with open(file.with_suffix(".log"), "wb") as log:
            self.members.append(subprocess.Popen([self.build / "bin/radl-train", file], stdout=log, stderr=subprocess.STDOUT,
                                                 env=dict(os.environ, OMP_NUM_THREADS="1")))

    def wait(self, limit):
        codes = [member.wait(timeout=limit) for member in self.members]
        if any(codes):
            raise RuntimeError(f"exit statuses {codes}\n" + "\n".join(f.read_text(errors="replace")[-800:] for f in self.folder.glob("*.log")))

    def __enter__(self):
        self.proxy = None
        return self

    def __exit__(self, *_):
        for member in self.members:
            if member.poll() is None:
                member.kill()
            member.wait()
        if self.proxy:
            self.proxy.stdin.close()
            self.proxy.wait()


def address(port):
    return f"127.0.0.1:{port}"


def rate(progress, batch):
    """Images a second by the chief's lines, but for the first quarter: until then members come together."""
    lines = [line for line in map(json.loads, progress.read_text().splitlines()) if line["event"] == "step"]
    while len(lines) > 2 and lines[0]["step"] < lines[0]["steps"] / 4:
        del lines[0]
    images = [(after["step"] - before["step"]) * batch for before, after in itertools.pairwise(lines)]
    return sum(images) / sum(count / line["images_per_second"] for count, line in zip(images, lines[1:]) if count)


def measure(build, cell, seconds):
    """Seconds of an epoch over the images."""
    family, exchange, workers, batch, latency = cell
    with tempfile.TemporaryDirectory(prefix="radl-grid-") as name, Cluster(build, pathlib.Path(name), latency) as cluster:
        folder = pathlib.Path(name)
        (folder / "job.key").touch(mode=0o600)
        (folder / "job.key").write_text(secrets.token_hex(32) + "\n")
        steps = rounds(*cell, seconds) * workers
        job = {"job": 1, "model": family, "dataset": {"name": "cifar10", "directory": str(SUBSET), "test": 10},
               "batch_size": batch, "epochs": steps / (IMAGES // batch), "threads": 1, "precision": "fp32", "pace": PACES[family],
               "sync": {"mode": MODES[exchange]}, "evaluate": {"every_epochs": 0}}
        if exchange == "alone":
            cluster.start("alone", dict(job, progress="chief.jsonl"))
        else:
            job["secrets"] = "job.key"
            servers = 0 if exchange == "ring" else 1
            ends = free_ports(2 * (servers + workers))
            ports, doors = ends[::2], ends[1::2]
            cluster.far(doors, ports)
            seen = [address(door) for door in doors]
            members = {"worker": seen[servers:], **({"ps": seen[:1]} if servers else {})}
            for index in range(servers + workers):  # each listens behind its door
                task = {"type": "ps", "index": 0} if index < servers else {"type": "worker", "index": index - servers}
                task["listen"] = address(ports[index])
                lines = {"progress": "chief.jsonl"} if index == 0 else {}
                cluster.start("{type}-{index}".format(**task), dict(job, cluster=members, task=task, **lines))
        cluster.wait(120 + 20 * seconds)
        return IMAGES / rate(folder / "chief.jsonl", batch)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=3, help="about so long a run")
    parser.add_argument("--only", choices=tuple(PACES), help="one of the models")
    options = parser.parse_args()
    known = set()
    if options.rows.exists():
        with open(options.rows, newline="") as file:
            known = {(r["family"], r["exchange"], int(r["workers"]), int(r["batch"]), int(r["latency_ms"])) for r in csv.DictReader(file)}
    with open(options.rows, "a", newline="") as file:
        rows = csv.writer(file)
        if file.tell() == 0:
            rows.writerow(COLUMNS)
        for cell in cells(options.only):
            if cell in known:
                continue
            rows.writerow((*cell, int(BITS), IMAGES, round(measure(options.build.resolve(), cell, options.seconds), 4), "yes"))
            file.flush()


if __name__ == "__main__":
    sys.exit(main())
