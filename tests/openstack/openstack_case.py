"""What the tests of radlc on OpenStack share: a project, machines behind its servers, and the gate in between."""
import getpass
import pathlib
import shutil
import tempfile
import time

from gate import Gate
from machines import Machines
from permissions import undocumented
from radl_case import SOURCE, RadlCase
from site_of_tests import IMAGE, Baseline, Site

USER = getpass.getuser()
SYSTEM = f"disk.0.image.url = 'ost://127.0.0.1/{IMAGE}', disk.0.os.credentials.username = '{USER}'"


class OpenStackCase(RadlCase):
    """Each test has a project in which somebody else has things already, and in the end they must be as they were."""
    boots = True

    def setUp(self):
        super().setUp()
        self.ground = pathlib.Path(tempfile.mkdtemp(prefix="radl-openstack-"))
        self.addCleanup(shutil.rmtree, self.ground, ignore_errors=True)
        self.project = Site.shared().project()
        self.project.somebody_else()
        self.machines = Machines(self.project, self.ground / "machines", boots=self.boots)
        self.addCleanup(self.machines.close)
        self.gate = Gate(machines=self.machines)
        self.addCleanup(self.gate.close)
        self.settle()
        self.baseline = Baseline(self.project)
        for name in [n for n in self.environment if n.startswith("OS_")]:
            del self.environment[name]
        self.environment.update(self.project.environment(self.gate.auth_url), HOME=str(self.folder), no_proxy="*",
                                RADL_CALLER_CIDR="203.0.113.7/32", RADL_OPENSTACK_PACE="0.2", RADL_OPENSTACK_SETTLES_AFTER="2",
                                RADL_CIFAR10_SUBSET=str(SOURCE / "examples/cifar10/subset"))

    def settle(self):
        """Until somebody else's machine is made."""
        self.wait_until(lambda: all(s.status == "ACTIVE" for s in self.project.servers()), 300)

    def tearDown(self):
        self.machines.close()
        self.assertEqual(self.machines.errors, [])
        self.assertEqual(undocumented(self.gate.log), [], "calls that docs/providers/openstack.md does not list")
        super().tearDown()

    def ours(self):
        """Servers that are not somebody else's."""
        others = {name for kind, name, _ in self.baseline.before if kind == "server"}
        return [s for s in self.project.servers() if s.id not in others]

    def made(self, kind):
        return [name for what, name, _ in self.baseline.changes()[0] if what == kind]

    def assert_project_is_as_before(self, seconds=10):
        """Nothing of ours is left, and nothing of anybody else was touched."""
        deadline = time.monotonic() + seconds
        while any(self.baseline.changes()) and time.monotonic() < deadline:
            time.sleep(0.3)
        left, missing = self.baseline.changes()
        self.assertEqual(left, [], "left behind")
        self.assertEqual(missing, [], "of somebody else's")
