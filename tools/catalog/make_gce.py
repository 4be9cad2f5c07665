#!/usr/bin/env python3
"""Makes runtime/catalog/data/gce.catalog: shapes of Compute Engine's machine types, and prices that are put together from what Google's
Cloud Billing Catalog has for a vCPU, a GiB of memory and an accelerator, as read on the day AS_OF or in a copy of COPY_OF. What has no price here has
its types with a price that is not known. The format that is written: docs/catalog.md.
"""
AS_OF, COPY_OF = "2026-09-25", "2025-03-02"  # of us-central1; of the other regions

# family -> (GiB a vCPU by kind, vCPUs that there are)
FAMILIES = {
    "e2": ({"standard": (4, (2, 4, 8, 16, 32)), "highmem": (8, (2, 4, 8, 16)), "highcpu": (1, (2, 4, 8, 16, 32))}),
    "n1": ({"standard": (3.75, (1, 2, 4, 8, 16, 32, 64, 96)), "highmem": (6.5, (2, 4, 8, 16, 32, 64, 96)), "highcpu": (0.9, (2, 4, 8, 16, 32, 64, 96))}),
    "n2": ({"standard": (4, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)), "highmem": (8, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)),
            "highcpu": (1, (2, 4, 8, 16, 32, 48, 64, 80, 96))}),
    "n2d": ({"standard": (4, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224)), "highmem": (8, (2, 4, 8, 16, 32, 48, 64, 80, 96)),
             "highcpu": (1, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224))}),
    "c2": ({"standard": (4, (4, 8, 16, 30, 60))}),
    "t2a": ({"standard": (4, (1, 2, 4, 8, 16, 32, 48))}),
    "c4a": ({"standard": (4, (1, 2, 4, 8, 16, 32, 48, 64, 72)), "highmem": (8, (1, 2, 4, 8, 16, 32, 48, 64, 72)),
             "highcpu": (2, (1, 2, 4, 8, 16, 32, 48, 64, 72))}),
}
# Families for arm64, and where they are.
ARM = {"t2a": ("us-central1", "europe-west4", "asia-southeast1"),
       "c4a": ("us-central1", "us-east1", "us-east4", "europe-west1", "europe-west3", "europe-west4", "asia-southeast1")}
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
# USD an hour on demand: (vCPU, GiB) of families by region, as they stood in 2025-03 in the copy of the Cloud Billing Catalog that Apache Libcloud
# carries. Regions are left out whose prices of n2d differ from what SkyPilot's catalogue had in 2026.
FAMILY_PRICES = {
    "asia-east1": {"e2": (0.02525538, 0.00338514), "n1": (0.036602, 0.004906), "n2": (0.036602, 0.004906), "n2d": (0.031844, 0.004268), "c2": (0.039347, 0.005274)},
    "asia-east2": {"e2": (0.03051939, 0.00409032), "n1": (0.044231, 0.005928), "n2": (0.044231, 0.005928), "n2d": (0.038481, 0.005157), "c2": (0.047548, 0.006373)},
    "asia-northeast1": {"e2": (0.02802642, 0.00373911), "n1": (0.040618, 0.005419), "n2": (0.040618, 0.005419), "n2d": (0.035338, 0.004715), "c2": (0.043664, 0.005825)},
    "asia-northeast2": {"e2": (0.02802642, 0.00373911), "n1": (0.040618, 0.005419), "n2": (0.040618, 0.005419), "c2": (0.043664, 0.005825)},
    "asia-northeast3": {"e2": (0.02802642, 0.00373911), "n1": (0.040618, 0.005419), "n2": (0.040618, 0.005419), "c2": (0.043664, 0.005825)},
    "asia-southeast1": {"e2": (0.02690931, 0.00360594), "n1": (0.038999, 0.005226), "n2": (0.038999, 0.005226), "n2d": (0.033929, 0.004547), "c2": (0.041924, 0.005618)},
    "asia-southeast2": {"e2": (0.029331147, 0.003930474), "n1": (0.04250891, 0.00569634), "n2": (0.04250891, 0.00569634), "n2d": (0.03698261, 0.00495623), "c2": (0.04569716, 0.00612362)},
    "australia-southeast1": {"e2": (0.03095064, 0.00414759), "n1": (0.044856, 0.006011), "n2": (0.044856, 0.006011), "n2d": (0.039025, 0.00523), "c2": (0.04822, 0.006462)},
    "europe-north1": {"e2": (0.02401614, 0.00321816), "n1": (0.034806, 0.004664), "n2": (0.034806, 0.004664), "n2d": (0.030281, 0.004058), "c2": (0.037416, 0.005014)},
    "europe-west1": {"e2": (0.02399337, 0.00321609), "n1": (0.034773, 0.004661), "n2": (0.034773, 0.004661), "n2d": (0.030253, 0.004055), "c2": (0.037381, 0.005011)},
    "europe-west2": {"e2": (0.0281037, 0.00376602), "n1": (0.04073, 0.005458), "n2": (0.04073, 0.005458), "n2d": (0.035435, 0.004748), "c2": (0.043785, 0.005867)},
    "europe-west3": {"e2": (0.0281037, 0.00376602), "n1": (0.04073, 0.005458), "n2": (0.04073, 0.005458), "n2d": (0.035435, 0.004748), "c2": (0.043785, 0.005867)},
    "europe-west4": {"e2": (0.02401338, 0.00321816), "n1": (0.034802, 0.004664), "n2": (0.034802, 0.004664), "n2d": (0.030278, 0.004058), "c2": (0.037412, 0.005014)},
    "europe-west6": {"e2": (0.03051939, 0.00409032), "n1": (0.044231, 0.005928)},
    "northamerica-northeast1": {"e2": (0.02401338, 0.00321816), "n1": (0.034802, 0.004664), "n2": (0.034802, 0.004664), "n2d": (0.030278, 0.004058), "c2": (0.037412, 0.005014)},
    "southamerica-east1": {"e2": (0.0346242, 0.00464025), "n1": (0.05018, 0.006725), "n2": (0.05018, 0.006725), "n2d": (0.043657, 0.005851), "c2": (0.053944, 0.007229)},
    "us-central1": {"e2": (0.02181159, 0.00292353), "n1": (0.031611, 0.004237), "n2": (0.031611, 0.004237), "n2d": (0.027502, 0.003686), "c2": (0.033982, 0.004555)},
    "us-east4": {"e2": (0.02456745, 0.00329199), "n1": (0.035605, 0.004771), "n2": (0.035605, 0.004771), "n2d": (0.030976, 0.004151), "c2": (0.043785, 0.005129)},
    "us-west2": {"e2": (0.0261993, 0.00351141), "n1": (0.03797, 0.005089), "n2": (0.03797, 0.005089), "n2d": (0.033034, 0.004427), "c2": (0.040818, 0.005471)},
    "us-west3": {"e2": (0.0261993, 0.00351141), "n1": (0.03797, 0.005089), "n2": (0.03797, 0.005089), "n2d": (0.033034, 0.004427), "c2": (0.040818, 0.005471)},
    "us-west4": {"e2": (0.02456745, 0.00329199), "n1": (0.035605, 0.004771), "n2": (0.04073, 0.004771), "n2d": (0.030976, 0.004151), "c2": (0.043785, 0.005129)},
}
AS_CENTRAL = ("us-east1", "us-west1")  # cost what us-central1 does
# Of one accelerator, and of families that are machines with them; seen in the Cloud Billing Catalog.
PRICES = {region: dict(prices) for region, prices in FAMILY_PRICES.items()}
PRICES.update({region: dict(FAMILY_PRICES["us-central1"]) for region in AS_CENTRAL})
PRICES["us-central1"].update({"a2": (0.031611, 0.004237), "g2": (0.024988, 0.002927), "nvidia-tesla-t4": 0.35, "a100": 2.933908, "l4": 0.56})
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
    if family in ARM:
        return region in ARM[family]
    if region == "us-central1":
        return True
    if count:
        return (gpu if family == "n1" else family) in ELSEWHERE.get(region, ())
    return family in ("e2", "n2") or family in PRICES.get(region, {})


def main():
    types = shapes()
    lines = ["radl-catalog 2", "cloud gce", "currency USD",
             "source shapes: Compute Engine documentation, machine families",
             f"source on-demand {AS_OF}: put together from the prices of vCPU, memory and accelerator in the Cloud Billing Catalog (us-central1)",
             f"source on-demand {COPY_OF}: the same, from the copy in Apache Libcloud (other regions)", "",
             "[types]"]
    for name, (family, cpus, gib, count, gpu) in sorted(types.items()):
        model, memory = GPUS[gpu] if count else ("-", 0)
        lines.append(f"{name} {cpus} {round(gib * 1024)} {count} {model} {memory} 0/0 - {'arm64' if family in ARM else 'x86_64'} 0")
    for region in sorted({*REGIONS, *PRICES}):
        lines += ["", f"[on-demand {region} {AS_OF if region == 'us-central1' else COPY_OF}]"]
        lines += [f"- {name} {price(region, shape)}" for name, shape in sorted(types.items()) if is_there(region, shape)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
