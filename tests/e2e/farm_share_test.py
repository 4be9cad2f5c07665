"""Scripts of several users on the same nodes."""
import os
import unittest

from farm_case import FarmCase

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
"""
GATED = """echo begun >> "$RADL_CHECKPOINTS/begun"
while [ ! -e "$RADL_CHECKPOINTS/gate" ]; do sleep 0.05; done
"""


class FarmShares(FarmCase):
    def checkpoints(self, script):
        return self.found(f"home/.radl/jobs/{script}*/checkpoints/*")

    def has_begun(self, script):
        return any((folder / "begun").exists() for folder in self.checkpoints(script))

    def run_script(self, user, script):
        self.write(f"{script}.sh", f"# {script}\n{GATED}")
        self.environment["USER"] = user
        share = max(1, os.cpu_count() // 2)  # of a local node: all that it has
        return self.start("run", self.file, f"{script}.sh", "--cpu", share)

    def test_the_user_with_less_goes_first_and_no_node_has_more_than_fits(self):
        self.file = self.write("cluster.radl", FILE)
        self.radlc("apply", "--auto-approve", self.file)
        running = {}
        for user, script in (("ana", "first"), ("ana", "second"), ("ana", "third"), ("ben", "other")):
            running[script] = self.run_script(user, script)
            self.wait_until(lambda script=script: len(self.found(f"home/.radl/jobs/{script}*/farm/events")) == 2)
            if len(running) <= 2:
                self.wait_until(lambda script=script: self.has_begun(script))
        self.assertFalse(self.has_begun("third") or self.has_begun("other"), "both nodes are full")
        for folder in self.checkpoints("first"):
            (folder / "gate").touch()
        self.wait_until(lambda: self.has_begun("third") or self.has_begun("other"))
        self.assertTrue(self.has_begun("other"))
        self.assertFalse(self.has_begun("third"))
        for process in running.values():
            self.open_gates_until(process)
        self.assertEqual(self.found("farms/.sharing/*.json"), [])
        self.destroy()


if __name__ == "__main__":
    unittest.main()
