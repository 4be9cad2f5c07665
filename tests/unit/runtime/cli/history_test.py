"""`radlc history`: what a run took beside what its plan had said, and what the next plan learns of it."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
SITE = "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n"


class History(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-history-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        (self.at / "site.radl").write_text(SITE)
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.at / "data"), "HOME": str(self.at)}
        self.runs = self.at / "data/radlc/runs.jsonl"

    def radlc(self, *arguments):
        done = subprocess.run([RADLC, *arguments], cwd=self.at, env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def history(self, *arguments):
        return json.loads(self.radlc("history", "--json", *arguments))

    def test_a_run_is_kept_and_the_next_plan_learns_of_it(self):
        self.addCleanup(self.radlc, "destroy", "--auto-approve", "site.radl")
        self.radlc("apply", "--auto-approve", "site.radl")
        (run,) = self.history()
        self.assertEqual((run["command"], run["infrastructure"], run["ok"]), ("apply", "site", True))
        self.assertGreater(run["seconds"]["create"], 0)
        self.assertGreaterEqual(run["seconds"]["whole"], run["seconds"]["create"])
        self.assertIn("whole", run["predicted_seconds"])
        self.assertRegex(self.radlc("history"), r"apply +site\n +create +\S+ s -> ")
        # The same again, as if it had taken long: the next plan of the same kind says so.
        key = next(key for key in run["measured"] if key.startswith("create local node"))
        run["measured"] = {key: 500}
        self.runs.write_text(json.dumps(run) + "\n")
        (self.at / "other.radl").write_text(SITE.replace(" a ", " b "))
        plan = json.loads(self.radlc("plan", "--json", "other.radl"))
        self.assertGreaterEqual(plan["totals"]["seconds"], 500)
        self.assertEqual([action["seconds"] for action in plan["actions"] if action["id"] == "b[0]"], [500])

    def test_an_apply_that_a_cloud_refuses_has_its_time(self):
        (self.at / "cloud.radl").write_text(
            "network n ()\nsystem a (net_interface.0.connection = 'n' and disk.0.image.url = 'aws://eu-west-1/ami-0123456789abcdef0')\n"
            "deploy a 1 ec2\n")
        self.environment.update(AWS_ENDPOINT_URL="http://127.0.0.1:1", AWS_REGION="eu-west-1", AWS_ACCESS_KEY_ID="AKIAEXAMPLE",
                                AWS_SECRET_ACCESS_KEY="secret")
        done = subprocess.run([RADLC, "apply", "-y", "cloud.radl"], cwd=self.at, env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2, done.stderr)
        (run,) = self.history()
        self.assertEqual(run["ok"], False)
        self.assertGreater(run["time"], 1.7e9)

    def test_destroy_is_kept_too_and_lines_of_others_are_left_out(self):
        self.radlc("apply", "--auto-approve", "site.radl")
        self.runs.write_text(self.runs.read_text() + "{\"run\": 1, cut\n")
        self.radlc("destroy", "--auto-approve", "site.radl")
        self.assertEqual([run["command"] for run in self.history()], ["apply", "destroy"])
        self.assertEqual(self.history("elsewhere"), [])
        self.assertEqual(len(self.history("--newest", "1")), 1)
        self.assertEqual(self.runs.stat().st_mode & 0o777, 0o600)

    def test_no_runs(self):
        self.assertEqual(self.history(), [])


if __name__ == "__main__":
    unittest.main()
