"""radlc while the services of OpenStack fail, and kill -9 of it before, during and after its calls (tests/aws/cloud_faults.py)."""
import json
import unittest

import cloud_faults
from gate import OPENSTACK_PASSING
from openstack_case import SYSTEM, OpenStackCase

FILE = f"""radl 2
input nodes ( type = 'integer', default = 1 )
input team ( type = 'string', default = 'blue' )
network lan ( create = 'yes' )
network wan ( outbound = 'yes', outports = '8080/tcp,9000:9010/udp' )
system node (
  cpu.count >= 1, instance_tags = 'team=${{input.team}}', placement_group = 'spread', disk.1.size = 1G
  net_interface.0.connection = 'lan', {SYSTEM}
)
system front ( cpu.count >= 1, net_interface.0.connection = 'lan', net_interface.1.connection = 'wan', {SYSTEM} )
deploy node input.nodes openstack
deploy front 1 openstack
"""
KINDS = {"server": "server", "security_group": "security group", "key_pair": "key pair", "floating_ip": "floating address", "network": "network",
         "subnet": "subnet", "router": "router", "volume": "volume", "server_group": "server group"}


class OpenStack(OpenStackCase):
    file_text, passing = FILE, OPENSTACK_PASSING

    @property
    def server(self):
        return self.gate

    def tokens(self):
        """id -> token of everything that is marked, as OpenStack's own library reads it."""
        cloud = self.project.cloud
        found = {s.id: s.metadata.get("radlc:token") for s in self.project.servers()}
        found |= {v.id: v.metadata.get("radlc:token") for v in cloud.block_storage.volumes()}
        network = cloud.network
        for things in (network.networks(project_id=self.project.id), network.subnets(project_id=self.project.id),
                       network.routers(project_id=self.project.id), network.ips(project_id=self.project.id),
                       network.security_groups(project_id=self.project.id)):
            found |= {t.id: (t.description or "").split()[1] for t in things if (t.description or "").startswith("radlc ")}
        found |= {g.id: g.name.split()[1] for g in cloud.compute.server_groups() if g.name.startswith("radlc ")}
        found |= {k.name: k.name.rsplit("-", 1)[1] for k in cloud.compute.keypairs() if k.name.startswith("radlc-")}
        return {name: token for name, token in found.items() if token}

    def expect_whole(self, *inputs):
        said = {}
        for resource in json.loads(self.well("state", "export", self.file))["resources"]:
            self.assertEqual(resource["status"], "ready", resource["address"])
            said.setdefault(KINDS[resource["type"]], set()).add(resource["id"])
        there = {}
        for kind, name, _ in self.baseline.changes()[0]:
            if kind != "port":
                there.setdefault(kind, set()).add(name)
        self.assertEqual(there, said, "\n".join(self.said))
        code, out = self.run_radlc("plan", "--detailed-exitcode", "--refresh", self.file, *inputs)
        self.assertEqual(code, 0, out)

    def assert_account_is_as_before(self):
        self.assert_project_is_as_before(20)


class WhileTheServicesFail(cloud_faults.WhileTheApiFails, OpenStack):
    pass


class OddAnswers(cloud_faults.OddAnswers, cloud_faults.Faulted, OpenStack):
    pass


class Killed(cloud_faults.Killed, OpenStack):
    pass


if __name__ == "__main__":
    unittest.main()
