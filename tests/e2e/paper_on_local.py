"""tests/clouds: on this computer."""
import unittest

from paper_cluster import PaperCluster
from radl_case import RadlCase


class OnThisComputer(PaperCluster, RadlCase):
    def machines_there(self):
        return len(self.found("sshd_config"))


if __name__ == "__main__":
    unittest.main()
