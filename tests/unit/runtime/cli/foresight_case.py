"""What tests of forecasts stand on: one training of a parameter server, with a calibration of its own."""
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
ENGINE = os.path.join(os.environ["RADL_BUILD"], "bin", "radl-train")
SITE = """radl 2
input workers (type = integer, default = 2)
input cloud (type = string, default = 'ec2')
input mode (type = string, default = 'async')
input worker_type (type = string, default = 'c5.*')
input server_type (type = string, default = '*')
network lan (outbound = 'no')
system ps (cpu.count >= 2, memory.size >= 1G, net_interface.0.connection = 'lan', instance_type = input.server_type)
system worker (cpu.count >= 4, memory.size >= 1G, net_interface.0.connection = 'lan', instance_type = input.worker_type)
deploy ps 1 '${input.cloud}'
deploy worker input.workers '${input.cloud}'
use 'std/training/parameter_server' as training (
  servers = system.ps
  workers = system.worker
  model = 'logistic'
  dataset = 'cifar10'
  mode = input.mode
  epochs = 2
  result = 'out'
)
"""
FAMILY = "logistic on cifar10"
SERVED = ("--exchange", "sync-server,async-server")  # what a file with a parameter server can become
SUBSET = str(pathlib.Path(__file__).resolve().parents[4] / "examples/cifar10/subset")


@functools.cache
def work(model="logistic", shape="32x32x3", classes=10):
    """The key of what a step computes, as docs/model.md has it."""
    said = subprocess.run([ENGINE, "inspect", "--json", "--input", shape, "--classes", str(classes), "--", model], check=True, capture_output=True)
    key = {"classes": classes, "graph": json.loads(said.stdout)["digest"], "input": shape, "precision": "auto"}
    return hashlib.sha256(json.dumps(key, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def profile(machine="ec2 c5.xlarge", cores=4):
    return {"family": FAMILY, "work": work(), "batch": 128, "machine": machine, "cores": cores, "flop_per_image": 1e5, "memory_bytes": 1e7, "memory_bytes_per_image": 1e5,
            "taken_at": "2026-11-22T10:00:00Z", "version": "0.1.0",
            "node": {"steps": [{"batch": 32, "seconds": 0.005}, {"batch": 128, "seconds": 0.02}, {"batch": 256, "seconds": 0.04}],
                     "parameter_bytes": 123000, "backward_share": 0.6, "spread": 0.05, "largest_batch": 0}}


class ForesightCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-foresight-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        (self.at / "site.radl").write_text(SITE)
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.at / "data"), "HOME": str(self.at), "AWS_REGION": "eu-west-1"}

    def run_it(self, *arguments):
        return subprocess.run([RADLC, *map(str, arguments)], cwd=self.at, env=self.environment, capture_output=True, text=True, timeout=120)

    def radlc(self, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def fails(self, code, said, *arguments):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(said, done.stdout + done.stderr)

    def know(self, *profiles, runs=()):
        (self.at / "known.json").write_text(json.dumps({"calibration": 1, "profiles": list(profiles), "runs": list(runs), "studies": []}))
        self.radlc("calibration", "import", "known.json")

    def recommend(self, *arguments):
        return json.loads(self.radlc("recommend", "site.radl", "--json", *arguments))

    def train_here(self, configure=""):
        """The file's training on nodes of this machine, on the pictures that lie in the tree. Returns its inputs."""
        text = SITE.replace("cpu.count >= 4", "cpu.count >= 1").replace("cpu.count >= 2", "cpu.count >= 1")
        text = text.replace("dataset = 'cifar10'", "dataset = 'cifar10'\n  source = 'subset'")
        text = text.replace(", instance_type = input.worker_type", "").replace(", instance_type = input.server_type", "")
        (self.at / "site.radl").write_text(text + configure)
        self.environment["RADL_CIFAR10_SUBSET"] = SUBSET
        return ("--input", "cloud=local", "--input", "worker_type=local", "--input", "workers=1")
