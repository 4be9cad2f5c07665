"""Inference over images by address: lists of URLs, a model in an ONNX file, and a radlc that is killed while ranges run."""
import collections
import contextlib
import http.server
import json
import os
import signal
import subprocess
import threading
import unittest

from engine_case import RADL_TRAIN, test_image
from farm_case import FarmCase, write_model

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/inference' as score (
  nodes = system.worker, model = './MODEL', images = file('urls.txt'), batch_size = 4, batches = 3
)
output predictions ( value = score.predictions )
"""


class Server(http.server.ThreadingHTTPServer):
    """Ten images at /N.png; it counts what it answers, and holds its answers back while `gate` is closed."""
    daemon_threads = True

    def __init__(self):
        self.images = {f"/{n}.png": test_image(n)[1] for n in range(10)}
        self.asked, self.gate = collections.Counter(), threading.Event()
        self.gate.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.partition("?")[0]
                outer.asked[path] += 1
                outer.gate.wait(60)
                body = outer.images.get(path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                with contextlib.suppress(OSError):  # the task was killed meanwhile
                    self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Images(FarmCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        write_model(self.folder)
        (self.folder / "photos").mkdir()
        for n in range(10):
            (self.folder / "photos" / f"{n}.png").write_bytes(test_image(n)[1])
        self.urls = [f"{self.server.url}/{n}.png" for n in range(10)]

    def with_urls(self, urls, model="model"):
        self.write("urls.txt", "# images\n" + "".join(url + "\n" for url in urls))
        self.file = self.write("score.radl", FILE.replace("MODEL", model))

    def lines(self, name="predictions.jsonl"):
        return [json.loads(line) for line in (self.folder / "score-results" / name).read_text().splitlines()]

    def classes_of_files(self):
        done = subprocess.run([RADL_TRAIN, "predict", "model", "photos", "--format", "json"], cwd=self.folder, check=True, capture_output=True, text=True)
        return [json.loads(line)["class"] for line in done.stdout.splitlines()]

    def test_a_list_of_urls_is_predicted_once_and_only_changed_ranges_again(self):
        self.with_urls(self.urls[:8] + [self.urls[8] + "?sig=secret"])
        self.apply()
        lines = self.lines()
        self.assertEqual([line["file"] for line in lines], self.urls[:8] + [self.urls[8] + "#10"])
        self.assertEqual([line["class"] for line in lines], self.classes_of_files()[:9])
        self.assertEqual(self.server.asked, {f"/{n}.png": 1 for n in range(9)})
        manifest = json.loads((self.folder / "score-results" / "manifest.json").read_text())
        self.assertEqual([(one["task"], one["attempt"], one["images"]) for one in manifest["outputs"]],
                         [(f"inferred-{n}-{n + 4}", 1, [n, n + 4]) for n in (0, 4, 8)])
        self.assertEqual(manifest["images"], 9)
        self.with_urls(self.urls)
        self.apply()
        self.assertEqual([line["file"] for line in self.lines()], self.urls)
        self.assertEqual({task: record["attempt"] for task, record in self.table().items()},
                         {"inferred-0-4": 1, "inferred-4-8": 1, "inferred-8-12": 2})
        self.assertEqual(self.found("home/.radl/jobs/*/farm/images/*"), [], "the lists of attempts stay on their nodes")
        self.destroy()

    def test_a_killed_radlc_predicts_no_image_twice(self):
        self.with_urls(self.urls)
        self.server.gate.clear()
        process = self.begin()
        self.wait_until(lambda: len(self.server.asked) >= 4)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        process = self.begin()
        self.server.gate.set()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual([line["file"] for line in self.lines()], self.urls)
        self.assertEqual([line["class"] for line in self.lines()], self.classes_of_files())
        commits = [json.loads(line) for line in self.journal().splitlines() if '"commit"' in line]
        self.assertEqual(collections.Counter(one["task"] for one in commits), {f"inferred-{n}-{n + 4}": 1 for n in (0, 4, 8)})
        self.destroy()

    def test_an_onnx_file_predicts_as_its_model(self):
        subprocess.run([RADL_TRAIN, "export", "model", "-o", "model.onnx"], cwd=self.folder, check=True, capture_output=True)
        self.with_urls(self.urls, "model.onnx")
        self.apply()
        self.assertEqual([line["class"] for line in self.lines()], self.classes_of_files())
        self.destroy()

    def test_refused_in_the_plan(self):
        self.with_urls([self.urls[0], "ftp://127.0.0.1/a.png"])
        self.assertIn("line 3", self.radlc("plan", self.file) + self.err)
        self.with_urls([self.urls[0], "http://user:secret@127.0.0.1/a.png"])
        out = self.radlc("plan", self.file) + self.err
        self.assertIn("a user or password", out)
        self.assertNotIn("secret", out)
        (self.folder / "model.onnx").write_bytes(b"\x08\x08not a model")
        self.with_urls(self.urls, "model.onnx")
        self.radlc("plan", self.file, code=None)
        self.assertIn("is not an ONNX file", self.err)

    def test_an_image_that_cannot_be_fetched_fails_its_range_alone(self):
        self.with_urls(self.urls[:4] + [self.server.url + "/none.png"] + self.urls[5:])
        self.apply(code=None)
        self.assertIn("/none.png: its server answers 404", self.err)
        self.assertEqual(self.counts(), {"finished": 2, "failed": 1})
        self.destroy()


if __name__ == "__main__":
    unittest.main()
