#!/usr/bin/env python3
"""Makes runtime/clouds/ec2/ec2.catalog from published facts about EC2.

Every input is a file with the date it was published (DATE:FILE, DATE as 2025-11-03); later inputs of a kind
win over earlier ones where they are newer. The format that is written: docs/catalog.md.

  --shapes FILE      answers of DescribeInstanceTypes: a JSON object by type or a list, plain or .gz, or the wheel
                     of PyPI's moto, which has them (moto/ec2/resources/instance_types.json[.gz]). Older wheels
                     know the retired families. In order of preference.
  --offered FILE     the wheel of moto: which types each region has (instance_type_offerings/region)
  --rows DATE:FILE   on-demand prices, JSON list of {region, attributes.instanceType, pricePerUnit}: Linux, shared
                     tenancy (github.com/lamngockhuong/aws-price lib/data/pricing/ec2-transformed.json)
  --go DATE:FILE     on-demand prices, Go map of region to type to price
                     (github.com/aws/karpenter-provider-aws pkg/providers/pricing/zz_generated.pricing_aws.go)
  --advisor DATE:FILE  the Spot Advisor's spot-advisor-data.json: mean saving over 30 days
                     (https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json)
  --ecu FILE         a list of {instance_type, ECU} (github.com/vantage-sh/ec2instances.info www/instances.json)
  --source TEXT      written to the file's head, once for each
"""
import argparse
import gzip
import json
import re
import zipfile

REGIONS = {  # the price list's places, where a source has no codes
    "africa-(cape-town)": "af-south-1", "asia-pacific-(hong-kong)": "ap-east-1",
    "asia-pacific-(taipei)": "ap-east-2", "asia-pacific-(seoul)": "ap-northeast-2",
    "asia-pacific-(osaka)": "ap-northeast-3", "asia-pacific-(mumbai)": "ap-south-1",
    "asia-pacific-(hyderabad)": "ap-south-2", "asia-pacific-(jakarta)": "ap-southeast-3",
    "asia-pacific-(melbourne)": "ap-southeast-4", "asia-pacific-(malaysia)": "ap-southeast-5",
    "asia-pacific-(new-zealand)": "ap-southeast-6", "asia-pacific-(thailand)": "ap-southeast-7",
    "canada-(central)": "ca-central-1", "canada-west-(calgary)": "ca-west-1", "eu-(zurich)": "eu-central-2",
    "eu-(stockholm)": "eu-north-1", "eu-(milan)": "eu-south-1", "eu-(spain)": "eu-south-2",
    "eu-(paris)": "eu-west-3", "israel-(tel-aviv)": "il-central-1", "middle-east-(uae)": "me-central-1",
    "middle-east-(bahrain)": "me-south-1", "mexico-(central)": "mx-central-1",
    "south-america-(sao-paulo)": "sa-east-1", "aws-govcloud-(us)": "us-gov-west-1",
    "aws-govcloud-(us-east)": "us-gov-east-1",
}
REGION = re.compile(r"^[a-z]{2}(-gov)?-[a-z]+-[0-9]$")
LEFT_OUT = re.compile(r"^mac")  # no Linux
WORDED = {"Very Low": 50, "Low": 100, "Low to Moderate": 300, "Moderate": 500, "High": 1000}  # Mbit/s, estimated
SIZES = ["nano", "micro", "small", "medium", "large", "xlarge"]


def dated(text):
    date, _, path = text.partition(":")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise argparse.ArgumentTypeError(f"{text}: no DATE:FILE")
    return date, path


def read_json(path, member=None):
    if path.endswith(".whl"):
        with zipfile.ZipFile(path) as wheel:
            name = member if member in wheel.namelist() else member + ".gz"
            raw = wheel.read(name)
            return json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return json.load(file)


def size_order(name):
    family, size = name.split(".", 1)
    found = re.fullmatch(r"(\d*)xlarge", size)
    if found:
        return family, 5 + int(found.group(1) or 1), size
    if size in SIZES:
        return family, SIZES.index(size), size
    return family, 1000, size


def network(info):
    """Baseline and peak in Mbit/s, over all cards."""
    cards = info.get("NetworkCards", [])
    if cards and all("BaselineBandwidthInGbps" in card for card in cards):
        base = sum(card["BaselineBandwidthInGbps"] for card in cards)
        peak = sum(card.get("PeakBandwidthInGbps", card["BaselineBandwidthInGbps"]) for card in cards)
        return round(base * 1000), round(peak * 1000)
    words = info.get("NetworkPerformance", "")
    found = re.search(r"(?:(\d+)x )?([\d.]+) Gigabit", words)
    if found:
        rate = round(float(found.group(2)) * 1000) * int(found.group(1) or 1)
        return (0 if words.startswith("Up to") else rate), rate
    return (WORDED.get(words, 0),) * 2


def gpus(info):
    """How many, which model, MiB of memory each. Fractions of a GPU count as they are."""
    of = info.get("GpuInfo", {}).get("Gpus", [])
    if not of:
        return 0, "-", 0
    first = of[0]
    count = first.get("LogicalGpuCount", first["Count"]) * first.get("GpuPartitionSize", 1.0)
    model = f"{first['Manufacturer']} {first['Name']}".replace(" ", "_")
    return count, model, first["MemoryInfo"]["SizeInMiB"]


def disks(info):
    of = info.get("InstanceStorageInfo", {})
    kind = "nvme" if of.get("NvmeSupport") in ("required", "supported") else ""
    parts = [f"{d['Count']}x{d['SizeInGB']}{kind if d['Type'] == 'ssd' and kind else d['Type']}"
             for d in of.get("Disks", [])]
    return ",".join(parts) or "-"


def number(value):
    return f"{value:.6f}".rstrip("0").rstrip(".")


def type_line(name, info, ecu):
    count, model, memory = gpus(info)
    base, peak = network(info.get("NetworkInfo", {}))
    arch = ",".join(a for a in info["ProcessorInfo"]["SupportedArchitectures"] if not a.endswith("_mac"))
    fields = [name, number(info["VCpuInfo"]["DefaultVCpus"]), info["MemoryInfo"]["SizeInMiB"], number(count), model,
              memory, f"{base}/{peak}", disks(info), arch, number(ecu)]
    return " ".join(str(field) for field in fields)


def shapes_of(paths):
    shapes = {}
    for path in paths:
        data = read_json(path, "moto/ec2/resources/instance_types.json")
        entries = data if isinstance(data, list) else [dict(info, InstanceType=name) for name, info in data.items()]
        for info in entries:
            if not LEFT_OUT.match(info["InstanceType"]):
                shapes.setdefault(info["InstanceType"], info)
    return shapes


def ecus_of(path):
    if not path:
        return {}
    return {entry["instance_type"]: float(entry["ECU"]) for entry in read_json(path)
            if isinstance(entry.get("ECU"), (int, float))}


def offered_of(path):
    if not path:
        return {}
    offered, folder = {}, "moto/ec2/resources/instance_type_offerings/region/"
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            if name.startswith(folder):
                region = name[len(folder):].split(".")[0]
                raw = wheel.read(name)
                listed = json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)
                offered[region] = {entry["InstanceType"] for entry in listed}
    return offered


def rows_of(path):
    """(region, type, price)"""
    for row in read_json(path):
        region = REGIONS.get(row["region"], row["region"])
        if REGION.match(region) and row["attributes"]["operatingSystem"] == "Linux":
            yield region, row["attributes"]["instanceType"], float(row["pricePerUnit"])


def go_of(path):
    region = None
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r'\t"([a-z0-9-]+)": \{', line)
            if found:
                region = found.group(1)
            for name, price in re.findall(r'"([a-z0-9-]+\.[a-z0-9-]+)": ([0-9.]+)', line):
                yield region, name, float(price)


def newest(inputs):
    """region -> type -> (date, price), the newest of each."""
    prices = {}
    for (date, path), reader in sorted(inputs, key=lambda one: one[0][0]):
        for region, name, price in reader(path):
            if price > 0:
                prices.setdefault(region, {})[name] = (date, price)
    return prices


def section(market, region, date, prices):
    lines, families = [f"[{market} {region} {date}]"], {}
    for name in sorted(prices, key=size_order):
        family, size = name.split(".", 1)
        price = prices[name]
        families.setdefault(family, []).append(f"{size} {'-' if price is None else number(price)}")
    return lines + [f"{family} {' '.join(sizes)}" for family, sizes in families.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", action="append", required=True)
    parser.add_argument("--offered")
    parser.add_argument("--rows", action="append", type=dated, default=[])
    parser.add_argument("--go", action="append", type=dated, default=[])
    parser.add_argument("--advisor", type=dated)
    parser.add_argument("--ecu")
    parser.add_argument("--source", action="append", required=True)
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()

    shapes, ecus, offered = shapes_of(arguments.shapes), ecus_of(arguments.ecu), offered_of(arguments.offered)
    on_demand = newest([(one, rows_of) for one in arguments.rows] + [(one, go_of) for one in arguments.go])
    lines = ["radl-catalog 2", "cloud ec2", "currency USD"]
    lines += [f"source {text}" for text in arguments.source]
    lines += ["", "[types]"]
    lines += [type_line(name, shapes[name], ecus.get(name, 0)) for name in sorted(shapes, key=size_order)]
    advisor = read_json(arguments.advisor[1])["spot_advisor"] if arguments.advisor else {}
    for region in sorted(on_demand):
        known = {name: entry for name, entry in on_demand[region].items() if name in shapes}
        by_date = {}
        for name, (date, price) in known.items():
            by_date.setdefault(date, {})[name] = price
        for name in offered.get(region, set()) & set(shapes) - set(known):  # it can be had, at what price is unknown
            by_date.setdefault(min(by_date), {})[name] = None
        for date in sorted(by_date):
            lines += [""] + section("on-demand", region, date, by_date[date])
        savings = advisor.get(region, {}).get("Linux", {})
        # A "saving" below nothing compares with an on-demand price that is not valid any more.
        spot = {name: round(known[name][1] * (100 - entry["s"]) / 100, 4)
                for name, entry in savings.items() if name in known and entry["s"] >= 0}
        if spot:
            lines += [""] + section("spot", region, arguments.advisor[0], spot)
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
