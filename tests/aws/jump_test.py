"""Machines without a public address in a VPC that is given: reached through the one of the same network that has one."""
import time
import unittest

from aws_case import SYSTEM, AwsCase
from faults import error
from proxy import Treatment

FILE = """radl 2
network outside ( outbound = 'yes', provider_id = '%(vpc)s' )
network lan ( outbound = 'no', provider_id = '%(vpc)s' )
system front ( instance_type = 't3.micro', net_interface.0.connection = 'lan', net_interface.1.connection = 'outside', %(system)s )
system back ( instance_type = 't3.micro', net_interface.0.connection = 'lan', %(system)s )
configure greet ( file '~/greeting' ( content = 'hello' ) )
configure play (%(play)s)
contextualize ( system back configure greet step 1 system back configure play step 2 )
deploy front 1 ec2
deploy back 2 ec2
"""


PLAY = """
@begin
---
  - tasks:
    - copy: content=played dest=~/played
@end
"""


class Jump(AwsCase):
    def logins(self):
        """How often somebody has logged in to the machine that leads to the others."""
        return self.machines.machine(self.ids()["front[0]"]).log.read_text().count("Accepted publickey")

    def ids(self):
        return {r["address"]: r["id"] for r in self.show(self.file)["resources"] if r["type"] == "instance"}

    def setUp(self):
        super().setUp()
        vpc = self.moto.client("ec2").describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"]
        self.file = self.write("site.radl", FILE % {"vpc": vpc, "system": SYSTEM, "play": PLAY})

    def test_private_machines_are_configured_and_logged_in_to_through_the_public_one(self):
        self.radlc("apply", "--auto-approve", self.file)
        public = {i["InstanceId"]: i.get("PublicIpAddress") for i in self.ours()}
        for address, name in self.ids().items():
            self.assertEqual(bool(public[name]), address == "front[0]", address)
            if address != "front[0]":
                self.assertEqual((self.machines.machine(name).home / "greeting").read_text(), "hello")
                self.assertEqual((self.machines.machine(name).home / "played").read_text(), "played", "by Ansible")
        # No step runs on it: whoever has logged in there was on the way to another.
        before = self.logins()
        self.assertGreater(before, 0)
        self.assertEqual(self.radlc("ssh", self.file, "back[1]", "cat", "greeting"), "hello")
        self.assertEqual(self.radlc("exec", self.file, "back[0]", "--", "cat", "greeting").strip().rpartition("| ")[2], "hello")
        self.write("data/one", "1")
        self.radlc("cp", "data", "back:there/")
        self.assertEqual((self.machines.machine(self.ids()["back[1]"]).home / "there/data/one").read_text(), "1")
        self.radlc("cp", "back[0]:there/data", "got")
        self.assertEqual((self.folder / "got/one").read_text(), "1")
        self.assertGreater(self.logins(), before)
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_when_the_machine_that_leads_there_cannot_be_made_the_others_say_so_at_once(self):
        def refuses(request):
            tags = [value for name, value in request.parameters.items() if name.startswith("TagSpecification.1.Tag.")]
            first = request.action == "RunInstances" and "front[0]" in tags
            return Treatment(name="refused", refuse=error(request, ("UnauthorizedOperation", "Not front.", 403))) if first else None

        self.proxy.faults = refuses
        begun = time.monotonic()
        self.radlc("apply", "--auto-approve", self.file, code=2, timeout=120)
        self.assertLess(time.monotonic() - begun, 100, "the time that a machine has to boot was waited for")
        self.assertRegex(self.err, r"back\[0\.\.1\]: it has no public address, and front\[0\], which leads to it, could not be made")
        self.proxy.faults = None
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
