"""kill -9 of `radlc scale` at things that it does to the world while an apply supervises a training on the nodes, with the local
provider. After a kill, the same scale, an apply, or the opposite scale completes: the state, the machines and the members of the
training agree, and the training was never restarted. After a last kill, a destroy leaves nothing.

Points of each part of a scale; RADL_CRASH_SEED=N: others. RADL_CRASH_ALL=1: every point.
"""
import contextlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import unittest

from local_crash_test import STEPS
from radl_case import BUILD, SOURCE, RadlCase

FILE = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
configure member ( file '~/member' ( content = 'x' ) )
contextualize (system worker configure member step 1)
deploy worker 2
use 'std/training/all_reduce' as small (
  workers = system.worker, model = 'lenet', dataset = 'cifar10', source = 'subset', batch_size = 50, epochs = 100000, result = 'result'
)
"""
JOB = "training/small"
ALL = bool(os.environ.get("RADL_CRASH_ALL"))
LEAST = {3: 40, 2: 15}  # points that a scale to so many workers has at least
PARTS = 3


class ScaleCrash(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared", RADL_CIFAR10_SUBSET=str(SOURCE / "examples/cifar10/subset"))
        self.file = self.write("train.radl", FILE)
        self.log = self.folder / "events.jsonl"

    def metrics(self, kind):
        return [e["data"] for e in self.events(self.log) if e["event"] == "metric" and e["data"]["event"] == kind]

    def members(self):
        """Process ids of the training, by task."""
        found = {}
        for pid in self.processes():
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                for word in words if b"radl-train" in words[0] else ():
                    if b"job-" in word:
                        found[word.decode().rpartition("job-")[2].removesuffix(".json")] = pid
        return found

    def scale(self, count, **options):
        return self.radlc("scale", self.file, "worker", count, "-y", "--lock-timeout", "60", **options)

    def killed_at(self, point, count):
        """The exit status of a scale that is killed at its point; 0: it has fewer."""
        before = dict(self.environment)
        self.environment.update(RADL_KILL_AT=str(point), LD_PRELOAD=str(BUILD / "tests" / "libradl_kill_points.so"), ASAN_OPTIONS="verify_asan_link_order=0")
        if STEPS:
            self.environment.update(RADL_KILL_ONLY=STEPS, RADL_KILL_ROW="1")
        process = self.start("scale", self.file, "worker", count, "-y", "--lock-timeout", "60", "--parallelism", "1")
        self.environment = before
        out, err = process.communicate(timeout=240)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), out + err)
        return process.returncode

    def complete(self, way, count):
        """The number of workers afterwards."""
        if way == "apply":
            self.radlc("apply", self.file, "-y", "--lock-timeout", "60")
            # A scale that was killed before it recorded its choice has changed nothing.
            return len(self.show(self.file)["resources"]) - 2
        count = count if way == "again" else 5 - count
        self.scale(count)
        return count

    def assert_whole(self, workers):
        """Every part agrees on that many workers."""
        expected = [f"worker[{i}]" for i in range(workers)]
        shown = lambda: self.show(self.file)
        nodes_of = lambda: next(s["nodes"] for s in shown()["steps"] if s["id"] == JOB)
        self.wait_until(lambda: nodes_of() == expected, 120, lambda: f"the training has {nodes_of()}, not {expected}")
        self.wait_until(lambda: sorted(self.members()) == [f"worker-{i}" for i in range(workers)], 120, lambda: str(self.members()))
        self.wait_until(lambda: "at_work" not in shown(), 60)
        self.assertEqual(sorted(r["address"] for r in shown()["resources"] if "system" in r), expected)
        homes = sorted(pathlib.Path(path).parent.name.rpartition("-")[0] for path in self.found("nodes/*/home"))
        self.assertEqual(homes, [f"worker-{i}" for i in range(workers)])
        with contextlib.closing(sqlite3.connect(next(iter(self.found("state.db"))))) as db:
            open_intents = [row[0] for row in db.execute("select address from journal where closed_at is null")]
        self.assertEqual(open_intents, [JOB])  # of the apply that supervises it
        self.assertEqual(self.actions(self.file), {})
        self.assertEqual(self.members()["worker-0"], self.chief, "the training was restarted")

    def test_at_points_of_a_scale(self):
        apply = self.start("apply", self.file, "-y", "--log-json", self.log)
        self.wait_until(lambda: self.metrics("step"), 120, "no step")
        self.chief = self.members()["worker-0"]
        chosen = random.Random(os.environ.get("RADL_CRASH_SEED", "1"))
        ways, workers = ("again", "apply", "undo"), 2
        killed = {count: 0 for count in LEAST}
        for part in range(10**6 if ALL else PARTS):
            over = True
            for count in LEAST:
                if workers == count:
                    self.scale(5 - count)
                point = part + 1 if ALL else chosen.randrange(LEAST[count] * part // PARTS + 1, LEAST[count] * (part + 1) // PARTS + 1)
                with self.subTest(to=count, point=point, then=ways[part % 3]):
                    code = self.killed_at(point, count)
                    killed[count] += code != 0
                    over &= code == 0
                    workers = self.complete(ways[part % 3], count)
                    self.assert_whole(workers)
            if over:
                break
        if workers == 3:
            self.scale(2)
        self.assertNotEqual(self.killed_at(LEAST[3] // 2, 3), 0)
        self.radlc("destroy", self.file, "-y", "--lock-timeout", "60")
        apply.communicate(timeout=60)
        self.assert_nothing_left()
        print(f"\n  killed: {killed}", flush=True)
        for count, least in LEAST.items():
            self.assertGreaterEqual(killed[count], least if ALL else PARTS)


if __name__ == "__main__":
    unittest.main()
