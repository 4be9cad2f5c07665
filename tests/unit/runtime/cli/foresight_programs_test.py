"""Forecasts of programs of the user's own: short real runs, plans and recommendations."""
import json
import pathlib
import signal
import subprocess
import time
import unittest

from foresight_case import ForesightCase, RADLC


def until(holds, otherwise):
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(otherwise)
        time.sleep(0.1)


def sleepers():
    """Whether the program of a test runs, by its command line."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x00300.4159\x00":
                return True
        except OSError:
            pass
    return False


class Programs(ForesightCase):
    """Programs of the user's own: measured by short real runs, forecast in plans, and recommended."""
    def program(self, script, cloud="local", inputs="", name="nap", count="input.workers", kind="input.worker_type"):
        (self.at / "work.radl").write_text(
            "radl 2\ninput workers (type = integer, default = 1)\ninput worker_type (type = string, default = '*')\n" + inputs +
            "network lan ()\nsystem box (cpu.count >= 1, net_interface.0.connection = 'lan'" + (f", instance_type = {kind}" if cloud == "ec2" else "") + ")\n"
            f"deploy box {count} '{cloud}'\nconfigure run (\n"
            f"  program '{name}' (systems = system.box, main = 'sh', arguments = ['-c', {json.dumps(script)}])\n)\n")

    def profile(self, *arguments):
        return self.radlc("profile", "work.radl", "--auto-approve", *arguments)

    def forecast(self, *arguments):
        (said,) = json.loads(self.radlc("plan", "--json", "work.radl", *arguments))["forecasts"]
        self.assertTrue(said["program"].startswith("program/"), said)
        return said

    def action(self):
        (job,) = [action for action in json.loads(self.radlc("plan", "--json", "work.radl"))["actions"] if action["id"].startswith("program/")]
        return job

    def know_programs(self, *runs):
        """Runs of the program of work.radl, each (machine, cores, nodes, seconds)."""
        self.profile("--seconds", "5")
        (own,) = json.loads(self.radlc("calibration", "export"))["programs"]
        self.radlc("calibration", "forget", "--all")
        made = [{**own, "machine": machine, "cores": cores, "nodes": nodes, "seconds": seconds, "kind": "ended", "time": 1000 + i}
                for i, (machine, cores, nodes, seconds) in enumerate(runs)]
        (self.at / "known.json").write_text(json.dumps({"calibration": 1, "profiles": [], "runs": [], "studies": [], "programs": made}))
        self.radlc("calibration", "import", "known.json")

    def test_a_short_real_run_is_kept_for_plans_and_recommendations(self):
        self.program("sleep 1")
        self.fails(1, "radlc profile work.radl", "recommend", "work.radl")
        self.assertIn("radlc profile work.radl", self.forecast()["unknown"], "a first contact says how to get a forecast")
        self.assertIn("ran to its end", self.profile())
        self.assertGreaterEqual(self.action()["seconds"], 1)
        run = self.forecast()["phases"]["run"]
        self.assertEqual(run["source"], "measured")
        self.assertTrue(run["low"] < 1.2 and run["high"] > 1, run)
        answer = json.loads(self.radlc("recommend", "work.radl", "--json"))
        self.assertEqual((answer["chosen"], answer["candidates"][0]["source"], answer["outside"]), ("local", "measured", ""))
        self.program("sleep 1", "ec2")  # what it computes is the same
        answer = json.loads(self.radlc("recommend", "work.radl", "--types", "c5.*", "--objective", "cost", "--json"))
        chosen = next(c for c in answer["candidates"] if c["name"] == answer["chosen"])
        self.assertEqual(chosen["source"], "scaled")
        self.assertIn("never ran", answer["outside"])
        self.assertLess(chosen["seconds"]["low"], chosen["seconds"]["high"])
        self.assertNotIn("work-probe", self.radlc("list"))

    def test_a_program_that_outlasts_its_probe_is_forecast_by_its_progress(self):
        self.program("i=1; while [ $i -le 200 ]; do sleep 0.1; echo Epoch $i/200 loss 0.5; i=$((i+1)); done")
        self.assertIn("by its progress (epoch", self.profile("--seconds", "4", "--on", "local"))
        run = self.forecast()["phases"]["run"]
        self.assertEqual(run["source"], "scaled")
        self.assertTrue(run["low"] <= run["seconds"] <= run["high"])
        self.assertGreaterEqual(run["seconds"], 20, "200 epochs of at least 0.1 s")
        self.assertGreaterEqual(run["low"], 4, "it ran for so long")
        self.assertGreaterEqual(self.action()["seconds"], 20)
        self.assertIn("epoch", run["from"])
        answer = json.loads(self.radlc("recommend", "work.radl", "--json"))
        self.assertGreaterEqual(answer["candidates"][0]["seconds"]["value"], 20)

    def test_a_bar_that_is_drawn_in_one_line_is_progress(self):
        self.program("i=0; while [ $i -le 100 ]; do printf '\\r %s%%|##  | %s/400 [00:%02d<01:00, 9it/s]' $((i/4)) $i $((i/10)); sleep 0.1; i=$((i+1)); done; sleep 60")
        self.assertIn("of 400", self.profile("--seconds", "5"))
        self.program("trap '' TERM; i=0; while :; do printf '\\r %s%%|##  | %s/400 [00:%02d<01:00, 9it/s]' $((i/4)) $i $((i/10)); sleep 0.1; i=$((i+1)); done")
        self.assertIn("of 400", self.profile("--seconds", "3"))

    def test_without_progress_there_is_a_lower_bound_and_no_time(self):
        self.program("sleep 60")
        self.assertIn("longer than", self.profile("--seconds", "2"))
        said = self.forecast()
        self.assertGreaterEqual(said["at_least_seconds"], 2)
        self.assertIsNone(said["phases"]["run"])
        self.assertIsNone(said["total"])
        self.assertIn("--seconds", said["unknown"])
        self.assertIsNone(self.action()["seconds"], "a run that was cut off says nothing of the whole")
        self.assertRegex(self.radlc("plan", "work.radl"), r"run +longer than 2")
        self.fails(1, "takes longer than 2", "recommend", "work.radl")
        self.assertNotIn("work-probe", self.radlc("list"))

    def test_another_version_gives_a_wide_prior_that_says_so(self):
        self.program("sleep 1")
        self.profile()
        self.program("sleep 1; true")
        run = self.forecast()["phases"]["run"]
        self.assertEqual(run["source"], "guessed")
        self.assertIn("other versions", run["from"])
        self.assertGreater(run["high"] / run["low"], 25)
        self.assertIsNone(self.action()["seconds"])
        self.program("sleep 1; true", name="another")
        self.assertIsNone(self.forecast()["phases"]["run"])
        self.fails(1, "no measured run of", "recommend", "work.radl")

    def test_a_program_that_fails_tells_nothing(self):
        self.program("sleep 1; exit 3")
        done = self.run_it("profile", "work.radl", "--auto-approve")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("exit status 3", done.stdout + done.stderr)
        self.assertNotIn("programs", json.loads(self.radlc("calibration", "export")))
        self.assertNotIn("work-probe", self.radlc("list"))

    def test_nodes_that_are_there_run_it_and_keep_nothing_of_it(self):
        self.program("echo started; sleep 1", count="2")
        self.radlc("apply", "work.radl", "--auto-approve")
        self.addCleanup(lambda: self.radlc("destroy", "work.radl", "--auto-approve"))
        self.radlc("calibration", "forget", "--all")
        kept = json.loads(self.radlc("profile", "work.radl", "--on", "box[0]", "--json"))
        self.assertEqual((kept["kind"], kept["nodes"], kept["machine"]), ("ended", 1, "local"))
        self.assertIn("ran to its end", self.radlc("profile", "work.radl", "--on", "box"))
        self.assertEqual([run["nodes"] for run in json.loads(self.radlc("calibration", "export"))["programs"]], [1, 2])
        folders = self.radlc("exec", "work.radl", "box", "--", "ls", ".radl/jobs")
        self.assertNotIn("probe", folders)
        self.fails(1, "no node", "profile", "work.radl", "--on", "moon")

    def test_a_program_ends_with_the_profile_that_runs_it(self):
        self.program("sleep 300.4159", count="1")
        (self.at / "empty.radl").write_text((self.at / "work.radl").read_text().split("configure")[0])
        self.radlc("apply", "empty.radl", "--auto-approve", "--name", "work")
        self.addCleanup(lambda: self.radlc("destroy", "empty.radl", "--name", "work", "--auto-approve"))
        for end in (signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen([RADLC, "profile", "work.radl", "--name", "work", "--on", "box[0]", "--seconds", "200"], cwd=self.at, env=self.environment,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(sleepers, "the program has not begun")
            process.send_signal(end)
            self.assertNotEqual(process.wait(60), 0)
            until(lambda: not sleepers(), f"the program goes on after signal {end}")
        self.assertNotIn("programs", json.loads(self.radlc("calibration", "export")))

    def test_what_a_killed_probe_of_this_computer_has_left_goes_with_the_next(self):
        self.program("sleep 300.4159")
        process = subprocess.Popen([RADLC, "profile", "work.radl", "--auto-approve"], cwd=self.at, env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        until(sleepers, "the program has not begun")
        process.kill()
        process.wait(60)
        until(lambda: not sleepers(), "the program goes on")
        self.assertIn("work-probe", self.radlc("list"))
        self.assertIn("longer than", self.profile("--seconds", "1"))
        self.assertNotIn("work-probe", self.radlc("list"))

    def test_sizes_come_from_measured_sizes_and_others_are_outside(self):
        self.program("sleep 1")
        # 20 s of its own, and 160 s that nodes share.
        self.know_programs(("ec2 c5.large", 2, 1, 180), ("ec2 c5.large", 2, 2, 100), ("ec2 c5.large", 2, 8, 40))
        self.program("sleep 1", "ec2")
        ask = ("recommend", "work.radl", "--types", "c5.large", "--json")
        answer = json.loads(self.radlc(*ask))
        self.assertEqual([c["name"] for c in answer["candidates"]], ["c5.large", "2xc5.large", "8xc5.large"], "what was measured")
        self.assertEqual((answer["chosen"], answer["outside"]), ("8xc5.large", ""))
        self.assertEqual(answer["defaults"]["per_hour"]["currency"], "USD")
        answer = json.loads(self.radlc(*ask, "--workers", "4,16"))
        four, sixteen = answer["candidates"]
        self.assertEqual(four["outside"], "")
        self.assertTrue(four["seconds"]["low"] < 60 + 60 < four["seconds"]["high"] + 120, four)
        self.assertIn("never measured", sixteen["outside"])
        self.assertEqual(json.loads(self.radlc(*ask, "--objective", "cost"))["chosen"], "c5.large")
        text = self.radlc("recommend", "work.radl", "--types", "c5.large", "--workers", "16", "--explain", "16xc5.large")
        self.assertRegex(text, r"run .*scaled: runs on 1, 2, 8 nodes")
        self.assertRegex(text, r"outside +16 nodes were never measured")
        self.fails(1, "unknown candidate", "recommend", "work.radl", "--explain", "3xmoon")
        self.fails(3, "smallest budget", "recommend", "work.radl", "--types", "c5.large", "--budget", "0.01/h")
        self.fails(1, "--exchange applies only to trainings", "recommend", "work.radl", "--exchange", "ring")
        self.radlc("recommend", "work.radl", "--types", "c5.large", "--write", "choice.json")
        written = json.loads((self.at / "choice.json").read_text())
        self.assertEqual((written["workers"], written["worker_type"]), (8, "c5.large"))
        planned = self.forecast("--input-file", "choice.json")
        self.assertEqual(planned["phases"]["run"]["seconds"], 40)
        self.program("sleep 1", "ec2", count="1", kind="'c5.large'")  # the inputs do nothing: they are gone
        (self.at / "work.radl").write_text((self.at / "work.radl").read_text().replace("input workers (type = integer, default = 1)\n", ""))
        self.fails(1, "no input workers", "recommend", "work.radl", "--types", "c5.large", "--write", "other.json")


if __name__ == "__main__":
    unittest.main()
