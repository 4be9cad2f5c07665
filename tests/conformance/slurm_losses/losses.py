"""An array of jobs while members of the cluster are killed by seed: it ends with the right result or a clear failure, and says so at once."""
import os
import random
import re
import json
import signal
import subprocess
import time
import unittest

import programs_of_others
from radl_case import SOURCE, RadlCase

ARRAY = """#!/bin/bash
#SBATCH --array=1-6
#SBATCH --requeue
echo "$SLURM_ARRAY_TASK_ID squared is $((SLURM_ARRAY_TASK_ID * SLURM_ARRAY_TASK_ID)) on $SLURMD_NODENAME"
sleep 2
echo "$SLURM_ARRAY_TASK_ID is done"
"""


class Losses(RadlCase):
    """Three nodes that stay; nothing makes new ones."""

    def setUp(self):
        super().setUp()
        self.file = self.write("cluster.radl", (SOURCE / "examples/slurm/cluster.radl").read_text())
        self.edit(self.file, ("input autoscale (\n  type = boolean\n  default = yes", "input autoscale (\n  type = boolean\n  default = no"),
                  ("  lost = 5s", "  lost = 5s\n  configuration = 'MessageTimeout=5'\n  accounting = no"))
        self.apply()

    def tearDown(self):
        self.radlc("destroy", self.file, "-y", code=None)
        super().tearDown()

    def apply(self):
        return self.radlc("apply", self.file, "-y", "--input", "workers=3", timeout=300)

    def on(self, node, command, code=0):
        return self.radlc("exec", self.file, node, "-c", command, code=code)

    def lose_node(self, ordinal):
        node = next(r for r in self.show(self.file)["resources"] if r.get("system") == "worker" and r["ordinal"] == ordinal)
        os.kill(json.loads(next(self.folder.rglob(f"{node['id']}/run/process.json")).read_text())["pid"], signal.SIGKILL)

    def all_are_idle(self):
        return len(re.findall(r"worker-[0-2] idle", self.on("front[0]", "sinfo -h -N -o '%N %t'", code=None))) == 3

    def healed(self, victim, ordinal):
        """What somebody does who looks after the cluster."""
        if victim == "node":
            self.apply()
        elif victim == "slurmctld":
            self.on("front[0]", "service slurmctld start")
        else:
            self.on(f"worker[{ordinal}]", f"service {victim} start", code=None)
        self.on("front[0]", "scancel -u root; sleep 1; scontrol update nodename=worker-[0-2] state=resume", code=None)
        self.wait_until(self.all_are_idle, 90, lambda: self.on("front[0]", "sinfo -N -l; squeue", code=None))

    def test_members_killed_by_seed(self):
        script = self.write("array.sh", ARRAY)
        victims = ["slurmd", "munge", "node", "slurmctld"]
        for seed in range(int(os.environ.get("RADL_SEEDS", "4"))):
            dice = random.Random(seed)
            victim, ordinal, moment = victims[seed % 4], dice.randrange(3), dice.uniform(0, 3)
            with self.subTest(seed=seed, victim=victim, worker=ordinal, after=round(moment, 1)):
                job = self.start("submit", self.file, script)
                self.wait_until(lambda: "R" in self.on("front[0]", "squeue -h -t R -o %t", code=None), 60, "the job does not run")
                time.sleep(moment)
                works = f"worker-{ordinal}" in self.on("front[0]", "squeue -h -t R -o %N", code=None).split()
                killed = time.monotonic()
                if victim == "node":
                    self.lose_node(ordinal)
                else:
                    process = {"munge": "munged"}.get(victim, victim)
                    self.on("front[0]" if victim == "slurmctld" else f"worker[{ordinal}]", f"pkill -9 -x {process}")
                if victim in ("slurmd", "munge") and works:  # Slurm itself says it half a minute later
                    self.assertIn(f"worker-{ordinal}: service {victim} does not run", job.stderr.readline())
                    self.assertLess(time.monotonic() - killed, 5, "it was noticed late")
                if victim == "slurmctld":
                    said = job.stderr.readline()
                    self.assertIn("the controller does not answer", said)
                    self.assertLess(time.monotonic() - killed, 5 + 5, "it was noticed late")  # a look may be under way
                    self.on("front[0]", "service slurmctld start")
                if victim == "node":
                    said = job.stderr.readline()
                    self.assertIn(f"worker-{ordinal} does not answer", said)
                    self.assertLess(time.monotonic() - killed, 5, "it was noticed late")
                out, err = job.communicate(timeout=180)
                if job.returncode != 0:  # Slurm has lost its last seconds, or a launch: then it says what it holds
                    self.assertIn(victim, ("slurmctld", "munge"), out + err)
                    self.assertRegex(err, r"is held: Slurm could not start it|Slurm does not know job \d+ any more", out + err)
                else:
                    for n in range(1, 7):
                        self.assertIn(f"{n} | {n} squared is {n * n} on worker-", out)
                        self.assertIn(f"{n} | {n} is done", out)
                    if victim == "node":
                        self.assertRegex(err, rf"job \d+_[1-6] is queued again: it ran on worker-{ordinal}\n")
                self.healed(victim, ordinal)

    def test_a_controller_that_stays_away_is_a_clear_failure(self):
        script = self.write("long.sh", "#!/bin/bash\nsleep 300\n")
        job = self.start("submit", self.file, script)
        self.wait_until(lambda: "R" in self.on("front[0]", "squeue -h -t R -o %t", code=None), 60, "the job does not run")
        self.on("front[0]", "pkill -9 -x slurmctld")
        out, err = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 2, out + err)
        self.assertIn("the controller does not answer, looking again for 60 s", err)
        self.assertIn("cannot be followed, its controller does not answer", err)

    def submitted(self):
        return self.on("front[0]", "squeue -h -t all -o %F | sort -u").split()

    def killed(self, moment, *arguments):
        """A command that is killed in its midst, or has ended before; what it has said."""
        process = self.start(*arguments)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]

    def test_radlc_killed_by_seed_costs_neither_jobs_nor_the_cluster(self):
        """submit, scale up, scale down and apply, each killed; the same command again ends what was begun."""
        script = self.write("array.sh", ARRAY)
        given = ["-y", "--input", "workers=3"]
        for seed in range(int(os.environ.get("RADL_SEEDS", "4"))):
            dice = random.Random(1000 + seed)
            with self.subTest(seed=seed):
                before = self.submitted()
                said = self.killed(dice.uniform(0, 2), "submit", self.file, script)
                new = [job for job in self.submitted() if job not in before]
                self.assertLessEqual(len(new), 1, "it was submitted twice")
                if not new:
                    self.assertNotIn("job ", said)
                    new = [re.match(r"job (\d+) on", self.radlc("submit", self.file, "--detach", script))[1]]
                # The cluster grows and shrinks beside the job, and no task of it is lost.
                self.killed(dice.uniform(0, 6), "scale", self.file, "worker", "4", *given)
                self.radlc("scale", self.file, "worker", "4", *given, timeout=300)
                self.killed(dice.uniform(0, 6), "scale", self.file, "worker", "3", "--node", "worker[1]", *given)
                self.radlc("scale", self.file, "worker", "3", "--node", "worker[1]", *given, timeout=300, code=None)
                self.killed(dice.uniform(0, 3), "apply", self.file, *given)
                self.apply()
                self.assertIn("No changes", self.apply())
                # What tasks wrote on the node that went is gone with it: what Slurm knows of them is looked at.
                self.radlc("submit", self.file, "--follow", new[0])
                self.wait_until(lambda: self.on("front[0]", "sinfo -h -N -o '%N %t'", code=None).count(" idle") == 3, 90,
                                lambda: self.on("front[0]", "sinfo -N -l; squeue", code=None))
                out = self.radlc("submit", self.file, script)
                for n in range(1, 7):
                    self.assertIn(f"{n} | {n} is done", out)
                self.radlc("scale", self.file, "--reset", "worker", *given, timeout=300)

    def test_following_a_job_that_is_not_there_says_so(self):
        self.radlc("submit", self.file, "--follow", "99999", code=1)
        self.assertIn("Slurm has no job 99999", self.err)
        self.radlc("submit", self.file, "--follow", "1", "--detach", code=1)
        self.assertIn("--follow sends nothing", self.err)
        self.radlc("submit", self.file, "--follow", "x", code=1)
        self.assertIn("takes the number of a job", self.err)

    def test_without_autoscale_jobs_wait_for_no_node_that_is_not_there(self):
        """The cluster may have four nodes and has three; radlc scale adds one, and takes another one away."""
        script = self.write("array.sh", ARRAY)
        self.assertIn("is completed", self.radlc("submit", self.file, script))
        self.radlc("scale", self.file, "-y", "--input", "workers=3", "worker", "4", timeout=300)
        self.wait_until(lambda: "worker-3 idle" in self.on("front[0]", "sinfo -h -N -o '%N %t'"), 60, "the new node takes no jobs")
        self.radlc("scale", self.file, "-y", "--input", "workers=3", "worker", "3", "--node", "worker[1]", timeout=300)
        out = self.radlc("submit", self.file, script)
        self.assertIn("is completed", out)
        self.assertNotIn("on worker-1", out)

    def test_a_public_array_script_runs_unchanged(self):
        script, why = programs_of_others.bring("slurm array")
        if not script:
            raise unittest.SkipTest(why)
        out = self.radlc("submit", self.file, "--sbatch=--partition=main", script)
        for n in range(6):
            self.assertIn(f"{n} | {n}\n", out)


class Elastic(RadlCase):
    """No node until jobs wait: what asks for nodes, and makes them, is killed and started again."""

    def setUp(self):
        super().setUp()
        self.file = self.write("cluster.radl", (SOURCE / "examples/slurm/cluster.radl").read_text())
        self.edit(self.file, ("  lost = 5s", "  lost = 5s\n  accounting = no"))
        self.given = ["--input", "idle=5s"]
        self.radlc("apply", self.file, "-y", *self.given, timeout=300)

    def tearDown(self):
        self.radlc("destroy", self.file, "-y", code=None)
        super().tearDown()

    def workers(self):
        return [r for r in self.show(self.file)["resources"] if r.get("system") == "worker"]

    def test_a_killed_autoscale_goes_on_where_it_was(self):
        for seed in range(int(os.environ.get("RADL_SEEDS", "4"))):
            dice = random.Random(2000 + seed)
            with self.subTest(seed=seed):
                relay = self.start("autoscale", self.file, *self.given)
                job = self.start("submit", self.file, SOURCE / "examples/slurm/squares.sh")
                try:
                    for _ in range(2):
                        time.sleep(dice.uniform(0, 6))
                        os.killpg(relay.pid, signal.SIGKILL)
                        relay.communicate()
                        relay = self.start("autoscale", self.file, *self.given)
                    out, err = job.communicate(timeout=180)
                    self.assertEqual(job.returncode, 0, out + err)
                    for n in range(1, 5):
                        self.assertIn(f"{n} | {n} squared is {n * n}, on worker-", out)
                    os.killpg(relay.pid, signal.SIGKILL)  # the nodes are idle soon, and nobody takes them away
                    relay.communicate()
                    relay = self.start("autoscale", self.file, *self.given)
                    self.wait_until(lambda: not self.workers(), 120, "nodes do not go")
                finally:
                    os.killpg(relay.pid, signal.SIGKILL)
                    relay.communicate()
        self.assertIn("No changes", self.radlc("apply", self.file, "-y", *self.given))
        self.radlc("destroy", self.file, "-y")
        self.assert_nothing_left()
