"""Machines on Azure from nothing to nothing: plan, apply, configure, change, destroy; and what the cloud does behind one's back."""
import json
import re
import time
import unittest

from azure_case import SYSTEM, AzureCase
from proxy import Answer
from radl_case import SOURCE
from resources import SUBSCRIPTION

FILE = f"""radl 2
input workers ( type = 'integer', default = 2 )
input team ( type = 'string', default = 'blue' )
input cpus ( type = 'integer', default = 1 )
network lan ( create = 'yes', cidr = '10.*.0.0/24' )
network wan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system front (
  cpu.count >= input.cpus, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan'
  disk.1.size = 2G, disk.1.device = 'sdb', instance_tags = 'team=${{input.team}}', {SYSTEM}
)
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', spot = 'yes', {SYSTEM} )
system back ( cpu.count >= 1, net_interface.0.connection = 'lan', {SYSTEM} )
configure greet ( file '~/greeting' ( content = 'hello from ${{self.system}} ${{self.ordinal}}' ) )
contextualize ( system front configure greet step 1 system worker configure greet step 1 system back configure greet step 1 )
deploy front 1 azure
deploy worker input.workers azure
deploy back 1 azure
"""


class Lifecycle(AzureCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def addresses(self):
        """address in the file -> (id, record) of our machines."""
        return {one["tags"]["radlc-address"]: (path, one) for path, one in self.ours().items()}

    def test_from_plan_to_configured_machines_to_nothing(self):
        self.radlc("plan", self.file)
        self.assertEqual(self.server.log, [], "a plan needs no network")
        self.apply(timeout=300)
        machines = self.addresses()
        self.assertEqual(sorted(machines), ["back[0]", "front[0]", "worker[0]", "worker[1]"])
        for address, (path, record) in machines.items():
            self.assertIn(f"hello from {address.split('[')[0]}", (self.machines.machine(path).home / "greeting").read_text())
            self.assertEqual(record["properties"].get("priority"), "Spot" if address.startswith("worker") else None)
        said = {resource["id"] for resource in self.show(self.file)["resources"]}
        self.assertEqual(said, set(self.arm.everything()) - set(self.before), "all that is there is in the state, and nothing else")
        self.radlc("plan", "--detailed-exitcode", self.file)
        self.assertNotIn("Changed outside", self.radlc("plan", "--refresh", "--detailed-exitcode", self.file))
        self.apply("--input", "team=red")
        self.assertEqual(self.addresses()["front[0]"][0], machines["front[0]"][0], "a tag changes in place")
        self.assertEqual(self.addresses()["front[0]"][1]["tags"]["team"], "red")
        self.apply("--input", "team=red", "--input", "cpus=4", timeout=200)
        path, front = self.addresses()["front[0]"]
        self.assertEqual(path, machines["front[0]"][0], "a machine type changes by a restart")
        self.assertNotEqual(front["properties"]["hardwareProfile"]["vmSize"], machines["front[0]"][1]["properties"]["hardwareProfile"]["vmSize"])
        self.apply("--input", "team=red", "--input", "cpus=4", "--input", "workers=1", timeout=200)
        self.assertEqual(sorted(self.addresses()), ["back[0]", "front[0]", "worker[0]"])
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()
        self.assert_nothing_left()

    def test_the_plan_of_an_elastic_farm_says_that_its_nodes_do_not_end_themselves(self):
        file = self.write("farm.radl", f"""radl 2
system worker ( cpu.count >= 1, {SYSTEM} )
deploy worker 2 azure
use 'std/farm/tasks' as work ( nodes = system.worker, elastic = yes, tasks = [ {{ command = 'true', seconds = 9 }} ] )
""")
        plan = self.radlc("plan", file)
        self.assertEqual(plan.count("its nodes do not end themselves"), 1, plan)
        self.assertIn("Azure bills a machine that shuts itself down", plan)

    def test_what_is_evicted_is_made_again_and_drift_is_put_back(self):
        self.apply(timeout=300)
        machines = self.addresses()
        time.sleep(1)  # what does not show is gone only once the cloud has settled
        self.arm.evict(machines["worker[1]"][0])
        for path in self.ours("networkSecurityGroups"):
            self.arm.tamper(path)
        self.assertRegex(self.radlc("plan", "--refresh", self.file), r"worker\[1\]")
        self.apply(timeout=300)
        self.assertNotEqual(self.addresses()["worker[1]"][0], machines["worker[1]"][0])
        self.assertEqual(self.addresses()["front[0]"][0], machines["front[0]"][0])
        for rules in self.ours("networkSecurityGroups").values():
            self.assertNotIn("let-in", [rule["name"] for rule in rules["properties"]["securityRules"]], "only what the file opens is open")
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_rule_that_came_after_the_plan_is_not_removed_with_the_others(self):
        file = self.write("site.radl", FILE.replace("deploy back 1 azure\n", ""))
        apply = ("apply", "--auto-approve", file, "--input", "workers=0")
        self.radlc(*apply, timeout=300)
        (group,) = self.ours("networkSecurityGroups")
        self.arm.tamper(group)
        late = {"name": "late", "properties": {
            "protocol": "Tcp", "sourcePortRange": "*", "destinationPortRange": "5900", "sourceAddressPrefix": "*",
            "destinationAddressPrefix": "*", "access": "Allow", "direction": "Inbound", "priority": 3999}}
        came = []

        def with_one_more(request, forward=self.server.forward):
            # The plan lists the groups; the update reads this one.
            if request.method == "GET" and request.path.split("?")[0].lower().endswith(group.lower()) and not came:
                came.append(self.arm.change(group, lambda one: one["properties"]["securityRules"].append(late)))
            return forward(request)

        def names():
            return {rule["name"] for rule in self.ours("networkSecurityGroups")[group]["properties"]["securityRules"]}
        self.server.forward = with_one_more
        self.radlc(*apply, code=None, timeout=300)
        self.assertIn("a rule came after the plan: tcp 5900 from 0.0.0.0/0", self.err)
        self.assertLessEqual({"let-in", "late"}, names())
        self.radlc(*apply, timeout=300)
        self.assertFalse({"let-in", "late"} & names(), "the next plan has shown both")
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_security_that_somebody_changed_is_shown_and_repaired(self):
        file = self.write("site.radl", FILE.replace("deploy back 1 azure\n", ""))
        self.radlc("apply", "--auto-approve", file, "--input", "workers=0", timeout=300)
        machine, _ = self.addresses()["front[0]"]
        tags = {path: dict(one["tags"]) for kind in ("networkInterfaces", "networkSecurityGroups", "virtualMachines")
                for path, one in self.ours(kind).items()}
        (interface,), (group,) = self.ours("networkInterfaces"), self.ours("networkSecurityGroups")
        before = json.dumps(self.ours("networkInterfaces")[interface]["properties"]["ipConfigurations"][0]["properties"]
                            ["applicationSecurityGroups"], sort_keys=True)

        def of_interface(one):
            del one["properties"]["networkSecurityGroup"]
            one["properties"]["ipConfigurations"][0]["properties"]["applicationSecurityGroups"] = []
            del one["tags"]["radlc-infrastructure"]

        def of_group(one):
            (login,) = [r["properties"] for r in one["properties"]["securityRules"] if r["properties"].get("destinationPortRange") == "22"]
            login.pop("destinationApplicationSecurityGroups", None)
            login["destinationAddressPrefix"] = "10.1.2.3"
            one["properties"]["securityRules"].append({"name": "nothing-out", "properties": {
                "protocol": "*", "sourcePortRange": "*", "destinationPortRange": "*", "sourceAddressPrefix": "*",
                "destinationAddressPrefix": "Internet", "access": "Deny", "direction": "Outbound", "priority": 200}})
        self.arm.change(interface, of_interface)
        self.arm.change(group, of_group)
        self.arm.change(machine, lambda one: one["tags"].update({"radlc-token": "mine", "radlc-key": "SHA256:of-nobody"}))
        plan = json.loads(self.radlc("plan", "--refresh", "--json", file, "--input", "workers=0"))
        shown = json.dumps(plan["drift"])
        for words in ("deny outbound rule nothing-out", "for 10.1.2.3", "marks.radlc-infrastructure", "marks.radlc-token", "marks.radlc-key", "security_group"):
            self.assertIn(words, shown)
        self.assertEqual({a["verb"] for a in plan["actions"]}, {"update"})
        self.radlc("apply", "--auto-approve", file, "--input", "workers=0", timeout=200)
        self.assertEqual(self.addresses()["front[0]"][0], machine)
        now = self.ours("networkInterfaces")[interface]["properties"]
        self.assertTrue(now["networkSecurityGroup"]["id"].lower().endswith(group.rsplit("/", 1)[1].lower()))
        self.assertEqual(json.dumps(now["ipConfigurations"][0]["properties"]["applicationSecurityGroups"], sort_keys=True), before)
        self.assertNotIn("10.1.2.3", json.dumps(self.ours("networkSecurityGroups")[group]))
        self.assertNotIn("nothing-out", [r["name"] for r in self.ours("networkSecurityGroups")[group]["properties"]["securityRules"]])
        self.assertEqual({path: dict(one["tags"]) for kind in ("networkInterfaces", "networkSecurityGroups", "virtualMachines")
                          for path, one in self.ours(kind).items()}, tags)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file, "--input", "workers=0")
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_admin_rules_of_a_network_manager_are_noted_and_stay(self):
        file = self.write("one.radl", FILE.replace("deploy back 1 azure\n", "").replace("deploy worker input.workers azure\n", ""))
        self.radlc("apply", "--auto-approve", file, timeout=300)
        notes = lambda: "\n".join(json.loads(self.radlc("plan", "--refresh", "--json", file))["notes"])  # noqa: E731
        self.assertNotIn("neither controls nor changes", notes())
        (network,) = self.ours("virtualNetworks")
        name = network.rpartition("/")[2]

        def rule(called, **properties):
            return {"id": f"/subscriptions/s/networkManagers/m/rules/{called}", "kind": "Custom", "properties": {
                "protocol": "Tcp", "access": "Deny", "direction": "Inbound", "priority": 10, "sourcePortRanges": ["0-65535"],
                "destinationPortRanges": ["22"], "sources": [{"addressPrefix": "*", "addressPrefixType": "IPPrefix"}],
                "destinations": [{"addressPrefix": "*", "addressPrefixType": "IPPrefix"}], **properties}}
        self.arm.admin_rules[name.lower()] = [rule("no-ssh"), rule("out", access="AlwaysAllow", direction="Outbound", protocol="Any",
                                                                   destinationPortRanges=["*"], destinations=[{"addressPrefix": "10.9.0.0/16"}])]
        noted = notes()
        for words in ("front[0]: ", f"security admin rule no-ssh denies tcp 22 from 0.0.0.0/0 (virtual network {name})",
                      "security admin rule out always allows all to 10.9.0.0/16"):
            self.assertIn(words, noted)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)  # nothing to do about it
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_host_key_is_compared_once_the_console_shows_it(self):
        told, file = self.arm.console, self.write("one.radl", FILE.replace("deploy back 1 azure\n", "").replace("deploy worker input.workers azure\n", ""))
        trusted = lambda: {r["attributes"]["host_key_from"] for r in self.show(file)["resources"] if r["type"] == "machine"}  # noqa: E731
        self.arm.console = lambda name: ""
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(trusted(), {"first use"})
        self.arm.console = lambda name: told(name).replace("AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAC3NzaC1lZDI1NTE5AAAAJ")
        said = self.radlc("plan", "--refresh", file, code=2)
        self.assertIn("host key mismatch", said + self.err)
        self.arm.console = told
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual(trusted(), {"cloud"})
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_type_without_room_is_left_for_another_and_a_quota_is_told(self):
        file = self.write("spot.radl", FILE.replace("deploy back 1 azure\n", "").replace("deploy front 1 azure\n", ""))
        first = json.loads(self.radlc("plan", "--json", file))
        self.assertTrue(first)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        taken = {one["properties"]["hardwareProfile"]["vmSize"] for _, one in self.addresses().values()}
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.arm.full = taken
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertFalse(taken & {one["properties"]["hardwareProfile"]["vmSize"] for _, one in self.addresses().values()})
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()
        self.arm.full, self.arm.vcpu_quota = set(), 1
        self.radlc("plan", "--refresh", file, code=None)
        self.assertRegex(self.err, r"azure\S*eastus: the quota \w+ is 1; 0 are in use")

    def test_a_zone_without_room_is_left_for_the_next_that_the_file_names(self):
        self.arm.full_zones = {"1", "3"}
        file = self.write("zones.radl", f"radl 2\nsystem back ( cpu.count >= 1, availability_zone = 'eastus-1,eastus-3,eastus-2', {SYSTEM} )\ndeploy back 1 azure\n")
        self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertEqual([one["zones"] for one in self.ours().values()], [["2"]])
        self.radlc("plan", "--detailed-exitcode", file)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_wait_that_azure_asks_for_is_kept_and_said(self):
        turned_away = []

        def busy(request, forward=self.server.forward):
            if turned_away or request.method != "PUT" or "/virtualMachines/" not in request.path:
                return forward(request)
            turned_away.append(request.path)
            return Answer(429, [("Content-Type", "application/json"), ("Retry-After", "3")],
                          json.dumps({"error": {"code": "TooManyRequests", "message": "The server rejected the request."}}).encode())

        self.server.forward = busy
        said = self.apply("--input", "workers=0", timeout=300) + self.err
        self.assertRegex(said, r"127\.0\.0\.1:\d+ has too much to do and asks to wait 3 s")
        self.assertEqual(len(turned_away), 1)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_quota_of_gpus_that_stops_a_launch_is_said_by_its_name_with_the_page_where_to_ask(self):
        file = self.write("gpus.radl", "radl 2\nnetwork wan ( outbound = 'yes' )\nsystem worker ( gpu.count >= 1, gpu.model = 'T4', "
                          "net_interface.0.connection = 'wan' )\ndeploy worker 1 azure\n")
        self.arm.no_quota = {f"Standard_NC{cpus}as_T4_v3": "standardNCASv3_T4Family" for cpus in (4, 8, 16, 64)}
        said = self.radlc("apply", "--auto-approve", file, timeout=300, code=None) + self.err
        self.assertIn("exceeding approved standardNCASv3_T4Family Cores quota", said)
        self.assertIn("The quota is 'standardNCASv3_T4Family Cores'. Run `az vm list-usage", said)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_premium_disk_on_a_size_without_premium_storage_is_an_error_of_the_plan(self):
        file = "radl 2\nsystem worker ( instance_type = '%s', disk.0.type = 'Premium_LRS' )\ndeploy worker 1 azure\n"
        self.radlc("plan", self.write("wrong.radl", file % "Standard_D2_v5"), code=1)
        self.assertIn("disk.0.type = 'Premium_LRS': a machine of type Standard_D2_v5 does not take such a disk", self.err)
        self.radlc("plan", self.write("right.radl", file % "Standard_D2s_v5"))

    def test_disks_are_encrypted_with_the_set_that_the_file_names(self):
        group = "resourceGroups/payroll/providers/Microsoft.Compute/diskEncryptionSets"
        for name in ("keys", "others"):
            self.arm._put(f"{group}/{name}", {"location": "eastus", "properties": {"provisioningState": "Succeeded"}})
        self.before = self.arm.everything()
        key = f"/subscriptions/{SUBSCRIPTION}/{group}/keys"
        file = self.write("keys.radl", f"radl 2\nsystem worker ( cpu.count >= 1, disk.0.encryption_key = '{key}', disk.1.encryption_key = '{key}', "
                          f"disk.1.size = 1G, disk.1.device = 'sdc', {SYSTEM} )\ndeploy worker 1 azure\n")
        self.radlc("apply", "--auto-approve", file, timeout=300)
        (disk,) = [one for one in self.ours("disks").values() if "encryption" in one["properties"]]
        self.assertEqual(disk["properties"]["encryption"], {"type": "EncryptionAtRestWithCustomerKey", "diskEncryptionSetId": key})
        (machine,) = self.ours().values()
        self.assertEqual(machine["properties"]["storageProfile"]["osDisk"]["managedDisk"]["diskEncryptionSet"], {"id": key})
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.edit(file, ("/keys", "/others"))
        self.assertIn("replace", {a["verb"] for a in self.plan(file)["actions"]}, "a disk is encrypted as it is made")
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_an_image_for_another_processor_is_an_error_of_a_plan_that_looks(self):
        text = "radl 2\nsystem worker ( instance_type = '%s', disk.0.image.url = 'azr://Debian/debian-12/%s/latest' )\ndeploy worker 1 azure\n"
        for machine, image, fits in (("Standard_D2s_v5", "12-gen2", True), ("Standard_D2s_v5", "12-arm64", False), ("Standard_D2ps_v5", "12-gen2", True),
                                     ("Standard_D2ps_v5", "12", False)):
            file = self.write("other.radl", text % (machine, image))
            self.radlc("plan", file)
            self.radlc("plan", "--refresh", file, code=0 if fits else 1)
            self.assertEqual(f"{machine} is a machine of" in self.err, not fits, self.err)

    def test_a_disk_that_is_there_is_attached_and_stays(self):
        folder = "resourceGroups/payroll/providers/Microsoft.Compute/disks"
        self.arm.put_disk(f"{folder}/data")
        self.arm.put_disk(f"{folder}/zonal", zones=["2"])
        self.before = self.arm.everything()
        text = (f"radl 2\nnetwork wan ( outbound = 'yes' )\nsystem worker ( cpu.count >= 1, net_interface.0.connection = 'wan', "
                f"disk.1.image.url = 'azr://disk/payroll/%s', disk.1.device = 'sdc', disk.0.free_size >= 20Gi, {SYSTEM} )\ndeploy worker 1 azure\n")
        for name, words in (("dta", "disk not found"), ("zonal", "the disk is in zone 2, and a machine must be in that zone too")):
            self.radlc("plan", "--refresh", self.write("site.radl", text % name), code=None)
            self.assertIn(words, self.err)
        file = self.write("site.radl", text % "data")
        self.radlc("plan", "--refresh", file)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        [(path, one)] = self.ours().items()
        [attached] = one["properties"]["storageProfile"]["dataDisks"]
        self.assertGreaterEqual(one["properties"]["storageProfile"]["osDisk"]["diskSizeGB"], 20)
        self.assertTrue(attached["managedDisk"]["id"].lower().endswith(f"{folder}/data".lower()), attached)
        self.assertEqual((attached["lun"], attached["deleteOption"]), (2, "Detach"))
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        other = self.write("other/site.radl", text % "data")
        self.radlc("plan", "--refresh", other, code=None)
        self.assertIn(f"it is attached to {path.rpartition('/')[2]}", self.err)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_type_that_takes_fewer_disks_than_the_file_has_is_passed_over(self):
        disks = ", ".join(f"disk.{n}.size = 1G, disk.{n}.mount_path = '/mnt/{n}'" for n in (1, 2))
        text = f"radl 2\nsystem back ( cpu.count >= 1, {disks}, {SYSTEM} )\ndeploy back 1 azure\n"
        file = self.write("disks.radl", text)
        first = re.search(r"eastus (Standard_\w+),", self.radlc("plan", "--refresh", file)).group(1)
        self.arm.data_disks[first] = 1
        self.assertNotIn(f"eastus {first},", self.radlc("plan", "--refresh", file))
        self.radlc("plan", "--refresh", self.write("named.radl", text.replace("cpu.count >= 1", f"instance_type = '{first}'")), code=None)
        self.assertIn(f"{first}: takes 1 further disks, not 2", self.err)

    def test_a_subscription_that_is_disabled_is_said_by_a_plan_that_looks_and_by_an_apply(self):
        self.arm.state = "Disabled"
        self.radlc("plan", "--refresh", self.file, code=None)
        self.assertIn("(Tests) is disabled: nothing can be created in it", self.err)
        said = self.radlc("apply", "--auto-approve", self.file, code=None) + self.err
        self.assertIn("ReadOnlyDisabledSubscription", said)
        self.assertIn("Enable the subscription again at portal.azure.com, Subscriptions.", said)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_a_resource_group_that_somebody_deletes_is_waited_for_and_made_again(self):
        self.apply("--input", "workers=0", timeout=300)
        [group] = self.ours("resourceGroups")
        self.arm.pace = 100  # five seconds
        deleted = self.arm.handle("DELETE", f"/subscriptions/{SUBSCRIPTION}/{group}?api-version=2022-09-01", {}, b"")
        self.assertEqual(deleted.status, 202)
        self.arm.pace = 1
        said = self.apply("--input", "workers=0", timeout=300)
        self.assertRegex(said, r"resource_group\.azure:/eastus +gone")
        self.assertEqual(len(self.ours()), 2)
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file, "--input", "workers=0")
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_policy_that_forbids_a_machine_is_said_and_what_was_made_goes(self):
        def denied(request, forward=self.server.forward):
            if request.method != "PUT" or "/virtualMachines/" not in request.path:
                return forward(request)
            error = {"code": "RequestDisallowedByPolicy", "target": "radlc", "message": "Resource 'radlc' was disallowed by policy. Policy identifiers: "
                     "'[{\"policyAssignment\":{\"name\":\"Allowed virtual machine size SKUs\"}}]'."}
            return Answer(403, [("Content-Type", "application/json")], json.dumps({"error": error}).encode())

        self.server.forward = denied
        said = self.apply("--input", "workers=0", timeout=300, code=None) + self.err
        self.assertIn("Allowed virtual machine size SKUs", said)
        self.assertIn("A policy of the subscription forbids it.", said)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_resource_group_in_which_somebody_else_has_something_is_kept(self):
        self.apply("--input", "workers=0", timeout=300)
        group = next(path for path in self.ours("resourceGroups"))
        with self.arm.lock:
            self.arm._put(f"{group}/providers/Microsoft.Compute/disks/precious", {"location": "eastus", "properties": {"provisioningState": "Succeeded"}})
        said = self.radlc("destroy", "--auto-approve", self.file, timeout=200, code=None)
        self.assertIn("precious", said + self.err)
        self.assertIn(f"{group}/providers/Microsoft.Compute/disks/precious", self.arm.everything())
        self.arm.resources.pop(f"{group}/providers/Microsoft.Compute/disks/precious".lower())
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()


class OneFile(AzureCase):
    def test_the_papers_cluster_trains_on_azure_by_one_input(self):
        # The image's usual login, as the machines of the tests have it.
        text = (SOURCE / "examples/paper/training.radl").read_text()
        file = self.write("training.radl", text)
        self.radlc("plan", file, "--input", "cloud=azure")
        self.assertEqual(self.server.log, [], "a plan needs no network")
        self.radlc("apply", "--auto-approve", file, "--input", "cloud=azure", "--input", "model=logistic", "--input", "epochs=1",
                   "--input", f"result={self.folder}/trained", timeout=300)
        self.assertEqual(len(self.ours()), 3)
        self.assertTrue(list((self.folder / "trained").rglob("*.safetensors")))
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


class Credentials(AzureCase):
    boots = False

    def test_a_certificate_does_what_a_secret_does_and_neither_is_left_anywhere(self):
        secret = self.environment.pop("AZURE_CLIENT_SECRET")
        self.environment["AZURE_CLIENT_CERTIFICATE_PATH"] = str(self.server.make_certificate())
        file = self.write("site.radl", "radl 2\nsystem node ( cpu.count >= 1, " + SYSTEM + " )\ndeploy node 1 azure\n")
        self.radlc("plan", "--refresh", file)
        del self.environment["AZURE_CLIENT_CERTIFICATE_PATH"]
        self.environment["AZURE_CLIENT_SECRET"] = secret
        self.radlc("plan", "--refresh", file)
        self.assertGreaterEqual(self.server.asked_tokens, 2)
        for path in self.folder.rglob("*"):
            if path.is_file():
                text = path.read_bytes()
                self.assertNotIn(secret.encode(), text, path)
                for token in self.server.tokens:
                    self.assertNotIn(token.encode(), text, path)

    def test_a_wrong_secret_is_said_with_what_to_do(self):
        self.environment["AZURE_CLIENT_SECRET"] = "not-the-secret"
        file = self.write("site.radl", "radl 2\nsystem node ( cpu.count >= 1, " + SYSTEM + " )\ndeploy node 1 azure\n")
        self.radlc("plan", "--refresh", file, code=None)
        self.assertIn("AADSTS7000215", self.err)
        self.assertNotIn("not-the-secret", self.err)


if __name__ == "__main__":
    unittest.main()
