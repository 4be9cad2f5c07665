#!/usr/bin/env python3
"""Makes runtime/clouds/gce/gce.catalog from what others have read of Google's APIs, both under Apache-2.0:

  --prices DATE:FILE   USD an hour by region, market and machine type, put together from the Cloud Billing Catalog
                       (github.com/cloudpilot-ai/karpenter-provider-gcp pkg/providers/pricing/initial-prices.json)
  --types FILE         shapes of machine types; NAME;CPUS;SHARED_CPU;MEMORY_GB;DEPRECATED;ZONE as `gcloud compute machine-types list` has them
                       (github.com/Cyclenerd/google-cloud-pricing-cost-calculator tools/machinetypes.csv)
  --offered DATE:FILE  which types each region has, also those without a price (the same, tools/machinetyperegion.csv)

Accelerators that n1 machines take are in neither: ACCELERATORS. The format that is written: docs/catalog.md.
"""
import argparse
import csv
import json
import re

from lines import dated, price_lines, type_line
from network import SOURCES

# USD an hour of one, on demand and spot, by region.
ACCELERATORS_AS_OF = "2026-03-01"  # about: its spot prices are those of the spring of 2026
ACCELERATORS_SOURCE = "SkyPilot's catalogue (github.com/skypilot-org/skypilot-catalog catalogs/v8/gcp/vms.csv at 006059e0)"
US = ("us-central1", "us-east1", "us-west1")
ACCELERATORS = {
    "nvidia-tesla-t4": {
        **{region: (.35, .175) for region in US},
        "asia-east1": (.35, .1383), "asia-east2": (.44, .2004), "asia-northeast1": (.37, .1311), "asia-northeast3": (.37, .1539),
        "asia-south1": (.41, .1701), "asia-southeast1": (.37, .1645), "asia-southeast2": (.4033, .1854), "australia-southeast1": (.44, .1746),
        "europe-central2": (.41, .164), "europe-west1": (.35, .14), "europe-west2": (.399, .1181), "europe-west3": (.41, .164),
        "europe-west4": (.3675, .175), "me-west1": (.385, .1093), "northamerica-northeast1": (.38538, .1868), "southamerica-east1": (.48, .2329),
        "us-east4": (.37, .1644), "us-west2": (.42074, .164), "us-west3": (.42074, .1195), "us-west4": (.37, .1258)},
    "nvidia-tesla-v100": {**{region: (2.48, 1.0885) for region in US}, "asia-east1": (2.48, .6356), "europe-west4": (2.604, 1.0443)},
    "nvidia-tesla-p100": {**{region: (1.46, .7034) for region in US}, "asia-east1": (1.6, .144), "australia-southeast1": (1.6, .2839),
                          "europe-west1": (1.6, .2816), "europe-west4": (1.533, .2341)},
    "nvidia-tesla-p4": {"asia-southeast1": (.65, .0585), "australia-southeast1": (.65, .075), "europe-west4": (.63, .132),
                        "northamerica-northeast1": (.65, .0738), "us-central1": (.6, .2236), "us-east4": (.6, .1734), "us-west2": (.72, .0794)},
}
# So many of each, on n1-standard machines of so many vCPUs.
ATTACHED = {"nvidia-tesla-t4": {1: (4, 8), 2: (8, 16), 4: (16, 32)}, "nvidia-tesla-v100": {1: (4, 8), 2: (8, 16), 4: (16, 32), 8: (32, 64)},
            "nvidia-tesla-p100": {1: (4, 8), 2: (8, 16), 4: (16, 32)}, "nvidia-tesla-p4": {1: (4, 8), 2: (8, 16), 4: (16, 32)}}
MODELS = {"nvidia-tesla-t4": ("NVIDIA_T4", 16384), "nvidia-tesla-v100": ("NVIDIA_V100", 16384), "nvidia-tesla-p100": ("NVIDIA_P100", 16384),
          "nvidia-tesla-p4": ("NVIDIA_P4", 8192)}
# Machines with processors of their own, by what their names begin with: model, MiB of each.
BUILT_IN = {"a2-highgpu": ("NVIDIA_A100", 40960), "a2-megagpu": ("NVIDIA_A100", 40960), "a2-ultragpu": ("NVIDIA_A100_80GB", 81920),
            "a3-highgpu": ("NVIDIA_H100", 81920), "a3-edgegpu": ("NVIDIA_H100", 81920), "a3-megagpu": ("NVIDIA_H100_MEGA", 81920),
            "a3-ultragpu": ("NVIDIA_H200", 144384), "a4-highgpu": ("NVIDIA_B200", 183359), "a4x-highgpu": ("NVIDIA_GB200", 190464),
            "g2-standard": ("NVIDIA_L4", 24576), "g4-standard": ("NVIDIA_RTX_PRO_6000", 98304)}
L4S = {4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8}
# Of machines that share a core: the part of it that is theirs (Compute Engine, "Shared-core machine types").
SHARED = {"e2-micro": .25, "e2-small": .5, "e2-medium": 1, "f1-micro": .2, "g1-small": .5}
ARM = ("t2a", "c4a", "n4a", "a4x")
# TPUs, whole hosts, and g4 machines with a share of a processor, which need other drivers.
LEFT_OUT = re.compile(r"^(ct|tpu)|-metal$|^g4-standard-(6|12|24)$|^a4x-maxgpu")


def accelerators(name, cpus):
    """(how many, model, MiB of each) of a machine type."""
    kind = "-".join(name.split("-")[:2])
    if kind not in BUILT_IN:
        return 0, "-", 0
    said = re.search(r"-(\d+)g\b", name)
    count = int(said[1]) if said else L4S[cpus] if kind == "g2-standard" else cpus / 48
    return count, *BUILT_IN[kind]


def split(name):
    found = re.fullmatch(r"(.+-)(\d+)(\+.*|-.*)?", name)
    return (f"{found[1]}*{found[3] or ''}", found[2]) if found else None


def attached():
    """name -> (vCPU, accelerator, how many)"""
    return {f"n1-standard-{cpus}+{count}x{gpu}": (cpus, gpu, count)
            for gpu, counts in ATTACHED.items() for count, sizes in counts.items() for cpus in sizes}


def with_accelerators(region, market, prices):
    index = ("on_demand", "spot").index(market)
    return {name: prices[f"n1-standard-{cpus}"] + count * ACCELERATORS[gpu][region][index]
            for name, (cpus, gpu, count) in attached().items() if region in ACCELERATORS[gpu] and f"n1-standard-{cpus}" in prices}


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=";"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prices", type=dated, required=True)
    parser.add_argument("--types", required=True)
    parser.add_argument("--offered", type=dated, required=True)
    given = parser.parse_args()
    shapes = {row["NAME"]: row for row in read(given.types) if not row["DEPRECATED"] and not LEFT_OUT.search(row["NAME"])}
    offered = {}
    for row in read(given.offered[1]):
        offered.setdefault(row["ZONE"], set()).add(row["NAME"])
    with open(given.prices[1], encoding="utf-8") as file:
        prices = json.load(file)["prices"]
    lines = ["radl-catalog 2", "cloud gce", "currency USD",
             f"source prices {given.prices[0]}: Google's Cloud Billing Catalog, as github.com/cloudpilot-ai/karpenter-provider-gcp has it (Apache-2.0)",
             f"source shapes {given.offered[0]}: Compute Engine's lists of machine types, as "
             "github.com/Cyclenerd/google-cloud-pricing-cost-calculator has them (Apache-2.0)",
             f"source accelerators of n1 {ACCELERATORS_AS_OF}, about: {ACCELERATORS_SOURCE}", "source " + SOURCES["gce"], "", "[types]"]
    for name, row in sorted(shapes.items()):
        cpus = int(row["CPUS"])
        architecture = "arm64" if name.split("-")[0] in ARM else "x86_64"
        lines.append(type_line("gce", name, SHARED.get(name, cpus), float(row["MEMORY_GB"]) * 1024, *accelerators(name, cpus), architecture))
    for name, (cpus, gpu, count) in sorted(attached().items()):
        lines.append(type_line("gce", name, cpus, cpus * 3.75 * 1024, count, *MODELS[gpu]))
    for region, markets in sorted(prices.items()):
        for market, known in sorted(markets.items()):
            there = {name: price for name, price in known.items() if name in shapes}
            if market == "on_demand":
                there.update({name: None for name in offered.get(region, ()) if name in shapes and name not in there})
            lines += ["", f"[{market.replace('_', '-')} {region} {given.prices[0]}]", *price_lines(there, split)]
            if with_gpus := with_accelerators(region, market, known):
                lines += ["", f"[{market.replace('_', '-')} {region} {ACCELERATORS_AS_OF}]", *price_lines(with_gpus, split)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
