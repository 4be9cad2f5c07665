"""gs://: against fake-gcs-server, with Google's own client beside it."""
import datetime
import json
import pathlib
import subprocess
import unittest
import unittest.mock
import urllib.parse

from google.cloud.storage import _signing
from google.oauth2 import service_account

from google_store import GoogleStore
from store_case import StoreCase


class OfGoogle(StoreCase, unittest.TestCase):
    store_type = GoogleStore

    def setUp(self):
        super().setUp()
        self.key = self.folder / "key.json"
        pem = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], capture_output=True, text=True,
                             check=True).stdout
        self.account = {"type": "service_account", "project_id": "tests", "private_key_id": "k1", "private_key": pem,
                        "client_email": "radl@tests.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token"}
        self.key.write_text(json.dumps(self.account))
        self.env["GOOGLE_APPLICATION_CREDENTIALS"] = str(self.key)

    def test_a_signed_url_is_that_of_googles_own_client(self):
        for method, key in (("GET", "a b/ü&c"), ("PUT", "plain")):
            ours = self.tool("presign", method, self.address(key), 600).decode().strip()
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(ours).query)
            time = query["X-Goog-Date"][0]
            credentials = service_account.Credentials.from_service_account_info(self.account)
            with unittest.mock.patch.object(_signing, "get_v4_now_dtstamps", return_value=(time, time[:8])):
                theirs = _signing.generate_signed_url_v4(credentials, "/data-of-tests/" + urllib.parse.quote(key, safe="/~"),
                                                         datetime.timedelta(seconds=600), api_access_endpoint=self.store.url, method=method)
            signature = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(theirs).query))["X-Goog-Signature"]
            self.assertEqual(query["X-Goog-Signature"][0], signature)

    def test_without_a_service_accounts_key_no_url_is_signed(self):
        del self.env["GOOGLE_APPLICATION_CREDENTIALS"]
        self.tool("presign", "GET", self.address("x"), 60, fails="auth")
        self.assertIn("service account", self.said)

    def test_the_file_of_a_session_that_was_begun_is_private(self):
        """It holds a URL with which anybody could write the object."""
        path = self.file("big", self.big)
        self.killed_in_the_middle(self.command("put", path, self.address("big"), f"part={self.part}"), lambda p: len(p.log) >= 4)
        notes = list(pathlib.Path(self.folder).glob("big.radl-upload*"))
        self.assertEqual([oct(note.stat().st_mode & 0o777) for note in notes], ["0o600"])


if __name__ == "__main__":
    unittest.main()
