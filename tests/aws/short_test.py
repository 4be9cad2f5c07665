"""The three lines that are a whole program: planned and applied on EC2."""
from aws_case import SYSTEM, AwsCase

FILE = """radl 2
system worker ( count = 4, cloud = 'ec2', gpu.count >= 1, memory.size >= 32G )
use 'std/training/torch' as train ( nodes = worker, source = './src', main = 'train.py', requirements = './requirements.txt' )
"""


class Short(AwsCase):
    quick = True

    def setUp(self):
        super().setUp()
        self.let_moto_read_its_prices()
        self.write("src/train.py", "print('trained')\n")
        self.write("requirements.txt", "")
        self.file = self.write("train.radl", FILE)

    def test_the_program_is_planned_with_its_default_network(self):
        actions = self.actions(self.file)
        self.assertEqual([actions.get(f"worker[{i}]") for i in range(4)], ["create"] * 4, actions)
        self.assertEqual(actions.get("network.default@ec2:/us-east-1"), "create", actions)

    def test_nodes_are_in_one_group_and_reached_by_ssh_from_here(self):
        self.file.write_text(FILE.partition("use ")[0].replace("gpu.count >= 1, memory.size >= 32G", f"instance_type = 't3.micro', {SYSTEM}")
                             + "configure greet ( command 'echo hello' )\ncontextualize ( system worker configure greet )\n")
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(len(self.ours()), 4)
        groups = {thing.id for thing in self.baseline.made("security group")}
        rules = [rule for group in self.moto.client("ec2").describe_security_groups(GroupIds=sorted(groups))["SecurityGroups"]
                 for rule in group["IpPermissions"]]
        self.assertTrue([rule for rule in rules if {pair["GroupId"] for pair in rule["UserIdGroupPairs"]} & groups], rules)
        opened = {(rule["FromPort"], way["CidrIp"]) for rule in rules for way in rule["IpRanges"]}
        self.assertEqual(opened, {(22, "203.0.113.7/32")})
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
