#!/usr/bin/env python3
"""Makes runtime/catalog/data/gce.catalog: shapes of Compute Engine's machine types, and prices that are put together from what Google's
Cloud Billing Catalog has for a vCPU, a GiB of memory and an accelerator, as read on the day AS_OF. What has no price here has its types with
a price that is not known. The format that is written: docs/catalog.md.
"""
AS_OF = "2026-09-25"

# family -> (GiB a vCPU by kind, vCPUs that there are)
FAMILIES = {
    "e2": ({"standard": (4, (2, 4, 8, 16, 32)), "highmem": (8, (2, 4, 8, 16)), "highcpu": (1, (2, 4, 8, 16, 32))}),
    "n1": ({"standard": (3.75, (1, 2, 4, 8, 16, 32, 64, 96)), "highmem": (6.5, (2, 4, 8, 16, 32, 64, 96)), "highcpu": (0.9, (2, 4, 8, 16, 32, 64, 96))}),
    "n2": ({"standard": (4, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)), "highmem": (8, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)),
            "highcpu": (1, (2, 4, 8, 16, 32, 48, 64, 80, 96))}),
    "c2": ({"standard": (4, (4, 8, 16, 30, 60))}),
}
# Whole machines with accelerators: vCPU, GiB, how many, which.
WITH_GPUS = {
    "a2-highgpu-1g": (12, 85, 1, "a100"), "a2-highgpu-2g": (24, 170, 2, "a100"), "a2-highgpu-4g": (48, 340, 4, "a100"),
    "a2-highgpu-8g": (96, 680, 8, "a100"),
    "g2-standard-4": (4, 16, 1, "l4"), "g2-standard-8": (8, 32, 1, "l4"), "g2-standard-12": (12, 48, 1, "l4"), "g2-standard-16": (16, 64, 1, "l4"),
    "g2-standard-24": (24, 96, 2, "l4"), "g2-standard-32": (32, 128, 1, "l4"), "g2-standard-48": (48, 192, 4, "l4"), "g2-standard-96": (96, 384, 8, "l4"),
}
# Accelerators: the catalogue's model, MiB of each. n1 machines take the first three, so many of each at so many vCPUs.
GPUS = {"nvidia-tesla-t4": ("NVIDIA_T4", 16384), "nvidia-tesla-v100": ("NVIDIA_V100", 16384), "nvidia-tesla-p100": ("NVIDIA_P100", 16384),
        "a100": ("NVIDIA_A100", 40960), "l4": ("NVIDIA_L4", 24576)}
ATTACHED = {"nvidia-tesla-t4": {1: (4, 8), 2: (8, 16), 4: (16, 32)}, "nvidia-tesla-v100": {1: (4, 8), 2: (8, 16), 4: (16, 32), 8: (32, 64)},
            "nvidia-tesla-p100": {1: (4, 8), 2: (8, 16), 4: (16, 32)}}
# USD an hour: (vCPU, GiB) of families, and of one accelerator. Only what was seen in the Cloud Billing Catalog stands here.
PRICES = {
    "us-central1": {"e2": (0.02181159, 0.00292353), "n1": (0.031611, 0.004237), "n2": (0.031611, 0.004237), "a2": (0.031611, 0.004237),
                    "g2": (0.024988, 0.002927), "nvidia-tesla-t4": 0.35, "a100": 2.933908, "l4": 0.56},
}
# Where else there are machines of the families that every region has.
REGIONS = ("asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2", "asia-northeast3", "asia-south1", "asia-south2", "asia-southeast1",
           "asia-southeast2", "australia-southeast1", "australia-southeast2", "europe-central2", "europe-north1", "europe-southwest1", "europe-west1", "europe-west2",
           "europe-west3", "europe-west4", "europe-west6", "europe-west8", "europe-west9", "me-west1", "northamerica-northeast1",
           "northamerica-northeast2", "southamerica-east1", "southamerica-west1", "us-east1", "us-east4", "us-east5", "us-south1", "us-west1", "us-west2",
           "us-west3", "us-west4")
ELSEWHERE = {"europe-west4": ("g2", "a2", "nvidia-tesla-t4", "nvidia-tesla-v100"), "us-east1": ("g2", "a2", "nvidia-tesla-t4"),
             "us-west1": ("g2", "a2", "nvidia-tesla-t4", "nvidia-tesla-v100"), "europe-west1": ("nvidia-tesla-t4",)}


def shapes():
    """name -> (family, vCPU, GiB, accelerators, which)"""
    found = {}
    for family, kinds in FAMILIES.items():
        for kind, (memory, sizes) in kinds.items():
            for cpus in sizes:
                gib = {("n2", "standard", 128): 512, ("n2", "highmem", 128): 864}.get((family, kind, cpus), memory * cpus)
                found[f"{family}-{kind}-{cpus}"] = (family, cpus, gib, 0, "")
    for name, (cpus, gib, count, gpu) in WITH_GPUS.items():
        found[name] = (name.split("-")[0], cpus, gib, count, gpu)
    for gpu, counts in ATTACHED.items():
        for count, sizes in counts.items():
            for cpus in sizes:
                found[f"n1-standard-{cpus}+{count}x{gpu}"] = ("n1", cpus, 3.75 * cpus, count, gpu)
    return found


def price(region, shape):
    family, cpus, gib, count, gpu = shape
    prices = PRICES.get(region, {})
    if family not in prices or (count and gpu not in prices):
        return "-"
    return f"{cpus * prices[family][0] + gib * prices[family][1] + (count * prices[gpu] if count else 0):.6g}"


def is_there(region, shape):
    family, _, _, count, gpu = shape
    if region == "us-central1":
        return True
    if count:
        return (gpu if family == "n1" else family) in ELSEWHERE.get(region, ())
    return family in ("e2", "n2") or (family == "n1" and region == "europe-west1")


def main():
    types = shapes()
    lines = ["radl-catalog 2", "cloud gce", "currency USD",
             "source shapes: Compute Engine documentation, machine families",
             f"source on-demand {AS_OF}: put together from the prices of vCPU, memory and accelerator in the Cloud Billing Catalog", "",
             "[types]"]
    for name, (_, cpus, gib, count, gpu) in sorted(types.items()):
        model, memory = GPUS[gpu] if count else ("-", 0)
        lines.append(f"{name} {cpus} {round(gib * 1024)} {count} {model} {memory} 0/0 - x86_64 0")
    for region in sorted({*REGIONS, *PRICES}):
        lines += ["", f"[on-demand {region} {AS_OF}]"]
        lines += [f"- {name} {price(region, shape)}" for name, shape in sorted(types.items()) if is_there(region, shape)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
