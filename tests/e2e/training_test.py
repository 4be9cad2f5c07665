"""A training through the whole spine, on the pictures that the repository carries."""
import json
import os
import pathlib
import signal
import time
import unittest

from radl_case import SOURCE, RadlCase

FILE = """radl 2
input workers ( type = 'integer' and default = 2 and min = 1 )
input epochs ( type = 'integer' and default = 4 )
input model ( type = 'text' and default = 'logistic' )
network lan ( outbound = 'no' )
system server ( cpu.count >= 1 and net_interface.0.connection = 'lan' )
system worker ( cpu.count >= 1 and net_interface.0.connection = 'lan' )
deploy server 1
deploy worker input.workers
use 'std/training/parameter_server' as small (
  servers = system.server and workers = system.worker and
  model = input.model and learning_rate = 0.02 and dataset = 'cifar10' and source = 'subset' and
  mode = 'async' and batch_size = 50 and epochs = input.epochs and result = 'result'
)
output model ( value = small.model_path )
output accuracy ( value = small.test_accuracy )
"""


class Training(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_CIFAR10_SUBSET"] = str(SOURCE / "examples/cifar10/subset")
        self.file = self.write("train.radl", FILE)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def training_pids(self):
        found = []
        for pid in self.processes():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if b"radl-train" in line.split(b"\0")[0]:
                found.append(pid)
        return found

    def wait_for_steps(self, log, seconds=60):
        """Until the log of events shows that training steps are being done."""
        deadline = time.time() + seconds
        while time.time() < deadline:
            if log.exists() and '"event":"step"' in log.read_text():
                return
            time.sleep(0.05)
        self.fail("no training step within %d s: %s" % (seconds, log.read_text() if log.exists() else ""))

    def test_a_model_comes_back_and_again_changes_nothing(self):
        out = self.apply()
        self.assertIn("test accuracy", out)
        result = self.folder / "result"
        names = [p.name for p in result.rglob("*") if p.is_file()]
        self.assertTrue([n for n in names if n.endswith(".safetensors")], names)
        self.assertTrue([n for n in names if n.endswith(".onnx")], names)
        self.assertTrue([n for n in names if "tfevents" in n], names)
        outputs = json.loads(self.radlc("output", "--file", self.file, "--json"))
        self.assertTrue(pathlib.Path(outputs["model"]["value"]).exists())
        self.assertGreater(outputs["accuracy"]["value"], 0.15)  # ten classes: guessing gives 0.1
        self.assertEqual(self.actions(self.file), {})
        self.assertEqual(self.training_pids(), [])
        self.destroy()

    def test_without_its_product_the_training_runs_again(self):
        self.apply()
        for path in (self.folder / "result").rglob("*.safetensors"):
            path.unlink()
        planned = self.actions(self.file)
        self.assertEqual([i for i in planned if i.startswith("training/")], list(planned))
        self.assertEqual(len(planned), 1)
        self.destroy()

    def test_another_worker_resumes_from_the_last_checkpoint(self):
        self.apply("--input", "workers=1")
        plan = self.plan(self.file, "--input", "workers=2")
        training = [a for a in plan["actions"] if a["id"].startswith("training/")]
        self.assertEqual(len(training), 1, plan)
        self.assertTrue(training[0].get("resume"), training)
        self.apply("--input", "workers=2")
        self.destroy()

    def test_a_killed_worker_does_not_stop_the_training(self):
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log), "--input", "epochs=4", "--input", "model=lenet")
        self.wait_for_steps(log)
        workers = [pid for pid in self.training_pids()
                   if b"worker" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
        self.assertTrue(workers, self.training_pids())
        os.kill(workers[0], signal.SIGKILL)
        out, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, out + err)
        self.destroy()

    def test_radlc_killed_during_training_takes_it_up_again(self):
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log), "--input", "epochs=4", "--input", "model=lenet")
        self.wait_for_steps(log)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.apply("--input", "epochs=4", "--input", "model=lenet")
        self.assertEqual(self.actions(self.file, "--input", "epochs=4", "--input", "model=lenet"), {})
        self.destroy()

    def test_destroy_in_the_middle_of_a_training_leaves_nothing(self):
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log), "--input", "epochs=100", "--input", "model=lenet")
        self.wait_for_steps(log)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.destroy()


if __name__ == "__main__":
    unittest.main()
