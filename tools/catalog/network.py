#!/usr/bin/env python3
"""The documented bandwidth of machine types (network.csv), as catalogues have it: sustained/most, Mbit/s; 0 is not known.

As a program: brings the figures into catalogues that are already made, in place.

    tools/catalog/network.py runtime/clouds/gce/gce.catalog runtime/clouds/azure/azure.catalog
"""
import csv
import functools
import pathlib
import re
import sys

SOURCES = {"gce": "network 2026-04-15: Compute Engine's documentation, default egress bandwidth (tools/catalog/network.csv)",
           "azure": "network 2026-03-10: Azure's documentation, max network bandwidth (tools/catalog/network.csv)"}


@functools.cache
def rules(cloud):
    lines = (pathlib.Path(__file__).parent / "network.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [(re.compile(row["type"]), dict(size.rsplit(":", 1) for size in row["sizes"].split())) for row in rows if row["cloud"] == cloud]


def network(cloud, name):
    """The documents give a maximum, and nothing that is kept for ever."""
    for pattern, sizes in rules(cloud):
        if found := pattern.fullmatch(name):
            return "0/" + sizes.get(found[1], "0")
    return "0/0"


def bring_into(path):
    lines, types = path.read_text().splitlines(), False
    cloud = next(line.split()[1] for line in lines if line.startswith("cloud "))
    made = []
    for line in lines:
        if line.startswith("source network "):
            continue
        if line.startswith("["):
            types = line == "[types]"
        if line == "[types]":
            made.insert(max(i for i, one in enumerate(made) if one.startswith("source ")) + 1, "source " + SOURCES[cloud])
        fields = line.split(" ")
        if types and len(fields) > 6:
            fields[6] = network(cloud, fields[0])
        made.append(" ".join(fields))
    path.write_text("\n".join(made) + "\n")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        bring_into(pathlib.Path(argument))
