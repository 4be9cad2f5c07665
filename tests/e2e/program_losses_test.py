"""Programs that lose what they need: a network that is cut, members that fail, a kill of radlc in the midst."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from radl_case import RadlCase

FILE = """radl 2
network lan ( outbound = 'no' )
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy worker 2
configure work (
  program 'work' ( systems = system.worker, source = './work', main = 'work.py' PROPERTIES )
)
"""

WAITS = """import os, pathlib, time
here = pathlib.Path(os.environ["RADL_CHECKPOINTS"])
with open(here / "starts", "a") as starts:
    starts.write("start\\n")
while not (here / "gate").exists():
    time.sleep(0.05)
print("passed the gate")
"""


class Losses(RadlCase):
    def setUp(self):
        super().setUp()
        self.with_properties("")
        self.write("work/work.py", WAITS)

    def with_properties(self, text):
        self.file = self.write("work.radl", FILE.replace("PROPERTIES", text))

    def begin(self):
        """An apply whose members are at work."""
        process = self.start("apply", "--auto-approve", self.file, "--log-json", "events.jsonl")
        self.wait_until(lambda: len(self.found("home/.radl/jobs/*/checkpoints/starts")) == 2, message="its members do not start")
        return process

    def open_gate(self):
        for folder in self.found("home/.radl/jobs/*/checkpoints"):
            (folder / "gate").touch()

    def said(self, what):
        return [e.get("node") for e in self.events(self.folder / "events.jsonl") if e["event"] == "task" and what in e["data"]["name"]]

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def network_port(self, node):
        """(namespace, port of its bridge) of an isolated node."""
        name = self.networks()[0]
        (host,) = [r["attributes"]["host"] for r in self.show("--file", self.file)["resources"] if r["address"] == node]
        mac = "02:72:" + ":".join(f"{int(part):02x}" for part in host.split("."))
        entries = json.loads(subprocess.run(["bridge", "-j", "-n", name, "fdb", "show"], check=True, capture_output=True).stdout)
        return name, next(e["ifname"] for e in entries if e["mac"] == mac)

    @unittest.skipIf(os.geteuid() != 0, "skipped: isolated local nodes need root")
    def test_a_lost_network_is_shown_at_once_and_cleared_when_it_returns(self):
        self.environment.update(RADL_LOCAL_ISOLATION="required")
        process = self.begin()
        name, port = self.network_port("worker[1]")
        subprocess.run(["ip", "-n", name, "link", "set", port, "down"], check=True)
        # Long before SSH gives up, which would be said, too.
        self.wait_until(lambda: self.said("has sent nothing"), 40, "nobody says it")
        self.assertEqual(self.said("has sent nothing"), ["worker[1]"])
        subprocess.run(["ip", "-n", name, "link", "set", port, "up"], check=True)
        self.wait_until(lambda: self.said("is heard again"), 60, "nobody says it")
        self.open_gate()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.said("does not answer"), [])
        self.assertIn("program/work: worker[1]: has sent nothing for 6 s: its network is cut, or it is very busy", out)
        self.assertIn("program/work: worker[1]: is heard again", out)
        self.assertIn("passed the gate", (self.folder / "work-results/logs/worker[1].log").read_text())
        self.destroy()

    def test_cancelled_it_is_no_success_though_it_ends_well(self):
        self.write("work/work.py", "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" + WAITS)
        process = self.begin()
        self.radlc("cancel", self.file, "work")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("was cancelled by `radlc cancel`", err)
        self.assertFalse((self.folder / "work-results/report.json").exists())
        self.assertEqual(self.actions(self.file), {"program/work": "run"})
        self.destroy()

    def test_cancelled_while_no_radlc_follows_it_it_runs_again(self):
        self.write("work/work.py", "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" + WAITS)
        process = self.begin()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.radlc("cancel", self.file, "work")
        self.radlc("wait", self.file, "work", code=2)
        self.assertIn("was cancelled by `radlc cancel`", self.err)
        self.open_gate()
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual([f.read_text().count("start") for f in self.found("home/.radl/jobs/*/checkpoints/starts")], [2, 2])
        self.assertIn("passed the gate", (self.folder / "work-results/logs/worker[1].log").read_text())
        self.destroy()

    def test_each_failed_member_reports_its_reason(self):
        self.write("work/work.py", "import os, sys\nsys.exit('no memory for member ' + os.environ['RADL_MEMBER'])\n")
        self.radlc("apply", "--auto-approve", self.file, code=2)
        for member in "01":
            self.assertIn(f"worker[{member}]: ended with exit status 1\nno memory for member {member}\n", self.err.replace("  ", "") + "\n")
        self.destroy()

    def test_the_next_apply_removes_partial_results_of_a_killed_one(self):
        self.write("work/work.py", "import os, pathlib\nfor i in range(6000):\n"
                                   "    pathlib.Path(os.environ['RADL_RESULTS'], f'{i}.txt').write_text('x' * 4000 + str(i))\n")
        process = self.start("apply", "--auto-approve", self.file)
        work = pathlib.Path(self.folder, ".radl/work/work")
        deadline = time.monotonic() + 60
        while not list(work.glob("arriving-*/files/*")) and process.poll() is None and time.monotonic() < deadline:
            pass
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.assertEqual(len(list(work.glob("arriving-*"))), 1)
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(list(work.glob("arriving-*")), [])
        self.assertEqual(len(list((self.folder / "work-results").glob("*.txt"))), 6000)
        self.destroy()


if __name__ == "__main__":
    unittest.main()
