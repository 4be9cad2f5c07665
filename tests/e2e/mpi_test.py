"""std/training/mpi with Debian's Open MPI on three local nodes: a program in C and one in Python, and what is lost in their midst."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from radl_case import SOURCE, RadlCase


def why_not():
    if not shutil.which("mpirun") or not shutil.which("mpicc"):
        return "Open MPI is not installed here (packages.txt)"
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], capture_output=True).returncode:
        return "python3-mpi4py is not installed here (packages.txt)"
    return ""


@unittest.skipIf(why_not(), why_not())
class Mpi(RadlCase):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "examples/mpi", self.folder / "mpi")
        self.file = self.folder / "mpi/mpi.radl"
        self.given = ["--input", "packages=no", "--input", "results=./results"]
        self.results = self.folder / "mpi/results"

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *self.given, *arguments, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left(state="mpi/.radl")

    def log_of_heat(self):
        logs = self.found("jobs/heat-*/member-0.log")
        return logs[0].read_text() if logs else ""

    def heat_alone(self):
        """Takes out of the example what its program in C needs."""
        text = self.file.read_text()
        for begin, end in (("use 'std/training/mpi' as pi (", "use 'std/training/mpi' as heat ("), ("configure compile (", "output pi"),
                           ("output pi", "output heat")):
            text = text[:text.index(begin)] + text[text.index(end):]
        self.file.write_text(text)

    def start_heat(self):
        """apply, until the program in Python keeps checkpoints."""
        process = self.start("apply", "--auto-approve", str(self.file), *self.given, "--input", "steps=1500")
        self.wait_until(lambda: self.found("checkpoints/heat-5-*.pickle"), 120, self.log_of_heat)
        return process

    def kill(self, mark):
        """Every process in whose command line or environment this stands, radlc excepted."""
        killed = 0
        for pid in self.processes():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if mark.encode() in line + pathlib.Path(f"/proc/{pid}/environ").read_bytes() and b"/bin/radlc" not in line:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            except OSError:
                pass
        self.assertGreater(killed, 0, "there is nothing to kill")

    def report(self, name):
        return json.loads((self.results / name / "report.json").read_text())

    def keys(self):
        return [p for p in self.found("home/.ssh/authorized_keys") if p.read_text()]

    def test_the_examples_run_on_every_node_and_again_changes_nothing(self):
        self.apply()
        self.assertAlmostEqual(self.report("pi")["metrics"]["pi"], 3.14159265359, 9)
        self.assertEqual(self.report("pi")["metrics"]["processes"], 6)
        log = (self.results / "pi/logs/worker[0].log").read_text()
        hosts = re.findall(r"process \d of 6 on ([a-z0-9-]+?)(?=process|\s|$)", log)
        self.assertEqual(len(hosts), 6, log)
        if hosts[0].startswith("worker-"):  # nodes that are not isolated share the computer's name
            self.assertEqual([hosts.count(f"worker-{node}") for node in range(3)], [2, 2, 2])
        self.assertEqual(self.report("heat")["metrics"]["processes"], 6)
        self.assertEqual(len(json.loads((self.results / "heat/rod.json").read_text())), 60)
        self.assertEqual(self.keys(), [], "a key of a run is still there")
        self.assertEqual(self.actions(self.file, *self.given), {})
        self.destroy()

    def test_after_a_killed_process_all_start_again_from_their_checkpoints(self):
        self.heat_alone()
        process = self.start_heat()
        self.kill("OMPI_COMM_WORLD_RANK=5")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.report("heat")["attempts"], 2)
        log = (self.results / "heat/logs/worker[0].log").read_text()
        begins = [int(step) for step in re.findall(r"begins at step (\d+)", log)]
        self.assertEqual(len(begins), 6, log)
        self.assertEqual(self.keys(), [])
        self.destroy()

    def test_after_a_kill_of_radlc_the_next_apply_joins_it(self):
        self.heat_alone()
        process = self.start_heat()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.apply("--input", "steps=1500")
        log = (self.results / "heat/logs/worker[0].log").read_text()
        self.assertEqual(log.count("begins at step"), 6, "it was started again")
        self.assertEqual(self.keys(), [])
        self.destroy()

    def test_a_secret_reaches_every_process_and_no_argument(self):
        self.file = self.write("mpi/secret.radl", """radl 2
input token ( type = string, sensitive = yes )
network lan ( outbound = 'no' )
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy worker 2
use 'std/training/mpi' as task (
  nodes = system.worker, main = 'sh', install = no, environment = { TOKEN = input.token }
  arguments = ['-c', 'printf "%s" "$TOKEN" | wc -c; while [ ! -e "$HOME/gate" ]; do sleep 0.1; done']
)
output seconds ( value = task.seconds )
""")
        secret = "s3cr3t-5e8a91"
        self.environment["RADL_INPUT_token"] = secret
        process = self.start("apply", "--auto-approve", str(self.file))
        log = self.folder / "mpi/.radl/secret/logs/program.task.log"
        self.wait_until(lambda: log.exists() and log.read_text().count(f"  {len(secret)}\n") == 2, 60)
        for pid in self.processes():
            try:
                self.assertNotIn(secret.encode(), pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
            except OSError:
                pass
        for home in (self.folder / "mpi/.radl").rglob("home"):
            (home / "gate").touch()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.destroy()

    def test_a_lost_node_ends_it_at_once(self):
        self.heat_alone()
        self.edit(self.file, ("retries = 2", "retries = 0"))
        process = self.start_heat()
        self.kill("/nodes/worker-2-")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("program 'heat'", err)
        self.destroy()


if __name__ == "__main__":
    unittest.main()
