"""Inference over the images of a bucket: what a task gets is signed URLs of its own range, for a limited time, and no key."""
import json
import pathlib
import re
import threading
import unittest
import urllib.error
import urllib.request

from aws_case import AwsCase
from engine_case import test_image
from farm_case import write_model

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/inference' as score (
  nodes = system.worker, model = './model', images = 's3://photos/2026', batch_size = 4, batches = BATCHES
)
output predictions ( value = score.predictions )
"""


class Lists(threading.Thread):
    """The lists that tasks read, taken from their standard input."""

    def __init__(self):
        super().__init__(daemon=True)
        self.texts, self.over = {}, threading.Event()

    def run(self):
        while not self.over.wait(0.005):
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    if b"--list" in (process / "cmdline").read_bytes() and process.name not in self.texts:
                        with open(process / "fd" / "0", encoding="utf-8") as file:
                            self.texts[process.name] = file.read()
                except (OSError, ValueError):
                    pass

    def end(self):
        self.over.set()
        self.join()
        return {text for text in self.texts.values() if text.startswith("{")}


class Images(AwsCase):
    """On MinIO, which checks signatures and their times."""
    boots = False

    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        try:
            from minio import Minio
            self.minio = Minio(self.ground / "minio")
        except Exception as why:
            self.skipTest(f"no MinIO: {why}")
        self.addCleanup(self.minio.stop)
        self.s3 = self.minio.client()
        self.environment.update(self.minio.environment())
        write_model(self.folder)

    def with_images(self, s3, batches=3):
        s3.create_bucket(Bucket="photos")
        for n in range(10):
            s3.put_object(Bucket="photos", Key=f"2026/{n % 3}/{n}.png", Body=test_image(n)[1])
        for key in ("2026/notes.txt", "2025/0.png", "2026-other/0.png"):
            s3.put_object(Bucket="photos", Key=key, Body=test_image(0)[1])
        self.file = self.write("score.radl", FILE.replace("BATCHES", str(batches)))
        return sorted(f"s3://photos/2026/{n % 3}/{n}.png" for n in range(10))

    def predictions(self):
        return [json.loads(line)["file"] for line in (self.folder / "score-results" / "predictions.jsonl").read_text().splitlines()]

    def test_each_object_once_and_what_is_new_alone(self):
        s3 = self.s3
        names = self.with_images(s3, batches=4)
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.predictions(), names)
        s3.put_object(Bucket="photos", Key="2026/9/new.png", Body=test_image(3)[1])
        self.edit(self.file, ("batches = 4", "batches = 4, tries = 2"))
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.predictions(), [*names, "s3://photos/2026/9/new.png"])
        table = {task["task"]: task["attempt"] for task in json.loads(self.radlc("farm", "table", "--json", self.file))}
        self.assertEqual(table, {"inferred-0-4": 1, "inferred-4-8": 1, "inferred-8-12": 2, "inferred-12-16": 1})
        self.edit(self.file, ("batches = 4", "batches = 2"))
        out = self.radlc("apply", "--auto-approve", self.file)
        self.assertIn("3 of its images get no prediction", out + self.err)
        self.radlc("destroy", "--auto-approve", self.file)

    def test_a_bucket_without_images_is_an_error(self):
        self.s3.create_bucket(Bucket="photos")
        self.file = self.write("score.radl", FILE.replace("BATCHES", "1"))
        self.radlc("apply", "--auto-approve", self.file, code=None)
        self.assertIn("s3://photos/2026", self.err)
        self.radlc("destroy", "--auto-approve", self.file)

    def status(self, url, method="GET"):
        request = urllib.request.Request(url, data=b"x" if method == "PUT" else None, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def test_a_task_can_read_its_own_images_and_nothing_else(self):
        names = self.with_images(self.s3)
        lists = Lists()
        lists.start()
        self.radlc("apply", "--auto-approve", self.file)
        texts = lists.end()
        self.assertEqual(self.predictions(), names)
        self.assertEqual(len(texts), 3, "a list of each range")
        for text in texts:
            images = [json.loads(line) for line in text.splitlines()]
            self.assertLessEqual(len(images), 4)
            for image in images:
                url = image["url"]
                self.assertEqual(self.status(url), 200)
                self.assertLessEqual(int(re.search(r"X-Amz-Expires=(\d+)", url)[1]), 3660)
                for wrong in (url.replace("/2026/", "/2025/"), re.sub(r"/\d/\d+\.png", "/notes.txt", url), re.sub(r"Expires=\d+", "Expires=604800", url),
                              re.sub(r"(photos)/[^?]*", r"\1/", url), re.sub(r"Amz-Date=\d{4}", "Amz-Date=2020", url)):
                    self.assertNotEqual(wrong, url)
                    self.assertEqual(self.status(wrong), 403, wrong)
                for method in ("PUT", "DELETE"):
                    self.assertEqual(self.status(url, method), 403)
        signatures = [one.encode() for text in texts for one in re.findall(r"X-Amz-Signature=([0-9a-f]+)", text)]
        self.assertEqual(len(signatures), 10)
        secret = self.minio.environment()["AWS_SECRET_ACCESS_KEY"].encode()
        for path in self.folder.rglob("*"):  # what the nodes have, too
            if path.is_file():
                content = path.read_bytes()
                self.assertNotIn(secret, content, path)
                for signature in signatures:
                    self.assertNotIn(signature, content, path)
        self.radlc("destroy", "--auto-approve", self.file)


if __name__ == "__main__":
    unittest.main()
