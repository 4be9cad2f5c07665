"""Scaling of an infrastructure of the service while an apply of the service supervises a training there."""
import json
import signal
import time

from api_case import ApiCase
from service_cli_case import ServiceCliCase

TRAINING = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
deploy worker 1
use 'std/training/all_reduce' as small (
  workers = system.worker, model = 'lenet', dataset = 'cifar10', source = 'subset', batch_size = 50, epochs = 100000, result = 'result'
)
"""
JOB = "training/small"


class Scales:
    def training(self, one):
        """An apply of the training that has begun its steps."""
        run = self.start_plan(infrastructure=one, program=TRAINING)
        self.wait_for(run, "step")
        return run

    def wait_for(self, run, kind, **fields):
        self.wait_until(lambda: [e for e in self.metrics(run, kind) if fields.items() <= e.items()], 120, lambda: str(self.get(f"/runs/{run}")))

    def wait_for_workers(self, one, *workers):
        """Until the training's record names these nodes, and no others exist."""
        def has_them():
            (step,) = [s for s in self.get(f"/infrastructures/{one}")["snapshot"]["steps"] if s["id"] == JOB]
            return step["nodes"] == list(workers)
        self.wait_until(has_them, 120, lambda: str(self.get(f"/infrastructures/{one}")))
        self.assertEqual(self.nodes(one), list(workers))

    def nodes(self, one):
        return [r["address"] for r in self.get(f"/infrastructures/{one}")["snapshot"]["resources"] if "system" in r]

    def state_of(self, run):
        return self.get(f"/runs/{run}")["state"]

    def assert_ends_well(self, one, apply):
        """The training was never restarted, and ends when its apply is stopped."""
        self.assertEqual(self.state_of(apply), "running")
        self.assertEqual(self.get(f"/infrastructures/{one}")["state"], "working")
        self.assertNotIn("action_retry", {e["event"] for e in self.get(f"/runs/{apply}/events")["events"]})
        self.ask("POST", f"/runs/{apply}/stop")
        self.assertEqual(self.end_of(apply)["state"], "stopped")


class Api(Scales, ApiCase):
    def test_a_scale_does_not_wait_for_the_apply_that_supervises_a_training(self):
        one = self.create()
        apply = self.training(one)
        self.run_plan(infrastructure=one, command="scale", system="worker", count=2)
        self.wait_for(apply, "peer_joined", peer="worker/1")
        self.wait_for_workers(one, "worker[0]", "worker[1]")
        # Two at once: the second one waits for the first one, not for the apply.
        grow = self.plan(infrastructure=one, command="scale", system="worker", count=3)
        shrink = self.plan(infrastructure=one, command="scale", system="worker", without=[1])
        runs = [self.ask("POST", "/runs", {"plan": plan["id"]})[1]["id"] for plan in (shrink, grow)]
        self.assertEqual(self.end_of(runs[0])["state"], "done")
        self.wait_for_workers(one, "worker[0]")
        # The plan of the second one was made for two nodes, with which it no longer agrees.
        self.assertEqual(self.end_of(runs[1])["code"], "conflict")
        self.assertEqual(self.nodes(one), ["worker[0]"])
        self.assert_ends_well(one, apply)

    def test_every_other_run_waits_for_apply_and_scale(self):
        one = self.create()
        apply = self.training(one)
        destroy = self.start_plan(infrastructure=one, command="destroy")
        scale = self.start_plan(infrastructure=one, command="scale", system="worker", count=2)
        time.sleep(1)
        self.assertEqual([self.state_of(run) for run in (apply, destroy, scale)], ["running", "queued", "queued"])
        self.ask("POST", f"/runs/{destroy}/stop")
        self.assertEqual(self.state_of(destroy), "stopped")
        self.assertEqual(self.end_of(scale)["state"], "done")  # no longer behind the destroy
        self.assert_ends_well(one, apply)

    def test_a_killed_service_continues_both(self):
        one = self.create()
        apply = self.training(one)
        scale = self.start_plan(infrastructure=one, command="scale", system="worker", count=2)
        self.wait_until(lambda: "action_started" in {e["event"] for e in self.get(f"/runs/{scale}/events")["events"]}, 60)
        self.stop_server(signal.SIGKILL)
        self.serve(self.port)
        run = self.end_of(scale)
        self.assertEqual(run["state"], "done", run)
        self.wait_for_workers(one, "worker[0]", "worker[1]")
        self.wait_until(lambda: len(self.get(f"/runs/{apply}")["logs"]) == 2, 60)
        self.assert_ends_well(one, apply)


class CommandLine(Scales, ServiceCliCase):
    def test_radlc_scales_a_training_of_the_service(self):
        self.log_in()
        file = self.write("train.radl", TRAINING)
        self.on_service("apply", file, "--auto-approve", "--detach")
        (row,) = self.named("train")
        one, (apply,) = row["id"], [run["id"] for run in self.get(f"/runs?infrastructure={row['id']}")["runs"]]
        self.wait_for(apply, "step")
        self.assertIn("worker[1] joins the training that runs", self.on_service("scale", file, "worker", "+1", "--auto-approve"))
        self.wait_for_workers(one, "worker[0]", "worker[1]")
        self.on_service("scale", file, "worker", "--node", "worker[0]", "--auto-approve")
        self.wait_for_workers(one, "worker[1]")
        self.assertIn(apply, self.on_service("show", file))  # it is the run to follow, although the scale is newer
        self.assertEqual(json.loads(self.on_service("list", "--json"))[0]["last_run"], apply)
        self.assert_ends_well(one, apply)
