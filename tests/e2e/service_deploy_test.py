"""What docs/how-to/serve.md does: the unit of systemd, a name behind nginx, a backup."""
import re
import shutil
import socket
import subprocess
import unittest

from page_case import PageCase
from radl_case import RADLC, SOURCE, replaced

UNIT = SOURCE / "tools/service/radlc-serve.service"
PAGE = SOURCE / "docs/how-to/serve.md"
NAME = "radlc.example.org"


class ServiceDeployTest(PageCase):
    def serve(self, port=0, wrapper=(), folder="service", options=()):
        super().serve(port, wrapper, folder, ("--host-name", NAME))

    def test_the_name_of_a_proxy_is_a_host(self):
        for host, status in ((NAME, 200), (NAME + ":443", 200), ("other.example.org", 403), (NAME + ".evil.example", 403)):
            self.assertEqual(self.ask("GET", "/me", Host=host)[0], status, host)
        for origin, status in ((f"https://{NAME}", 201), ("https://other.example.org", 403)):
            self.assertEqual(self.ask("POST", "/infrastructures", {"name": "one"}, Host=NAME, Origin=origin)[0], status, origin)

    @unittest.skipUnless(shutil.which("nginx") and shutil.which("openssl"), "nginx is not installed")
    def test_nginx_passes_requests_and_events_on(self):
        key, certificate = self.folder / "radlc.key", self.folder / "radlc.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}",
                        "-keyout", key, "-out", certificate, "-days", "2"], check=True, capture_output=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (server,) = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(), re.S)
        server = replaced(server, ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("/etc/ssl/radlc.pem", str(certificate)), ("/etc/ssl/radlc.key", str(key)),
                          ("127.0.0.1:8899", f"127.0.0.1:{self.port}"))
        config = self.write("nginx.conf", f"pid {self.folder}/nginx.pid;\nerror_log {self.folder}/error.log;\nevents {{}}\nhttp {{\naccess_log off;\n"
                            + "".join(f"{what}_temp_path {self.folder}/{what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) + server + "}\n")
        nginx = subprocess.Popen(["nginx", "-c", config, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
        try:
            def through(path, *options):
                done = subprocess.run(["curl", "-sN", "-w", "%{http_code}", "--cacert", certificate, "--resolve", f"{NAME}:{port}:127.0.0.1", *options,
                                       "-H", f"Authorization: Bearer {self.token}", f"https://{NAME}:{port}/api/v1{path}"], capture_output=True, text=True, check=False)
                return done.stdout
            self.wait_until(lambda: through("/me").endswith("200"), 30, lambda: through("/me"))
            run = self.run_plan(infrastructure=self.create(), program="radl 2\noutput a (value = 1)\n")["id"]
            self.assertIn("event: end\n", through(f"/runs/{run}/events", "-H", "Accept: text/event-stream"))
        finally:
            nginx.terminate()
            nginx.wait(30)

    def test_a_backup_is_a_copy_of_the_folder(self):
        run = self.run_plan(infrastructure=self.create(), program="radl 2\noutput a (value = 1)\n")["id"]
        token = self.token
        self.stop_server()
        shutil.copytree(self.folder / "service", self.folder / "backup")
        shutil.rmtree(self.folder / "service")
        (self.folder / "backup").rename(self.folder / "service")
        self.serve()
        self.assertEqual(self.token, token)
        self.assertEqual(self.get(f"/runs/{run}")["state"], "done")
        self.assertTrue(self.get(f"/runs/{run}/events")["events"])

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_the_unit_is_one_that_systemd_takes(self):
        unit = self.write("radlc-serve.service", replaced(UNIT.read_text(), ("ExecStart=radlc", f"ExecStart={RADLC}"), ("User=radlc\n", "")))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
        wrong = [line for line in (done.stdout + done.stderr).splitlines() if "radlc-serve.service" in line]
        self.assertEqual((done.returncode, wrong), (0, []), done.stderr)
