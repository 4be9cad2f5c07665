"""Farms through the whole spine: placement, outputs, a killed radlc, failures, cancelling, a search."""
import json
import signal
import subprocess
import unittest

from engine_case import RADL_TRAIN
from farm_case import GATED, FarmCase, write_model_and_images

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/tasks' as work (
  nodes = system.worker
  TASKS
)
output results ( value = work.results_path )
"""
EIGHT = """tasks = [ { name = 't${n}', command = 'echo out-{task} > "$RADL_RESULTS/o.txt"; echo said {task}' } for n in range(8) ]
  merge = 'o.txt'"""
SEARCH = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/search' as hpo (
  nodes = system.worker
  main = 'trial.sh'
  arguments = ['{x}']
  space = { x = { min = 0, max = 1 } }
  trials = TRIALS, strategy = 'STRATEGY', seed = 3
  options = { source = './trial', launcher = ['sh'] }
)
output best ( value = hpo.best )
output loss ( value = hpo.metrics )
"""
# The nearer to 0.3, the better, from the first report on.
TRIAL = """for i in 1 2 3 4 5 6 7 8 9; do
  awk -v x="$1" -v i=$i 'BEGIN { d = x - 0.3; if (d < 0) d = -d; printf "{\\"epoch\\": %d, \\"loss\\": %f}\\n", i, d + 1 / i }'
  sleep 0.1
done
echo "model of $1" > "$RADL_RESULTS/model"
"""

# The same in a file of JSON lines, and in TensorBoard's event files.
PYTHON_TRIAL = """import os, struct, sys, time
x = float(sys.argv[1])
BEGIN
for i in range(1, 10):
    report(abs(x - 0.3) + 1 / i)
if abs(x - 0.3) > 0.4:  # to be stopped
    time.sleep(60)
"""
JSON_LINES = PYTHON_TRIAL.replace("BEGIN", """out = open(os.environ["RADL_RESULTS"] + "/m.jsonl", "w")
def report(loss):
    print('{"note": 7, "loss": %f}' % loss, file=out, flush=True)
""")
EVENTS = PYTHON_TRIAL.replace("BEGIN", """os.mkdir(os.environ["RADL_RESULTS"] + "/runs")
out = open(os.environ["RADL_RESULTS"] + "/runs/events.out.tfevents.1.host.1.0", "wb")
def crc(data):
    sum = 0xffffffff
    for byte in data:
        sum ^= byte
        for _ in range(8):
            sum = sum >> 1 ^ (0x82f63b78 if sum & 1 else 0)
    sum ^= 0xffffffff
    return struct.pack("<I", ((sum >> 15 | sum << 17) + 0xa282ead8) & 0xffffffff)
def scalar(tag, number):
    value = b"\\x0a" + bytes([len(tag)]) + tag + b"\\x15" + struct.pack("<f", number)
    summary = b"\\x0a" + bytes([len(value)]) + value
    event = b"\\x2a" + bytes([len(summary)]) + summary
    length = struct.pack("<Q", len(event))
    out.write(length + crc(length) + event + crc(event))
def report(loss):
    scalar(b"note", 7)
    scalar(b"loss", loss)
    out.flush()
""")
# One interval: the model is a line for each interval, of its own value.
POPULATION = """[ -z "$RADL_PARENT" ] || cp "$RADL_PARENT/model" "$RADL_RESULTS/model" || exit 1
echo "$1" >> "$RADL_RESULTS/model"
awk '{ d = $1 - 0.3; if (d < 0) d = -d; sum += d } END { printf "{\\"loss\\": %f}\\n", sum / NR }' "$RADL_RESULTS/model"
"""

INFERENCE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/inference' as score ( nodes = system.worker, model = './model', images = './photos', batch_size = 4, batches = 3 )
output predictions ( value = score.predictions )
"""


class Farms(FarmCase):
    def with_tasks(self, text):
        self.file = self.write("farm.radl", FILE.replace("TASKS", text))

    def test_each_task_leaves_its_output_once(self):
        self.with_tasks(EIGHT)
        self.apply()
        results = self.folder / "work-results"
        for n in range(8):
            self.assertEqual((results / f"t{n}" / "o.txt").read_text(), f"out-t{n}\n")
            self.assertEqual((results / "logs" / f"t{n}.1.log").read_text(), f"said t{n}\n")
        self.assertEqual((results / "o.txt").read_text().split(), [f"out-t{n}" for n in range(8)])
        self.assertEqual(self.counts(), {"finished": 8})
        table = self.table()
        self.assertEqual({task["attempt"] for task in table.values()}, {1})
        self.assertLessEqual({task["node"] for task in table.values()}, {"worker[0]", "worker[1]"})
        self.assertEqual(self.radlc("farm", "logs", self.file, "t3"), "said t3\n")
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_a_task_that_is_added_to_the_file_runs_alone(self):
        self.with_tasks(EIGHT)
        self.apply()
        before = self.table()
        self.edit(self.file, ("range(8)", "range(9)"))
        self.apply()
        after = self.table()
        self.assertEqual(after.pop("t8")["state"], "finished")
        self.assertEqual(after, before)
        self.assertEqual(len((self.folder / "work-results" / "o.txt").read_text().split()), 9)
        self.destroy()

    def test_a_killed_radlc_joins_the_tasks_that_run(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}' }} for n in range(4) ]")
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2, message="no tasks start")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(self.counts(), {"running": 2, "waiting": 2})
        self.open_gates_until(self.begin())
        table = self.table()
        self.assertEqual({task["state"] for task in table.values()}, {"finished"})
        self.assertEqual({task["attempt"] for task in table.values()}, {1})
        self.assertEqual(self.begun(), {f"t{n}": 1 for n in range(4)})
        self.destroy()

    def test_an_interrupt_ends_the_tasks_and_uses_up_no_try(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}' }} for n in range(2) ]\n  options = {{ grace = 1 }}")
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2, message="no tasks start")
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(self.counts(), {"waiting": 2})
        self.open_gates_until(self.begin())
        self.assertEqual({(task["attempt"], "failed_on" in task) for task in self.table().values()}, {(2, False)})
        self.destroy()

    def test_a_task_that_fails_is_set_aside_and_the_others_go_on(self):
        self.with_tasks("""tasks = [ { name = 'bad', command = 'echo why; exit 7' }, { name = 'good', command = 'echo x > $RADL_RESULTS/x' } ]
  tries = 2""")
        self.apply(code=2)
        self.assertIn("bad: exit status 7", self.err)
        self.assertIn("why", self.err)
        self.assertEqual(self.counts(), {"failed": 1, "finished": 1})
        bad = self.table()["bad"]
        self.assertEqual((bad["attempt"], len(bad["failed_on"])), (2, 2))
        self.assertEqual((self.folder / "work-results" / "good" / "x").read_text(), "x\n")
        self.apply(code=2)
        self.assertEqual(self.table()["bad"]["attempt"], 4)
        self.destroy()

    def test_a_farm_that_leaves_the_approved_band_pauses_until_the_next_approval(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}', seconds = 0.5 }} for n in range(6) ]")
        (forecast,) = json.loads(self.radlc("plan", "--json", self.file))["forecasts"]
        approved = forecast["phases"]["run"]
        self.assertAlmostEqual(approved["seconds"], 1.5)
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2, message="no tasks start")
        self.wait_until(lambda: self.status() and self.status()["paused"], message="it does not pause")
        self.assertEqual(self.status()["approved"]["seconds"]["high"], approved["high"])
        self.assertGreater(self.status()["paused"]["seconds"], approved["high"])
        self.open_gates()
        out, err = process.communicate()
        self.assertEqual(process.returncode, 2, out + err)
        self.assertEqual(self.counts(), {"finished": 2, "waiting": 4})
        # What two tasks took corrects the lengths of the others.
        (forecast,) = json.loads(self.radlc("plan", "--json", self.file))["forecasts"]
        self.assertGreater(forecast["phases"]["run"]["seconds"], approved["seconds"])
        self.open_gates_until(self.begin())
        self.assertEqual(self.counts(), {"finished": 6})
        self.assertIsNone(self.status()["paused"])
        self.destroy()

    def test_a_plan_without_lengths_has_an_unknown_end(self):
        self.with_tasks(EIGHT)
        (forecast,) = json.loads(self.radlc("plan", "--json", self.file))["forecasts"]
        self.assertIsNone(forecast["phases"]["run"])
        self.assertIsNone(forecast["cost"])
        self.assertIn("lengths of its tasks", forecast["unknown"])
        self.apply()
        self.assertIsNone(self.status()["approved"]["seconds"])
        self.edit(self.file, ("range(8)", "range(9)"))
        (forecast,) = json.loads(self.radlc("plan", "--json", self.file))["forecasts"]
        self.assertEqual(forecast["phases"]["run"]["source"], "measured")
        self.destroy()

    def test_a_script_runs_on_existing_nodes(self):
        self.file = self.write("nodes.radl", FILE.split("use ")[0])
        self.apply()
        self.write("count.sh", 'echo "args $*"; echo made > "$RADL_RESULTS/out";')
        out = self.radlc("run", self.file, "count.sh", "--", "a b", "c")
        self.assertEqual(out, "args a b c\n")
        self.assertEqual((self.folder / "count-results" / "run" / "out").read_text(), "made\n")
        self.assertEqual(self.radlc("run", self.file, "count.sh", "--", "a b", "c"), out)
        self.assertEqual(self.found("home/.radl/jobs/count-*"), [])
        self.write("bad.sh", "echo no; exit 5")
        self.assertEqual(self.radlc("run", self.file, "bad.sh", code=5), "no\n")
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_a_farm_is_cancelled_as_a_whole(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}' }} for n in range(3) ]\n  options = {{ grace = 1 }}")
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2, message="no tasks start")
        self.radlc("cancel", self.file, "work")
        process.communicate()
        self.assertNotEqual(process.returncode, 0)
        self.assertNotIn("failed", self.counts())
        self.open_gates_until(self.begin())
        self.assertEqual(self.counts(), {"finished": 3})
        self.destroy()

    def test_a_running_task_is_cancelled(self):
        self.with_tasks(f"tasks = [ {{ name = 't${{n}}', command = '{GATED}' }} for n in range(3) ]")
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 2, message="no tasks start")
        one = sorted(self.begun())[0]
        self.radlc("farm", "cancel", self.file, one)
        self.wait_until(lambda: self.table()[one]["state"] == "cancelled", message="it is not cancelled")
        self.open_gates_until(process)
        self.assertEqual(self.counts(), {"finished": 2, "cancelled": 1})
        self.assertFalse((self.folder / "work-results" / one).exists())
        self.destroy()

    def test_a_task_is_added_to_a_running_farm(self):
        self.with_tasks(f"tasks = [ {{ name = 't', command = '{GATED}' }} ]")
        process = self.begin()
        self.wait_until(lambda: len(self.begun()) == 1, message="no task starts")
        process.send_signal(signal.SIGSTOP)
        self.radlc("farm", "add", self.file, 'echo more > "$RADL_RESULTS/o.txt"')
        self.radlc("farm", "add", self.file, 'echo again > "$RADL_RESULTS/o.txt"')
        process.send_signal(signal.SIGCONT)
        self.radlc("farm", "add", self.file, "--task", "words", "--", "sh", "-c", 'echo "$0" > "$RADL_RESULTS/o.txt"', "two words")
        self.radlc("farm", "add", self.file, "--task", "t", "true", code=1)
        self.radlc("farm", "add", self.file, "--trials", "3", code=1)
        self.wait_until(lambda: self.counts().get("finished") == 3, message="the added tasks do not run")
        self.open_gates_until(process)
        results = self.folder / "work-results"
        self.assertEqual((results / "added-0" / "o.txt").read_text(), "more\n")
        self.assertEqual((results / "added-1" / "o.txt").read_text(), "again\n")
        self.assertEqual((results / "words" / "o.txt").read_text(), "two words\n")
        self.edit(self.file, ("name = 't'", "name = 'u'"))
        self.open_gates_until(self.begin())
        self.assertEqual({name: task["state"] for name, task in self.table().items()},
                         {"t": "finished", "added-0": "finished", "added-1": "finished", "words": "finished", "u": "finished"})
        self.destroy()

    def test_trials_are_added_and_a_search_is_plotted(self):
        self.write("trial/trial.sh", TRIAL + 'until [ -e "$RADL_CHECKPOINTS/gate" ]; do sleep 0.1; done\n')
        self.file = self.write("search.radl", SEARCH.replace("STRATEGY", "sobol").replace("TRIALS", "2"))
        process = self.begin()
        self.wait_until(lambda: self.journal().count('"event":"start"') == 2, message="no trials run")
        self.radlc("farm", "add", self.file, "--trials", "2")
        self.radlc("farm", "add", self.file, "--task", "trial-3", "true", code=1)
        self.open_gates_until(process)
        plot = json.loads(self.radlc("farm", "plot", "--json", self.file))
        table = self.table()
        self.assertEqual(len(table), 4)
        for trial in plot["trials"]:
            self.assertEqual(trial["value"], table[trial["task"]]["metrics"]["loss"])
            self.assertEqual([report for report, _ in trial["curve"]], list(range(1, 10)))
            self.assertEqual(trial["curve"][-1][1], trial["value"])
        self.radlc("farm", "plot", self.file, "-o", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertEqual(page.count("<polyline"), 8)
        self.destroy()

    def test_a_search_keeps_the_best_and_ends_others_early(self):
        self.write("trial/trial.sh", TRIAL)
        self.file = self.write("search.radl", SEARCH.replace("STRATEGY", "asha").replace("TRIALS", "12"))
        self.apply()
        table = self.table()
        self.assertEqual(len(table), 12)
        self.assertIn("stopped", {task["state"] for task in table.values()})
        best = json.loads(self.radlc("farm", "best", self.file))
        least = min(task["metrics"]["loss"] for task in table.values())
        self.assertEqual(best["metrics"]["loss"], least)
        outputs = json.loads(self.radlc("output", "--json", self.file))
        self.assertIn(best["task"], json.dumps(outputs))
        self.assertEqual((self.folder / "hpo-results" / "best" / "model").read_text(), f"model of {best['parameters']['x']}\n")
        self.destroy()

    def test_an_inference_predicts_each_image_once(self):
        write_model_and_images(self.folder)
        self.file = self.write("score.radl", INFERENCE)
        self.apply()
        read = lambda path: [json.loads(line) for line in path.read_text().splitlines()]
        results = self.folder / "score-results"
        self.assertEqual([line["file"] for line in read(results / "predictions.jsonl")], [f"./{n}.png" for n in range(10)])
        self.assertEqual([len(read(results / f"inferred-{n}-{n + 4}" / "predictions.jsonl")) for n in (0, 4, 8)], [4, 4, 2])
        alone = subprocess.run([RADL_TRAIN, "predict", "model", "photos/7.png", "--format", "json"],
                               cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertEqual(json.loads(alone.stdout)["class"], read(results / "predictions.jsonl")[7]["class"])
        self.destroy()

    def test_metrics_in_files_end_trials_early(self):
        for kind, write in (("*.jsonl", JSON_LINES), ("*tfevents*", EVENTS)):
            with self.subTest(kind):
                self.write("trial/trial.py", write)
                text = SEARCH.replace("STRATEGY", "asha").replace("TRIALS", "8").replace("main = 'trial.sh'", f"main = 'trial.py', metrics = '{kind}'")
                self.file = self.write("search.radl", text.replace(", launcher = ['sh']", ""))
                self.apply()
                table = self.table()
                self.assertEqual(len(table), 8)
                for task in table.values():
                    x = task["spec"]["parameters"]["x"]
                    least = abs(x - 0.3) + 1 / 9
                    self.assertEqual(task["metrics"]["note"], 7, "reported with the metric that decides")
                    if task["state"] == "finished":
                        self.assertAlmostEqual(task["metrics"]["loss"], least, places=5)
                far = {name for name, task in table.items() if abs(task["spec"]["parameters"]["x"] - 0.3) > 0.4}
                self.assertEqual({table[name]["state"] for name in far}, {"stopped"})
                self.destroy()

    def test_a_population_hands_checkpoints_on(self):
        self.write("trial/trial.sh", POPULATION)
        text = SEARCH.replace("STRATEGY", "pbt").replace("TRIALS", "12, population = 4")
        self.file = self.write("search.radl", text)
        process = self.begin()
        self.wait_until(lambda: self.journal().count('"commit"') >= 5, message="no generation ends")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.apply()
        killed = self.table()
        self.assertEqual(len(killed), 12)
        # Each model is that of its parent, and one more interval with its own value.
        model = lambda name: (self.folder / "hpo-results" / name / "model").read_text().split()
        for name, task in killed.items():
            parent = task["spec"].get("from")
            self.assertEqual(parent is None, int(name.split("-")[1]) < 4)
            before = model(parent) if parent else []
            self.assertEqual(model(name), before + [json.dumps(task["spec"]["parameters"]["x"])])
        self.destroy()
        self.apply()
        whole = self.table()
        same = lambda table: {name: (task["spec"], task["metrics"], task["state"]) for name, task in table.items()}
        self.assertEqual(same(killed), same(whole))
        self.destroy()

    def test_a_search_starts_from_an_earlier_one(self):
        self.write("trial/trial.sh", TRIAL)
        self.file = self.write("search.radl", SEARCH.replace("STRATEGY", "random").replace("TRIALS", "4"))
        self.apply()
        best = json.loads(self.radlc("farm", "best", self.file))
        (self.folder / "old.json").write_text((self.folder / "hpo-results" / "table.json").read_text())
        self.destroy()
        self.file = self.write("search.radl", SEARCH.replace("STRATEGY", "sobol").replace("TRIALS", "2, from = [file('old.json')]"))
        self.apply()
        self.assertEqual(self.table()["trial-0"]["spec"]["parameters"], best["parameters"])
        self.destroy()

    def test_a_search_without_optuna_names_the_missing_package(self):
        self.write("trial/trial.sh", TRIAL)
        (self.folder / "empty").mkdir()
        (self.folder / "empty" / "optuna.py").write_text("raise ImportError('there is no optuna here')\n")
        self.environment["PYTHONPATH"] = str(self.folder / "empty")
        self.file = self.write("search.radl", SEARCH.replace("STRATEGY", "optuna").replace("TRIALS", "2"))
        self.apply(code=2)
        self.assertIn("pip install optuna", self.err)
        self.assertIn("there is no optuna here", self.err)
        self.destroy()

    def test_a_search_that_was_killed_has_the_same_trials(self):
        self.write("trial/trial.sh", TRIAL)
        self.file = self.write("search.radl", SEARCH.replace("STRATEGY", "sobol").replace("TRIALS", "6"))
        process = self.begin()
        self.wait_until(lambda: self.journal().count('"commit"') >= 2, message="no trial ends")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.apply()
        killed = self.table()
        self.destroy()
        self.apply()
        whole = self.table()
        self.assertEqual({name: task["spec"] for name, task in killed.items()}, {name: task["spec"] for name, task in whole.items()})
        self.assertEqual({name: task["metrics"] for name, task in killed.items()}, {name: task["metrics"] for name, task in whole.items()})
        self.assertEqual({task["state"] for task in killed.values()}, {"finished"})
        self.destroy()


if __name__ == "__main__":
    unittest.main()
