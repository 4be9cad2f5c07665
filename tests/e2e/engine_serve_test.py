"""radl-train serve: predictions over HTTP, batching, what clients send wrong, health, and the format of the metrics."""
import base64
import concurrent.futures
import json
import re
import socket

from engine_case import IMAGES, test_image
from serve_case import ServeCase

# Prometheus' text format (0.0.4): comments, and samples with labels and a number.
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|\+Inf|NaN))$')


class ServeTest(ServeCase):
    def metrics(self):
        status, body, headers = self.ask("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertTrue(headers["Content-Type"].startswith("text/plain; version=0.0.4"))
        text, values, types = body.decode(), {}, {}
        self.assertTrue(text.endswith("\n"))
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                self.assertNotIn(name, types)
                types[name] = kind
            elif not line.startswith("# HELP "):
                sample = SAMPLE.match(line)
                self.assertTrue(sample, line)
                family = re.sub("_(bucket|sum|count)$", "", sample[1])
                self.assertIn(family if types.get(family) == "histogram" else sample[1], types, "TYPE comes first")
                key = (sample[1], sample[2] or "")
                self.assertNotIn(key, values)
                values[key] = float(sample[3].replace("+Inf", "inf"))
        buckets = [v for (name, _), v in values.items() if name == "radl_predict_seconds_bucket"]
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual(buckets[-1], values[("radl_predict_seconds_count", "")])
        return values

    def test_predictions_are_those_of_predict(self):
        self.start()
        images = [test_image(k)[1] for k in range(4)] + [(IMAGES / "base.jpg").read_bytes()]
        files = []
        for k, data in enumerate(images):
            files.append(self.folder / f"{k}.png")
            files[-1].write_bytes(data)
        lines = [json.loads(x) for x in self.run_program("predict", self.model(), *files, "--format", "json").splitlines()]
        status, body, headers = self.ask("POST", "/predict", json.dumps({"images": [base64.b64encode(p).decode() for p in images]}))
        self.assertEqual((status, headers["Content-Type"]), (200, "application/json"))
        answers = json.loads(body)["predictions"]
        self.assertEqual([a["label"] for a in answers], [x["label"] for x in lines])
        for answer, line in zip(answers, lines):
            self.assertAlmostEqual(answer["probability"], line["probability"], places=5)
            self.assertAlmostEqual(sum(answer["probabilities"]), 1, places=5)
        for k, data in enumerate(images):  # one as it is, one in JSON
            status, body, _ = self.ask("POST", "/predict", data)
            self.assertEqual((status, json.loads(body)["predictions"][0]["label"]), (200, lines[k]["label"]))
        status, body, _ = self.ask("POST", "/predict", json.dumps({"image": base64.b64encode(images[0]).decode()}))
        self.assertEqual(json.loads(body)["predictions"][0]["label"], lines[0]["label"])

    def test_concurrent_requests_share_batches(self):
        self.start("--batch-wait", "200", "--batch-size", "16")
        image = test_image(0)[1]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: self.ask("POST", "/predict", image), range(32)))
        self.assertEqual({status for status, _, _ in answers}, {200})
        self.assertEqual(len({json.loads(body)["predictions"][0]["label"] for _, body, _ in answers}), 1)
        values = self.metrics()
        self.assertEqual(values[("radl_images_total", "")], 32)
        self.assertLess(values[("radl_batches_total", "")], 20)
        self.assertEqual(values[("radl_requests_total", 'path="/predict",status="200"')], 32)

    def test_bad_requests(self):
        self.start()
        good = base64.b64encode(test_image(0)[1]).decode()
        for body, status, says in (
                (b"", 400, "empty"),
                (b"hello", 400, "neither a PNG nor a JPEG"),
                (test_image(0)[1][:100], 400, "PNG"),
                (b"{", 400, "JSON"),
                (b"{}", 400, "images"),
                (b'{"images": []}', 400, "images"),
                (b'{"images": [1]}', 400, "image 0"),
                (json.dumps({"images": [good, "***"]}), 400, "image 1"),
                (json.dumps({"images": [good, base64.b64encode(b"no").decode()]}), 400, "image 1"),
                (b'{"image": ' + b"[" * 2_000_000 + b"]" * 2_000_000 + b"}", 400, "base64"),
                (json.dumps({"images": [""] * 2000}), 413, "at most 1024"),
                (b"\x89PNG" + b"x" * (33 << 20), 413, "larger than"),
        ):
            got, answer, _ = self.ask("POST", "/predict", body)
            self.assertEqual(got, status, (body[:60], answer))
            self.assertIn(says, json.loads(answer)["error"])
        for method, path, status in (("GET", "/predict", 405), ("POST", "/health", 405), ("GET", "/nothing", 404), ("DELETE", "/metrics", 405)):
            got, answer, headers = self.ask(method, path, b"x" if method == "POST" else None)
            self.assertEqual(got, status)
            self.assertIn("error", json.loads(answer))
            self.assertEqual("Allow" in headers, status == 405)
        with socket.create_connection(("127.0.0.1", self.port), 10) as s:  # no HTTP at all, and half a request
            s.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
            s.recv(1000)
        with socket.create_connection(("127.0.0.1", self.port), 10) as s:
            s.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
        status, body, _ = self.ask("GET", "/health")
        health = json.loads(body)
        self.assertEqual((status, health["status"], health["input"], health["classes"]), (200, "ok", [32, 32, 3], 10))
        self.assertEqual(self.metrics()[("radl_requests_total", 'path="other",status="404"')], 1)

    def test_an_address_in_use_is_reported(self):
        self.start()
        self.refused("serve", self.model(), "--port", self.port, says="another program listens", code=2)
        self.refused("serve", self.model(), "--address", "nowhere", says="not an IP address")
        self.refused("serve", self.folder, says="model.json")
