#!/usr/bin/env python3
"""Writes small images of shapes as PNG files, one folder a class: the same bytes each time, nothing to install.

    python3 examples/own-images/make_images.py [FOLDER] [IMAGES A CLASS]
"""
import pathlib
import random
import struct
import sys
import zlib


def png(height, width, rows, grey):
    """An 8-bit PNG of rows of RGB or grey bytes."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    raw = b"".join(b"\0" + bytes(row) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def inside(shape, y, x, radius):
    """Whether a point, seen from the shape's centre, belongs to it."""
    if shape == "circle":
        return x * x + y * y <= radius * radius
    if shape == "square":
        return max(abs(x), abs(y)) <= 0.8 * radius
    return -radius <= y <= 0.7 * radius and abs(x) <= (y + radius) * 0.58


def image(shape, number):
    """One image: its size, place and colours depend on shape and number alone."""
    chance = random.Random(f"{shape} {number}")
    height, width = chance.randint(28, 40), chance.randint(28, 40)
    radius = chance.uniform(0.26, 0.4) * min(height, width)
    centre_y, centre_x = (side / 2 + chance.uniform(-0.08, 0.08) * side for side in (height, width))
    paper = [chance.randint(0, 90) for _ in range(3)]
    ink = [chance.randint(150, 255) for _ in range(3)]
    grey = number % 10 == 9  # one of ten has no colours
    rows = []
    for y in range(height):
        row = []
        for x in range(width):
            colour = ink if inside(shape, y - centre_y, x - centre_x, radius) else paper
            noise = chance.randint(-12, 12)
            pixel = [max(0, min(255, c + noise)) for c in colour]
            row += [sum(pixel) // 3] if grey else pixel
        rows.append(row)
    return png(height, width, rows, grey)


def main():
    default = pathlib.Path(__file__).parent / "images"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for shape in ("circle", "square", "triangle"):
        (folder / shape).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (folder / shape / f"{number:03}.png").write_bytes(image(shape, number))
    print(f"{3 * count} images of 3 classes in {folder}")


if __name__ == "__main__":
    main()
