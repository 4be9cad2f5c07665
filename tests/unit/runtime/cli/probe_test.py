"""`radlc profile --on cluster`: a cluster that is made, trained on and taken down again, whatever becomes of it."""
import json
import os
import signal
import subprocess
import time
import unittest

from foresight_case import RADLC, ForesightCase

SLOW = """configure slow ( command 'touch ~/begun; sleep 60' )
contextualize ( system worker configure slow )
"""


class ProbeTest(ForesightCase):
    def test_a_cluster_is_probed_only_with_approval_and_leaves_nothing(self):
        here = self.train_here()
        self.radlc("profile", "site.radl", "--seconds", "1", *here)
        refused = self.run_it("profile", "site.radl", "--on", "cluster", *here)
        self.assertEqual(refused.returncode, 1, refused.stdout + refused.stderr)
        self.assertIn("A probe: radlc creates this cluster, trains for about", refused.stdout)
        self.assertIn("it costs nothing", refused.stdout)
        self.assertIn("--auto-approve", refused.stderr)
        self.assertEqual(json.loads(self.radlc("calibration", "export"))["runs"], [])
        text = self.radlc("profile", "site.radl", "--on", "cluster", "--seconds", "1", "--batch", "50", "--auto-approve", *here)
        self.assertIn("Probed: ", text)
        self.assertIn("nothing of the probe is left", text)
        (run,) = json.loads(self.radlc("calibration", "export"))["runs"]
        self.assertEqual((run["exchange"], run["workers"], run["servers"], run["batch"]), ("async server", 1, 1, 50))
        self.assertGreater(run["seconds"], 0)
        # Logistic regression: 30,730 numbers of four bytes each way, and what carries them.
        # A training that is over within a second tells as well.
        for way in ("sent_bytes", "received_bytes"):
            self.assertAlmostEqual(run[way] / (4 * 30730), 1, delta=0.1)
        self.assertGreater(run["latency_ms"], 0)
        self.assertFalse((self.at / "out").exists(), "a probe's model is nobody's")
        self.assertNotIn("probe", self.radlc("list"))


    def start_slow(self):
        """A probe whose worker is being configured, and the options that it has."""
        here = self.train_here(SLOW)
        self.radlc("profile", "site.radl", "--seconds", "1", *here)
        run = subprocess.Popen([RADLC, "profile", "site.radl", "--on", "cluster", "--seconds", "1", "--auto-approve", *here], cwd=self.at,
                               env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        while not list(self.at.rglob("begun")):
            self.assertIsNone(run.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        return run, here

    def nothing_is_left(self):
        self.assertNotIn("probe", self.radlc("list"))
        self.assertEqual(list(self.at.glob(".radl*/*probe*")), [])
        left = subprocess.run(["pgrep", "-f", str(self.at)], capture_output=True, text=True)
        self.assertEqual(left.stdout, "", "a server or worker of the probe runs on")

    def test_one_that_fails_is_taken_down(self):
        here = self.train_here("configure broken ( command 'echo no such thing; exit 7' )\ncontextualize ( system worker configure broken )\n")
        self.radlc("profile", "site.radl", "--seconds", "1", *here)
        done = self.run_it("profile", "site.radl", "--on", "cluster", "--seconds", "1", "--auto-approve", *here)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("exit status 7", done.stdout + done.stderr)
        self.assertIn("nothing of the probe is left", done.stdout)
        self.assertNotIn("Probed: ", done.stdout)
        self.assertEqual(json.loads(self.radlc("calibration", "export"))["runs"], [])
        self.nothing_is_left()

    def test_one_that_is_interrupted_is_taken_down(self):
        run, _ = self.start_slow()
        run.send_signal(signal.SIGINT)  # what runs may end
        time.sleep(0.5)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, out + err)
        self.assertIn("nothing of the probe is left", out)
        self.nothing_is_left()

    def test_one_that_was_killed_is_listed_and_what_is_said_takes_it_down(self):
        run, here = self.start_slow()
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)
        self.assertIn("probe", self.radlc("list"))
        done = self.run_it("profile", "site.radl", "--on", "cluster", "--seconds", "1", "--auto-approve", *here)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        said = next(line for line in done.stderr.splitlines() if "radlc destroy" in line)
        self.radlc(*said[said.index("destroy"):].split(), "--auto-approve")
        self.nothing_is_left()

    def test_one_that_was_killed_while_it_was_made_is_never_forgotten(self):
        here = self.train_here()
        self.radlc("profile", "site.radl", "--seconds", "1", *here)
        for wait in (0.05, 0.1, 0.2, 0.4, 0.8):
            with self.subTest(wait=wait):
                run = subprocess.Popen([RADLC, "profile", "site.radl", "--on", "cluster", "--seconds", "1", "--auto-approve", *here], cwd=self.at,
                                       env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(wait)
                run.kill()
                run.wait()
                done = self.run_it("profile", "site.radl", "--on", "cluster", "--seconds", "1", "--auto-approve", *here)
                if done.returncode != 0:
                    said = next(line for line in done.stderr.splitlines() if "radlc destroy" in line)
                    self.radlc(*said[said.index("destroy"):].split(), "--auto-approve")
                self.nothing_is_left()


if __name__ == "__main__":
    unittest.main()
