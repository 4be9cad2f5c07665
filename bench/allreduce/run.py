"""All-reduce over processes on loopback: the engine's (encrypted) beside Gloo's (not encrypted), one after the other, interleaved.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: the median of a sum in ms over the rounds; ratio = peer / ours.
Without allreduce_gloo (Debian's libgloo-dev at build time) there is no peer.
"""
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
ROUNDS = 3


def together(commands):
    members = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    said = [member.communicate(timeout=300)[0] for member in members]
    if any(member.returncode for member in members):
        raise RuntimeError(f"{commands[0][0]} failed")
    return {int(megabytes): float(ms) for megabytes, ms in map(str.split, said[0].splitlines())}


def ours(size):
    held = []
    for _ in range(size):  # bound, and not listening: theirs alone (tests/support/reserved_port.h)
        held.append(socket.socket())
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held[-1].bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in held]
    return together([[BUILD / "bin/allreduce_ours", str(rank), *addresses] for rank in range(size)])


def gloo(size):
    with tempfile.TemporaryDirectory(prefix="radl-gloo-") as folder:
        return together([[BUILD / "bin/allreduce_gloo", str(rank), str(size), folder] for rank in range(size)])


for size in (2, 4):
    mine, peers = [], []
    for _ in range(ROUNDS):
        mine.append(ours(size))
        if (BUILD / "bin/allreduce_gloo").exists():
            peers.append(gloo(size))
    for megabytes in mine[0]:
        own = statistics.median(one[megabytes] for one in mine)
        peer = statistics.median(one[megabytes] for one in peers) if peers else None
        print(json.dumps({"name": f"{size} processes, {megabytes} MB", "ours": round(own, 2), "peer": peer and round(peer, 2), "unit": "ms",
                          "ratio": peer and round(peer / own, 2), "goal": 1.5, "machine": f"{os.cpu_count()} cores, loopback"}), flush=True)
