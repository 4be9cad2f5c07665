"""moto's server: EC2, S3, IAM and STS on loopback, with what tests find in an account that somebody has used before."""
import atexit
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import boto3
import botocore.config

from processes import end

SERVER = str(pathlib.Path(__file__).with_name("moto_server.py"))
REGION = "us-east-1"
ACCOUNT = "123456789012"
DEBIAN, CANONICAL, AMAZON = "136693071363", "099720109477", "137112412989"
# (id, owner, name, architecture, root device, created): two of a kind, so that "the newest" means something.
IMAGES = [
    ("ami-0deb12000000000a1", DEBIAN, "debian-12-amd64-20250316-2053", "x86_64", "/dev/xvda", "2025-03-16"),
    ("ami-0deb12000000000a2", DEBIAN, "debian-12-amd64-20251006-2257", "x86_64", "/dev/xvda", "2025-10-06"),
    ("ami-0deb12000000000a3", DEBIAN, "debian-12-arm64-20251006-2257", "arm64", "/dev/xvda", "2025-10-06"),
    ("ami-0deb13000000000a1", DEBIAN, "debian-13-amd64-20251006-2257", "x86_64", "/dev/xvda", "2025-10-06"),
    ("ami-0ubuntu220000a1".replace("ubuntu", "0b0070"), CANONICAL,
     "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20251001", "x86_64", "/dev/sda1", "2025-10-01"),
    ("ami-00b0070240000a1", CANONICAL, "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20251001", "x86_64",
     "/dev/sda1", "2025-10-01"),
    ("ami-00b0070240000a2", CANONICAL, "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-arm64-server-20251001", "arm64",
     "/dev/sda1", "2025-10-01"),
    ("ami-0a120230000000a1", AMAZON, "al2023-ami-2023.9.20251020.0-kernel-6.1-x86_64", "x86_64", "/dev/xvda", "2025-10-20"),
    # The image of the paper's own file (us-east-1, Ubuntu 16.04).
    ("ami-0b1dcc9564b83676d", CANONICAL, "ubuntu/images/hvm-ssd/ubuntu-xenial-16.04-amd64-server-20181114", "x86_64",
     "/dev/sda1", "2018-11-14"),
]
EVERYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


def image_records():
    """IMAGES as moto reads them."""
    return [{"ami_id": ami, "owner_id": owner, "name": name, "description": name, "architecture": architecture,
             "root_device_name": root, "root_device_type": "ebs", "virtualization_type": "hvm", "hypervisor": "xen",
             "public": True, "state": "available", "image_type": "machine", "image_location": f"{owner}/{name}",
             "sriov": "simple", "platform": None, "owner_alias": None, "creation_date": created}
            for ami, owner, name, architecture, root, created in IMAGES]


def free_port(host="127.0.0.1"):
    with socket.socket() as one:
        one.bind((host, 0))
        return one.getsockname()[1]


class Moto:
    """The server while it runs. Keys: `admin` may do everything and is the tests' own; `user` is the one that radlc is run as."""
    _shared = None

    @classmethod
    def shared(cls):
        """The one server of this program's tests, with nothing in it: starting one takes longer than many a test."""
        if cls._shared is None or cls._shared.process.poll() is not None:
            folder = tempfile.mkdtemp(prefix="radl-moto-")
            cls._shared = cls(folder)
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            atexit.register(cls._shared.stop)
        else:
            cls._shared.reset()
        return cls._shared

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        images = self.folder / "images.json"
        images.write_text(json.dumps(image_records()))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        environment.update(MOTO_AMIS_PATH=str(images), MOTO_ENABLE_AMI_VALIDATION="true", MOTO_ENABLE_KEYPAIR_VALIDATION="true",
                           MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION="true", MOTO_IAM_LOAD_MANAGED_POLICIES="false",
                           HOME=str(self.folder), AWS_ACCESS_KEY_ID="moto", AWS_SECRET_ACCESS_KEY="moto")
        with open(self.folder / "moto.log", "wb") as log:
            self.process = subprocess.Popen([sys.executable, "-B", SERVER, "-H", "127.0.0.1", "-p", str(self.port)],
                                            stdout=log, stderr=log, env=environment)
        self.clients = {}  # making one reads the whole of a service's model
        self.role = None
        self.admin = self.user = {"aws_access_key_id": "first", "aws_secret_access_key": "first"}
        try:
            self._wait()
            self._make_users()
        except BaseException:
            self.stop()
            raise

    def reset(self):
        """As it began."""
        self.check_signatures(False)
        urllib.request.urlopen(urllib.request.Request(self.url + "/moto-api/reset", method="POST")).close()
        self.role, self.admin = None, {"aws_access_key_id": "first", "aws_secret_access_key": "first"}
        self._make_users()

    def _wait(self):
        deadline = time.monotonic() + 180  # a computer with much else to do takes its time
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url + "/moto-api/", timeout=2).close()
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("moto does not answer:\n" + (self.folder / "moto.log").read_text()[-2000:])

    def _seed(self, number):
        request = urllib.request.Request(f"{self.url}/moto-api/seed?a={number}", method="POST")
        urllib.request.urlopen(request).close()

    def _make_users(self):
        """With the same keys each time: making a client of boto3 takes longer than many a test. All other names differ."""
        self._seed(1)
        iam = self.client("iam")
        keys = {}
        for name in ("admin", "user"):
            iam.create_user(UserName=name)
            iam.put_user_policy(UserName=name, PolicyName="allowed", PolicyDocument=json.dumps(EVERYTHING))
            key = iam.create_access_key(UserName=name)["AccessKey"]
            keys[name] = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
        self.admin, self.user = keys["admin"], keys["user"]
        self._seed(random.randrange(1 << 31))

    def client(self, service, region=REGION, keys=None):
        """boto3's client of a service, past any proxy of a test."""
        keys = keys or self.admin
        known = (service, region, *keys.values())
        if known not in self.clients:
            config = botocore.config.Config(retries={"max_attempts": 1}, proxies={}, s3={"addressing_style": "path"})
            self.clients[known] = boto3.client(service, endpoint_url=self.url, region_name=region, config=config, **keys)
        return self.clients[known]

    def check_signatures(self, yes=True):
        """From now on wrong keys are refused and policies hold, or (as moto begins) everybody may do everything."""
        number = b"0" if yes else b"inf"
        request = urllib.request.Request(self.url + "/moto-api/reset-auth", number, {"Content-Type": "text/plain"}, method="POST")
        urllib.request.urlopen(request).close()

    def allow(self, document):
        """What `user` may do, and its sessions: an IAM policy."""
        iam, text = self.client("iam"), json.dumps(document)
        iam.put_user_policy(UserName="user", PolicyName="allowed", PolicyDocument=text)
        if self.role:
            iam.put_role_policy(RoleName=self.role, PolicyName="allowed", PolicyDocument=text)

    def allow_everything(self):
        self.allow(EVERYTHING)

    def deny_everything(self):
        self.allow({"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "*", "Resource": "*"}]})

    def session_keys(self):
        """Keys with a session token, that may do what `user` may."""
        trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}
        iam, sts = self.client("iam"), self.client("sts")
        role = iam.create_role(RoleName="session", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        self.role = "session"
        self.allow_everything()
        given = sts.assume_role(RoleArn=role, RoleSessionName="tests")["Credentials"]
        return {"aws_access_key_id": given["AccessKeyId"], "aws_secret_access_key": given["SecretAccessKey"],
                "aws_session_token": given["SessionToken"]}

    def environment(self, keys=None, url=None, region=REGION):
        """The variables by which an AWS program finds this server as `user`."""
        keys = keys or self.user
        return {"AWS_ENDPOINT_URL": url or self.url, "AWS_REGION": region, "AWS_DEFAULT_REGION": region,
                "AWS_ACCESS_KEY_ID": keys["aws_access_key_id"], "AWS_SECRET_ACCESS_KEY": keys["aws_secret_access_key"],
                "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": str(self.folder / "config"),
                "AWS_SHARED_CREDENTIALS_FILE": str(self.folder / "credentials")}

    def stop(self):
        end(self.process)
