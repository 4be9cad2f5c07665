"""Farms through the own API of `radlc serve`: what they show, and requests to them."""
from api_case import ApiCase
from farm_case import GATED, SEARCH, TRIAL

TASKS = f"""radl 2
system worker ( cpu.count >= 1 )
deploy worker 1
use 'std/farm/tasks' as work (
  nodes = system.worker, tries = 1
  tasks = [ {{ name = 'bad', command = 'exit 7' }}, {{ name = 'slow', command = '{GATED}' }}, {{ name = 'later', command = '{GATED}' }} ]
)
"""


class Farms(ApiCase):
    def test_a_search_from_its_trials_to_its_best_model(self):
        self.assertEqual(self.get("/farms"), {"farms": [], "unreadable": []})
        one = self.create("search")
        self.upload(one, "trial.sh", TRIAL)
        self.run_plan(infrastructure=one, program=SEARCH)
        (row,) = self.get(f"/farms?infrastructure={one}")["farms"]
        self.assertEqual((row["farm"], row["metric"], row["goal"], row["trials"], row["over"]), ("hpo", "loss", "min", 6, True))
        self.assertEqual(row["counts"]["finished"], 6)
        farm = f"/infrastructures/{one}/farms/hpo"
        self.assertEqual(self.get(farm), row)
        tasks = self.get(farm + "/tasks")
        self.assertEqual(tasks["total"], 6)
        losses = [task["value"] for task in tasks["tasks"]]
        self.assertEqual(losses, sorted(losses))  # the best first
        best = tasks["tasks"][0]
        self.assertEqual(row["best"], {"task": best["task"], "parameters": best["parameters"], "metrics": best["metrics"]})
        by_x = self.get(farm + "/tasks?order=parameters.x&descending=yes&from=1&count=2")
        values = sorted((task["parameters"]["x"] for task in tasks["tasks"]), reverse=True)
        self.assertEqual([task["parameters"]["x"] for task in by_x["tasks"]], values[1:3])
        self.assertEqual(self.get(farm + "/tasks?state=failed"), {"tasks": [], "total": 0})
        curves = self.get(farm + "/curves")
        self.assertEqual([trial["task"] for trial in curves["trials"]], [task["task"] for task in tasks["tasks"]])
        self.assertEqual([point[0] for point in curves["trials"][0]["curve"]], [1, 2, 3])
        self.assertEqual(curves["trials"][0]["curve"][-1][1], best["value"])
        self.assertEqual([p[1] for p in self.get(farm + "/curves?metric=epoch")["trials"][0]["curve"]], [1, 2, 3])
        timeline = self.get(farm + "/timeline")
        self.assertEqual(sorted(a["task"] for a in timeline["attempts"]), sorted(task["task"] for task in tasks["tasks"]))
        self.assertTrue(all(a["started"] <= a["ended"] and a["how"] == "succeeded" for a in timeline["attempts"]))
        self.assertEqual({n["node"] for n in timeline["nodes"]}, {"worker[0]", "worker[1]"})
        self.assertEqual(timeline["cost"], {"currency": "USD", "micros": 0})
        self.assertEqual(self.get(farm + "/outputs/best")["files"], [{"path": "model/weights", "bytes": len(str(best["parameters"]["x"])) + 1}])
        self.assertEqual(float(self.ask("GET", farm + "/outputs/best/model/weights")[1]), best["parameters"]["x"])
        self.assertIn(b'"epoch": 3', self.ask("GET", f"{farm}/logs/{best['task']}")[1])
        for wrong in ("/outputs/nothing", "/outputs/best/model", "/outputs/best/.hidden", "/outputs/best/%2e%2e/x", "/logs/nothing"):
            self.assertIn(self.ask("GET", farm + wrong)[0], (400, 404), wrong)
        self.assertEqual(self.get(f"/infrastructures/{one}/farms/{row['job']}"), row)
        self.assertEqual(self.ask("GET", f"/infrastructures/{one}/farms/other")[0], 404)
        self.assertEqual(self.ask("POST", farm + "/tasks", {"trials": 2})[1], {"added": "2 trials"})
        self.assertEqual(self.get(farm)["trials"], 8)

    def test_a_damaged_farm_is_named_and_hides_no_other(self):
        fine, broken = self.create("fine"), self.create("broken")
        for one in (fine, broken):
            self.upload(one, "trial.sh", TRIAL)
            self.run_plan(infrastructure=one, program=SEARCH.replace("trials = 6", "trials = 2"))
        (journal,) = self.found(f"{broken}/state/*/work/farms/*/journal.jsonl")
        kept = journal.read_bytes()
        for damage in (b"nonsense\n", b'{"event": 7}\n', b'{"event": "task_added", "task": []}\n', b"[" * 100000 + b"\n"):
            journal.write_bytes(damage + kept)
            listed = self.get("/farms")
            self.assertEqual([row["infrastructure"] for row in listed["farms"] if row["infrastructure"] == fine], [fine], damage[:40])
            if damage.startswith(b"nonsense"):
                self.assertEqual([(u["infrastructure"], u["job"]) for u in listed["unreadable"]], [(broken, journal.parent.name)])
        journal.write_bytes(kept)
        self.assertEqual(self.get("/farms")["unreadable"], [])

    def test_tasks_are_added_cancelled_and_retried(self):
        one = self.create("work")
        run = self.start_plan(infrastructure=one, program=TASKS)
        farm = f"/infrastructures/{one}/farms/work"
        state = lambda: {task["task"]: task["state"] for task in self.get(farm + "/tasks")["tasks"]}
        self.wait_until(lambda: self.get("/farms")["farms"] and state()["slow"] == "running" and state()["bad"] == "failed", 120)
        self.assertEqual(self.get(farm + "/tasks?state=failed")["tasks"][0]["why"][:13], "exit status 7")
        self.assertEqual(self.ask("GET", farm + "/curves")[0], 400)
        reader = self.as_user("reader", "read")
        for path, body in (("retry", {"tasks": ["bad"]}), ("cancel", {"tasks": ["bad"]}), ("tasks", {"command": "true"})):
            self.assertEqual(self.ask("POST", f"{farm}/{path}", body, **reader)[0], 403)
            for wrong in ({}, {"tasks": ["nothing"]}, {"tasks": [7]}, {"command": 3}, {"command": "true", "trials": 1}):
                self.assertIn(self.ask("POST", f"{farm}/{path}", wrong)[0], (400, 404), wrong)
        self.assertEqual(self.ask("POST", farm + "/tasks", {"trials": 1})[0], 400)  # it is not a search
        self.assertEqual(self.ask("POST", farm + "/retry", {"tasks": ["slow"]})[0], 400)
        self.assertEqual(self.ask("POST", farm + "/cancel", {"tasks": ["later"]})[0], 202)
        self.wait_until(lambda: state()["later"] == "cancelled", 120)
        self.assertEqual(self.ask("POST", farm + "/tasks", {"command": "echo more", "name": "more"})[1], {"added": "task more"})
        self.assertEqual(self.ask("POST", farm + "/tasks", {"command": "echo more", "name": "more"})[0], 409)
        self.wait_until(lambda: "more" in state(), 120)
        for folder in self.found("home/.radl/jobs/*/checkpoints/*"):
            (folder / "gate").touch()
        ended = self.end_of(run)
        self.assertEqual(ended["state"], "failed", ended)
        self.assertEqual(state(), {"bad": "failed", "slow": "finished", "later": "cancelled", "more": "finished"})
        self.assertEqual(self.ask("POST", farm + "/retry", {"tasks": ["bad", "later"]})[0], 202)
        self.assertEqual({state()["bad"], state()["later"]}, {"waiting"})
        self.assertEqual(self.get(farm)["counts"]["waiting"], 2)
