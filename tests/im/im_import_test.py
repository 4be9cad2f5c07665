"""`radlc im-import` of what a real Infrastructure Manager has created in moto's EC2."""
import http.client
import json
import os
import pathlib
import socket
import stat
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import boto3
from radl_case import RadlCase

HERE = pathlib.Path(__file__).parent
REGION = "us-east-1"
KEYS = {"aws_access_key_id": "AK", "aws_secret_access_key": "SK"}
DOCUMENT = f"""\
network public (outbound = 'yes' and outports = '80/tcp')
network lan ()
system front (
  memory.size >= 1g and net_interface.0.connection = 'lan' and net_interface.1.connection = 'public' and
  disk.0.os.name = 'linux' and disk.0.size = 10g and disk.0.image.url = 'aws://{REGION}/IMAGE' and
  disk.0.os.credentials.username = 'admin'
)
system node (
  memory.size >= 2g and net_interface.0.connection = 'lan' and
  disk.0.os.name = 'linux' and disk.0.size = 10g and disk.0.image.url = 'aws://{REGION}/IMAGE' and
  disk.0.os.credentials.username = 'admin'
)
deploy front 1
deploy node 1
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class ImImportTest(RadlCase):
    def setUp(self):
        super().setUp()
        self.servers = []
        moto = free_port()
        self.environment.update(AWS_ENDPOINT_URL=f"http://127.0.0.1:{moto}", AWS_REGION=REGION, AWS_ACCESS_KEY_ID="AK", AWS_SECRET_ACCESS_KEY="SK",
                                AWS_EC2_METADATA_DISABLED="true", HOME=str(self.folder), no_proxy="*", RADL_CALLER_CIDR="203.0.113.7/32")
        self.run_server(pathlib.Path(sys.executable).with_name("moto_server"), "-H", "127.0.0.1", "-p", moto)
        self.until_answers(moto, "/moto-api/")
        self.ec2 = boto3.client("ec2", region_name=REGION, endpoint_url=self.environment["AWS_ENDPOINT_URL"], **KEYS)
        self.port = free_port()
        (self.folder / "im").mkdir()
        self.run_server(HERE / "im_server.py", self.folder / "im", self.port)
        self.until_answers(self.port, "/version")
        self.auth = self.folder / "auth.dat"
        self.auth.write_text("type = InfrastructureManager; username = ana; password = secret\nid = ec2; type = EC2; username = AK; password = SK\n")

    def tearDown(self):
        for server in self.servers:
            server.kill()
            server.wait()
        super().tearDown()

    def run_server(self, *words):
        with open(self.folder / f"{len(self.servers)}.log", "wb") as log:
            self.servers.append(subprocess.Popen([sys.executable, *map(str, words)], stdout=log, stderr=log, cwd=self.folder, env=self.environment))

    def until_answers(self, port, path):
        for _ in range(1800):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).close()
                return
            except urllib.error.HTTPError:
                return
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
        self.fail(f"nothing answers at port {port}: " + self.logs())

    def logs(self):
        return "".join(path.read_text(errors="replace")[-3000:] for path in self.folder.glob("*.log"))

    def im(self, method, path, body=None, form="application/json"):
        lines = self.auth.read_text().strip().replace("\n", "\\n")
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, data=body and body.encode(),
                                         headers={"Authorization": lines, "Accept": form, "Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read())

    def image(self):
        volume = self.ec2.create_volume(Size=8, AvailabilityZone=REGION + "a")["VolumeId"]
        snapshot = self.ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
        return self.ec2.register_image(Name="debian", RootDeviceName="/dev/xvda", Architecture="x86_64", VirtualizationType="hvm",
                                       BlockDeviceMappings=[{"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": snapshot, "VolumeSize": 8}}])["ImageId"]

    def running(self):
        """EC2's own word, by instance id: the names of its security groups."""
        found = self.ec2.describe_instances(Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}])
        return {one["InstanceId"]: sorted(group["GroupName"] for group in one["SecurityGroups"])
                for reservation in found["Reservations"] for one in reservation["Instances"]}

    def create(self):
        uri = self.im("POST", "/infrastructures", DOCUMENT.replace("IMAGE", self.image()))["uri"]
        self.assertEqual(len(self.running()), 2, self.logs())
        return uri

    def test_machines_are_taken_over_changed_in_place_and_removed(self):
        before = set(self.running())
        uri = self.create()
        machines, identity = set(self.running()) - before, uri.rpartition("/")[2]
        out = self.radlc("im-import", uri, "--auth", self.auth, "-o", "site.radl")
        self.assertNotIn("PRIVATE KEY", out + self.err + (self.folder / "site.radl").read_text())
        nodes = {r["address"]: r["id"] for r in self.show("site.radl")["resources"] if r["type"] == "instance"}
        self.assertEqual(set(nodes), {"front[0]", "node[0]"})
        self.assertEqual(set(nodes.values()), machines)
        keys = [path for path in self.folder.rglob("im-keys/*") if path.suffix != ".pub"]
        self.assertEqual(sorted(path.name for path in keys), ["front[0]", "node[0]"])
        self.assertEqual({stat.S_IMODE(os.stat(path).st_mode) for path in keys}, {0o600})
        self.radlc("im-import", uri, "--auth", self.auth, "-o", "site.radl")  # again: nothing is left to do
        verbs = {a["id"]: a["verb"] for a in self.plan("--refresh", "site.radl", "--auth", self.auth)["actions"]}
        self.assertEqual({verbs["front[0]"], verbs["node[0]"]}, {"update"}, verbs)
        self.assertNotIn("replace", verbs.values())
        self.radlc("apply", "--auto-approve", "site.radl", "--auth", self.auth)
        self.assertEqual(set(self.running()), machines, "the same machines")
        self.assertIn(f"im-{identity}-lan", self.running()[nodes["node[0]"]], "the IM's group of the network is radlc's now")
        self.radlc("destroy", "--auto-approve", "site.radl", "--auth", self.auth)
        self.assertEqual(set(self.running()), before)
        groups = {group["GroupName"] for group in self.ec2.describe_security_groups()["SecurityGroups"]}
        self.assertEqual({name for name in groups if name.startswith(("im-", "radl"))}, {f"im-{identity}"}, "which im-import names")

    def test_the_im_drops_its_record_if_asked_and_machines_continue(self):
        uri = self.create()
        machines = set(self.running())
        self.radlc("im-import", uri, "--auth", self.auth, "--forget")
        self.assertEqual(self.im("GET", "/infrastructures").get("uri-list"), [])
        self.assertEqual(set(self.running()), machines)

    def test_what_cannot_be_taken_over_writes_nothing(self):
        uri = self.create()
        strangers = self.folder / "strangers.dat"
        strangers.write_text("type = InfrastructureManager; username = eve; password = other\n")
        clouds = self.folder / "clouds.dat"
        clouds.write_text("id = ec2; type = EC2; username = AK; password = SK\n")
        for wrong, code in ((("im-import", uri, "--auth", strangers), 2), (("im-import", uri, "--auth", clouds), 1), (("im-import", uri), 1),
                            (("im-import", uri.replace("127.0.0.1", "im.example.org"), "--auth", self.auth), 1),
                            (("im-import", uri.rpartition("/")[0], "--auth", self.auth), 1)):
            self.radlc(*wrong, code=code)
            self.assertNotIn("secret", self.err)
        self.assertEqual(list(self.folder.glob("*.radl")), [])
        (self.folder / "mine.radl").write_text("# mine\n")
        self.radlc("im-import", uri, "--auth", self.auth, "-o", "mine.radl", code=1)
        self.assertEqual((self.folder / "mine.radl").read_text(), "# mine\n")


if __name__ == "__main__":
    unittest.main()
