#!/usr/bin/env python3
"""run.py RADL-TRAIN [TORCH-PYTHON [TENSORFLOW-PYTHON]]: prints one JSON line {name, ours, peer, unit, ratio, goal, machine, ...} a case.

Each round runs our engine and then each of the peer's modes that is still in the race, every one alone in its own process;
a figure is the median of all steps of all rounds. The first round decides which modes stay: those within 25% of its best.
Both sides start from the same weights and batch, and their first losses must agree, or the case fails.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

GOALS = {"resnet44": 3.0, "fastcifar": 1.8, "resnet18": 1.5}
MODES = os.environ.get("RADL_BENCH_MODES", "eager-bf16 eager-fp32 compiled-bf16 compiled-fp32").split()
TF_MODES = ["graph-fp32", "graph-bf16"]
# What a careful user of PyTorch on a CPU sets.
TUNED = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "500000000"}
THREADS = int(os.environ.get("RADL_BENCH_THREADS", "2"))
ROUNDS = int(os.environ.get("RADL_BENCH_ROUNDS", "3"))
STEPS = int(os.environ.get("RADL_BENCH_STEPS", "5"))
CASES = os.environ.get("RADL_BENCH_CASES", "resnet44:128 fastcifar:1024 resnet18:128").split()


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        lines = f.read().splitlines()
    model = next((l.split(":", 1)[1].strip() for l in lines if l.startswith("model name")), "?")
    flags = next((l.split(":", 1)[1].split() for l in lines if l.startswith("flags")), [])
    has = [f for f in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if f in flags]
    return f"{model}, {os.cpu_count()} cores, {' '.join(has)}, load {os.getloadavg()[0]:.1f}"


def run(command, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(env or {})}, check=False)
    if done.returncode:
        print(f"{' '.join(command)}: {done.stderr.strip()[-600:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def ours(trainer, model, batch, dump=None):
    command = [trainer, "bench", "--model", model, "--batch-size", str(batch), "--threads", str(THREADS), "--steps",
               str(STEPS), "--precision", "auto", "--json"]
    return run(command + (["--dump", dump] if dump else []))


def bench(trainer, peer_program, python, model, batch, folder, all_modes, goal, suffix=""):
    dump = os.path.join(folder, f"{model}.safetensors")
    modes = list(all_modes) if python else []
    mine, theirs, losses, memory, processor = [], {m: [] for m in modes}, {}, {}, {}
    for round_ in range(ROUNDS):
        result = ours(trainer, model, batch, dump if round_ == 0 else None)
        if result is None:
            raise SystemExit(f"{model}: our engine failed")
        mine.append(result["median_seconds"])
        processor["ours"] = processor.get("ours", []) + [result["processor_seconds"]]
        losses["ours"], memory["ours"] = result["losses"], result["peak_rss_kib"]
        for mode in list(modes):
            peer = run([python, os.path.join(os.path.dirname(__file__), peer_program), dump, mode, str(STEPS),
                        str(THREADS)], {**TUNED, "OMP_NUM_THREADS": str(THREADS)})
            if peer is None:
                modes.remove(mode)
                continue
            theirs[mode] += peer["seconds"]
            processor[mode] = processor.get(mode, []) + peer["processor_seconds"]
            losses[mode], memory[mode] = peer["losses"], peer["peak_rss_kib"]
        if round_ == 0 and modes:
            best = min(statistics.median(theirs[m]) for m in modes)
            modes = [m for m in modes if statistics.median(theirs[m]) <= 1.25 * best]
    line = {"name": f"engine-{model}-batch{batch}{suffix}", "ours": batch / statistics.median(mine), "peer": None,
            "unit": "pictures/s", "ratio": None, "goal": goal, "machine": machine(), "threads": THREADS,
            "our_precision": result["precision"], "our_peak_mib": memory["ours"] // 1024, "losses": losses}
    done = {m: batch / statistics.median(s) for m, s in theirs.items() if s}
    if done:
        best = max(done, key=done.get)
        line.update(peer=done[best], ratio=line["ours"] / done[best], peer_mode=best, peer_modes=done,
                    peer_peak_mib=memory[best] // 1024, memory_ratio=memory["ours"] / memory[best],
                    processor_time_ratio=statistics.median(processor[best]) / statistics.median(processor["ours"]))
        # bf16 rounds differently on both sides; fp32 PyTorch shows that the work is the same.
        for mode, values in losses.items():
            worst = max(abs(a - b) / abs(b) for a, b in zip(losses["ours"], values))
            if worst > 0.03:
                raise SystemExit(f"{model}: our losses {losses['ours']} and {mode}'s {values} differ: not the same work")
    print(json.dumps(line), flush=True)


def main():
    trainer, torch, tensorflow = (sys.argv[1:] + ["", ""])[:3]
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            model, batch = case.split(":")
            bench(trainer, "torch_peer.py", torch, model, int(batch), folder, MODES, GOALS.get(model))
            if model == "resnet44":  # what the paper that this project follows ran
                bench(trainer, "tf_peer.py", tensorflow, model, int(batch), folder, TF_MODES, 5.0, "-tensorflow")


main()
