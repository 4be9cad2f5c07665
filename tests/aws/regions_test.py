"""A region without room: the nodes that name the same regions go to the next one, with all that belongs to a region."""
import unittest

from account import Baseline, instances
from aws_case import USER, AwsCase
from faults import CAPACITY, error
from proxy import Treatment

IMAGE = "ami-0deb12000000000a2"
FILE = f"""radl 2
input nodes ( type = 'integer', default = 2 )
network lan ( outports = '8080' )
system node (
  instance_type = 't3.small, t3.micro', availability_zone = 'us-east-1b, us-east-1a, eu-west-1', placement_group = 'spread'
  net_interface.0.connection = 'lan', disk.0.os.credentials.username = '{USER}'
  disk.0.image.url = ['aws://eu-west-1/{IMAGE}', 'aws://us-east-1/{IMAGE}']
)
deploy node input.nodes ec2
contextualize ()
"""


def region_of(request):
    return request.headers.get("authorization", "").partition("Credential=")[2].split("/")[2]


class Regions(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.second = Baseline(self.moto, "eu-west-1")
        self.file = self.write("site.radl", FILE)

    def room_for(self, count, region="us-east-1"):
        """From now on so many machines can be had in a region."""
        made = []

        def faults(request):
            if request.action != "RunInstances" or region_of(request) != region:
                return None
            made.append(request)
            return Treatment(name="no capacity", refuse=error(request, CAPACITY)) if len(made) > count else None

        self.proxy.faults = faults
        return made

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def there(self):
        return [i for i in instances(self.moto.client("ec2", "eu-west-1"))]

    def destroy(self):
        self.proxy.faults = None
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_account_is_as_before()
        self.assertEqual(self.second.changes(), ([], []))

    def test_all_nodes_go_to_the_next_region_and_stay_there(self):
        plan = self.plan(self.file)
        candidates = [c["name"] for c in plan["costs"][0]["candidates"]]
        self.assertEqual(candidates, ["t3.small", "t3.micro", "t3.small in eu-west-1", "t3.micro in eu-west-1"])
        self.assertIn("of ec2:/us-east-1, ec2:/eu-west-1 in this order", " ".join(plan["notes"]))
        self.assertEqual(self.proxy.log, [], "a plan asked somebody")
        tried = self.room_for(1)
        self.apply()
        self.assertRegex(self.err, r"ec2:/us-east-1 has no capacity for node\[[01]\] \(.*%s.*\): .* move to ec2:/eu-west-1" % CAPACITY[0])
        kinds = [request.parameter("InstanceType") for request in tried]
        self.assertEqual(sorted(set(kinds[1:])), ["t3.micro", "t3.small"])
        self.assertEqual(self.ours(), [])
        self.assertEqual(len(self.there()), 2)
        self.assertEqual({group["GroupName"] for i in self.there() for group in i["SecurityGroups"]} & {"default"}, set())
        # What belongs to the first region is gone from it, but for what somebody else has there.
        self.assertEqual(self.baseline.changes(), ([], []))
        self.radlc("plan", "--detailed-exitcode", "--refresh", self.file)
        before = len(self.proxy.log)
        self.apply()
        self.assertNotIn("RunInstances", [request.action for request in self.proxy.log[before:]])
        self.destroy()

    def test_zones_and_types_are_tried_in_the_files_order_before_a_region(self):
        tried = self.room_for(0)
        self.apply("--input", "nodes=1")
        zones = {s["SubnetId"]: s["AvailabilityZone"] for s in self.moto.client("ec2").describe_subnets()["Subnets"]}
        self.assertEqual([(r.parameter("InstanceType"), zones[r.parameter("NetworkInterface.1.SubnetId")]) for r in tried],
                         [("t3.small", "us-east-1b"), ("t3.small", "us-east-1a"), ("t3.micro", "us-east-1b"), ("t3.micro", "us-east-1a")])
        self.assertEqual([i["InstanceType"] for i in self.there()], ["t3.small"])
        self.destroy()

    def test_nodes_that_were_there_before_are_not_moved(self):
        self.apply("--input", "nodes=1")
        (first,) = self.ours()
        self.room_for(0)
        self.apply("--input", "nodes=2", code=2)
        self.assertIn("node[0] exists there already", self.err)
        self.assertIn(CAPACITY[0], self.err)
        self.assertEqual([i["InstanceId"] for i in self.ours()], [first["InstanceId"]])
        self.assertEqual(self.there(), [])
        self.destroy()

    def test_without_room_anywhere_every_region_is_named(self):
        self.proxy.faults = lambda r: Treatment(name="none", refuse=error(r, CAPACITY)) if r.action == "RunInstances" else None
        self.apply(code=2)
        for region in ("us-east-1", "eu-west-1"):
            self.assertIn(region, self.err)
        self.destroy()


if __name__ == "__main__":
    unittest.main()
