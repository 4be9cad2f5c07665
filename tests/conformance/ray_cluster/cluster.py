"""std/cluster/ray and std/training/ray with Ray itself: a cluster of three local nodes, jobs, the dashboard."""
import json
import os
import shutil
import socket
import urllib.error
import urllib.request

from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_RAY_PYTHON"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster(RadlCase):
    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "examples/ray", self.folder / "ray")
        self.file = self.folder / "ray/ray.radl"
        self.given = ["--input", f"python={PYTHON}", "--input", "results=./results"]

    def test_a_study_runs_on_all_nodes_and_the_dashboard_is_brought_here(self):
        self.radlc("apply", "--auto-approve", self.file, *self.given, timeout=500)
        report = json.loads((self.folder / "ray/results/report.json").read_text())
        self.assertEqual(report["metrics"]["trials"], 6)
        self.assertAlmostEqual(report["metrics"]["rate"], 1 / 3, 6)
        self.assertGreater(report["metrics"]["hosts"], 1, "all trials ran on one node")
        self.assertEqual(self.actions(self.file, *self.given), {})
        self.dashboard()
        # The cluster stays; another program comes to it: an example of Ray's own package.
        self.edit(self.file, ("source = './tune'\n  main = 'tune.py'\n  arguments = ['--trials', input.trials]",
                              "main = '-m ray.tune.examples.async_hyperband_example'\n  arguments = ['--smoke-test']"))
        self.assertEqual(list(self.actions(self.file, *self.given)), ["program/tune"])
        self.radlc("apply", "--auto-approve", self.file, *self.given, timeout=500)
        self.assertIn("Best hyperparameters found", (self.folder / "ray/results/logs/head[0].log").read_text())
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left(state="ray/.radl")

    def dashboard(self):
        port = free_port()
        tunnel = self.start("ssh", self.file, "-L", f"{port}:127.0.0.1:8265", "head")
        said = []

        def answers():
            try:
                said.append(json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/jobs/", timeout=5)))
            except (OSError, urllib.error.URLError):
                return False
            return True
        self.wait_until(answers, 30, "the dashboard does not answer")
        tunnel.terminate()
        tunnel.communicate()
        self.assertEqual([job["status"] for job in said[0]], ["SUCCEEDED"])
