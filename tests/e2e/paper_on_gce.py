"""tests/clouds: on Google Compute Engine, with the harness of tests/gce."""
import unittest

from gce_case import SYSTEM, GceCase
from paper_cluster import PaperCluster


class OnComputeEngine(PaperCluster, GceCase):
    cloud = "gce"
    system = f"  {SYSTEM.replace(' and ', chr(10) + '  ')}\n"

    def assert_as_before(self):
        self.assert_account_is_as_before()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
