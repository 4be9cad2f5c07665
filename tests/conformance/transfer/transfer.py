"""Data sets read from HTTP, S3 and HDFS into a training, and the transfer library's operations against real servers."""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import boto3

from hdfs import Hdfs, Unavailable, bring_jars, free_ports
from web import Web

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
SUBSET = pathlib.Path(os.environ["RADL_SOURCE"]) / "examples/cifar10/subset"
ODD = "a b+c%41 ü&=#?.bin"  # a name that every encoding gets wrong once
ODD_S3 = "a b#c?.bin"  # moto takes boto3's own signatures of the other characters for wrong ones
STATUS = {"not-found": 2, "exists": 3, "conflict": 4, "auth": 5, "corrupt": 11}


class World:
    """A scratch folder, an environment for our programs, and how to call them."""

    def __init__(self, work):
        self.work = work
        self.env = dict(os.environ, XDG_CACHE_HOME=str(work / "cache"), no_proxy="127.0.0.1", HOME=str(work))

    def program(self, *arguments, code=0, **options):
        done = subprocess.run([str(a) for a in arguments], capture_output=True, env=self.env, timeout=200, **options)
        errors = done.stderr.decode(errors="replace")
        assert done.returncode == code, f"{' '.join(map(str, arguments))}: status {done.returncode}, not {code}: {errors}"
        self.errors = errors
        return done.stdout

    def tool(self, *arguments, fails=None):
        return self.program(BUILD / "tests/conformance_transfer", *arguments, code=10 + STATUS[fails] if fails else 0)

    def train(self, *arguments, code=0):
        return self.program(BUILD / "bin/radl-train", *arguments, code=code)

    def file(self, name, size):
        """Bytes that no two places of are alike."""
        path = self.work / name
        path.write_bytes(b"".join(hashlib.sha256(f"{name}{k}".encode()).digest() for k in range(size // 32 + 1))[:size])
        return path


def trains_from(world, uri):
    """The subset there is the subset here, and a training takes its images."""
    here, there = (json.loads(world.train("data", "info", place, "--json", "--verify")) for place in (SUBSET, uri))
    assert here == there, f"{here} is not {there}"
    job = world.work / "job.json"
    job.write_text(json.dumps({"job": 1, "model": "logistic", "epochs": 1, "batch_size": 100, "seed": 3, "threads": 1,
                               "dataset": {"name": "cifar10", "directory": uri}}))
    last = json.loads(world.train("train", job, "--json").splitlines()[-1])
    job.write_text(job.read_text().replace(uri, str(SUBSET)))
    local = json.loads(world.train("train", job, "--json").splitlines()[-1])
    assert (last["event"], last["test_loss"]) == ("finished", local["test_loss"]), "another training than from the files here"
    return f"20 steps, test loss {last['test_loss']:.4f}"


def store_operations(world, base):
    """Put, get, list, range, remove; `base` is a folder's URI. Gives the largest file's size."""
    small, empty = world.file("small", 1000), world.file("empty", 0)
    raw = base.startswith("s3")  # s3 URIs are taken as they are written
    odd = ODD_S3 if raw else ODD
    quoted = odd if raw else urllib.parse.quote(odd)
    for file, name in ((small, "x/small"), (empty, "x/empty")):
        world.tool("put", file, f"{base}/{name}")
        world.tool("get", f"{base}/{name}", world.work / "got")
        assert (world.work / "got").read_bytes() == file.read_bytes(), name
    world.tool("put", small, f"{base}/x/{quoted}")
    listed = world.tool("list", base).decode().splitlines()
    assert listed == sorted([f"x/{odd} 1000", "x/empty 0", "x/small 1000"]), listed
    world.tool("get", f"{base}/x/{quoted}", world.work / "got")
    assert (world.work / "got").read_bytes() == small.read_bytes(), odd
    assert world.tool("range", f"{base}/x/small", 100, 50) == small.read_bytes()[100:150]
    assert world.tool("range", f"{base}/x/small", 900, 0) == small.read_bytes()[900:]
    world.tool("get", f"{base}/x/none", world.work / "none", fails="not-found")
    assert not list(world.work.glob("none*")), "something was left of what is not there"
    for name in ("small", "empty", quoted):
        world.tool("remove", f"{base}/x/{name}")
    world.tool("stat", f"{base}/x/small", fails="not-found")


def resumes_after_kill(world, uri, size):
    """A download killed in its middle goes on where it was."""
    big = world.file("big", size)
    world.tool("put", big, uri)
    target = world.work / "fetched"
    part = world.work / "fetched.part"
    process = subprocess.Popen([str(BUILD / "tests/conformance_transfer"), "get", uri, str(target)], env=world.env)
    while process.poll() is None and (not part.exists() or part.stat().st_size < size // 10):
        time.sleep(0.001)
    process.kill()
    process.wait()
    kept = part.stat().st_size if part.exists() else 0
    world.tool("get", uri, target)
    assert target.read_bytes() == big.read_bytes(), "not the same bytes"
    assert not part.exists()
    return f"{size >> 20} MiB, killed at {kept >> 20}"


def check_http(world):
    folder = world.work / "served"
    shutil.copytree(SUBSET, folder)
    web = Web(folder)
    try:
        web.breaks = 3
        said = trains_from(world, web.url)
        resumed = [span for method, _, span in web.requests if span]
        assert web.breaks == 0 and len(resumed) == 3, f"{web.requests}"
        gets = sum(method == "GET" for method, _, _ in web.requests)
        world.train("data", "info", web.url, "--json")
        assert sum(method == "GET" for method, _, _ in web.requests) == gets, "fetched again without need"
        # Changed at the source, of the same size: noticed.
        data = bytearray((folder / "test_batch.bin").read_bytes())
        data[0] = (data[0] + 1) % 10
        (folder / "test_batch.bin").write_bytes(data)
        before = json.loads(world.train("data", "info", SUBSET, "--json"))["test"]["per_class"]
        after = json.loads(world.train("data", "info", web.url, "--json"))["test"]["per_class"]
        assert before != after, "an old copy was used"
        world.train("data", "info", web.url + "/nowhere", code=1)
        assert "none of the expected files" in world.errors, world.errors
    finally:
        web.stop()
    return f"{said}; 3 breaks, each gone on with"


@contextlib.contextmanager
def moto(world):
    """moto's server with a bucket, and a user who may do everything in it."""
    (port,) = free_ports(1)
    with open(world.work / "moto.log", "wb") as log:
        server = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(url + "/moto-api/", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        options = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="first", aws_secret_access_key="first")
        boto3.client("s3", **options).create_bucket(Bucket="data")
        iam = boto3.client("iam", **options)
        iam.create_user(UserName="trainer")
        statement = [{"Effect": "Allow", "Action": "s3:*", "Resource": ["arn:aws:s3:::data", "arn:aws:s3:::data/*"]}]
        iam.put_user_policy(UserName="trainer", PolicyName="data", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": statement}))
        key = iam.create_access_key(UserName="trainer")["AccessKey"]
        world.env.update(AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID=key["AccessKeyId"], AWS_SECRET_ACCESS_KEY=key["SecretAccessKey"],
                         AWS_REGION="us-east-1")
        yield boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=key["AccessKeyId"],
                           aws_secret_access_key=key["SecretAccessKey"])
    finally:
        server.terminate()
        server.wait(20)


def check_s3(world):
    with moto(world) as client:
        store_operations(world, "s3://data/ops")
        for name in ("data_batch_1.bin", "test_batch.bin"):
            client.upload_file(str(SUBSET / name), "data", f"cifar/{name}")
        said = trains_from(world, "s3://data/cifar")
        # Changed at the source, of the same size: noticed; gone at the source: gone here.
        changed = bytearray((SUBSET / "test_batch.bin").read_bytes())
        changed[0] = (changed[0] + 1) % 10
        client.put_object(Bucket="data", Key="cifar/test_batch.bin", Body=bytes(changed))
        before, after = (json.loads(world.train("data", "info", p, "--json"))["test"]["per_class"] for p in (SUBSET, "s3://data/cifar"))
        assert before != after, "an old copy was used"
        # More than one page of keys, and what others put there.
        for number in range(1100):
            client.put_object(Bucket="data", Key=f"many/{number:05}", Body=b"x")
        listed = world.tool("list", "s3://data/many").decode().splitlines()
        assert listed == [f"{n:05} 1" for n in range(1100)], f"{len(listed)} keys"
        # In parts, read back by both.
        big = world.file("parts", 12 << 20)
        tag = world.tool("put", big, "s3://data/parts", f"part={5 << 20}").decode().strip()
        assert tag.endswith("-3"), tag
        assert client.get_object(Bucket="data", Key="parts")["Body"].read() == big.read_bytes()
        resumed = resumes_after_kill(world, "s3://data/big", 8 << 20)
        world.train("data", "info", "s3://data/nothing", code=1)
        assert "none of the expected files" in world.errors, world.errors
        # Conditions.
        one = world.tool("put", world.file("one", 10), "s3://data/lock", "absent").decode().strip()
        world.tool("put", world.file("two", 10), "s3://data/lock", "absent", fails="exists")
        world.tool("put", world.file("two", 10), "s3://data/lock", f"match={one}")
        world.tool("put", world.file("three", 10), "s3://data/lock", f"match={one}", fails="conflict")
        # From here on signatures and policies are checked; before, moto would take those that boto3 itself makes for prefixes
        # with a slash for wrong ones.
        urllib.request.urlopen(urllib.request.Request(world.env["AWS_ENDPOINT_URL"] + "/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"}, method="POST")).close()
        assert world.tool("range", "s3://data/parts", 0, 10) == big.read_bytes()[:10]
        right = world.env["AWS_SECRET_ACCESS_KEY"]
        world.env["AWS_SECRET_ACCESS_KEY"] = "not-the-one"
        world.tool("range", "s3://data/parts", 0, 10, fails="auth")
        assert "SignatureDoesNotMatch" in world.errors, world.errors
        world.tool("get", "s3://data/parts", world.work / "got", fails="auth")
        assert "not-the-one" not in world.errors
        world.env["AWS_SECRET_ACCESS_KEY"] = right
        world.tool("put", world.work / "one", "s3://other/x", fails="auth")
    return f"{said}; 1100 keys, 3 parts, conditions, wrong keys; {resumed}"


def check_hdfs(world):
    hdfs = Hdfs(bring_jars(pathlib.Path("hadoop").resolve()), world.work / "hdfs")
    try:
        base = f"webhdfs://hdfs@127.0.0.1:{hdfs.port}"
        store_operations(world, f"{base}/ops")
        for name in ("data_batch_1.bin", "test_batch.bin"):
            world.tool("put", SUBSET / name, f"{base}/cifar/{name}")
        said = trains_from(world, f"{base}/cifar")
        time.sleep(0.01)  # HDFS tells versions apart by milliseconds
        changed = bytearray((SUBSET / "test_batch.bin").read_bytes())
        changed[0] = (changed[0] + 1) % 10
        (world.work / "changed").write_bytes(changed)
        world.tool("put", world.work / "changed", f"{base}/cifar/test_batch.bin")
        before, after = (json.loads(world.train("data", "info", p, "--json"))["test"]["per_class"] for p in (SUBSET, f"{base}/cifar"))
        assert before != after, "an old copy was used"
        world.tool("mkdir", f"{base}/made/deep")
        assert world.tool("stat", f"{base}/made/deep").split()[0] == b"folder"
        resumed = resumes_after_kill(world, f"{base}/big", 160 << 20)
        # Another user may not read what is the first one's.
        request = urllib.request.Request(f"http://127.0.0.1:{hdfs.port}/webhdfs/v1/cifar?op=SETPERMISSION&permission=700&user.name=hdfs", method="PUT")
        urllib.request.urlopen(request).close()
        world.tool("list", f"webhdfs://stranger@127.0.0.1:{hdfs.port}/cifar", fails="auth")
        assert "AccessControlException" in world.errors, world.errors
        world.train("data", "info", f"{base}/nothing", code=1)
        assert "FileNotFoundException" in world.errors, world.errors
    finally:
        hdfs.stop()
    return f"{said}; names, ranges, folders, permissions; {resumed}"


def main():
    work = pathlib.Path("work").resolve()
    shutil.rmtree(work, ignore_errors=True)
    failed = skipped = passed = 0
    for name, check in (("http", check_http), ("s3", check_s3), ("hdfs", check_hdfs)):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        (work / name).mkdir(parents=True)
        try:
            print(f"{name}: {check(World(work / name))}", flush=True)
            passed += 1
        except Unavailable as why:
            skipped += 1
            print(f"skipped: {name}: {why}", flush=True)
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            failed += 1
            print(f"{name}: FAILED: {problem}", flush=True)
    if not failed:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
