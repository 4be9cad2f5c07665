#!/usr/bin/env python3
"""Makes runtime/foresight/data/profiles.json: what forecasts start from where a user has measured nothing yet.

    tools/foresight/make_profiles.py RADL-TRAIN > runtime/foresight/data/profiles.json

Each model of the list is trained on synthetic images for a few seconds a batch, on one core, in fp32. What counts is processor time,
which depends little on what else the machine does. `work` stays empty: of nobody's machine is this a measurement.
"""
import datetime
import json
import pathlib
import subprocess
import sys

SECONDS = 3
MODELS = [  # model, input, batches
    ("logistic", "32x32x3", (32, 128, 256)), ("mlp", "28x28x1", (32, 128, 256)), ("lenet", "32x32x3", (32, 128, 256)),
    ("resnet20", "32x32x3", (16, 64, 128)), ("resnet56", "32x32x3", (8, 32, 64)), ("fastcifar-s", "32x32x3", (16, 64, 128)),
    ("fastcifar", "32x32x3", (16, 64, 128)), ("resnet18", "32x32x3", (8, 32, 64)), ("vit-tiny", "32x32x3", (8, 32, 64)),
    ("resnet18-224", "224x224x3", (2, 8, 16)), ("resnet50", "224x224x3", (2, 4, 8)),
]


def core_peak():
    """As common/core_peak.cc has it."""
    fields = {}
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        key, colon, value = line.partition(":")
        if not colon:
            break
        fields.setdefault(key.strip(), value.strip())
    flags = fields["flags"].split()
    cycle = 64 if "avx512f" in flags and fields["vendor_id"] == "GenuineIntel" else 32 if "avx2" in flags and "fma" in flags else 16 if "avx" in flags else 8
    shared = 0.5 if float(fields.get("siblings", 0)) > float(fields.get("cpu cores", 1)) else 1
    fastest = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    clock = float(fastest.read_text()) / 1e3 if fastest.exists() else float(fields["cpu MHz"])
    return 1e6 * clock * cycle * shared


def ask(engine, *arguments):
    return json.loads(subprocess.run([engine, arguments[0], "--json", *arguments[1:]], check=True, capture_output=True, text=True).stdout)


def profile(engine, model, shape, batches):
    graph = ask(engine, "inspect", "--input", shape, "--classes", "10", "--", model)
    steps, memory, forward, backward = [], [], 0, 0
    for batch in batches:
        told = ask(engine, "bench", "--profile", "--threads", "1", "--precision", "fp32", "--model", model, "--input", shape,
                   "--batch-size", str(batch), "--seconds", str(SECONDS))
        steps.append({"batch": batch, "seconds": told["processor_seconds"]})
        memory.append(told["network_bytes"])
        forward += sum(one["forward_seconds"] for one in told["profile"]["operations"])
        backward += sum(one["backward_seconds"] for one in told["profile"]["operations"])
        print(f"{model} {batch}: {told['processor_seconds']:.4f} s of a processor, {told['median_seconds']:.4f} s by the wall", file=sys.stderr)
    each = max((memory[-1] - memory[0]) / (batches[-1] - batches[0]), 0)
    return {"family": f"{model} at {shape}", "work": "", "batch": batches[1], "machine": "one core of an AMD EPYC (Zen 4)", "cores": 1,
            "node": {"steps": steps, "parameter_bytes": 4 * graph["parameters"], "backward_share": backward / (forward + backward), "spread": 0.05,
                     "largest_batch": 0},
            "flop_per_image": 3 * graph["forward_flop"], "memory_bytes": max(memory[0] - each * batches[0], 0), "memory_bytes_per_image": each,
            "core_peak": core_peak(), "convolved": graph["convolution_parameters"] / graph["parameters"], "taken_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "version": "0.1.0",
            "activations": graph["activations"]}


def main():
    profiles = [profile(sys.argv[1], *one) for one in MODELS]
    for one in profiles:
        activations = one.pop("activations")
        print(f"{one['family']}: {one['memory_bytes_per_image'] / 4 / activations:.2f} of its activations' bytes an image", file=sys.stderr)
    print(json.dumps({"calibration": 1, "profiles": profiles, "runs": [], "studies": []}, indent=1))


if __name__ == "__main__":
    main()
