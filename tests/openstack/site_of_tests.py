"""A cloud with a project of its own: networks, images, flavors, and what somebody else has in it already."""
import json
import os
import subprocess
import urllib.request
import uuid

import openstack

import services

HOST, PASSWORD, REGION = services.HOST, services.PASSWORD, services.REGION
IMAGE = "debian-12"
FLAVORS = {"t.tiny": (1, 512, 1), "t.small": (2, 2048, 10), "t.big": (8, 16384, 40), "t.huge": (1, 10 ** 8, 1)}


def connection(project, user, password):
    return openstack.connect(
        auth={"auth_url": f"http://{HOST}:{services.PORTS['keystone']}/v3", "username": user, "password": password, "project_name": project,
              "user_domain_id": "default", "project_domain_id": "default"},
        region_name=REGION, compute_api_version="2.1", load_envvars=False, load_yaml_config=False)


class Site:
    """Things that all projects share, made once; `project()` makes a project."""
    _shared = None

    @classmethod
    def shared(cls):
        if cls._shared is None:
            cls._shared = cls(services.shared())
        return cls._shared

    def __init__(self, running):
        self.services = running
        self.admin = connection("admin", "admin", PASSWORD)
        self.keystone = running.keystone()
        for name, (cores, memory, disk) in FLAVORS.items():
            if not self.admin.compute.find_flavor(name):
                self.admin.compute.create_flavor(name=name, vcpus=cores, ram=memory, disk=disk)
        image = self.admin.image.find_image(IMAGE) or self.admin.image.create_image(name=IMAGE, disk_format="raw", container_format="bare", visibility="public", os_distro="debian",
                                              os_version="12", data=b"\0" * 1024, allow_duplicates=True)
        self.image = image.id
        self.outside = self.admin.network.find_network("outside")
        if not self.outside:
            self.outside = self.admin.network.create_network(name="outside", is_router_external=True, provider_network_type="flat",
                                                             provider_physical_network="physical")
            self.admin.network.create_subnet(network_id=self.outside.id, name="outside", ip_version=4, cidr="203.0.113.0/24", is_dhcp_enabled=False)
        self.numbers = 0

    def project(self, **quotas):
        self.numbers += 1
        return Project(self, f"tests-{self.numbers}-{uuid.uuid4().hex[:6]}", quotas)


class Project:
    """One with a user, a network with a way out, and a machine and a group of somebody else's."""

    def __init__(self, site, name, quotas):
        self.site, self.name = site, name
        keystone = site.keystone
        self.id = keystone.named("projects", name, domain_id="default")
        user = keystone.named("users", name, domain_id="default", password=PASSWORD)
        self.user_id = user
        member = keystone.named("roles", "member")
        keystone.call("PUT", f"projects/{self.id}/users/{user}/roles/{member}")
        self.cloud = connection(name, name, PASSWORD)
        self.quota(instances=50, cores=200, ram=10**9, key_pairs=100)
        site.admin.network.update_quota(self.id, security_groups=50, security_group_rules=200, networks=20, subnets=20, routers=20, floating_ips=30,
                                        ports=200)
        network = self.cloud.network
        self.network = network.create_network(name="inside")
        self.subnet = network.create_subnet(network_id=self.network.id, name="inside", ip_version=4, cidr="10.20.0.0/16")
        self.router = network.create_router(name="inside", external_gateway_info={"network_id": site.outside.id})
        network.add_interface_to_router(self.router, subnet_id=self.subnet.id)

    def somebody_else(self):
        self.cloud.network.create_security_group(name="somebody-else", description="not radlc's")
        self.cloud.compute.create_server(name="worker[0]", image_id=self.site.image, flavor_id=self.flavor("t.tiny"),
                                         networks=[{"uuid": self.network.id}], metadata={"team": "theirs"})

    def flavor(self, name):
        return self.site.admin.compute.find_flavor(name).id

    def quota(self, **limits):
        endpoint = f"http://{HOST}:{services.PORTS['nova']}/v2.1/os-quota-sets/{self.id}"
        request = urllib.request.Request(endpoint, json.dumps({"quota_set": limits}).encode(), {
            "Content-Type": "application/json", "X-Auth-Token": self.site.admin.auth_token}, method="PUT")
        urllib.request.urlopen(request, timeout=60).close()

    def environment(self, auth_url=None):
        """The variables by which OpenStack's tools find it."""
        return {"OS_AUTH_URL": auth_url or f"http://{HOST}:{services.PORTS['keystone']}/v3", "OS_USERNAME": self.name, "OS_PASSWORD": PASSWORD,
                "OS_PROJECT_NAME": self.name, "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default", "OS_REGION_NAME": REGION}

    def openstack(self, *words):
        """What OpenStack's own command line says, as JSON."""
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("OS_")}, **self.environment()}
        done = subprocess.run(["/usr/bin/openstack", *words, "-f", "json"], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"openstack {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout)

    def servers(self):
        return [s for s in self.cloud.compute.servers(details=True) if s.status != "DELETED"]

    def flavor_of(self, server):
        """By name. Older microversions give its id alone, newer ones its name alone, which the library calls `name` or `original_name`."""
        flavor = server.flavor
        return flavor["original_name"] or flavor["name"] or self.cloud.compute.get_flavor(flavor["id"]).name

    def everything(self):
        """{(kind, id, what may not change of it)}: asked by OpenStack's own library."""
        network, compute = self.cloud.network, self.cloud.compute
        found = {("server", s.id, f"{s.name} {sorted(s.metadata.items())}") for s in self.servers()}
        found |= {("key pair", k.name, "") for k in compute.keypairs()}
        found |= {("server group", g.id, g.name) for g in compute.server_groups()}
        found |= {("security group", g.id, f"{g.name} {len(g.security_group_rules)}") for g in network.security_groups(project_id=self.id)
                  if g.name != "default"}
        found |= {("network", n.id, n.name) for n in network.networks(project_id=self.id)}
        found |= {("subnet", s.id, s.cidr) for s in network.subnets(project_id=self.id)}
        found |= {("router", r.id, r.name) for r in network.routers(project_id=self.id)}
        found |= {("port", p.id, p.device_id) for p in network.ports(project_id=self.id)}
        found |= {("floating address", f.id, f.floating_ip_address) for f in network.ips(project_id=self.id)}
        found |= {("volume", v.id, v.name) for v in self.cloud.block_storage.volumes()}
        return found

    def remove(self):
        """Whatever is left."""
        network, compute = self.cloud.network, self.cloud.compute
        for server in self.servers():
            compute.delete_server(server.id, ignore_missing=True)
        for server in self.servers():
            compute.wait_for_delete(server, interval=0.3, wait=60)
        for address in network.ips(project_id=self.id):
            network.delete_ip(address.id)
        for volume in self.cloud.block_storage.volumes():
            self.cloud.block_storage.delete_volume(volume.id)


class Baseline:
    """What was there before a test, and must be there after it as it was."""

    def __init__(self, project):
        self.project = project
        self.before = project.everything()

    def changes(self):
        """(new, missing), each sorted."""
        now = self.project.everything()
        return sorted(now - self.before), sorted(self.before - now)
