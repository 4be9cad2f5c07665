"""std/cluster/ray and std/training/ray with Ray itself: a cluster of three local nodes, jobs, the dashboard."""
import json
import os
import shutil
import socket
import urllib.error
import urllib.request

from radl_case import SOURCE, RadlCase

PYTHON = os.environ["RADL_RAY_PYTHON"]


ASK = """import json, socket, time, ray
ray.init(address="auto", log_to_driver=False)

@ray.remote(num_cpus=1)
def where():
    time.sleep(40)
    return socket.gethostname()

@ray.remote(num_cpus=64)
def nowhere():
    return None

too_big = nowhere.remote()
print(json.dumps({"hosts": len(set(ray.get([where.remote() for _ in range(4)])))}))
"""


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

    def nodes(self):
        return sorted(r["address"] for r in self.show(self.file)["resources"] if r["address"].startswith("worker["))

    def without_a_program(self):
        text = self.file.read_text()
        begin, end = text.index("use 'std/training/ray'"), text.index("output dashboard")
        self.file.write_text(text[:begin] + text[end:])

    def test_jobs_that_rays_own_submit_was_given_are_in_the_queue(self):
        self.without_a_program()
        self.radlc("apply", "--auto-approve", self.file, "--input", f"python={PYTHON}", "--input", "workers=0", timeout=500)
        ray = f"{PYTHON} -m ray.scripts.scripts job"

        def jobs():
            return {job["id"]: job["state"] for job in json.loads(self.radlc("queue", self.file, "--json"))}
        self.assertEqual(jobs(), {})
        for name, command in (("long", "sleep 600"), ("short", "true")):
            self.radlc("exec", self.file, "head", "-c", f"{ray} submit --no-wait --submission-id {name} --address http://127.0.0.1:8265 -- {command}",
                       timeout=200)
        self.wait_until(lambda: jobs() == {"ray/long": "running", "ray/short": "succeeded"}, 120, lambda: f"the queue has {jobs()}")
        self.radlc("exec", self.file, "head", "-c", f"{ray} stop --address http://127.0.0.1:8265 long", timeout=200)
        self.wait_until(lambda: jobs()["ray/long"] == "stopped", 120, lambda: f"the queue has {jobs()}")
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left(state="ray/.radl")

    def test_workers_come_for_tasks_that_wait_and_go_when_they_are_idle(self):
        self.without_a_program()
        self.edit(self.file, ("  cpus = input.cpus\n", "  cpus = input.cpus\n  idle = 10s\n  max = 2\n"))
        self.write("ray/ask.py", ASK)
        given = ["--input", f"python={PYTHON}", "--input", "workers=0"]
        self.radlc("apply", "--auto-approve", self.file, *given, timeout=500)
        self.assertEqual(self.nodes(), [])
        scaling = self.start("autoscale", self.file, *given)
        self.radlc("cp", self.file, str(self.folder / "ray/ask.py"), "head:ask.py")
        # Each asks for all of a node, and one for what none ever has: the head and `most` workers, no more.
        said = self.radlc("exec", self.file, "head", "-c", f"{PYTHON} ask.py", timeout=400)
        self.assertEqual(json.loads(said.strip().splitlines()[-1])["hosts"], 3, said)
        self.wait_until(lambda: self.nodes() == [], 180, lambda: f"idle workers stay: {self.nodes()}")
        self.assertIsNone(scaling.poll(), "autoscale has ended")
        scaling.terminate()
        out, err = scaling.communicate(timeout=60)
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
