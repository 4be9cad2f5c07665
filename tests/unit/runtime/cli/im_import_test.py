"""`radlc im-import` against answers of an Infrastructure Manager (IM) that it must not take over, or not trust.

What a real IM has created is taken over in tests/im/im_import_test.py."""
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
RADL = "network lan ()\nsystem node (cpu.count >= 1 and net_interface.0.connection = 'lan' and disk.0.os.name = 'linux')\ndeploy node 1 cloud\n"
NODE = {"class": "system", "id": "node", "provider.type": "EC2", "instance_type": "t3.micro", "instance_id": "us-east-1;i-0123456789abcdef0",
        "disk.0.image.url": "aws://us-east-1/ami-0deb12000000000a2", "state": "configured", "disk.0.os.credentials.private_key": "PRIVATE"}
SECRET = "it's a \"secret\""


class Im(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Authorization"]))
        answer = self.server.answers.get(self.path.removeprefix("/im/infrastructures/one"), (404, {"message": "Deleted infrastructure.", "code": 404}))
        status, document, headers = (*answer, {})[:3]
        body = document.encode() if isinstance(document, str) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ImImport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-im-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.server = self.serve()
        self.server.answers = self.answers(NODE)
        self.uri = f"http://127.0.0.1:{self.server.server_port}/im/infrastructures/one"
        (self.at / "auth.dat").write_text(f"type = InfrastructureManager; username = ana; password = '{SECRET.replace(chr(39), '')}'\n"
                                          "id = cloud; type = EC2; username = AK; password = SK\n")
        (self.at / "auth.dat").chmod(0o600)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RADL_AUTH", "IM_AUTH"))}
        self.environment = {**kept, "HOME": str(self.at), "no_proxy": "*", "NO_COLOR": "1", "AWS_EC2_METADATA_DISABLED": "true"}

    def serve(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Im)
        server.asked, server.answers = [], {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    @staticmethod
    def answers(*systems, radl=RADL):
        uris = [{"uri": f"https://elsewhere.example.org/infrastructures/one/vms/{number}"} for number in range(len(systems))]
        return {"/radl": (200, {"radl": radl}), "": (200, {"uri-list": uris}),
                **{f"/vms/{number}": (200, {"radl": [{"class": "network", "id": "lan"}, system]}) for number, system in enumerate(systems)}}

    def refused(self, *said, uri=None, code=1):
        done = subprocess.run([RADLC, "im-import", uri or self.uri, "--auth", "auth.dat"], cwd=self.at, env=self.environment, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for part in said:
            self.assertIn(part, done.stderr)
        self.assertNotIn("secret", done.stderr)
        self.assertNotIn("PRIVATE", done.stderr)
        self.assertEqual([path.name for path in self.at.iterdir() if path.name != "auth.dat"], [], "nothing is written")

    def test_all_lines_go_to_the_im_and_to_nobody_else(self):
        self.server.answers["/vms/0"] = (200, {"radl": []})
        self.refused("VM 0", code=2)
        self.assertEqual([path for path, _ in self.server.asked], [f"/im/infrastructures/one{below}" for below in ("/radl", "", "/vms/0")])
        for _, lines in self.server.asked:
            self.assertEqual(lines.count("\\n"), 1)
            self.assertIn("its a \"secret\"", lines)
            self.assertIn("id = cloud; type = EC2", lines)
        other = self.serve()
        self.server.answers["/radl"] = (302, {}, {"Location": f"http://127.0.0.1:{other.server_port}/im/infrastructures/one/radl"})
        self.refused(code=1)
        self.assertEqual(other.asked, [], "a redirect takes no credentials along")

    def test_a_machine_that_cannot_be_taken_over_is_named(self):
        for change, said in (({"provider.type": "Azure"}, "Azure"), ({"id": "other"}, "system"), ({"id": "../../../../keys"}, "system"), ({"state": "failed"}, "failed"), ({"instance_id": ""}, "VM 1")):
            with self.subTest(change):
                self.server.answers = self.answers(NODE, {**NODE, **change})
                self.refused("VM 1", said)
        self.server.answers = self.answers()
        self.refused("no machines")

    def test_answers_of_no_known_form(self):
        for path, answer, code in (("/radl", (200, "<html>"), 2), ("/radl", (200, {"radl": 7}), 2), ("/radl", (200, {"radl": "system ("}), 1),
                                   ("", (200, {"uri-list": [{"uri": "https://im.example.org/vms/../../x"}]}), 2), ("", (200, {"uri-list": [7]}), 2),
                                   ("/vms/0", (200, {"radl": "system"}), 2), ("/vms/0", (200, [[]]), 2),
                                   ("/radl", (403, {"message": "Access not granted.", "code": 403}), 2), ("/radl", (404, {}), 1)):
            with self.subTest(path=path, answer=answer):
                self.server.answers = {**self.answers(NODE), path: answer}
                self.refused(code=code)

    def test_addresses_that_are_none(self):
        for uri in ("http://im.example.org:8800/infrastructures/one", "https://127.0.0.1/infrastructures", "https://127.0.0.1/infrastructures/a/vms/0",
                    "https://127.0.0.1/infrastructures/a?b", "ftp://127.0.0.1/infrastructures/a", "one"):
            with self.subTest(uri):
                self.refused(uri=uri)


if __name__ == "__main__":
    unittest.main()
