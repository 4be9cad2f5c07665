"""A spot machine whose end is announced in the middle of a training: the others go on, and another machine takes its place, in one apply."""
import json
import time
import unittest

from azure_case import SYSTEM, AzureCase

FILE = f"""radl 2
network lan ( outbound = 'yes' )
system worker ( cpu.count >= 1, spot = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy worker 2 azure
configure train (
  training 'small' (
    workers = system.worker, mode = 'allreduce', model = 'lenet', learning_rate = 0.005
    dataset = 'cifar10', source = 'subset', batch_size = 50, epochs = 20
    checkpoint_epochs = 0, checkpoint_every = 3600, result = 'trained'
  )
)
"""


class Spot(AzureCase):
    def test_a_machine_whose_end_is_announced_is_replaced_and_the_training_goes_on(self):
        file = self.write("train.radl", FILE)
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", file, "--log-json", log)
        steps = lambda: [e for e in self.events(log) if e["event"] == "metric" and e["data"].get("event") == "step"]
        self.wait_until(lambda: steps() or process.poll() is not None, 180)
        self.assertIsNone(process.poll(), "it ended before it was interrupted")
        victim = next(r["id"] for r in self.show(file)["resources"] if r["address"] == "worker[1]")
        name = victim.rpartition("/")[2]
        self.notices.evicted[name] = time.time() + 30
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(len([line for line in err.splitlines() if "worker[1] was preempted" in line]), 1, err)
        self.assertNotIn(victim, self.ours())
        self.assertEqual(len(self.ours()), 2)
        # The chief went on.
        report = json.loads((self.folder / "trained/report.json").read_text())
        self.assertEqual(report["metrics"]["resumed_from"], 0)
        self.assertEqual({machine for machine, _ in self.notices.requests if machine == name}, {name})
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
