"""Images/s of 1 to 64 workers without servers: measured with the real protocol, beside a model of it.

The members are real processes of the engine whose steps are waits (docs/job.md, `pace`), each behind delay_proxy with a link of a given
bandwidth. The model is t = max(step, step / 3 + exchange) + rest, where exchange = 2 (n-1)/n bytes / bandwidth + delays x one way + messages x
cost: two thirds of a step are the backward pass, which hides the exchange, and `rest` is what follows it. The cost of a message and the rest
are fitted on the runs with 2 workers; those with 4 and 8 check the model. Larger ones are measured where MOST (8) allows: this machine's cores
must carry all members, which a longer STEP_SECONDS (0.4) makes easier.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: images/s measured, and predicted as peer. WRITE=1 writes docs/worker-scaling.md
and docs/worker-scaling.svg. STEPS (30) of a run.
"""
import json
import math
import os
import pathlib
import secrets
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster_grid"))
import measure  # noqa: E402

BUILD = pathlib.Path(os.environ["RADL_BUILD"]).resolve()
DOCS = HERE.parents[1] / "docs"
MODEL, BYTES = "resnet44", 661338 * 4
BATCH = 128
STEP = float(os.environ.get("STEP_SECONDS", 0.4))  # of a worker
GIGABITS = (1, 10, 25)
SIZES = (1, 2, 4, 8, 16, 32, 64)
ONE_WAY = 0.0001  # seconds
MOST = int(os.environ.get("MOST", 8))
STEPS = int(os.environ.get("STEPS", 30))
MOST_DIRECT, LEAST_BUCKET, LEAST_PIECE = 16, 65536, 16384  # engine/cluster: members.h, contribution.cc


def buckets(workers):
    return max(1, math.ceil(BYTES / 4 / max(LEAST_BUCKET, LEAST_PIECE * workers)))


def delays(workers):
    return 2 if workers <= MOST_DIRECT else 2 * (workers - 1)


def exchange(workers, gigabits, message):
    """Seconds of a sum that nothing hides."""
    if workers == 1:
        return 0
    sent = 2 * (workers - 1) / workers * BYTES * 8 / (gigabits * 1e9)
    messages = 2 * (workers - 1) * buckets(workers)
    return sent + delays(workers) * ONE_WAY + messages * message


def step(workers, gigabits, message, rest):
    """Seconds of a step of all workers."""
    if workers == 1:
        return STEP
    last = 1 / buckets(workers)  # the share of the sum that only begins after the backward pass
    whole = exchange(workers, gigabits, message)
    return max(STEP + last * whole, STEP / 3 + whole) + rest


def measured(workers, gigabits):
    """Seconds of a step of real members."""
    pace = {"fixed_seconds": STEP, "seconds_per_image": 0, "spread": 0}
    with tempfile.TemporaryDirectory(prefix="radl-scaling-") as name, measure.Cluster(BUILD, pathlib.Path(name), 2000 * ONE_WAY) as cluster:
        folder = pathlib.Path(name)
        (folder / "job.key").touch(mode=0o600)
        (folder / "job.key").write_text(secrets.token_hex(32) + "\n")
        job = {"job": 1, "model": MODEL, "dataset": {"name": "cifar10", "directory": str(measure.SUBSET), "test": 10}, "batch_size": BATCH,
               "epochs": STEPS * workers / (measure.IMAGES // BATCH), "threads": 1, "precision": "fp32", "pace": pace, "evaluate": {"every_epochs": 0}}
        if workers == 1:
            cluster.start("alone", dict(job, progress="chief.jsonl"))
        else:
            ends = measure.free_ports(2 * workers)
            ports, doors = ends[::2], ends[1::2]
            measure.BITS = gigabits * 1e9
            cluster.far(doors, ports)
            for index in range(workers):
                lines = {"progress": "chief.jsonl"} if index == 0 else {}
                cluster.start(f"worker-{index}", dict(job, secrets="job.key", sync={"mode": "allreduce"},
                                                        cluster={"worker": [measure.address(door) for door in doors]},
                                                        task={"type": "worker", "index": index, "listen": measure.address(ports[index])}, **lines))
        cluster.wait(120 + 10 * STEPS * STEP)
        return workers * BATCH / measure.rate(folder / "chief.jsonl", BATCH)


def fit(points):
    """The cost of a message and the rest of a step, from the steps of two workers: the costs that leave the least error."""
    best = None
    for message in (1e-5 * k for k in range(0, 101)):
        rest = sum(max(0.0, seconds - step(2, gigabits, message, 0)) for gigabits, seconds in points) / len(points)
        error = sum((step(2, gigabits, message, rest) - seconds) ** 2 for gigabits, seconds in points)
        if best is None or error < best[0]:
            best = error, message, rest
    return best[1:]


def plot(rows, message, rest):
    """Speedup over workers, both axes logarithmic: lines are the model, dots are measured."""
    width, height, left, bottom = 560, 360, 60, 40
    def x(workers): return left + math.log2(workers) / 6 * (width - left - 20)
    def y(speedup): return height - bottom - math.log2(max(speedup, 1)) / 6 * (height - bottom - 20)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           '<title>Speedup over workers for links of 1, 10 and 25 Gbit/s</title>', f'<rect width="{width}" height="{height}" fill="white"/>']
    for size in SIZES:
        out.append(f'<text x="{x(size):.0f}" y="{height - 18}" text-anchor="middle">{size}</text>')
        out.append(f'<text x="{left - 8}" y="{y(size) + 4:.0f}" text-anchor="end">{size}</text>')
        out.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(size):.0f}" y2="{y(size):.0f}" stroke="#ddd"/>')
    out.append(f'<text x="{(width + left) / 2:.0f}" y="{height - 2}" text-anchor="middle">workers</text>')
    for gigabits, colour in zip(GIGABITS, ("#c0392b", "#2471a3", "#1e8449")):
        line = " ".join(f"{x(n):.1f},{y(n * STEP / step(n, gigabits, message, rest)):.1f}" for n in SIZES)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(n):.1f}" cy="{y(n * STEP / seconds):.1f}" r="4" fill="{colour}"/>' for g, n, seconds in rows if g == gigabits]
        out.append(f'<text x="{left + 14}" y="{34 + 18 * GIGABITS.index(gigabits)}" fill="{colour}">{gigabits} Gbit/s</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def page(rows, message, rest):
    said = {(g, n): seconds for g, n, seconds in rows}
    lines = ["# Scaling over workers", "",
             "This page is for you if you choose the number of workers of a training without servers. It shows the speedup to expect for each",
             "bandwidth. `make bench-scaling WRITE=1` writes it.", "",
             f"The steps are those of {MODEL} with a batch of {BATCH} a worker, {STEP} s each, with gradients in fp32. Measured: real members that wait",
             "instead of computing (`pace`), behind a proxy that limits each link. Predicted: the model of bench/scaling/run.py, fitted on the runs",
             f"with 2 workers ({1e6 * message:.0f} us a message, {1e3 * rest:.1f} ms a step).", "",
             "![Speedup over workers](worker-scaling.svg)", "",
             "| workers | " + " | ".join(f"{g} Gbit/s: measured, predicted" for g in GIGABITS) + " |", "|---" * (len(GIGABITS) + 1) + "|"]
    for n in SIZES:
        cells = []
        for g in GIGABITS:
            seen = f"{n * STEP / said[g, n]:.2f}" if (g, n) in said else "not measured"
            cells.append(f"{seen}, {n * STEP / step(n, g, message, rest):.2f}")
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    rows = []
    for workers in (n for n in SIZES if n <= MOST):
        for gigabits in GIGABITS if workers > 1 else GIGABITS[:1]:
            rows.append((gigabits, workers, measured(workers, gigabits)))
    message, rest = fit([(g, seconds) for g, n, seconds in rows if n == 2])
    for gigabits, workers, seconds in rows:
        predicted = step(workers, gigabits, message, rest)
        print(json.dumps({"name": f"{workers} workers, {gigabits} Gbit/s", "ours": round(workers * BATCH / seconds, 1),
                          "peer": round(workers * BATCH / predicted, 1), "unit": "images/s", "ratio": round(predicted / seconds, 3),
                          "goal": None, "machine": f"{os.cpu_count()} cores, paced workers"}), flush=True)
    if os.environ.get("WRITE"):
        (DOCS / "worker-scaling.svg").write_text(plot(rows, message, rest))
        (DOCS / "worker-scaling.md").write_text(page(rows, message, rest))


if __name__ == "__main__":
    main()
