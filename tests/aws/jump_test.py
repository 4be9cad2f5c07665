"""Machines without a public address in a VPC that is given: reached through the one of the same network that has one."""
import unittest

from aws_case import SYSTEM, AwsCase

FILE = """radl 2
network outside ( outbound = 'yes' and provider_id = '%(vpc)s' )
network lan ( outbound = 'no' and provider_id = '%(vpc)s' )
system front ( instance_type = 't3.micro' and net_interface.0.connection = 'lan' and net_interface.1.connection = 'outside' and %(system)s )
system back ( instance_type = 't3.micro' and net_interface.0.connection = 'lan' and %(system)s )
configure greet ( file '~/greeting' ( content = 'hello' ) )
contextualize ( system back configure greet step 1 )
deploy front 1 ec2
deploy back 2 ec2
"""


class Jump(AwsCase):
    def logins(self):
        """How often somebody has logged in to the machine that leads to the others."""
        return self.machines.machine(self.ids()["front[0]"]).log.read_text().count("Accepted publickey")

    def ids(self):
        return {r["address"]: r["id"] for r in self.show(self.file)["resources"] if r["type"] == "instance"}

    def test_private_machines_are_configured_and_logged_in_to_through_the_public_one(self):
        vpc = self.moto.client("ec2").describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"]
        self.file = self.write("site.radl", FILE % {"vpc": vpc, "system": SYSTEM})
        self.radlc("apply", "--auto-approve", self.file)
        public = {i["InstanceId"]: i.get("PublicIpAddress") for i in self.ours()}
        for address, name in self.ids().items():
            self.assertEqual(bool(public[name]), address == "front[0]", address)
            if address != "front[0]":
                self.assertEqual((self.machines.machine(name).home / "greeting").read_text(), "hello")
        # No step runs on it: whoever has logged in there was on the way to another.
        before = self.logins()
        self.assertGreater(before, 0)
        self.assertEqual(self.radlc("ssh", self.file, "back[1]", "cat", "greeting"), "hello")
        self.assertEqual(self.radlc("exec", self.file, "back[0]", "--", "cat", "greeting").strip().rpartition("| ")[2], "hello")
        self.assertGreater(self.logins(), before)
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
