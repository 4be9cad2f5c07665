"""docs/providers/aws-policy.json is the smallest policy under which everything works: made from the requests that are really sent.

RADL_ACCEPT=1 writes it anew. RADL_POLICY_ALL=I/N leaves out each action of the I-th of N shares once ("1/1": each of all, which takes
some minutes); otherwise one of them, another each day.
"""
import datetime
import json
import os
import random
import re
import shutil
import unittest

from aws_case import SYSTEM, AwsCase
from policy import FREE, OF_LARGE_FILES, OPTIONAL, PATH, actions_of, document, for_moto, text
from radl_case import SOURCE

# Every kind of resource that the EC2 cloud makes, and each way to change one in place.
FILE = f"""radl 2
input nodes ( type = 'integer', default = 2 )
input size ( type = 'string', default = 't3.micro' )
input team ( type = 'string', default = 'blue' )
input port ( type = 'integer', default = 8080 )
network lan ( outbound = 'yes', outports = if input.port == 8080 then '8080/tcp' else '8081/tcp' )
system node (
  instance_type = input.size, instance_tags = if input.team == 'none' then none else 'team=${{input.team}}'
  placement_group = 'cluster', elastic_ip = 'yes', disk.1.size = 5G, disk.1.device = 'hdb'
  net_interface.0.connection = 'lan', {SYSTEM}
)
system cheap ( instance_type = 't3.micro', spot = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy node input.nodes ec2
deploy cheap 1 ec2
"""


ADDRESS, ID = "address.node[0]", "<its id>"
CHANGED = ("apply", "--auto-approve", "site.radl", "--input", "size=t3.small", "--input", "port=8081", "--input", "team=none")
# Names of EC2's actions, as its calls are written; and what looks like one, or is STS's.
ACTION = re.compile(r'"((?:Describe|Get|List|Create|Delete|Run|Start|Stop|Terminate|Modify|Authorize|Revoke|Allocate|Associate|Disassociate|Release|Import|'
                    r'Attach|Detach)[A-Z][A-Za-z]+)"')
NO_ACTIONS = {"AssociatePublicIpAddress", "DeleteOnTermination", "StartTime"}
OF_THE_SERVICE = {"CreateImage", "RebootInstances"}  # what `radlc serve` alone does: docs/service-im.md
TAMPER = ()  # somebody changes what may go out
FORGET, IMPORT = ("state", "rm", "site.radl", ADDRESS), ("import", "site.radl", ADDRESS, ID)


class Policy(AwsCase):
    isolated, quick = False, True

    def setUp(self):
        super().setUp()
        self.let_moto_read_its_prices()
        self.environment["RADL_STATE"] = "s3://models/states"  # models and checkpoints need the same of S3, and nothing more

    def tamper(self):
        ec2 = self.moto.client("ec2")
        for group in ec2.describe_security_groups(Filters=[{"Name": "tag:radlc:address", "Values": ["network.lan"]}])["SecurityGroups"]:
            ec2.revoke_security_group_egress(GroupId=group["GroupId"], IpPermissions=[
                {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}])
            ec2.authorize_security_group_egress(GroupId=group["GroupId"], IpPermissions=[
                {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}])

    def scenario(self):
        """All that radlc asks of AWS, one thing after the other; None, or the output of the command that failed."""
        for arguments in (("plan", "--refresh", "site.radl"), ("apply", "--auto-approve", "site.radl"),
                          ("apply", "--auto-approve", "site.radl", "--input", "size=t3.small"),
                          CHANGED, TAMPER, CHANGED, ("plan", "--refresh", "site.radl"), ("check-auth",), FORGET, IMPORT, ("destroy", "--auto-approve", "site.radl")):
            if arguments == TAMPER:
                self.tamper()
                continue
            if arguments == FORGET:
                known = self.radlc("state", "export", "site.radl")
                if self.status != 0:
                    return f"state export: {self.err}"
                name = next(r["id"] for r in json.loads(known)["resources"] if r["address"] == ADDRESS)
            out = self.radlc(*(name if word == ID else word for word in arguments))
            if self.status != 0:
                return f"{' '.join(arguments)}: {self.err}{out}"
        return None

    def radlc(self, *arguments, **options):
        process = self.start(*arguments)
        out, self.err = process.communicate(timeout=180)
        self.status = process.returncode
        return out

    def again(self):
        """Ends what a failed scenario has left."""
        self.moto.allow_everything()
        self.radlc("destroy", "--auto-approve", "site.radl")
        self.assertEqual(self.status, 0, self.err)
        self.assert_account_is_as_before()
        shutil.rmtree(self.folder / ".radl", ignore_errors=True)
        s3 = self.moto.client("s3")
        for one in s3.list_objects_v2(Bucket="models").get("Contents", []):
            s3.delete_object(Bucket="models", Key=one["Key"])

    def test_everything_works_under_it_and_not_with_less(self):
        self.write("site.radl", FILE)
        if os.environ.get("RADL_ACCEPT"):
            self.assertIsNone(self.scenario())
            PATH.parent.mkdir(exist_ok=True)
            PATH.write_text(text(document(set().union(*map(actions_of, self.proxy.log)))))
        committed = json.loads(PATH.read_text())
        self.moto.allow(for_moto(committed))
        self.assertIsNone(self.scenario(), f"{PATH} may lack what is asked for now: RADL_ACCEPT=1 writes it")
        made = document(set().union(*map(actions_of, self.proxy.log)))
        self.assertEqual(committed, made, f"{PATH} is not what is asked for now: RADL_ACCEPT=1 writes it")
        actions = [action for statement in committed["Statement"] for action in statement["Action"]]
        # moto looks at the request's name alone: tags in a request are not asked for apart.
        actions = [a for a in actions if a not in {"ec2:CreateTags", "iam:PassRole"} | OF_LARGE_FILES | OPTIONAL]
        if share := os.environ.get("RADL_POLICY_ALL"):
            number, shares = map(int, share.split("/"))
            actions = actions[number - 1::shares]
        else:
            actions = random.Random(str(datetime.date.today())).sample(actions, 1)
        for number, action in enumerate(actions, 1):
            print(f"\n  {number} of {len(actions)}: without {action}", flush=True)
            with self.subTest(without=action):
                self.moto.allow(for_moto(committed, without=action))
                said = self.scenario()
                self.again()
                self.assertIsNotNone(said, "everything works without it")
                # S3's own messages name the object, and not the action.
                self.assertIn("s3://models" if action.startswith("s3:") else action.partition(":")[2], said)

    def test_every_action_in_the_sources_is_in_the_policy(self):
        """Also those that no test makes radlc call."""
        named = {name for path in (SOURCE / "runtime/clouds/ec2").glob("*.cc") for name in ACTION.findall(path.read_text())} - NO_ACTIONS
        self.assertGreater(len(named), 20)
        allowed = {action.partition(":")[2] for statement in json.loads(PATH.read_text())["Statement"] for action in statement["Action"]}
        self.assertEqual(named - allowed - OF_THE_SERVICE - {name for _, name in FREE}, set())


if __name__ == "__main__":
    unittest.main()
