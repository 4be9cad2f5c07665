"""From a file to machines and back: plan, apply, again, change, destroy - without a training."""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import unittest

from radl_case import RadlCase

FILE = """radl 2
input text ( type = 'text', default = 'hello' )
input workers ( type = 'integer', default = 2, min = 0 )
network lan ( outbound = 'no' )
system server ( cpu.count >= 1, memory.size >= 64M, net_interface.0.connection = 'lan', net_interface.0.dns_name = 'server' )
system worker ( cpu.count >= 1, memory.size >= 64M, net_interface.0.connection = 'lan', net_interface.0.dns_name = 'worker-#N#' )
configure greet (
  directory '~/made' ( mode = '0750' )
  file '~/made/greeting.txt' ( content = input.text, mode = '0640' )
  command 'echo once >> $HOME/ran' ( creates = '~/ran' )
)
configure book (
@begin
---
  - tasks:
      - name: write what the inventory says
        copy:
          dest: ~/book.txt
          content: "{{ IM_NODE_HOSTNAME }} of {{ IM_INFRASTRUCTURE_ID }} {{ groups['worker'] | default([]) | length }}"
@end
)
deploy server 1
deploy worker input.workers
contextualize (
  system server configure greet step 1
  system worker configure greet step 1
  system server configure book step 2
)
"""


class Lifecycle(RadlCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def nodes(self):
        return {r["address"]: r for r in self.show(self.file)["resources"] if r["type"] == "node"}

    def kill_node(self, node):
        """Ends all processes of a node, its server first, as a crash of the machine would."""
        record = pathlib.Path(node["attributes"]["local_directory"]) / "run" / "process.json"
        os.kill(json.loads(record.read_text())["pid"], signal.SIGKILL)

    def test_plan_is_offline_deterministic_and_makes_nothing(self):
        first = self.radlc("plan", "--json", self.file)
        self.assertEqual(first, self.radlc("plan", "--json", self.file))
        self.assertFalse((self.folder / ".radl").exists())
        self.radlc("plan", "--detailed-exitcode", self.file, code=2)

    def test_second_apply_changes_nothing(self):
        self.apply()
        serial = self.show(self.file)["serial"]
        self.assertEqual(self.actions(self.file), {})
        self.radlc("plan", "--detailed-exitcode", self.file, code=0)
        self.assertIn("No changes", self.apply())
        self.assertEqual(self.show(self.file)["serial"], serial)
        self.destroy()

    def test_the_requested_resources_exist(self):
        self.apply()
        out = self.radlc("ssh", "--file", self.file, "server", "cat made/greeting.txt; echo; stat -c %a made/greeting.txt made; cat ran")
        self.assertEqual(out.split(), ["hello", "640", "750", "once"])
        book = self.radlc("ssh", "--file", self.file, "server[0]", "cat book.txt")
        self.assertTrue(book.startswith("server of "), book)
        self.assertTrue(book.rstrip().endswith(" 2"), book)
        self.assertIn("server[0]", self.radlc("logs", "--file", self.file, "server[0]"))
        self.destroy()

    def test_scaling_leaves_the_others_alone(self):
        self.apply()
        before = self.nodes()
        planned = self.actions(self.file, "--input", "workers=3")
        self.assertEqual(planned["worker[2]"], "create")
        self.assertEqual(planned["worker[2]/greet"], "run")
        self.assertFalse([i for i in planned if i.startswith(("server[0]/greet", "worker[0]", "worker[1]"))], planned)
        self.apply("--input", "workers=3")
        after = self.nodes()
        for address, node in before.items():
            self.assertEqual(node["id"], after[address]["id"])
            self.assertEqual(node["attributes"], after[address]["attributes"])
        planned = self.actions(self.file, "--input", "workers=1")
        self.assertEqual({i: v for i, v in planned.items() if not v == "run" and "/" not in i},
                         {"worker[1]": "delete", "worker[2]": "delete"})
        self.apply("--input", "workers=1")
        self.assertEqual(sorted(self.nodes()), ["server[0]", "worker[0]"])
        self.destroy()

    def test_a_changed_step_runs_again_and_only_it(self):
        self.apply()
        planned = self.actions(self.file, "--input", "text=other")
        self.assertTrue(all(verb == "run" for verb in planned.values()), planned)
        self.assertLessEqual({"server[0]/greet", "worker[0]/greet", "worker[1]/greet"}, set(planned))
        self.apply("--input", "text=other")
        out = self.radlc("ssh", "--file", self.file, "worker[1]", "cat made/greeting.txt; echo; cat ran")
        self.assertEqual(out.split(), ["other", "once"])
        self.destroy()

    def test_refresh_shows_a_file_edited_behind_its_back(self):
        self.apply()
        self.radlc("ssh", "--file", self.file, "server", "echo spoiled > made/greeting.txt")
        self.assertEqual(self.actions(self.file), {})
        text = self.radlc("plan", "--refresh", self.file)
        self.assertIn("greeting.txt", text)
        self.assertIn("spoiled", text)
        self.apply("--refresh")
        self.assertEqual(self.radlc("ssh", "--file", self.file, "server", "cat made/greeting.txt").strip(), "hello")
        self.destroy()

    def test_a_dead_node_is_noticed_and_started_again(self):
        self.apply()
        before = self.nodes()["worker[0]"]
        self.kill_node(before)
        plan = self.plan("--refresh", self.file)
        self.assertEqual([(d["address"], d["what"]) for d in plan["drift"]], [("worker[0]", "stopped")])
        self.assertEqual({a["id"]: a["verb"] for a in plan["actions"]}, {"worker[0]": "update", "worker[0]/greet": "run"})
        self.apply("--refresh")
        after = self.nodes()["worker[0]"]
        self.assertEqual(after["id"], before["id"])
        self.assertEqual(after["attributes"]["host_key"], before["attributes"]["host_key"])
        out = self.radlc("ssh", "--file", self.file, "worker[0]", "cat made/greeting.txt; echo; cat ran")
        self.assertEqual(out.split(), ["hello", "once"])
        plan = self.plan("--refresh", self.file)
        self.assertEqual((plan["drift"], plan["actions"]), ([], []))
        self.destroy()

    def test_a_saved_plan_is_applied_exactly_or_refused(self):
        plan = self.folder / "saved.plan"
        self.radlc("plan", "-out", plan, self.file)
        whole = plan.read_bytes()
        plan.write_bytes(whole[: len(whole) // 2])
        self.radlc("apply", plan, code=None)
        self.assertIn("saved.plan", self.err)
        self.assertFalse(self.processes())
        plan.write_bytes(whole)
        self.edit(self.file, ("0640", "0600"))
        self.radlc("apply", plan, code=None)
        self.assertIn("site.radl", self.err)
        self.edit(self.file, ("0600", "0640"))
        self.radlc("apply", plan)  # no --auto-approve: it was approved when it was saved
        self.assertEqual(self.actions(self.file), {})
        self.radlc("apply", plan, code=None)  # the state moved on
        self.assertIn("make the plan again", self.err)
        self.destroy()

    def test_nothing_is_done_without_approval(self):
        self.radlc("apply", self.file, code=1)
        self.assertIn("--auto-approve", self.err)
        self.assertFalse(self.processes())

    def test_events_are_json_lines(self):
        log = self.folder / "events.jsonl"
        self.apply("--log-json", log)
        events = self.events(log)
        kinds = [event["event"] for event in events]
        self.assertEqual(kinds[0], "run_started")
        self.assertEqual(kinds[-1], "run_finished")
        started = {e["id"] for e in events if e["event"] == "action_started"}
        finished = {e["id"] for e in events if e["event"] == "action_finished"}
        self.assertEqual(started, finished)
        self.assertIn("worker[1]/greet", finished)
        self.destroy()

    def test_one_interrupt_saves_and_a_later_run_resumes(self):
        self.edit(self.file, ("directory '~/made' ( mode = '0750' )", "directory '~/made' ( mode = '0750' )\n  command 'sleep 3' ()"))
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log))
        self.wait_until(lambda: [e for e in self.events(log) if e["event"] == "action_started" and "/" in e["id"]])
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        self.apply()
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_killed_at_any_moment_the_next_run_ends_as_if_nothing_had_happened(self):
        for wait in (0.03, 0.15, 0.4, 1.0):
            with self.subTest(wait=wait):
                process = self.start("apply", "--auto-approve", str(self.file))
                time.sleep(wait)
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
                self.apply()
                self.assertEqual(len(self.nodes()), 3)
                self.assertEqual(self.actions(self.file), {})
                process = self.start("destroy", "--auto-approve", str(self.file))
                time.sleep(wait / 4)
                os.kill(process.pid, signal.SIGKILL)
                process.communicate()
                self.destroy()

    def test_two_applies_at_once_do_not_disturb_each_other(self):
        first = self.start("apply", "--auto-approve", "--lock-timeout", "100", str(self.file))
        second = self.start("apply", "--auto-approve", "--lock-timeout", "100", str(self.file))
        for process in (first, second):
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(len(self.nodes()), 3)
        self.destroy()

    def test_a_state_of_a_newer_version_is_refused(self):
        self.apply()
        state = next((self.folder / ".radl").rglob("state.db"))
        with contextlib.closing(sqlite3.connect(state)) as db:
            version = db.execute("pragma user_version").fetchone()[0]
            db.execute("pragma user_version=999")
        self.radlc("plan", self.file, code=None)
        self.assertIn("newer", self.err)
        with contextlib.closing(sqlite3.connect(state)) as db:
            db.execute(f"pragma user_version={version}")
        self.destroy()


if __name__ == "__main__":
    unittest.main()
