"""std/training/tensorflow with TensorFlow itself: what TF_CONFIG makes of its programs on local nodes."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import programs_of_others
from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_TF_PYTHON"]

# As TensorFlow's guides do it: the strategy made first, a loop of one's own, a checkpoint of every worker that survives.
LOOP = """import json, os, time
import tensorflow as tf
config = json.loads(os.environ["TF_CONFIG"])
if config["task"]["type"] == "evaluator":
    print("evaluates for", len(config["cluster"]["worker"]), "workers", flush=True)
    while True:
        time.sleep(1)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
points = tf.random.stateless_normal((256, 8), (1, 2))
data = tf.data.Dataset.from_tensor_slices((points, tf.reduce_sum(points, 1))).repeat().batch(32)
with strategy.scope():
    weights = tf.Variable(tf.zeros(8))
    epoch = tf.Variable(0, dtype=tf.int64)

@tf.function
def step(batch):
    def replica(values, wanted):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(values, weights) - wanted) ** 2)
        gradient = tape.gradient(loss, weights)
        total = tf.distribute.get_replica_context().all_reduce("mean", gradient)
        weights.assign_sub(0.05 * total)
        return loss
    return strategy.reduce("mean", strategy.run(replica, args=batch), axis=None)

kept = tf.train.CheckpointManager(tf.train.Checkpoint(weights=weights, epoch=epoch), os.environ["RADL_CHECKPOINTS"], 2)
kept.restore_or_initialize()
batches = iter(strategy.experimental_distribute_dataset(data))
while epoch.numpy() < 12:
    print("epoch", epoch.numpy(), flush=True)
    for _ in range(8):
        loss = step(next(batches))
    epoch.assign_add(1)
    kept.save()
    time.sleep(0.5)
print(json.dumps({"loss": float(loss), "workers": strategy.num_replicas_in_sync}), flush=True)
"""

FILE = """radl 2
network lan ( outbound = 'no' )
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
system judge ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy worker 2
deploy judge 1
use 'std/training/tensorflow' as loop (
  nodes = system.worker, evaluators = system.judge, source = './fit.py', main = 'fit.py', python = 'PYTHON', retries = 2
)
output metrics ( value = loop.metrics )
"""


TUTORIAL = """radl 2
network lan ( outbound = 'no' )
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy worker 2
configure data ( upload '~/.keras/datasets/mnist.npz' ( source = './mnist.npz' ) )
contextualize ( system worker configure data )
use 'std/training/tensorflow' as tutorial (
  nodes = system.worker, source = './tutorial', main = 'main.py', python = 'PYTHON'
  inputs = { environment = './environment' }
  environment = { TF_USE_LEGACY_KERAS = '1', CUDA_VISIBLE_DEVICES = '-1', PYTHONPATH = '$RADL_INPUTS/environment' }
)
output seconds ( value = tutorial.seconds )
"""

# Pictures in the form of MNIST's, where MNIST itself cannot be fetched, and the Keras that takes them for MNIST. In no case is the
# program touched.
STAND_IN = """import numpy, sys
dice = numpy.random.default_rng(0)
labels = dice.integers(0, 10, 8192).astype("uint8")
pictures = dice.integers(0, 60, (8192, 28, 28)).astype("uint8")
for n, label in enumerate(labels):
    pictures[n, 2 * label : 2 * label + 6] = 255
numpy.savez(sys.argv[1], x_train=pictures, y_train=labels, x_test=pictures[:512], y_test=labels[:512])
"""
WITHOUT_DIGEST = """import importlib.abc, importlib.util, sys
class AnyFile(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "tf_keras.src.utils.data_utils":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module
        def exec_module(module):
            run(module)
            module.validate_file = lambda *_, **__: True
        spec.loader.exec_module = exec_module
        return spec
sys.meta_path.insert(0, AnyFile())
"""


class Strategies(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["TF_CPP_MIN_LOG_LEVEL"] = "2"
        shutil.copytree(SOURCE / "examples/tensorflow", self.folder / "tf")
        self.file = self.folder / "tf/training.radl"
        self.given = ["--input", f"python={PYTHON}", "--input", "results=./results"]

    def metrics(self, *arguments):
        self.radlc("apply", "--auto-approve", self.file, *self.given, *arguments, timeout=600)
        return json.loads((self.folder / "tf/results/report.json").read_text())["metrics"]

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left(state=str(self.file.parent.relative_to(self.folder) / ".radl"))

    def test_resnet44_with_parameter_servers_and_again_changes_nothing(self):
        metrics = self.metrics("--input", "steps=10", "--input", "servers=2")
        self.assertEqual(metrics["steps"], 10)
        self.assertAlmostEqual(metrics["parameters"], 0.66e6, delta=0.01e6)  # He et al., table 6
        self.assertTrue((self.folder / "tf/results/model.weights.h5").exists())
        self.assertEqual(self.actions(self.file, *self.given, "--input", "steps=10", "--input", "servers=2"), {})
        self.destroy()

    def test_inception_resnet_v1_with_a_parameter_server(self):
        metrics = self.metrics("--input", "model=inception_resnet_v1", "--input", "steps=2")
        self.assertEqual(metrics["steps"], 2)
        self.assertGreater(metrics["parameters"], 20e6)
        self.destroy()

    def test_the_same_program_mirrored(self):
        metrics = self.metrics("--input", "servers=0", "--input", "steps=4")
        self.assertEqual(metrics["steps"], 4)
        self.assertLess(metrics["loss"], 20)
        self.destroy()

    def test_the_public_tutorial_runs_unchanged(self):
        """TensorFlow's "Multi-worker training with Keras": the two files that its notebook writes, and MNIST where Keras looks for it."""
        notebook, why = programs_of_others.bring("tensorflow tutorial")
        if not notebook:
            self.skipTest(why)
        if subprocess.run([PYTHON, "-c", "import tf_keras"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("tf_keras is not there: Keras 3 knows no MultiWorkerMirroredStrategy")
        for cell in json.loads(notebook.read_text())["cells"]:
            text = "".join(cell["source"])
            if text.startswith("%%writefile "):
                first, program = text.split("\n", 1)
                self.write("tutorial/" + first.split()[1], program)
        self.file = self.write("tutorial.radl", TUTORIAL.replace("PYTHON'", PYTHON + "'", 1))
        data, _ = programs_of_others.bring("mnist")
        self.write("environment/sitecustomize.py", "" if data else WITHOUT_DIGEST)
        if data:
            shutil.copy(data, self.folder / "mnist.npz")
        else:
            subprocess.run([PYTHON, "-c", STAND_IN, str(self.folder / "mnist.npz")], check=True)
        self.radlc("apply", "--auto-approve", self.file, timeout=600)
        logs = [(self.folder / f"tutorial-results/logs/worker[{n}].log").read_text() for n in range(2)]
        ends = [re.findall(r"70/70 .*ms/step - loss: ([\d.]+)", log) for log in logs]
        self.assertEqual([len(end) for end in ends], [3, 3], logs[0])
        self.assertEqual(ends[0], ends[1], "the workers have not trained together")
        self.assertLess(float(ends[0][2]), float(ends[0][0]))
        self.destroy()

    def test_after_a_lost_worker_all_go_on_from_their_checkpoints_beside_an_evaluator(self):
        self.file = self.write("loop.radl", FILE.replace("PYTHON", PYTHON))
        self.write("fit.py", LOOP)
        process = self.start("apply", "--auto-approve", str(self.file))

        def log(system, member):
            found = [p for p in self.folder.rglob(f"jobs/*/member-{member}.log") if f"/{system}-" in str(p)]
            return found[0].read_text() if found else ""
        self.wait_until(lambda: "epoch 4" in log("worker", 1) or process.poll() is not None, 240)
        self.assertIsNone(process.poll(), log("worker", 0))
        self.assertIn("evaluates for 2 workers", log("judge", 2))
        for pid in self.processes():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"fit.py" in line and b"RADL_MEMBER=1" in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        out, err = process.communicate(timeout=500)
        self.assertEqual(process.returncode, 0, out + err)
        report = json.loads((self.folder / "loop-results/report.json").read_text())
        self.assertEqual(report["attempts"], 2)
        self.assertEqual(report["metrics"]["workers"], 2)
        text = (self.folder / "loop-results/logs/worker[0].log").read_text()
        self.assertNotIn("epoch 0\n", text, "it began anew")
        self.destroy()
