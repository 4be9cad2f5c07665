"""The fault proxy itself, with boto3 as the client: what it does to requests, and that a seed does it again."""
import pathlib
import shutil
import socket
import tempfile
import time
import unittest

import boto3
import botocore.config
import botocore.exceptions

from account import instances
from extras import Extras
from faults import CAPACITY, THROTTLED, Always, At, Eventual, Faults, Market
from moto_site import REGION, Moto
from proxy import Proxy, Request, Treatment

TYPE = {"ImageId": "ami-0deb12000000000a2", "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}


class FaultProxy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-aws-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.moto = Moto(cls.folder / "moto")
        cls.addClassCleanup(cls.moto.stop)
        cls.moto.check_signatures()

    def proxy(self, faults=None, extras=None):
        proxy = Proxy(self.moto.url, faults, extras)
        self.addCleanup(proxy.close)
        return proxy

    def client(self, proxy, service="ec2", attempts=1):
        config = botocore.config.Config(retries={"total_max_attempts": attempts}, read_timeout=20, s3={"addressing_style": "path"})
        return boto3.client(service, endpoint_url=proxy.url, region_name=REGION, config=config, **self.moto.user)

    def count(self):
        return len(instances(self.moto.client("ec2")))

    def test_signed_requests_pass_and_are_named(self):
        proxy = self.proxy()
        self.client(proxy).describe_instances()
        s3 = self.client(proxy, "s3")
        s3.create_bucket(Bucket="named")
        s3.put_object(Bucket="named", Key="a/b", Body=b"x" * 100000)
        self.assertEqual(s3.get_object(Bucket="named", Key="a/b")["Body"].read(), b"x" * 100000)
        self.assertEqual(s3.head_object(Bucket="named", Key="a/b")["ContentLength"], 100000)
        upload = s3.create_multipart_upload(Bucket="named", Key="c")["UploadId"]
        s3.abort_multipart_upload(Bucket="named", Key="c", UploadId=upload)
        self.client(proxy, "sts").get_caller_identity()
        self.assertEqual(proxy.calls(), {("ec2", "DescribeInstances"), ("s3", "CreateBucket"), ("s3", "PutObject"), ("s3", "GetObject"),
                                         ("s3", "HeadObject"), ("s3", "CreateMultipartUpload"), ("s3", "AbortMultipartUpload"),
                                         ("sts", "GetCallerIdentity")})

    def test_a_lost_answer_is_one_after_the_server_acted(self):
        before = self.count()
        with self.assertRaises(botocore.exceptions.ConnectionClosedError):
            self.client(self.proxy(At(1, lambda r: Treatment(reset_after=True)))).run_instances(**TYPE)
        self.assertEqual(self.count(), before + 1)
        with self.assertRaises(botocore.exceptions.ConnectionClosedError):
            self.client(self.proxy(At(1, lambda r: Treatment(reset_before=True)))).run_instances(**TYPE)
        self.assertEqual(self.count(), before + 1)

    def test_errors_are_those_of_the_api(self):
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            self.client(self.proxy(Always(THROTTLED))).describe_instances()
        self.assertEqual(refused.exception.response["Error"]["Code"], "RequestLimitExceeded")
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            self.client(self.proxy(Always(THROTTLED)), "s3").list_buckets()
        self.assertEqual(refused.exception.response["Error"]["Code"], "SlowDown")

    def test_no_capacity_is_of_a_type_and_a_zone(self):
        client = self.client(self.proxy(Market(self.moto, lacking=[("t3.micro", "us-east-1a")])))
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            client.run_instances(**TYPE, Placement={"AvailabilityZone": "us-east-1a"})
        self.assertEqual(refused.exception.response["Error"]["Code"], CAPACITY[0])
        client.run_instances(**TYPE, Placement={"AvailabilityZone": "us-east-1b"})

    def test_a_client_token_makes_one_launch_of_many_requests(self):
        extras = Extras()
        proxy = self.proxy(extras=extras)
        extras.forward = proxy.forward
        client, before = self.client(proxy), self.count()
        names = {client.run_instances(**TYPE, ClientToken="once")["Instances"][0]["InstanceId"] for _ in range(3)}
        self.assertEqual((len(names), self.count()), (1, before + 1))
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            client.run_instances(**dict(TYPE, InstanceType="t3.small"), ClientToken="once")
        self.assertEqual(refused.exception.response["Error"]["Code"], "IdempotentParameterMismatch")

    def test_new_instances_are_hidden_and_then_pending(self):
        client = self.client(self.proxy(Faults(1, share=0, eventual=Eventual(hidden=0.7, pending=1.5))))
        name = client.run_instances(**TYPE)["Instances"][0]["InstanceId"]
        with self.assertRaises(botocore.exceptions.ClientError):
            client.describe_instances(InstanceIds=[name])
        self.assertNotIn(name, [i["InstanceId"] for i in instances(client)])
        states = set()
        deadline = time.monotonic() + 20
        while "running" not in states and time.monotonic() < deadline:
            states |= {i["State"]["Name"] for i in instances(client) if i["InstanceId"] == name}
            time.sleep(0.1)
        self.assertEqual(states, {"pending", "running"})

    def test_placement_groups_and_console(self):
        client = self.client(self.proxy(extras=Extras()))
        client.create_placement_group(GroupName="near", Strategy="cluster", TagSpecifications=[
            {"ResourceType": "placement-group", "Tags": [{"Key": "a", "Value": "<b>"}]}])
        group = client.describe_placement_groups(Filters=[{"Name": "tag:a", "Values": ["<b>"]}])["PlacementGroups"][0]
        self.assertEqual((group["GroupName"], group["State"], group["Tags"]), ("near", "available", [{"Key": "a", "Value": "<b>"}]))
        client.delete_placement_group(GroupName="near")
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            client.describe_placement_groups(GroupNames=["near"])
        self.assertEqual(refused.exception.response["Error"]["Code"], "InvalidPlacementGroup.Unknown")

    def test_a_seed_decides_the_same_again(self):
        requests = [Request(n, "POST", "/", {}, b"", "ec2", "DescribeInstances") for n in range(1, 400)]
        one, again, other = ([Faults(seed)(r).name for r in requests] for seed in (7, 7, 8))
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)
        self.assertGreater(len(set(one)), 8)

    def test_a_closed_one_takes_no_connection_any_more(self):
        proxy = self.proxy()
        proxy.close()
        self.assertFalse(proxy._accepting.is_alive())
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", proxy.port))

    def test_a_client_that_tries_again_comes_through(self):
        kinds = {"delay", "reset before", "answer lost", "throttled", "internal error", "unavailable", "too many", "bad gateway", "slow"}
        client = self.client(self.proxy(Faults(3, share=0.3, kinds=kinds)), attempts=12)
        for _ in range(15):
            client.describe_instances()


if __name__ == "__main__":
    unittest.main()
