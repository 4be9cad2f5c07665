"""All-reduce over processes on loopback: the engine's, encrypted and not, beside Gloo's, which is not; one after the other, interleaved.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}: the median of a sum in ms over the rounds; ratio = peer / ours. Gloo is
Debian's (libgloo-dev at build time), otherwise that of PyTorch (RADL_TORCH_PYTHON, or bench/engine/requirements.txt from PyPI).
Without both there is no peer. ROUNDS: 3.
"""
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
ROUNDS = int(os.environ.get("ROUNDS", 3))
TORCH = os.environ.get("RADL_TORCH_PYTHON")


def together(commands):
    members = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    said = [member.communicate(timeout=300)[0] for member in members]
    if any(member.returncode for member in members):
        raise RuntimeError(f"{commands[0][0]} failed")
    return {int(megabytes): float(ms) for megabytes, ms in map(str.split, said[0].splitlines())}


def ours(size, plain):
    held = []
    for _ in range(size):  # bound, and not listening: theirs alone (tests/support/reserved_port.h)
        held.append(socket.socket())
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held[-1].bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in held]
    return together([[BUILD / "bin/allreduce_ours", *(["plain"] if plain else []), str(rank), *addresses] for rank in range(size)])


def gloo(size):
    with tempfile.TemporaryDirectory(prefix="radl-gloo-") as folder:
        return together([[*peer_command(), str(rank), str(size), folder] for rank in range(size)])


def peer_command():
    own = BUILD / "bin/allreduce_gloo"
    return [own] if own.exists() else [TORCH, pathlib.Path(__file__).parent / "torch_gloo.py"] if TORCH else None


for size in (2, 4):
    sealed, plain, peers = [], [], []
    for _ in range(ROUNDS):
        sealed.append(ours(size, False))
        plain.append(ours(size, True))
        if peer_command():
            peers.append(gloo(size))
    for name, mine, goal in (("encrypted", sealed, None), ("not encrypted", plain, 1.5)):
        for megabytes in mine[0]:
            own = statistics.median(one[megabytes] for one in mine)
            peer = statistics.median(one[megabytes] for one in peers) if peers else None
            print(json.dumps({"name": f"{size} processes, {megabytes} MB, {name}", "ours": round(own, 2), "peer": peer and round(peer, 2), "unit": "ms",
                              "ratio": peer and round(peer / own, 2), "goal": goal, "machine": f"{os.cpu_count()} cores, loopback"}), flush=True)
