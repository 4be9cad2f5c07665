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
from typing import NamedTuple

GOALS = {"resnet44": 3.0, "fastcifar": 1.8, "resnet18": 1.5}
FP32_GOAL = 1.5
MODES = os.environ.get("RADL_BENCH_MODES", "").split()
PRECISIONS = ["bf16", "fp32"]
TF_MODES = ["graph-fp32", "graph-bf16"]


class Isa(NamedTuple):
    """Instructions that both sides keep to: what the processor must have for them, and their names for our engine, oneDNN,
    ATen (and its compiler) and MKL."""
    flags: list
    ours: str
    onednn: str
    aten: str
    mkl: str

    def environment(self):
        return {"RADL_MAX_ISA": self.ours, "ONEDNN_MAX_CPU_ISA": self.onednn, "ATEN_CPU_CAPABILITY": self.aten,
                "MKL_ENABLE_INSTRUCTIONS": self.mkl}


AVX512 = ["avx512f", "avx512bw", "avx512vl", "avx512dq"]
ISAS = {
    "avx2": Isa(["avx2", "fma"], "avx2", "AVX2", "avx2", "AVX2"),
    "avx512": Isa(AVX512, "avx512", "AVX512_CORE", "avx512", "AVX512"),
    "avx512_bf16": Isa(AVX512 + ["avx512_bf16"], "avx512_bf16", "AVX512_CORE_BF16", "avx512", "AVX512"),
    "amx": Isa(AVX512 + ["amx_bf16"], "amx_bf16", "AVX512_CORE_AMX", "avx512", "AVX512"),
}
# What a careful user of PyTorch on a CPU sets.
TUNED = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "20000000000", "MALLOC_TOP_PAD_": "500000000"}
THREADS = int(os.environ.get("RADL_BENCH_THREADS", "2"))
ROUNDS = int(os.environ.get("RADL_BENCH_ROUNDS", "3"))
STEPS = int(os.environ.get("RADL_BENCH_STEPS", "5"))
CASES = os.environ.get("RADL_BENCH_CASES", "resnet44:128 fastcifar:1024 resnet18:128").split()


def cpuinfo(key):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((l.split(":", 1)[1].strip() for l in f if l.startswith(key)), "?")


def isas():
    """The names of what RADL_BENCH_ISA asks for and the processor has; [None] where nothing limits either side."""
    wanted = os.environ.get("RADL_BENCH_ISA", "").split()
    unknown = [w for w in wanted if w not in ISAS and w != "all"]
    if unknown:
        raise SystemExit(f"RADL_BENCH_ISA: {' '.join(unknown)}: not one of {' '.join(ISAS)} all")
    flags = cpuinfo("flags").split()
    able = [name for name, isa in ISAS.items() if set(isa.flags) <= set(flags)]
    for name in wanted:
        if name != "all" and name not in able:
            print(f"this processor has no {name}: no row for it", file=sys.stderr)
    return [name for name in able if name in wanted or "all" in wanted] if wanted else [None]


def machine():
    model, flags = cpuinfo("model name"), cpuinfo("flags").split()
    has = [f for f in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if f in flags]
    return f"{model}, {os.cpu_count()} cores, {' '.join(has)}, load {os.getloadavg()[0]:.1f}"


def run(command, env=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(env or {})}, check=False)
    if done.returncode:
        print(f"{' '.join(command)}: {done.stderr.strip()[-600:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def ours(trainer, model, batch, env, dump=None):
    command = [trainer, "bench", "--model", model, "--batch-size", str(batch), "--threads", str(THREADS), "--steps",
               str(STEPS), "--precision", "auto", "--json"]
    return run(command + (["--dump", dump] if dump else []), env)


def bench(trainer, peer_program, python, model, batch, folder, all_modes, goal, suffix="", isa=None):
    env = ISAS[isa].environment() if isa else {}
    dump = os.path.join(folder, f"{model}.safetensors")
    modes = list(all_modes) if python else []
    mine, theirs, losses, memory, processor = [], {m: [] for m in modes}, {}, {}, {}
    for round_ in range(ROUNDS):
        result = ours(trainer, model, batch, env, dump if round_ == 0 else None)
        if result is None:
            raise SystemExit(f"{model}: our engine failed")
        mine.append(result["median_seconds"])
        processor["ours"] = processor.get("ours", []) + [result["processor_seconds"]]
        losses["ours"], memory["ours"] = result["losses"], result["peak_rss_kib"]
        for mode in list(modes):
            peer = run([python, os.path.join(os.path.dirname(__file__), peer_program), dump, mode, str(STEPS),
                        str(THREADS)], {**TUNED, **env, "OMP_NUM_THREADS": str(THREADS)})
            if peer is None:
                modes.remove(mode)
                continue
            theirs[mode] += peer["seconds"]
            processor[mode] = processor.get(mode, []) + peer["processor_seconds"]
            losses[mode], memory[mode] = peer["losses"], peer["peak_rss_kib"]
        modes = [m for m in modes if same_work(losses["ours"], losses[m])]
        if round_ == 0 and modes:
            best = min(statistics.median(theirs[m]) for m in modes)
            modes = [m for m in modes if statistics.median(theirs[m]) <= 1.25 * best]
    if result["precision"] == "fp32" and model in GOALS and peer_program == "torch_peer.py":
        goal = FP32_GOAL
    line = {"name": f"engine-{model}-batch{batch}{suffix}" + (f"-{isa}" if isa else ""), "isa": isa, "ours": batch / statistics.median(mine), "peer": None,
            "unit": "images/s", "ratio": None, "goal": goal, "machine": machine(), "threads": THREADS,
            "our_precision": result["precision"], "our_peak_mib": memory["ours"] // 1024, "losses": losses}
    # bf16 rounds differently on both sides; fp32 PyTorch shows that the work is the same. A mode of the peer that computes
    # something else than its own other modes and we do is left out, and named.
    wrong = sorted(m for m, values in losses.items() if m != "ours" and not same_work(losses["ours"], values))
    done = {m: batch / statistics.median(s) for m, s in theirs.items() if s and m not in wrong}
    if wrong and not done:
        raise SystemExit(f"{model}: our losses and those of {', '.join(wrong)} differ: not the same work: {losses}")
    if wrong:
        line["peer_modes_left_out"] = {m: f"losses {losses[m]}" for m in wrong}
    if done:
        best = max(done, key=done.get)
        line.update(peer=done[best], ratio=line["ours"] / done[best], peer_mode=best, peer_modes=done,
                    peer_peak_mib=memory[best] // 1024, memory_ratio=memory["ours"] / memory[best],
                    processor_time_ratio=statistics.median(processor[best]) / statistics.median(processor["ours"]))
    print(json.dumps(line), flush=True)


def same_work(ours, theirs):
    return all(abs(a - b) <= 0.03 * abs(b) for a, b in zip(ours, theirs))


def torch_modes(isa):
    """Where there are no bf16 instructions, both sides compute in fp32."""
    precisions = ["fp32"] if isa in ("avx2", "avx512") else PRECISIONS
    return MODES or [f"{how}-{precision}" for how in ("eager", "compiled") for precision in precisions]


def main():
    trainer, torch, tensorflow = (sys.argv[1:] + ["", ""])[:3]
    with tempfile.TemporaryDirectory() as folder:
        for isa in isas():
            for case in CASES:
                model, batch = case.split(":")
                bench(trainer, "torch_peer.py", torch, model, int(batch), folder, torch_modes(isa), GOALS.get(model),
                      isa=isa)
                if model == "resnet44" and isa is None:  # what the paper that this project follows ran
                    bench(trainer, "tf_peer.py", tensorflow, model, int(batch), folder, TF_MODES, 5.0, "-tensorflow")


main()
