"""A second S3 server, with signatures checked from the start and keys of every character: MinIO, built once from the Go proxy.

`python minio.py` builds it (some minutes); tests take it where it is there and say so where it is not. RADL_TEST_MINIO=build builds it
in a test as well.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

import boto3
import botocore.config

from moto_site import free_port
from processes import end

VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c"  # github.com/minio/minio; the one place for it
KEYS = {"aws_access_key_id": "minio-user", "aws_secret_access_key": "minio-secret-of-tests"}


def cache():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "radl-tests"
    return pathlib.Path(os.environ.get("RADL_TEST_CACHE") or default)


def build():
    """(program, ""), or (None, why not)."""
    program = cache() / f"minio-{VERSION}"
    if program.exists():
        return program, ""
    if not shutil.which("go"):
        return None, "no Go compiler"
    folder = cache() / "minio-build"
    done = subprocess.run(["nice", "-n", "10", "go", "install", f"github.com/minio/minio@{VERSION}"], capture_output=True, text=True,
                          env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-p=1"}, check=False)
    if done.returncode:
        return None, f"MinIO cannot be built: {done.stderr.strip().splitlines()[-1]}"
    (folder / "minio").rename(program)
    return program, ""


def program():
    """(program, ""), or (None, why there is none)."""
    if os.environ.get("RADL_TEST_MINIO") == "build":
        return build()
    found = cache() / f"minio-{VERSION}"
    return (found, "") if found.exists() else (None, "MinIO is not built: tests/aws/minio.py builds it")


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
                return
            except (OSError, urllib.error.URLError):
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


if __name__ == "__main__":
    made, reason = build()
    print(made or reason)
    sys.exit(0 if made else 1)
