"""kill -9 of radlc at things that it does to the world while it creates the nodes of an elastic farm, runs tasks there and
removes the nodes, with the local provider. After a kill, `farm free` removes every node, and an apply keeps each output exactly
once and leaves no node; in the end a destroy leaves nothing.

One point of each third of an apply; RADL_CRASH_SEED=N: others. RADL_CRASH_ALL=1: every point.
"""
import collections
import json
import os
import random
import signal
import unittest

from farm_case import FarmCase
from local_crash_test import STEPS
from radl_case import BUILD

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/tasks' as work (
  nodes = system.worker, elastic = yes, idle = 1s, merge = 'o.txt'
  tasks = [ { name = 't${n}', command = 'echo out-{task} > "$RADL_RESULTS/o.txt"', seconds = 60 } for n in range(4) ]
)
output results ( value = work.results_path )
"""
OUTPUT = "".join(f"out-t{n}\n" for n in range(4))
MANY = 100000
LEAST = 240  # points that an apply has at least; about 335 here
ALL = bool(os.environ.get("RADL_CRASH_ALL"))


class FarmCrash(FarmCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        self.file = self.write("farm.radl", FILE)

    def killed_at(self, point):
        """The exit status of an apply that is killed at its point; 0: it has fewer."""
        before = dict(self.environment)
        self.environment.update(RADL_KILL_AT=str(point), LD_PRELOAD=str(BUILD / "tests" / "libradl_kill_points.so"),
                                ASAN_OPTIONS="verify_asan_link_order=0")
        if STEPS:
            self.environment.update(RADL_KILL_ONLY=STEPS, RADL_KILL_ROW="1")
        process = self.begin()
        self.environment = before
        out, err = process.communicate(timeout=240)
        self.assertIn(process.returncode, (0, -signal.SIGKILL), out + err)
        return process.returncode

    def assert_no_nodes(self):
        self.assertEqual(self.found("nodes/*/home"), [])
        self.wait_until(lambda: not self.processes(), message="something outlives the nodes")

    def recover(self, frees):
        if frees:
            self.radlc("farm", "free", "--auto-approve", self.file)
            self.assert_no_nodes()
        self.apply()
        self.assert_no_nodes()
        self.assertEqual(self.counts(), {"finished": 4})
        self.assertEqual((self.folder / "work-results" / "o.txt").read_text(), OUTPUT)
        kept = collections.Counter(event["task"] for event in map(json.loads, self.journal().splitlines()) if event["event"] == "commit")
        self.assertEqual(set(kept.values()), {1}, kept)
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_at_points_of_an_apply(self):
        chosen = random.Random(os.environ.get("RADL_CRASH_SEED", "1"))
        third = LEAST // 3
        points = range(1, MANY) if ALL else [chosen.randrange(third * part + 1, third * (part + 1) + 1) for part in range(3)]
        for point in points:
            with self.subTest(point=point):
                code = self.killed_at(point)
                self.recover(frees=point % 2 == 0)
            if code == 0:
                self.assertGreater(point, LEAST)
                break
        print(f"\n  killed at {points if not ALL else point - 1}", flush=True)


if __name__ == "__main__":
    unittest.main()
