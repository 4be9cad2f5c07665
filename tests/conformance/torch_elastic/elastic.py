"""std/training/torch with PyTorch itself: three local nodes, torchrun, gloo."""
import json
import os
import pathlib
import shutil
import signal

from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_TORCH_PYTHON"]


class Torch(RadlCase):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "examples/torch", self.folder / "torch")
        self.file = self.folder / "torch/training.radl"
        self.given = ["--input", f"python={PYTHON}", "--input", "results=./results"]
        self.results = self.folder / "torch/results"

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *self.given, *arguments, timeout=600, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left(state="torch/.radl")

    def metrics(self):
        return json.loads((self.results / "report.json").read_text())["metrics"]

    def test_the_example_learns_on_three_nodes_and_again_changes_nothing(self):
        self.apply()
        self.assertGreater(self.metrics()["accuracy"], 0.95)
        self.assertEqual(self.metrics()["workers"], 3)
        self.assertTrue((self.results / "model.pt").exists())
        self.assertEqual(self.actions(self.file, *self.given), {})
        self.destroy()

    def agent_of(self, node):
        """torchrun's process on a node, and the workers that it has started."""
        found = []
        for pid in self.processes():
            try:
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if f"RADL_MEMBER={node}".encode() in environment.split(b"\0") and PYTHON.encode() in line:
                found.append(pid)
        return found

    def log_of(self, node):
        logs = list((self.folder / "torch").rglob(f"jobs/*/member-{node}.log"))
        return logs[0].read_text() if logs else ""

    def test_after_a_killed_member_it_goes_on_from_its_checkpoint_and_ends_well(self):
        process = self.start("apply", "--auto-approve", str(self.file), *self.given, "--input", "epochs=400")
        self.wait_until(lambda: '"epoch": 5,' in self.log_of(0) + self.log_of(1) + self.log_of(2), 200, "it does not train")
        for pid in self.agent_of(2):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, out + err)
        report = json.loads((self.results / "report.json").read_text())
        self.assertGreater(report["metrics"]["accuracy"], 0.95)
        self.assertEqual([m["restarts"] for m in report["members"]], [0, 0, 1])
        # Either torchrun has taken it back, or all were started again (`retries`): both go on from a checkpoint.
        self.assertLessEqual(report["attempts"], 2, self.radlc("logs", self.file)[-6000:])
        first = (self.results / "logs/worker[0].log").read_text()
        begins = [int(line.rsplit(" ", 1)[1]) for line in first.splitlines() if "goes on at epoch" in line]
        self.assertGreaterEqual(begins[-1], 5, first)
        self.destroy()

    def test_a_program_that_fails_says_so(self):
        program = self.folder / "torch/spirals/train.py"
        program.write_text(program.read_text().replace("    torch.manual_seed(0)\n", "    raise SystemExit('no such data')\n"))
        self.apply("--input", "nodes=2", code=2)
        self.assertIn("program 'spirals'", self.err)
        self.assertIn("exit status 1", self.err)
        self.destroy()
