"""What somebody made, or was forgotten, becomes part of an infrastructure by its id: `radlc import`."""
import unittest

from arm import SUBSCRIPTION
from azure_case import SYSTEM, AzureCase

FILE = f"""radl 2
network lan ( outbound = 'yes', outports = '8080/tcp' )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan', disk.1.size = 4G, disk.1.device = 'sdb', {SYSTEM} )
deploy node 1 azure
"""
PAYROLL = "resourceGroups/payroll/providers/Microsoft.Compute/disks/payroll"


class Import(AzureCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def ids(self):
        return {one["address"]: one["id"] for one in self.show(self.file)["resources"]}

    def test_what_was_forgotten_is_taken_back(self):
        self.radlc("apply", "--auto-approve", self.file, timeout=200)
        ids = self.ids()
        for address in ids:
            self.radlc("state", "rm", self.file, address)
            released = {one: name for one, name in ids.items() if one not in self.ids()}
            self.assertIn(address, released)
            # The volume and the interface of a machine are released with it.
            self.assertLessEqual(released.keys() - {address}, {one for one in ids if f".{address}" in one})
            for one, name in sorted(released.items(), key=lambda item: item[0] == address):  # the machine last
                self.assertIn(f"{one} is {name} of", self.radlc("import", self.file, one, name))
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_tags_have_changed_when_a_command_says_so(self):
        self.radlc("apply", "--auto-approve", self.file, timeout=200)
        disk = self.ids()["volume.node[0].1"]
        tags = lambda: next(one for key, one in self.arm.resources.items() if key == disk.lower())["tags"]  # noqa: E731
        self.arm.pace = 100  # tags take five seconds to change
        self.radlc("state", "rm", self.file, "volume.node[0].1")
        self.assertEqual((tags().get("radlc-released"), tags().get("radlc-infrastructure")), ("true", None))
        self.radlc("import", self.file, "volume.node[0].1", disk)
        self.assertNotIn("radlc-released", tags())
        self.arm.pace = 1
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_what_somebody_made_is_taken_over_and_removed_with_the_rest(self):
        out = self.radlc("import", self.file, "volume.node[0].1", f"/subscriptions/{SUBSCRIPTION}/{PAYROLL}")
        self.assertIn(f"volume.node[0].1 is {PAYROLL} of", out)
        self.radlc("import", self.file, "node[0]", PAYROLL, code=1)
        self.assertIn("is in the state already, as volume.node[0].1", self.err)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assertEqual(set(self.before) - set(self.arm.everything()), {PAYROLL})

    def test_what_is_not_there_or_of_another_type_is_refused(self):
        self.radlc("import", self.file, "node[0]", PAYROLL.replace("disks/payroll", "virtualMachines/nobody"), code=1)
        self.assertIn("has nothing with the id", self.err)
        self.radlc("import", self.file, "node[0]", PAYROLL, code=1)
        self.assertIn("is a disk, and node[0] is to be a machine", self.err)
        self.radlc("import", self.file, "node[0]", "payroll", code=1)
        self.assertIn("providers/Microsoft.Compute/virtualMachines/NAME", self.err)
        self.radlc("import", self.file, "node[0]", f"/subscriptions/0000-1/{PAYROLL}", code=1)
        self.assertIn("is of another subscription than", self.err)
        self.assertEqual(self.arm.everything(), self.before, "looking makes and changes nothing")


if __name__ == "__main__":
    unittest.main()
