"""radlc takes keys from where AWS users have them; which ones it signs with is seen in what it sends."""
import datetime
import json
import sys
import unittest

from aws_case import SYSTEM, AwsCase

FILE = f"""radl 2
system node ( instance_type = 't3.micro', {SYSTEM} )
deploy node 1 ec2
"""
KEY_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


class Credentials(AwsCase):
    boots = False

    def setUp(self):
        super().setUp()
        self.write("site.radl", FILE)
        for name in KEY_VARIABLES:
            self.environment.pop(name, None)
        for name in ("credentials", "config"):  # of the test before: all share one moto and its folder
            (self.moto.folder / name).unlink(missing_ok=True)

    def aws_file(self, name, text):
        (self.moto.folder / name).write_text(text)

    def profile(self, keys):
        token = f"aws_session_token = {keys['aws_session_token']}\n" if "aws_session_token" in keys else ""
        return f"aws_access_key_id = {keys['aws_access_key_id']}\naws_secret_access_key = {keys['aws_secret_access_key']}\n{token}"

    def signs_with(self, begin):
        """A refreshed plan works, and its last request is signed by a key that begins so."""
        self.radlc("plan", "--refresh", "site.radl")
        used = {request.headers["authorization"].partition("Credential=")[2].partition("/")[0] for request in self.proxy.log
                if request.service == "ec2"}
        self.assertEqual(len(used), 1, used)
        self.assertTrue(used.pop().startswith(begin), used)

    def test_environment(self):
        keys = self.moto.session_keys()
        self.environment.update(zip(KEY_VARIABLES, (keys["aws_access_key_id"], keys["aws_secret_access_key"], keys["aws_session_token"])))
        self.signs_with(keys["aws_access_key_id"])

    def test_default_profile_of_the_credentials_file(self):
        self.aws_file("credentials", "[default]\n" + self.profile(self.moto.user))
        self.signs_with(self.moto.user["aws_access_key_id"])

    def test_named_profile(self):
        self.aws_file("credentials", "[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n[work]\n" + self.profile(self.moto.user))
        self.environment["AWS_PROFILE"] = "work"
        self.signs_with(self.moto.user["aws_access_key_id"])

    def test_role_of_a_profile(self):
        self.moto.session_keys()  # makes the role
        self.aws_file("credentials", "[source]\n" + self.profile(self.moto.user))
        self.aws_file("config", "[profile role]\nrole_arn = arn:aws:iam::123456789012:role/session\nsource_profile = source\n")
        self.environment["AWS_PROFILE"] = "role"
        self.signs_with("ASIA")

    def test_program_that_prints_keys(self):
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        printed = {"Version": 1, "AccessKeyId": self.moto.user["aws_access_key_id"],
                   "SecretAccessKey": self.moto.user["aws_secret_access_key"], "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
        program = self.write("keys.py", f"print({json.dumps(json.dumps(printed))})")
        self.aws_file("config", f"[default]\ncredential_process = {sys.executable} {program}\n")
        self.signs_with(self.moto.user["aws_access_key_id"])

    def test_role_of_the_machine_it_runs_on(self):
        keys = self.moto.session_keys()
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        self.metadata.credentials = {
            "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": keys["aws_access_key_id"], "SecretAccessKey": keys["aws_secret_access_key"],
            "Token": keys["aws_session_token"], "LastUpdated": "2026-01-01T00:00:00Z", "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")}
        self.environment.pop("AWS_EC2_METADATA_DISABLED")
        self.signs_with(keys["aws_access_key_id"])

    def test_none_at_all_says_where_they_may_be(self):
        self.radlc("plan", "--refresh", "site.radl", code=2)
        self.assertIn("no AWS credentials", self.err)
        self.assertEqual(self.proxy.log, [])


if __name__ == "__main__":
    unittest.main()
