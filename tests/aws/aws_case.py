"""What the tests of radlc on AWS share: a moto of their own, machines behind its instances, and the proxy in between."""
import getpass
import pathlib
import shutil
import tempfile
import time

from account import Baseline, instances
from extras import Extras
from instances import Instances
from metadata import Metadata
from moto_site import REGION, Moto
from node_view import NodeView
from policy import undocumented
from proxy import Proxy
from quick import QUICK
from radl_case import SOURCE, RadlCase

USER = getpass.getuser()
SYSTEM = f"""disk.0.image.url = 'aws://{REGION}/ami-0deb12000000000a2', disk.0.os.credentials.username = '{USER}'"""


class AwsCase(RadlCase):
    """Each test has an account in which somebody else has things already, and in the end they must be as they were."""
    boots = True  # whether instances become machines
    isolated = None  # whether each has a view of the file system of its own; None: where that can be
    kind = NodeView  # of its machines
    quick = False  # whether time passes quickly for radlc (faulted.py)

    def setUp(self):
        super().setUp()
        # Not in the test's own folder: its processes are looked for by that.
        self.ground = pathlib.Path(tempfile.mkdtemp(prefix="radl-aws-"))
        self.addCleanup(shutil.rmtree, self.ground, ignore_errors=True)
        self.moto = Moto.shared()
        self.machines = Instances(self.moto, self.ground / "machines", boots=self.boots, isolated=self.isolated,
                                  kind=self.kind)
        self.addCleanup(self.machines.close)
        self.metadata = Metadata(self.machines)
        self.addCleanup(self.metadata.close)
        self.extras = Extras(self.machines)
        self.proxy = Proxy(self.moto.url, extras=self.extras)
        self.extras.forward = self.proxy.forward
        self.addCleanup(self.proxy.close)
        self.somebody_else()
        self.moto.client("s3").create_bucket(Bucket="models")
        self.moto.check_signatures()
        self.baseline = Baseline(self.moto)
        self.environment.update(self.moto.environment(url=self.proxy.url), HOME=str(self.folder), no_proxy="*",
                                RADL_CALLER_CIDR="203.0.113.7/32", RADL_EC2_PACE="0.05", RADL_EC2_SETTLES_AFTER="2",
                                RADL_CIFAR10_SUBSET=str(SOURCE / "examples/cifar10/subset"))
        if self.quick:
            self.environment.update(QUICK, RADL_EC2_PACE="0.3", RADL_EC2_SETTLES_AFTER="10")

    def let_moto_read_its_prices(self):
        """It does so at the first question for them; to a radlc whose time passes quickly a busy computer's moto would seem to hang."""
        self.moto.client("ec2").describe_spot_price_history(InstanceTypes=["t3.micro"])

    def somebody_else(self):
        ec2 = self.moto.client("ec2")
        tags = [{"Key": "Name", "Value": "worker[0]"}]
        ec2.run_instances(ImageId="ami-00b0070240000a1", InstanceType="t3.micro", MinCount=1, MaxCount=1,
                          TagSpecifications=[{"ResourceType": "instance", "Tags": tags}])
        ec2.create_security_group(GroupName="somebody-else", Description="not ours")

    def tearDown(self):
        self.machines.close()
        self.assertEqual(self.machines.errors, [])
        self.assertEqual(undocumented(self.proxy.log), [], "calls that docs/providers/aws-policy.json does not allow")
        super().tearDown()

    def ours(self):
        """Instances that are not somebody else's, by boto3."""
        others = {thing.id for thing in self.baseline.before}
        return [i for i in instances(self.moto.client("ec2")) if i["InstanceId"] not in others]

    def resources(self, *arguments):
        """(type, cloud's id) of all that radlc says it made."""
        return sorted((r["type"], r["id"]) for r in self.show(*arguments)["resources"])

    def assert_account_is_as_before(self, seconds=0):
        """Nothing of ours is left, and nothing of anybody else was touched."""
        deadline = time.monotonic() + seconds
        while any(self.baseline.changes()) and time.monotonic() < deadline:
            time.sleep(0.2)
        left, missing = self.baseline.changes()
        objects = [t for t in left if t.kind in ("object", "bucket")]
        self.assertEqual([str(t) for t in left if t not in objects], [], "left behind")
        self.assertEqual([str(t) for t in missing], [], "of somebody else's")
        self.assertEqual(self.extras.groups, {}, "placement groups left behind")
