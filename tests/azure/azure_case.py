"""What the tests of radlc on Azure share: a subscription in which somebody else has things, and machines behind its virtual machines."""
import getpass
import pathlib
import shutil
import tempfile

import descriptions
from machines import Machines
from notices import Notices
from permissions import undocumented
from radl_case import SOURCE, RadlCase
from server import Server

USER = getpass.getuser()
# Azure makes no root: then the login is another name of it on the tests' machines (tests/aws/node_view.py).
LOGIN = "debian" if USER == "root" else USER
SYSTEM = f"disk.0.image.url = 'azr://Debian/debian-12/12-gen2/latest', disk.0.os.credentials.username = '{LOGIN}'"


class AzureCase(RadlCase):
    boots = True

    def setUp(self):
        super().setUp()
        self.ground = pathlib.Path(tempfile.mkdtemp(prefix="radl-azure-"))
        self.addCleanup(shutil.rmtree, self.ground, ignore_errors=True)
        self.server = Server(descriptions.Descriptions(descriptions.documents()), self.ground)
        self.addCleanup(self.server.close)
        self.arm = self.server.arm
        self.arm.put_somebody_elses()
        self.before = self.arm.everything()
        self.machines = Machines(self.arm, self.ground / "machines", boots=self.boots)
        self.addCleanup(self.machines.close)
        self.server.machines = self.machines
        self.notices = Notices()
        self.addCleanup(self.notices.close)
        for name in [n for n in self.environment if n.startswith(("AZURE_", "ARM_", "IDENTITY_", "MSI_"))]:
            del self.environment[name]
        self.environment.update(self.server.environment, HOME=str(self.folder), no_proxy="*", RADL_AZURE_PACE="0.1", RADL_AZURE_SETTLES_AFTER="1",
                                RADL_CIFAR10_SUBSET=str(SOURCE / "examples/cifar10/subset"))

    def tearDown(self):
        self.machines.close()
        self.assertEqual(self.machines.errors, [])
        self.assertEqual(self.arm.violations, [], "requests that Microsoft's descriptions do not allow")
        self.assertEqual(undocumented(self.arm), [], "calls that docs/providers/azure-role.json does not allow")
        super().tearDown()

    def ours(self, collection="virtualMachines"):
        """id -> record of what is not somebody else's."""
        return {path: one for path, one in self.arm.all_of(collection).items() if path not in self.before}

    def assert_account_is_as_before(self):
        self.assertEqual(self.arm.everything(), self.before)
