"""std/training/torch with PyTorch itself: three local nodes, torchrun, gloo."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import programs_of_others
from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_TORCH_PYTHON"]


SHARDED = """import argparse, json, torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
argparse.ArgumentParser().parse_known_args()
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
for part in (model[0], model[2], model):
    fully_shard(part)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
generator = torch.Generator().manual_seed(dist.get_rank())
for step in range(50):
    points = torch.randn(64, 16, generator=generator)
    loss = ((model(points) - points.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
own = sum(p.to_local().numel() for p in model.parameters())
print(json.dumps({"loss": loss.item(), "own_parameters": own, "workers": dist.get_world_size()}), flush=True)
dist.destroy_process_group()
"""


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

    def processes_of_node(self, node):
        """All that runs on a node: its server, its login shells, what they started."""
        mark = f"/nodes/worker-{node}-".encode()
        found = []
        for pid in self.processes():
            try:
                text = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() + pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if mark in text and b"radlc" not in text.split(b"\0")[0]:
                found.append(pid)
        return found

    def kill(self, pids):
        self.assertTrue(pids, "there is nothing to kill")
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def start_training(self, epochs, *arguments):
        """apply, until all three members train."""
        process = self.start("apply", "--auto-approve", str(self.file), *self.given, "--input", f"epochs={epochs}", *arguments)
        self.wait_until(lambda: '"epoch": 5,' in self.log_of(0) + self.log_of(1) + self.log_of(2), 200, "it does not train")
        return process

    def begins(self, node=0):
        log = (self.results / f"logs/worker[{node}].log").read_text()
        return [int(line.rsplit(" ", 1)[1]) for line in log.splitlines() if "goes on at epoch" in line]

    def report(self):
        return json.loads((self.results / "report.json").read_text())

    def test_after_a_killed_member_the_others_go_on_and_take_it_back(self):
        process = self.start_training(150)
        self.kill(self.agent_of(2))
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, out + err)
        report = self.report()
        self.assertGreater(report["metrics"]["accuracy"], 0.95)
        self.assertEqual([m["restarts"] for m in report["members"]], [0, 0, 1])
        self.assertEqual(report["attempts"], 1, "torchrun has not taken it back:\n" + self.radlc("logs", self.file)[-6000:])
        self.assertEqual(report["metrics"]["workers"], 3)
        self.assertGreaterEqual(self.begins()[-1], 5, "it began anew")
        self.destroy()

    def test_after_a_kill_of_radlc_the_next_apply_joins_it(self):
        process = self.start_training(60)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        agents = [self.agent_of(node) for node in range(3)]
        self.apply("--input", "epochs=60")
        self.assertTrue(all(agents), "the members ended with radlc")
        self.assertEqual(self.begins(), [0], "it was started again")
        self.assertGreater(self.metrics()["accuracy"], 0.95)
        self.destroy()

    def test_a_lost_node_is_noticed_at_once_and_the_others_end_the_work(self):
        process = self.start_training(120, "--log-json", "events.jsonl")
        killed = time.time()
        self.kill(self.processes_of_node(2))
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, out + err)
        noticed = [e["time"] for e in self.events(self.folder / "events.jsonl")
                   if e["event"] == "task" and e["data"]["name"].startswith("does not answer")]
        self.assertTrue(noticed, out + err)
        self.assertLess(noticed[0] - killed, 5)
        self.assertGreater(self.metrics()["accuracy"], 0.95)
        self.assertEqual(self.metrics()["workers"], 2)
        self.assertGreaterEqual(self.begins()[-1], 5, "it began anew")
        self.destroy()

    def test_fully_sharded_parameters_on_gloo(self):
        (self.folder / "torch/spirals/train.py").write_text(SHARDED)
        self.apply()
        metrics = self.metrics()
        self.assertEqual(metrics["workers"], 3)
        self.assertLess(metrics["own_parameters"], 1153 / 2, "each worker holds all of the parameters")
        self.assertLess(metrics["loss"], 2)
        self.destroy()

    def test_a_public_elastic_example_runs_unchanged(self):
        program, why = programs_of_others.bring("elastic echo")
        if not program:
            self.skipTest(why)
        shutil.copy(program, self.folder / "torch/echo.py")
        self.edit(self.file, ("source = './spirals'", "source = './echo.py'"), ("main = 'train.py'", "main = 'echo.py'"),
                  ("  arguments = ['--epochs', input.epochs]\n", ""), ("input epochs (", "input unused ("))
        self.apply()
        logs = "".join(log.read_text() for log in (self.results / "logs").iterdir())
        for rank in range(3):
            self.assertIn(f"after init process group, rank={rank}, world_size = 3", logs)
        self.destroy()

    def test_the_public_imagenet_example_survives_the_loss_of_a_member_unchanged(self):
        """DistributedDataParallel with checkpoints of its own. (PyTorch's other public DDP examples ask for CUDA devices.)"""
        program, why = programs_of_others.bring("elastic imagenet")
        if not program:
            self.skipTest(why)
        shutil.copy(program, self.folder / "torch/imagenet.py")
        pictures = self.folder / "torch/pictures"
        subprocess.run([PYTHON, str(SOURCE / "tests/conformance/pictures.py"), str(pictures), "48", "12"], check=True)
        epochs = 12
        self.edit(self.file, ("source = './spirals'", "source = './imagenet.py'\n  inputs = { pictures = './pictures' }"),
                  ("main = 'train.py'", "main = 'imagenet.py'"), ("input epochs (", "input unused ("),
                  ("['--epochs', input.epochs]", f"['--arch', 'squeezenet1_1', '--epochs', {epochs}, '--batch-size', 8, '--lr', 0.001,"
                   " '--checkpoint-file', '$RADL_CHECKPOINTS/own/checkpoint', '$RADL_INPUTS/pictures']"))
        process = self.start("apply", "--auto-approve", str(self.file), *self.given)
        self.wait_until(lambda: "saved checkpoint for epoch 2" in self.log_of(0) or process.poll() is not None, 300)
        self.assertIsNone(process.poll(), self.log_of(0))
        self.kill(self.agent_of(2))
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.report()["attempts"], 1)
        log = (self.results / "logs/worker[0].log").read_text()
        self.assertIn(f"saved checkpoint for epoch {epochs - 1}", log)
        self.assertRegex(log, r"using checkpoint from rank: \d, max_epoch: [2-9]", "it began anew")
        self.destroy()

    def test_a_program_that_fails_says_so(self):
        program = self.folder / "torch/spirals/train.py"
        program.write_text(program.read_text().replace("    torch.manual_seed(0)\n", "    raise SystemExit('no such data')\n"))
        self.edit(self.file, ("  retries = 2\n", "  restarts = 1\n"))  # each takes torchrun ten seconds and more
        self.apply("--input", "nodes=2", code=2)
        self.assertIn("program 'spirals'", self.err)
        self.assertIn("exit status 1", self.err)
        self.destroy()
