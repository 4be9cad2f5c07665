"""radl-train's commands on files: what they give, and what they say about bad input."""
import csv
import functools
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time
import unittest

from engine_case import IMAGES, RADL_TRAIN, RECORD, SUBSET, EngineCase, test_image


class TrainTest(EngineCase):
    def test_summary_progress_and_files(self):
        run = self.model()
        for name in ("model/model.safetensors", "model/model.onnx", "model/model.txt", "model/model.json", "model/report.json"):
            self.assertTrue((run / name).stat().st_size > 0, name)
        lines = [json.loads(line) for line in (run / "progress.jsonl").read_text().splitlines()]
        # Where the dataset has something to say (the subset, for one), that comes first.
        events = [line["event"] for line in lines if line["event"] != "dataset"]
        self.assertEqual([events[0], events[-1]], ["started", "finished"])
        metrics = json.loads((run / "model/metrics.json").read_text())
        self.assertGreater(metrics["test_accuracy"], 0.2)
        self.assertEqual(metrics["steps"], 80)
        again = self.run_program("train", "--model", "logistic", "--data", SUBSET, "--epochs", "0.2", "--batch-size", "100", "--json")
        self.assertEqual([json.loads(line)["event"] for line in again.splitlines()][-1], "finished")

    def test_the_process_is_called_radl_train_under_a_loader_too(self):
        # A node's bundle starts it so, and auto-stop looks for this name.
        header = subprocess.run(["readelf", "--program-headers", RADL_TRAIN], capture_output=True, text=True, check=True).stdout
        loader = re.search(r"program interpreter: ([^]]+)\]", header)[1]
        job = self.folder / "job.json"
        os.mkfifo(job)  # the program waits for a writer
        process = subprocess.Popen([loader, RADL_TRAIN, "train", job], stderr=subprocess.DEVNULL)
        try:
            name, deadline = "", time.time() + 30
            while name != "radl-train" and time.time() < deadline:
                name = pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()
                time.sleep(0.05)
            self.assertEqual(name, "radl-train")
        finally:
            process.kill()
            process.wait()

    def test_mistakes_in_the_job_are_all_named(self):
        job = self.folder / "job.json"
        job.write_text('{"job": 1, "model": "lenet", "dataset": {"directory": "x", "shappe": []}, "batch_size": 0, "optimizer": {"name": "sdg"}}')
        self.refused("train", job, says=["shappe", "batch_size", "sdg"])
        job.write_text("{")
        self.refused("train", job, says="job.json")
        self.refused("train", self.folder / "none.json", says="none.json")
        self.refused("train", says="--data")

    def test_wrong_models_name_the_line(self):
        self.refused("train", "--data", SUBSET, "--model", "resnet21", says=["resnet21", "did you mean resnet20"])
        self.refused("train", "--data", SUBSET, "--model", "a: conv 8\nb: convv 8\nfc: linear classes\n", says=["line 2", "convv", "did you mean conv"])
        self.refused("train", "--data", SUBSET, "--model", "a: conv 8 kernel=40 pad=valid\nfc: linear classes\n", says=["line 1", "40x40"])
        self.refused("train", "--data", SUBSET, "--model", "a: conv 8\n", says=["line 1", "10 classes"])

    def test_sizes_that_cannot_be(self):
        self.refused("train", "--data", SUBSET, "--model", "lenet", "--batch-size", "3000", says=["3000", "2000"])
        self.refused("bench", "--model", "resnet44", "--batch-size", "65536", "--steps", "1",
                     says=["batch size 65536", "MiB are free"], code=2)
        # Working space that operations keep is refused too, not only the plan's.
        self.refused("bench", "--model", "resnet50", "--input", "224x224x3", "--batch-size", "65536", "--steps", "1",
                     says=["batch size 65536", "MiB"], code=2)

    def test_options_are_checked_like_the_keys_of_a_file(self):
        for option, value, says in (("--batch-size", "0", "batch_size"), ("--batch-size", "-5", "batch_size"), ("--epochs", "-1", "epochs"),
                                    ("--epochs", "nan", "epochs"), ("--epochs", "1e300", "epochs"), ("--precision", "fp8", "precision"),
                                    ("--threads", "-2", "threads"), ("--learning-rate", "0", "schedule.peak"), ("--model", "", "model")):
            self.refused("train", "--data", SUBSET, option, value, "-q", says=[says])

    def test_corrupt_records_stop_or_are_counted(self):
        def damage(train, test):
            train[7 * RECORD] = 77
            return train[:-100], test

        data = self.subset_copy(damage)
        self.refused("train", "--data", data, "--model", "logistic", says=["data_batch_1.bin", "record 1999", "cut off"])
        job = self.folder / "job.json"
        job.write_text(json.dumps({"job": 1, "model": "logistic", "batch_size": 100, "epochs": 1,
                                   "dataset": {"directory": str(data), "skip_corrupt": True}}))
        out = self.run_program("train", job, "--json")
        self.assertEqual(json.loads(out.splitlines()[0])["images"], 1998)
        shown = json.loads(self.run_program("data", "info", data, "--skip-corrupt", "--json"))
        self.assertEqual(shown["train"]["skipped"], 2)
        self.assertIn("record 7: label 77", self.err)

    def test_divergence_stops_with_a_message(self):
        self.refused("train", "--data", SUBSET, "--model", "mlp", "--learning-rate", "1000", "--epochs", "3", "--precision", "fp32", "-q",
                     says=["diverged", "batch"])

    def test_corrupt_images_of_a_folder(self):
        data = self.folder / "photos"
        for part, count in (("train", 12), ("test", 6)):
            for k in range(count):
                label, bytes_ = test_image(k)
                place = data / part / ("even" if label % 2 == 0 else "odd") / f"{k}.png"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(bytes_)
        shutil.copy(IMAGES / "base.jpg", data / "train/odd/photo.JPEG")
        shown = json.loads(self.run_program("data", "info", data, "--json", "--verify", "--shape", "16x16x3"))
        self.assertEqual((shown["format"], shown["class_names"], shown["train"]["images"]), ("folder", ["even", "odd"], 13))
        bad = data / "train/odd/broken.jpg"
        bad.write_bytes((IMAGES / "base.jpg").read_bytes()[:300])
        self.refused("data", "info", data, "--verify", says=["broken.jpg", "JPEG"])
        common = {"job": 1, "model": "logistic", "batch_size": 7, "epochs": 2, "augment": {"flip": True, "translate": 2, "brightness": 0.1}}
        for skip in (False, True):
            job = self.folder / "job.json"
            job.write_text(json.dumps(dict(common, dataset={"name": "folder", "directory": str(data), "shape": [16, 16, 3], "skip_corrupt": skip})))
            if skip:
                self.assertIn("corrupt images left out", self.run_program("train", job))
            else:
                self.refused("train", job, says="broken.jpg")


class ModelTest(EngineCase):
    def test_eval_counts_every_image(self):
        run = self.model()
        shown = json.loads(self.run_program("eval", run, "--data", SUBSET, "--json", "--flip", "--mistakes", "5"))
        confusion = shown["confusion"]
        self.assertEqual((shown["images"], sum(confusion)), (500, 500))
        self.assertAlmostEqual(shown["accuracy"], sum(confusion[k * 11] for k in range(10)) / 500, places=6)
        self.assertGreater(shown["accuracy_tta"], 0.2)
        sure = [m["probability"] for m in shown["mistakes"]]
        self.assertEqual((len(sure), sure), (5, sorted(sure, reverse=True)))
        text = self.run_program("eval", run, "--data", SUBSET, "--confusion")
        self.assertIn("airplane", text)
        self.assertAlmostEqual(float(re.search(r"accuracy ([\d.]+)%", text)[1]) / 100, shown["accuracy"], places=3)

    def test_eval_rejects_data_that_does_not_fit_the_model(self):
        run = self.model()
        table = self.folder / "table"
        table.mkdir()
        for part in ("train.csv", "test.csv"):
            (table / part).write_text("0,1,2,3,4\n1,5,6,7,8\n")
        self.refused("eval", run, "--data", table, says=["4 pixels", "the shape given needs 3072"])
        self.refused("eval", run, "--data", self.folder / "nowhere", says="nowhere")
        self.refused("eval", self.folder, "--data", SUBSET, says="model.json")

    def test_predict_files_and_folders(self):
        run = self.model()
        place = self.folder / "images"
        (place / "deeper").mkdir(parents=True)
        for k in range(3):
            (place / f"{k}.png").write_bytes(test_image(k)[1])
        for name in ("base.jpg", "progressive.jpg", "grey.jpg", "palette.png", "wide.png"):
            shutil.copy(IMAGES / name, place / "deeper" / name)
        rows = list(csv.DictReader(io.StringIO(self.run_program("predict", run, place, "--format", "csv"))))
        self.assertEqual(len(rows), 8)
        for row in rows:
            shares = {k[2:]: float(v) for k, v in row.items() if k.startswith("p_")}
            self.assertAlmostEqual(sum(shares.values()), 1, places=4)
            self.assertEqual(row["label"], max(shares, key=shares.get))
        lines = [json.loads(line) for line in self.run_program("predict", run, place, "--format", "json", "--top", "3").splitlines()]
        self.assertEqual([x["file"] for x in lines], [row["file"] for row in rows])
        self.assertEqual([x["label"] for x in lines], [row["label"] for row in rows])
        self.assertEqual(len(lines[0]["top"]), 3)
        # Neither the batch nor the company changes an answer.
        one = json.loads(self.run_program("predict", run, place / "1.png", "--format", "json", "--batch-size", "1"))
        self.assertAlmostEqual(one["probability"], lines[1]["probability"], places=5)
        self.run_program("predict", run, place / "1.png", "-o", self.folder / "out.txt", "--flip")
        self.assertIn("1.png:", (self.folder / "out.txt").read_text())

    def test_predict_names_the_bad_image(self):
        run = self.model()
        good, bad = self.folder / "good.png", self.folder / "bad.png"
        good.write_bytes(test_image(0)[1])
        bad.write_bytes(good.read_bytes()[:90])
        self.refused("predict", run, good, bad, says=["bad.png", "PNG"])
        out = self.run_program("predict", run, good, bad, IMAGES / "cmyk.jpg", "--skip-corrupt")
        self.assertEqual(len(out.splitlines()), 2)
        self.assertIn("1 of 3 images left out", self.err)
        (self.folder / "empty").mkdir()
        self.refused("predict", run, self.folder / "empty", says="holds no .png")
        self.refused("predict", run, self.folder / "none.png", says="none.png")
        self.refused("predict", run, good, "--format", "xml", says="xml")

    def test_predict_by_a_list_of_urls(self):
        run, images = self.model(), {f"/{k}.png": test_image(k)[1] for k in range(3)}
        (self.folder / "images").mkdir()
        for name, content in images.items():
            (self.folder / "images" / name[1:]).write_bytes(content)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = images.get(self.path.partition("?")[0])
                self.send_response(200 if content else 403)
                self.send_header("ETag", '"version-1"')
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}"

        def listed(*changes):
            lines = [{"file": f"s3://b/{k}", "url": f"{url}/{k}.png?X-Signature=secret", "etag": "version-1"} for k in range(3)]
            lines[1].update(*changes)
            return "".join(json.dumps(line) + "\n" for line in lines).encode()

        out = self.run_program("predict", run, "--list", "-", "--format", "json", input=listed())
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([line["file"] for line in lines], ["s3://b/0", "s3://b/1", "s3://b/2"])
        alone = [json.loads(line) for line in self.run_program("predict", run, self.folder / "images", "--format", "json").splitlines()]
        self.assertEqual([line["probability"] for line in lines], [line["probability"] for line in alone])
        for change, code, said in (({"etag": "version-0"}, 1, "s3://b/1: has changed since it was listed"),
                                   ({"url": url + "/none.png?X-Signature=secret"}, 2, "s3://b/1: its server answers 403"),
                                   ({"url": "file:///etc/passwd"}, 1, "line 2 of the list"), ({"file": ""}, 1, "line 2 of the list")):
            self.run_program("predict", run, "--list", "-", "-o", "out.json", "--format", "json", input=listed(change), code=code)
            self.assertIn(said, self.err)
            self.assertNotIn("secret", self.err)
            self.assertFalse((self.folder / "out.json").exists())
        self.refused("predict", run, says="--list")

    def test_onnx_files_are_models(self):
        run = self.model()
        self.run_program("export", run, "-o", "m.onnx")
        (self.folder / "images").mkdir()
        for k in range(5):
            (self.folder / "images" / f"{k}.png").write_bytes(test_image(k)[1])
        before = self.run_program("predict", run, "images", "--format", "csv")
        self.assertEqual(self.run_program("predict", "m.onnx", "images", "--format", "csv"), before)
        self.run_program("import", "m.onnx", "-o", "again")
        self.assertEqual(self.run_program("predict", "again", "images", "--format", "csv"), before)
        self.assertIn("linear", self.run_program("inspect", "m.onnx"))
        self.run_program("export", run, "-o", "plain.onnx", "--normalised-input")
        self.refused("predict", "plain.onnx", "--check", says=["plain.onnx", "--mean"])
        self.refused("predict", "plain.onnx", "--check", "--mean", "0.5", says="--deviation")
        self.refused("predict", "plain.onnx", "--check", "--mean", "0.5", "--deviation", "0.2", "--class-names", "a,b", says="10 classes")
        whole = (self.folder / "m.onnx").read_bytes()
        for size in range(0, len(whole), max(1, len(whole) // 40)):
            (self.folder / "part.onnx").write_bytes(whole[:size])
            self.refused("predict", "part.onnx", "--check", says="part.onnx")

    def test_export_import_round_trip(self):
        run, weights = self.model(), self.folder / "w.safetensors"
        self.assertIn("onnx", self.run_program("export", run, "-o", self.folder / "m.onnx"))
        self.run_program("export", run, "-o", weights)
        for name, format in (("m.onnx", "onnx"), ("w.safetensors", "safetensors")):
            piped = subprocess.run([RADL_TRAIN, "export", run, "-o", "-", "--format", format], capture_output=True, check=True, cwd=self.folder)
            self.assertEqual(piped.stdout, (self.folder / name).read_bytes())
        self.assertFalse((self.folder / "-").exists())
        self.refused("export", run, "-o", "-", says="--format")
        self.run_program("import", weights, "--model", "lenet", "--dataset", "cifar10", "-o", self.folder / "again")
        before, after = (json.loads(self.run_program("eval", m, "--data", SUBSET, "--json")) for m in (run, self.folder / "again"))
        self.assertEqual(before, after)
        self.refused("export", run, "-o", self.folder / "m.pb", says="--format")
        self.refused("import", weights, "--model", "mlp", "--dataset", "cifar10", "-o", self.folder / "x", says=["fc1.weight", "the model needs"])
        self.refused("import", weights, "--model", "resnet20", "--dataset", "cifar10", "-o", self.folder / "x", says="conv1.weight")
        self.refused("import", weights, "--model", "lenet", "-o", self.folder / "x", says="--mean")
        whole = weights.read_bytes()
        weights.write_bytes(whole[:-5])
        self.refused("import", weights, "--model", "lenet", "--dataset", "cifar10", "-o", self.folder / "x", says="w.safetensors")
        weights.write_bytes(b"\xff" * 16)
        self.refused("import", weights, "--model", "lenet", "--dataset", "cifar10", "-o", self.folder / "x", says="header claims")

    def test_outputs_replace_only_files_of_radl_train(self):
        run, mine, image = self.model(), "three weeks of notes\n", self.folder / "1.png"
        image.write_bytes(test_image(1)[1])
        for arguments, name, knows in ((("export", run), "m.onnx", True), (("export", run), "m.safetensors", True),
                                       (("report", run), "r.html", True), (("predict", run, image), "p.csv", False)):
            with self.subTest(command=arguments[0], file=name):
                file = self.folder / name
                file.write_text(mine)
                self.refused(*arguments, "-o", file, says=[name, "--force"])
                self.assertEqual(file.read_text(), mine)
                self.run_program(*arguments, "-o", file, "--force")
                written = file.read_bytes()
                self.assertNotEqual(written, mine.encode())
                file.write_bytes(written + (b" " if knows else b""))  # another of its own
                self.run_program(*arguments, "-o", file)
        shutil.copy(self.folder / "m.safetensors", self.folder / "model.safetensors")
        before = (self.folder / "model.safetensors").read_bytes()
        arguments = ("import", self.folder / "model.safetensors", "--model", "lenet", "--dataset", "cifar10", "-o", self.folder)
        self.refused(*arguments, says=["model.safetensors", "--force"])
        self.assertEqual((self.folder / "model.safetensors").read_bytes(), before)

    def test_inspect(self):
        run = self.model()
        self.assertIn("conv1", self.run_program("inspect", run))
        shown = json.loads(self.run_program("inspect", run / "model/model.safetensors", "--json"))
        self.assertEqual({t["name"]: t["shape"] for t in shown["tensors"]}["conv2.weight"], [16, 6, 5, 5])
        text = self.run_program("inspect", "resnet20", "--text")
        (self.folder / "m.txt").write_text(text)
        self.assertEqual(self.run_program("inspect", self.folder / "m.txt", "--text"), text)
        self.assertEqual(json.loads(self.run_program("inspect", "resnet20", "--json"))["parameters"], 272474)
        self.assertEqual(json.loads(self.run_program("inspect", "resnet20", "--trainable", "--json")), {"trainable": True})
        self.refused("inspect", "x: embedding 4 vocabulary=9\nlinear classes", "--trainable", says="layer x: embedding")
        self.refused("inspect", "resnett20", says="did you mean resnet20")
        self.refused("inspect", "inception-resnet-v1", "--input", "32x32x3", says="does not fit")
        self.refused("inspect", "lenet", "--input", "32x32", says="HEIGHTxWIDTHxCHANNELS")

    def test_bench(self):
        shown = json.loads(self.run_program("bench", "--model", "lenet", "--batch-size", "8", "--steps", "2", "--json"))
        self.assertEqual((shown["batch_size"], shown["steps"]), (8, 2))
        self.assertGreater(shown["images_per_second"], 0)
        self.refused("bench", "--model", "lenet", "--kernels", "magic", says="magic")

    def test_bench_ends_with_its_reader(self):
        # On a node nothing else ends it after a kill -9 of radlc. A socket is what some SSH servers give a command.
        for end in ("pipe", "socket"):
            with self.subTest(end):
                reader, writer = os.pipe() if end == "pipe" else [one.detach() for one in socket.socketpair()]
                process = subprocess.Popen([RADL_TRAIN, "bench", "--model", "lenet", "--batch-size", "8", "--seconds", "3600", "--json"],
                                           stdout=writer, stderr=subprocess.DEVNULL)
                os.close(writer)
                os.close(reader)
                try:
                    self.assertEqual(process.wait(timeout=60), 130)
                finally:
                    process.kill()
                    process.wait()

    def test_report_stands_alone(self):
        run = self.model()
        page = self.run_program("report", run, "-o", self.folder / "r.html").strip()
        html = pathlib.Path(page).read_text()
        self.assertEqual(len(re.findall("<svg", html)), 3)
        for text in ("<h2>Confusion matrix</h2>", "airplane", "Test accuracy".lower(), "&quot;model&quot;: &quot;lenet&quot;"):
            self.assertIn(text, html)
        tables = html.partition("<h2>Job</h2>")[0]
        self.assertEqual(re.findall(r"<th>[^<]*_[^<]*</th>", tables), [], "names of fields are no labels")
        self.assertIn("<th>waiting for data</th>", tables)
        for value in re.findall(r"</th><td>([^<]*)</td>", tables):
            self.assertNotRegex(value, r"\d\.\d{5}", "more digits than mean something")
        self.assertFalse(re.search(r"<script|(src|href)\s*=|url\(|@import", html), "it needs something from outside")
        (self.folder / "report.json").write_text("[]")
        self.refused("report", self.folder / "report.json", says="is not a run's report")
        self.refused("report", self.folder / "nothing", says="nothing")


class DataTest(EngineCase):
    def test_pack_and_verify(self):
        out = self.folder / "packed"
        self.run_program("data", "pack", SUBSET, "-o", out)
        plain, packed = (json.loads(self.run_program("data", "info", place, "--json", "--verify")) for place in (SUBSET, out))
        self.assertEqual(plain["train"], packed["train"])
        self.assertEqual((packed["format"], packed["class_names"]), ("packed", plain["class_names"]))
        path = out / "train.radlpack"
        bytes_ = bytearray(path.read_bytes())
        bytes_[-5000] ^= 1
        path.write_bytes(bytes_)
        self.refused("data", "info", out, "--verify", says=["record 1998", "checksum"])
        path.write_bytes(bytes_[:-1])
        self.refused("data", "info", out, says="train.radlpack")

    def test_a_download_reports_its_progress(self):
        for place in ("train/cat/0", "train/dog/1", "test/cat/2", "test/dog/3"):
            path = self.folder / "photos" / f"{place}.png"
            path.parent.mkdir(parents=True)
            path.write_bytes(test_image(int(place[-1]))[1])
        shutil.make_archive(str(self.folder / "photos"), "tar", self.folder / "photos")

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.folder)) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            staged = json.loads(self.run_program("data", "stage", f"http://127.0.0.1:{server.server_port}/photos.tar", "--json",
                                                 env={"XDG_CACHE_HOME": str(self.folder / "cache")}))
            server.shutdown()
        self.assertEqual(staged["files"], 4)
        self.assertRegex(self.err, r"(?m)^fetched +\d+%  .* of [0-9.]+ KiB$")

    def test_unknown_and_missing(self):
        self.refused("data", "info", self.folder, says="known formats")
        self.refused("data", "info", SUBSET, "--format", "tfrecord", says="tfrecord")
        self.refused("data", says="subcommand")

    def test_a_test_part_may_lack_a_class(self):
        data = self.folder / "photos"
        for place in ("train/cat/0", "train/dog/1", "train/fox/2", "test/fox/3"):
            (data / place).parent.mkdir(parents=True)
            (data / f"{place}.png").write_bytes(test_image(int(place[-1]))[1])
        shown = json.loads(self.run_program("data", "info", data, "--json"))
        self.assertEqual(shown["test"]["per_class"], [0, 0, 1])
        (data / "test/fox").rename(data / "test/wolf")
        self.refused("data", "info", data, says='"wolf"')


if __name__ == "__main__":
    unittest.main()
