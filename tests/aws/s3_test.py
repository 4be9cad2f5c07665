"""Object stores against moto and MinIO, looked at by boto3: what radlc writes, others read, and the other way round."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import botocore.exceptions

import minio
from moto_site import Moto
from proxy import Proxy, Treatment

TOOL = pathlib.Path(os.environ["RADL_BUILD"]) / "tests/conformance_transfer"
STATUS = {"invalid": 1, "not-found": 2, "exists": 3, "conflict": 4, "auth": 5, "corrupt": 11}
MIB = 1 << 20


class Store:
    """One server's tests; each server is a subclass."""
    big = 40 * MIB

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-s3-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server, environment, self.s3 = self.start()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.env = {**kept, **environment, "HOME": str(self.folder), "no_proxy": "*"}
        self.s3.create_bucket(Bucket="data")
        self.addCleanup(self.empty)

    def empty(self):
        """The server is the next test's as well."""
        for bucket in [b["Name"] for b in self.s3.list_buckets()["Buckets"]]:
            for upload in self.s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
                self.s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
            for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
                for one in page.get("Contents", []):
                    self.s3.delete_object(Bucket=bucket, Key=one["Key"])
            self.s3.delete_bucket(Bucket=bucket)

    def command(self, *arguments):
        return [str(TOOL), *map(str, arguments)]

    def tool(self, *arguments, fails=None):
        done = subprocess.run(self.command(*arguments), capture_output=True, env=self.env, timeout=200, check=False)
        self.said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 10 + STATUS[fails] if fails else 0, f"{arguments}: {self.said}")
        return done.stdout

    def file(self, name, size):
        path = self.folder / name
        block = hashlib.sha256(name.encode()).digest() * 4096
        with open(path, "wb") as out:
            for k in range(size // len(block) + 1):  # no two blocks alike
                out.write((k.to_bytes(8, "big") + block)[:max(0, min(len(block), size - k * len(block)))])
        return path

    def body(self, key):
        return self.s3.get_object(Bucket="data", Key=key)["Body"].read()

    def test_what_is_put_is_what_others_get_with_a_checksum(self):
        for size in (0, 1, 100_000):
            path = self.file(f"f{size}", size)
            self.tool("put", path, f"s3://data/f{size}")
            self.assertEqual(self.body(f"f{size}"), path.read_bytes())
            head = self.s3.head_object(Bucket="data", Key=f"f{size}", ChecksumMode="ENABLED")
            if size:  # moto forgets that of an empty one
                self.assertIn("ChecksumCRC32C", head)
            self.tool("get", f"s3://data/f{size}", self.folder / "got")
            self.assertEqual((self.folder / "got").read_bytes(), path.read_bytes())

    def test_a_large_file_goes_in_parts_and_comes_in_ranges(self):
        path = self.file("large", 71 * MIB + 12345)
        tag = self.tool("put", path, "s3://data/large", f"part={6 * MIB}").decode().strip()
        self.assertTrue(tag.endswith("-12"), tag)
        self.assertEqual(self.body("large"), path.read_bytes())
        self.tool("get", "s3://data/large", self.folder / "got")
        self.assertEqual((self.folder / "got").read_bytes(), path.read_bytes())
        self.assertEqual(self.s3.list_multipart_uploads(Bucket="data").get("Uploads", []), [])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir() if p.name.startswith(("got", "large"))), ["got", "large"])

    def test_large_objects_of_others_with_and_without_checksums(self):
        path = self.file("theirs", 40 * MIB)
        self.s3.upload_file(str(path), "data", "theirs")
        for algorithm in ("SHA256", "CRC32"):
            self.s3.upload_file(str(path), "data", algorithm, ExtraArgs={"ChecksumAlgorithm": algorithm})
        for key in ("theirs", "SHA256", "CRC32"):
            self.tool("get", f"s3://data/{key}", self.folder / "got")
            self.assertEqual((self.folder / "got").read_bytes(), path.read_bytes())

    def killed_in_the_middle(self, command, reached):
        """Each of its requests takes longer than the one before: there is time to kill it. What comes after it takes no longer than ever."""
        proxy = Proxy(self.server.url, lambda request: Treatment(delay=0.05 * request.number))
        self.addCleanup(proxy.close)
        self.env = {name: value.replace(self.server.url, proxy.url) for name, value in self.env.items()}
        process = subprocess.Popen(command, env=self.env)
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end and not reached():
            time.sleep(0.002)
        process.kill()
        self.assertEqual(process.wait(), -9, "it was done before it could be killed")
        proxy.faults = None

    def parts_there(self):
        for upload in self.s3.list_multipart_uploads(Bucket="data").get("Uploads", []):
            parts = self.s3.list_parts(Bucket="data", Key=upload["Key"], UploadId=upload["UploadId"]).get("Parts", [])
            return upload["UploadId"], [p["PartNumber"] for p in parts]
        return "", []

    def test_an_upload_that_is_killed_goes_on(self):
        path = self.file("big", self.big)
        self.killed_in_the_middle(self.command("put", path, "s3://data/big", f"part={5 * MIB}"), lambda: len(self.parts_there()[1]) >= 3)
        upload, parts = self.parts_there()
        self.assertGreaterEqual(len(parts), 3)
        before = {p["PartNumber"]: p["LastModified"] for p in self.s3.list_parts(Bucket="data", Key="big", UploadId=upload)["Parts"]}
        self.tool("put", path, "s3://data/big", f"part={5 * MIB}")
        self.assertEqual(self.s3.list_multipart_uploads(Bucket="data").get("Uploads", []), [], "not the upload that was begun")
        self.assertTrue(before)
        digest = hashlib.sha256()
        for piece in self.s3.get_object(Bucket="data", Key="big")["Body"].iter_chunks(MIB):
            digest.update(piece)
        self.assertEqual(digest.hexdigest(), hashlib.sha256(path.read_bytes()).hexdigest())
        self.assertEqual(list(self.folder.glob("big.radl-upload*")), [])

    def test_an_upload_whose_file_has_changed_is_taken_back(self):
        path = self.file("big", self.big)
        self.killed_in_the_middle(self.command("put", path, "s3://data/big", f"part={5 * MIB}"), lambda: len(self.parts_there()[1]) >= 1)
        self.assertNotEqual(self.parts_there()[0], "")
        path.write_bytes(b"x" * 7 * MIB)
        self.tool("put", path, "s3://data/big", f"part={5 * MIB}")
        self.assertEqual(self.body("big"), path.read_bytes())
        self.assertEqual(self.s3.list_multipart_uploads(Bucket="data").get("Uploads", []), [])

    def test_a_download_that_is_killed_goes_on_with_its_ranges(self):
        path, got = self.file("big", self.big), self.folder / "got"
        self.s3.upload_file(str(path), "data", "big")
        part, note = self.folder / "got.part", self.folder / "got.part.json"
        self.killed_in_the_middle(self.command("get", "s3://data/big", got),
                                  lambda: note.exists() and part.exists() and part.stat().st_blocks > 0)
        self.assertFalse(got.exists())
        self.tool("get", "s3://data/big", got)
        self.assertEqual(hashlib.sha256(got.read_bytes()).hexdigest(), hashlib.sha256(path.read_bytes()).hexdigest())
        self.assertFalse(part.exists() or note.exists())

    def test_uploads_that_nobody_finished_are_taken_back_when_asked(self):
        for key in ("a/1", "a/2", "b/1"):
            self.s3.create_multipart_upload(Bucket="data", Key=key)
        self.assertEqual(self.tool("abort", "s3://data/a/1"), b"1\n")
        self.assertEqual(sorted(u["Key"] for u in self.s3.list_multipart_uploads(Bucket="data", Prefix="a/2").get("Uploads", [])), ["a/2"])

    def test_conditions(self):
        one, two = self.file("one", 10), self.file("two", 11)
        tag = self.tool("put", one, "s3://data/lock", "absent").decode().strip()
        self.tool("put", two, "s3://data/lock", "absent", fails="exists")
        self.tool("put", two, "s3://data/lock", f"match={tag}")
        self.tool("put", one, "s3://data/lock", f"match={tag}", fails="conflict")
        self.assertEqual(self.body("lock"), two.read_bytes())

    def test_presigned_urls_get_and_put_without_keys(self):
        path = self.file("signed", 1000)
        put = self.tool("presign", "PUT", "s3://data/a b/signed", 60).decode().strip()
        request = urllib.request.Request(put, path.read_bytes(), {"Content-Type": "application/octet-stream"}, method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
        get = self.tool("presign", "GET", "s3://data/a b/signed", 60).decode().strip()
        with urllib.request.urlopen(get, timeout=10) as answer:
            self.assertEqual(answer.read(), path.read_bytes())
        self.tool("presign", "GET", "s3://data/x", 8 * 24 * 3600, fails="invalid")

    def test_folders_of_many_small_files_both_ways(self):
        source = self.folder / "source"
        for number in range(300):
            file = source / f"c{number % 3}" / f"{number:04}.bin"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(hashlib.sha256(str(number).encode()).digest() * (number % 7))
        self.tool("put-folder", source, "s3://data/many")
        self.tool("get-folder", "s3://data/many", self.folder / "back")
        for file in source.rglob("*.bin"):
            self.assertEqual((self.folder / "back" / file.relative_to(source)).read_bytes(), file.read_bytes())
        # Again: nothing is fetched; a changed one is, and one that is gone goes.
        self.s3.put_object(Bucket="data", Key="many/c0/0000.bin", Body=b"new")
        self.s3.delete_object(Bucket="data", Key="many/c1/0001.bin")
        unchanged = (self.folder / "back/c2/0002.bin").stat().st_mtime_ns
        self.tool("get-folder", "s3://data/many", self.folder / "back")
        self.assertEqual((self.folder / "back/c0/0000.bin").read_bytes(), b"new")
        self.assertFalse((self.folder / "back/c1/0001.bin").exists())
        self.assertEqual((self.folder / "back/c2/0002.bin").stat().st_mtime_ns, unchanged)

    def test_copy_remove_and_remove_many(self):
        self.tool("put", self.file("x", 100), "s3://data/x")
        self.tool("copy", "s3://data/x", "s3://data/y")
        self.assertEqual(self.body("y"), self.body("x"))
        self.tool("remove", "s3://data/x")
        self.tool("remove", "s3://data/x")  # gone already
        names = [f"m/{n}" for n in range(20)] + ["m/<&>"]
        for name in names:
            self.s3.put_object(Bucket="data", Key=name, Body=b"1")
        self.tool("remove", *(f"s3://data/{name}" for name in names))
        self.assertEqual([o["Key"] for o in self.s3.list_objects_v2(Bucket="data")["Contents"]], ["y"])

    def test_what_is_not_there(self):
        self.tool("get", "s3://data/none", self.folder / "none", fails="not-found")
        self.assertIn("NoSuchKey", self.said)
        self.assertEqual(list(self.folder.glob("none*")), [])
        self.tool("list", "s3://no-such-bucket-here", fails="not-found")
        self.assertIn("NoSuchBucket", self.said)
        self.assertIn("The bucket does not exist", self.said)


class OfMoto(Store, unittest.TestCase):
    def start(self):
        server = Moto.shared()
        return server, server.environment(), server.client("s3")

    def test_wrong_keys_and_policies(self):
        self.tool("put", self.file("x", 10), "s3://data/x")
        self.server.check_signatures()
        self.tool("range", "s3://data/x", 0, 5)
        self.env["AWS_SECRET_ACCESS_KEY"] = "WRONG" * 8
        self.tool("get", "s3://data/x", self.folder / "x1", fails="auth")
        self.assertIn("SignatureDoesNotMatch", self.said)
        self.assertNotIn("WRONG", self.said)
        self.env.update(self.server.environment())
        self.server.allow({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*"}]})
        self.tool("put", self.file("x", 10), "s3://data/x", fails="auth")
        self.assertIn("AccessDenied", self.said)
        self.assertIn("policies", self.said)


class OfMinio(Store, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not minio.program()[0]:
            raise unittest.SkipTest(minio.program()[1])
        folder = tempfile.mkdtemp(prefix="radl-minio-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.minio = minio.Minio(pathlib.Path(folder))
        cls.addClassCleanup(cls.minio.stop)

    def start(self):
        return self.minio, self.minio.environment(), self.minio.client()

    def test_names_of_every_character(self):
        for name in ("a b+c%41 ü&=#?.bin", "quote'\"<>", "päth/ze&ro", "x=1;y"):
            self.s3.put_object(Bucket="data", Key=name, Body=name.encode())
            self.tool("get", f"s3://data/{name}", self.folder / "got")
            self.assertEqual((self.folder / "got").read_bytes(), name.encode())
        listed = self.tool("list", "s3://data").decode().splitlines()
        self.assertEqual(len(listed), 4, listed)

    def test_signatures_are_checked(self):
        self.tool("put", self.file("x", 10), "s3://data/x")
        self.env["AWS_SECRET_ACCESS_KEY"] = "WRONG" * 8
        self.tool("range", "s3://data/x", 0, 5, fails="auth")
        self.assertIn("SignatureDoesNotMatch", self.said)
        self.assertNotIn("WRONG", self.said)

    def test_presigned_urls_end_with_their_time_and_their_method(self):
        self.tool("put", self.file("x", 10), "s3://data/x")
        url = self.tool("presign", "GET", "s3://data/x", 600).decode().strip()
        urllib.request.urlopen(url, timeout=10).close()
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(urllib.request.Request(url, b"y", method="PUT"), timeout=10)
        url = self.tool("presign", "GET", "s3://data/x", 1).decode().strip()
        time.sleep(2)
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(url, timeout=10)

    def test_an_object_that_another_wrote_with_a_condition_is_seen(self):
        self.tool("put", self.file("one", 10), "s3://data/lock", "absent")
        with self.assertRaises(botocore.exceptions.ClientError):
            self.s3.put_object(Bucket="data", Key="lock", Body=b"2", IfNoneMatch="*")


if __name__ == "__main__":
    unittest.main()
