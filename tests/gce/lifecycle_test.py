"""Machines on Compute Engine from nothing to nothing: plan, apply, configure, change, destroy; and what the cloud does behind one's back."""
import json
import subprocess
import time
import unittest

from compute import PROJECT
from gce_case import SYSTEM, USER, GceCase
from proxy import Answer

FILE = f"""radl 2
input workers ( type = 'integer', default = 2 )
input team ( type = 'string', default = 'blue' )
input cpus ( type = 'integer', default = 1 )
network lan ( create = 'yes', cidr = '10.*.0.0/24' )
network wan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system front (
  cpu.count >= input.cpus, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', elastic_ip = 'yes'
  disk.1.size = 2G, disk.1.device = 'sdb', instance_tags = 'team=${{input.team}}', {SYSTEM}
)
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', spot = 'yes', {SYSTEM} )
configure greet ( file '~/greeting' ( content = 'hello from ${{self.system}} ${{self.ordinal}}' ) )
contextualize ( system front configure greet step 1 system worker configure greet step 1 )
deploy front 1 gce
deploy worker input.workers gce
"""


class Lifecycle(GceCase):
    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def addresses(self):
        """address in the file -> (path, record) of our machines."""
        return {one["description"].split()[3]: (path, one) for path, one in self.ours().items()}

    def test_from_plan_to_configured_machines_to_nothing(self):
        self.radlc("plan", self.file)
        self.assertEqual(self.server.log, [], "a plan needs no network")
        self.apply(timeout=300)
        machines = self.addresses()
        self.assertEqual(sorted(machines), ["front[0]", "worker[0]", "worker[1]"])
        for address, (path, record) in machines.items():
            self.assertIn(f"hello from {address.split('[')[0]}", (self.machines.machine(path).home / "greeting").read_text())
            self.assertEqual(record["scheduling"].get("provisioningModel"), "SPOT" if address.startswith("worker") else None)
        said = {resource["id"] for resource in self.show(self.file)["resources"]}
        self.assertEqual(said, set(self.compute.everything()) - set(self.before), "all that is there is in the state, and nothing else")
        self.radlc("plan", "--detailed-exitcode", self.file)
        self.assertNotIn("Changed outside", self.radlc("plan", "--refresh", "--detailed-exitcode", self.file))
        self.apply("--input", "team=red")
        self.assertEqual(self.addresses()["front[0]"][0], machines["front[0]"][0], "a label changes in place")
        self.assertEqual(self.addresses()["front[0]"][1]["labels"]["team"], "red")
        self.apply("--input", "team=red", "--input", "cpus=4", timeout=200)
        path, front = self.addresses()["front[0]"]
        self.assertEqual(path, machines["front[0]"][0], "a machine type changes by a restart")
        self.assertTrue(front["machineType"].endswith("-4"), front["machineType"])
        self.apply("--input", "team=red", "--input", "cpus=4", "--input", "workers=1", timeout=200)
        self.assertEqual(sorted(self.addresses()), ["front[0]", "worker[0]"])
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()
        self.assert_nothing_left()

    def test_a_node_of_an_elastic_farm_ends_itself_on_an_image_without_cloud_init(self):
        file = self.write("farm.radl", f"""radl 2
system worker ( cpu.count >= 1, {SYSTEM} )
deploy worker 1 gce
use 'std/farm/tasks' as work ( nodes = system.worker, elastic = yes, tasks = [ {{ command = 'true' }} ] )
""")
        self.assertIn("its disks are paid for until", self.radlc("plan", file))
        self.radlc("apply", "--auto-approve", "--keep", file, timeout=300)
        (node,) = self.ours().values()
        items = {item["key"]: item["value"] for item in node["metadata"]["items"]}
        self.assertIn("idle=1800", items["startup-script"])
        self.assertIn("Google Compute Engine", items["startup-script"], "no other computer is switched off")
        self.assertNotIn("auto-stop", items["user-data"])
        subprocess.run(["sh", "-n"], input=items["startup-script"], text=True, check=True)
        self.assertNotIn("maxRunDuration", node.get("scheduling", {}), "it does not end in the middle of a task")
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_what_is_taken_back_is_made_again_and_drift_is_put_back(self):
        self.apply(timeout=300)
        machines = self.addresses()
        time.sleep(1)  # what does not show is gone only once the cloud has settled
        self.compute.preempt(machines["worker[1]"][0])
        for path in self.ours("firewalls"):
            self.compute.tamper(path)
        self.assertRegex(self.radlc("plan", "--refresh", self.file), r"worker\[1\]")
        self.apply(timeout=300)
        self.assertNotEqual(self.addresses()["worker[1]"][0], machines["worker[1]"][0])
        self.assertEqual(self.addresses()["front[0]"][0], machines["front[0]"][0])
        opened = [rule for rule in self.ours("firewalls").values() if rule.get("sourceRanges") == ["0.0.0.0/0"]]
        self.assertEqual(len(opened), len([rule for rule in opened if "ports-wan" in rule["name"]]), "only what the file opens is open")
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_machine_that_is_taken_back_before_it_answers_is_noticed_and_made_by_the_next_apply(self):
        self.machines.boots = False
        process = self.start("apply", "--auto-approve", self.file, "--input", "workers=1")
        self.wait_until(lambda: any(one["status"] == "RUNNING" and path.split("/")[-1].find("worker") >= 0 for path, one in self.ours().items()), 60)
        time.sleep(1)  # what does not show is gone only once the cloud has settled
        (worker,) = [path for path in self.ours() if "worker" in path]
        self.compute.preempt(worker)
        self.machines.boots = True
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("worker[0] was preempted or deleted before it became reachable", err)
        self.apply("--input", "workers=1", timeout=300)
        self.assertEqual(sorted(self.addresses()), ["front[0]", "worker[0]"])
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_zone_without_room_is_left_for_another_and_a_quota_is_told(self):
        self.compute.full_zones = {"europe-west1-b"}
        self.assertNotRegex(self.apply(timeout=300), r"(front|worker)\S+: (front|worker)\S+:", "what it is of is said once")
        zones = {address: path.split("/")[1] for address, (path, _) in self.addresses().items()}
        self.assertNotIn("europe-west1-b", [zone for address, zone in zones.items() if address.startswith("worker")])
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()
        self.compute.full_zones = set()
        self.compute.instance_quota = 2
        self.radlc("plan", "--refresh", self.file, code=None)
        self.assertIn("the quota INSTANCES is 2; 1 are in use, and this plan needs 3", self.err)

    def test_security_that_somebody_changed_is_shown_and_repaired(self):
        self.apply("--input", "workers=0", timeout=300)
        path, front = self.addresses()["front[0]"]
        before = json.dumps([sorted(front["tags"]["items"]), front["labels"], sorted(front["metadata"]["items"], key=str)], sort_keys=True)
        rules = {one["description"].split()[3]: name for name, one in self.ours("firewalls").items()}
        lan = min((address for address in rules if address.startswith("network.lan")), key=len)
        inside = self.ours("firewalls")[rules[lan]]

        def of_machine(one):
            one["tags"]["items"] = ["of-somebody"]
            del one["labels"]["radlc-address"]
            one["metadata"]["items"] = [i for i in one["metadata"]["items"] if i["key"] != "radlc-user"]

        def of_rule(one):
            one.pop("targetTags")
            one.update(priority=65000, description="mine")
        (disk,), (network,) = self.ours("disks"), self.ours("networks")
        labels = dict(self.ours("disks")[disk]["labels"])
        of_others = [self.compute.put_firewall("block-all", network, direction="EGRESS", denied=[{"IPProtocol": "tcp", "ports": ["443"]}],
                                               destinationRanges=["0.0.0.0/0"]),
                     self.compute.put_firewall("let-in", network, direction="INGRESS", allowed=[{"IPProtocol": "all"}], sourceRanges=["0.0.0.0/0"])]
        elsewhere = self.compute.put_firewall("elsewhere", "global/networks/default", direction="EGRESS", denied=[{"IPProtocol": "all"}])
        self.compute.change(disk, lambda one: one["labels"].clear())
        self.compute.change(path, of_machine)
        self.compute.change(rules[lan], of_rule)
        plan = json.loads(self.radlc("plan", "--refresh", "--json", self.file, "--input", "workers=0"))
        self.assertEqual({a["id"]: a["verb"] for a in plan["actions"]},
                         {"front[0]": "update", lan: "update", lan.replace("network.", "net."): "update", "volume.front[0].1": "update"})
        shown = json.dumps(plan["drift"])
        for words in ("of-somebody", "marks.radlc-address", "marks.radlc-user", "marks.description", "for all machines", "with priority 65000",
                      "block-all denies tcp 443 to 0.0.0.0/0", "let-in allows all from 0.0.0.0/0", "volume.front[0].1"):
            self.assertIn(words, shown)
        late = []  # comes while radlc switches the others off

        def with_one_more(request, forward=self.server.forward):
            if request.method == "PATCH" and "/firewalls/" in request.path and not late:
                late.append(self.compute.put_firewall("late", network, direction="INGRESS", allowed=[{"IPProtocol": "all"}],
                                                      sourceRanges=["0.0.0.0/0"]))
            return forward(request)
        self.server.forward = with_one_more
        self.apply("--input", "workers=0", timeout=200)
        again, front = self.addresses()["front[0]"]
        self.assertEqual(again, path)
        now = json.dumps([sorted(front["tags"]["items"]), front["labels"], sorted(front["metadata"]["items"], key=str)], sort_keys=True)
        self.assertEqual(now, before)
        rule = self.ours("firewalls")[rules[lan]]
        self.assertEqual((rule["targetTags"], rule["description"], rule["priority"]), (inside["targetTags"], inside["description"], 1000))
        self.assertEqual(self.ours("disks")[disk]["labels"], labels)
        firewalls = self.compute.all_of("firewalls")
        self.assertEqual([firewalls[name].get("disabled") for name in [*of_others, elsewhere]], [True, True, None], "off, and not deleted")
        self.assertIsNone(firewalls[late[0]].get("disabled"), "no plan has shown it")
        self.assertIn("late allows all", self.radlc("plan", "--refresh", "--json", self.file, "--input", "workers=0"))
        self.compute.remove(late[0])
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file, "--input", "workers=0")
        for name in [*of_others, elsewhere]:
            self.compute.remove(name)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_rules_of_others_in_a_network_of_others_are_noted_and_stay(self):
        file = self.write("site.radl", f"radl 2\nsystem node ( cpu.count >= 1, {SYSTEM} )\ndeploy node 1 gce\n")
        self.apply_file(file)
        default, everybody = "global/networks/default", {"direction": "INGRESS", "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}],
                                                         "sourceRanges": ["0.0.0.0/0"]}
        (path,) = self.ours()
        tag = self.ours()[path]["tags"]["items"][0]
        notes = lambda: "\n".join(json.loads(self.radlc("plan", "--refresh", "--json", file))["notes"])  # noqa: E731
        self.assertNotIn("neither controls nor changes", notes())
        rules = [self.compute.put_firewall("let-in", default, **everybody), self.compute.put_firewall("to-us", default, targetTags=[tag], **everybody),
                 self.compute.put_firewall("to-payroll", default, targetTags=["payroll"], **everybody),
                 self.compute.put_firewall("is-off", default, disabled=True, **everybody)]
        before = [self.compute.all_of("firewalls")[rule] for rule in rules]
        noted = notes()
        for words in ("node[0]: ", "let-in allows tcp 22 from 0.0.0.0/0 (network default)", "to-us allows tcp 22"):
            self.assertIn(words, noted)
        for words in ("to-payroll", "is-off"):
            self.assertNotIn(words, noted)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)  # nothing to do about it
        self.apply_file(file, "--refresh")
        self.assertEqual([self.compute.all_of("firewalls")[rule] for rule in rules], before)
        # A network that another project shares: its rules cannot be read.
        host = "https://www.googleapis.com/compute/v1/projects/host-project/global/networks/shared"
        self.compute.change(path, lambda one: one["networkInterfaces"][0].update(network=host))
        self.assertRegex(notes(), r"rules of projects/host-project/global/networks/shared are unknown: .*compute\.firewalls\.list")
        self.compute.change(path, lambda one: one["networkInterfaces"][0].update(network=host.replace("host-project", PROJECT).replace("shared", "default")))
        for rule in rules:
            self.compute.remove(rule)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_rules_of_firewall_policies_are_noted_and_stay(self):
        file = self.write("site.radl", f"radl 2\nsystem node ( cpu.count >= 1, {SYSTEM} )\ndeploy node 1 gce\n")
        self.apply_file(file)
        notes = lambda: "\n".join(json.loads(self.radlc("plan", "--refresh", "--json", file))["notes"])  # noqa: E731
        self.assertNotIn("neither controls nor changes", notes())

        def rule(priority, action, ports, direction="INGRESS", **more):
            ends = {"destIpRanges": ["10.9.0.0/16"]} if direction == "EGRESS" else {"srcIpRanges": ["203.0.113.0/24"], "srcRegionCodes": ["FR"]}
            return {"priority": priority, "action": action, "direction": direction,
                    "match": {"layer4Configs": [{"ipProtocol": "tcp", "ports": ports}], **ends}, **more}
        network = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/networks/"
        self.compute.policies = [
            {"name": "1234", "displayName": "no-ssh", "type": "HIERARCHY", "rules": [
                rule(1000, "deny", ["22"]), rule(1001, "deny", ["23"], disabled=True), rule(1002, "deny", ["24"], targetResources=[network + "other"]),
                rule(1003, "allow", ["25"], targetResources=[network + "default"]),
                rule(1004, "deny", ["26"], targetServiceAccounts=["robot@example.iam.gserviceaccount.com"]), rule(2147483644, "goto_next", ["27"])]},
            {"name": "ours", "type": "NETWORK_REGIONAL", "rules": [rule(7, "apply_security_profile_group", ["80"], "EGRESS", targetSecureTags=[
                {"name": "tagValues/5", "state": "EFFECTIVE"}])]}]
        noted = notes()
        for words in ("node[0]: ", "no-ssh rule 1000 denies tcp 22 from 203.0.113.0/24, FR (hierarchical firewall policy)", "rule 1003 allows tcp 25",
                      "ours rule 7 inspects tcp 80 to 10.9.0.0/16 for machines with the secure tag tagValues/5 (regional network firewall policy)"):
            self.assertIn(words, noted)
        for words in ("rule 1001", "rule 1002", "rule 1004", "tcp 27"):
            self.assertNotIn(words, noted)
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)  # nothing to do about it
        self.compute.policies = None
        self.assertRegex(notes(), r"the firewall policies of projects/\S+/global/networks/default are unknown: .*getRegionEffectiveFirewalls")
        self.compute.policies = []
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def apply_file(self, file, *arguments):
        self.radlc("apply", "--auto-approve", *arguments, file, timeout=300)

    def test_host_keys_come_from_the_serial_port_where_no_guest_agent_writes_them(self):
        told = {}
        self.compute.guest_attributes = lambda path: {}
        self.compute.serial_port = lambda path: told.get(path, "booting")
        self.apply("--input", "workers=0", timeout=300)
        trusted = lambda: {r["attributes"]["host_key_from"] for r in self.show(self.file)["resources"] if r["type"] == "instance"}  # noqa: E731
        self.assertEqual(trusted(), {"first use"})
        for path in self.ours():
            told[path] = f"-----BEGIN SSH HOST KEY KEYS-----\n{self.machines.host_key(path)}\n-----END SSH HOST KEY KEYS-----\n"
        self.apply("--input", "workers=0", timeout=300)
        self.assertEqual(trusted(), {"cloud"})
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_of_the_zones_that_the_file_names_the_next_is_taken_where_one_has_no_room(self):
        self.compute.full_zones = {"europe-west1-b", "europe-west1-c"}
        text = f"radl 2\nsystem worker ( cpu.count >= 1, availability_zone = 'europe-west1-b,%s', {SYSTEM} )\ndeploy worker 1 gce\n"
        file = self.write("zones.radl", text % "europe-west1-c")
        self.radlc("apply", "--auto-approve", file, code=None, timeout=300)
        self.assertEqual(self.ours(), {}, "no other zone than those")
        self.radlc("apply", "--auto-approve", self.write("zones.radl", text % "europe-west1-d"), timeout=300)
        self.assertEqual([path.split("/")[1] for path in self.ours()], ["europe-west1-d"])
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_what_a_policy_or_no_billing_forbids_is_said_at_once(self):
        answers = [(412, "conditionNotMet", "Constraint constraints/compute.vmExternalIpAccess violated for project 424242424242."),
                   (403, "forbidden", "This API method requires billing to be enabled. Please enable billing on project #radlc-tests.")]

        def refused(request, forward=self.server.forward):
            if request.method != "POST" or not request.path.partition("?")[0].endswith("/instances"):
                return forward(request)
            asked.append(request.path)
            status, reason, message = answers[0]
            error = {"code": status, "message": message, "errors": [{"reason": reason, "message": message}]}
            return Answer(status, [("Content-Type", "application/json")], json.dumps({"error": error}).encode())

        self.server.forward = refused
        for words in ("A policy of the organization forbids it", "The project needs a billing account"):
            asked = []
            said = self.apply("--input", "workers=0", code=None) + self.err
            self.assertIn(words, said)
            self.assertEqual(len(asked), 1, "tried once")
            answers.pop(0)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_wait_that_google_asks_for_is_kept_and_said(self):
        turned_away = []

        def busy(request, forward=self.server.forward):
            path = request.path.partition("?")[0]
            wanted = ("POST", "/instances") if not turned_away else ("GET", "/regions/europe-west1")
            if len(turned_away) == 2 or request.method != wanted[0] or not path.endswith(wanted[1]):
                return forward(request)
            turned_away.append(path)
            error = {"code": 429, "message": "Too many", "errors": [{"reason": "rateLimitExceeded", "message": "Too many"}]}
            return Answer(429, [("Content-Type", "application/json"), ("Retry-After", "3")], json.dumps({"error": error}).encode())

        self.server.forward = busy
        self.radlc("plan", "--refresh", self.file)
        self.assertNotIn("asks to wait", self.err)
        said = self.apply("--input", "workers=0", timeout=300) + self.err
        self.assertRegex(said, r"127\.0\.0\.1:\d+ has too much to do and asks to wait 3 s")
        self.assertEqual(len(turned_away), 1)
        self.radlc("plan", "--refresh", "--input", "workers=0", self.file)
        self.assertEqual(len(turned_away), 2)
        self.assertIn("asks to wait 3 s", self.err)
        self.radlc("destroy", "--auto-approve", self.file, timeout=200)
        self.assert_account_is_as_before()


class Accelerators(GceCase):
    FILE = f"""radl 2
network wan ( outbound = 'yes' )
system worker ( gpu.count >= 1, gpu.model = 'T4', net_interface.0.connection = 'wan', disk.0.os.credentials.username = '{USER}' )
deploy worker 1 gce
"""

    def test_a_quota_that_stops_a_launch_is_said_by_its_name_and_a_zone_without_them_is_left_for_another(self):
        file = self.write("site.radl", self.FILE)
        self.compute.gpu_quota = {"nvidia-tesla-t4": 0}
        said = self.radlc("apply", "--auto-approve", file, timeout=300, code=None) + self.err
        self.assertIn("Quota 'NVIDIA_T4_GPUS' exceeded", said)
        self.assertIn("Request an increase of NVIDIA_T4_GPUS (region europe-west1): https://console.cloud.google.com/iam-admin/quotas", said)
        self.compute.gpu_quota = {}
        self.compute.without = {"europe-west1-b": ["nvidia-tesla-t4"]}
        said = self.radlc("apply", "--auto-approve", file, timeout=300)
        self.assertRegex(said, r"worker\[0\]: .*acceleratorTypes/nvidia-tesla-t4' was not found: trying .* in europe-west1-c")
        ((path, machine),) = self.ours().items()
        self.assertNotIn("europe-west1-b", path)
        self.assertEqual(machine["guestAccelerators"][0]["acceleratorCount"], 1)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


class Disks(GceCase):
    FILE = f"""radl 2
network wan ( outbound = 'yes' )
system worker ( instance_type = 'c3-standard-4', net_interface.0.connection = 'wan', disk.1.size = 5G, disk.1.device = 'sdb'
  disk.0.os.credentials.username = '{USER}'%s )
deploy worker 1 gce
"""

    def test_a_machine_that_takes_no_standard_disks_gets_others_and_a_pair_that_is_refused_is_an_error_of_the_plan(self):
        self.radlc("plan", self.write("wrong.radl", self.FILE % ", disk.1.type = 'pd-standard'"), code=1)
        self.assertIn("disk.1.type = 'pd-standard': a machine of type c3-standard-4 does not take such a disk", self.err)
        self.assertEqual(self.server.log, [])
        file = self.write("site.radl", self.FILE % "")
        self.radlc("apply", "--auto-approve", file, timeout=300)
        kinds = {one["type"].rpartition("/")[2] for one in self.ours("disks").values()}
        self.assertEqual(kinds, {"pd-balanced"})
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_disks_are_encrypted_with_the_key_that_the_file_names(self):
        key = "projects/p/locations/europe-west1/keyRings/r/cryptoKeys/k"
        file = self.write("site.radl", self.FILE % f", disk.0.encryption_key = '{key}', disk.1.encryption_key = '{key}'")
        self.radlc("apply", "--auto-approve", file, timeout=300)
        (disk,), (machine,) = self.ours("disks").values(), self.ours().values()
        self.assertEqual(disk["diskEncryptionKey"], {"kmsKeyName": key})
        self.assertEqual([one.get("diskEncryptionKey") for one in machine["disks"]], [{"kmsKeyName": key}, None])
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.edit(file, (key, key + "2"))
        self.assertIn("replace", {a["verb"] for a in self.plan(file)["actions"]}, "a disk is encrypted as it is made")
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_disk_that_is_there_is_attached_to_a_machine_of_its_zone_and_stays(self):
        disk = "zones/europe-west1-c/disks/data"
        self.compute.put_disk(disk)
        self.before = self.compute.everything()
        file = self.write("site.radl", f"radl 2\nnetwork wan ( outbound = 'yes' )\nsystem worker ( cpu.count >= 1, net_interface.0.connection = 'wan', "
                          f"disk.1.image.url = 'gce://europe-west1-c/data', disk.1.device = 'sdb', disk.0.free_size >= 20Gi, {SYSTEM} )\ndeploy worker 1 gce\n")
        self.radlc("plan", "--refresh", file)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        [(path, one)] = self.ours().items()
        self.assertTrue(path.startswith("zones/europe-west1-c/"), path)
        root, attached = one["disks"]
        self.assertEqual(root["initializeParams"]["diskSizeGb"], "30", "the image's 10 and 20 that are to be free")
        self.assertTrue(attached["source"].endswith("/" + disk), attached)
        self.assertFalse(attached["autoDelete"])
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        other = self.write("other/site.radl", file.read_text())
        self.radlc("plan", "--refresh", other, code=None)
        self.assertIn(f"disk.1.image.url = 'gce://europe-west1-c/data': it is attached to {path.rpartition('/')[2]}", self.err)
        self.edit(other, ("europe-west1-c/data", "europe-west1-c/dta"))
        self.radlc("plan", "--refresh", other, code=None)
        self.assertIn("disk not found", self.err)
        self.edit(other, ("worker ( cpu", "worker ( availability_zone = 'europe-west1-b', cpu"))
        self.radlc("plan", other, code=None)
        self.assertIn("names a disk in europe-west1-c, but the machine would be in europe-west1-b", self.err)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


class OtherProcessors(GceCase):
    FILE = f"""radl 2
network wan ( outbound = 'yes' )
system worker ( instance_type = 'c4a-standard-1', net_interface.0.connection = 'wan', disk.1.size = 5G, disk.1.device = 'sdb'
  disk.0.os.credentials.username = '{USER}' )
deploy worker 1 gce
"""

    def test_a_machine_for_arm64_gets_its_image_and_disks(self):
        file = self.write("site.radl", self.FILE)
        self.radlc("plan", "--refresh", file)
        self.radlc("apply", "--auto-approve", file, timeout=300)
        (machine,) = self.ours().values()
        self.assertTrue(machine["machineType"].endswith("/c4a-standard-1"))
        self.assertIn("family/debian-12-arm64", json.dumps([request.path for request in self.server.log] + machine["disks"]))
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_an_image_for_another_processor_is_refused_before_the_machine_is_asked_for(self):
        file = self.write("site.radl", self.FILE.replace("disk.0.os", SYSTEM.split(", ")[0] + ", disk.0.os"))
        self.radlc("plan", "--refresh", file, code=1)
        self.assertIn("is for x86_64, and c4a-standard-1 is a machine of arm64", self.err)
        self.radlc("apply", "--auto-approve", file, code=2)
        self.assertIn("image debian-12-bookworm-v20250101 is for x86_64, and c4a-standard-1 is not", self.err)
        self.assertNotIn("instances.insert", self.compute.called)
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
