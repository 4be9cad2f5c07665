"""What somebody made, or was forgotten, becomes part of an infrastructure by its path: `radlc import`."""
import unittest

from compute import PROJECT
from gce_case import SYSTEM, GceCase

FILE = f"""radl 2
network lan ( outbound = 'yes', outports = '8080/tcp' )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan', disk.1.size = 2G, disk.1.device = 'sdb', {SYSTEM} )
deploy node 1 gce
"""
PAYROLL = "zones/europe-west1-b/instances/payroll"


class Forgotten(GceCase):
    def ids(self):
        return {one["address"]: one["id"] for one in self.show(self.file)["resources"]}

    def test_what_was_forgotten_is_taken_back(self):
        self.file = self.write("site.radl", FILE)
        self.radlc("apply", "--auto-approve", self.file, timeout=200)
        ids = self.ids()
        for address in ids:
            self.radlc("state", "rm", self.file, address)
            released = {one: name for one, name in ids.items() if one not in self.ids()}
            self.assertIn(address, released)
            # The volume of a machine is released with it.
            self.assertLessEqual(released.keys() - {address}, {one for one in ids if f".{address}" in one})
            for one, name in sorted(released.items(), key=lambda item: item[0] == address):  # the machine last
                self.assertIn(f"{one} is {name} of", self.radlc("import", self.file, one, name))
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()


class LateOperations(GceCase):
    boots = False

    def test_labels_have_changed_when_a_command_says_so(self):
        file = self.write("site.radl", FILE)
        self.machines.boots = True
        self.radlc("apply", "--auto-approve", file, timeout=200)
        (disk,) = self.ours("disks")
        labels = lambda: self.ours("disks")[disk]["labels"]  # noqa: E731
        before = labels()
        self.compute.pace = 100  # labels take five seconds to change
        self.radlc("state", "rm", file, "volume.node[0].1")
        self.assertEqual((labels().get("radlc-released"), labels().get("radlc-infrastructure")), ("true", None))
        self.radlc("import", file, "volume.node[0].1", disk)
        self.assertEqual(labels(), before)
        self.compute.pace = 1
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_an_operation_that_fails_later_is_the_commands_failure(self):
        file = self.write("site.radl", FILE)
        self.machines.boots = True
        self.radlc("apply", "--auto-approve", file, timeout=200)
        self.compute.fails_later = {"setLabels": ("INTERNAL_ERROR", "Internal error", 400)}
        self.radlc("state", "rm", file, "volume.node[0].1", code=None)
        self.assertIn("INTERNAL_ERROR", self.err)
        self.compute.fails_later = {}
        (disk,) = self.ours("disks")
        self.radlc("import", file, "volume.node[0].1", disk)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


class Import(GceCase):
    boots = False

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def test_what_somebody_made_is_taken_over_and_removed_with_the_rest(self):
        url = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/{PAYROLL}"
        out = self.radlc("import", self.file, "node[0]", url)
        self.assertIn(f"node[0] is {PAYROLL} of", out)
        self.radlc("import", self.file, "node[0]", "/" + PAYROLL, code=1)
        self.assertIn("node[0] is in the state already", self.err)
        self.radlc("plan", "--refresh", self.file)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assertEqual(set(self.before) - set(self.compute.everything()), {PAYROLL})

    def test_what_is_not_there_or_of_another_type_is_refused(self):
        self.radlc("import", self.file, "node[0]", "zones/europe-west1-b/instances/nobody", code=1)
        self.assertIn("has nothing with the id", self.err)
        self.radlc("import", self.file, "node[0]", "zones/europe-west1-b/disks/payroll", code=1)
        self.assertIn("is a disk, and node[0] is to be a instance", self.err)
        self.radlc("import", self.file, "node[0]", "payroll", code=1)
        self.assertIn("zones/ZONE/instances/NAME", self.err)
        self.radlc("import", self.file, "node[0]", f"projects/another/{PAYROLL}", code=1)
        self.assertIn("is of another project than", self.err)
        self.assertEqual(self.compute.everything(), self.before, "looking makes and changes nothing")


if __name__ == "__main__":
    unittest.main()
