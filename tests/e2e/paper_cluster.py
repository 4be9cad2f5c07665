"""The paper's training file, from nothing to a trained model to nothing, wherever one input says (tests/clouds)."""
import json
import shutil

from radl_case import SOURCE


class PaperCluster:
    """Beside a cloud's own case; a subclass says which cloud, and what its machines must be told."""
    cloud = "local"
    system = ""  # features of every machine: the harness's image and login

    def test_the_same_file_trains_here(self):
        shutil.copytree(SOURCE / "examples/cifar10/subset", self.folder / "images")
        file = self.write("paper/training.radl", (SOURCE / "examples/paper/training.radl").read_text())
        self.edit(file, ("  memory.size >= 1G\n", f"  memory.size >= 1G\n{self.system}"))
        inputs = ["--input", f"cloud={self.cloud}", "--input", f"data={self.folder / 'images'}", "--input", "model=logistic", "--input", "epochs=1",
                  "--input", "result=result"]
        said = self.radlc("plan", file, *inputs)
        self.assertIn("worker[0..1]", said)
        self.assertIn("to create", said)
        self.assertEqual(self.machines_there(), 0, "a plan made something")
        self.radlc("apply", "--auto-approve", file, *inputs, timeout=500)
        self.assertEqual(self.machines_there(), 3)
        report = json.loads((file.parent / "result/report.json").read_text())
        self.assertGreater(report["curve"][-1]["test_accuracy"], 0.12)
        self.assertTrue(list((file.parent / "result").rglob("*.safetensors")))
        self.radlc("plan", "--detailed-exitcode", file, *inputs)
        self.radlc("destroy", "--auto-approve", file, *inputs, timeout=300)
        self.assertEqual(self.machines_there(), 0)
        self.assert_as_before()

    def machines_there(self):
        return len(self.ours())

    def assert_as_before(self):
        self.assert_nothing_left()
