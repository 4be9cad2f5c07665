"""tests/clouds: on EC2, with the harness of tests/aws."""
import unittest

from aws_case import SYSTEM, AwsCase
from paper_cluster import PaperCluster


class OnEc2(PaperCluster, AwsCase):
    cloud = "ec2"
    system = f"  {SYSTEM.replace(' and ', chr(10) + '  ')}\n"

    def assert_as_before(self):
        self.assert_account_is_as_before()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
