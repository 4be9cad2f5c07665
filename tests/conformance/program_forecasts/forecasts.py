"""Forecasts of PyTorch's programs on local nodes, by a short run that is ended before they are."""
import json
import os
import shutil
import subprocess
import textwrap
import unittest

from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_TORCH_PYTHON"]
LOOP = """
import time
import torch
from torch import nn
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
def batch():
    points = torch.randn(512, 256)
    loss = ((model(points) - points.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
"""
# A minute at least, on any computer.
EPOCHS = LOOP + """
for epoch in range(1, 121):
    time.sleep(0.5)
    print(f"Epoch {epoch}/120, loss: {batch():.4f}")
"""
BAR = LOOP + """
from tqdm import tqdm
for _ in tqdm(range(1200)):
    time.sleep(0.05)
    batch()
"""
KERAS = """
import time
import tensorflow as tf
points = tf.random.normal((512, 64))
model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
rest = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: time.sleep(0.5))
model.fit(points, tf.reduce_sum(points, 1, keepdims=True), epochs=120, callbacks=[rest])
"""


class Forecasts(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["XDG_DATA_HOME"] = str(self.folder / "data")

    def program(self, text, python=PYTHON):
        (self.folder / "code").mkdir(exist_ok=True)
        (self.folder / "code/train.py").write_text(textwrap.dedent(text))
        file = self.folder / "work.radl"
        file.write_text("radl 2\nnetwork lan ()\nsystem box (net_interface.0.connection = 'lan')\ndeploy box 1 'local'\nconfigure run (\n"
                        f"  program 'train' (systems = system.box, source = './code', main = 'train.py', python = '{python}', results = './results')\n)\n")
        return file

    def compare(self, file, *given, seconds="25"):
        """The run phase by a short run, and what the whole run took."""
        said = self.radlc("profile", file, "--auto-approve", "--seconds", seconds, *given, timeout=300)
        if given and "ran to its end" in said:
            return  # a fast computer
        self.assertIn("by its progress", said)
        (forecast,) = json.loads(self.radlc("plan", "--json", file, *given))["forecasts"]
        run = forecast["phases"]["run"]
        self.radlc("apply", "--auto-approve", file, *given, timeout=600)
        whole = json.loads(self.radlc("calibration", "export"))["programs"][-1]
        self.assertEqual(whole["kind"], "ended")
        print(f"\n{file.name}: {run['from']}: {run['seconds']:.1f} s ({run['low']:.1f} to {run['high']:.1f}), took {whole['seconds']:.1f} s", flush=True)
        # The band is of 80%: within twice its width it is no chance.
        self.assertLess(run["low"] / 2, whole["seconds"])
        self.assertGreater(run["high"] * 2, whole["seconds"])
        self.radlc("destroy", "--auto-approve", file, *given)

    def test_a_loop_that_prints_its_epochs(self):
        self.compare(self.program(EPOCHS))

    def test_a_bar_of_tqdm(self):
        if subprocess.run([PYTHON, "-c", "import tqdm"], capture_output=True).returncode != 0:
            self.skipTest(f"{PYTHON} has no tqdm")
        self.compare(self.program(BAR))

    def test_keras_on_tensorflow(self):
        python = os.environ.get("RADL_TF_PYTHON")
        if not python:
            self.skipTest("RADL_TF_PYTHON names no Python with TensorFlow")
        self.compare(self.program(KERAS, python), seconds="40")

    def test_the_example_by_its_arguments(self):
        shutil.copytree(SOURCE / "examples/torch", self.folder / "torch")
        self.compare(self.folder / "torch/training.radl", "--input", f"python={PYTHON}", "--input", "results=./results", "--input", "nodes=2",
                     "--input", "epochs=1000", seconds="40")


if __name__ == "__main__":
    unittest.main()
