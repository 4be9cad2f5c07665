"""kill -9 of radlc before and after every call of the API, and at every write of its journal; then apply or destroy as if nothing was.

RADL_KILL_ALL=1: every point (`make check-faults`); else some of them, others each day.
"""
import datetime
import os
import random
import signal
import unittest

from faulted import Ground, Infrastructure
from faults import At, Treatment
from radl_case import BUILD

ALL = bool(os.environ.get("RADL_KILL_ALL"))
SOME = 3  # points of each kind, where not all are tried
KILLS = {"before": lambda request: Treatment(kill_before=True), "after": lambda request: Treatment(kill_after=True)}


class Killed(unittest.TestCase):
    def setUp(self):
        self.ground = Ground()
        self.addCleanup(lambda: self.ground.close())

    def renew(self):
        self.ground.close()
        self.ground = Ground()

    def infrastructure(self, *applied):
        self.number = getattr(self, "number", 0) + 1
        if self.number % 20 == 0:
            self.renew()
        one = Infrastructure(self.ground, f"{self.number}")
        for inputs in applied:
            one.well("apply", "--auto-approve", "site.radl", *inputs)
        return one

    def recovers(self, one, then, inputs):
        one.inputs = inputs
        one.expect_nothing_forgotten()
        if then == "apply":
            one.well("apply", "--auto-approve", "site.radl", *inputs)
            one.expect_whole(1 if inputs else 2)
        one.well("destroy", "--auto-approve", "site.radl")
        one.expect_nothing()
        one.close()

    def points(self, count):
        """All, or some that change from day to day, the first and the last among them."""
        everything = list(range(1, count + 1))
        if ALL or count <= SOME:
            return everything
        return sorted({1, count, *random.Random(f"{self.id()} {datetime.date.today()}").sample(everything, SOME - 2)})

    def killed_at_calls(self, command, applied, inputs=()):
        """The number of calls of a run that is left alone says how many points there are."""
        one = self.infrastructure(*applied)
        first = len(one.proxy.log)
        one.well(*command, *inputs)
        count = len(one.proxy.log) - first
        one.well("destroy", "--auto-approve", "site.radl")
        one.close()
        for moment, kill in KILLS.items():
            for point in self.points(count):
                one = self.infrastructure(*applied)
                code, _ = one.radlc(*command, *inputs, faults=At(point, kill, name=f"kill {moment}"))
                with self.subTest(moment=moment, call=point, then="apply" if point % 2 else "destroy"):
                    # Of the last calls there may be one fewer than before: looks are repeated by time.
                    one.expect(code in (-signal.SIGKILL, 0), f"ended with {code}")
                    self.recovers(one, "apply" if point % 2 else "destroy", inputs)
        print(f"\n  {count} calls, killed before and after {len(self.points(count))} of them", flush=True)

    def test_at_calls_of_an_apply(self):
        self.killed_at_calls(("apply", "--auto-approve", "site.radl"), [])

    def test_at_calls_of_a_change(self):
        self.killed_at_calls(("apply", "--auto-approve", "site.radl"), [()], ("--input", "nodes=0"))

    def test_at_calls_of_a_destroy(self):
        self.killed_at_calls(("destroy", "--auto-approve", "site.radl"), [()])

    def test_at_writes_of_the_journal(self):
        library = BUILD / "tests/libradl_kill_points.so"
        point, step = 1, 1 if ALL else 7
        while True:
            one = self.infrastructure()
            code, _ = one.radlc("apply", "--auto-approve", "--parallelism", "1", "site.radl", environment={
                "RADL_KILL_AT": str(point), "RADL_KILL_ONLY": ",fdatasync,", "LD_PRELOAD": str(library),
                "ASAN_OPTIONS": "verify_asan_link_order=0"})
            with self.subTest(write=point):
                one.expect(code in (-signal.SIGKILL, 0), f"ended with {code}")
                self.recovers(one, "apply" if point % 2 else "destroy", ())
            if code == 0:
                break
            point += step
        self.assertGreater(point, 8)
        print(f"\n  killed at writes up to {point - 1}", flush=True)


if __name__ == "__main__":
    unittest.main()
