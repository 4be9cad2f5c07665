"""docs/providers/aws.md is followed: every command in it is run, its auth file logs in, its policy is enough, its messages are radlc's own."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from aws_case import SYSTEM, AwsCase
from policy import PATH, for_moto
from radl_case import SOURCE

TEXT = (SOURCE / "docs/providers/aws.md").read_text()
AWS = pathlib.Path(sys.executable).with_name("aws")
FILE = f"""radl 2
input nodes ( type = 'integer', default = 1 )
system node ( instance_type = 't3.micro', {SYSTEM} )
deploy node input.nodes ec2
contextualize ()
"""
# Of the command line's second version, which PyPI does not have.
ELSEWHERE = {"aws sso login", "aws sso login --profile x"}
# Texts of EC2's own: tests/aws/told_test.py has them.
OF_EC2 = {"The architecture ... does not match"}
# What the messages name of this case or that one.
OPEN = re.compile(r"\.\.\.|\d+(?: s)?|profile \"x\"|HOST:PORT|behind| \(")


class Docs(AwsCase):
    boots, quick = False, True

    def setUp(self):
        super().setUp()
        self.let_moto_read_its_prices()
        self.file = self.write("site.radl", FILE)
        self.home = self.folder / "home"
        self.home.mkdir()

    def without_credentials(self):
        for name in [name for name in self.environment if name.startswith("AWS_") and "ENDPOINT" not in name]:
            self.environment.pop(name)
        self.environment.update(HOME=str(self.home), AWS_EC2_METADATA_DISABLED="true")

    def aws(self, *words, answers=""):
        done = subprocess.run([sys.executable, AWS, *words], input=answers, capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**self.environment, "AWS_PAGER": "", "PATH": os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    # ---- commands

    def test_every_command_is_run(self):
        ran = {"radlc ssh"}  # which asks for a machine that boots: tests/aws/jump_test.py
        for name in dir(self):
            if name.startswith("follow_"):
                for command in getattr(self, name)():
                    ran.add(command)
        commands = set(re.findall(r"`((?:radlc|aws) [a-z][^`\n]*)`", TEXT)) - ELSEWHERE
        self.assertEqual(commands - ran, set(), "nobody follows these")
        self.assertEqual(ran - commands, set(), "these are not in the text")
        self.assert_account_is_as_before()

    def follow_a_plan(self):
        kept = dict(self.environment)
        self.without_credentials()
        self.edit(self.file, ("deploy node input.nodes ec2", "deploy node input.nodes"))
        self.radlc("plan", "--cloud", "ec2", self.file)
        self.edit(self.file, ("deploy node input.nodes", "deploy node input.nodes ec2"))
        self.radlc("plan", self.file)
        self.assertEqual(self.proxy.log, [], "it asked somebody")
        self.environment = kept
        return "radlc plan --cloud ec2 FILE", "radlc plan"

    def follow_b_check_auth(self):
        auth = self.auth_file()
        (found,) = json.loads(self.radlc("check-auth", "--region", "eu-west-1", "--json"))
        self.assertEqual(found["missing"], [])
        self.assertIn("us-east-1", self.radlc("check-auth", "--auth", auth))
        return "radlc check-auth", "radlc check-auth [--auth FILE] [--region REGION] [--json]"

    def follow_c_apply_and_destroy(self):
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("plan", "--refresh", self.file)
        (machine,) = self.ours()
        self.radlc("state", "rm", self.file, "node[0]")
        self.radlc("import", self.file, "node[0]", machine["InstanceId"])
        self.radlc("destroy", "--auto-approve", self.file)
        return "radlc apply", "radlc plan --refresh", "radlc import FILE ADDRESS ID", "radlc destroy"

    def follow_d_configure(self):
        kept, keys = dict(self.environment), self.moto.user
        self.without_credentials()
        self.aws("configure", answers="\n".join([keys["aws_access_key_id"], keys["aws_secret_access_key"], "us-east-1", "json", ""]))
        (found,) = json.loads(self.radlc("check-auth", "--json"))
        self.assertIn('profile "default"', found["from"])
        self.radlc("plan", "--refresh", self.file)
        self.environment = kept
        return ("aws configure",)

    def follow_e_a_vpc_where_none_is(self):
        ec2 = self.moto.client("ec2", "eu-north-1")
        for vpc in ec2.describe_vpcs()["Vpcs"]:
            for subnet in ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc["VpcId"]]}])["Subnets"]:
                ec2.delete_subnet(SubnetId=subnet["SubnetId"])
            ec2.delete_vpc(VpcId=vpc["VpcId"])
        self.edit(self.file, ("us-east-1/ami-0deb12000000000a2", "eu-north-1/ami-0deb12000000000a2"))
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertIn("`aws ec2 create-default-vpc`", self.err)
        self.aws("ec2", "create-default-vpc", "--region", "eu-north-1", "--endpoint-url", self.moto.url)
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.edit(self.file, ("eu-north-1/ami-0deb12000000000a2", "us-east-1/ami-0deb12000000000a2"))
        return ("aws ec2 create-default-vpc",)

    def follow_f_a_region(self):
        asked = self.aws("account", "enable-region", "--region-name", "ap-east-1", "--generate-cli-skeleton", "output")
        self.assertNotIn("rror", asked)
        return ("aws account enable-region --region-name REGION",)

    # ---- the rest

    def auth_file(self):
        """The text's own, with our keys in it."""
        lines = re.search(r"\n    # my two accounts\n(?:    .*\n)+", TEXT).group()
        user, admin = self.moto.user, self.moto.admin
        (self.folder / "bin").mkdir(exist_ok=True)
        (self.folder / "secret").write_text(admin["aws_secret_access_key"] + "\n")
        work, home = re.findall(r"id = .*", lines)
        work = work.replace("ACCESS_KEY", user["aws_access_key_id"]).replace("SECRET_KEY", user["aws_secret_access_key"])
        home = home.replace("ACCESS_KEY", admin["aws_access_key_id"]).replace("/home/me/.keys/aws", str(self.folder / "secret"))
        program = self.write("bin/pass", "#!/bin/sh\n[ \"$1 $2\" = 'show aws/token' ] && printf ''\n")
        program.chmod(0o755)
        self.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        auth = self.write("auth.dat", f"{work}\n{home}\n")
        auth.chmod(0o600)
        return auth

    def test_the_auth_file_names_two_accounts_for_one_document(self):
        auth = self.auth_file()
        self.without_credentials()
        self.moto.check_signatures()
        self.edit(self.file, ("deploy node input.nodes ec2", "deploy node 1 work\ndeploy node 1 home"))
        before = len(self.proxy.log)
        self.radlc("apply", "--auto-approve", "--auth", auth, self.file)
        signed = {r.headers["authorization"].partition("Credential=")[2].partition("/")[0] for r in self.proxy.log[before:] if r.action == "RunInstances"}
        self.assertEqual(signed, {self.moto.user["aws_access_key_id"], self.moto.admin["aws_access_key_id"]})
        self.radlc("destroy", "--auto-approve", "--auth", auth, self.file)
        self.assert_account_is_as_before()

    def test_without_a_bucket_its_statement_may_be_left_out(self):
        policy = json.loads(PATH.read_text())
        last = policy["Statement"].pop()
        self.assertTrue(all("BUCKET" in resource for resource in last["Resource"]), last)
        self.moto.allow(for_moto(policy))
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("destroy", "--auto-approve", self.file)
        self.moto.allow_everything()
        self.assert_account_is_as_before()

    def test_messages_are_those_that_are_written(self):
        sources = "".join(path.read_text(errors="replace") for folder in ("common", "runtime") for path in (SOURCE / folder).rglob("*.cc"))
        written = re.sub(r'"\s*\n\s*"', "", sources)
        rows = re.findall(r"^\| (`.*?) \| ", TEXT[TEXT.index("### When it goes wrong"):TEXT.index("## S3")], re.MULTILINE)
        self.assertGreater(len(rows), 20)
        for row in rows:
            for message in set(re.findall(r"`([^`]+)`", row)) - OF_EC2:
                for part in map(str.strip, OPEN.split(message)):
                    plain = part.strip(' ":()').removesuffix(" to")
                    if re.fullmatch(r"[A-Z]\w+(\.[A-Z]\w+)?", plain) or not plain:
                        continue  # a code of AWS's: tests/aws/told_test.py
                    self.assertTrue(plain in written, f"{message!r}: {plain!r} is said nowhere")


if __name__ == "__main__":
    unittest.main()
