"""The test ground itself: what the tests of AWS rely on, proven with boto3 and the AWS command line in radlc's place."""
import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import botocore.exceptions

import minio
from account import Baseline
from instances import Instances
from metadata import Metadata, listening_at
from moto_site import DEBIAN, Moto

# On an instance: prints what the metadata service says of each path.
ASK = """
import sys, urllib.error, urllib.request
base = "http://169.254.169.254/latest/"
put = urllib.request.Request(base + "api/token", method="PUT", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"})
token = urllib.request.urlopen(put).read().decode()
for path in sys.argv[1:]:
    get = urllib.request.Request(base + "meta-data/" + path, headers={"X-aws-ec2-metadata-token": token})
    try:
        print(urllib.request.urlopen(get).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
"""


class Fixture(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-aws-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.moto = Moto.shared()

    def test_counts_what_is_made_with_its_tags_and_what_is_left(self):
        ec2, s3 = self.moto.client("ec2"), self.moto.client("s3")
        ec2.import_key_pair(KeyName="someone", PublicKeyMaterial=b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPmJqXl4h0XWYdpYF0bOEsGXYRhzvFTD"
                            b"NQUoiUlmVGqF someone")
        before = Baseline(self.moto)
        self.assertEqual([t.kind for t in before.before if t.kind == "key pair"], ["key pair"])
        image = ec2.describe_images(Owners=[DEBIAN], Filters=[{"Name": "name", "Values": ["debian-12-amd64-*"]}])["Images"]
        self.assertEqual(len(image), 2)
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "mine", "Value": "yes"}]}]
        run = ec2.run_instances(ImageId=image[0]["ImageId"], InstanceType="t3.micro", MinCount=2, MaxCount=2, TagSpecifications=tags)
        address = ec2.allocate_address(Domain="vpc")["AllocationId"]
        s3.create_bucket(Bucket="data")
        s3.put_object(Bucket="data", Key="a/b", Body=b"12345")
        s3.create_multipart_upload(Bucket="data", Key="big")
        made = before.changes()[0]
        self.assertEqual(sorted(t.kind for t in made if t.kind not in ("volume", "network interface")),
                         ["address", "bucket", "incomplete upload", "instance", "instance", "object"])
        self.assertEqual({t.tag("mine") for t in made if t.kind == "instance"}, {"yes"})
        ec2.terminate_instances(InstanceIds=[i["InstanceId"] for i in run["Instances"]])
        ec2.release_address(AllocationId=address)
        self.assertEqual([str(t) for t in before.changes()[0] if t.kind in ("instance", "address", "volume")], [])
        ec2.delete_key_pair(KeyName="someone")
        self.assertEqual([t.kind for t in before.changes()[1]], ["key pair"])

    def test_refuses_what_aws_refuses(self):
        ec2 = self.moto.client("ec2")
        for options, code in (({"ImageId": "ami-0123456789abcdef0", "InstanceType": "t3.micro"}, "InvalidAMIID.NotFound"),
                              ({"ImageId": "ami-0deb12000000000a1", "InstanceType": "t3.pico"}, "InvalidInstanceType")):
            with self.assertRaises(botocore.exceptions.ClientError) as refused:
                ec2.run_instances(MinCount=1, MaxCount=1, **options)
            self.assertIn(code, str(refused.exception))

    def test_signatures_and_policies_hold_once_they_are_checked(self):
        self.moto.check_signatures()
        self.moto.client("ec2", keys=self.moto.user).describe_instances()
        wrong = dict(self.moto.user, aws_secret_access_key="x" * 40)
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            self.moto.client("ec2", keys=wrong).describe_instances()
        self.assertIn("AuthFailure", str(refused.exception))
        self.moto.allow({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": "ec2:DescribeInstances", "Resource": "*"}]})
        user = self.moto.client("ec2", keys=self.moto.user)
        user.describe_instances()
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            user.describe_volumes()
        self.assertIn("AccessDenied", str(refused.exception))

    def test_who_holds_a_port_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertIn(f"{os.getpid()} ", listening_at(server.getsockname()[1]))

    def test_the_aws_command_line_sees_the_same_account(self):
        aws = pathlib.Path(sys.executable).with_name("aws")
        environment = {**os.environ, **self.moto.environment()}
        done = subprocess.run([aws, "sts", "get-caller-identity"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["Account"], "123456789012")

    def test_a_running_instance_is_a_machine_with_its_own_address_key_and_files(self):
        ec2, key = self.moto.client("ec2"), self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        machines = Instances(self.moto, self.folder / "machines")
        self.addCleanup(machines.close)
        ec2.import_key_pair(KeyName="mine", PublicKeyMaterial=key.with_suffix(".pub").read_bytes())
        data = "#cloud-config\nwrite_files:\n- path: /opt/made\n  content: by cloud-init\n"
        run = ec2.run_instances(ImageId="ami-0deb12000000000a2", InstanceType="t3.micro", MinCount=2, MaxCount=2, KeyName="mine",
                                UserData=data)["Instances"]
        names = [i["InstanceId"] for i in run]

        def ssh(name, command, user=getpass.getuser(), address=None):
            view = machines.machine(name)
            address = address or ec2.describe_instances(InstanceIds=[name])["Reservations"][0]["Instances"][0]["PrivateIpAddress"]
            known = self.folder / "known_hosts"
            known.write_text(f"{address} {view.host_key}\n")
            done = subprocess.run(["ssh", "-F", "none", "-i", key, "-o", f"UserKnownHostsFile={known}", "-o", "BatchMode=yes",
                                   f"{user}@{address}", command], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.strip()

        metadata = Metadata(machines)
        self.addCleanup(metadata.close)
        metadata.interrupted[names[1]] = 1767225600
        asked = [ssh(name, f"echo '{ASK}' | python3 - instance-id spot/instance-action") for name in names]
        self.assertEqual(asked[0], f"{names[0]}\n404")
        self.assertEqual(asked[1].splitlines()[0], names[1])
        self.assertEqual(json.loads(asked[1].splitlines()[1]), {"action": "terminate", "time": "2026-01-01T00:00:00Z"})
        ssh(names[0], "echo first > ~/mine")
        self.assertEqual(ssh(names[1], "cat ~/mine 2>/dev/null || echo none"), "none")
        self.assertIn(machines.machine(names[0]).host_key, machines.console(names[0]))
        given = ec2.allocate_address(Domain="vpc")
        ec2.associate_address(AllocationId=given["AllocationId"], InstanceId=names[1])
        self.until(lambda: given["PublicIp"] in machines.machine(names[1]).addresses)
        self.assertEqual(ssh(names[1], "echo here", address=given["PublicIp"]), "here")
        if machines.isolated:
            self.assertEqual(ssh(names[0], "cloud-init status --wait; cat /opt/made", user="admin"),
                             "status: done\nby cloud-init")
            ssh(names[0], "shutdown -h now")
            self.until(lambda: names[0] not in machines.running)
        else:
            ec2.stop_instances(InstanceIds=names[:1])
            self.until(lambda: names[0] not in machines.running)
        ec2.start_instances(InstanceIds=names[:1])
        self.assertEqual(ssh(names[0], "cat ~/mine"), "first")
        ec2.terminate_instances(InstanceIds=names)
        self.until(lambda: not machines.views)
        self.assertEqual(machines.errors, [])

    def until(self, holds, seconds=20):
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, "it does not happen")
            time.sleep(0.05)


class SecondStore(unittest.TestCase):
    def test_minio_keeps_objects_of_any_name_and_writes_on_conditions(self):
        if not minio.program()[0]:
            self.skipTest(minio.program()[1])
        folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-aws-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        server = minio.Minio(folder)
        self.addCleanup(server.stop)
        s3 = server.client()
        s3.create_bucket(Bucket="data")
        s3.put_object(Bucket="data", Key="a b+c%41 ü&=#?.bin", Body=b"1")
        self.assertEqual(s3.get_object(Bucket="data", Key="a b+c%41 ü&=#?.bin")["Body"].read(), b"1")
        s3.put_object(Bucket="data", Key="lock", Body=b"1", IfNoneMatch="*")
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            s3.put_object(Bucket="data", Key="lock", Body=b"2", IfNoneMatch="*")
        self.assertEqual(refused.exception.response["Error"]["Code"], "PreconditionFailed")


if __name__ == "__main__":
    unittest.main()
