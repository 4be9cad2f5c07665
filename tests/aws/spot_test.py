"""A spot machine that EC2 takes back in the middle of a training: the others go on, and another machine takes its place, in one apply."""
import json
import time
import unittest

from aws_case import SYSTEM, AwsCase

FILE = f"""radl 2
network lan ( outbound = 'no' )
system worker ( instance_type = 't3.small', spot = 'yes', spot.fallback = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy worker 2 ec2
configure train (
  training 'small' (
    workers = system.worker, mode = 'allreduce', model = 'lenet', learning_rate = 0.005
    dataset = 'cifar10', source = 'subset', batch_size = 50, epochs = 20
    checkpoint_epochs = 0, checkpoint_every = 3600, result = 's3://models/spot'
  )
)
"""


class Spot(AwsCase):
    def test_an_interrupted_machine_is_replaced_and_the_training_goes_on(self):
        file = self.write("train.radl", FILE)
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", file, "--log-json", log)
        steps = lambda: [e for e in self.events(log) if e["event"] == "metric" and e["data"].get("event") == "step"]
        self.wait_until(lambda: steps() or process.poll() is not None, 120)
        self.assertIsNone(process.poll(), "it ended before it was interrupted")
        self.assertEqual([i.get("InstanceLifecycle") for i in self.ours()], ["spot", "spot"])
        victim = next(r["id"] for r in self.show(file)["resources"] if r["address"] == "worker[1]")
        self.metadata.interrupted[victim] = time.time() + 120
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(len([line for line in err.splitlines() if "worker[1] was preempted" in line]), 1, err)
        self.assertNotIn(victim, {i["InstanceId"] for i in self.ours()})
        self.assertEqual(len(self.ours()), 2)
        body = self.moto.client("s3").get_object(Bucket="models", Key="spot/report.json")["Body"].read()
        # The chief went on.
        self.assertEqual(json.loads(body)["metrics"]["resumed_from"], 0)
        looks = [path for _, path in self.metadata.requests if path.endswith("instance-action")]
        self.assertLess(len(looks), 200, "asked too often")
        self.radlc("destroy", "--auto-approve", file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
