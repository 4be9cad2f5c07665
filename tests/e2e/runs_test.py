"""Runs: one that goes on is followed from another terminal, an earlier one is read again, and nobody who listens holds one up."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from radl_case import RADLC, RadlCase, found

SITE = """radl 2
system web (cpu.count >= 1, memory.size >= 64M)
configure tools (command 'COMMAND' ())
deploy web 1
contextualize (system web configure tools step 1)
"""
WAITS = "echo it begins; until [ -e release ]; do sleep 0.05; done"


class Runs(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment.update(HOME=str(self.folder / "home"), RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        (self.folder / "home").mkdir()

    def site(self, command):
        return self.write("site.radl", SITE.replace("COMMAND", command))

    def release(self):
        (found(self.folder / ".radl", "home")[0] / "release").write_text("")

    def runs(self):
        return json.loads(self.radlc("runs", "--json", "site.radl"))

    def begun(self, *arguments):
        """An apply whose step waits for release()."""
        process = self.start("apply", "--auto-approve", "site.radl", *arguments)
        self.addCleanup(lambda: (process.poll() is None and os.killpg(process.pid, signal.SIGKILL), process.communicate()))
        self.wait_until(lambda: (self.folder / ".radl").exists() and
                        any("it begins" in path.read_text() for path in self.found("runs/*.jsonl")))
        return process

    def test_a_run_is_followed_from_another_terminal_and_read_again(self):
        self.site(WAITS)
        apply = self.begun()
        (run,) = self.runs()
        self.assertEqual((run["command"], run["state"]), ("apply", "running"))
        self.assertRegex(self.radlc("show", "site.radl"), r"apply by .*; apply: \d of \d actions are over")
        for plan in (["plan"], ["plan", "--destroy"]):
            with self.subTest(plan=plan):
                self.assertRegex(self.radlc(*plan, "site.radl"), rf"note: apply by .*, process {apply.pid}, .* is running")
                self.assertNotIn("interrupted", self.radlc(*plan, "site.radl") + self.err)
        (row,) = json.loads(self.radlc("list", "--json"))
        self.assertEqual((row["interrupted"], f"process {apply.pid}" in row["at_work"]), (False, True))
        follow = self.start("runs", "--follow", "site.radl")
        whole = self.start("runs", "--follow", "--json", "site.radl", run["run"][-6:])
        self.release()
        self.assertEqual(apply.wait(60), 0)
        out, err = follow.communicate(timeout=20)
        self.assertEqual(follow.returncode, 0, err)
        self.assertIn("web[0]: create ...", out)
        self.assertRegex(out, r"done in .*: \d done, 0 failed, 0 skipped\n$")
        events = [json.loads(line) for line in whole.communicate(timeout=20)[0].splitlines()]
        self.assertEqual([event["sequence"] for event in events], list(range(1, len(events) + 1)))
        self.assertEqual({event["run"] for event in events}, {run["run"]})
        self.assertEqual((events[0]["event"], events[-1]["event"]), ("run_started", "run_finished"))
        self.assertEqual(self.runs()[0]["state"], "done")
        rest = self.radlc("runs", "--json", "--from", str(len(events) - 1), "site.radl")
        self.assertEqual([json.loads(line) for line in rest.splitlines()], events[-2:])
        self.radlc("destroy", "--auto-approve", "site.radl")

    def test_a_killed_run_differs_from_an_active_one(self):
        self.site(WAITS)
        apply = self.begun()
        os.killpg(apply.pid, signal.SIGKILL)
        apply.wait()
        (run,) = self.runs()
        self.assertEqual(run["state"], "interrupted")
        self.assertIn("note: an earlier run was interrupted", self.radlc("plan", "site.radl"))
        self.assertRegex(self.radlc("show", "site.radl"), "an interrupted run left 1 things open")
        self.assertNotIn("holds the lock", self.radlc("show", "site.radl"))
        (row,) = json.loads(self.radlc("list", "--json"))
        self.assertEqual((row["interrupted"], "at_work" in row), (True, False))
        self.radlc("runs", "--follow", "site.radl", code=2)
        self.assertIn("was interrupted", self.err)
        self.release()
        self.radlc("apply", "--auto-approve", "site.radl")
        self.assertEqual([each["state"] for each in self.runs()], ["interrupted", "done"])
        (recovered,) = [json.loads(line) for line in self.radlc("runs", "--json", "--from", "1", "-f", "site.radl").splitlines()
                        if '"recovered"' in line]
        self.assertEqual(recovered["run"], self.runs()[1]["run"])
        self.radlc("destroy", "--auto-approve", "site.radl")

    def test_a_reader_that_reads_nothing_holds_up_no_run(self):
        self.site("i=0; while [ $i -lt 20000 ]; do echo line $i of many, to fill a pipe; i=$((i+1)); done; touch ready")
        process = self.start("apply", "--auto-approve", "--json", "site.radl")  # nobody reads its output
        try:
            self.wait_until(lambda: self.show_if_there() == "done", 60, "the run waits for its reader")
            self.radlc("plan", "--detailed-exitcode", "site.radl")
            out, err = process.communicate(timeout=60)
        finally:
            process.poll() is None and os.killpg(process.pid, signal.SIGKILL)
        self.assertEqual(process.returncode, 0, err)
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(events[-1]["event"], "run_finished")
        missed = sum(event["data"]["to"] - event["data"]["from"] + 1 for event in events if event["event"] == "events_lost")
        self.assertGreater(missed, 0)
        self.assertEqual(missed + sum(event["event"] != "events_lost" for event in events), events[-1]["sequence"])
        kept = self.radlc("runs", "--json", "--from", "1", "-f", "site.radl").splitlines()
        self.assertEqual(len(kept), events[-1]["sequence"], "what it missed can be read")
        self.radlc("destroy", "--auto-approve", "site.radl")

    def show_if_there(self):
        try:
            return next((step["status"] for step in self.show("site.radl")["steps"]), "")
        except AssertionError:
            return ""  # there is no state yet

    def test_logs_show_the_run_and_ctrl_c_is_an_event(self):
        self.write("site.radl", SITE.replace("COMMAND", WAITS)
                   .replace("deploy", "configure later (command 'true' ())\ndeploy")
                   .replace("step 1", "step 1 system web configure later step 2"))
        apply = self.begun()
        with open(self.folder / "seen", "wb") as seen:
            follow = subprocess.Popen([str(RADLC), "logs", "-f", "site.radl"], cwd=self.folder, env=self.environment, stdout=seen,
                                      stderr=subprocess.STDOUT)
        text = lambda: (self.folder / "seen").read_text()
        try:
            self.wait_until(lambda: "run | web[0]: create ..." in text(), message=text)
            apply.send_signal(signal.SIGINT)
            self.wait_until(lambda: "run | stopping after the current actions" in text(), message=text)
            self.release()
            self.assertEqual(apply.wait(60), 130)
            self.wait_until(lambda: "run | failed in" in text(), message=text)
        finally:
            follow.send_signal(signal.SIGINT)
            follow.wait(20)
        self.assertEqual(self.runs()[0]["code"], "cancelled")
        self.radlc("runs", "-f", "site.radl", code=130)
        self.radlc("destroy", "--auto-approve", "site.radl")

    def test_a_colleague_with_the_state_and_the_key_logs_in(self):
        self.site("true")
        self.radlc("apply", "--auto-approve", "site.radl")
        theirs, home = self.folder / "theirs", self.folder / "their-home"
        shutil.copytree(self.folder / ".radl", theirs)
        (key,) = theirs.rglob("work/id_ed25519")
        (home / ".ssh").mkdir(parents=True)
        moved = home / ".ssh" / "project-key"
        shutil.move(key, moved)
        key.with_name("id_ed25519.pub").unlink()
        mine = dict(self.environment)
        self.environment.update(HOME=str(home))
        try:
            self.assertEqual(self.radlc("exec", "--state", str(theirs), "web[0]", "--", "echo in"), "in\n")
            # And with an agent alone.
            started = subprocess.run(["ssh-agent", "-a", str(home / "agent")], env=self.environment, capture_output=True, text=True, check=True)
            pid = int(started.stdout.split("SSH_AGENT_PID=")[1].split(";")[0])
            try:
                self.environment["SSH_AUTH_SOCK"] = str(home / "agent")
                subprocess.run(["ssh-add", "-q", str(moved)], env=self.environment, check=True)
                moved.unlink()
                self.assertEqual(self.radlc("exec", "--state", str(theirs), "web[0]", "--", "echo in"), "in\n")
            finally:
                os.kill(pid, signal.SIGTERM)
        finally:
            self.environment = mine
        self.radlc("destroy", "--auto-approve", "site.radl")


if __name__ == "__main__":
    unittest.main()
