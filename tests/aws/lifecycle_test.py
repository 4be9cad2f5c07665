"""A training on EC2 from nothing to nothing: plan, apply, configure, train on three nodes, change, destroy; boto3 counts."""
import json
import unittest

from aws_case import SYSTEM, AwsCase

NODES = f"""radl 2
input workers ( type = 'integer', default = 2, min = 1 )
input result ( type = 'string', default = 'result' )
network lan ( outbound = 'no' )
system server ( instance_type = 't3.small', net_interface.0.connection = 'lan', {SYSTEM} )
system worker ( instance_type = 't3.small', net_interface.0.connection = 'lan', {SYSTEM} )
configure greet ( file '~/greeting' ( content = 'hello from ${{self.system}} ${{self.ordinal}}' ) )
contextualize ( system server configure greet step 1 system worker configure greet step 1 )
deploy server 1 ec2
deploy worker input.workers ec2
"""
TRAINING = """use 'std/training/parameter_server' as small (
  servers = system.server, workers = system.worker
  model = 'logistic', learning_rate = 0.02, dataset = 'cifar10', source = 'subset'
  mode = 'async', batch_size = 50, epochs = 4, result = input.result
)
output model ( value = small.model_path )
output accuracy ( value = small.test_accuracy )
"""
FILE = NODES + TRAINING
STOPS = f"""radl 2
network lan ()
system node ( instance_type = 't3.micro', stop.after = '1h', stop.idle = '30m', net_interface.0.connection = 'lan', {SYSTEM} )
deploy node 1 ec2
"""
# radlc's words for what boto3 counts.
KINDS = {"instance": "instance", "security_group": "security group", "key_pair": "key pair", "elastic_ip": "address"}


class Lifecycle(AwsCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("train.radl", FILE)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def assert_boto3_sees_what_radlc_says(self):
        """Every resource is there once, and nothing but what belongs to one of them is new."""
        said = {}
        for resource in self.show(self.file)["resources"]:
            said.setdefault(KINDS.get(resource["type"], resource["type"]), set()).add(resource["id"])
        new, missing = self.baseline.changes()
        self.assertEqual(missing, [])
        for kind in set(KINDS.values()):
            there = {name for thing in new if thing.kind == kind for name in (thing.id,)}
            self.assertEqual(len(there), len(said.get(kind, set())), (kind, sorted(map(str, new)), said))
        self.assertEqual({i["InstanceId"] for i in self.ours()}, said["instance"])

    def test_from_plan_to_a_trained_model_to_nothing(self):
        plan = self.plan(self.file)
        made = [action for action in plan["actions"] if action.get("type") == "instance" or action["id"].count("[")]
        self.assertEqual(self.baseline.changes(), ([], []), "a plan made something")
        self.assertGreaterEqual(len(made), 3)
        self.apply()
        self.assertEqual(sorted((i["InstanceType"], i["State"]["Name"]) for i in self.ours()), [("t3.small", "running")] * 3)
        self.assert_boto3_sees_what_radlc_says()
        report = json.loads((self.folder / "result" / "report.json").read_text())
        self.assertTrue(list((self.folder / "result").rglob("*.safetensors")), list((self.folder / "result").iterdir()))
        self.assertGreater(report["curve"][-1]["test_accuracy"], 0.12)
        for resource in self.show(self.file)["resources"]:
            if resource["type"] == "instance":
                home = self.machines.machine(resource["id"]).home
                self.assertIn("hello from", (home / "greeting").read_text())
        self.radlc("plan", "--detailed-exitcode", self.file)
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.apply("--input", "workers=1")
        self.assertEqual(len(self.ours()), 2)
        self.assert_boto3_sees_what_radlc_says()
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.assert_nothing_left()

    def test_only_the_caller_may_log_in(self):
        self.write("train.radl", NODES)
        self.apply()
        ec2 = self.moto.client("ec2")
        groups = ec2.describe_security_groups(GroupIds=[t.id for t in self.baseline.made("security group")])["SecurityGroups"]
        open_to = {(rule.get("FromPort"), place["CidrIp"]) for group in groups for rule in group["IpPermissions"]
                   for place in rule["IpRanges"]}
        self.assertEqual(open_to, {(22, "203.0.113.7/32")})
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_an_apply_opens_ssh_for_this_computers_new_address_before_anybody_connects(self):
        self.write("train.radl", NODES)
        self.apply()
        self.environment["RADL_CALLER_CIDR"] = "198.51.100.9/32"
        ec2 = self.moto.client("ec2")
        self.write("train.radl", NODES.replace("hello from", "good morning from"))
        plan = self.plan("--refresh", self.file)
        opening = next(a for a in plan["actions"] if a["id"].startswith("access."))
        greets = [a for a in plan["actions"] if a["id"].endswith("/greet")]
        self.assertEqual(len(greets), 3)
        for action in greets:  # nobody is connected to before it is open
            self.assertIn(opening["id"], action["needs"])
        self.apply()
        groups = ec2.describe_security_groups(GroupIds=[t.id for t in self.baseline.made("security group")])["SecurityGroups"]
        open_to = {place["CidrIp"] for group in groups for rule in group["IpPermissions"] for place in rule["IpRanges"]}
        self.assertEqual(open_to, {"198.51.100.9/32"})
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_a_machine_terminated_by_somebody_is_made_again(self):
        self.write("train.radl", NODES)
        self.environment["RADL_EC2_SETTLES_AFTER"] = "0.2"  # so that what is not there is believed at once
        self.apply()
        victim = next(r["id"] for r in self.show(self.file)["resources"] if r["address"] == "worker[1]")
        before = len(self.proxy.log)
        self.assertIn("No changes", self.apply())
        looks = [request.action for request in self.proxy.log[before:]]
        self.assertEqual(looks.count("DescribeInstances"), 1, f"one look for all machines: {looks}")
        self.radlc("plan", self.file, "--input", "workers=3", "--out", "saved")
        self.moto.client("ec2").terminate_instances(InstanceIds=[victim])
        self.radlc("plan", "--detailed-exitcode", self.file)  # offline: nobody was asked
        self.radlc("apply", "saved", code=2)
        self.assertIn("worker[1] is gone since the plan was saved", self.err)
        said = self.apply()
        self.assertRegex(said, r"! worker\[1\]\s+gone")
        self.assertNotIn(victim, {i["InstanceId"] for i in self.ours()})
        self.assertEqual(len(self.ours()), 3)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_a_machine_whose_time_is_over_ends_itself_while_no_radlc_runs(self):
        if not self.machines.isolated:
            self.skipTest("a machine that can be switched off needs a view of its own: not root")
        self.write("train.radl", STOPS)
        self.environment["RADL_EC2_SETTLES_AFTER"] = "0.2"  # so that what is not there is believed at once
        self.assertIn("terminates itself after 1 h, or 30 min without work", self.radlc("plan", self.file))
        self.apply()
        (machine,) = self.ours()
        ec2, name = self.moto.client("ec2"), machine["InstanceId"]
        behavior = ec2.describe_instance_attribute(InstanceId=name, Attribute="instanceInitiatedShutdownBehavior")
        self.assertEqual(behavior["InstanceInitiatedShutdownBehavior"]["Value"], "terminate")
        self.assertIn("auto-stop", self.radlc("exec", self.file, "node[0]", "--", "ps", "-e", "-o", "args"), "it looks at the clock already")
        # An hour later; a look of its own comes once a minute.
        self.radlc("exec", self.file, "node[0]", "--", "sh", "-c",
                   "echo 3600 > /var/lib/radl-auto-stop/lived; nohup /usr/local/lib/radl/auto-stop > /dev/null 2>&1 < /dev/null &")
        self.wait_until(lambda: not self.ours(), 60, "the machine goes on")
        self.assertIn("gone", self.radlc("plan", "--refresh", self.file))
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
