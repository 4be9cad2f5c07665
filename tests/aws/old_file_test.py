"""A file of the Infrastructure Manager's users as it is: EC2's own words in RADL 1, planned unchanged, offline and without keys."""
import unittest

from moto_site import REGION
from radl_case import RadlCase

FILE = f"""network public (
  outbound = 'yes' and
  outports = '2222/tcp-2222/tcp,22/tcp-22/tcp,6006/tcp-6006/tcp, 9000/tcp-9000/tcp, 8033/tcp-8033/tcp' and
  provider_id = 'vpc-VPC_ID.subnet-SUBNET_ID'
)
network private (
  outbound = 'no' and
  outports = '2222/tcp-2222/tcp,22/tcp-22/tcp, 9000/tcp-9000/tcp' and
  provider_id = 'vpc-VPC_ID.subnet-SUBNET_ID'
)
system server (
  net_interface.0.connection = 'public' and
  net_interface.0.dns_name = 'server-#N#' and
  net_interface.1.connection = 'private' and
  net_interface.1.dns_name = 'server-#N#-priv' and
  disk.0.image.url = 'aws://{REGION}/ami-0b1dcc9564b83676d' and # Ubuntu 16.04
  instance_type = 't2.small' and
  disk.0.os.name='linux' and
  disk.0.os.credentials.username='ubuntu' and
  disk.0.applications contains (name='ansible.modules.git+https://github.com/example/ansible-role-hadoop|hadoop')
)
system master (
  net_interface.0.connection = 'private' and
  net_interface.0.dns_name = 'worker-#N#' and
  net_interface.1.connection = 'public' and
  disk.0.image.url = 'aws://{REGION}/ami-0b1dcc9564b83676d' and
  instance_type = 'p2.xlarge' and
  disk.0.os.name='linux' and
  disk.0.os.credentials.username='ubuntu'
)
configure hadoop (
@begin
---
  - vars:

    tasks:
      - lineinfile: dest=/etc/bash.bashrc line="export HADOOP_HOME=/opt/hadoop" create=yes
    roles:
      - {{ role: 'hadoop', hadoop_version: '2.9.0', hadoop_master: 'server-0-priv' }}
@end
)
deploy server 1
deploy master 1
contextualize (
    system server configure hadoop step 1
    system master configure hadoop step 2
)
"""


class OldFile(RadlCase):
    def test_its_plan_is_what_its_words_say(self):
        file = self.write("thesis.radl", FILE)
        plan = self.plan("--cloud", "ec2", file)
        self.assertIn("W0321", self.err)
        machines = {action["id"]: action for action in plan["actions"] if action.get("resource", action).get("type") == "instance"}
        self.assertEqual(sorted(machines), ["master[0]", "server[0]"], plan["actions"])
        specs = {name: action.get("resource", action)["spec"] for name, action in machines.items()}
        self.assertEqual({name: spec["type"] for name, spec in specs.items()}, {"server[0]": "t2.small", "master[0]": "p2.xlarge"})
        for spec in specs.values():
            self.assertIn("ami-0b1dcc9564b83676d", spec["image"])
            self.assertEqual(spec["vpc"], "vpc-VPC_ID")
            self.assertEqual(spec["subnet"], "subnet-SUBNET_ID")
        groups = [action["id"] for action in plan["actions"] if action.get("resource", action).get("type") == "security_group"]
        self.assertGreaterEqual(len(groups), 2, groups)

    def test_check_says_what_its_own_services_refuse(self):
        file = self.write("thesis.radl", FILE)
        self.radlc("check", file, code=1)
        self.assertIn("E0313", self.err)
        self.assertIn("radlc plan", self.err)


if __name__ == "__main__":
    unittest.main()
