"""Images from S3 and, where the file says so, the model to S3; what is in the bucket is looked at by boto3."""
import json
import random
import shutil
import unittest

from aws_case import SYSTEM, AwsCase
from radl_case import SOURCE

FILE = """radl 2
input data ( type = 'string' )
input result ( type = 'string', default = 'result' )
input epochs ( type = 'number', default = 2 )
network lan ( outbound = 'no' )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy node 2
use 'std/data/dataset' as images ( name = input.data, systems = [system.node] )
use 'std/training/all_reduce' as small (
  workers = system.node, model = 'logistic', learning_rate = 0.02, dataset = images.dataset
  batch_size = 50, epochs = input.epochs, result = input.result
)
output model ( value = small.model_path )
"""


class Storage(AwsCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        s3 = self.moto.client("s3")
        s3.create_bucket(Bucket="images")
        for path in sorted((SOURCE / "examples/cifar10/subset").glob("*.bin")):
            s3.put_object(Bucket="images", Key=f"cifar10/{path.name}", Body=path.read_bytes())
        self.file = self.write("train.radl", FILE)

    def test_a_training_takes_its_images_from_s3(self):
        self.radlc("apply", "--auto-approve", self.file, "--input", "data=s3://images/cifar10")
        report = json.loads((self.folder / "result" / "report.json").read_text())
        self.assertGreater(report["curve"][-1]["test_accuracy"], 0.12)
        got = [request.path for request in self.proxy.log if request.action == "GetObject"]
        self.assertEqual(len([path for path in got if "data_batch_1" in path]), 1, "fetched more than once")
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    @unittest.skipUnless(shutil.which("curl"), "no curl, by which nodes fetch")
    def test_a_node_fetches_a_large_dataset_from_s3_by_itself_and_gives_it_to_the_other(self):
        self.write("train.radl", FILE.replace("'lan' )", f"'lan', {SYSTEM} )").replace("deploy node 2", "deploy node 2 ec2"))
        s3, record = self.moto.client("s3"), 1 + 3 * 32 * 32
        for name in [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]:
            pixels = random.Random(name).randbytes(3300 * record)
            labelled = b"".join(bytes([pixels[at] % 10]) + pixels[at + 1:at + record] for at in range(0, len(pixels), record))
            s3.put_object(Bucket="images", Key=f"large/{name}.bin", Body=labelled)
        self.moto.check_signatures(False)  # it fails at those that stand in a URL
        said = self.radlc("apply", "--auto-approve", self.file, "--input", "data=s3://images/large", "--input", "epochs=1")
        self.assertRegex(said, r"node\[\d\]: [\d.]+ MB/s from s3://images/large, [\d.]+ MB/s from this computer")
        self.assertRegex(said, r"node\[\d\]: the dataset comes from node\[\d\]")
        signed = [request.path for request in self.proxy.log if request.action == "GetObject" and "X-Amz-Signature=" in request.path]
        self.assertTrue(signed, "nothing was fetched by a node")
        self.assertLessEqual(len(signed), 6, "a file was fetched twice")
        self.assertNotIn("X-Amz-Signature", said)
        for path in self.folder.rglob("*"):
            if path.is_file() and path.stat().st_size < 5_000_000:
                self.assertNotIn(b"X-Amz-Signature", path.read_bytes(), path)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.assert_nothing_left()

    def test_the_papers_cluster_trains_on_ec2_by_one_input(self):
        if not self.machines.isolated:
            self.skipTest("the image's own login name needs a view of the file system: not root")
        example = self.write("training.radl", (SOURCE / "examples/paper/training.radl").read_text())
        self.radlc("apply", "--auto-approve", example, "--input", "cloud=ec2", "--input", "data=s3://images/cifar10",
                   "--input", "model=logistic", "--input", "epochs=1", "--input", "result=s3://models/paper")
        self.assertEqual(len(self.ours()), 3)
        there = [o["Key"] for o in self.moto.client("s3").list_objects_v2(Bucket="models").get("Contents", [])]
        self.assertIn("paper/model/model.safetensors", there)
        self.assertTrue([key for key in there if key.startswith("paper/checkpoints/") and key.endswith(".ckpt")], there)
        self.radlc("destroy", "--auto-approve", example)
        self.assert_account_is_as_before()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
