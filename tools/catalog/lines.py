"""What the makers of catalogues share: prices as lines of docs/catalog.md, one for each family."""
import argparse
import re

from network import network


def dated(text):
    """DATE:FILE, the day that the file was published."""
    date, _, path = text.partition(":")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise argparse.ArgumentTypeError(f"{text}: no DATE:FILE")
    return date, path


def price_text(price):
    return "-" if price is None else f"{price:.6g}"


def price_lines(prices, split):
    """prices: name -> USD an hour, None where it is not known. split(name): (family, size), the family with a * where the size stands,
    None where the name has no size of its own."""
    families = {}
    for name, price in prices.items():
        family, size = split(name) or ("-", name)
        families.setdefault(family, []).append((size, price))
    number = lambda size: (int(re.match(r"\d*", size)[0] or 0), size)
    return [" ".join([family, *(f"{size} {price_text(price)}" for size, price in sorted(sizes, key=lambda one: number(one[0])))])
            for family, sizes in sorted(families.items())]


def type_line(cloud, name, cpus, mib, gpus=0, model="-", gpu_mib=0, architecture="x86_64"):
    return f"{name} {cpus} {round(mib)} {gpus:g} {model} {gpu_mib} {network(cloud, name)} - {architecture} 0"
