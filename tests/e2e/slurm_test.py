"""A Slurm cluster of Debian's packages on isolated local nodes: jobs bring their nodes, nodes are lost, nothing is left."""
import json
import os
import re
import shutil
import signal
import unittest

from radl_case import SOURCE, RadlCase, long_test

NEEDED = ["slurmctld", "slurmd", "sbatch", "munged", "slirp4netns"]


def why_not():
    if os.geteuid() != 0:
        return "isolated local nodes need root"
    lacking = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    return "not installed: " + ", ".join(lacking) if lacking else ""


SCRIPT = """#!/bin/bash
#SBATCH --job-name=other
{options}
{commands}
"""


@unittest.skipIf(why_not(), "skipped: " + why_not())
class Cluster(RadlCase):
    """The example's cluster without accounting; `given` are its inputs."""
    given = []

    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="required", RADL_LOCAL_NETWORK="own")
        self.file = self.write("cluster.radl", (SOURCE / "examples/slurm/cluster.radl").read_text())
        self.edit(self.file, ("  lost = 5s", "  lost = 5s\n  accounting = no"))
        self.radlc("apply", self.file, "-y", *self.inputs())

    def tearDown(self):
        self.radlc("destroy", self.file, "-y", code=None)
        super().tearDown()

    def inputs(self):
        return [word for given in self.given for word in ("--input", given)]

    def workers(self):
        return [r for r in self.show(self.file)["resources"] if r.get("system") == "worker"]

    def script(self, name, *commands, options=()):
        return self.write(name, SCRIPT.format(options="\n".join("#SBATCH " + each for each in options), commands="\n".join(commands)))

    def on_head(self, command):
        return self.radlc("exec", self.file, "front[0]", "-c", command, code=None)

    def queued(self):
        """{id: job} of radlc queue."""
        return {job["id"]: job for job in json.loads(self.radlc("queue", self.file, "--json"))}

    def submitted(self, *arguments):
        """The number of a job that nobody follows."""
        return re.match(r"job (\d+) on front", self.radlc("submit", self.file, "--detach", *arguments))[1]


class WithoutAutoscale(Cluster):
    """Two nodes of four that there may be, and nobody who would create another one."""
    given = ["autoscale=no", "workers=2"]

    def test_jobs_run_on_the_nodes_that_there_are(self):
        out = self.radlc("submit", self.file, SOURCE / "examples/slurm/squares.sh")
        self.assertIn("is completed", out)
        self.assertEqual(set(re.findall(r"on (worker-\d)", out)), {"worker-0", "worker-1"})
        self.assertNotIn("no node", self.err)

        # With its files, on both nodes of a job, and its own words; the folder's .radlignore holds.
        self.write("job/train.py", "import lib, sys\nprint(lib.text, *sys.argv[1:])\n")
        self.write("job/lib.py", "text = 'from lib'\n")
        self.write("job/big.bin", "x")
        self.write("job/.radlignore", "*.bin\n")
        self.write("extra.txt", "extra\n")
        both = self.script("job/both.sh", 'echo "script $0 $1"', "srun --ntasks=2 python3 -B train.py \"$1\"", "cat extra.txt",
                           "[ ! -e big.bin ] && echo ignored", "echo $SLURM_JOB_NUM_NODES", options=["--nodes=2", "--ntasks=2"])
        out = self.radlc("submit", self.file, "--source", both.parent, "--source", self.folder / "extra.txt", both, "a b")
        lines = out.splitlines()
        self.assertEqual(lines.count("from lib a b"), 2, out)
        for line in ("extra", "ignored", "2"):
            self.assertIn(line, lines)
        # Without them it says which files are missing.
        self.radlc("submit", self.file, both, "a")
        self.assertIn("train.py", self.err)
        self.assertIn("--source", self.err)
        self.radlc("submit", self.file, "--source", self.folder / "none", both, code=1)
        self.assertIn("does not exist", self.err)

    def test_queue_and_cancel_list_jobs_and_submit_reports_a_lack_of_nodes(self):
        script = self.script("long.sh", "sleep 600", options=["--array=1-3"])
        job = self.submitted(script)
        self.wait_until(lambda: sum(each["state"] == "running" for each in self.queued().values()) == 2)
        queued = self.queued()
        self.assertEqual({member["node"] for each in queued.values() for member in each["members"] if each["state"] == "running"},
                         {"worker[0]", "worker[1]"})
        self.assertEqual(queued[f"slurm/{job}_3"]["state"], "pending")
        self.assertRegex(self.radlc("queue", self.file), rf"slurm/{job}_1 +running\n +worker\[\d\] +long.sh +running")
        self.radlc("cancel", self.file, f"{job}_3")
        self.assertEqual(self.queued()[f"slurm/{job}_3"]["state"], "cancelled")
        self.radlc("cancel", self.file, f"slurm/{job}")
        self.assertEqual({each["state"] for each in self.queued().values()}, {"cancelled"})
        self.assertEqual(self.on_head("squeue -h -t R,CG"), "")
        self.radlc("cancel", self.file, job, code=1)
        self.assertIn("does not run", self.err)
        self.radlc("cancel", self.file, "999", code=1)
        self.assertIn("has no job 999", self.err)
        self.radlc("cancel", self.file, code=1)

        self.radlc("scale", self.file, "-y", *self.inputs(), "worker", "0")
        self.submitted(script)
        self.assertIn(f"radlc scale {self.file} worker +1", self.err)


class Asleep(Cluster):
    """Slurm asks for nodes, and nobody creates them."""
    given = ["idle=10m"]

    def test_submit_reports_that_autoscale_does_not_run(self):
        job = self.submitted(SOURCE / "examples/slurm/squares.sh")
        self.assertIn(f"`radlc autoscale {self.file}`", self.err)
        self.wait_until(lambda: "0 add" in self.on_head("cat /var/spool/radl/elastic/slurm/wishes"))
        follower = self.start("submit", self.file, "--follow", job)
        self.assertRegex(follower.stderr.readline(), r"worker-0.*`radlc autoscale ")
        self.wait_until(lambda: {each["state"] for each in self.queued().values()} == {"configuring"})
        self.radlc("cancel", self.file, job)
        self.assertEqual(follower.wait(60), 2)
        follower.communicate()

    def test_a_node_that_returns_while_slurm_powers_it_down_takes_jobs(self):
        given = ["-y", *self.inputs()]
        self.radlc("scale", self.file, *given, "worker", "1")
        self.on_head("scontrol update nodename=worker-0 state=power_down")
        self.wait_until(lambda: "POWERING_DOWN" in self.on_head("scontrol -o show node worker-0"))
        self.radlc("scale", self.file, *given, "worker", "0")
        self.assertIn("POWERING_DOWN", self.on_head("scontrol -o show node worker-0"))
        self.radlc("scale", self.file, *given, "worker", "1", timeout=90)
        out = self.radlc("submit", self.file, self.script("where.sh", "echo on $SLURMD_NODENAME"))
        self.assertIn("on worker-0", out)


class Slurm(Cluster):
    given = ["idle=5s"]

    def setUp(self):
        super().setUp()
        self.relay = self.start("autoscale", self.file, *self.inputs())

    def tearDown(self):
        if self.relay.poll() is None:
            os.kill(self.relay.pid, signal.SIGINT)
        self.relay.communicate(timeout=120)
        super().tearDown()

    def test_an_array_brings_its_nodes_and_they_go_when_they_are_idle(self):
        out = self.radlc("submit", self.file, SOURCE / "examples/slurm/squares.sh")
        for n in range(1, 5):
            self.assertIn(f"{n} | {n} squared is {n * n}, on worker-", out)
        self.assertIn("is completed", out)
        self.assertNotIn("radlc autoscale", self.err)
        self.wait_until(lambda: not self.workers(), 120, "nodes do not go")
        os.kill(self.relay.pid, signal.SIGINT)
        self.relay.wait(120)
        self.assertIn("No changes", self.radlc("apply", self.file, "-y", *self.inputs()))
        self.radlc("destroy", self.file, "-y")
        self.assert_nothing_left()

    @long_test
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
