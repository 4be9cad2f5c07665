"""Every command of im_client, unchanged, against `radlc serve`."""
import json
import os
import pathlib
import subprocess
import sys

from service_case import DOCUMENT, ServiceCase

BIN = pathlib.Path(os.environ["RADL_IM_BIN"])
NAMED = "description demo ( name = 'demo' )\n" + DOCUMENT


class ImClientTest(ServiceCase):
    def setUp(self):
        super().setUp()
        (self.folder / "auth").write_text(self.authorization() + "\n")

    def client(self, *words, code=0, text=None):
        command = [sys.executable, BIN / "im_client", "-r", f"http://127.0.0.1:{self.port}", "-a", self.folder / "auth", *words]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240, cwd=self.folder, input=text,
                              env=dict(self.environment, HOME=str(self.folder)))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def settled(self, identity, state="configured"):
        self.wait_for("/infrastructures/" + identity, state)

    def test_all_commands(self):
        out = self.client("create", self.file("cluster.radl", NAMED))
        identity = out.split()[-1]
        self.settled(identity)
        self.assertEqual(json.loads(self.client("-q", "list")), [identity])
        self.assertIn("demo", self.client("-n", "list"))
        self.assertIn("configured", self.client("-n", "getstate", "demo"))
        self.assertEqual(json.loads(self.client("-q", "getstate", identity))["vm_states"], {"0": "configured", "1": "configured"})
        self.assertIn("deploy worker 1", self.client("getradl", identity))
        self.assertIn("say it", self.client("getcontmsg", identity))
        self.assertIn("say it", self.client("getvmcontmsg", identity, 0))
        self.assertIn("system front", self.client("getvminfo", identity, 0))
        self.assertEqual(self.client("-q", "getvminfo", identity, 0, "state").split()[-1], "configured")
        self.assertIn("system worker", self.client("getinfo", identity))
        self.assertIn("system worker", self.client("-s", "worker", "getinfo", identity))
        self.assertNotIn("system front", self.client("-s", "worker", "-q", "getinfo", identity))
        self.assertIn("configured", self.client("wait", identity, 60))
        self.client("getoutputs", identity, code=1)  # 403, as from the reference: the document is not TOSCA

        more = self.file("more.radl", "network inside ()\nsystem worker\ndeploy worker 1\n")
        self.assertEqual(json.loads(self.client("-q", "addresource", identity, more)), ["2"])
        self.settled(identity)
        self.client("removeresource", identity, "2")
        self.assertNotIn("2", self.states("/infrastructures/" + identity)[1])
        self.settled(identity)
        self.client("reconfigure", identity)
        self.settled(identity)
        self.client("reconfigure", identity, self.file("recipe.radl", "configure hello (\n@begin\n---\n  - tasks:\n    - name: say more\n      command: echo more\n@end\n)\n"))
        self.settled(identity)
        self.assertIn("say more", self.client("getvmcontmsg", identity, 0))
        self.client("alter", identity, 1, self.file("alter.radl", "system worker ( memory.size >= 256m )\n"))
        self.settled(identity)

        self.client("stop", identity)
        self.settled(identity, "stopped")
        self.client("start", identity)
        self.settled(identity)
        for command, state in (("stopvm", "stopped"), ("startvm", "configured"), ("rebootvm", "configured")):
            self.client(command, identity, 1)
            self.assertEqual(self.states("/infrastructures/" + identity)[1]["1"], state)

        shown = self.client("-q", "ssh", identity, 1).split()
        self.assertEqual(shown[0], "ssh")
        self.assertIn("reached", self.client("-q", "ssh", identity, 0, "echo reached"))
        self.client("-q", "put", identity, 0, "alter.radl", "arrived")
        self.client("-q", "get", identity, 0, "arrived", "back")
        self.assertEqual((self.folder / "back").read_text(), (self.folder / "alter.radl").read_text())

        self.client("cloudimages", "local")
        self.assertIn("cores", self.client("cloudusage", "local"))
        self.assertIn("Canceled", self.client("destroy", identity, code=1, text="no\n"))
        self.client("-y", "destroy", identity)
        self.assertIn("No Infrastructures", self.client("list"))

    def test_owners_change(self):
        path = self.create("network n ()")
        identity = path.rpartition("/")[2]
        bob = self.radlc("serve", "token", "add", "--folder", self.folder / "service", "--user", "bob").strip()
        self.client("change_auth", identity, self.file("bob", f"type = InfrastructureManager; username = bob; password = {bob}\n"), 1)
        self.assertEqual(self.ask("GET", path + "/authorization")[1], "bob")
        (self.folder / "auth").write_text(f"type = InfrastructureManager; username = bob; password = {bob}\n")
        self.assertEqual(json.loads(self.client("-q", "list")), [identity])

    def test_an_infrastructure_moves(self):
        identity = self.create("network n ()").rpartition("/")[2]
        self.settled(identity, "failed")
        data = json.loads(self.client("-q", "export", identity, 1))
        self.assertIn("No Infrastructures", self.client("list"))
        self.assertIn(identity, self.client("import", self.file("exported.json", data)))

    def test_tosca(self):
        tosca = self.file("web.yaml", "topology_template:\n  node_templates:\n    web: {type: tosca.nodes.indigo.Compute}\n"
                                      "  outputs: {ip: {value: {get_attribute: [web, private_address, 0]}}}\n")
        outputs = json.loads(self.client("-q", "create_wait_outputs", tosca).splitlines()[-1])
        self.assertIn(".", outputs["ip"])

    def test_what_is_different(self):
        """docs/service.md says so."""
        self.assertIn("No authentication", self.client("getversion", code=1))
