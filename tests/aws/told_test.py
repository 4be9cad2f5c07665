"""What a user is told of EC2's everyday refusals, in EC2's own words: one line with the cause and what to do. And what others do to a machine:
their tags stay, and why it ended is said."""
import unittest

from aws_case import SYSTEM, AwsCase
from faults import First
from proxy import Answer, Treatment, ec2_error

FILE = f"""radl 2
input team ( type = 'string', default = 'blue' )
network lan ( outports = '8080' )
system node ( instance_type = 't3.micro', instance_tags = 'team=${{input.team}}', net_interface.0.connection = 'lan', {SYSTEM} )
deploy node 1 ec2
contextualize ()
"""
TAKEN = {  # names that somebody else has used
    "ImportKeyPair": ec2_error("InvalidKeyPair.Duplicate", "The keypair already exists", 400),
    "CreateSecurityGroup": ec2_error("InvalidGroup.Duplicate", "The security group 'x' already exists for VPC 'vpc-1'", 400)}
ENCODED = "x7Jk" * 60
QUOTA = r"check-auth` to see.*Service Quotas"
# (action, code, EC2's message, HTTP status, what the line says): texts as EC2 writes them.
REFUSALS = [
    ("DescribeImages", "InvalidAMIID.NotFound", "The image id '[ami-0deb12000000000a2]' does not exist", 400, "a different ID in each region"),
    ("RunInstances", "InvalidParameterValue", "The architecture 'x86_64' of the specified instance type does not match the architecture 'arm64' "
     "of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.", 400,
     "does not match the architecture.*matching architectures"),
    ("RunInstances", "Unsupported", "Your requested instance type (t3.micro) is not supported in your requested Availability Zone (us-east-1e).",
     400, "no capacity for t3.micro: us-east-1a: Unsupported;.*more types"),
    ("RunInstances", "VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of 0 allows for the instance bucket "
     "that the specified instance type belongs to.", 400, QUOTA),
    ("RunInstances", "PendingVerification", "Your request for accessing resources in this region is being validated", 400, "four hours"),
    ("RunInstances", "UnauthorizedOperation", "You are not authorized to perform this operation. User: arn:aws:iam::1:user/u is not authorized to "
     f"perform: ec2:RunInstances. Encoded authorization failure message: {ENCODED}", 403, "perform: ec2:RunInstances.*check-auth` to list"),
    ("RunInstances", "InvalidParameterValue", "Value (nobody) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
     400, "Invalid IAM Instance Profile name"),
    ("RunInstances", "RequestExpired", "Request has expired.", 400, "expired.*new keys"),
]


class Told(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def refused(self, faults, wanted):
        self.proxy.faults = faults
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.proxy.faults = None
        self.assertRegex(self.err, "(?s)" + wanted)
        self.assertNotIn(ENCODED[:40], self.err)
        self.assertLessEqual(max(len(line) for line in self.err.splitlines()), 800)

    def test_each_refusal_names_its_cause_and_what_to_do(self):
        with self.subTest("names that are taken"):
            self.refused(lambda request: Treatment(refuse=TAKEN.get(request.action)),
                         "InvalidKeyPair.Duplicate.*already exists.*Delete it.*InvalidGroup.Duplicate.*already exists.*Delete it")
        for action, code, message, status, wanted in REFUSALS:
            with self.subTest(code, action=action):
                refuse = First(1 << 30, lambda request, c=code, m=message, s=status: Treatment(refuse=ec2_error(c, m, s)), (action,))
                self.refused(refuse, f"{code}.*{wanted}" if code != "Unsupported" else wanted)
        with self.subTest("no default VPC"):
            empty = Answer.xml("<DescribeVpcsResponse><vpcSet/></DescribeVpcsResponse>")
            self.refused(First(1 << 30, lambda request: Treatment(refuse=empty), ("DescribeVpcs",)), "no default VPC.*create-default-vpc")
        with self.subTest("an image of another region"):
            self.edit(self.file, ("ami-0deb12000000000a2", "ami-0123456789abcdef0"))
            self.refused(None, "image 'ami-0123456789abcdef0' in region us-east-1.*a different ID in each region")
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_without_the_private_key_here_nothing_is_made_or_paid_for(self):
        self.edit(self.file, ("deploy node 1 ec2", "input nodes ( type = 'integer', default = 1 )\ndeploy node input.nodes ec2"))
        self.radlc("apply", "--auto-approve", self.file)
        key = next(p for p in self.folder.rglob("*") if p.is_file() and b"PRIVATE KEY" in p.read_bytes())
        elsewhere = key.rename(self.folder / "key-of-a-colleague")
        self.radlc("apply", "--auto-approve", self.file, "--input", "nodes=2", code=2)
        self.assertRegex(self.err, "no private key with the fingerprint SHA256:.*nothing was made or changed")
        self.assertEqual(len(self.ours()), 1)
        self.radlc("apply", "--auto-approve", self.file, "--input", "team=red")  # nobody logs in for that
        elsewhere.rename(key)
        self.radlc("apply", "--auto-approve", self.file, "--input", "nodes=2")
        self.assertEqual(len(self.ours()), 2)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def tags(self):
        (machine,) = self.ours()
        return {t["Key"]: t["Value"] for t in machine["Tags"] if not t["Key"].startswith("radlc:") and t["Key"] != "Name"}

    def test_tags_of_others_stay_and_are_no_change(self):
        self.radlc("apply", "--auto-approve", self.file)
        (machine,) = self.ours()
        self.moto.client("ec2").create_tags(Resources=[machine["InstanceId"]], Tags=[{"Key": "cost-center", "Value": "7"}])
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.radlc("apply", "--auto-approve", self.file, "--input", "team=red")
        self.assertEqual(self.tags(), {"team": "red", "cost-center": "7"})
        self.edit(self.file, (", instance_tags = 'team=${input.team}'", ""))
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.tags(), {"cost-center": "7"})
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_why_a_machine_ended_is_said_also_of_one_that_was_made_a_moment_ago(self):
        self.environment["RADL_EC2_SETTLES_AFTER"] = "600"
        self.radlc("apply", "--auto-approve", self.file)
        (machine,) = self.ours()
        self.moto.client("ec2").terminate_instances(InstanceIds=[machine["InstanceId"]])
        for code in ("Client.InstanceInitiatedShutdown", "Server.SpotInstanceTermination"):
            self.proxy.faults = lambda request, c=code.encode(): Treatment(
                change=lambda answer: Answer(answer.status, answer.headers, answer.body.replace(b"Client.UserInitiatedShutdown", c)))
            said = self.radlc("plan", "--refresh", self.file)
            self.assertRegex(said, rf"! node\[0\]\s+gone: {machine['InstanceId']} has ended: {code}")
        self.proxy.faults = None
        self.environment["RADL_EC2_SETTLES_AFTER"] = "10"
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(len(self.ours()), 1)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
