"""What somebody made by hand becomes part of an infrastructure: `radlc import`, against machines, groups and addresses of boto3's."""
import unittest

from aws_case import SYSTEM, AwsCase

FILE = f"""radl 2
network lan ( outbound = 'yes', outports = '8080/tcp' )
system node ( instance_type = 't3.micro', elastic_ip = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy node 1 ec2
"""
IMAGE = "ami-0deb12000000000a2"


class Import(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)
        self.ec2 = self.moto.client("ec2")

    def made_by_hand(self):
        """(group, address, machine) that fit the file but for the group's rules."""
        subnet = self.ec2.describe_subnets(Filters=[{"Name": "default-for-az", "Values": ["true"]}])["Subnets"][0]
        group = self.ec2.create_security_group(GroupName="by-hand", Description="by hand", VpcId=subnet["VpcId"])["GroupId"]
        self.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[
            {"IpProtocol": "tcp", "FromPort": 23, "ToPort": 23, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}])
        machine = self.ec2.run_instances(ImageId=IMAGE, InstanceType="t3.micro", MinCount=1, MaxCount=1, NetworkInterfaces=[
            {"DeviceIndex": 0, "SubnetId": subnet["SubnetId"], "Groups": [group], "DeleteOnTermination": True}])["Instances"][0]["InstanceId"]
        address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
        self.ec2.associate_address(AllocationId=address, InstanceId=machine)
        return group, address, machine

    def imported(self, address, name):
        out = self.radlc("import", self.file, address, name)
        self.assertIn(f"{address} is {name} of", out)

    def test_what_was_made_by_hand_is_taken_over_changed_and_removed(self):
        group, address, machine = self.made_by_hand()
        self.imported("network.lan@ec2:/us-east-1", group)
        self.imported("address.node[0]", address)
        self.imported("node[0]", machine)
        verbs = {a["id"]: a["verb"] for a in self.plan("--refresh", self.file)["actions"] if a["verb"] != "no-op"}
        self.assertEqual(verbs, {"key.ec2:/us-east-1": "create", "access.ec2:/us-east-1": "create",
                                 "network.lan@ec2:/us-east-1": "update", "node[0]": "update"})
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual([i["InstanceId"] for i in self.ours()], [machine], "it is the same machine")
        self.assertEqual([a["InstanceId"] for a in self.ec2.describe_addresses()["Addresses"]], [machine])
        groups = {g["GroupId"] for g in self.ours()[0]["SecurityGroups"]}
        self.assertIn(group, groups)
        self.assertEqual(len(groups), 2, "and the one that lets this computer log in")
        rules = self.ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]["IpPermissions"]
        self.assertEqual({rule.get("FromPort") for rule in rules}, {8080, None}, "what the file says, and nothing else")
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_what_is_not_there_of_another_type_or_recorded_already_is_refused(self):
        group, _, machine = self.made_by_hand()
        self.radlc("import", self.file, "node[0]", "i-00000000000000000", code=1)
        self.assertIn("has nothing with the id", self.err)
        self.radlc("import", self.file, "node[0]", group, code=1)
        self.assertIn("is a security_group, and node[0] is to be a instance", self.err)
        self.imported("node[0]", machine)
        self.radlc("import", self.file, "node[0]", machine, code=1)
        self.assertIn("is in the state already", self.err)
        self.assertEqual([i["InstanceId"] for i in self.ours()], [machine], "looking makes and changes nothing")
        self.ec2.terminate_instances(InstanceIds=[machine])


if __name__ == "__main__":
    unittest.main()
