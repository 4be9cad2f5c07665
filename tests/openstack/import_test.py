"""What somebody made becomes part of an infrastructure by its id: `radlc import`, which marks it."""
import unittest

from openstack_case import SYSTEM, OpenStackCase

FILE = f"""radl 2
network lan ( outbound = 'yes', outports = '8080/tcp' )
system node ( cpu.count >= 1, memory.size >= 512M, net_interface.0.connection = 'lan', {SYSTEM} )
deploy node 1 openstack
"""


class Import(OpenStackCase):
    boots = False

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def theirs(self):
        """(server, security group) that somebody else has."""
        group = next(g for g in self.project.cloud.network.security_groups(project_id=self.project.id) if g.name == "somebody-else")
        return next(s for s in self.project.servers() if s.name == "worker[0]"), group

    def test_what_somebody_made_is_marked_found_again_and_removed_with_the_rest(self):
        server, group = self.theirs()
        lan = next(one["id"] for one in self.plan(self.file)["actions"] if one["id"].startswith("network.lan"))
        wanted = {"node[0]": server.id, lan: group.id}
        for address, name in wanted.items():
            self.assertIn(f"{address} is {name} of", self.radlc("import", self.file, address, name))
        server, group = self.theirs()
        self.assertEqual(server.metadata["team"], "theirs", "what it had stays")
        self.assertEqual(server.metadata["radlc:address"], "node[0]")
        self.assertTrue(group.description.startswith("radlc "), group.description)
        for address in wanted:
            self.radlc("state", "rm", self.file, address)
        server, group = self.theirs()
        self.assertEqual(server.metadata["team"], "theirs", "what it had stays")
        self.assertEqual(server.metadata["radlc:token"], "", "it is released")
        self.assertEqual(group.description, "")
        for address, name in wanted.items():
            self.radlc("import", self.file, address, "0" * 8, code=1)
            self.assertNotIn(name, self.err)
            self.assertIn(f"{address} is {name} of", self.radlc("import", self.file, address, name))
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        gone = {name for _, name, _ in self.baseline.changes()[1]}
        self.assertLessEqual(set(wanted.values()), gone)

    def test_what_is_not_there_or_of_another_type_is_refused(self):
        _, group = self.theirs()
        self.radlc("import", self.file, "node[0]", "00000000-0000-0000-0000-000000000000", code=1)
        self.assertIn("has nothing with the id", self.err)
        self.radlc("import", self.file, "node[0]", group.id, code=1)
        self.assertIn("is a security_group, and node[0] is to be a server", self.err)
        self.assert_project_is_as_before()


if __name__ == "__main__":
    unittest.main()
