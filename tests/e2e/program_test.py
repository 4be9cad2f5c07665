"""Programs of the user's own through the whole spine: results, packages, a killed radlc, cancelling, losses."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest
import zipfile

from radl_case import RadlCase, replaced

FILE = """radl 2
input token ( type = string, sensitive = yes, default = 'none-yet' )
input nodes ( type = integer, default = 2 )
system worker ( cpu.count >= 1 )
deploy worker input.nodes
configure work (
  program 'work' (
    systems = system.worker
    source = './work'
    main = 'work.py'
    arguments = ['--rank', '$RADL_MEMBER']
    environment = { TOKEN = input.token }
    PROPERTIES
  )
)
output metrics ( value = work.metrics )
output results ( value = work.results_path )
"""

WORK = """import json, os, sys, time, pathlib
print("member", sys.argv[2], "of", os.environ["RADL_MEMBERS"], "token", os.environ["TOKEN"])
pathlib.Path(os.environ["RADL_RESULTS"], "out.txt").write_text("made by " + sys.argv[2])
print(json.dumps({"loss": 0.5}))
"""

# Nodes may have files of their own alone: what the test and the program say to each other is in the nodes' folders.
WAITS = """import os, pathlib, signal, sys, time
here = pathlib.Path(os.environ["RADL_CHECKPOINTS"])
signal.signal(signal.SIGTERM, lambda *_: ((here / "asked").touch(), sys.exit(3)))
with open(here / "starts", "a") as starts:
    starts.write("start\\n")
while not (here / "gate").exists():
    time.sleep(0.05)
"""

# How many processes of the program 'work' there are when this one runs.
COUNTS = """import glob
def environment(path):
    try:
        return open(path, "rb").read()
    except OSError:
        return b""
print("seen", sum(b"RADL_JOB=work" in environment(path) for path in glob.glob("/proc/[0-9]*/environ")))
"""

SERVICE = """configure waits (
  file '/etc/init.d/waiter' ( mode = '0755', content = <<'END'
    #!/bin/sh
    pid=/run/waiter.pid
    case $1 in
      start) start-stop-daemon --start --oknodo --background --make-pidfile --pidfile $pid --startas /bin/sleep -- 3600 ;;
      stop) start-stop-daemon --stop --oknodo --remove-pidfile --pidfile $pid ;;
      status) start-stop-daemon --status --pidfile $pid ;;
    esac
    END
  )
  service 'waiter' ( state = 'running' )
)
contextualize ( system worker configure waits )
"""


class Programs(RadlCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("work.radl", FILE.replace("PROPERTIES", ""))
        self.write("work/work.py", WORK)

    def with_properties(self, text):
        self.file.write_text(FILE.replace("PROPERTIES", text))

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def folders(self):
        """The checkpoint folders of the members, as this computer sees them."""
        return self.found("home/.radl/jobs/*/checkpoints")

    def starts(self):
        return [(f / "starts").read_text().count("start") if (f / "starts").exists() else 0 for f in self.folders()]

    def members(self):
        """Process ids of the members, by their numbers."""
        found = {}
        for pid in self.processes():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"work.py" in line and b"--rank" in line:
                found[int(line[line.index(b"--rank") + 1])] = pid
        return found

    def open_gate(self):
        for folder in self.folders():
            (folder / "gate").touch()

    def wait_for_starts(self, times=1):
        self.wait_until(lambda: len(self.starts()) == 2 and min(self.starts()) >= times, message="its members do not start")

    def test_results_and_numbers_come_back_and_again_changes_nothing(self):
        plan = self.radlc("plan", self.file)
        self.assertIn("work.py of work on 2 nodes", plan)
        printed = self.apply()  # not on a terminal: what the program says is to be seen all the same
        for member in (0, 1):
            self.assertRegex(printed, rf"worker\[{member}\] \| member {member} of 2 token")
        outputs = json.loads(self.radlc("output", "--file", self.file, "--json"))
        self.assertEqual(outputs["metrics"]["value"], {"loss": 0.5})
        results = pathlib.Path(outputs["results"]["value"])
        self.assertEqual((results / "out.txt").read_text(), "made by 0")
        self.assertIn("member 1 of 2", (results / "logs" / "worker[1].log").read_text())
        self.assertIn("member 1 of 2", self.radlc("logs", self.file))
        self.assertIn("member 1 of 2", self.radlc("logs", self.file, "worker[1]"), "its node takes part in it, and has no step of its own")
        self.radlc("logs", self.file, "nobody", code=1)
        self.assertIn("no logs of 'nobody'", self.err)
        self.assertEqual(self.actions(self.file), {})
        self.write("work/work.py", WORK.replace("0.5", "0.25"))
        changed = self.plan(self.file)["actions"]
        self.assertEqual([(a["id"], a["why"]) for a in changed], [("program/work", "source changed")])
        sent = {change["field"]: change["after"] for change in changed[0]["changes"]}["source files"]
        self.assertRegex(sent, r"^work.py changed; \d+ bytes sent to each node$")
        shutil.rmtree(results)
        self.apply()
        self.assertEqual(json.loads((results / "report.json").read_text())["metrics"], {"loss": 0.25})
        self.destroy()

    def test_a_sensitive_variable_is_in_no_file_of_radlc(self):
        secret = "s3cr3t-6f1d"
        out = self.apply("--input", f"token={secret}", "--log-json", "events.jsonl")
        self.assertIn("member 1", (self.folder / "work-results" / "logs" / "worker[1].log").read_text())
        self.assertNotIn(secret, out + self.err + self.radlc("plan", self.file, "--input", f"token={secret}"))
        holders = []
        for path in self.folder.rglob("*"):
            if not path.is_file() or path.is_symlink():
                continue
            if "nodes" in path.relative_to(self.folder).parts and path.name.startswith("member-"):
                continue  # the program printed it itself: its own output, on its own node
            if secret.encode() in path.read_bytes():
                holders.append(str(path.relative_to(self.folder)))
        self.assertEqual(holders, [])
        self.assertEqual(self.actions(self.file, "--input", f"token={secret}"), {})
        planned = self.plan(self.file, "--input", "token=another")["actions"]
        self.assertEqual([a["why"] for a in planned], ["the secret input.token changed"])
        self.destroy()

    def test_after_a_kill_of_radlc_the_program_continues_and_is_joined(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.assertRegex(self.radlc("show", self.file), r"program/work +program +interrupted")
        queue = json.loads(self.radlc("queue", self.file, "--json"))
        self.assertEqual([(job["id"], job["state"]) for job in queue], [("program/work", "running")])
        self.assertEqual([m["state"] for m in queue[0]["members"]], ["running", "running"])
        self.open_gate()
        self.apply()
        self.assertEqual(self.starts(), [1, 1], "it was started again")
        self.assertIn("done", self.radlc("queue", self.file))
        self.destroy()

    def kill_radlc_in(self, process):
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()

    def running(self):
        """Members of the test's programs that run now."""
        found = 0
        for pid in self.processes():
            try:
                found += b"work.py" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
        return found

    def queue(self):
        return [(job["id"], job["state"], job.get("earlier", False)) for job in json.loads(self.radlc("queue", self.file, "--json"))]

    def test_after_a_kill_and_an_edit_the_old_program_is_known_and_ended_before_the_new_one_starts(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        old = self.folders()
        self.kill_radlc_in(process)
        # The new one says whether an old one was still there when it began.
        self.write("work/work.py", WAITS.replace("while not", 'print("another program")\nwhile not'))
        planned = self.plan(self.file)["actions"]
        self.assertEqual([(a["id"], a["ends"], a["joins"]) for a in planned], [("program/work", ["worker[0]", "worker[1]"], [])])
        self.assertIn("an earlier version may still run on worker[0], worker[1] and is ended first", planned[0]["why"])
        seen = self.plan(self.file, "--refresh")["actions"]
        self.assertIn("an earlier version still runs on worker[0], worker[1]", seen[0]["why"])
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_until(lambda: len(self.folders()) == 4 and sum(self.starts()) == 4, message="the new one does not start")
        self.assertEqual([(f / "asked").exists() for f in old], [True, True], "it was killed without being asked")
        self.assertEqual(self.running(), 2)
        self.kill_radlc_in(process)
        self.assertEqual(self.queue(), [("program/work", "running", False)])
        # A third version ends at once: of the folders on the nodes the last two stay.
        self.write("work/work.py", WORK)
        self.apply()
        self.assertEqual(self.running(), 0)
        self.assertEqual([f for f in old if f.exists()], [])
        self.assertEqual(len(self.folders()), 4)
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_an_apply_that_fails_before_its_program_starts_forgets_nothing_that_runs(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.kill_radlc_in(process)
        # What the file asks for cannot be met: the same program goes on, and the state still knows it.
        self.with_properties("cpu = 60000")
        self.apply(code=2)
        self.assertEqual(self.running(), 2)
        self.assertEqual(self.plan(self.file)["actions"][0]["ends"], ["worker[0]", "worker[1]"])
        # Another program has ended it before it fails as well.
        self.write("work/work.py", WORK)
        self.apply(code=2)
        self.assertEqual(self.running(), 0)
        self.assertEqual(self.plan(self.file)["actions"][0]["ends"], [])
        self.destroy()

    def supervised(self):
        state = self.show(self.file)
        return "program/work" in state.get("supervised", {}) and "at_work" not in state

    def status(self):
        return {step["id"]: step["status"] for step in self.show(self.file)["steps"]}["program/work"]

    def test_detached_it_runs_on_and_wait_brings_its_results(self):
        self.write("work/work.py", WAITS)
        self.apply("--detach")
        self.assertIn("radlc wait", self.err)
        self.wait_for_starts()
        self.assertEqual((self.status(), self.running(), self.queue()), ("detached", 2, [("program/work", "running", False)]))
        for _ in range(2):
            wait = self.start("wait", str(self.file), "work")
            self.wait_until(self.supervised, message="nobody supervises it")
            self.kill_radlc_in(wait)
            self.assertEqual(self.running(), 2)
        wait = self.start("wait", str(self.file), "work")
        self.wait_until(self.supervised, message="nobody supervises it")
        other = self.start("wait", str(self.file), "work")
        self.open_gate()
        for process in (wait, other):
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual((self.starts(), self.status()), ([1, 1], "done"))
        self.assertTrue(pathlib.Path(json.loads(self.radlc("output", "--file", self.file, "--json"))["results"]["value"]).is_dir())
        self.radlc("wait", self.file, "work")
        self.radlc("wait", self.file, "other", code=1)
        self.destroy()

    def test_wait_ends_as_the_job_does_and_starts_nothing_else(self):
        self.write("work/work.py", WAITS)
        self.apply("--detach")
        self.wait_for_starts()
        self.with_properties("retries = 1")
        self.radlc("wait", self.file, "work", code=2)
        self.assertEqual((self.starts(), self.running()), ([1, 1], 2), "the file has changed: that is for apply")
        self.with_properties("")
        wait = self.start("wait", str(self.file), "work")
        self.wait_until(self.supervised, message="nobody supervises it")
        self.radlc("cancel", self.file, "work")
        self.assertEqual(wait.wait(120), 2)
        wait.communicate()
        self.destroy()

    def test_wait_returns_the_exit_status_of_the_program(self):
        self.write("work/work.py", WAITS + "import sys\nsys.exit(7)\n")
        self.apply("--detach")
        self.wait_for_starts()
        supervisor = self.start("wait", str(self.file), "work")
        self.wait_until(self.supervised, message="nobody supervises it")
        follower = self.start("wait", str(self.file), "work")
        self.wait_until(lambda: self.open_gate() or supervisor.poll() is not None, message="it does not end")
        self.assertEqual([process.wait(120) for process in (supervisor, follower)], [7, 7])
        for process in (supervisor, follower):
            process.communicate()
        self.radlc("wait", self.file, "work", code=7)
        self.destroy()

    def test_a_terminal_that_is_closed_ends_no_program(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.wait_until(self.supervised, message="the lock is not given back")
        os.kill(process.pid, signal.SIGHUP)
        self.assertEqual((process.wait(60), self.running(), self.status()), (0, 2, "detached"))
        process.communicate()
        self.open_gate()
        self.apply()
        self.assertEqual(self.starts(), [1, 1])
        self.destroy()

    def test_destroy_asks_before_it_ends_a_program_and_takes_it_from_its_supervisor(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.wait_until(self.supervised, message="the lock is not given back")
        self.radlc("destroy", self.file, code=1)
        self.assertRegex(self.err, r"^error: .*program/work.*\n.*--auto-approve")
        self.assertEqual(self.running(), 2)
        self.destroy()
        self.assertEqual(process.wait(60), 2)
        process.communicate()

    def test_a_program_that_is_no_longer_in_the_file_is_ended(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.kill_radlc_in(process)
        self.radlc("state", "rm", "program/work", "--file", self.file, code=2)
        self.assertIn("may still run on worker[0], worker[1]", self.err)
        text = self.file.read_text()
        self.file.write_text(text[:text.index("configure work")])
        planned = self.plan(self.file)["actions"]
        self.assertEqual([(a["id"], a["verb"], a["ends"]) for a in planned], [("program/work", "forget", ["worker[0]", "worker[1]"])])
        self.apply()
        self.assertEqual(self.running(), 0)
        self.assertEqual(self.found("home/.radl/jobs/*"), [])
        self.destroy()

    def test_a_program_under_another_name_starts_when_the_old_one_has_ended(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.kill_radlc_in(process)
        self.write("work/work.py", COUNTS)
        self.file.write_text(self.file.read_text().replace("configure work", "configure other").replace("program 'work'", "program 'other'")
                             .replace("work.metrics", "other.metrics").replace("work.results_path", "other.results_path"))
        planned = {a["id"]: a for a in self.plan(self.file)["actions"]}
        self.assertIn("program/work", planned["program/other"]["needs"])
        self.apply()
        self.assertIn("seen 0", (self.folder / "other-results/logs/worker[0].log").read_text())
        self.assertEqual(self.running(), 0)
        self.destroy()

    def test_cancel_ends_programs_of_a_killed_radlc(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.kill_radlc_in(process)
        self.write("work/work.py", WORK)
        self.assertIn("cancelled on 2 nodes", self.radlc("cancel", self.file, "work"))
        self.assertEqual(self.running(), 0)
        self.assertEqual(self.plan(self.file)["actions"][0]["ends"], [], "the state knows that it has ended")
        self.destroy()

    def test_cancelled_it_is_asked_to_end_and_is_not_started_again(self):
        self.with_properties("retries = 3")
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        self.assertIn("cancelled on 2 nodes", self.radlc("cancel", self.file, "work"))
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("was cancelled by `radlc cancel`", err)
        self.assertEqual([(f / "asked").exists() for f in self.folders()], [True, True])
        self.assertEqual(self.starts(), [1, 1])
        self.assertIn("does not run", self.radlc("cancel", self.file, "work", code=1) + self.err)
        why = self.plan(self.file)["actions"][0]["why"]
        self.assertEqual(why, "it failed last time; its checkpoints are kept")
        self.destroy()

    def test_a_killed_member_starts_all_again(self):
        self.with_properties("retries = 1")
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        os.kill(self.members()[1], signal.SIGKILL)
        self.wait_for_starts(2)
        self.open_gate()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(json.loads((self.folder / "work-results" / "report.json").read_text())["attempts"], 2)
        self.destroy()

    def test_each_attempt_is_announced_and_its_log_is_kept(self):
        self.with_properties("retries = 1")
        self.write("work/work.py", "import os, sys\nprint('attempt', os.environ['RADL_ATTEMPT'])\nsys.exit(os.environ['RADL_ATTEMPT'] == '1')\n")
        printed = self.apply("--input", "nodes=1") + self.err
        self.assertIn("attempt 1 of 2 failed", printed)
        logs = self.folder / "work-results" / "logs"
        self.assertEqual((logs / "worker[0].attempt-1.log").read_text(), "attempt 1\n")
        self.assertEqual((logs / "worker[0].log").read_text(), "attempt 2\n")
        self.destroy()

    def test_a_stopped_member_is_reported(self):
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file))
        self.wait_for_starts()
        stopped = self.members()
        os.kill(stopped[0], signal.SIGSTOP)

        def states():
            (job,) = json.loads(self.radlc("queue", "--json", self.file))
            return sorted(member["state"] for member in job["members"])
        self.wait_until(lambda: states() == ["running", "stopped"])
        os.kill(stopped[0], signal.SIGCONT)
        self.wait_until(lambda: states() == ["running", "running"])
        self.open_gate()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.destroy()

    def test_a_long_log_is_brought_whole_and_shown_in_part(self):
        self.write("work/work.py", "for i in range(400_000):\n    print('line', i, 'x' * 40)\nprint('loss=0.25')\n")
        printed = self.apply("--input", "nodes=1")
        log = (self.folder / "work-results" / "logs" / "worker[0].log").read_text().splitlines()
        self.assertEqual(len(log), 400_001)
        self.assertEqual(log[399_999], "line 399999 " + "x" * 40)
        self.assertIn("lines are not shown here", printed)
        self.assertIn("loss=0.25", printed, "the last lines are shown in any case")
        kept = [p for p in (self.folder / ".radl").rglob("*") if p.is_file() and "home" not in p.parts]
        self.assertLess(sum(p.stat().st_size for p in kept), len("\n".join(log)))
        self.assertEqual(json.loads(self.radlc("output", "--file", self.file, "--json"))["metrics"]["value"], {"loss": 0.25})
        self.destroy()

    def test_programs_made_by_each_all_run_and_their_metrics_are_collected(self):
        self.file.write_text("""radl 2
system worker ( cpu.count >= 1 )
deploy worker 1
configure sweep (
  each rate in [1, 2] ( program 'try-${rate}' ( systems = system.worker, main = 'sh', arguments = ['-c', 'echo rate=${rate}'] ) )
)
output metrics ( value = sweep.metrics )
output second ( value = sweep['try-2'].metrics )
""")
        self.apply()
        outputs = json.loads(self.radlc("output", "--file", self.file, "--json"))
        self.assertEqual(outputs["metrics"]["value"], {"try-1": {"rate": 1}, "try-2": {"rate": 2}})
        self.assertEqual(outputs["second"]["value"], {"rate": 2})
        self.assertEqual(self.actions(self.file), {})
        self.file.write_text(replaced(self.file.read_text(), ("[1, 2]", "[1]"), ("output second ( value = sweep['try-2'].metrics )", "")))
        self.assertEqual(self.actions(self.file), {"program/try-2": "forget"})
        self.destroy()

    def test_the_result_of_one_program_is_the_input_of_another(self):
        self.file.write_text("""radl 2
input word ( type = string, default = 'one' )
input shout ( type = string, default = 'no' )
system worker ( cpu.count >= 1 )
deploy worker 2
configure train (
  program 'train' (
    systems = system.worker, main = 'sh', inputs = { words = prepare.files }
    arguments = ['-c', 'cat $RADL_INPUTS/words/deep/words; ls $RADL_INPUTS/words > $RADL_RESULTS/list']
  )
)
configure prepare (
  program 'prepare' (
    systems = system.worker, main = 'sh', environment = { SHOUT = input.shout }
    arguments = ['-c', 'mkdir $RADL_RESULTS/deep && echo "$0" > $RADL_RESULTS/deep/words', input.word]
  )
)
""")
        made, seen = self.folder / "prepare-results" / "deep" / "words", self.folder / "train-results" / "logs" / "worker[1].log"
        self.assertIn("with the files of program/prepare as words", self.radlc("plan", self.file))
        self.apply()
        self.assertEqual(seen.read_text(), "one\n")
        self.assertEqual((self.folder / "train-results" / "list").read_text(), "deep\n", "neither radlc's logs nor its report")
        self.assertEqual(self.actions(self.file), {})
        self.assertEqual(self.actions(self.file, "--input", "word=two"), {"program/prepare": "run", "program/train": "run"})
        self.apply("--input", "word=two")
        self.assertEqual(seen.read_text(), "two\n")
        # What was changed by hand is not passed on: the nodes have the right content, or it fails.
        made.write_text("by hand")
        (self.folder / "train-results" / "report.json").unlink()
        self.apply("--input", "word=two")
        self.assertEqual(seen.read_text(), "two\n")
        for trees in self.found("home/.radl/trees"):
            shutil.rmtree(trees)
        (self.folder / "train-results" / "report.json").unlink()
        self.apply("--input", "word=two", code=2)
        self.assertIn("its files have changed since they were made", self.err)
        (self.folder / "prepare-results" / "report.json").unlink()
        self.apply("--input", "word=two")
        self.assertEqual(made.read_text(), "two\n")
        self.destroy()

    def test_resume_arguments_are_given_once_there_are_checkpoints(self):
        self.with_properties("retries = 1, resume_arguments = ['--resume', 'now']")
        self.write("work/work.py", "import os, pathlib, sys\nprint(sys.argv[1:])\n"
                   "here = pathlib.Path(os.environ['RADL_CHECKPOINTS'], 'last')\nagain = here.exists()\nhere.touch()\nsys.exit(not again)\n")
        self.apply("--input", "nodes=1")
        logs = self.folder / "work-results" / "logs"
        self.assertEqual((logs / "worker[0].attempt-1.log").read_text(), "['--rank', '0']\n")
        self.assertEqual((logs / "worker[0].log").read_text(), "['--rank', '0', '--resume', 'now']\n")
        self.edit(self.file, ("'now'", "'later'"))
        self.assertEqual(self.actions(self.file, "--input", "nodes=1"), {}, "they are no part of what the program is")
        self.destroy()

    def test_the_plan_notes_that_other_arguments_discard_the_checkpoints(self):
        self.write("work/work.py", "import sys\nsys.exit(1)\n")
        self.apply("--input", "nodes=1", code=2)
        self.edit(self.file, ("'$RADL_MEMBER']", "'$RADL_MEMBER', '--resume']"))
        plan = self.plan(self.file, "--input", "nodes=1")
        (why,) = [action["why"] for action in plan["actions"] if action["id"] == "program/work"]
        self.assertIn("it starts over: arguments changed", why)
        self.assertIn("`resume_arguments`", " ".join(plan["notes"]))
        self.destroy()

    def wheel(self):
        """A wheel made here, and a lock file that pins it by its hash."""
        (self.folder / "wheels").mkdir()
        path = self.folder / "wheels" / "greetings-1.0-py3-none-any.whl"
        files = {"greetings.py": "TEXT = 'hello from a wheel'\n",
                 "greetings-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n",
                 "greetings-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
        record = ""
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
                digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
                record += f"{name},sha256={digest},{len(text)}\n"
            archive.writestr("greetings-1.0.dist-info/RECORD", record + "greetings-1.0.dist-info/RECORD,,\n")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def test_packages_are_installed_once_from_a_wheelhouse_by_their_hashes(self):
        have = [subprocess.run(["python3", "-m", module, "--help"], capture_output=True).returncode for module in ("pip", "venv")]
        if all(have):
            self.skipTest("python3 has neither pip nor venv here")
        digest = self.wheel()
        self.write("requirements.lock", f"greetings==1.0 \\\n    --hash=sha256:{digest}\n")
        self.write("work/work.py", "import greetings\nprint(greetings.TEXT)\n")
        self.with_properties("requirements = './requirements.lock', wheelhouse = './wheels'")
        self.apply("--log-json", "events.jsonl")
        for node in ("worker[0]", "worker[1]"):
            self.assertIn("hello from a wheel", (self.folder / "work-results" / "logs" / f"{node}.log").read_text())
        tasks = [e["data"]["name"] for e in self.events(self.folder / "events.jsonl") if e["event"] == "task"]
        self.assertEqual(len([t for t in tasks if t.startswith("installing Python packages")]), 1, tasks)
        self.assertEqual(tasks.count("Python packages"), 2)
        self.write("requirements.lock", f"greetings==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
        self.apply(code=2)
        self.assertIn("pip could not install the requirements", self.err)
        self.destroy()

    def test_its_files_come_from_git_from_an_archive_and_from_a_wheel(self):
        repository = self.folder / "repository"
        repository.mkdir()
        (repository / "work.py").write_text('print("from git")\n')

        def git(*words):
            return subprocess.run(["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@t", *words],
                                  check=True, capture_output=True, text=True).stdout.strip()
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "one")
        commit = git("rev-parse", "HEAD")
        (repository / "work.py").write_text('print("from a later commit")\n')
        git("commit", "-qam", "two")
        base = FILE.replace("PROPERTIES", "")
        self.write("work.radl", replaced(base, ("'./work'", f"'git::file://{repository}@{commit}'")))
        self.assertIn(f"at {commit[:12]} on 2 nodes", self.radlc("plan", self.file))
        self.apply()
        self.assertIn("from git\n", self.log())
        subprocess.run(["tar", "-C", str(self.folder / "work"), "-czf", str(self.folder / "work.tar.gz"), "."], check=True)
        self.write("work.radl", replaced(base, ("'./work'", "'./work.tar.gz'")))
        self.apply()
        self.assertIn("member 0 of 2", self.log())
        with zipfile.ZipFile(self.folder / "work.zip", "w") as archive:
            for name, mode, text in (("run.sh", 0o100755, "#!/bin/sh\ncat link\n"), ("link", 0o120777, "text"), ("text", 0o100644, "through a link")):
                member = zipfile.ZipInfo(name)
                member.external_attr = mode << 16
                archive.writestr(member, text)
        self.write("work.radl", replaced(base, ("'./work'", "'./work.zip'"), ("'work.py'", "'./run.sh'")))
        self.apply()
        self.assertIn("through a link", self.log())
        self.write("work.radl", replaced(base, ("'./work'", "'./work.zip'"), ("'work.py'", "'run.sh'")))
        self.apply(code=2)
        self.assertIn("a file of the source is called './run.sh'", self.err)
        self.wheel()
        self.write("work.radl", replaced(base, ("'./work'", "'./wheels/greetings-1.0-py3-none-any.whl'"),
                                         ("'work.py'", "'-m greetings'")))
        self.apply()
        self.assertEqual(json.loads((self.folder / "work-results/report.json").read_text())["exit_status"], 0)
        self.destroy()

    def log(self):
        return (self.folder / "work-results/logs/worker[0].log").read_text()

    def test_the_queue_shows_usage_and_last_line_of_members(self):
        self.write("work/work.py", WAITS.replace("while not", 'print("waits for the gate", os.environ["TOKEN"], flush=True)\nwhile not'))
        process = self.start("apply", "--auto-approve", str(self.file), "--input", "token=s3cr3t-9a")
        self.wait_for_starts()
        logs = self.folder / ".radl/work/logs/program.work.log"
        self.wait_until(lambda: logs.exists() and logs.read_text().count("waits for the gate") == 2)
        self.assertEqual([step["status"] for step in self.show(self.file)["steps"] if step["id"] == "program/work"], ["running"])
        self.assertRegex(self.radlc("show", self.file), r"program/work +program +running")
        members = json.loads(self.radlc("queue", self.file, "--json"))[0]["members"]
        self.assertEqual([m["line"] for m in members], ["waits for the gate (sensitive)"] * 2)
        for member in members:
            self.assertGreater(member["memory_bytes"], 1e6)
            self.assertGreaterEqual(member["processors"], 0)
        self.assertRegex(self.radlc("queue", self.file), r"worker\[1\] +member-1 +running  [0-9.]+ CPUs, [0-9.]+ MiB.*waits for the gate")
        self.open_gate()
        process.communicate(timeout=60)
        self.destroy()

    def test_results_that_cannot_be_put_away_are_refused_by_the_plan(self):
        self.write("mine/thesis.txt", "mine")
        for place, said in (("./work/work.py", "work.py' is to get the results, and is not a folder"),
                            ("./work/work.py/deep", "work.py' is not a folder"),
                            ("./mine", "holds 'thesis.txt', which no program has put there")):
            self.with_properties(f"results = '{place}'")
            for command in (("plan",), ("apply", "--auto-approve")):
                self.radlc(*command, self.file, code=1)
                self.assertIn("program/work: ", self.err)
                self.assertIn(said, self.err)
                self.assertIn("name a", self.err)
        self.assertEqual(self.found("home"), [])
        both = FILE.replace("PROPERTIES", "results = './mine'") + '''
configure again ( program 'again' ( systems = system.worker, main = 'true', results = './work/work.py' ) )
use 'std/training/all_reduce' as net ( workers = system.worker, model = 'resnet20', dataset = 'cifar10', result = './work/work.py' )
'''
        self.file.write_text(both)
        self.radlc("plan", self.file, code=1)
        for step in ("program/work: ", "program/again: ", "training/net: "):
            self.assertIn(step, self.err)
        self.file.write_text(both.replace("./work/work.py", "./out").replace("./mine", "./out"))
        self.assertIn("have one folder for their results", self.radlc("plan", self.file))

    def test_its_own_folder_as_its_source_is_the_same_after_a_run(self):
        """The state and the results lie in it, and are no part of it."""
        one = """configure NAME ( program 'NAME' ( systems = system.worker, source = '.', main = 'sh', arguments = ['run.sh', 'NAME'] ) )
"""
        self.file = self.write("own/own.radl", "radl 2\nsystem worker ( cpu.count >= 1 )\ndeploy worker 1\n"
                               + one.replace("NAME", "first") + one.replace("NAME", "second"))
        self.write("own/run.sh", "ls -A . 'odd [a]*' > $RADL_RESULTS/seen-by-$1\n")
        self.write("own/odd [a]*/.radl/state", "1")
        self.write("own/odd [a]*/kept", "1")
        self.apply()
        for name in ("first", "second"):
            self.assertEqual((self.folder / f"own/{name}-results/seen-by-{name}").read_text().split("\n"),
                             [".:", "odd [a]*", "own.radl", "run.sh", "", "odd [a]*:", "kept", ""])
        self.assertEqual(self.actions(self.file), {})
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left("own/.radl")

    def test_a_state_that_lies_elsewhere_in_its_source_is_no_part_of_it(self):
        """Whatever `--state` calls it; sockets and pipes are none either."""
        self.file = self.write("own/own.radl", "radl 2\nsystem worker ( cpu.count >= 1 )\ndeploy worker 1\n"
                               "configure p ( program 'p' ( systems = system.worker, source = '.', main = 'sh', arguments = ['run.sh'] ) )\n")
        self.write("own/run.sh", "find . -type f -o -type p -o -type s > $RADL_RESULTS/seen\n")
        os.mkfifo(self.folder / "own/pipe")
        self.write("own/package/__pycache__/module.cpython-311.pyc", "cache")
        self.write("own/.git/index", "as it is")
        place = ("--state", self.folder / "own/my states")
        self.apply(*place)
        self.assertEqual(sorted((self.folder / "own/p-results/seen").read_text().split()), ["./own.radl", "./run.sh"])
        self.write("own/__pycache__/another.cpython-311.pyc", "cache")
        self.write("own/.git/index", "as `git status` leaves it")
        self.assertEqual(self.actions(self.file, *place), {})
        self.radlc("destroy", "--auto-approve", self.file, *place)

    def test_excluded_files_are_not_sent_and_do_not_cause_a_run(self):
        self.file = self.write("own.radl", "radl 2\nsystem worker ( cpu.count >= 1 )\ndeploy worker 1\nconfigure p ( program 'p' (\n"
                               "  systems = system.worker, source = './own', main = 'sh', arguments = ['run.sh'], exclude = ['/notes.txt']\n) )\n")
        self.write("own/run.sh", "find . -mindepth 1 > $RADL_RESULTS/seen\n")
        self.write("own/.radlignore", "# big\n*.pt\n!keep.pt\n/data/\n")
        for name in ("last.pt", "deep/last.pt", "deep/keep.pt", "data/a", "deep/data/b", "notes.txt", ".git/index", "__pycache__/x.pyc"):
            self.write("own/" + name, "text")
        (self.folder / "own/empty").mkdir()
        plan = self.radlc("plan", self.file)
        self.assertIn("sends 3 files (48 bytes), leaves out 3 files and 1 folder", plan)
        self.apply()
        self.assertEqual(sorted((self.folder / "p-results/seen").read_text().split()),
                         ["./deep", "./deep/data", "./deep/data/b", "./deep/keep.pt", "./empty", "./run.sh"])
        self.write("own/last.pt", "another")
        self.write("own/data/more", "another")
        self.edit(self.folder / "own/.radlignore", ("# big\n", ""))
        self.assertEqual(self.actions(self.file), {})
        self.edit(self.folder / "own/.radlignore", ("/data/\n", ""))
        self.assertEqual([(a["id"], a["why"]) for a in self.plan(self.file)["actions"]], [("program/p", "source changed")])
        self.destroy()

    def test_a_program_that_forgets_to_save_does_not_hand_over_an_earlier_model(self):
        self.write("work/work.py", WORK.replace("out.txt", "model.pt"))
        self.apply()
        results = self.folder / "work-results"
        self.assertTrue((results / "model.pt").exists())
        self.write("work-results/thesis.txt", "mine")
        self.write("work/work.py", 'print("forgets to save")\n')
        planned = self.plan(self.file)["actions"][0]
        self.assertIn("results", [change["field"] for change in planned["changes"]])
        self.apply()
        self.assertEqual(sorted(p.name for p in results.iterdir()), [".radl-results", "logs", "report.json", "thesis.txt"])
        self.assertNotIn("model.pt", (results / ".radl-results").read_text())
        self.destroy()

    def test_the_plan_names_the_users_files_in_a_folder_of_results(self):
        self.apply()
        report = self.folder / "work-results/report.json"
        report.write_text("my own words\n")
        self.write("work-results/thesis.txt", "mine")
        self.write("work/work.py", WORK.replace("0.5", "0.25"))
        said = self.radlc("plan", self.file)
        self.assertRegex(said, r"program/work: in '.*work-results', radlc did not write the current content of 'report.json': .* 'report.json.~1~'")
        self.apply()
        self.assertEqual((report.parent / "report.json.~1~").read_text(), "my own words\n")
        self.assertEqual(json.loads(report.read_text())["metrics"], {"loss": 0.25})
        self.assertEqual((report.parent / "thesis.txt").read_text(), "mine")
        self.assertNotIn("did not write the current content", self.radlc("plan", self.file))
        self.destroy()

    @unittest.skipIf(os.geteuid() != 0, "skipped: isolated local nodes need root")
    def test_the_end_of_a_service_under_a_program_is_reported(self):
        self.environment.update(RADL_LOCAL_ISOLATION="required")
        self.file.write_text(replaced(FILE.replace("PROPERTIES", ""), ("configure work (", SERVICE + "configure work (")))
        self.write("work/work.py", WAITS)
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", "events.jsonl")
        self.wait_for_starts()
        self.radlc("exec", self.file, "worker[1]", "-c", "kill $(cat /run/waiter.pid)")

        def said(what):
            return [e.get("node") for e in self.events(self.folder / "events.jsonl")
                    if e["event"] == "task" and what in e["data"]["name"]]
        self.wait_until(lambda: said("service waiter does not run"), message="nobody says it")
        self.radlc("exec", self.file, "worker[1]", "-c", "service waiter start")
        self.wait_until(lambda: said("service waiter runs again"), message="nobody says it")
        self.assertEqual(said("service waiter"), ["worker[1]"] * 2)
        self.open_gate()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.destroy()

    def test_a_service_that_leaves_its_recipe_is_stopped(self):
        self.environment.update(RADL_LOCAL_ISOLATION="required")
        with_service = "radl 2\nsystem worker ( cpu.count >= 1 )\ndeploy worker 1\n" + SERVICE
        line = "  service 'waiter' ( state = 'running' )\n"
        begin, end = with_service.index("configure waits"), len(with_service)
        for without, field in ((replaced(with_service, (line, "")), "service 'waiter'"), (with_service[:begin] + with_service[end:], None)):
            self.file.write_text(with_service)
            self.apply()
            self.radlc("exec", self.file, "worker[0]", "--", "service waiter status")
            self.file.write_text(without)
            (action,) = self.plan(self.file)["actions"]
            if field:
                self.assertEqual({change["field"]: change["after"] for change in action["changes"]}[field], "stopped")
            else:
                self.assertIn("service 'waiter' (stopped)", action["summary"])
            self.apply()
            self.radlc("exec", self.file, "worker[0]", "--", "service waiter status", code=3)
            self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_the_state_is_no_part_of_a_folder_that_is_uploaded(self):
        self.file = self.write("own/own.radl", """radl 2
system worker ( cpu.count >= 1 )
deploy worker 1
configure files ( upload '~/own' ( source = '.' ) )
contextualize ( system worker configure files )
""")
        self.apply()
        self.assertEqual([sorted(p.name for p in f.iterdir()) for f in self.found("home/own")], [["own.radl"]])
        self.assertEqual(self.actions(self.file), {})
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left("own/.radl")

    def test_a_lock_file_without_hashes_is_refused_at_once(self):
        self.write("requirements.lock", "greetings==1.0\n")
        self.with_properties("requirements = './requirements.lock'")
        self.radlc("check", self.file, code=1)
        self.assertIn("line 1: 'greetings==1.0' has no --hash", self.err)

    def test_a_container_that_cannot_be_is_refused_at_once(self):
        self.write("requirements.lock", "greetings==1.0 --hash=sha256:" + "0" * 64 + "\n")
        for properties, said in ((("image = 'python:3.12'"), "'image' is a container image: docker://NAME:TAG"),
                                 (("image = 'docker://python:3.12', ssh = yes"), "with 'ssh' a program runs on the nodes themselves"),
                                 (("image = 'docker://python:3.12', requirements = './requirements.lock'"),
                                  "with 'image' the packages are those of the image")):
            self.with_properties(properties)
            self.radlc("check", self.file, code=1)
            self.assertIn(said, self.err)
        self.with_properties("image = 'docker://python:3.12'")
        self.radlc("check", self.file)


if __name__ == "__main__":
    unittest.main()
