"""radlc while Azure's API fails, and kill -9 of it before, during and after its calls (tests/aws/cloud_faults.py)."""
import unittest

import cloud_faults
from azure_case import SYSTEM, AzureCase
from server import AZURE_PASSING

FILE = f"""radl 2
input nodes ( type = 'integer', default = 1 )
input team ( type = 'string', default = 'blue' )
network lan ( create = 'yes' )
network wan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system node (
  cpu.count >= 1, instance_tags = 'team=${{input.team}}', disk.1.size = 1G
  net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', {SYSTEM}
)
deploy node input.nodes azure
"""


class Azure(AzureCase):
    file_text, passing = FILE, AZURE_PASSING

    def everything(self):
        return self.arm.everything()

    def tokens(self):
        with self.arm.lock:
            marked = {one["path"]: one.get("tags", {}).get("radlc-token", "") for one in self.arm.resources.values()}
        return {path: token for path, token in marked.items() if token}


class WhileTheApiFails(cloud_faults.WhileTheApiFails, Azure):
    pass


class OddAnswers(cloud_faults.OddAnswers, cloud_faults.Faulted, Azure):
    def tearDown(self):
        self.arm.violations.clear()  # an odd name in an answer is one in the next request
        super().tearDown()


class Killed(cloud_faults.Killed, Azure):
    pass


if __name__ == "__main__":
    unittest.main()
