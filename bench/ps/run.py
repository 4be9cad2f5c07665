"""Parameter servers on loopback: bytes/s that a worker moves (gradients there, weights back, encrypted), with 1, 2 and 4 servers.

Prints JSON lines {name, ours, peer, unit, ratio, goal, machine}. Lines "k servers": bytes/s of the worker; the peer is that of one server,
so the ratio is the speedup, which ends where the cores or the link are full. Lines "a core of k servers": bytes per second of
servers' processor time (decryption, adding, optimizer, encryption); the peers are memcpy and one raw connection without encryption.
MEGABYTES (16): size of the gradients. ROUNDS (3): the median counts.
"""
import json
import os
import pathlib
import statistics
import subprocess

PROGRAM = pathlib.Path(os.environ["RADL_BUILD"]) / "bin/ps_bench"
MEGABYTES = os.environ.get("MEGABYTES", "16")
ROUNDS = int(os.environ.get("ROUNDS", 3))


def run(what):
    return json.loads(subprocess.run([PROGRAM, str(what), MEGABYTES], check=True, stdout=subprocess.PIPE, text=True).stdout)


def line(name, ours, peer, goal=None):
    print(json.dumps({"name": f"{name}, {MEGABYTES} MB", "ours": round(ours), "peer": round(peer), "unit": "bytes/s", "ratio": round(ours / peer, 3),
                      "goal": goal, "machine": f"{os.cpu_count()} cores, loopback"}), flush=True)


limits, servers = {"memcpy": [], "loopback": []}, {1: [], 2: [], 4: []}
for _ in range(ROUNDS):  # interleaved
    for what, rates in (*limits.items(), *servers.items()):
        rates.append(run(what))
limits = {name: statistics.median(rates) for name, rates in limits.items()}
one = statistics.median(said["bytes_per_second"] for said in servers[1])
for count, said in servers.items():
    line(f"{count} servers", statistics.median(each["bytes_per_second"] for each in said), one, goal=count)
    core = statistics.median(each["bytes_per_server_cpu_second"] for each in said)
    for name, rate in limits.items():
        line(f"a core of {count} servers beside {name}", core, rate)
