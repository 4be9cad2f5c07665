"""Programs as short as the thought: a system that deploys itself, in the network that it gets, and a module that runs a script on it."""
import torch_stand_in
from radl_case import RadlCase

FILE = """radl 2
system worker ( count = 2, cloud = 'local', cpu.count >= 1, memory.size >= 32M )
use 'std/training/torch' as train ( nodes = worker, source = './src', main = 'train.py' )
"""
TRAIN = """import json, os, pathlib
print(json.dumps({"members": int(os.environ["RADL_MEMBERS"])}))
pathlib.Path(os.environ["RADL_RESULTS"], "model.txt").write_text("trained")
"""


class ShortPrograms(RadlCase):
    def setUp(self):
        super().setUp()
        self.write("src/train.py", TRAIN)
        for path, text in torch_stand_in.FILES.items():
            self.write(f"src/{path}", text)
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
