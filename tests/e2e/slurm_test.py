"""A Slurm cluster of Debian's packages on isolated local nodes: jobs bring their nodes, nodes are lost, nothing is left."""
import json
import os
import shutil
import signal
import unittest

from radl_case import SOURCE, RadlCase

NEEDED = ["slurmctld", "slurmd", "sbatch", "munged", "slirp4netns"]


def why_not():
    if os.geteuid() != 0:
        return "isolated local nodes need root"
    lacking = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    return "not installed: " + ", ".join(lacking) if lacking else ""


@unittest.skipIf(why_not(), "skipped: " + why_not())
class Slurm(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="required", RADL_LOCAL_NETWORK="own")
        self.file = self.write("cluster.radl", (SOURCE / "examples/slurm/cluster.radl").read_text())
        self.edit(self.file, ("idle = input.idle", "idle = input.idle\n  accounting = no"))
        self.radlc("apply", self.file, "-y", "--input", "idle=5s")
        self.relay = self.start("autoscale", self.file, "--input", "idle=5s")

    def tearDown(self):
        if self.relay.poll() is None:
            os.kill(self.relay.pid, signal.SIGINT)
        self.relay_said = self.relay.communicate(timeout=120)
        self.radlc("destroy", self.file, "-y", code=None)
        super().tearDown()

    def workers(self):
        return [r for r in self.show(self.file)["resources"] if r.get("system") == "worker"]

    def test_an_array_brings_its_nodes_and_they_go_when_they_are_idle(self):
        out = self.radlc("submit", self.file, SOURCE / "examples/slurm/squares.sh")
        for n in range(1, 5):
            self.assertIn(f"{n} | {n} squared is {n * n}, on worker-", out)
        self.assertIn("is completed", out)
        self.wait_until(lambda: not self.workers(), 120, "nodes do not go")
        os.kill(self.relay.pid, signal.SIGINT)
        self.relay.wait(120)
        self.assertIn("No changes", self.radlc("apply", self.file, "-y", "--input", "idle=5s"))
        self.radlc("destroy", self.file, "-y")
        self.assert_nothing_left()

    @unittest.skipUnless(os.environ.get("RADL_LONG_TESTS"), "skipped: takes more than a minute; RADL_LONG_TESTS=1 runs it")
    def test_a_job_whose_node_is_lost_runs_again_elsewhere(self):
        script = self.write("long.sh", "#!/bin/bash\n#SBATCH --requeue\necho \"run $SLURM_RESTART_COUNT on $SLURMD_NODENAME\"\n"
                                       "[ \"$SLURMD_NODENAME\" != worker-0 ] || sleep 600\necho done\n")
        job = self.start("submit", self.file, script)
        self.wait_until(lambda: "R" in self.radlc("exec", self.file, "front[0]", "-c", "squeue -h -o '%t %N' | grep worker-0",
                                                  code=None), 60, "the job does not run")
        node = next(r for r in self.workers() if r["ordinal"] == 0)
        record = json.loads(next(self.folder.rglob(f"{node['id']}/run/process.json")).read_text())
        os.kill(record["pid"], signal.SIGKILL)
        out, err = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 0, out + err)
        self.assertRegex(out, r"on worker-[1-9]")
        self.assertIn("done", out)


if __name__ == "__main__":
    unittest.main()
