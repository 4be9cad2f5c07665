"""Credentials as AWS users have them, against moto's STS and IAM; the Infrastructure Manager's auth files; radlc check-auth."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from moto_site import Moto

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
SOURCE = pathlib.Path(os.environ["RADL_SOURCE"])
RADLC, TOOL = BUILD / "bin/radlc", BUILD / "tests/conformance_transfer"
EVERYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


class Credentials(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-auth-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.moto = Moto.shared()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RADL_AUTH", "IM_AUTH"))}
        self.env = {**kept, "HOME": str(self.folder), "no_proxy": "*", "AWS_ENDPOINT_URL": self.moto.url, "AWS_REGION": "us-east-1",
                    "AWS_EC2_METADATA_DISABLED": "true"}
        (self.folder / ".aws").mkdir()
        self.secrets = [self.moto.user["aws_secret_access_key"], self.moto.admin["aws_secret_access_key"]]

    def call(self, program, *arguments, code=0, **more):
        done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, env={**self.env, **more}, timeout=120,
                              check=False)
        said = done.stdout + done.stderr
        for secret in self.secrets:
            self.assertNotIn(secret, said)
        self.assertEqual(done.returncode, code, said)
        self.said = said
        return done.stdout

    def check(self, *arguments, code=0, **more):
        return json.loads(self.call(RADLC, "check-auth", "--json", *arguments, code=code, **more))

    def keys(self, keys):
        return f"aws_access_key_id = {keys['aws_access_key_id']}\naws_secret_access_key = {keys['aws_secret_access_key']}\n"

    def auth_line(self, name, keys):
        return f"id = {name}; type = EC2; username = {keys['aws_access_key_id']}; password = '{keys['aws_secret_access_key']}'\n"

    def make_role(self, name, trusts):
        iam = self.moto.client("iam")
        trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": trusts, "Action": "sts:*"}]}
        arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=json.dumps(EVERYTHING))
        return arn

    def test_a_profile_of_the_credentials_file(self):
        (self.folder / ".aws/credentials").write_text("[work]\n" + self.keys(self.moto.user))
        self.moto.check_signatures()
        (found,) = self.check(AWS_PROFILE="work")
        self.assertEqual((found["account"], found["arn"].split(":")[-1]), ("123456789012", "user/user"))
        self.assertIn('profile "work"', found["from"])
        self.call(RADLC, "check-auth", code=1, AWS_PROFILE="none")
        self.assertIn("[profile none]", self.said)

    def test_a_role_is_assumed_and_what_it_asks_is_signed_with_its_session(self):
        arn = self.make_role("deployer", {"AWS": "*"})
        (self.folder / ".aws/config").write_text(
            f"[profile deploy]\nrole_arn = {arn}\nsource_profile = base\nrole_session_name = me\nregion = us-east-1\n")
        (self.folder / ".aws/credentials").write_text("[base]\n" + self.keys(self.moto.user))
        self.moto.check_signatures()
        (found,) = self.check(AWS_PROFILE="deploy")
        self.assertIn("assumed-role/deployer/me", found["arn"])
        self.assertIn("expires", found)
        self.moto.client("s3").create_bucket(Bucket="data")
        self.call(TOOL, "put", SOURCE / "README.md", "s3://data/x", AWS_PROFILE="deploy")
        self.assertEqual(self.moto.client("s3").get_object(Bucket="data", Key="x")["Body"].read(), (SOURCE / "README.md").read_bytes())

    def test_web_identity_as_kubernetes_gives_it(self):
        arn = self.make_role("pod", {"Federated": "*"})
        token = self.folder / "token"
        token.write_text("eyJhbGciOiJub25lIn0.eyJzdWIiOiJwb2QifQ.x\n")
        (found,) = self.check(AWS_WEB_IDENTITY_TOKEN_FILE=str(token), AWS_ROLE_ARN=arn, AWS_ROLE_SESSION_NAME="pod-1")
        self.assertIn("web identity", found["from"])
        self.assertEqual(found["account"], "123456789012")

    def test_several_accounts_of_an_auth_file_side_by_side(self):
        self.moto.check_signatures()
        auth = self.folder / "auth.dat"
        auth.write_text("# of the Infrastructure Manager\ntype = InfrastructureManager; username = u; password = p\n"
                        + self.auth_line("one", self.moto.user) + self.auth_line("two", self.moto.admin))
        auth.chmod(0o600)
        found = self.check("--auth", auth)
        self.assertEqual([(f["name"], f["arn"].split("/")[-1]) for f in found], [("one", "user"), ("two", "admin")])
        self.assertEqual(found[0]["quotas"]["elastic addresses"], {"limit": 5})
        auth.write_text(self.auth_line("two", self.moto.user))
        text = self.call(RADLC, "check-auth", RADL_AUTH=str(auth))
        self.assertIn("two", text)
        self.assertIn("user/user", text)
        self.assertIn("us-east-1", text)

    def test_the_paper_s_auth_file_form_without_an_id(self):
        auth = self.folder / "auth.dat"
        auth.write_text("type = EC2; username = " + self.moto.user["aws_access_key_id"] + "; password = "
                        + f"file({self.folder}/secret)\n")
        (self.folder / "secret").write_text(self.moto.user["aws_secret_access_key"] + "\n")
        self.moto.check_signatures()
        (found,) = self.check("--auth", auth)
        self.assertEqual(found["name"], "EC20")
        self.assertIn("others on this computer can read it", self.said)

    def test_wrong_keys_end_with_2_and_show_nothing_of_them(self):
        self.moto.check_signatures()
        auth = self.folder / "auth.dat"
        wrong = dict(self.moto.user, aws_secret_access_key="WRONGSECRET" * 3)
        self.secrets.append(wrong["aws_secret_access_key"])
        auth.write_text(self.auth_line("bad", wrong) + self.auth_line("good", self.moto.user))
        bad, good = self.check("--auth", auth, code=2)
        self.assertIn("error", bad)
        self.assertIn("arn", good)

    def test_mistakes_in_the_file_name_its_line(self):
        auth = self.folder / "auth.dat"
        auth.write_text("id = 1x; type = EC2; username = u; password = TOPSECRET\n")
        self.secrets.append("TOPSECRET")
        self.call(RADLC, "check-auth", "--auth", auth, code=1)
        self.assertIn("auth.dat:1: the id", self.said)
        auth.write_text("type = OpenStack; username = u\n")
        self.call(RADLC, "check-auth", "--auth", auth, code=2)
        self.assertIn("auth.dat:1: OpenStack0: has no host", self.said)
        auth.write_text("type = Azure; username = u\n")
        self.call(RADLC, "check-auth", "--auth", auth, code=2)
        self.assertIn("auth.dat:1: Azure0: has no subscription_id", self.said)
        auth.write_text("type = OpenNebula; username = u\n")
        self.call(RADLC, "check-auth", "--auth", auth, code=1)
        self.assertIn("no credential of the types ", self.said)
        self.call(RADLC, "check-auth", code=1)
        self.assertIn("AWS_PROFILE", self.said)

    def test_missing_permissions_are_named_and_nothing_is_made(self):
        self.moto.check_signatures()
        auth = self.folder / "auth.dat"
        auth.write_text(self.auth_line("one", self.moto.user))
        (found,) = self.check("--auth", auth)
        self.assertEqual(found["missing"], [])
        self.assertIn("ec2:RunInstances", found["allowed"])
        self.moto.allow({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": ["ec2:Describe*", "sts:*"], "Resource": "*"},
            {"Effect": "Deny", "Action": ["ec2:DescribeVpcs"], "Resource": "*"}]})
        (found,) = self.check("--auth", auth, code=2)
        self.assertIn("ec2:RunInstances", found["missing"])
        self.assertIn("ec2:DescribeVpcs", found["missing"])
        self.assertIn("ec2:DescribeInstances", found["allowed"])
        ec2 = self.moto.client("ec2")
        self.assertEqual(ec2.describe_instances()["Reservations"], [])
        self.assertEqual(ec2.describe_key_pairs()["KeyPairs"], [])
        self.assertEqual(ec2.describe_addresses()["Addresses"], [])
        self.assertNotIn("radlc-check-auth", [g["GroupName"] for g in ec2.describe_security_groups()["SecurityGroups"]])

    def test_asks_for_every_permission_of_the_documented_policy(self):
        policy = SOURCE / "docs/providers/aws-policy.json"
        wanted = set()
        for statement in json.loads(policy.read_text())["Statement"]:
            actions = statement["Action"]
            wanted |= {a for a in ([actions] if isinstance(actions, str) else actions) if a.startswith("ec2:")}
        (found,) = self.check(AWS_ACCESS_KEY_ID=self.moto.user["aws_access_key_id"],
                              AWS_SECRET_ACCESS_KEY=self.moto.user["aws_secret_access_key"])
        asked = set(found["allowed"]) | set(found["missing"]) | set(found["unknown"])
        self.assertEqual(wanted - asked, set())


if __name__ == "__main__":
    unittest.main()
