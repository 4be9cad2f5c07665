"""Elastic farms: from no node to no node, also after failures and a killed radlc."""
import json
import os
import signal
import unittest

from farm_case import GATED, FarmCase

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker MOST
use 'std/farm/tasks' as work (
  nodes = system.worker, elastic = yes, idle = 1s
  TASKS
)
output results ( value = work.results_path )
"""
QUICK = "tasks = [ { name = 't${n}', command = 'echo out-{task} > \"$RADL_RESULTS/o.txt\"; echo said {task}', seconds = 60 } for n in range(8) ]"


class ElasticFarms(FarmCase):
    def with_tasks(self, text, most=4):
        self.file = self.write("farm.radl", FILE.replace("TASKS", text).replace("MOST", str(most)))

    def nodes(self):
        return len(self.found("nodes/*/home"))

    def created(self):
        return {event["node"] for event in map(json.loads, self.journal().splitlines()) if event["event"] == "node"}

    def assert_freed(self, others=0):
        self.assertEqual(self.nodes(), others)
        self.assertEqual([one["address"] for one in self.show(self.file)["resources"] if one["address"].startswith("worker")], [])

    def test_from_no_node_to_no_node(self):
        self.with_tasks(QUICK)
        plan = self.plan(self.file)
        (forecast,) = plan["forecasts"]
        self.assertEqual(sum(id.startswith("worker") for id in self.actions(self.file)), 4)
        self.assertEqual(forecast["nodes"][0]["nodes"], 4)
        self.assertEqual(forecast["nodes"][-1]["nodes"], 0)
        self.apply()
        self.assert_freed()
        self.assertEqual(self.counts(), {"finished": 8})
        self.assertEqual((self.folder / "work-results" / "t3" / "o.txt").read_text(), "out-t3\n")
        self.assertEqual((self.folder / "work-results" / "logs" / "t3.1.log").read_text(), "said t3\n")
        self.assertEqual(self.actions(self.file), {})
        before = self.table()
        self.edit(self.file, ("range(8)", "range(9)"))
        self.apply()
        self.assert_freed()
        after = self.table()
        self.assertEqual(after.pop("t8")["state"], "finished")
        self.assertEqual(after, before)
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_idle_nodes_are_removed_while_others_work(self):
        self.with_tasks(f"tasks = [ {{ name = 'quick', command = 'echo quick', seconds = 60 }}, {{ name = 'long', command = '{GATED}', seconds = 600 }} ]", 2)
        process = self.begin()
        self.wait_until(lambda: self.created() == {"worker[0]", "worker[1]"}, message="there are no two nodes")
        self.wait_until(lambda: self.nodes() == 1, message="the idle node is not removed")
        self.open_gates_until(process)
        self.assert_freed()
        table = self.table()
        self.assertEqual({task["attempt"] for task in table.values()}, {1})
        self.assertEqual((self.folder / "work-results" / "logs" / "quick.1.log").read_text(), "quick\n")
        self.destroy()

    def test_more_nodes_come_once_lengths_are_learnt(self):
        self.with_tasks(f"""tasks = [ {{ name = 't${{n}}', command = if n < 3 then 'sleep 1' else '{GATED}' }} for n in range(43) ]
  worth = 10""", 3)
        (forecast,) = self.plan(self.file)["forecasts"]
        self.assertEqual(forecast["growth"]["nodes"], 3)
        process = self.begin()
        self.wait_until(lambda: self.nodes() == 3, message="no nodes are added")
        self.open_gates_until(process)
        self.assertEqual(self.counts(), {"finished": 43})
        self.assertEqual({task["attempt"] for task in self.table().values()}, {1})
        self.assert_freed()
        self.destroy()

    def test_nodes_of_a_killed_farm_are_freed_and_the_next_apply_continues(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}', seconds = 60 }} for n in range(3) ]", 2)
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2, message="no tasks start")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.radlc("farm", "free", "--auto-approve", self.file)
        self.assert_freed()
        self.wait_until(lambda: not self.processes(), message="tasks outlive their nodes")
        self.open_gates_until(self.begin())
        self.assertEqual(self.counts(), {"finished": 3})
        self.assert_freed()
        self.destroy()

    def test_nodes_are_freed_after_failures_and_kept_if_asked(self):
        self.with_tasks("tasks = [ { name = 'bad', command = 'echo why; exit 7', seconds = 1 } ]\n  tries = 1")
        self.apply(code=2)
        self.assertIn("bad: exit status 7", self.err)
        self.assert_freed()
        self.edit(self.file, ("exit 7", "true"))
        self.radlc("apply", "--auto-approve", "--keep", self.file)
        self.assertEqual(self.nodes(), 1)
        self.assertEqual(self.actions(self.file)["worker[0]"], "delete")
        self.apply()
        self.assert_freed()
        self.destroy()

    def test_beyond_the_approved_node_hours_it_pauses_without_nodes(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}', seconds = 0.5 }} for n in range(4) ]", 1)
        (forecast,) = self.plan(self.file)["forecasts"]
        self.assertNotIn("growth", forecast)
        process = self.begin()
        self.wait_until(self.begun, message="no tasks start")
        self.wait_until(lambda: self.status()["paused"], message="it does not pause")
        self.assertAlmostEqual(self.status()["approved"]["node_seconds"]["high"], forecast["node_seconds_high"])
        self.assertGreater(self.status()["node_seconds"], forecast["node_seconds_high"])
        finished = len(self.begun())
        self.open_gates()
        out, err = process.communicate()
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("is paused", err)
        self.assert_freed()
        self.assertEqual(self.counts(), {"finished": finished, "waiting": 4 - finished})
        self.open_gates_until(self.begin())
        self.assertEqual(self.counts(), {"finished": 4})
        self.assertIsNone(self.status()["paused"])
        self.assert_freed()
        self.destroy()

    def test_logs_of_a_task_are_masked_while_it_runs_and_after(self):
        secret = "s3cr3t-key-91"
        self.environment["RADL_INPUT_key"] = secret
        self.with_tasks(f"tasks = [ {{ name = 't', command = 'echo the key is $KEY; {GATED}', seconds = 60 }} ]\n  options = {{ environment = {{ KEY = input.key }} }}", 1)
        self.edit(self.file, ("radl 2", "radl 2\ninput key ( type = string, sensitive = yes )"))
        process = self.begin()
        self.wait_until(self.begun, message="the task does not start")
        running = self.radlc("farm", "logs", self.file, "t")
        self.open_gates_until(process)
        ended = self.radlc("farm", "logs", self.file, "t")
        for text in (running, ended):
            self.assertIn("the key is ", text)
            self.assertNotIn(secret, text)
        self.destroy()

    def test_a_rehearsal_plays_the_farm(self):
        self.with_tasks(QUICK)
        report = json.loads(self.radlc("test", "--json", "--runs", "3", "--seed", "5", self.file))
        (farm,) = report["farms"]
        self.assertEqual({name: farm[name] for name in ("step", "tasks", "runs", "failed", "predicted")},
                         {"step": "program/work", "tasks": 8, "runs": 3, "failed": 0, "predicted": 3})
        self.assertEqual(json.loads(self.radlc("test", "--json", "--runs", "3", "--seed", "5", self.file))["farms"], [farm])

    def test_reports_of_ended_tasks_do_not_stay_on_the_node(self):
        report = """awk 'BEGIN { for (i = 0; i < 12000; i++) printf "{\\"step\\": %d, \\"note\\": \\"%0100d\\"}\\n", i, 0 }'"""
        self.with_tasks(f"tasks = [ {{ name = 'many', command = <<'END'\n{report}\nEND\n }}, {{ name = 'gated', command = '{GATED}' }} ]\n  metrics = 'stdout'\n  cpu = 1000", 1)
        self.edit(self.file, ("elastic = yes, idle = 1s", "tries = 3"), ("cpu = 1000", f"cpu = {0.6 * os.cpu_count()}"))
        process = self.begin()
        self.wait_until(self.begun, message="the second task does not start")
        (events,) = self.found("farm/events")
        self.wait_until(lambda: events.stat().st_size < 1000, message="the reports stay")
        self.open_gates_until(process)
        self.assertEqual(self.table()["many"]["metrics"]["step"], 11999)
        self.destroy()

    def test_freeing_does_nothing_else(self):
        self.with_tasks("tasks = [ { name = 'bad', command = 'exit 7', seconds = 1 } ]\n  tries = 1")
        self.edit(self.file, ("output results", "system other ( cpu.count >= 1 )\ndeploy other 1\nconfigure broken ( command 'echo tried >> ~/tried; exit 1' () )\ncontextualize ( system other configure broken step 1 )\noutput results"))
        tried = lambda: "".join(path.read_text() for path in self.found("home/tried")).count("tried")
        self.apply(code=2)
        self.assert_freed(1)
        self.assertEqual(tried(), 1)
        self.radlc("apply", "--auto-approve", "--keep", self.file, code=2)
        self.assertEqual(self.nodes(), 2)
        before = tried()
        self.radlc("farm", "free", "--auto-approve", self.file)
        self.assert_freed(1)
        self.assertEqual(tried(), before)
        self.destroy()

    def test_a_node_that_fails_its_tasks_is_replaced(self):
        command = 'until [ -e ~/go ]; do sleep 0.05; done; [ ! -e ~/bad ] || exit 3; sleep 0.2'
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{command}', seconds = 60 }} for n in range(30) ]", 2)
        self.edit(self.file, ("elastic = yes, idle = 1s", "tries = 5"))
        process = self.begin()
        self.wait_until(lambda: self.journal().count('"event":"start"') == 2, message="no tasks start")
        (bad,) = self.found("nodes/worker-0-*/home")
        (bad / "bad").touch()
        (bad / "go").touch()

        def over():
            for home in self.found("nodes/*/home"):
                if home != bad:
                    (home / "go").touch()
            return process.poll() is not None
        self.wait_until(over, message="it does not end")
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.counts(), {"finished": 30})
        self.assertEqual(self.journal().count('"event":"quarantine"'), 1)
        self.assertEqual(self.nodes(), 2)
        self.assertFalse(bad.exists())
        self.destroy()


if __name__ == "__main__":
    unittest.main()
