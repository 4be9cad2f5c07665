"""The conformance suite of clouds on EC2, against moto. What a test does behind the cloud's back, boto3 does here."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from extras import Extras
from moto_site import Moto
from proxy import Answer, Proxy, Treatment, ec2_error
from quick import QUICK

PROGRAM = pathlib.Path(os.environ["RADL_BUILD"]) / "tests" / "ec2_suite_test"
FULL = ec2_error("InsufficientInstanceCapacity", "We currently do not have sufficient capacity in the Availability Zone you requested.", 500)
TELNET = [{"IpProtocol": "tcp", "FromPort": 23, "ToPort": 23, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]


class Controlled(Extras):
    """Answers /control/WORD/... as well: `controls` has what is done for a word, a function that gives something for JSON."""

    def __init__(self, controls):
        super().__init__()
        self.controls = controls

    def __call__(self, request):
        if not request.path.startswith("/control/"):
            return super().__call__(request)
        word, *rest = request.path.split("/")[2:]
        return Answer(200, [("Content-Type", "application/json")], json.dumps(self.controls[word](*rest)).encode())


class Account:
    """The account behind the cloud, with what is somebody else's in it."""

    def __init__(self, ec2):
        self.ec2, self.full = ec2, False
        image = "ami-0deb12000000000a2"
        self.group = ec2.create_security_group(GroupName="somebody-elses", Description="theirs")["GroupId"]
        ec2.authorize_security_group_ingress(GroupId=self.group, IpPermissions=TELNET)
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "theirs"}]}]
        ran = ec2.run_instances(ImageId=image, InstanceType="t3.micro", MinCount=1, MaxCount=1, SecurityGroupIds=[self.group], TagSpecifications=tags)
        self.instance = ran["Instances"][0]["InstanceId"]
        self.volume = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
        self.key = ec2.create_key_pair(KeyName="theirs")["KeyName"]
        self.address = ec2.allocate_address(Domain="vpc")["AllocationId"]

    def of_others(self):
        """All of it as it is, or the request fails because something is gone."""
        instance = self.ec2.describe_instances(InstanceIds=[self.instance])["Reservations"][0]["Instances"][0]
        group = self.ec2.describe_security_groups(GroupIds=[self.group])["SecurityGroups"][0]
        return [instance["State"]["Name"], instance["InstanceType"], instance["Tags"], [one["GroupId"] for one in instance["SecurityGroups"]],
                [[rule["FromPort"], [cidr["CidrIp"] for cidr in rule["IpRanges"]]] for rule in group["IpPermissions"]],
                self.ec2.describe_volumes(VolumeIds=[self.volume])["Volumes"][0]["State"],
                self.ec2.describe_key_pairs(KeyNames=[self.key])["KeyPairs"][0]["KeyFingerprint"],
                self.ec2.describe_addresses(AllocationIds=[self.address])["Addresses"][0].get("AssociationId")]

    def stop(self, instance):
        self.ec2.stop_instances(InstanceIds=[instance])
        return True

    def tamper(self, group):
        self.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=TELNET)
        return True

    def exhaust(self, yes):
        self.full = yes == "yes"
        return True

    def faults(self, request):
        return Treatment(refuse=FULL) if self.full and request.action == "RunInstances" else None


class Suite(unittest.TestCase):
    def test_ec2_is_a_cloud_as_the_executor_wants_it(self):
        with tempfile.TemporaryDirectory(prefix="radl-aws-") as folder:
            moto = Moto.shared()
            account = Account(moto.client("ec2"))
            extras = Controlled({"others": account.of_others, "stop": account.stop, "tamper": account.tamper, "exhaust": account.exhaust})
            proxy = Proxy(moto.url, faults=account.faults, extras=extras)
            extras.forward = proxy.forward
            self.addCleanup(proxy.close)
            before = account.of_others()
            environment = {**os.environ, **moto.environment(url=proxy.url), "HOME": folder, "no_proxy": "*", "RADL_CALLER_CIDR": "203.0.113.7/32",
                           "RADL_EC2_SETTLES_AFTER": "2", "RADL_EC2_PACE": "0.2", "RADL_TEST_CONTROL": proxy.url + "/control", **QUICK}
            done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=500)
            self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
            self.assertEqual(account.of_others(), before, "somebody else's is not as it was")


if __name__ == "__main__":
    unittest.main()
