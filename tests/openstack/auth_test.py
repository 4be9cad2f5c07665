"""Credentials of each kind against Keystone itself: clouds.yaml and secure.yaml, variables, auth files; tokens that end; nothing shown."""
import http.server
import json
import pathlib
import ssl
import subprocess
import threading
import unittest
import urllib.request

import services
from openstack_case import OpenStackCase
from proxy import Answer
from site_of_tests import PASSWORD, REGION
from radl_case import RADLC


class EgiSite:
    """What EGI's information says, and a Keystone behind the gate that takes its access token for a user's login."""
    TOKEN = "of-egi-check-in"

    def __init__(self, gate, project, answers):
        self.gate, self.project, self.before, self.documents = gate, project, gate.extras, answers
        gate.extras = self
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                known = self.path in answers
                body = json.dumps(answers.get(self.path, {"detail": "Not Found"})).encode()
                self.send_response(200 if known else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        outer.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def acted(self, request):
        self.before.acted(request)

    def __call__(self, request):
        if "/OS-FEDERATION/identity_providers/egi.eu/protocols/openid/auth" not in request.path:
            return self.before(request)
        if request.headers.get("authorization") != f"Bearer {self.TOKEN}":
            return Answer(401, [("Content-Type", "application/json")], b'{"error": {"code": 401, "message": "unauthorized"}}')
        user = {"name": self.project.name, "domain": {"id": "default"}, "password": PASSWORD}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": "unscoped"}}
        asked = urllib.request.Request(f"http://{services.HOST}:{services.PORTS['keystone']}/v3/auth/tokens", json.dumps(body).encode(),
                                       {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return Answer(201, [("Content-Type", "application/json"), ("X-Subject-Token", answer.headers["X-Subject-Token"])], answer.read())


class Credentials(OpenStackCase):
    boots = False

    def check(self, *arguments, code=0):
        return json.loads(self.radlc("check-auth", "--json", *arguments, code=code))

    def without_variables(self):
        for name in [n for n in self.environment if n.startswith("OS_")]:
            del self.environment[name]

    def clouds(self, folder, **more):
        auth = {"auth_url": self.gate.auth_url, "username": self.project.name, "project_name": self.project.name, "user_domain_name": "Default",
                "project_domain_name": "Default"}
        cloud = {"auth": auth, **{"region_name": REGION, **more}}
        path = self.folder / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "clouds.yaml").write_text(json.dumps({"clouds": {"mine": cloud, "other": {"auth": {"auth_url": "https://elsewhere.example:5000"}}}}))
        (path / "secure.yaml").write_text(json.dumps({"clouds": {"mine": {"auth": {"password": PASSWORD}}}}))

    def test_variables_say_who_it_is_and_what_is_allowed(self):
        [found] = self.check()
        self.assertEqual((found["user"], found["project_id"]), (self.project.name, self.project.id))
        self.assertEqual(found["missing"], [])
        self.assertEqual(found["unknown"], {})
        self.assertIn("member", found["roles"])
        self.assertEqual(found["quotas"]["instances"]["limit"], 50)
        self.assertEqual(self.baseline.changes(), ([], []), "a look changes nothing")

    def test_a_clouds_yaml_with_its_secrets_beside_it(self):
        self.without_variables()
        self.clouds(".config/openstack")
        self.environment["OS_CLOUD"] = "mine"
        [found] = self.check()
        self.assertEqual(found["project_id"], self.project.id)
        self.assertIn(".config/openstack/clouds.yaml", found["from"])
        del self.environment["OS_CLOUD"]
        file = self.write("site.radl", "radl 2\nsystem a ( disk.0.image.url = 'ost://127.0.0.1/debian-12' )\ndeploy a 1 mine\n")
        plan = self.plan("--refresh", file)
        self.assertTrue(any("openstack:mine" in json.dumps(a) for a in plan["actions"]), plan["actions"])

    def test_an_application_credential(self):
        made = self.project.cloud.identity.create_application_credential(user=self.project.user_id, name="radlc")
        self.without_variables()
        self.environment.update(OS_AUTH_URL=self.gate.auth_url, OS_AUTH_TYPE="v3applicationcredential", OS_APPLICATION_CREDENTIAL_ID=made.id,
                                OS_APPLICATION_CREDENTIAL_SECRET=made.secret, OS_REGION_NAME=REGION)
        [found] = self.check()
        self.assertEqual(found["project_id"], self.project.id)
        auth = self.write("auth.dat", f"id = app; type = OpenStack; host = {self.gate.url}/identity; auth_version = 3.x_appcred; username = {made.id}; "
                          f"password = '{made.secret}'; service_region = {REGION}\n")
        auth.chmod(0o600)
        self.without_variables()
        [found] = self.check("--auth", auth)
        self.assertEqual((found["name"], found["project_id"]), ("app", self.project.id))

    def test_an_application_credential_by_its_name(self):
        made = self.project.cloud.identity.create_application_credential(user=self.project.user_id, name="radlc")
        self.without_variables()
        self.environment.update(OS_AUTH_URL=self.gate.auth_url, OS_APPLICATION_CREDENTIAL_NAME="radlc", OS_APPLICATION_CREDENTIAL_SECRET=made.secret,
                                OS_USERNAME=self.project.name, OS_USER_DOMAIN_NAME="Default", OS_REGION_NAME=REGION)
        [found] = self.check()
        self.assertEqual(found["project_id"], self.project.id)

    def test_variables_say_what_a_clouds_yaml_lacks(self):
        self.without_variables()
        self.clouds(".config/openstack", region_name="of-another-cloud")
        (self.folder / ".config/openstack/secure.yaml").unlink()
        self.environment.update(OS_CLOUD="mine", OS_PASSWORD=PASSWORD, OS_REGION_NAME=REGION)
        [found] = self.check()
        self.assertEqual((found["project_id"], found["missing"]), (self.project.id, []))
        self.assertIn("clouds.yaml", found["from"])

    def test_a_site_of_egi_with_an_access_token(self):
        """EGI's information and its login are the test's; what is done with them is Keystone's, Nova's and Glance's."""
        image = self.project.site.image
        egi = EgiSite(self.gate, self.project, {
            "/site/TEST-SITE/": {"id": "TEST-SITE", "url": self.gate.auth_url},
            "/site/TEST-SITE/vo.example/project": {"id": self.project.id},
            "/site/TEST-SITE/images": [{"id": image, "name": "EGI Debian 12", "egi_id": "egi.debian.12", "vo": "vo.example", "version": "2026.01"}]})
        self.addCleanup(egi.close)
        self.without_variables()
        self.environment["RADL_EGI_INFO"] = egi.url
        auth = self.write("auth.dat", "id = first; type = EGI; host = ANOTHER-SITE; vo = vo.example; token = 'other'\n"
                          f"id = egi; type = EGI; host = TEST-SITE; vo = vo.example; token = '{EgiSite.TOKEN}'\n")
        auth.chmod(0o600)
        found = {one["name"]: one for one in self.check("--auth", auth, code=1)}
        self.assertEqual(found["egi"]["project_id"], self.project.id)
        self.assertIn("knows no site 'ANOTHER-SITE'", found["first"]["error"])
        file = self.write("site.radl", "radl 2\nsystem a ( disk.0.image.url = 'appdb://TEST-SITE/egi.debian.12?vo.example' )\ndeploy a 1\n")
        plan = self.plan("--refresh", "--auth", auth, file)
        self.assertTrue(any("openstack:egi" in json.dumps(a) for a in plan["actions"]), plan["actions"])
        egi.documents["/site/TEST-SITE/vo.example/images"] = [
            {"id": "gone", "name": "Debian", "egi_id": "egi_vm_images/debian:12", "vo": "vo.example", "version": "2025.01"},
            {"id": f"{self.gate.auth_url}#{image}", "name": "Debian", "egi_id": "egi_vm_images/debian:12", "vo": "vo.example", "version": "2026.01"}]
        self.edit(file, ("appdb://TEST-SITE/egi.debian.12?vo.example", "egi://TEST-SITE/egi_vm_images/debian:12?vo.example"))
        plan = self.plan("--refresh", "--auth", auth, file)
        self.assertTrue(any("openstack:egi" in json.dumps(a) for a in plan["actions"]), plan["actions"])
        self.edit(file, ("debian:12?", "debian:13?"))
        self.radlc("plan", "--refresh", "--auth", auth, file, code=None)
        self.assertIn("EGI's site 'TEST-SITE' has no image 'egi_vm_images/debian:13' of vo.example", self.err)
        wrong = self.write("auth2.dat", "id = egi; type = EGI; host = TEST-SITE; vo = vo.example; token = 'ended-and-secret'\n")
        wrong.chmod(0o600)
        [refused] = self.check("--auth", wrong, code=2)
        self.assertIn("rejects the credentials", refused["error"])
        self.assertNotIn("ended-and-secret", json.dumps(refused) + self.err)

    def test_a_token(self):
        token = self.project.cloud.auth_token
        self.without_variables()
        self.environment.update(OS_AUTH_URL=self.gate.auth_url, OS_AUTH_TYPE="v3token", OS_TOKEN=token, OS_PROJECT_NAME=self.project.name,
                                OS_REGION_NAME=REGION)
        [found] = self.check()
        self.assertEqual(found["project_id"], self.project.id)

    def test_without_a_project_or_in_another_region_that_alone_is_said(self):
        file = self.write("site.radl", "radl 2\nsystem a ( disk.0.image.url = 'ost://127.0.0.1/debian-12' )\ndeploy a 1 openstack\n")
        for variable, value, words in (("OS_PROJECT_NAME", None, "names no project; every machine belongs to a project"),
                                       ("OS_REGION_NAME", "Nowhere", f"no service of type compute in region Nowhere; it is in {REGION}")):
            with self.subTest(variable=variable):
                before = self.environment.pop(variable)
                if value:
                    self.environment[variable] = value
                [found] = self.check(code=2 if value is None else None)
                self.assertIn(words, found["error"])
                self.assertEqual(found.get("unknown", {}), {})
                for command in (("plan", "--refresh"), ("apply", "--auto-approve")):
                    self.radlc(*command, file, code=None)
                    self.assertIn(words, self.err)
                self.environment[variable] = before
        self.radlc("destroy", "--auto-approve", file)
        self.assertEqual(self.baseline.changes(), ([], []))

    def test_a_token_that_has_ended_is_refused_with_how_to_get_a_new_one(self):
        token = self.project.cloud.auth_token
        body = json.dumps({"auth": {"identity": {"methods": ["password"], "password": {"user": {
            "name": self.project.name, "domain": {"id": "default"}, "password": PASSWORD}}}}}).encode()
        address = f"http://{services.HOST}:{services.PORTS['keystone']}/v3/auth/tokens"
        with urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": "application/json"}), timeout=60) as answer:
            ended = answer.headers["X-Subject-Token"]
        gone = urllib.request.Request(address, headers={"X-Auth-Token": token, "X-Subject-Token": ended}, method="DELETE")
        urllib.request.urlopen(gone, timeout=60).close()
        self.without_variables()
        self.environment.update(OS_AUTH_URL=self.gate.auth_url, OS_AUTH_TYPE="v3token", OS_TOKEN=ended, OS_PROJECT_NAME=self.project.name,
                                OS_REGION_NAME=REGION)
        [found] = self.check(code=2)
        self.assertIn("rejects the credentials (Run `openstack token issue` to get a new token; it is valid for some hours.)", found["error"])
        self.assertNotIn(ended, json.dumps(found) + self.err)

    def test_a_cloud_of_an_authority_of_its_own_is_trusted_where_that_is_named(self):
        key, certificate = self.ground / "key.pem", self.ground / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.gate.speak_tls(context)
        self.environment["OS_AUTH_URL"] = self.gate.auth_url
        [found] = self.check(code=None)
        self.assertIn("or OS_CACERT, to the cloud's certificate authority", found["error"])
        self.environment["OS_CACERT"] = str(certificate)
        [found] = self.check()
        self.assertEqual((found["project_id"], found["missing"]), (self.project.id, []))

    def test_a_wrong_password_is_refused_and_not_shown(self):
        self.environment["OS_PASSWORD"] = "wr0ng-and-secret"
        [found] = self.check(code=2)
        self.assertIn("rejects the credentials", found["error"])
        file = self.write("site.radl", "radl 2\nsystem a ( disk.0.image.url = 'ost://127.0.0.1/debian-12' )\ndeploy a 1 openstack\n")
        said = self.radlc("apply", "--auto-approve", file, code=None) + self.err
        self.assertIn("rejects the credentials", said)
        self.assertNotIn("wr0ng-and-secret", said + json.dumps(found))

    def test_certificates_cannot_be_left_unchecked(self):
        self.without_variables()
        self.clouds(".config/openstack", verify=False)
        self.environment["OS_CLOUD"] = "mine"
        [found] = self.check(code=1)
        self.assertIn("radlc always checks certificates", found["error"])

    def test_no_secret_is_in_the_state_or_the_log(self):
        file = self.write("site.radl", "radl 2\nsystem a ( disk.0.image.url = 'ost://127.0.0.1/no-such-image' )\ndeploy a 1 openstack\n")
        said = self.radlc("apply", "--auto-approve", "--log-json", self.folder / "log", file, code=None) + self.err
        self.assertIn("no image 'no-such-image'", said)
        self.radlc("destroy", "--auto-approve", file)
        tokens = {r.headers["x-auth-token"] for r in self.gate.log if "x-auth-token" in r.headers}
        self.assertTrue(tokens)
        for path in self.folder.rglob("*"):
            if path.is_file():
                text = path.read_bytes()
                for secret in tokens | {PASSWORD}:
                    self.assertNotIn(secret.encode(), text, path)

    def test_a_service_that_refuses_a_token_gets_a_new_one(self):
        from faults import At
        from gate import error
        from proxy import Treatment
        self.gate.faults = At(3, lambda r: Treatment(refuse=error("error", 401, "expired")), name="expired")
        [found] = self.check()
        self.assertEqual(found["missing"], [])
        self.assertEqual(sum(r.action == "POST /auth/tokens" for r in self.gate.log), 2)


if __name__ == "__main__":
    unittest.main()
