"""What the tests of radlc on Google Compute Engine share: a project in which somebody else has things, and machines behind its instances."""
import getpass
import pathlib
import shutil
import tempfile

import discovery
from machines import Machines
from notices import Notices
from permissions import undocumented
from radl_case import SOURCE, RadlCase
from server import Server

USER = getpass.getuser()
SYSTEM = f"disk.0.image.url = 'gce://europe-west1/projects/debian-cloud/global/images/family/debian-12', disk.0.os.credentials.username = '{USER}'"


class GceCase(RadlCase):
    boots = True

    def setUp(self):
        super().setUp()
        self.ground = pathlib.Path(tempfile.mkdtemp(prefix="radl-gce-"))
        self.addCleanup(shutil.rmtree, self.ground, ignore_errors=True)
        self.server = Server(discovery.Description(discovery.document()), self.ground)
        self.addCleanup(self.server.close)
        self.compute = self.server.compute
        self.compute.put_somebody_elses()
        self.before = self.compute.everything()
        self.machines = Machines(self.compute, self.ground / "machines", boots=self.boots)
        self.addCleanup(self.machines.close)
        self.server.machines = self.machines
        self.notices = Notices()
        self.addCleanup(self.notices.close)
        for name in [n for n in self.environment if n.startswith(("GOOGLE_", "CLOUDSDK_", "GCE_"))]:
            del self.environment[name]
        self.environment.update(self.server.environment, HOME=str(self.folder), no_proxy="*", RADL_GCE_PACE="0.1", RADL_GCE_SETTLES_AFTER="1",
                                RADL_CIFAR10_SUBSET=str(SOURCE / "examples/cifar10/subset"))

    def tearDown(self):
        self.machines.close()
        self.assertEqual(self.machines.errors, [])
        self.assertEqual(self.compute.violations, [], "requests that Google's description does not allow")
        self.assertEqual(undocumented(self.compute.called), [], "calls whose permission docs/providers/gce.md does not list")
        super().tearDown()

    def ours(self, collection="instances"):
        """path -> record of what is not somebody else's."""
        return {path: one for path, one in self.compute.all_of(collection).items() if path not in self.before}

    def assert_account_is_as_before(self):
        self.assertEqual(self.compute.everything(), self.before)
