"""What documents and accounts of a user who is not trusted make `radlc serve` read or connect to: nothing that the service's computer alone
reaches. In a network namespace of its own, where 192.0.2.1 is a server of the user's, and 127.0.0.1 and 169.254.169.254 are secrets."""
import http.server
import json
import os
import subprocess
import sys
import threading
import unittest

from service_case import ServiceCase

OUTSIDE = "192.0.2.1"
CLOSED = ("127.0.0.1", "169.254.169.254")
NODE = "network n ()\nsystem s (net_interface.0.connection = 'n' and disk.0.image.url = 'ost://192.0.2.1/image')\ndeploy s 1 one\n"


class Site(http.server.ThreadingHTTPServer):
    """Notes its requests, and answers as `answer(path)` says: (status, headers, body)."""
    daemon_threads = True

    def __init__(self, address, answer=lambda path: (200, {}, "secret of the service's computer")):
        self.asked, site = [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            def reply(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                site.asked.append(self.path)
                status, headers, body = answer(self.path)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())
            do_GET = do_POST = do_HEAD = do_PUT = reply

            def log_message(self, *_):
                pass
        super().__init__((address, 0), Handler)
        self.url = f"http://{address}:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


def token_of(catalog):
    """Keystone's answer, whose catalog names these addresses."""
    services = [{"type": kind, "name": kind, "endpoints": [{"interface": "public", "region": "r", "region_id": "r", "url": url}]}
                for kind in ("compute", "network", "image") for url in catalog]
    return 201, {"X-Subject-Token": "t", "Content-Type": "application/json"}, json.dumps(
        {"token": {"expires_at": "2099-01-01T00:00:00Z", "issued_at": "2020-01-01T00:00:00Z", "catalog": services, "project": {"id": "p", "name": "p"},
                   "user": {"id": "u", "name": "u"}}})


@unittest.skipUnless(os.environ.get("RADL_OWN_NETWORK"), "runs within Namespace")
class Ssrf(ServiceCase):
    def setUp(self):
        super().setUp()
        self.closed = [Site(address) for address in CLOSED]
        self.bob = self.issue("bob", "apply")

    def tearDown(self):
        super().tearDown()
        for site in self.closed:
            site.shutdown()
            site.server_close()

    def create(self, document, accounts="", query="", **headers):
        lines = rf"type = InfrastructureManager; token = {self.bob}" + (rf"\n{accounts}" if accounts else "")
        return self.ask("POST", "/infrastructures", document, Authorization=lines, query=query, **headers)

    def assert_closed(self):
        self.assertEqual([site.asked for site in self.closed], [[], []])

    def account(self, host):
        return f"id = one; type = OpenStack; host = {host}; username = u; tenant = t; password = p; domain = d"

    def test_clouds_that_lead_to_closed_addresses(self):
        for target in self.closed:
            for what, answer in (("redirect", lambda path: (307, {"Location": target.url + path}, "")),
                                 ("found", lambda path: (302, {"Location": target.url + path}, "")),
                                 ("catalog", lambda path: token_of([target.url + "/v2"]) if path.endswith("/tokens") else (300, {}, "{}"))):
                site = Site(OUTSIDE, answer)
                for query in ("?dry_run=1", ""):
                    status, body, _ = self.create(NODE, self.account(site.url), query)
                    self.assertNotIn("secret of", str(body), (what, target.url))
                    if status == 200 and not query:
                        path = self.path(body)
                        asks = lambda: self.ask("GET", path + "/state", Authorization=f"Bearer {self.bob}")
                        self.wait_until(lambda: asks()[1]["state"]["state"] not in ("pending", "running"), 120, lambda: str(asks()))
                        self.assertNotIn("secret of", self.ask("GET", path + "/contmsg")[1])
                for place in ("images", "quotas"):
                    lines = rf"type = InfrastructureManager; token = {self.bob}\n" + self.account(site.url)
                    self.assertNotIn("secret of", str(self.ask("GET", f"/clouds/one/{place}", Authorization=lines)[1]))
                self.assertNotEqual(site.asked, [], what)  # or the case would test nothing
                site.shutdown()
                site.server_close()
        self.assert_closed()

    def test_names_that_lead_to_closed_addresses(self):
        for name in ("localhost", "closed.test", "metadata.test"):
            for port in (self.closed[0].server_port, self.closed[1].server_port):
                self.assertEqual(self.create(NODE, self.account(f"http://{name}:{port}"), "?dry_run=1")[0], 403, name)
        self.assert_closed()

    def test_documents_that_name_files_and_addresses(self):
        (self.folder / "private").write_text("private text")
        site = Site(OUTSIDE)
        for url in (site.url, *(one.url for one in self.closed), f"file://{self.folder}"):
            for document, form in ((f"radl 2\nuse '{url}/m.zip//m' as m ()\n", "text/plain"), (f"radl 2\nuse 'git::{url}/r.git//m' as m ()\n", "text/plain"),
                                   (f"use '{url}/m.zip//m' as m ()\n", "text/plain"), (f"radl 2\noutput x (value = file('{self.folder}/private'))\n", "text/plain"),
                                   ("radl 2\noutput x (value = env('HOME'))\n", "text/plain"),
                                   (NODE + f"configure s (\n@begin\n---\n- include_vars: {self.folder}/private\n@end\n)\n", "text/plain"),
                                   (NODE.replace("'n' and", f"'n' and disk.0.applications contains (name = 'ansible.roles.git+{url}/r.git|r') and"), "text/plain"),
                                   (f"tosca_definitions_version: tosca_simple_yaml_1_0\nimports:\n  - {url}/types.yaml\ntopology_template:\n  node_templates: {{}}\n", "text/yaml"),
                                   ("tosca_definitions_version: tosca_simple_yaml_1_0\ntopology_template:\n  node_templates:\n    s: {type: tosca.nodes.indigo.Compute}\n"
                                    f"    w:\n      type: tosca.nodes.SoftwareComponent\n      interfaces: {{Standard: {{configure: {{implementation: {url}/private}}}}}}\n"
                                    "      requirements: [{host: s}]\n", "text/yaml")):
                status, body, _ = self.create(document, query="?dry_run=1", Content_Type=form)
                self.assertNotIn("private text", str(body))
                self.assertNotIn("secret of", str(body))
                if "imports" not in document:  # which are types that the service knows, and are not fetched
                    self.assertIn(status, (400, 403), (document, body))
        self.assertEqual(site.asked, [])
        self.assert_closed()


class Namespace(unittest.TestCase):
    @unittest.skipIf(os.environ.get("RADL_OWN_NETWORK"), "is the namespace")
    def test_in_a_network_of_its_own(self):
        hosts = f"127.0.0.1 localhost closed.test\n169.254.169.254 metadata.test\n{OUTSIDE} outside.test\n"
        addresses = " && ".join(f"ip address add {address}/32 dev lo" for address in (OUTSIDE, CLOSED[1]))
        script = f'mount -t tmpfs none /mnt && cat > /mnt/hosts && mount --bind /mnt/hosts /etc/hosts && ip link set lo up && {addresses} && exec "$@"'
        private = ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
        if subprocess.run([*private, "true"], input=hosts, text=True, capture_output=True, check=False).returncode != 0:
            self.skipTest("no network namespace: needs root")
        done = subprocess.run([*private, sys.executable, "-B", "-m", "unittest", "-v", "service_ssrf_test"], input=hosts, text=True, capture_output=True,
                              env={**os.environ, "RADL_OWN_NETWORK": "1"}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
