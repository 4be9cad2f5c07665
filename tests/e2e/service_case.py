"""What the tests of `radlc serve` share: a service on nodes of this computer, and requests to it."""
import http.client
import json
import re
import signal

from radl_case import RadlCase

DOCUMENT = """\
network outside (outbound = 'yes')
network inside ()
system front (
  cpu.count >= 1 and memory.size >= 128m and net_interface.0.connection = 'outside' and net_interface.1.connection = 'inside' and
  net_interface.0.dns_name = 'front'
)
system worker (cpu.count >= 1 and memory.size >= 128m and net_interface.0.connection = 'inside')
configure hello (
@begin
---
  - tasks:
    - name: say it
      command: echo said-by-ansible
@end
)
contextualize (
  system front configure hello
)
deploy front 1
deploy worker 1
"""


class ServiceCase(RadlCase):
    def setUp(self):
        super().setUp()
        self.server = None
        self.serve()

    def tearDown(self):
        if self.server:
            for uri in self.ask("GET", "/infrastructures", form="application/json")[1].get("uri-list", []):
                self.ask("DELETE", self.path(uri["uri"]), query="?force=yes")
            self.stop()
        super().tearDown()

    def serve(self, *options, port=0):
        self.server = self.start("serve", "--listen", f"127.0.0.1:{port}", "--folder", self.folder / "service", "--cloud", "local", *options)
        line = self.server.stdout.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+);", line)[1])
        self.token = (self.folder / "service/token").read_text().strip()

    def stop(self, with_signal=signal.SIGTERM):
        self.server.send_signal(with_signal)
        self.server.communicate(timeout=60)
        code, self.server = self.server.returncode, None
        return code

    def authorization(self):
        return f"type = InfrastructureManager; username = ana; password = {self.token}"

    def ask(self, method, path, body=None, form=None, query="", **headers):
        """Status, the body (of JSON its value), the headers."""
        headers = {"Authorization": self.authorization(), **({"Accept": form} if form else {}), **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=170)
        connection.request(method, path + query, body, {name.replace("_", "-"): value for name, value in headers.items() if value is not None})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if text and answer.headers.get_content_type() == "application/json" else text, answer.headers

    def path(self, uri):
        self.assertTrue(uri.startswith(f"http://127.0.0.1:{self.port}/"), uri)
        return uri.removeprefix(f"http://127.0.0.1:{self.port}")

    def create(self, document=DOCUMENT, query=""):
        status, uri, headers = self.ask("POST", "/infrastructures", document, query=query)
        self.assertEqual(status, 200, uri)
        self.assertEqual(headers["InfID"], uri.rpartition("/")[2])
        return self.path(uri)

    def states(self, path):
        status, body, _ = self.ask("GET", path + "/state")
        self.assertEqual(status, 200, body)
        return body["state"]["state"], body["state"]["vm_states"]

    def wait_for(self, path, state):
        self.wait_until(lambda: self.states(path)[0] not in ("pending", "running", "unknown"), 120,
                        lambda: str(self.states(path)) + self.ask("GET", path + "/contmsg")[1])
        self.assertEqual(self.states(path)[0], state, self.ask("GET", path + "/contmsg")[1])
