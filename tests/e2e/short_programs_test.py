"""Programs as short as the thought: a system that deploys itself, in the network that it gets, and a module that runs a script on it."""
from radl_case import RadlCase

FILE = """radl 2
system worker ( count = 2, cloud = 'local', cpu.count >= 1, memory.size >= 32M )
use 'std/training/torch' as train ( nodes = worker, source = './src', main = 'train.py' )
"""
# Stands for torchrun, which would need a gigabyte of packages: runs what it is given, once on each node.
LAUNCHER = """import runpy, sys
main = next(word for word in sys.argv[1:] if not word.startswith("--"))
runpy.run_path(main, run_name="__main__")
"""
TRAIN = """import json, os, pathlib
print(json.dumps({"members": int(os.environ["RADL_MEMBERS"])}))
pathlib.Path(os.environ["RADL_RESULTS"], "model.txt").write_text("trained")
"""


class ShortPrograms(RadlCase):
    def setUp(self):
        super().setUp()
        self.write("src/train.py", TRAIN)
        for package in ("torch", "torch/distributed"):
            self.write(f"src/{package}/__init__.py", "")
        self.write("src/torch/distributed/run.py", LAUNCHER)
        self.file = self.write("train.radl", FILE)

    def test_three_lines_make_nodes_in_one_network_and_run_a_script(self):
        planned = self.actions(self.file)
        for made in ("worker[0]", "worker[1]", "network.default"):
            self.assertEqual(planned.get(made), "create", planned)
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.radlc("exec", self.file, "--", "getent hosts vnode-0.localdomain >/dev/null && echo found").count("found"), 2)
        self.assertEqual(self.plan(self.file)["actions"], [])
        self.radlc("destroy", "--auto-approve", self.file)

    def test_count_may_change(self):
        self.radlc("apply", "--auto-approve", self.file)
        self.file.write_text(FILE.replace("count = 2,", "count = 3,"))
        self.assertEqual(self.actions(self.file).get("worker[2]"), "create")
        self.radlc("destroy", "--auto-approve", self.file)
