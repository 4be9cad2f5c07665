"""A second S3 server, with signatures checked from the start and keys of every character: MinIO (minio_program.py)."""
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

import boto3
import botocore.config
import botocore.exceptions

from minio_program import program
from moto_site import free_port
from processes import end

KEYS = {"aws_access_key_id": "minio-user", "aws_secret_access_key": "minio-secret-of-tests"}


class Minio:
    def __init__(self, folder):
        found, why = program()
        if not found:
            raise RuntimeError(why)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        environment = dict(os.environ, HOME=str(self.folder), MINIO_ROOT_USER=KEYS["aws_access_key_id"],
                           MINIO_ROOT_PASSWORD=KEYS["aws_secret_access_key"], MINIO_BROWSER="off", MINIO_UPDATE="off")
        with open(self.folder / "minio.log", "wb") as log:
            self.process = subprocess.Popen([found, "server", self.folder / "data", "--address", f"127.0.0.1:{port}"], stdout=log,
                                            stderr=log, env=environment)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url + "/minio/health/ready", timeout=2).close()
                self.client().list_buckets()  # it says that it is ready a moment before it is
                return
            except (OSError, urllib.error.URLError, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError):
                time.sleep(0.05)
            if self.process.poll() is not None:
                break
        self.stop()
        raise RuntimeError("MinIO does not answer: " + (self.folder / "minio.log").read_text()[-1000:])

    def client(self):
        config = botocore.config.Config(retries={"max_attempts": 1}, proxies={}, s3={"addressing_style": "path"})
        return boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", config=config, **KEYS)

    def environment(self):
        """The variables by which an AWS program finds it."""
        return {"AWS_ENDPOINT_URL_S3": self.url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": KEYS["aws_access_key_id"],
                "AWS_SECRET_ACCESS_KEY": KEYS["aws_secret_access_key"], "AWS_EC2_METADATA_DISABLED": "true"}

    def stop(self):
        end(self.process)
