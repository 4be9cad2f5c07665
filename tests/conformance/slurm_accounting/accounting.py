"""What jobs took, in the real database of a cluster that `radlc apply` has made."""
import os
import random
import signal
import subprocess

from radl_case import SOURCE, RadlCase


class Accounting(RadlCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("cluster.radl", (SOURCE / "examples/slurm/cluster.radl").read_text())
        # Its nodes stay, and may bring packages.
        self.edit(self.file, ("network lan (outbound = 'no')", "network lan (outbound = 'yes')"))
        self.given = ["-y", "--input", "autoscale=no", "--input", "workers=1"]

    def tearDown(self):
        self.radlc("destroy", self.file, "-y", code=None)
        super().tearDown()

    def apply(self, *arguments):
        return self.radlc("apply", self.file, *self.given, *arguments, timeout=600)

    def on_head(self, command, code=0):
        return self.radlc("exec", self.file, "front[0]", "-c", command, code=code)

    def submit(self, script):
        out = self.radlc("submit", self.file, script)
        self.assertIn("is completed", out)
        return out.split()[1]

    def recorded(self, job):
        """State and exit code of a job as sacct has it."""
        return self.on_head(f"sacct -n -P -X -j {job} -o JobName,State,ExitCode,NCPUS", code=None).strip()

    def assert_recorded(self, job, expected):
        self.wait_until(lambda: self.recorded(job) == expected, 60, lambda: f"sacct says of {job}: {self.recorded(job)!r}{self.err}")

    def test_sacct_knows_what_ran_also_after_losses(self):
        dice = random.Random(int(os.environ.get("RADL_SEED", "16")))
        killed = 0
        for _ in range(2):  # in the midst of packages, of the database, of the daemons
            process = self.start("apply", self.file, *self.given)
            try:
                process.wait(dice.uniform(5, 45))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                killed += 1
            process.communicate()
        self.apply()
        self.assertIn("No changes", self.apply())
        print(f"radlc was killed {killed} times")
        script = self.write("square.sh", "#!/bin/bash\nsleep 1\necho $((7 * 7))\n")
        self.assert_recorded(self.submit(script), "square.sh|COMPLETED|0:0|1")
        bad = self.write("bad.sh", "#!/bin/bash\nexit 3\n")
        out = self.radlc("submit", self.file, bad, code=2)
        self.assert_recorded(out.split()[1], "bad.sh|FAILED|3:0|1")
        # The controller keeps what it has to say while slurmdbd is away, and apply starts what was killed when it looks.
        self.on_head("pkill -9 -x slurmdbd; pkill -9 -x mariadbd")
        job = self.submit(script)
        self.apply("--refresh")
        self.assert_recorded(job, "square.sh|COMPLETED|0:0|1")
        said = self.on_head("sreport -n -P cluster AccountUtilizationByUser start=2000-01-01 2>&1; mariadb -N -e 'SELECT COUNT(*) FROM "
                            "slurm_acct_db.cluster_job_table'")
        self.assertEqual(said.split()[-1], "3", said)
        self.assertIn("No changes", self.apply("--refresh"))
        self.radlc("destroy", self.file, "-y")
        self.assert_nothing_left()
