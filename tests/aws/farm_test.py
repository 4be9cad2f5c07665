"""Elastic farms on spot machines of EC2, from zero machines to zero machines; boto3 counts machines, spot requests, volumes and outputs."""
import itertools
import json
import signal
import time
import unittest

from aws_case import SYSTEM, AwsCase
from faults import error
from proxy import Treatment

FILE = f"""radl 2
network lan ( outbound = 'no' )
system worker ( cpu.count >= 1, instance_type = 't3.small', spot = 'yes', spot.fallback = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy worker 2 ec2
use 'std/farm/tasks' as work (
  nodes = system.worker, elastic = yes, idle = 5s, fitness = 'spread', merge = 'o.txt', options = {{ results = 's3://models/farm' }}
  tasks = [ {{ name = 't${{n}}', command = 'until [ -e "$RADL_CHECKPOINTS/gate" ]; do sleep 0.1; done; echo {{task}} > "$RADL_RESULTS/o.txt"', seconds = 3600 }} for n in range(6) ]
)
"""
MACHINES = ("instance", "volume", "address", "spot request", "network interface")


class Farms(AwsCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("farm.radl", FILE)

    def journal(self):
        texts = [path.read_text() for path in self.found("farms/*/journal.jsonl")]
        return [json.loads(line) for line in "".join(texts).rpartition("\n")[0].splitlines()]

    def running(self):
        """Machines with tasks that have neither ended nor been lost."""
        nodes = {}
        for event in self.journal():
            if event["event"] == "start":
                nodes[event["task"], event["attempt"]] = event["node"]
            if event["event"] == "end":
                nodes.pop((event["task"], event["attempt"]), None)
        return set(nodes.values())

    def open_gates_until(self, process):
        def over():
            for view in list(self.machines.views.values()):
                for folder in view.home.glob(".radl/jobs/*/checkpoints/*"):
                    (folder / "gate").touch()
            return process.poll() is not None
        self.wait_until(over, 120, message="it does not end")
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, out + err)
        return err

    def machines_left(self):
        return [str(thing) for thing in self.baseline.changes()[0] if thing.kind in MACHINES]

    def assert_each_output_once(self):
        s3 = self.moto.client("s3")
        keys = [o["Key"] for o in s3.list_objects_v2(Bucket="models", Prefix="farm/").get("Contents", [])]
        names = [f"t{n}" for n in range(6)]
        self.assertEqual(sorted(key for key in keys if key.endswith("/o.txt") and key.count("/") == 2), [f"farm/{name}/o.txt" for name in names])
        merged = s3.get_object(Bucket="models", Key="farm/o.txt")["Body"].read().decode()
        self.assertEqual(merged.split(), names)
        commits = sorted(event["task"] for event in self.journal() if event["event"] == "commit")
        self.assertEqual(commits, names)

    def test_a_budget_bounds_what_the_farm_may_grow_to(self):
        file = self.write("unknown.radl", FILE.replace(", seconds = 3600", ""))
        plan = self.plan(file)
        (forecast,) = plan["forecasts"]
        (node,) = plan["costs"]
        price = node["price_per_hour"]["micros"]
        self.assertEqual(forecast["growth"], {"nodes": 2, "per_hour": {"micros": 2 * price, "currency": "USD"}})
        for limit, nodes in ((1.5, None), (2.1, 2)):
            (forecast,) = self.plan("--max-cost", f"{limit * price / 1e6:.6f}", file)["forecasts"]
            self.assertEqual(forecast.get("growth", {}).get("nodes"), nodes, limit)

    def test_from_zero_to_zero_across_an_interruption(self):
        (forecast,) = self.plan(self.file)["forecasts"]
        self.assertEqual(forecast["nodes"][0]["nodes"], 2)
        self.assertGreater(forecast["cost"]["on_demand"]["micros"], forecast["cost"]["spot"]["micros"])
        self.assertEqual(self.baseline.changes(), ([], []), "a plan made something")
        process = self.start("apply", "--auto-approve", self.file)
        self.wait_until(lambda: len(self.running()) == 2 or process.poll() is not None, 120, message="no tasks start")
        self.assertIsNone(process.poll())
        self.assertEqual([i.get("InstanceLifecycle") for i in self.ours()], ["spot", "spot"])
        victim = next(r["id"] for r in self.show(self.file)["resources"] if r["address"] == "worker[1]")
        self.assertIn(b"idle=1800", self.machines.user_data(victim), "a machine without a master does not end itself")
        self.metadata.interrupted[victim] = time.time() + 120
        self.wait_until(lambda: victim not in {i["InstanceId"] for i in self.ours()} and len(self.ours()) == 2, 120, message="it is not replaced")
        self.open_gates_until(process)
        self.assert_each_output_once()
        self.assertEqual(max(task["attempt"] for task in json.loads(self.radlc("farm", "table", "--json", self.file))), 2)
        self.assertEqual(self.machines_left(), [])
        self.radlc("plan", "--detailed-exitcode", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_without_capacity_it_goes_on_with_fewer_and_is_freed_after_a_kill(self):
        launches = itertools.count(1)

        def faults(request):
            if request.action != "RunInstances" or next(launches) == 1:
                return None
            return Treatment(name="capacity", refuse=error(request, ("InsufficientInstanceCapacity", "not now", 500)))

        self.proxy.faults = faults
        process = self.start("apply", "--auto-approve", self.file)
        self.wait_until(lambda: self.running() or process.poll() is not None, 120, message="no tasks start")
        self.assertIsNone(process.poll())
        self.assertEqual(len(self.ours()), 1)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.proxy.faults = None
        self.radlc("farm", "free", "--auto-approve", self.file)
        self.assertEqual(self.machines_left(), [])
        self.open_gates_until(self.start("apply", "--auto-approve", self.file))
        self.assert_each_output_once()
        self.assertEqual(self.machines_left(), [])
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
