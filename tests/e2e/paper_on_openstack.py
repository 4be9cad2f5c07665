"""tests/clouds: on OpenStack, with the harness of tests/openstack."""
import unittest

from openstack_case import SYSTEM, OpenStackCase
from paper_cluster import PaperCluster


class OnOpenStack(PaperCluster, OpenStackCase):
    cloud = "openstack"
    system = f"  {SYSTEM.replace(' and ', chr(10) + '  ')}\n"

    def assert_as_before(self):
        self.assert_project_is_as_before()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
