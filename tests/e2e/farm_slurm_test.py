"""A farm whose tasks a real Slurm runs: the same results, each output once, whatever happens to radlc, the controller or a machine."""
import os
import signal
import unittest

import slurm_case
from farm_case import GATED, FarmCase
from radl_case import long_test

FILE = """radl 2
system login ( cpu.count >= 1 )
deploy login 1
use 'std/farm/tasks' as work (
  nodes = system.login
  scheduler = 'slurm', slurm = { path = 'BIN' }
  TASKS
)
output results ( value = work.results_path )
"""
EIGHT = """tasks = [ { name = 't${n}', command = 'echo out-{task} > "$RADL_RESULTS/o.txt"; echo said {task} on $SLURMD_NODENAME' } for n in range(8) ]
  merge = 'o.txt'"""
TWO = f"""tasks = [ {{ name = 't${{n}}', command = '{GATED}' }} for n in range(2) ]"""
FOUR = TWO.replace("range(2)", "range(4)")



@unittest.skipIf(slurm_case.why_not(), "skipped: " + slurm_case.why_not())
class SlurmFarms(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.slurm = slurm_case.SlurmCluster()
        cls.addClassCleanup(lambda: cls.slurm.close())

    def setUp(self):
        super().setUp()
        self.environment["RADL_LOCAL_ISOLATION"] = "off"  # the machines see the login node's folder
        self.wait_until(self.is_idle, message=lambda: f"{self.slurm.states()} {self.slurm.jobs()}")

    def is_idle(self):
        """A controller that was killed before it had saved that jobs began starts them once more. slurmd refuses that, and Slurm drains
        the machine ("Duplicate jobid") until an administrator resumes it."""
        self.slurm.resume()
        return set(self.slurm.states().values()) == {"idle"} and not self.slurm.jobs("PENDING", "RUNNING", "COMPLETING")

    def with_tasks(self, text):
        self.file = self.write("farm.radl", FILE.replace("TASKS", text).replace("BIN", str(self.slurm.folder / "bin")))

    def assert_no_jobs(self):
        self.wait_until(lambda: not self.slurm.jobs("PENDING", "RUNNING", "COMPLETING"), message=lambda: str(self.slurm.jobs()))

    def outputs(self, count):
        return {n: (self.folder / "work-results" / f"t{n}" / "o.txt").read_text() for n in range(count)}

    def test_the_same_results_by_arrays_below_the_limit(self):
        self.with_tasks(EIGHT)
        plan = self.radlc("plan", self.file)
        self.assertIn("run by Slurm of login[0]", plan)
        before = len(self.slurm.jobs())
        self.apply()
        self.assertEqual(self.outputs(8), {n: f"out-t{n}\n" for n in range(8)})
        self.assertEqual((self.folder / "work-results" / "o.txt").read_text().split(), [f"out-t{n}" for n in range(8)])
        self.assertEqual(self.counts(), {"finished": 8})
        table = self.table()
        self.assertEqual({task["attempt"] for task in table.values()}, {1})
        self.assertLessEqual({task["machine"] for task in table.values()}, set(slurm_case.MACHINES))
        self.assertEqual(len(self.slurm.jobs()) - before, 8, self.slurm.jobs())
        indexes = [int(job[0].partition("_")[2]) for job in self.slurm.jobs()]
        self.assertLess(max(indexes), 4)
        self.assertIn("said t3 on n", self.radlc("farm", "logs", self.file, "t3"))
        self.assertEqual(self.actions(self.file), {})
        self.destroy()
        self.assert_no_jobs()

    @long_test
    def test_a_killed_radlc_and_a_restarted_controller_cost_no_task(self):
        self.with_tasks(FOUR)
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 4)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for path in self.found("farm/arrays/*/job"):
            path.unlink()  # as if radlc had been killed before it had sbatch's answer
        self.slurm.kill("slurmctld")
        self.open_gates()  # they end while neither radlc nor the controller is there
        self.wait_until(lambda: len(self.found("farm/t*.1/exit")) == 4)
        process = self.begin()
        self.slurm.start_controller()
        self.open_gates_until(process)
        self.assertEqual(self.outputs(4), {n: f"t{n}\n" for n in range(4)})
        self.assertEqual(set(self.begun().values()), {1})
        self.assertEqual({task["attempt"] for task in self.table().values()}, {1})
        self.destroy()

    @long_test
    def test_a_lost_machine_uses_up_no_try(self):
        self.with_tasks(TWO)
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2)
        self.wait_until(lambda: all(task.get("machine") for task in self.table().values()))
        victim = self.table()["t0"]["machine"]
        self.slurm.kill(victim)
        try:
            self.wait_until(lambda: self.slurm.states()[victim].startswith("down"), 90)
            self.wait_until(lambda: self.table()["t0"]["attempt"] == 2 and self.table()["t0"].get("machine"), 90,
                            lambda: str(self.table()) + self.journal())
            self.assertNotEqual(self.table()["t0"]["machine"], victim, self.journal())
            self.open_gates_until(process)
        finally:
            self.slurm.start_machine(victim)
        self.assertEqual(self.outputs(2), {n: f"t{n}\n" for n in range(2)})
        self.assertNotIn("failed_on", self.table()["t0"])
        self.destroy()

    @long_test
    def test_a_job_that_slurm_forgot_is_judged_by_the_files_of_its_task(self):
        """All ids are purged, those of ended tasks and that of a running one."""
        self.with_tasks(TWO)
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        (self.found("checkpoints/t0")[0] / "gate").touch()
        self.wait_until(lambda: len(self.found("farm/t0.1/exit")) == 1)
        self.slurm.forget()  # the machines kill what they run
        self.wait_until(lambda: set(self.slurm.states().values()) == {"idle"})
        process = self.begin()
        self.wait_until(lambda: self.table()["t1"]["attempt"] == 2, message=self.journal)
        self.open_gates_until(process)
        self.assertEqual(self.outputs(2), {n: f"t{n}\n" for n in range(2)})
        table = self.table()
        self.assertEqual((table["t0"]["attempt"], table["t1"]["attempt"]), (1, 2))
        self.assertNotIn("failed_on", table["t1"])
        self.destroy()

    @long_test
    def test_a_job_that_somebody_else_cancels_uses_up_no_try(self):
        self.with_tasks(TWO)
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2)
        self.slurm.run("scancel", "--full", "-u", "root")
        self.wait_until(lambda: {task["attempt"] for task in self.table().values()} == {2}, 90, self.journal)
        self.wait_until(lambda: set(self.begun().values()) == {2}, 60, self.journal)
        self.open_gates_until(process)
        self.assertFalse(any("failed_on" in task for task in self.table().values()), self.journal())
        self.destroy()

    @long_test
    def test_failures_waiting_and_cancelling(self):
        self.with_tasks(f"""tries = 2
  tasks = [
    {{ name = 'bad', command = 'echo no luck; exit 3' }},
    {{ name = 'long', command = '{GATED}', needs = {{ cpu = 2 }} }},
    {{ name = 'queued', command = '{GATED}', needs = {{ cpu = 2 }} }},
    {{ name = 'large', command = 'true', needs = {{ cpu = 3 }} }}
  ]
  options = {{ may_fail = yes }}""")
        self.slurm.run("scontrol", "update", "nodename=n0", "state=drain", "reason=test")
        try:
            process = self.begin()
            self.wait_until(lambda: '"large"' in self.journal())
            self.wait_until(lambda: self.table().get("large", {}).get("state") == "failed", message=self.journal)
            self.assertIn("no node has more than 2", self.table()["large"]["reason"])
            self.wait_until(lambda: self.table()["bad"]["state"] == "failed", message=self.journal)
            self.assertEqual(self.table()["bad"]["status"], 3)
            self.assertIn("no luck", self.table()["bad"]["reason"])
            self.wait_until(lambda: "long" in self.begun())
            self.assertEqual(self.table()["queued"]["state"], "waiting")
            self.assertIn("login[0] has", self.radlc("farm", "status", self.file))
            self.radlc("farm", "cancel", self.file, "long")
            self.wait_until(lambda: self.table()["long"]["state"] == "cancelled", message=self.journal)
            self.wait_until(lambda: "queued" in self.begun())
            self.open_gates_until(process)
        finally:
            self.slurm.run("scontrol", "update", "nodename=n0", "state=undrain")
        self.assertEqual(self.table()["queued"]["state"], "finished")
        self.destroy()

    @long_test
    def test_destroy_cancels_jobs_in_the_queue_of_slurm(self):
        self.with_tasks(FOUR.replace("range(4)", "range(5)"))
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 4)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.destroy()
        self.assert_no_jobs()

    def test_refused(self):
        for change, said in ((("nodes = system.login", "nodes = system.login, elastic = yes"), "cannot be elastic"),
                             (("nodes = system.login", "nodes = system.login, fitness = 'spread'"), "leave out `fitness`"),
                             (("deploy login 1", "deploy login 2"), "takes one node"),
                             (("slurm = {", "slurm = { options = ['--array=1-9'],"), "radlc itself sets the option"),
                             (("scheduler = 'slurm', ", ""), "needs scheduler = 'slurm'")):
            with self.subTest(said):
                self.with_tasks(EIGHT)
                self.edit(self.file, change)
                out = self.radlc("plan", self.file, code=None)
                self.assertIn(said, out + self.err)


if __name__ == "__main__":
    unittest.main()
