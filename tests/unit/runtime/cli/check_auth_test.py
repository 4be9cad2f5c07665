"""`radlc check-auth` with credentials for Google and Azure; their servers are of this test."""
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
SECRET = "s3cr3t-of-azure"


class Server(http.server.BaseHTTPRequestHandler):
    """GET and POST by path; what is not there is 404, a document with "error" 403."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        self.server.asked.append((self.path, body))
        path = self.path.partition("?")[0]
        if path in ("/token", "/tenant/oauth2/v2.0/token"):
            return self.answer(200, {"access_token": "ya29.token", "expires_in": 3600, "token_type": "Bearer"})
        if path.endswith(":testIamPermissions"):
            if "permissions" in self.server.broken:
                return self.answer(403, {"error": {"code": 403, "message": "Cloud Resource Manager API has not been used in project 42"}})
            asked = json.loads(body)["permissions"]
            return self.answer(200, {"permissions": [one for one in asked if one not in self.server.lacks]})
        return self.answer(404, {})

    def do_GET(self):
        self.server.asked.append((self.path, ""))
        documents = {
            "/compute/v1/projects/mine": {"name": "mine", "quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 0, "usage": 0},
                                                                       {"metric": "SNAPSHOTS", "limit": 9, "usage": 1}]},
            "/compute/v1/projects/mine/regions/europe-west1": {"name": "europe-west1", "quotas": [{"metric": "CPUS", "limit": 24, "usage": 8}]},
            f"/subscriptions/{SUBSCRIPTION}": {"subscriptionId": SUBSCRIPTION, "displayName": "Lab", "tenantId": "tenant"},
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westeurope/usages": {"value": [
                {"limit": 10, "currentValue": 4, "name": {"value": "cores", "localizedValue": "Total Regional vCPUs"}}]},
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/permissions": {"value": self.server.roles}}
        path = self.path.partition("?")[0]
        return self.answer(200, documents[path]) if path in documents else self.answer(404, {"error": {"code": "NotFound", "message": "no"}})

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class CheckAuth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="radl-auth-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.server.lacks, self.server.broken, self.server.asked = (), (), []
        self.server.roles = [{"actions": ["*"], "notActions": []}]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("AWS_", "OS_", "GOOGLE_", "CLOUDSDK_", "GCE_", "AZURE_", "ARM_", "IDENTITY_", "MSI_", "RADL_AUTH", "IM_AUTH"))}
        self.environment = {**kept, "HOME": str(self.at), "XDG_CONFIG_HOME": str(self.at / "config"), "no_proxy": "*",
                            "AWS_EC2_METADATA_DISABLED": "true"}

    def google(self):
        key = self.at / "key.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key], check=True, capture_output=True)
        file = self.at / "key.json"
        file.write_text(json.dumps({"type": "service_account", "project_id": "mine", "private_key_id": "k1", "private_key": key.read_text(),
                                    "client_email": "radlc@mine.iam.gserviceaccount.com", "token_uri": self.url + "/token"}))
        self.environment.update(GOOGLE_APPLICATION_CREDENTIALS=str(file), CLOUDSDK_COMPUTE_REGION="europe-west1",
                                CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE=self.url + "/compute/v1/",
                                CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER=self.url + "/v1")

    def azure(self):
        self.environment.update(AZURE_TENANT_ID="tenant", AZURE_CLIENT_ID="client", AZURE_CLIENT_SECRET=SECRET, AZURE_AUTHORITY_HOST=self.url,
                                RADL_AZURE_ENDPOINT=self.url, AZURE_SUBSCRIPTION_ID=SUBSCRIPTION, AZURE_DEFAULTS_LOCATION="westeurope")

    def run_it(self, *arguments, code=0):
        done = subprocess.run([RADLC, "check-auth", *arguments], cwd=self.at, env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        self.assertNotIn("ya29", done.stdout + done.stderr)
        return done.stdout

    def one(self, **more):
        [found] = json.loads(self.run_it("--json", **more))
        return found

    def test_google_says_whose_it_is_its_quotas_and_what_is_missing(self):
        self.google()
        found = self.one()
        self.assertEqual((found["cloud"], found["project"], found["identity"]), ("gce", "mine", "radlc@mine.iam.gserviceaccount.com"))
        self.assertEqual(found["quotas"], {"GPUS_ALL_REGIONS of the project": {"limit": 0, "used": 0}, "CPUS": {"limit": 24, "used": 8}})
        self.assertEqual((found["missing"], found["unknown"]), ([], {}))
        self.server.lacks = ("compute.instances.create",)
        self.assertEqual(self.one(code=2)["missing"], ["compute.instances.create"])
        text = self.run_it(code=2)
        self.assertIn("missing: compute.instances.create", text)
        self.assertIn("8 of 24  CPUS", text)
        self.server.broken = ("permissions",)
        text = self.run_it()
        self.assertEqual(text.count("has not been used in project 42"), 1, "one reason, not one for each permission")

    def test_a_key_of_google_that_is_refused_is_the_worlds_and_a_file_that_is_wrong_the_users(self):
        self.google()
        file = pathlib.Path(self.environment["GOOGLE_APPLICATION_CREDENTIALS"])
        right = file.read_text()
        file.write_text(right.replace("/token", "/nowhere"))
        self.assertIn("error", self.one(code=2))
        file.write_text("{}")
        self.assertIn("error", self.one(code=1))

    def test_azure_says_whose_it_is_its_quotas_and_what_is_missing(self):
        self.azure()
        found = self.one()
        self.assertEqual((found["cloud"], found["subscription"], found["subscription_name"], found["identity"]),
                         ("azure", SUBSCRIPTION, "Lab", "service principal client"))
        self.assertEqual(found["quotas"], {"Total Regional vCPUs": {"limit": 10, "used": 4}})
        self.assertEqual((found["missing"], found["unknown"]), ([], {}))
        self.server.roles = [{"actions": ["*"], "notActions": ["Microsoft.Network/*/delete"]}, {"actions": ["*/read"], "notActions": []},
                             {"actions": ["microsoft.network/natgateways/delete"], "notActions": []}]
        missing = self.one(code=2)["missing"]
        self.assertIn("Microsoft.Network/virtualNetworks/delete", missing)
        self.assertTrue(all(one.startswith("Microsoft.Network/") and one.endswith("/delete") for one in missing), missing)
        self.assertNotIn("Microsoft.Network/natGateways/delete", missing, "another role has it")

    def test_lines_of_an_auth_file_are_looked_at_each_by_its_name(self):
        self.azure()
        auth = self.at / "auth.dat"
        auth.write_text(f"id = lab; type = Azure; subscription_id = {SUBSCRIPTION}; client_id = client; secret = '{SECRET}'; tenant = tenant\n")
        auth.chmod(0o600)
        del self.environment["AZURE_CLIENT_SECRET"]
        [found] = json.loads(self.run_it("--json", "--auth", str(auth)))
        self.assertEqual((found["name"], found["subscription"]), ("lab", SUBSCRIPTION))

    def test_no_credentials_at_all_is_said(self):
        self.assertIn("no AWS credentials", self.run_it(code=1))


class Documented(unittest.TestCase):
    """What is looked for is what docs/providers names (tests/gce and tests/azure compare that with the calls that are made)."""

    def test_googles_permissions_and_azures_actions(self):
        source = pathlib.Path(os.environ["RADL_SOURCE"])
        page = (source / "docs/providers/gce.md").read_text().split("## Permissions")[1].split("\n## ")[0]
        listed = {word.strip("`") for word in page.split() if word.startswith("`compute.")}
        role = set(json.loads((source / "docs/providers/azure-role.json").read_text())["Actions"])
        for file, wanted in (("gce/account.cc", listed), ("azure/account.cc", role)):
            lines = (source / "runtime/clouds" / file).read_text().splitlines()
            words = {line.strip().strip('",') for line in lines if line.startswith('    "') and line.rstrip().endswith('",')}
            self.assertEqual(words, wanted, file)


if __name__ == "__main__":
    unittest.main()
