#!/usr/bin/env python3
"""Makes runtime/clouds/azure/azure.catalog from what others have read of Azure's APIs, both under Apache-2.0:

  --prices FILE    USD an hour on demand by region and size, Linux, of Azure's retail prices; the file says of which day
                   (github.com/Azure/karpenter-provider-azure pkg/providers/pricing/zz_generated.pricing.go)
  --types FILE     shapes of sizes, of `az vm list-skus`
                   (github.com/kubernetes/autoscaler cluster-autoscaler/cloudprovider/azure/azure_instance_types.go)
  --spot FILE      an earlier azure.catalog: its spot prices are kept with their day, since neither of the others has any

The format that is written: docs/catalog.md.
"""
import argparse
import re
import sys

from lines import price_lines, type_line
from network import SOURCES

# Confidential machines, which are asked for in another way; FPGAs; processors for desktops; cores that are switched off for the sake of licenses;
# what is gone or a special offer.
LEFT_OUT = re.compile(r"^(DC|EC|NCC|NP|NG|NV\d+s_v[23]|NV\d+as_v4|NV\w+_V710|GS?\d|DS?\d+$|F\d+s?$|L\d+s$)|\d-\d|Promo|SPECIAL|ADHType")
# Graphics processors, by what stands behind N: model, MiB of each. Of the shares of one that some sizes have: SHARES.
GPUS = ((r"T4_v3$", "NVIDIA_T4", 16384), (r"A10_v[45]$", "NVIDIA_A10", 24576), (r"NC\d+r?s_v3$", "NVIDIA_V100", 16384),
        (r"ND40rs_v2$", "NVIDIA_V100", 32768), (r"ND96asr_v4$", "NVIDIA_A100", 40960), (r"A100_v4$", "NVIDIA_A100", 81920),
        (r"NC\w+H100_v5$", "NVIDIA_H100", 96256), (r"ND\w+H100_v5$", "NVIDIA_H100", 81920), (r"H200_v5$", "NVIDIA_H200", 144384),
        (r"MI300X_v5$", "AMD_MI300X", 196608))
# Of these families Azure's list does not tell Windows from Linux by the product's name, and the source has either, by chance. A vCPU of Windows costs
# so much more everywhere, and the family's sizes cost the same for each vCPU: what is Windows' is known, and taken off.
WINDOWS = {"D*as_v5": .046, "D*ads_v5": .046, "E*as_v5": .046, "E*ads_v5": .046, "B*s_v2": .0046, "B*as_v2": .0046, "B*als_v2": .0046, "B*ls_v2": .0046,
           "B*ps_v2": .0046, "B*pls_v2": .0046}
# The small sizes of B: the part that their vCPU costs of what the family's other sizes' does.
SMALL = {f"B2{kind}{size}s_v2": (f"B*{kind}ls_v2", .565 / (1 if size == "l" else 4)) for kind in ("", "a", "p") for size in "lt"}
# A family that costs so much less or more than elsewhere, beside D*s_v5, is a mistake of the source's: its price counts as not known.
PLAUSIBLE = (.35, 1.35)
LESS_THAN_A_GIB = {"B1ls": 512}  # MiB: the list of sizes has 0
SHARES = {"NV6ads_A10_v5": "0.166667", "NV12ads_A10_v5": "0.333333", "NV18ads_A10_v5": "0.5"}


def read_types(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    types = {}
    for name, body in re.findall(r'"Standard_([^"]+)": \{([^}]*)\}', text):
        if not LEFT_OUT.search(name):
            types[name] = dict(re.findall(r'(\w+):\s*"?([^",\n]*)"?,', body))
    return types


def read_prices(path):
    """(day, region -> name -> price)"""
    day, prices, region = "", {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if said := re.search(r"generated at (\d{4}-\d\d-\d\d)", line):
                day = said[1]
            elif said := re.search(r'initialOnDemandPrices\["(\w+)"\]', line):
                region = prices.setdefault(said[1], {})
            elif said := re.match(r'\s*"Standard_([^"]+)":\s*([\d.]+),', line):
                region[said[1]] = float(said[2])
    return day, prices


def vcpus(name, types):
    return int(types[name]["VCPU"])


def family(name):
    return re.sub(r"^([A-Z]+)\d+", r"\1*", name)


def without_windows(known, types):
    """The prices of a region, all of them of Linux."""
    least = {}
    for name, price in known.items():
        if family(name) in WINDOWS and name not in SMALL:
            least[family(name)] = min(price / vcpus(name, types), least.get(family(name), price))
    linux = dict(known)
    for name, price in known.items():
        of, part = SMALL.get(name, (family(name), 1))
        surplus = price / vcpus(name, types) - least.get(of, 0) * part
        if of in least and .6 < surplus / WINDOWS[of] < 1.4:
            linux[name] = round(price - WINDOWS[of] * vcpus(name, types), 6)
    return linux


def forget_mistakes(prices, types):
    """Prices that cannot be right become None."""
    beside = {region: known["D2s_v5"] / 2 for region, known in prices.items() if "D2s_v5" in known}
    ratios = {}
    for region, known in prices.items():
        for name, price in known.items():
            ratios.setdefault(name, []).append((price / vcpus(name, types) / beside[region], region))
    for name, found in ratios.items():
        usual = sorted(found)[len(found) // 2][0]
        for ratio, region in found:
            if not PLAUSIBLE[0] < ratio / usual < PLAUSIBLE[1]:
                print(f"make_azure.py: not taken: Standard_{name} in {region} for {prices[region][name]}", file=sys.stderr)
                prices[region][name] = None


def read_spot(path):
    """(source lines, (region, day) -> name -> price)"""
    sources, prices, section = [], {}, None
    with open(path, encoding="utf-8") as file:
        for line in map(str.strip, file):
            words = line.split(" ")
            if line.startswith("source spot"):
                sources.append(line)
            elif line.startswith("["):
                words = line.strip("[]").split(" ")
                section = prices.setdefault((words[1], words[2]), {}) if words[0] == "spot" else None
            elif section is not None and line:
                for size, price in zip(words[1::2], words[2::2]):
                    name = size if words[0] == "-" else words[0].replace("*", size)
                    if price != "-":
                        section[name.removeprefix("Standard_")] = float(price)
    return sources, prices


def gpus(name, count):
    for pattern, model, mib in GPUS:
        if re.search(pattern, name):
            return float(SHARES.get(name, count)), model, mib
    if count:
        raise SystemExit(f"make_azure.py: which graphics processors has Standard_{name}? GPUS does not say")
    return 0, "-", 0


def split(name):
    found = re.fullmatch(r"(Standard_[A-Z]+)(\d+)(.*)", name)
    return (f"{found[1]}*{found[3]}", found[2]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--prices", "--types", "--spot"):
        parser.add_argument(option, required=True)
    given = parser.parse_args()
    types, (day, on_demand), (sources, spot) = read_types(given.types), read_prices(given.prices), read_spot(given.spot)
    on_demand = {region: without_windows({name: price for name, price in known.items() if name in types}, types)
                 for region, known in on_demand.items()}
    forget_mistakes(on_demand, types)
    lines = ["radl-catalog 2", "cloud azure", "currency USD",
             f"source on-demand {day}: Azure's retail prices, Linux, as github.com/Azure/karpenter-provider-azure has them (Apache-2.0)",
             "source on-demand of D and E v5 with AMD and of B v2: where that list has the price of Windows, less Windows' surcharge for each vCPU",
             "source shapes: Azure's list of sizes, as github.com/kubernetes/autoscaler has it (Apache-2.0)", *sources, "source " + SOURCES["azure"], "", "[types]"]
    for name, shape in sorted(types.items()):
        architecture = {"arm64": "arm64"}.get(shape["Architecture"], "x86_64")
        lines.append(type_line("azure", "Standard_" + name, int(shape["VCPU"]), int(shape["MemoryMb"]) or LESS_THAN_A_GIB[name], *gpus(name, int(shape["GPU"])), architecture))
    sections = [("on-demand", region, day, known) for region, known in on_demand.items()]
    sections += [("spot", region, of, known) for (region, of), known in spot.items()]
    for market, region, of, known in sorted(sections, key=lambda one: one[:3]):
        there = {"Standard_" + name: price for name, price in known.items() if name in types}
        if there:
            lines += ["", f"[{market} {region} {of}]", *price_lines(there, split)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
