"""kill -9 of radlc at every single thing that it does to the world, with the local provider and real sshd.

kill_points.cc, preloaded, ends radlc just before the n-th call that changes something: a write to the journal, a sync,
a folder or file made, renamed or removed, a process started, bytes sent to a node. For n = 1, 2, 3, ... until a run
comes to its end. After each kill the next run, alternately an apply and a destroy, must end as if nothing had happened:
every node there once or not at all, and no process, port, folder or unfinished file of another one.

A sync is no point: for a kill all is the same before and after it. Of writes to one file in a row (a transaction of the
journal is several), and of what is removed from one folder, the first two are: before it, and in the midst of it. What
comes after the first apply is killed at what outlives radlc and before each transaction alone.

RADL_CRASH_BOTH=1: follow each kill by an apply and, in a run of its own, by a destroy. RADL_CRASH_FROM=n: begin at point n.
RADL_CRASH_ALL=1: every write and sync is a point, with every isolation.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import threading
import unittest

from radl_case import BUILD, RADLC, RadlCase

FILE = """radl 2
input text ( type = 'text', default = 'hello' )
network lan ( outbound = 'no' )
system box ( cpu.count >= 1, memory.size >= 64M, net_interface.0.connection = 'lan' )
configure greet (
  file '~/greeting.txt' ( content = input.text, mode = '0640' )
  command 'echo once >> $HOME/ran' ( creates = '~/ran' )
)
deploy box 1
contextualize ( system box configure greet step 1 )
"""
ALL = bool(os.environ.get("RADL_CRASH_ALL"))
# What makes and removes things that outlive radlc, and what is in a transaction of the journal: for another isolation.
STEPS = ",mkdir,rmdir,rename,unlink,unlinkat,remove,fork,kill,open,open64,openat,openat64,connect,pwrite64,ftruncate,"
STEPS = None if ALL else STEPS
SHARED = {"RADL_LOCAL_ISOLATION": "off", "RADL_LOCAL_NETWORK": "shared"}


def greets(place):
    """True when an SSH server is there; that a connection is taken says little where a proxy takes them all."""
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.settimeout(0.5)
        probe.connect(place)
        return probe.recv(4) == b"SSH-"
    return False


class Site:
    """One infrastructure in a folder of its own."""

    def __init__(self, case, folder, environment):
        self.case, self.folder = case, folder
        self.environment = dict(case.environment, **environment)
        folder.mkdir()
        (folder / "site.radl").write_text(FILE)
        self.ports = set()

    def radlc(self, *arguments, kill_at=None, only=None):
        """(exit status, output): negative for a signal."""
        environment = dict(self.environment)
        if kill_at is not None:
            environment.update(RADL_KILL_AT=str(kill_at), LD_PRELOAD=str(BUILD / "tests" / "libradl_kill_points.so"),
                               ASAN_OPTIONS="verify_asan_link_order=0")
            if only:
                environment.update(RADL_KILL_ONLY=only, RADL_KILL_ROW="1")
            if ALL:
                environment["RADL_KILL_ALL"] = "1"
        done = subprocess.run([str(RADLC), *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        return done.returncode, done.stdout

    def well(self, *arguments):
        code, out = self.radlc(*arguments)
        self.case.assertEqual(code, 0, f"{arguments}: {out}")
        return out

    def apply(self, *arguments):
        return self.well("apply", "--auto-approve", "--parallelism", "1", "site.radl", *arguments)

    def destroy(self):
        return self.well("destroy", "--auto-approve", "site.radl")

    def state(self):
        return next((self.folder / ".radl").rglob("state.db")).parent

    def node(self):
        resources = json.loads(self.well("show", "--json", "site.radl"))["resources"]
        self.case.assertEqual(sorted(r["address"] for r in resources), ["box[0]", "key.local", "network.lan"])
        node = next(r for r in resources if r["type"] == "node")["attributes"]
        self.ports.add((node["host"], node["port"]))
        return node

    def servers(self):
        """Processes of this folder that listen for logins."""
        found = []
        for pid in self.case.processes_of(self.folder):
            with contextlib.suppress(OSError):
                if b"[listener]" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    def expect_whole(self, text="hello"):
        check = self.case
        node, state = self.node(), self.state()
        check.assertEqual([p.name for p in (state / "work" / "nodes").iterdir()],
                          [pathlib.Path(node["local_directory"]).name])
        check.assertEqual(len(self.servers()), 1)
        unfinished = [str(p) for p in state.rglob("*") if ".tmp-" in p.name or p.name.startswith("probe")]
        check.assertEqual(unfinished, [])
        home = pathlib.Path(node["home"])
        check.assertEqual((home / "greeting.txt").read_text(), text)
        check.assertEqual((home / "ran").read_text(), "once\n", "the command ran twice")
        with contextlib.closing(sqlite3.connect(state / "state.db")) as db:
            check.assertEqual(db.execute("select count(*) from journal where closed_at is null").fetchone(), (0,))
        code, out = self.radlc("plan", "--detailed-exitcode", "site.radl", "--input", f"text={text}")
        check.assertEqual(code, 0, out)

    def expect_nothing(self):
        check = self.case
        check.assertEqual(check.processes_of(self.folder), [])
        check.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["site.radl"])
        for place in self.ports:
            check.assertFalse(greets(place), f"an SSH server still answers at {place}")


class Victim:
    """A command that is killed, and how many points were found in it; more than `least`, else it is not tried at all."""

    def __init__(self, arguments, text="hello", of_what_stands=False, only=STEPS, least=0):
        self.arguments, self.text, self.of_what_stands = arguments, text, of_what_stands
        self.only, self.least = only, least
        self.points = 10**6


class LocalCrash(RadlCase):
    def processes_of(self, folder):
        mark, found = str(folder).encode() + b"/", []
        for pid in self.processes():
            with contextlib.suppress(OSError):
                entry = pathlib.Path(f"/proc/{pid}")
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                if mark in text + os.readlink(entry / "cwd").encode() + b"/":
                    found.append(pid)
        return found

    def in_round(self, n, victims, environment):
        """Kills each victim in turn at its n-th point; True when one of them was. After each kill comes an apply or a
        destroy, and either must end as if nothing had happened."""
        killed, both = False, os.environ.get("RADL_CRASH_BOTH")
        for after in ["apply", "destroy"] if both else ["apply" if n % 2 else "destroy"]:
            site, stands = Site(self, self.folder / f"{n}-{after}", environment), False
            for victim in victims:
                if n > victim.points:
                    continue
                if victim.of_what_stands and not stands:
                    site.apply()
                    site.node()
                code, out = site.radlc(*victim.arguments, "--auto-approve", "--parallelism", "1", "site.radl",
                                       kill_at=n, only=victim.only)
                if code == -signal.SIGKILL:
                    killed = True
                else:
                    self.assertEqual(code, 0, out)
                    victim.points = min(victim.points, n - 1)
                with self.subTest(victim=victim.arguments, point=n, then=after, killed=out.strip().splitlines()[-1:]):
                    stands = after == "apply"
                    if stands:
                        site.apply("--input", f"text={victim.text}")
                        site.expect_whole(victim.text)
                    else:
                        site.destroy()
                        site.expect_nothing()
            if stands:
                with self.subTest(point=n, then="destroy"):
                    site.destroy()
                    site.expect_nothing()
        return killed

    def at_every_point(self, *victims, environment=SHARED):
        lock, numbers, over = threading.Lock(), iter(range(int(os.environ.get("RADL_CRASH_FROM", 1)), 100000)), []

        def work():
            while True:
                with lock:
                    if over or failed():
                        return
                    n = next(numbers)
                if not self.in_round(n, victims, environment):
                    over.append(n)

        def failed():
            outcome = getattr(self, "_outcome", None)
            return bool(outcome) and not outcome.success

        # Each waits for sshd and for processes to end most of the time.
        with concurrent.futures.ThreadPoolExecutor(2 * max(2, os.cpu_count() or 2)) as pool:
            for worker in [pool.submit(work) for _ in range(2 * max(2, os.cpu_count() or 2))]:
                worker.result()
        if over:
            points = {" ".join(victim.arguments): victim.points for victim in victims}
            print(f"\n  killed at each of these many points: {points}", flush=True)
            for victim in victims:
                self.assertGreater(victim.points, victim.least, victim.arguments)

    def test_apply_a_change_and_destroy(self):
        self.at_every_point(
            Victim(["apply"], only=None, least=100),
            Victim(["apply", "--input", "text=other"], text="other", of_what_stands=True, least=8),
            Victim(["destroy"], of_what_stands=True, least=20))

    def test_apply_and_destroy_with_what_isolation_this_machine_has(self):
        self.at_every_point(Victim(["apply"], least=20), Victim(["destroy"], of_what_stands=True, least=20),
                            environment={})


if __name__ == "__main__":
    unittest.main()
