"""What somebody changes of an infrastructure's security behind radlc's back: `plan --refresh` shows it, `apply` repairs it, and no machine
is replaced. Host keys that the console shows late; launches that a policy refuses."""
import json
import threading
import unittest

from aws_case import SYSTEM, AwsCase
from proxy import Treatment, ec2_error

FILE = f"""radl 2
network lan ( outports = '8080' )
system node ( instance_type = 't3.micro', instance_tags = 'team=blue', net_interface.0.connection = 'lan', {SYSTEM} )
deploy node 1 ec2
contextualize ()
"""
EVERYWHERE = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


class Security(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)
        self.ec2 = self.moto.client("ec2")
        self.environment["RADL_EC2_SETTLES_AFTER"] = "0"  # what does not show is gone

    def machine(self):
        (machine,) = self.ours()
        return machine

    def groups_of_machine(self):
        return sorted(g["GroupId"] for i in self.machine()["NetworkInterfaces"] for g in i["Groups"])

    def of_type(self, kind):
        return {r["address"]: r["id"] for r in self.show(self.file)["resources"] if r["type"] == kind}

    def lan(self):
        """(address, id) of the network's security group."""
        return next((a, i) for a, i in self.of_type("security_group").items() if a.startswith("network.lan"))

    def planned(self):
        plan = json.loads(self.radlc("plan", "--refresh", "--json", self.file))
        return {a["id"]: a["verb"] for a in plan["actions"]}, plan

    def repaired(self, wanted):
        """One refresh shows these actions and drift, one apply repairs it, and then there is nothing left to do."""
        before = self.machine()["InstanceId"]
        actions, plan = self.planned()
        self.assertEqual(actions, wanted)
        self.assertEqual({d["address"] for d in plan["drift"]} | set(wanted), set(wanted))
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.planned()[0], {})
        self.assertEqual(self.machine()["InstanceId"], before)

    def ended(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_a_deleted_key_pair_is_imported_again_and_nothing_else_changes(self):
        self.radlc("apply", "--auto-approve", self.file)
        (address,) = self.of_type("key_pair")
        (pair,) = [p for p in self.ec2.describe_key_pairs()["KeyPairs"] if any(t["Value"] == address for t in p.get("Tags", []))]
        self.ec2.delete_key_pair(KeyName=pair["KeyName"])
        self.repaired({address: "create"})
        (again,) = [p for p in self.ec2.describe_key_pairs()["KeyPairs"] if p["KeyName"] == pair["KeyName"]]
        self.assertEqual(again["KeyFingerprint"], pair["KeyFingerprint"])
        # Without the private key here another public half would be imported, which no machine knows.
        self.ec2.delete_key_pair(KeyName=pair["KeyName"])
        key = next(p for p in self.folder.rglob("*") if p.is_file() and b"PRIVATE KEY" in p.read_bytes())
        elsewhere = key.rename(self.folder / "key-of-a-colleague")
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertRegex(self.err, "no private key with the fingerprint SHA256:.*nothing was made or changed")
        elsewhere.rename(key)
        self.radlc("apply", "--auto-approve", self.file)
        self.ended()

    def test_a_machine_that_was_moved_out_of_all_groups_is_moved_back(self):
        self.radlc("apply", "--auto-approve", self.file)
        mine = self.groups_of_machine()
        self.assertEqual(len(mine), 2)
        (other,) = [g["GroupId"] for g in self.ec2.describe_security_groups()["SecurityGroups"] if g["GroupName"] == "somebody-else"]
        self.ec2.modify_instance_attribute(InstanceId=self.machine()["InstanceId"], Groups=[other])
        self.repaired({"node[0]": "update"})
        self.assertEqual(self.groups_of_machine(), mine)
        self.ended()

    def test_a_deleted_group_is_made_again_and_the_machine_stays(self):
        self.radlc("apply", "--auto-approve", self.file)
        address, group = self.lan()
        (other,) = [g["GroupId"] for g in self.ec2.describe_security_groups()["SecurityGroups"] if g["GroupName"] == "somebody-else"]
        self.ec2.modify_instance_attribute(InstanceId=self.machine()["InstanceId"], Groups=[other])
        self.ec2.delete_security_group(GroupId=group)
        self.repaired({address: "create", "node[0]": "update"})
        self.assertLessEqual(set(self.of_type("security_group").values()), set(self.groups_of_machine()))
        self.ended()

    def test_an_interface_that_somebody_attached_is_noted_and_stays(self):
        self.radlc("apply", "--auto-approve", self.file)
        subnet = self.machine()["SubnetId"]
        open_group = self.ec2.create_security_group(GroupName="open", Description="of others", VpcId=self.machine()["VpcId"])["GroupId"]
        interface = self.ec2.create_network_interface(SubnetId=subnet, Groups=[open_group])["NetworkInterface"]["NetworkInterfaceId"]
        attached = self.ec2.attach_network_interface(NetworkInterfaceId=interface, InstanceId=self.machine()["InstanceId"], DeviceIndex=1)
        actions, plan = self.planned()
        self.assertEqual(actions, {})
        self.assertIn(f"network interface {interface} with {open_group}", "\n".join(plan["notes"]))
        self.radlc("apply", "--auto-approve", "--refresh", self.file)
        self.assertEqual(len(self.machine()["NetworkInterfaces"]), 2)
        self.ec2.detach_network_interface(AttachmentId=attached["AttachmentId"])
        self.ec2.delete_network_interface(NetworkInterfaceId=interface)
        self.ec2.delete_security_group(GroupId=open_group)
        self.ended()

    def test_a_network_acl_is_noted_and_stays(self):
        self.radlc("apply", "--auto-approve", self.file)
        self.assertNotIn("network ACL", "\n".join(self.planned()[1]["notes"]), "the default one lets everything through")
        subnet = self.machine()["SubnetId"]
        (acl,) = self.ec2.describe_network_acls(Filters=[{"Name": "association.subnet-id", "Values": [subnet]}])["NetworkAcls"]
        entry = {"NetworkAclId": acl["NetworkAclId"], "RuleNumber": 90, "Egress": False}
        self.ec2.create_network_acl_entry(**entry, Protocol="6", RuleAction="deny", CidrBlock="198.51.100.0/24", PortRange={"From": 22, "To": 23})
        before = self.acls()
        actions, plan = self.planned()
        self.assertEqual((actions, plan["drift"]), ({}, []))
        (note,) = [each for each in plan["notes"] if "network ACL" in each]
        for words in ("node[0]: ", f"network ACL {acl['NetworkAclId']} rule 90 denies tcp 22-23 from 198.51.100.0/24 (subnet {subnet})",
                      "rule 100 allows all from 0.0.0.0/0"):
            self.assertIn(words, note)
        for words in ("rule *", " to 0.0.0.0/0"):
            self.assertNotIn(words, note, "what no connection comes to")
        self.radlc("apply", "--auto-approve", "--refresh", self.file)
        self.assertEqual(self.acls(), before)
        self.proxy.faults = lambda request: Treatment(refuse=ec2_error(
            "UnauthorizedOperation", "You are not authorized to perform: ec2:DescribeNetworkAcls", 403)) if request.action == "DescribeNetworkAcls" else None
        (note,) = [each for each in self.planned()[1]["notes"] if "network ACL" in each]
        self.assertIn("is unknown", note)
        self.assertIn("ec2:DescribeNetworkAcls", note)
        self.proxy.faults = None
        self.ec2.delete_network_acl_entry(**entry)
        self.ended()

    def acls(self):
        return sorted((json.dumps(one, sort_keys=True) for one in self.ec2.describe_network_acls()["NetworkAcls"]))

    def test_outbound_rules_that_were_revoked_or_added_are_as_before(self):
        self.radlc("apply", "--auto-approve", self.file)
        address, group = self.lan()
        self.ec2.revoke_security_group_egress(GroupId=group, IpPermissions=[EVERYWHERE])
        self.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}])
        self.assertIn("tcp 443 to 10.0.0.0/8", json.dumps(self.planned()[1]["drift"]))
        self.repaired({address: "update"})
        (now,) = self.ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
        self.assertEqual([(r["IpProtocol"], [i["CidrIp"] for i in r["IpRanges"]]) for r in now["IpPermissionsEgress"]],
                         [("-1", ["0.0.0.0/0"])])
        self.ended()

    def test_tags_of_radlc_that_were_changed_or_removed_are_written_again(self):
        self.radlc("apply", "--auto-approve", self.file)
        before = {t["Key"]: t["Value"] for t in self.machine()["Tags"]}
        ((pair, key),), (address, group) = self.of_type("key_pair").items(), self.lan()
        things = [self.machine()["InstanceId"], key, group]
        self.ec2.delete_tags(Resources=things, Tags=[{"Key": "radlc:infrastructure"}, {"Key": "radlc:user"}, {"Key": "radlc:key"}])
        self.ec2.create_tags(Resources=things, Tags=[{"Key": "radlc:token", "Value": "mine"}])
        self.repaired({pair: "update", address: "update", "node[0]": "update"})
        self.assertEqual({t["Key"]: t["Value"] for t in self.machine()["Tags"]}, before)
        self.ended()

    def test_tags_of_disks_and_placement_groups_are_compared_as_well(self):
        self.file = self.write("site.radl", FILE.replace("instance_tags", "placement_group = 'cluster', instance_tags"))
        self.radlc("apply", "--auto-approve", self.file)
        ((placement, name),) = self.of_type("placement_group").items()
        (disk,) = [m["Ebs"]["VolumeId"] for m in self.machine()["BlockDeviceMappings"]]

        def tags():
            return {t["Key"]: t["Value"] for t in self.ec2.describe_volumes(VolumeIds=[disk])["Volumes"][0]["Tags"]}
        before, of_group = tags(), dict(self.extras.groups[name][1])
        # One that somebody attached is theirs.
        theirs = self.ec2.create_volume(Size=1, AvailabilityZone=self.machine()["Placement"]["AvailabilityZone"])["VolumeId"]
        self.ec2.attach_volume(VolumeId=theirs, InstanceId=self.machine()["InstanceId"], Device="/dev/sdz")
        self.assertEqual(self.planned()[0], {})
        self.ec2.delete_tags(Resources=[disk], Tags=[{"Key": "radlc:token"}])
        del self.extras.groups[name][1]["radlc:infrastructure"]
        actions, plan = self.planned()
        self.assertEqual(actions, {"node[0]": "update", placement: "update"})
        for words in (disk, "radlc:token", "marks.radlc:infrastructure"):
            self.assertIn(words, json.dumps(plan["drift"]))
        self.repaired(actions)
        self.assertEqual((tags(), dict(self.extras.groups[name][1])), (before, of_group))
        self.assertNotIn("Tags", self.ec2.describe_volumes(VolumeIds=[theirs])["Volumes"][0])
        # `state rm` takes them off the group as well.
        self.radlc("state", "rm", self.file, placement)
        self.assertEqual({k for k in self.extras.groups[name][1] if k.startswith("radlc:")}, set())
        self.radlc("import", self.file, placement, name)
        self.ec2.detach_volume(VolumeId=theirs, InstanceId=self.machine()["InstanceId"], Device="/dev/sdz")
        self.ec2.delete_volume(VolumeId=theirs)
        self.ended()

    def test_an_api_without_placement_groups_is_nothing_to_report(self):
        self.extras.lacking = {"CreatePlacementGroup", "DescribePlacementGroups", "DeletePlacementGroup"}
        for command in ("apply", "destroy"):
            out = self.radlc(command, "--auto-approve", self.file) + self.err
            for words in ("HTTP", "PlacementGroup", "placement group"):
                self.assertNotIn(words, out)
        asked = [r for r in self.proxy.log if r.action == "DescribePlacementGroups"]
        self.assertTrue(asked, "destroy looks for them")
        self.assert_account_is_as_before()

    def test_what_still_uses_a_group_is_named(self):
        self.radlc("apply", "--auto-approve", self.file)
        address, group = self.lan()
        subnet = self.ec2.describe_subnets()["Subnets"][0]["SubnetId"]
        interface = self.ec2.create_network_interface(SubnetId=subnet, Groups=[group], Description="of a load balancer")["NetworkInterface"]

        def refuse(request):
            if request.action != "DeleteSecurityGroup" or request.parameter("GroupId") != group:
                return None
            return Treatment(refuse=ec2_error("DependencyViolation", f"resource {group} has a dependent object", 400))
        self.proxy.faults = refuse
        self.radlc("destroy", "--auto-approve", self.file, code=None)
        self.assertIn(f"used by {interface['NetworkInterfaceId']} (of a load balancer)", self.err)
        self.proxy.faults = None
        self.ec2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
        self.ended()

    def test_a_launch_that_a_policy_refuses_is_a_note_that_names_the_permission(self):
        asked = []

        def refuse(request):
            if request.action == "DescribeAvailabilityZones" and request.parameter("DryRun") == "true":
                return Treatment(refuse=ec2_error("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412))
            if request.action != "RunInstances" or request.parameter("DryRun") != "true":
                return None
            asked.append(dict(request.parameters))
            return Treatment(refuse=ec2_error(
                "UnauthorizedOperation", "You are not authorized to perform this operation. User: arn:aws:iam::1:user/u is not authorized to "
                "perform: ec2:CreateTags on resource: arn:aws:ec2:us-east-1:1:instance/* with an explicit deny. "
                "Encoded authorization failure message: x7Jkx7Jk", 403))
        self.proxy.faults = refuse
        plan = json.loads(self.radlc("plan", "--refresh", "--json", self.file))
        self.proxy.faults = None
        (note,) = [n for n in plan["notes"] if "ec2:CreateTags" in n]
        self.assertNotIn("x7Jk", note)
        (request,) = asked
        self.assertEqual(request["InstanceType"], "t3.micro")
        tags = {request[k]: request[k[:-3] + "Value"] for k in request if k.endswith(".Key")}
        self.assertEqual(tags["team"], "blue")
        self.assertIn("radlc:infrastructure", tags)
        self.assertEqual(self.ours(), [])


class HostKeys(AwsCase):
    """Consoles that show their keys late, or another key than the machine."""
    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE.replace("contextualize ()", "configure greet ( file '~/greeting' ( content = 'hello' ) )\n"
                                                         "contextualize ( system node configure greet step 1 )"))
        self.told = self.machines.console

    def trusted(self):
        return [r["attributes"].get("host_key_from") for r in self.show(self.file)["resources"] if r["type"] == "instance"]

    def notes(self, *arguments):
        return [n for n in json.loads(self.radlc("plan", "--json", *arguments, self.file))["notes"] if "first use" in n]

    def test_a_console_that_is_late_is_compared_as_soon_as_it_shows_the_key(self):
        self.assertEqual(len(self.notes()), 1)
        self.machines.console = lambda name: ""
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.trusted(), ["first use"])
        self.assertTrue(self.notes()[0].endswith("node[0]"))
        asked = [r.parameter("Latest") for r in self.proxy.log if r.action == "GetConsoleOutput"]
        self.assertEqual(set(asked), {"true"})
        self.machines.console = self.told
        self.assertEqual(self.notes("--refresh"), [])
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.trusted(), ["cloud"])
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_a_machine_whose_console_shows_another_key_is_not_connected_to_any_more(self):
        self.machines.console = lambda name: ""
        self.radlc("apply", "--auto-approve", self.file)
        self.machines.console = lambda name: self.told(name).replace("AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAC3NzaC1lZDI1NTE5AAAAJ")
        said = self.radlc("plan", "--refresh", self.file, code=2)
        self.assertIn("host key mismatch", said + self.err)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_another_key_that_the_console_shows_in_the_middle_of_a_run_ends_it(self):
        wait = "touch ~/begun; for i in $(seq 600); do [ -e ~/go ] && break; sleep 0.1; done"
        self.file = self.write("site.radl", FILE.replace("contextualize ()", f"""
configure begin ( command '{wait}' )
configure greet ( file '~/greeting' ( content = 'hello' ) )
contextualize ( system node configure begin step 1 system node configure greet step 2 )"""))
        self.machines.console = lambda name: ""
        events = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", "--log-json", events, self.file)
        self.addCleanup(process.kill)

        def home():
            (machine,) = self.ours()
            return self.machines.machine(machine["InstanceId"]).home
        self.wait_until(lambda: self.ours() and (home() / "begun").exists(), 120)
        shown = threading.Event()

        def another(name):
            shown.set()
            return self.told(name).replace("AAAAC3NzaC1lZDI1NTE5AAAAI", "AAAAC3NzaC1lZDI1NTE5AAAAJ")
        self.machines.console = another
        self.assertTrue(shown.wait(60), "the console is asked while the run goes on")
        self.wait_until(lambda: "host key mismatch" in events.read_text(), 30)
        (home() / "go").touch()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 2, out + err)
        self.assertIn("host key mismatch", out + err)
        self.assertFalse((home() / "greeting").exists(), "nothing more was sent")
        self.machines.console = self.told
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_types_without_a_live_console_are_asked_for_what_ec2_kept(self):
        def refuse(request):
            if request.action != "GetConsoleOutput" or request.parameter("Latest") != "true":
                return None
            return Treatment(refuse=ec2_error(
                "UnsupportedOperation", "This instance type does not support retrieving the latest console logs.", 400))
        self.proxy.faults = refuse
        self.radlc("apply", "--auto-approve", self.file)
        self.proxy.faults = None
        self.assertEqual(self.trusted(), ["cloud"])
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
