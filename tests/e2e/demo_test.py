"""`radlc demo`: the example from plan to destroy, in a folder of the user's."""
import unittest

from engine_case import RADL_TRAIN
from radl_case import SOURCE, RadlCase

SMALL = [word for value in ("source=subset", "model=logistic", "epochs=1") for word in ("--input", value)]


class Demo(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_CIFAR10_SUBSET"] = str(SOURCE / "examples/cifar10/subset")
        self.file = self.folder / "radlc-demo" / "training.radl"

    def test_it_leaves_the_example_and_a_model_and_nothing_else(self):
        self.radlc("demo", *SMALL)
        self.assertEqual(self.file.read_text(), (SOURCE / "examples/cifar10/training.radl").read_text())
        self.assertTrue((self.file.parent / "cifar10-run/model/model.safetensors").stat().st_size > 0)
        self.assert_nothing_left("radlc-demo/.radl")

    def test_kept_nodes_can_be_used_and_destroyed(self):
        self.radlc("demo", "--keep", "mine", *SMALL)
        file = self.folder / "mine/training.radl"
        self.assertIn("worker[1]", self.radlc("show", file))
        self.radlc("destroy", "--auto-approve", file)
        self.assert_nothing_left("mine/.radl")

    def test_a_changed_file_is_never_replaced(self):
        self.file.parent.mkdir()
        self.file.write_text("radl 2\n")
        self.radlc("demo", *SMALL, code=1)
        self.assertEqual(self.file.read_text(), "radl 2\n")
        self.assertEqual([path.name for path in self.file.parent.iterdir()], ["training.radl"])

    def test_a_failed_run_is_cleaned_up(self):
        self.radlc("demo", *SMALL, "--input", "model=./missing.safetensors", code=None)
        self.assertTrue(self.file.exists())
        self.assert_nothing_left("radlc-demo/.radl")

    def test_the_logs_of_a_failed_training_are_kept(self):
        program = self.folder / "engine"
        program.write_text(f'#!/bin/sh\ncase "$1" in *.json) echo the engine ends here >&2; exit 3;; esac\nexec {RADL_TRAIN} "$@"\n')
        program.chmod(0o755)
        self.environment["RADL_TRAIN"] = str(program)
        self.radlc("demo", *SMALL, code=None)
        logs = list((self.file.parent / "logs").iterdir())
        self.assertTrue([log for log in logs if log.name == "training.cifar.log" and log.stat().st_size > 0], logs)
        self.assert_nothing_left("radlc-demo/.radl")


if __name__ == "__main__":
    unittest.main()
