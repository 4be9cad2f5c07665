"""radlc while Compute Engine's API fails, and kill -9 of it before, during and after its calls (tests/aws/cloud_faults.py)."""
import unittest

import cloud_faults
from gce_case import SYSTEM, GceCase
from server import GCE_PASSING

FILE = f"""radl 2
input nodes ( type = 'integer', default = 1 )
input team ( type = 'string', default = 'blue' )
network lan ( create = 'yes' )
network wan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system node (
  cpu.count >= 1, instance_tags = 'team=${{input.team}}', disk.1.size = 1G, elastic_ip = 'yes'
  net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', {SYSTEM}
)
deploy node input.nodes gce
"""


class Gce(GceCase):
    file_text, passing = FILE, GCE_PASSING

    def everything(self):
        return self.compute.everything()

    def tokens(self):
        with self.compute.lock:
            marked = {path: one.get("description", "") for path, one in self.compute.resources.items()}
        return {path: text.split()[1] for path, text in marked.items() if text.startswith("radlc ")}


class WhileTheApiFails(cloud_faults.WhileTheApiFails, Gce):
    pass


class OddAnswers(cloud_faults.OddAnswers, cloud_faults.Faulted, Gce):
    def tearDown(self):
        self.compute.violations.clear()  # an odd name in an answer is one in the next request
        super().tearDown()


class Killed(cloud_faults.Killed, Gce):
    pass


if __name__ == "__main__":
    unittest.main()
