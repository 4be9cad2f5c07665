"""Whose a machine is: tags of the file, copied tags, `state rm`, lost states, against moto's instances."""
import shutil
import unittest

from aws_case import SYSTEM, AwsCase

FILE = f"""radl 2
input tags ( type = 'string', default = 'stage=test' )
network lan ( outbound = 'yes', outports = '8080/tcp' )
system node ( instance_type = 't3.micro', net_interface.0.connection = 'lan', instance_tags = input.tags, {SYSTEM} )
deploy node 1 ec2
"""
OWN = {"radlc:infrastructure", "radlc:address", "radlc:token"}


class Ownership(AwsCase):
    isolated, quick = False, True

    def setUp(self):
        super().setUp()
        self.file = self.write("site.radl", FILE)
        self.ec2 = self.moto.client("ec2")

    def apply(self, *arguments):
        self.radlc("apply", "--auto-approve", self.file, *arguments)
        (machine,) = self.ours()
        return machine

    def tags(self, identity):
        (found,) = self.ec2.describe_instances(InstanceIds=[identity])["Reservations"]
        return {tag["Key"]: tag["Value"] for tag in found["Instances"][0].get("Tags", [])}

    def state_of(self, identity):
        (found,) = self.ec2.describe_instances(InstanceIds=[identity])["Reservations"]
        return found["Instances"][0]["State"]["Name"]

    def test_tags_of_radlc_and_aws_are_refused_at_plan(self):
        for tags in ("radlc:infrastructure=mine", "radlc:token=x", "aws:x=y", "k=" + "v" * 257, "k" * 129 + "=v"):
            self.radlc("plan", self.file, "--input", f"tags={tags}", code=1)
            self.assertIn("instance_tags", self.err)

    def test_a_name_among_the_tags_converges(self):
        machine = self.apply("--input", "tags=Name=web")
        self.assertEqual(self.tags(machine["InstanceId"])["Name"], "web")
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file, "--input", "tags=Name=web")
        self.apply("--input", "tags=Name=other")
        self.assertEqual(self.tags(machine["InstanceId"])["Name"], "other")
        self.apply()
        self.assertIn("node[0]", self.tags(machine["InstanceId"])["Name"], "radlc's own name is back")
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_what_state_rm_releases_goes_on_running_without_radlcs_tags(self):
        identity = self.apply()["InstanceId"]
        self.radlc("state", "rm", self.file, "node[0]")
        self.assertEqual(OWN & set(self.tags(identity)), set())
        out = self.radlc("destroy", "--auto-approve", self.file)
        self.assertNotIn("Nothing is left", out)
        self.assertIn(identity, self.err)
        self.assertEqual(self.state_of(identity), "running")
        self.ec2.terminate_instances(InstanceIds=[identity])
        self.assertIn("Nothing is left", self.radlc("destroy", "--auto-approve", self.file), "nothing uses its groups any more")
        self.assert_account_is_as_before()

    def test_a_machine_with_a_copy_of_the_tags_is_listed_and_stays(self):
        machine = self.apply()
        copied = [tag for tag in machine["Tags"] if tag["Key"] in OWN]
        interface = {"DeviceIndex": 0, "SubnetId": machine["SubnetId"], "DeleteOnTermination": True}
        identity = self.ec2.run_instances(ImageId=machine["ImageId"], InstanceType="t3.micro", MinCount=1, MaxCount=1,
                                          NetworkInterfaces=[interface], TagSpecifications=[
            {"ResourceType": "instance", "Tags": copied}])["Instances"][0]["InstanceId"]
        # A plan that asks nobody says so in one line; one that looks lists it, and writes nothing.
        asked = len(self.proxy.log)
        offline = self.plan("--destroy", self.file)
        self.assertEqual(len(self.proxy.log), asked)
        self.assertEqual(len([note for note in offline["notes"] if "--refresh" in note]), 1)
        looked = self.plan("--destroy", "--refresh", self.file)
        self.assertEqual([one["id"] for one in looked["unowned"]], [identity])
        self.assertEqual([note for note in looked["notes"] if "--refresh" in note], [])
        self.assertEqual({one["id"] for one in self.plan("--destroy", "--refresh", "--target", "node[0]", self.file).get("unowned", [])}, set())
        out = self.radlc("destroy", "--auto-approve", self.file)
        self.assertNotIn("Nothing is left", out)
        self.assertIn(identity, out)
        self.assertIn(identity, self.err)
        self.assertEqual(self.state_of(identity), "running")
        self.assertEqual(self.state_of(machine["InstanceId"]), "terminated")
        self.assertIn("Nothing is left", self.radlc("destroy", "--auto-approve", self.file, "--also", identity))
        self.assert_account_is_as_before()

    def lose_the_state(self):
        identity = self.apply()["InstanceId"]
        tag = self.tags(identity)["radlc:infrastructure"]
        shutil.rmtree(self.folder / ".radl")
        return identity, tag

    def test_a_lost_state_is_noticed_and_rebuilt(self):
        identity, tag = self.lose_the_state()
        (existing,) = self.plan("--refresh", self.file)["existing"]
        self.assertEqual(existing["infrastructure"], tag)
        self.assertIn(f"node[0] ({identity})", existing["resources"])
        self.assertIn("node[0]", self.radlc("import", "--all", self.file))
        self.assertIn(identity, [one["id"] for one in self.show(self.file)["resources"]])
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()

    def test_a_lost_infrastructure_is_destroyed_by_its_tag(self):
        _, tag = self.lose_the_state()
        self.radlc("destroy", "--from-cloud", "site", code=1)
        self.radlc("destroy", "--from-cloud", tag, "--cloud", "ec2", "--auto-approve")
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
