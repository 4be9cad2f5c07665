"""kill -9 of radlc before, during and after every call of the API, and at every write of its journal; then apply or destroy as if nothing was.

RADL_KILL_ALL=1: every point (`make check-faults`); else one of each run, another each day.
"""
import datetime
import os
import random
import signal
import unittest

from faulted import Ground, Infrastructure
from faults import At, Treatment
from quick import QUICK
from radl_case import BUILD

ALL = bool(os.environ.get("RADL_KILL_ALL"))
WRITES = 8  # of the journal, that each of the runs has at least
KILLS = {  # what was on its way when radlc ended may be done while the next run is looking
    "before": lambda request: Treatment(kill_before=True), "during": lambda request: Treatment(kill_during=0.2),
    "after": lambda request: Treatment(kill_after=True)}
APPLY, DESTROY = ("apply", "--auto-approve", "site.radl"), ("destroy", "--auto-approve", "site.radl")


class Killed(unittest.TestCase):
    def setUp(self):
        self.today = random.Random(f"{self.id()} {datetime.date.today()}")
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

    def calls_of(self, command, applied, inputs):
        """Of a run that is left alone."""
        one = self.infrastructure(*applied)
        first = len(one.proxy.log)
        one.well(*command, *inputs)
        count = len(one.proxy.log) - first
        one.well("destroy", "--auto-approve", "site.radl")
        one.close()
        return count

    def killed_at_calls(self, command, applied, inputs=(), least=1):
        """`least`: calls that such a run has in any case. Each test of a day has another moment."""
        ways = ["apply", "destroy"]
        if ALL:
            count = self.calls_of(command, applied, inputs)
            points = [(moment, point, ways[point % 2]) for moment in KILLS for point in range(1, count + 1)]
        else:
            moment = sorted(KILLS)[(datetime.date.today().toordinal() + least) % len(KILLS)]
            points = [(moment, self.today.randrange(1, least + 1), self.today.choice(ways))]
        for moment, point, then in points:
            one = self.infrastructure(*applied)
            code, _ = one.radlc(*command, *inputs, faults=At(point, KILLS[moment], name=f"kill {moment}"))
            with self.subTest(moment=moment, call=point, then=then):
                # Of the last calls there may be one fewer than before: looks are repeated by time.
                one.expect(code == -signal.SIGKILL or ALL and code == 0, f"ended with {code}")
                self.recovers(one, then, inputs)
        print(f"\n  killed at {points if len(points) == 1 else len(points)}", flush=True)

    def killed_at_writes(self, command, applied, inputs=()):
        library = BUILD / "tests/libradl_kill_points.so"
        point = 1 if ALL else self.today.randrange(1, WRITES + 1)
        while True:
            one = self.infrastructure(*applied)
            code, _ = one.radlc(*command, *inputs, "--parallelism", "1", environment={
                "RADL_KILL_AT": str(point), "RADL_KILL_ONLY": ",fdatasync,", "RADL_KILL_ALL": "1", "LD_PRELOAD": f"{QUICK['LD_PRELOAD']}:{library}"})
            with self.subTest(write=point):
                one.expect(code in (-signal.SIGKILL, 0), f"ended with {code}")
                self.recovers(one, "apply" if point % 2 else "destroy", inputs)
            if code == 0 or not ALL:
                break
            point += 1
        self.assertTrue(point > WRITES if ALL else code != 0, f"there is no write {point}")
        print(f"\n  killed at write {point - 1 if code == 0 else point}", flush=True)

    def test_at_calls_of_an_apply(self):
        self.killed_at_calls(APPLY, [], least=24)

    def test_at_calls_of_a_change(self):
        self.killed_at_calls(APPLY, [()], ("--input", "nodes=0"), least=4)

    def test_at_calls_of_a_destroy(self):
        self.killed_at_calls(DESTROY, [()], least=14)

    def test_at_writes_of_an_apply(self):
        self.killed_at_writes(APPLY, [])

    def test_at_writes_of_a_change(self):
        self.killed_at_writes(APPLY, [()], ("--input", "nodes=0"))

    def test_at_writes_of_a_destroy(self):
        self.killed_at_writes(DESTROY, [()])


if __name__ == "__main__":
    unittest.main()
