"""A training on OpenStack from nothing to nothing: plan, apply, configure, train on three nodes, change, destroy; openstackclient counts."""
import json
import unittest

from openstack_case import SYSTEM, USER, OpenStackCase
from proxy import Answer
from site_of_tests import Baseline

NODES = f"""radl 2
input workers ( type = 'integer', default = 2, min = 1 )
input result ( type = 'string', default = 'result' )
network lan ( outbound = 'no' )
system server ( cpu.count >= 2, memory.size >= 1G, net_interface.0.connection = 'lan', {SYSTEM} )
system worker ( cpu.count >= 1, memory.size >= 512M, net_interface.0.connection = 'lan', {SYSTEM} )
configure greet ( file '~/greeting' ( content = 'hello from ${{self.system}} ${{self.ordinal}}' ) )
contextualize ( system server configure greet step 1 system worker configure greet step 1 )
deploy server 1 openstack
deploy worker input.workers openstack
"""
TRAINING = """use 'std/training/parameter_server' as small (
  servers = system.server, workers = system.worker
  model = 'logistic', learning_rate = 0.02, dataset = 'cifar10', source = 'subset'
  mode = 'async', batch_size = 50, epochs = 4, result = input.result
)
output model ( value = small.model_path )
output accuracy ( value = small.test_accuracy )
"""
# radlc's words for what OpenStack's own tools count.
KINDS = {"server": "server", "security_group": "security group", "key_pair": "key pair", "floating_ip": "floating address", "network": "network",
         "subnet": "subnet", "router": "router", "volume": "volume", "server_group": "server group"}


class Lifecycle(OpenStackCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("train.radl", NODES + TRAINING)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def assert_openstack_sees_what_radlc_says(self):
        """Every resource is there once, and nothing but what belongs to one of them is new."""
        said = {}
        for resource in self.show(self.file)["resources"]:
            said.setdefault(KINDS[resource["type"]], set()).add(resource["id"])
        new, missing = self.baseline.changes()
        self.assertEqual(missing, [])
        there = {}
        for kind, name, _ in new:
            if kind != "port":
                there.setdefault(kind, set()).add(name)
        self.assertEqual(there, said)

    def test_from_plan_to_a_trained_model_to_nothing(self):
        before = len(self.project.openstack("server", "list"))
        self.plan(self.file)
        self.assertEqual(self.baseline.changes(), ([], []), "a plan made something")
        self.apply(timeout=400)
        self.assertEqual(sorted(self.project.flavor_of(s) for s in self.ours()), ["t.small", "t.tiny", "t.tiny"])
        self.assertEqual(len(self.project.openstack("server", "list")), before + 3)
        self.assert_openstack_sees_what_radlc_says()
        report = json.loads((self.folder / "result" / "report.json").read_text())
        self.assertTrue(list((self.folder / "result").rglob("*.safetensors")))
        self.assertGreater(report["curve"][-1]["test_accuracy"], 0.12)
        for resource in self.show(self.file)["resources"]:
            if resource["type"] == "server":
                self.assertIn("hello from", (self.machines.machine(resource["id"]).home / "greeting").read_text())
        self.radlc("plan", "--detailed-exitcode", self.file)
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.apply("--input", "workers=1", timeout=400)
        self.assertEqual(len(self.ours()), 2)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_project_is_as_before()
        self.assertEqual(len(self.project.openstack("server", "list")), before)
        self.assert_nothing_left()


WHOLE = f"""radl 2
input size ( type = 'integer', default = 1 )
input team ( type = 'string', default = 'blue' )
network lan ( create = 'yes', cidr = '10.*.0.0/24' )
network wan ( outbound = 'yes', outports = '8080/tcp' )
system front (
  cpu.count >= input.size, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', placement_group = 'spread'
  instance_tags = 'team=${{input.team}}', disk.1.size = 2G, disk.1.device = 'vdb', {SYSTEM}
)
deploy front 1 openstack
"""


class Whole(OpenStackCase):
    """One machine with everything that there is: networks that are made, a floating address, a volume, a server group."""

    def test_everything_is_made_changed_in_place_and_removed(self):
        file = self.write("site.radl", WHOLE)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        kinds = sorted({kind for kind, _, _ in self.baseline.changes()[0]})
        self.assertEqual(kinds, ["floating address", "key pair", "network", "port", "router", "security group", "server", "server group", "subnet",
                                 "volume"])
        server = self.ours()[0]
        addresses = [a["addr"] for places in server.addresses.values() for a in places]
        self.assertTrue(any(a.startswith("203.0.113.") for a in addresses) or self.made("floating address"))
        self.assertNotIn("Changed outside", self.radlc("plan", "--refresh", "--detailed-exitcode", file))
        self.marks_are_repaired(file)
        self.radlc("apply", "--auto-approve", file, "--input", "team=red")
        self.assertEqual([s.id for s in self.ours()], [server.id], "a tag changes in place")
        self.assertEqual(self.ours()[0].metadata["team"], "red")
        said = self.radlc("apply", "--auto-approve", file, "--input", "team=red", "--input", "size=2", timeout=300)
        self.assertIn("flavor", said)
        self.assertEqual([(s.id, self.project.flavor_of(s)) for s in self.ours()], [(server.id, "t.small")], "a flavor changes by a restart")
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def marks_are_repaired(self, file):
        """Of radlc's own metadata somebody removes what tells of volumes, and the token; of a group its description."""
        (server,) = self.ours()
        before, network = dict(server.metadata), self.project.cloud.network
        (group,) = [g for g in network.security_groups(project_id=self.project.id) if " network.lan" in g.description]
        removed = [name for name in before if name.startswith("radlc:volume-")] + ["radlc:token"]
        self.assertEqual(len(removed), 2, before)
        description = group.description
        self.project.cloud.compute.delete_server_metadata(server, removed)
        network.update_security_group(group, description="mine")
        plan = json.loads(self.radlc("plan", "--refresh", "--json", file))
        self.assertEqual({a["id"]: a["verb"] for a in plan["actions"]}, {"front[0]": "update", description.split()[3]: "update"})
        for name in (*removed, "description"):
            self.assertIn(f"marks.{name}", json.dumps(plan["drift"]))
        self.radlc("apply", "--auto-approve", file)
        self.assertEqual(dict(self.project.cloud.compute.get_server(server.id).metadata), before)
        self.assertEqual(network.get_security_group(group.id).description, description)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)

    def test_a_host_key_is_compared_once_the_console_shows_it(self):
        told, file = self.machines.console, self.write("site.radl", NODES.replace("deploy server 1 openstack\n", "").replace("default = 2", "default = 1"))
        trusted = lambda: {r["attributes"]["host_key_from"] for r in self.show(file)["resources"] if r["type"] == "server"}  # noqa: E731
        self.machines.console = lambda name: ""
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(trusted(), {"first use"})
        self.machines.console = lambda name: told(name).replace("AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAC3NzaC1lZDI1NTE5AAAAJ")
        said = self.radlc("plan", "--refresh", file, code=2)
        self.assertIn("host key mismatch", said + self.err)
        self.machines.console = told
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(trusted(), {"cloud"})
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_project_is_as_before()

    def test_a_resize_that_is_confirmed_already_is_no_failure(self):
        """Servers show for a while what they were: it is asked for a second time then."""
        refused = []

        def late(request, forward=self.gate.forward):
            answer = forward(request)
            if request.action.endswith("action:confirmResize"):
                self.wait_until(lambda: all(s.status == "ACTIVE" for s in self.ours()), 60)
                answer = forward(request)
                refused.append(answer.status)
            return answer

        self.gate.forward = late
        file = self.write("site.radl", NODES.replace("deploy server 1 openstack\n", "").replace("cpu.count >= 1,", "cpu.count >= input.size,").replace(
            "network lan", "input size ( type = 'integer', default = 1 )\nnetwork lan"))
        self.radlc("apply", "--auto-approve", file, "--input", "workers=1", timeout=300)
        said = self.radlc("apply", "--auto-approve", file, "--input", "workers=1", "--input", "size=2", timeout=300) + self.err
        asked = [request.action for request in self.gate.log if not request.action.startswith("GET ")]
        self.assertEqual([self.project.flavor_of(s) for s in self.ours()], ["t.small"], f"{said}\n{asked}\n{refused}")
        self.assertIn(refused, ([400], [409]))
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_a_port_without_port_security_is_shown_and_repaired_where_it_is_radlcs(self):
        network = self.project.cloud.network
        nodes = NODES.replace("deploy server 1 openstack\n", "").replace("outbound = 'no'", "provider_id = 'inside'")
        file = self.write("site.radl", nodes)
        self.radlc("apply", "--auto-approve", file, "--input", "workers=1", timeout=300)
        (server,) = self.ours()
        (port,) = network.ports(device_id=server.id)
        groups = sorted(port.security_group_ids)
        network.update_port(port.id, security_groups=[], is_port_security_enabled=False)
        plan = json.loads(self.radlc("plan", "--refresh", "--json", file, "--input", "workers=1"))
        self.assertEqual([(a["id"], a["verb"]) for a in plan["actions"]], [("worker[0]", "update")])
        self.assertIn(f"port {port.id} without port security", json.dumps(plan["drift"]))
        self.radlc("apply", "--auto-approve", file, "--input", "workers=1", timeout=300)
        now = network.get_port(port.id)
        self.assertEqual((now.is_port_security_enabled, sorted(now.security_group_ids)), (True, groups))
        # The same of all ports of a network of others is theirs to say.
        network.update_port(port.id, security_groups=[], is_port_security_enabled=False)
        network.update_network(port.network_id, is_port_security_enabled=False)
        plan = json.loads(self.radlc("plan", "--refresh", "--json", file, "--input", "workers=1"))
        self.assertEqual(plan["actions"], [])
        self.assertIn("has no port security", "\n".join(plan["notes"]))
        network.update_network(port.network_id, is_port_security_enabled=True)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_what_somebody_deleted_is_made_again(self):
        file = self.write("site.radl", WHOLE)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        old = self.ours()[0].id
        self.project.cloud.compute.delete_server(old)
        self.wait_until(lambda: not self.ours(), 60)
        self.assertRegex(self.radlc("apply", "--auto-approve", file, timeout=300), r"front\[0\]\s+gone")
        self.assertNotEqual(self.ours()[0].id, old)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_a_wait_that_a_service_asks_for_is_kept_and_said(self):
        """As Nova and Neutron say it, the one before them that has no room, and Nova of old, which had a status of its own for it."""
        waits = {"POST /servers": (429, "3", "This request was rate-limited."), "GET /flavors/detail": (503, "4", "The service is unavailable."),
                 "POST /routers": (413, "5", "This request was rate-limited.")}
        turned_away = []

        def busy(request, forward=self.gate.forward):
            if request.action in turned_away or request.action not in waits:
                return forward(request)
            turned_away.append(request.action)
            status, seconds, message = waits[request.action]
            return Answer(status, [("Content-Type", "application/json"), ("Retry-After", seconds)],
                          json.dumps({"overLimit": {"code": status, "message": message}}).encode())

        self.gate.forward = busy
        file = self.write("site.radl", WHOLE)
        said = self.radlc("apply", "--auto-approve", file, timeout=300) + self.err
        for seconds in (3, 4, 5):
            self.assertRegex(said, rf"127\.0\.0\.1:\d+ has too much to do and asks to wait {seconds} s")
        self.assertEqual(sorted(turned_away), sorted(waits))
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_a_plan_that_looks_tells_of_networks_that_will_not_do(self):
        network = self.project.cloud.network
        six = network.create_network(name="six")
        network.create_subnet(network_id=six.id, name="six", ip_version=6, cidr="fd00:78::/64", ipv6_address_mode="slaac", ipv6_ra_mode="slaac")
        self.baseline = Baseline(self.project)
        for features, words in (("provider_id = 'nope'", "network lan: provider_id = 'nope': network not found; available: inside, outside, six"),
                                ("provider_id = 'six'", "network lan: network six has only IPv6 addresses, but radlc reaches machines by IPv4"),
                                ("outbound = 'yes', provider_id = 'inside'", "the network is not external, so it has no floating addresses"),
                                ("create = 'yes', cidr = '10.0.0.0/33'", "network lan: cidr = '10.0.0.0/33' is not an IPv4 range")):
            with self.subTest(features=features):
                file = self.write("site.radl", NODES.replace("outbound = 'no'", features))
                self.radlc("plan", "--refresh", file, code=None)
                self.assertIn(words, self.err)
                self.radlc("apply", "--auto-approve", file, code=None)
                self.assertIn(words, self.err)
                self.radlc("destroy", "--auto-approve", file)
        self.radlc("plan", "--refresh", self.write("site.radl", NODES))
        self.assert_project_is_as_before()

    def test_a_flavor_has_room_for_the_image_or_the_root_disk_is_a_volume(self):
        create = self.project.cloud.image.create_image
        image = create(name="needs", disk_format="raw", container_format="bare", data=b"\0" * 1024, min_disk=5, min_ram=1024, allow_duplicates=True)
        large = create(name="large", disk_format="raw", container_format="bare", data=b"\0" * 1024, min_disk=5, allow_duplicates=True)
        self.addCleanup(self.project.cloud.image.delete_image, image.id)
        arm = create(name="arm", disk_format="raw", container_format="bare", data=b"\0" * 1024, hw_architecture="aarch64", allow_duplicates=True)
        self.addCleanup(self.project.cloud.image.delete_image, arm.id)
        self.addCleanup(self.project.cloud.image.delete_image, large.id)
        text = f"radl 2\nsystem node ( %s, disk.0.image.url = 'ost://127.0.0.1/%s', disk.0.os.credentials.username = '{USER}' )\ndeploy node 1 openstack\n"
        file = self.write("site.radl", text % ("cpu.count >= 1", "needs"))
        self.assertIn("t.small", self.radlc("plan", "--refresh", file))
        self.radlc("plan", "--refresh", self.write("arm.radl", text % ("cpu.arch = 'arm64'", "arm")))
        self.radlc("plan", "--refresh", self.write("arm.radl", text % ("cpu.arch = 'x86_64'", "arm")), code=1)
        self.assertIn("is for arm64", self.err)
        # Without cpu.arch a flavor that names an architecture tells it.
        self.radlc("plan", "--refresh", self.write("arm.radl", text % ("cpu.count >= 1", "arm")))
        tiny = self.project.flavor("t.tiny")
        admin, specs = self.project.site.admin.compute, f"/flavors/{tiny}/os-extra_specs"
        self.assertEqual(admin.post(specs, json={"extra_specs": {"trait:HW_ARCH_X86_64": "required"}}).status_code, 200)
        take_off = lambda: admin.delete(specs + "/trait:HW_ARCH_X86_64")  # noqa: E731
        self.addCleanup(take_off)
        self.radlc("plan", "--refresh", self.write("arm.radl", text % ("instance_type = 't.tiny'", "arm")), code=1)
        self.assertIn("is for arm64, and t.tiny is a machine of x86_64", self.err)
        self.assertIn("t.small", self.radlc("plan", "--refresh", self.write("arm.radl", text % ("cpu.count >= 1", "arm"))))
        take_off()  # the host of the tests has no traits
        self.apply_and_look(file, "t.small", [])
        self.apply_and_look(self.write("site.radl", text % ("instance_type = 't.tiny'", "large")), "t.tiny", [5])

    def apply_and_look(self, file, flavor, root_volumes):
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual([self.project.flavor_of(s) for s in self.ours()], [flavor])
        self.assertEqual([volume.size for volume in self.project.cloud.block_storage.volumes()], root_volumes)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_project_is_as_before()

    def test_a_plan_that_looks_tells_of_the_quota(self):
        self.project.quota(instances=2)
        file = self.write("site.radl", NODES)
        self.radlc("plan", file)
        self.radlc("plan", "--refresh", file, code=None)
        self.assertIn("quota of instances of this project is 2; 1 are in use, and this plan needs 3", self.err)
        self.assertEqual(self.baseline.changes(), ([], []))


if __name__ == "__main__":
    unittest.main()
