"""radlc while a cloud's API fails, and kill -9 of it before, during and after its calls: nothing is forgotten, nothing is there twice, and the
next apply or destroy brings everything to an end. What each cloud's faults_test.py has of it: the file, what may pass, and its account.

RADL_FAULT_RUNS and RADL_FAULT_SEED: how many seeds, from which on (2 from 1). RADL_KILL_POINTS: how many points of each run (4; 0: every call).
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile

from faults import At, Faults, odd
from proxy import Treatment
from radl_case import RADLC

KILLS = {"before": lambda request: Treatment(kill_before=True), "during": lambda request: Treatment(kill_during=0.4),
         "after": lambda request: Treatment(kill_after=True)}


def whole_run(file):
    """radlc's arguments, one line after the other: a file of inputs `nodes` and `team` from its plan to its end."""
    change = ("--input", "team=red", "--input", "nodes=2")
    return (("plan", "--refresh", file), ("apply", "--auto-approve", file), ("apply", "--auto-approve", file, *change),
            ("plan", "--refresh", file, *change), ("destroy", "--auto-approve", file))


class Faulted:
    """A mixin of a cloud's test case, which has `server`, `before` and `assert_account_is_as_before()`; and
    `file_text`: a file of inputs `nodes` and `team`;
    `passing`: what may pass (faults.py);
    `everything()`: ids of all that the account has; or its own `expect_whole(*inputs)`;
    `tokens()`: id -> token of all that is marked as ours.
    """

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", self.file_text)
        self.said = []

    def run_radlc(self, *arguments, faults=None, seconds=300):
        """(exit status, output); negative for a signal."""
        self.server.faults = faults
        process = subprocess.Popen([str(RADLC), *map(str, arguments)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.server.victim = process.pid
        first = len(self.server.treated)
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            self.fail(f"radlc {arguments} did not end in {seconds} s: {[r.action for r in self.server.log[-10:]]}\n{out}")
        finally:
            self.server.victim = None
            settled = self.server.wait_for_the_last()
            self.server.faults = None
        self.assertTrue(settled, "requests are still under way")
        self.said.append(f"--- radlc {' '.join(map(str, arguments))}: {process.returncode} {self.server.treated[first:]}\n{out}")
        return process.returncode, out

    def well(self, *arguments):
        code, out = self.run_radlc(*arguments)
        self.assertEqual(code, 0, "\n".join(self.said))
        return out

    def recorded(self):
        """Ids and tokens of the state, and of intents that are open."""
        path = next(iter(self.found("state.db")), None)
        if not path:
            return set()
        with tempfile.TemporaryDirectory() as folder:
            for one in path.parent.glob("state.db*"):
                shutil.copy(one, folder)
            with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / "state.db")) as db:
                if not db.execute("select 1 from sqlite_schema where name = 'resources'").fetchone():
                    return set()
                rows = db.execute("select id, token from resources").fetchall() + db.execute(
                    "select token, token from journal where closed_at is null").fetchall()
        return {word for row in rows for word in row if word}

    def expect_nothing_forgotten(self):
        known = self.recorded()
        forgotten = {path: token for path, token in self.tokens().items() if path not in known and token not in known}
        self.assertEqual(forgotten, {}, "forgotten\n" + "\n".join(self.said))

    def expect_whole(self, *inputs):
        """After an apply with these inputs: the state has all that the account has more than before."""
        said = {resource["id"] for resource in self.show(self.file)["resources"]}
        self.assertEqual(said, set(self.everything()) - set(self.before), "\n".join(self.said))

    def brought_to_an_end(self, then, *inputs):
        self.expect_nothing_forgotten()
        if then == "apply":
            self.well("apply", "--auto-approve", self.file, *inputs)
            self.expect_whole(*inputs)
        self.well("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.said.clear()


class WhileTheApiFails(Faulted):
    def test_an_apply_a_change_and_a_destroy(self):
        first = int(os.environ.get("RADL_FAULT_SEED", 1))
        for seed in range(first, first + int(os.environ.get("RADL_FAULT_RUNS", 2))):
            with self.subTest(seed=seed):
                faults = lambda number: Faults(f"{seed}-{number}", 0.15, passing=self.passing, most=40)
                self.run_radlc("apply", "--auto-approve", self.file, faults=faults(1))
                self.expect_nothing_forgotten()
                self.run_radlc("apply", "--auto-approve", self.file, "--input", "team=red", "--input", "nodes=2", faults=faults(2))
                self.expect_nothing_forgotten()
                self.run_radlc("destroy", "--auto-approve", self.file, faults=faults(3))
                self.brought_to_an_end("apply" if seed % 2 else "destroy")
        self.assertTrue(self.server.treated)


class Killed(Faulted):
    def killed(self, command, applied, *inputs):
        for line in applied:
            self.well(*line)
        first = len(self.server.log)
        self.well(*command, *inputs)
        count = len(self.server.log) - first
        self.well("destroy", "--auto-approve", self.file)
        rng = random.Random(f"{self.id()}{os.environ.get('RADL_FAULT_SEED', 1)}")
        most = int(os.environ.get("RADL_KILL_POINTS", 4))
        points = [(moment, call) for moment in KILLS for call in range(1, count + 1)]
        points = points if most == 0 else rng.sample(points, most)
        for number, (moment, call) in enumerate(points):
            for line in applied:
                self.well(*line)
            with self.subTest(moment=moment, call=call):
                code, _ = self.run_radlc(*command, *inputs, faults=At(call, KILLS[moment], name=f"kill {moment}"))
                self.assertIn(code, (-signal.SIGKILL, 0), "\n".join(self.said))
                self.brought_to_an_end("apply" if number % 2 else "destroy", *inputs)
        print(f"\n  {count} calls, killed at {len(points)} points", flush=True)

    def test_at_calls_of_an_apply(self):
        self.killed(("apply", "--auto-approve", self.file), [])

    def test_at_calls_of_a_change(self):
        self.killed(("apply", "--auto-approve", self.file), [("apply", "--auto-approve", self.file)], "--input", "nodes=2")

    def test_at_calls_of_a_destroy(self):
        self.killed(("destroy", "--auto-approve", self.file), [("apply", "--auto-approve", self.file)])


class OddAnswers:
    """A mixin of what is Faulted. A thing in an answer is missing, or of another type. What radlc makes of it may fail, in an orderly way;
    nothing may be forgotten."""

    def test_an_apply_a_change_and_a_destroy(self):
        first = int(os.environ.get("RADL_FAULT_SEED", 1))
        for seed in range(first, first + int(os.environ.get("RADL_FAULT_RUNS", 2))):
            rng = random.Random(f"odd {seed}")
            faults = lambda request: Treatment(name="odd", change=lambda answer: odd(answer, rng)) if rng.random() < 0.1 else Treatment()
            for line in whole_run(self.file):
                code, out = self.run_radlc(*line, faults=faults)
                said = f"RADL_FAULT_RUNS=1 RADL_FAULT_SEED={seed}\n" + "\n".join(self.said)
                self.assertIn(code, (0, 1, 2), said)
                for word in ("json.exception", "internal error", "std::", "basic_string"):
                    self.assertNotIn(word, out, said)
            self.brought_to_an_end("apply" if seed % 2 else "destroy")
