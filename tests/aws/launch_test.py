"""What a file asks of a machine as EC2 makes it: boto3 sees just that, and the machine itself what its user data says."""
import base64
import email
import unittest

from account import Baseline
from aws_case import SYSTEM, USER, AwsCase
from moto_site import DEBIAN, REGION
from proxy import Answer, Treatment

FILE = f"""radl 2
input name ( type = 'string', default = 'one' )
network lan ( outbound = 'no' )
system node (
  instance_type = 't3.micro', instance_profile = 'trainer', instance_name = 'first machine'
  instance_tags = 'team=blue,cost=7', elastic_ip = 'yes', placement_group = 'partition'
  disk.0.image.url = 'aws://{REGION}/{DEBIAN}/debian-12-amd64-*', disk.0.free_size >= 30Gi, disk.0.type = 'gp2'
  disk.1.image.url = 'aws://{REGION}/SNAPSHOT', disk.1.device = 'hdb'
  disk.2.size = 7Gi, disk.2.device = 'hdc'
  disk.0.os.credentials.username = '{USER}'
  net_interface.0.connection = 'lan', net_interface.0.dns_name = 'node-#N#.example.org'
)
deploy node 1 ec2
"""
# YAML without a first line of its own, as in files of the Infrastructure Manager; a script beyond ASCII that takes its time.
RECIPES = """
configure settings (
@begin
write_files:
  - path: /root-of-a-test/settings
    content: input
runcmd:
  - echo settings >> "$HOME/order"
@end
)
configure late (
@begin
#!/bin/sh
sleep 1
echo 'Grüße von one' >> "$HOME/order"
@end
)
configure after ( command 'cp ~/order ~/seen' ( creates = '~/seen' ) )
contextualize (
  system node configure settings with cloud_init
  system node configure late with cloud_init
  system node configure after step 1
)
"""


class Launch(AwsCase):
    quick = False

    def setUp(self):
        super().setUp()
        ec2, iam = self.moto.client("ec2"), self.moto.client("iam")
        self.profile = iam.create_instance_profile(InstanceProfileName="trainer")["InstanceProfile"]["Arn"]
        volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=5)["VolumeId"]
        self.snapshot = ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
        ec2.delete_volume(VolumeId=volume)
        self.baseline = Baseline(self.moto)  # with the snapshot
        self.file = self.write("site.radl", FILE.replace("SNAPSHOT", self.snapshot))

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.assert_nothing_left()

    def user_data(self):
        (machine,) = self.ours()
        answer = self.moto.client("ec2").describe_instance_attribute(InstanceId=machine["InstanceId"], Attribute="userData")
        data = email.message_from_bytes(base64.b64decode(answer["UserData"]["Value"]))
        return [(part.get_content_type(), part.get_payload(decode=True).decode()) for part in data.walk() if not part.is_multipart()]

    def test_a_machine_has_what_its_system_says(self):
        self.radlc("apply", "--auto-approve", self.file)
        (machine,) = self.ours()
        ec2 = self.moto.client("ec2")
        self.assertEqual(machine["ImageId"], "ami-0deb12000000000a2", "the newest of that name")
        (profile,) = ec2.describe_iam_instance_profile_associations()["IamInstanceProfileAssociations"]
        self.assertTrue(profile["IamInstanceProfile"]["Arn"].endswith("instance-profile/trainer"), profile)
        self.assertEqual(profile["InstanceId"], machine["InstanceId"])
        tags = {t["Key"]: t["Value"] for t in machine["Tags"] if not t["Key"].startswith("radlc:")}
        self.assertEqual(tags, {"Name": "first machine", "team": "blue", "cost": "7"})
        volumes = {}
        for mapping in machine["BlockDeviceMappings"]:
            (volume,) = ec2.describe_volumes(VolumeIds=[mapping["Ebs"]["VolumeId"]])["Volumes"]
            volumes[mapping["DeviceName"]] = volume
            self.assertTrue(mapping["Ebs"]["DeleteOnTermination"], mapping)
        self.assertEqual({name: (v["Size"], v["VolumeType"]) for name, v in volumes.items() if name != "/dev/sdb"},
                         {"/dev/xvda": (45, "gp2"), "/dev/sdc": (7, "gp3")}, "the image's 15 GiB and 30 that are to be free")
        self.assertEqual(volumes["/dev/sdb"]["SnapshotId"], self.snapshot)
        (address,) = ec2.describe_addresses()["Addresses"]
        self.assertEqual(address["InstanceId"], machine["InstanceId"])
        self.assertEqual([strategy for strategy, _ in self.extras.groups.values()], ["partition"])
        launch = next(r for r in self.proxy.log if r.action == "RunInstances")
        self.assertEqual(launch.parameter("MetadataOptions.HttpTokens"), "required")
        (names,) = self.user_data()
        self.assertEqual(names[0], "text/cloud-config")
        self.assertIn("hostname: node-0\nfqdn: node-0.example.org\n", names[1])
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.destroy()

    def test_disks_are_encrypted_with_the_key_that_the_file_names(self):
        key = self.moto.client("kms").create_key()["KeyMetadata"]["KeyId"]
        self.edit(self.file, ("disk.0.type = 'gp2'", f"disk.0.type = 'gp2', disk.0.encryption_key = '{key}'"),
                  ("disk.2.size = 7Gi", "disk.2.size = 7Gi, disk.2.encrypted = 'yes'"))
        self.radlc("apply", "--auto-approve", self.file)
        launch = next(r for r in self.proxy.log if r.action == "RunInstances" and r.parameter("DryRun") != "true")
        asked = {}
        for name, value in launch.parameters.items():
            number, _, field = name.removeprefix("BlockDeviceMapping.").partition(".")
            if name.startswith("BlockDeviceMapping.") and field in ("DeviceName", "Ebs.Encrypted", "Ebs.KmsKeyId"):
                asked.setdefault(number, {})[field] = value
        self.assertEqual({one.pop("DeviceName")[-1]: one for one in asked.values()},
                         {"a": {"Ebs.Encrypted": "true", "Ebs.KmsKeyId": key}, "b": {}, "c": {"Ebs.Encrypted": "true"}})
        (machine,) = self.ours()
        ids = {m["DeviceName"][-1]: m["Ebs"]["VolumeId"] for m in machine["BlockDeviceMappings"]}
        made = {v["VolumeId"]: v for v in self.moto.client("ec2").describe_volumes(VolumeIds=list(ids.values()))["Volumes"]}
        self.assertEqual([made[ids[letter]]["Encrypted"] for letter in "abc"], [True, False, True])
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        # Another key is for another disk: the plan says that the machine is made anew.
        self.edit(self.file, (key, self.moto.client("kms").create_key()["KeyMetadata"]["KeyId"]))
        self.assertEqual({a["id"]: a["verb"] for a in self.plan(self.file)["actions"]}, {"node[0]": "replace"})
        self.destroy()

    def test_recipes_for_cloud_init_run_as_the_machine_boots_and_before_its_steps(self):
        if not self.machines.isolated:
            self.skipTest("cloud-init's commands are run in a view of the file system of its own: not root")
        self.edit(self.file, ("'trainer'", f"'{self.profile}'"), ("deploy node 1 ec2", RECIPES + "deploy node 1 ec2"))
        planned = self.plan(self.file)
        self.assertLessEqual({"node[0]/settings", "node[0]/late"}, {action["id"] for action in planned["actions"]})
        self.radlc("apply", "--auto-approve", self.file)
        (first,) = self.ours()
        self.assertEqual(first["IamInstanceProfile"]["Arn"], self.profile)
        home = self.machines.machine(first["InstanceId"]).home
        self.assertEqual((home / "order").read_text(), "settings\nGrüße von one\n")
        self.assertEqual((home / "seen").read_text(), "settings\nGrüße von one\n", "a step began before cloud-init had ended")
        kinds = self.user_data()
        self.assertEqual([kind for kind, _ in kinds], ["text/cloud-config", "text/cloud-config", "text/plain"])
        self.assertTrue(kinds[1][1].startswith("#cloud-config\nwrite_files:\n"), kinds[1])
        self.assertTrue(kinds[2][1].startswith("#!/bin/sh\nsleep 1\necho 'Grüße von one'"), kinds[2])
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        # Another recipe is for another machine, which the plan says.
        self.edit(self.file, ("Grüße von one", "Grüße von two"))
        text = self.radlc("plan", self.file)
        self.assertIn("cloud-init runs recipes when a machine boots for the first time", text)
        self.assertRegex(text, r"\+ *echo 'Grüße von two'")
        self.radlc("apply", "--auto-approve", self.file)
        (second,) = self.ours()
        self.assertNotEqual(second["InstanceId"], first["InstanceId"])
        self.assertIn("two", (self.machines.machine(second["InstanceId"]).home / "seen").read_text())
        # One that fails is no success.
        self.edit(self.file, ("sleep 1\n", "exit 3\n"))
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertIn("node[0]: recipe 'settings' is for cloud_init, which ended with an error there", self.err)
        self.assertIn("/var/log/cloud-init-output.log", self.err)
        self.destroy()

    def test_an_image_for_another_processor_is_an_error_of_a_plan_that_looks(self):
        for image, kind, fits in (("ami-0deb12000000000a3", "t3.micro", False), ("ami-0deb12000000000a3", "t4g.micro", True),
                                  ("ami-0deb12000000000a2", "t4g.micro", False)):
            file = self.write("other.radl", f"radl 2\nsystem node ( instance_type = '{kind}', disk.0.image.url = 'aws://{REGION}/{image}', "
                                            f"disk.0.os.credentials.username = '{USER}' )\ndeploy node 1 ec2\n")
            self.radlc("plan", file)
            self.radlc("plan", "--refresh", file, code=0 if fits else 1)
            self.assertEqual(f"{kind} is a machine of" in self.err, not fits, self.err)

    def test_a_plan_asks_for_no_launch_where_dryrun_is_not_known(self):
        self.radlc("plan", "--refresh", self.file)
        launches = [r for r in self.proxy.log if r.action == "RunInstances"]
        self.assertEqual([r.parameter("DryRun") for r in launches], ["true"])
        done = Answer.xml("<DescribeAvailabilityZonesResponse><availabilityZoneInfo/></DescribeAvailabilityZonesResponse>")
        self.proxy.faults = lambda request: Treatment(refuse=done) if request.parameter("DryRun") == "true" else None
        before = len(self.proxy.log)
        self.radlc("plan", "--refresh", self.file)
        self.assertNotIn("RunInstances", [r.action for r in self.proxy.log[before:]])

    def test_more_user_data_than_ec2_takes_is_said_by_the_plan(self):
        large = RECIPES.replace("content: input", "content: " + "x" * 17000)
        self.edit(self.file, ("deploy node 1 ec2", large + "deploy node 1 ec2"))
        self.radlc("plan", self.file, code=1)
        self.assertRegex(self.err, r"node\[0\]: its recipes for cloud_init need 1\d{4} bytes of user data, but EC2 allows 16384")
        self.assertEqual(self.proxy.log, [])


SUBNET = f"""radl 2
network public ( outbound = 'yes', provider_id = 'SUBNET', outports = '8080:8090/tcp,10.1.2.3/8-53/udp' )
network lan ( outbound = 'no' )
system front ( instance_type = 't3.micro', net_interface.0.connection = 'public', net_interface.1.connection = 'lan', {SYSTEM} )
system node ( instance_type = 't3.micro', net_interface.0.connection = 'lan', {SYSTEM} )
deploy front 1 ec2
deploy node 1 ec2
contextualize ()
"""


class GivenNetwork(AwsCase):
    boots, quick = False, True

    def test_a_subnet_alone_names_the_vpc_of_all_networks_of_its_machines(self):
        ec2 = self.moto.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.1.0/24", AvailabilityZone=f"{REGION}b")["Subnet"]["SubnetId"]
        self.baseline = Baseline(self.moto)
        file = self.write("site.radl", SUBNET.replace("SUBNET", subnet))
        self.radlc("apply", "--auto-approve", file)
        self.assertEqual([(m["VpcId"], m["SubnetId"]) for m in self.ours()], [(vpc, subnet)] * 2)
        self.assertEqual(sum("PublicIpAddress" in m for m in self.ours()), 1)
        made = [group.id for group in self.baseline.made("security group")]
        groups = ec2.describe_security_groups(GroupIds=made)["SecurityGroups"]
        self.assertEqual([group["VpcId"] for group in groups], [vpc] * len(groups))
        rules = {(rule.get("FromPort"), rule.get("ToPort"), place["CidrIp"]) for group in groups for rule in group["IpPermissions"]
                 for place in rule["IpRanges"]}
        self.assertEqual(rules, {(22, 22, "203.0.113.7/32"), (8080, 8090, "0.0.0.0/0"), (53, 53, "10.0.0.0/8")}, "as EC2 keeps ranges")
        self.radlc("plan", "--refresh", "--detailed-exitcode", file)
        self.radlc("destroy", "--auto-approve", file)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
