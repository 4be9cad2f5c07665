"""The commands of EC3, unchanged, against `radlc serve`."""
import json
import os
import pathlib
import subprocess
import sys

from service_case import ServiceCase

BIN = pathlib.Path(os.environ["RADL_IM_BIN"])
CLUSTER = """\
network public ( outbound = 'yes' )
network private ()
system front (
  cpu.count >= 1 and memory.size >= 128m and net_interface.0.connection = 'public' and net_interface.1.connection = 'private' and
  net_interface.0.dns_name = 'front' and disk.0.image.url = 'one://localhost/1' and disk.0.os.name = 'linux'
)
system wn (
  cpu.count >= 1 and memory.size >= 128m and ec3_max_instances = 2 and net_interface.0.connection = 'private' and
  disk.0.image.url = 'one://localhost/1' and disk.0.os.name = 'linux'
)
configure front (
@begin
---
  - tasks:
    - name: prepare the front
      command: echo front
@end
)
deploy front 1
"""


class Ec3Test(ServiceCase):
    def setUp(self):
        super().setUp()
        (self.folder / "auth").write_text(self.authorization() + "\n")
        (self.folder / "templates").mkdir()
        (self.folder / "templates/small.radl").write_text(CLUSTER)

    def ec3(self, *words, code=0):
        command = [sys.executable, BIN / "ec3", *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240, cwd=self.folder,
                              env=dict(self.environment, HOME=str(self.folder)), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_a_cluster_from_launch_to_destroy(self):
        url = f"http://localhost:{self.port}"
        self.ec3("launch", "one", "small", "-u", url, "-a", "auth", "-y")
        self.assertIn("one", self.ec3("list"))
        self.assertIn("configured", self.ec3("list", "-r"))
        self.assertIn("system front", self.ec3("show", "one"))
        self.ec3("destroy", "one", "-u", url, "-a", "auth", "-y")
        self.assertEqual(self.ask("GET", "/infrastructures")[1], "")
