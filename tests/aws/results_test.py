"""Models, events and checkpoints in S3, and trainings that go on from there on new machines; boto3 looks at the bucket."""
import hashlib
import json
import os
import signal
import unittest

from aws_case import AwsCase
from farm_case import write_model_and_images
from proxy import Treatment, s3_error
from radl_case import SOURCE

FILE = f"""radl 2
input epochs ( type = 'number', default = 2 )
input result ( type = 'string', default = 's3://models/paper' )
input checkpoints ( type = 'string', default = none )
input model ( type = 'string', default = 'lenet' )
network lan ( outbound = 'no' )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy node 2
use 'std/training/all_reduce' as small (
  workers = system.node, model = input.model, learning_rate = 0.02
  dataset = '{SOURCE}/examples/cifar10/subset', batch_size = 50, epochs = input.epochs
  checkpoint_every = 0.2, result = input.result, checkpoints = input.checkpoints
)
output model ( value = small.model_path )
output report ( value = small.report_path )
"""


class Results(AwsCase):
    boots = False

    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        self.file = self.write("train.radl", FILE)
        self.s3 = self.moto.client("s3")

    def objects(self, prefix=""):
        """{key: bytes} in the bucket."""
        listed = self.s3.list_objects_v2(Bucket="models", Prefix=prefix).get("Contents", [])
        return {o["Key"]: self.s3.get_object(Bucket="models", Key=o["Key"])["Body"].read() for o in listed}

    def checkpoints(self, prefix="paper/checkpoints/"):
        """Their names. What is listed may be gone a moment later: a training keeps the newest ones."""
        listed = self.s3.list_objects_v2(Bucket="models", Prefix=prefix).get("Contents", [])
        return sorted(o["Key"].rpartition("/")[2] for o in listed)

    def assert_whole(self, checkpoints):
        for name, content in checkpoints.items():
            if name.endswith(".ckpt"):
                self.assertEqual(hashlib.sha256(content[:-64]).hexdigest(), content[-64:].decode(), name)

    def apply(self, *inputs, **options):
        return self.radlc("apply", "--auto-approve", self.file, *[word for i in inputs for word in ("--input", i)], **options)

    def destroy(self):
        return self.radlc("destroy", "--auto-approve", self.file)

    def asked(self, action):
        return [r.path for r in self.proxy.log if r.action == action]

    def killed_with_a_checkpoint(self, *inputs):
        """A training of which a checkpoint is in the bucket, and whose radlc has been killed."""
        process = self.start("apply", "--auto-approve", self.file, *[word for i in inputs for word in ("--input", i)])
        self.wait_until(lambda: any(name.endswith(".ckpt") for name in self.checkpoints()) or process.poll() is not None)
        self.assertIsNone(process.poll(), "it ended before a checkpoint was there")
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()

    def test_model_events_report_and_the_last_checkpoints_are_in_the_bucket(self):
        text = self.radlc("plan", self.file)
        self.assertIn("model and checkpoints to s3://models/paper", text)
        self.assertEqual(self.proxy.log, [], "a plan asked somebody")
        self.apply()
        there = self.objects("paper/")
        for name in ("model/model.safetensors", "model/model.onnx", "model/model.json", "report.json"):
            self.assertIn("paper/" + name, there)
        self.assertTrue([key for key in there if key.startswith("paper/events/")])
        kept = [name for name in self.checkpoints() if name.endswith(".ckpt")]
        self.assertEqual(len(kept), 2, kept)
        self.assert_whole(there)
        self.assertGreater(json.loads(there["paper/report.json"])["curve"][-1]["test_accuracy"], 0.12)
        shown = json.loads(self.radlc("output", "--json", self.file))
        self.assertIn("s3://models/paper/model/model.safetensors", json.dumps(shown))
        state = b"".join(p.read_bytes() for p in (self.folder / ".radl").rglob("*") if p.is_file())
        self.assertIn(hashlib.sha256(there["paper/model/model.safetensors"]).hexdigest().encode(), state)
        self.assertNotIn(self.environment["AWS_SECRET_ACCESS_KEY"].encode(), state)
        # Nothing changes while it is there, and offline nothing is asked.
        before = len(self.proxy.log)
        self.radlc("plan", "--detailed-exitcode", self.file)
        self.assertEqual(len(self.proxy.log), before)
        self.apply()
        self.assertEqual({r.action for r in self.proxy.log[before:]}, {"HeadObject"})
        self.s3.delete_object(Bucket="models", Key="paper/model/model.safetensors")
        self.assertIn("its output is missing: s3://models/paper/model/model.safetensors", self.apply())
        self.assertEqual(self.objects("paper/model/")["paper/model/model.safetensors"], there["paper/model/model.safetensors"])
        self.assertIn("s3://models/paper stay", self.destroy())
        self.assertIn("paper/model/model.safetensors", self.objects("paper/"))
        self.assertTrue(self.checkpoints())
        self.assert_nothing_left()

    def test_a_programs_results_logs_and_report_are_in_the_bucket(self):
        self.file.write_text("""radl 2
system node ( cpu.count >= 1 )
deploy node 2
configure work (
  program 'work' (
    systems = system.node
    main = 'sh'
    arguments = ['-c', 'echo "member $$RADL_MEMBER"; echo made > "$$RADL_RESULTS/made"']
    results = 's3://models/programs/work'
  )
)
output metrics ( value = work.metrics )
""")
        self.assertIn("results to s3://models/programs/work", self.radlc("plan", self.file))
        self.apply()
        there = self.objects("programs/")
        self.assertEqual(there["programs/work/made"], b"made\n")
        self.assertEqual(there["programs/work/logs/node[1].log"], b"member 1\n")
        self.assertEqual(json.loads(there["programs/work/report.json"])["exit_status"], 0)
        self.assertEqual(self.plan(self.file)["actions"], [])
        self.s3.delete_object(Bucket="models", Key="programs/work/report.json")
        self.apply()
        self.assertIn("programs/work/report.json", self.objects("programs/"))
        # A version that forgets to save leaves nothing of the one before it; what the user put there stays.
        self.s3.put_object(Bucket="models", Key="programs/work/thesis", Body=b"mine")
        self.file.write_text(self.file.read_text().replace('echo made > "$$RADL_RESULTS/made"', "true"))
        self.apply()
        self.assertEqual(sorted(self.objects("programs/")),
                         ["programs/work/" + name for name in (".radl-results", "logs/node[0].log", "logs/node[1].log", "report.json", "thesis")])
        self.destroy()
        self.assert_nothing_left()

    def test_a_destroyed_cluster_goes_on_from_the_bucket_to_the_same_bits(self):
        self.apply("result=s3://models/whole", "epochs=4")
        whole = self.objects("whole/model/")["whole/model/model.safetensors"]
        self.destroy()
        self.killed_with_a_checkpoint("epochs=4")
        self.destroy()
        self.assert_nothing_left()
        self.assert_whole(self.objects("paper/"))
        self.assertIn("resumes from the last checkpoint in s3://models/paper/checkpoints", self.radlc("plan", self.file, "--input", "epochs=4"))
        self.apply("epochs=4")
        there = self.objects("paper/")
        self.assertGreater(json.loads(there["paper/report.json"])["metrics"]["resumed_from"], 0)
        self.assertEqual(there["paper/model/model.safetensors"], whole)
        self.destroy()

    def test_a_training_that_is_interrupted_leaves_what_it_had_reached(self):
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", self.file, "--input", "epochs=100", "--log-json", log)
        self.wait_until(lambda: any(e["data"].get("event") == "step" for e in self.events(log) if e["event"] == "metric"))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=90)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertTrue([name for name in self.checkpoints() if name.endswith(".ckpt")], "no checkpoint was written or sent")
        self.assert_whole(self.objects("paper/"))
        self.destroy()

    def test_checkpoints_may_be_kept_apart_from_the_model(self):
        self.apply("result=result", "checkpoints=s3://models/kept", "model=logistic")
        self.assertTrue((self.folder / "result/model/model.safetensors").exists())
        self.assertEqual({key.partition("/")[0] for key in self.objects()}, {"kept"})
        self.assertEqual(len(self.checkpoints("kept/")), 2)
        self.destroy()

    def test_fewer_epochs_begin_anew_and_what_is_there_is_not_gone_on_from(self):
        self.apply("epochs=2")
        first = self.checkpoints()
        self.apply("epochs=1")
        self.assertEqual(json.loads(self.objects("paper/report.json")["paper/report.json"])["metrics"].get("resumed_from", 0), 0)
        names = self.checkpoints()
        self.assertFalse(set(names) & set(first), "checkpoints of the run before have not made way")
        self.assertIn("run", names)
        self.destroy()

    def test_a_bucket_that_fails_for_a_while_stops_no_training(self):
        bad = [0]

        def fails(request):
            if request.action == "PutObject" and ".ckpt" in request.path and bad[0] < 12:
                bad[0] += 1
                return Treatment(refuse=s3_error("ServiceUnavailable", "not now", 503))
            return None
        self.proxy.faults = fails
        self.apply("epochs=4")
        self.assertGreater(bad[0], 0)
        self.assertEqual(len([name for name in self.checkpoints() if name.endswith(".ckpt")]), 2)
        self.assert_whole(self.objects("paper/"))
        self.destroy()

    def test_a_bucket_that_cannot_be_written_is_known_before_anything_is_made(self):
        self.radlc("apply", "--auto-approve", self.file, "--input", "result=s3://nobodys/paper", code=None)
        self.assertIn("s3://nobodys", self.err)
        self.assertIn("The bucket does not exist", self.err)
        self.assertEqual(self.show(self.file)["resources"], [], "a machine was made for it")
        self.destroy()

    def test_what_is_no_place_is_refused_with_its_line(self):
        for place in ("s3://", "s3://UPPER/x", "s3://models/../x", "gs://UPPER/x", "s3://models/a?b=c"):
            self.radlc("check", self.write("bad.radl", FILE.replace("s3://models/paper", place)), code=1)
            self.assertIn("s3://BUCKET/PREFIX", self.err)

    def test_distributos_words_leave_the_predictions_in_the_bucket(self):
        write_model_and_images(self.folder)
        self.radlc("farm", "--inference", "--num-instances", "1", "--batch-size", "4", "--num-batches", "2", "--output", "s3://models/imagenet",
                   "--model", "model", "--images", "photos", "-y")
        there = self.objects("imagenet/")
        files = [json.loads(line)["file"] for line in there["imagenet/predictions.jsonl"].splitlines()]
        self.assertEqual(files, [f"./{n}.png" for n in range(8)])
        self.assertIn("imagenet/inferred-4-8/predictions.jsonl", there)
        self.radlc("farm", "--free-resources", "-y")
        self.assert_nothing_left()
        self.assertIn("imagenet/predictions.jsonl", self.objects("imagenet/"))


if __name__ == "__main__":
    unittest.main()
