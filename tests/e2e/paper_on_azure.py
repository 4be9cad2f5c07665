"""tests/clouds: on Azure, with the harness of tests/azure."""
import unittest

from azure_case import SYSTEM, AzureCase
from paper_cluster import PaperCluster


class OnAzure(PaperCluster, AzureCase):
    cloud = "azure"
    system = f"  {SYSTEM.replace(' and ', chr(10) + '  ')}\n"

    def assert_as_before(self):
        self.assert_account_is_as_before()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
