"""What a file names that is there already: volumes, floating addresses, groups, types of volumes; and flavors that no host has room for."""
import unittest

from openstack_case import SYSTEM, USER, OpenStackCase
from site_of_tests import Baseline

ONE = f"""radl 2
network lan ( )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan', %s, {SYSTEM} )
deploy node %s openstack
"""


class Existing(OpenStackCase):
    def write_one(self, features, count=1):
        return self.write("site.radl", ONE % (features, count))

    def new_volume(self, name, **more):
        storage = self.project.cloud.block_storage
        volume = storage.create_volume(name=name, size=1, **more)
        self.wait_until(lambda: storage.get_volume(volume.id).status == "available", 60)
        return volume.id

    def attached_to(self, volume):
        return [one["server_id"] for one in self.project.cloud.block_storage.get_volume(volume).attachments]

    def refused(self, file, words, *commands):
        for command in commands or ("plan --refresh", "apply --auto-approve"):
            self.radlc(*command.split(), file, code=None)
            self.assertIn(words, self.err, command)

    def test_volumes_that_are_there_are_attached_and_stay(self):
        first, second = self.new_volume("data-a"), self.new_volume("data-b")
        self.baseline = Baseline(self.project)
        urls = f"['ost://127.0.0.1/volume/{first}', 'ost://127.0.0.1/data-b']"
        file = self.write_one(f"disk.1.image.url = {urls}, disk.1.device = 'vdb'", 2)
        self.radlc("plan", "--refresh", file)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        there = {one["address"]: one["id"] for one in self.show(file)["resources"] if one["type"] == "server"}
        self.assertEqual(self.attached_to(first), [there["node[0]"]])
        self.assertEqual(self.attached_to(second), [there["node[1]"]])
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        # A machine that is made anew gets it again.
        self.edit(file, (", disk.1.device = 'vdb'", ", disk.1.device = 'vdc'"))
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertNotIn(self.attached_to(first), ([], [there["node[0]"]]))
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()
        self.assertEqual((self.attached_to(first), self.attached_to(second)), ([], []))

    def test_what_cannot_be_attached_is_said_by_plan(self):
        mine, taken = self.new_volume("data-a"), self.new_volume("theirs")
        server = self.project.servers()[0]
        self.project.cloud.compute.create_volume_attachment(server, volume_id=taken)
        self.wait_until(lambda: self.attached_to(taken), 60)
        self.baseline = Baseline(self.project)
        for features, count, words in (
                ("disk.1.image.url = 'ost://127.0.0.1/volume/data-c'", 1, "the project has no volume data-c"),
                ("disk.1.image.url = 'ost://127.0.0.1/theirs'", 1, f"volume theirs is attached to server {server.id}"),
                (f"disk.1.image.url = 'ost://127.0.0.1/{mine}'", 2, f"volume {mine} is for node[0] already, and can be attached to only one machine")):
            with self.subTest(features=features):
                self.refused(self.write_one(features, count), words)
        self.radlc("destroy", "--auto-approve", self.write_one("memory.size >= 1M"))
        self.assert_project_is_as_before()

    def test_a_machine_starts_from_a_volume_that_is_there(self):
        root = self.new_volume("root", image_id=self.project.site.image)
        self.baseline = Baseline(self.project)
        text = f"radl 2\nsystem node ( cpu.count >= 1, disk.0.image.url = 'ost://127.0.0.1/volume/root'%s )\ndeploy node 1 openstack\n"
        self.refused(self.write("site.radl", text % ", disk.0.size = 9G"), "disk.0.size: the machine starts from an existing volume")
        file = self.write("site.radl", text % f", disk.0.os.credentials.username = '{USER}'")
        self.radlc("plan", "--refresh", file)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(self.attached_to(root), [server.id for server in self.ours()])
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()
        self.assertEqual(self.attached_to(root), [])
        blank = self.new_volume("blank")
        self.refused(self.write("blank.radl", (text % "").replace("volume/root", "volume/blank")), "volume blank is not bootable")
        self.project.cloud.block_storage.delete_volume(blank)

    def test_disks_of_the_flavors_own_room(self):
        flavor = self.project.site.admin.compute.create_flavor(name="t.room", vcpus=1, ram=512, disk=1, ephemeral=4)
        self.addCleanup(self.project.site.admin.compute.delete_flavor, flavor.id)
        file = self.write_one("instance_type = 't.room', disk.1.size = 2G, disk.1.type = 'ephemeral', disk.1.device = 'vdb'")
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(self.made("volume"), [])
        self.assertEqual(len(self.ours()), 1)
        self.edit(file, ("instance_type = 't.room'", "disk.0.free_size >= 3Gi, instance_type = 't.room'"))
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual([volume.size for volume in self.project.cloud.block_storage.volumes()], [4], "the image's one, and three that are to be free")
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_a_floating_address_that_is_there_is_given_to_the_machine_and_stays(self):
        network = self.project.cloud.network
        mine = [network.create_ip(floating_network_id=self.project.site.outside.id) for _ in range(2)]
        self.baseline = Baseline(self.project)
        text = f"""radl 2
network lan ( )
network wan ( outbound = 'yes' )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan'
  net_interface.1.ip = '%s', {SYSTEM} )
deploy node 1 openstack
"""
        self.refused(self.write("site.radl", text % "203.0.113.251"), f"the project has no floating address 203.0.113.251")
        self.assertIn(mine[0].floating_ip_address, self.err)
        file = self.write("site.radl", text % mine[0].floating_ip_address)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(self.made("floating address"), [])
        [server] = self.ours()
        holder = lambda one: network.get_ip(one.id).port_details and network.get_ip(one.id).port_details["device_id"]
        self.assertEqual([holder(one) for one in mine], [server.id, None])
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        network.update_ip(mine[0].id, port_id=None)
        self.assertIn("public_ip", self.radlc("plan", "--refresh", file))
        self.edit(file, (mine[0].floating_ip_address, mine[1].floating_ip_address))
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual([holder(one) for one in mine], [None, server.id])
        self.assertEqual([one.id for one in self.ours()], [server.id], "an address changes in place")
        other = self.write("other/site.radl", text % mine[1].floating_ip_address)
        self.refused(other, f"floating address {mine[1].floating_ip_address} is in use by server {server.id}", "plan --refresh")
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_a_network_without_port_security_has_no_groups_and_others_of_the_machine_have_theirs(self):
        network = self.project.cloud.network
        free = network.create_network(name="free", is_port_security_enabled=False)
        network.create_subnet(network_id=free.id, name="free", ip_version=4, cidr="10.90.0.0/24")
        self.baseline = Baseline(self.project)
        two = f"""radl 2
network lan ( provider_id = 'free' )
network shut ( provider_id = 'inside' )
system node ( cpu.count >= 1, net_interface.0.connection = 'lan', net_interface.1.connection = 'shut', {SYSTEM} )
deploy node 1 openstack
"""
        for text, shut in ((two.replace("network shut ( provider_id = 'inside' )\n", "").replace(", net_interface.1.connection = 'shut'", ""), 0), (two, 1)):
            with self.subTest(shut=shut):
                file = self.write("site.radl", text)
                self.assertIn("network free has no port security", self.radlc("apply", "--auto-approve", file, timeout=300) + self.err)
                [server] = self.ours()
                ports = {port.network_id: port for port in network.ports(device_id=server.id)}
                self.assertEqual(ports[free.id].security_group_ids, [])
                if shut:
                    groups = {network.get_security_group(one).name for one in ports[self.project.network.id].security_group_ids}
                    self.assertEqual(len(groups), 3, groups)
                    self.assertNotIn("default", groups)
                self.radlc("plan", "--refresh", "--detailed-exitcode", file)
                self.radlc("destroy", "--auto-approve", file)
                self.assert_project_is_as_before()

    def test_names_that_are_taken_and_types_that_there_are_not(self):
        self.refused(self.write("group.radl", (ONE % ("memory.size >= 1M", 1)).replace("lan ( )", "lan ( sg_name = 'somebody-else' )")),
                     "sg_name = 'somebody-else': a security group with this name exists already")
        self.refused(self.write("disk.radl", ONE % ("disk.1.size = 1G, disk.1.type = 'nvme-of-nowhere'", 1)),
                     "disk.1.type = 'nvme-of-nowhere' is not a volume type of this cloud", "plan --refresh")
        file = self.write("mine.radl", (ONE % ("memory.size >= 1M", 1)).replace("lan ( )", "lan ( sg_name = 'of-my-own' )"))
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        for one in ("group.radl", "disk.radl", "mine.radl"):
            self.radlc("destroy", "--auto-approve", self.folder / one)
        self.assert_project_is_as_before()

    def test_every_quota_is_read_by_a_plan_that_looks(self):
        admin = self.project.site.admin.network
        file = self.write_one("memory.size >= 1M, placement_group = 'spread'")
        for quotas, words in (({"ports": 2}, "quota of ports of this project is 2; 2 are in use, and this plan needs 1"),
                              ({"ports": 200, "security_group_rules": 9}, "quota of security group rules is 9")):
            admin.update_quota(self.project.id, **quotas)
            self.refused(file, words, "plan --refresh")
        admin.update_quota(self.project.id, security_group_rules=200)
        self.project.quota(server_groups=0)
        self.refused(file, "quota of server groups is 0", "plan --refresh")
        self.project.quota(server_groups=10, key_pairs=0)
        self.refused(file, "quota of key pairs is 0", "plan --refresh")
        self.project.quota(key_pairs=100)
        self.radlc("plan", "--refresh", file)

    def test_where_no_host_has_room_for_a_flavor_the_next_one_that_fits_is_taken(self):
        compute = self.project.site.admin.compute
        full = compute.create_flavor(name="t.full", vcpus=1, ram=1024, disk=10 ** 7)
        self.addCleanup(compute.delete_flavor, full.id)
        for features, flavor in (("memory.size >= 900M", "t.small"), ("instance_type = ['t.full', 't.big']", "t.big")):
            with self.subTest(features=features):
                file = self.write_one(features)
                said = self.radlc("apply", "--auto-approve", file, timeout=300) + self.err
                self.assertIn("Nova says: No valid host was found. (flavor t.full)", said)
                self.assertEqual([self.project.flavor_of(s) for s in self.ours()], [flavor])
                self.radlc("plan", "--detailed-exitcode", file)
                self.radlc("plan", "--refresh", "--detailed-exitcode", file)
                self.radlc("destroy", "--auto-approve", file)
                self.assert_project_is_as_before()
        file = self.write_one("instance_type = 't.full'")
        self.radlc("apply", "--auto-approve", file, code=None, timeout=300)
        self.assertIn("No valid host was found", self.err)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()


if __name__ == "__main__":
    unittest.main()
