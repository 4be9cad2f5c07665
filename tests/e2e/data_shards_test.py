"""std/data/shards: files in the layout that they have, spread among nodes; fetched whole, once, and further where it stopped."""
import hashlib
import http.server
import json
import random
import re
import threading
import urllib.parse

from radl_case import RadlCase, replaced

FILE = """radl 2
input nodes ( type = integer, default = 2 )
input sums ( type = string, default = './SHA256SUMS' )
system worker ( cpu.count >= 1 )
deploy worker input.nodes
use 'std/data/shards' as data (
  source = 'http://127.0.0.1:PORT/set/resolve/', checksums = input.sums, systems = system.worker, folder = '~/set', retries = 0
  environment = { HTTP_TOKEN = 'hf_token' }
)
configure reads (
  program 'reads' (
    systems = system.worker, main = 'sh', arguments = ['-c', 'ls -R "$0" > "$RADL_RESULTS/$RADL_MEMBER"', data.folder]
    collect = 'all'
  )
)
output metrics ( value = data.metrics )
"""


class Store(http.server.BaseHTTPRequestHandler):
    """Of each file the first answer ends in its midst."""
    files, begun, ranges, sent = {}, set(), [], 0

    def do_GET(self):
        name = self.path.removeprefix("/set/resolve/")
        if self.headers["Authorization"] != "Bearer hf_token" or name not in self.files:
            return self.send_error(404 if name not in self.files else 401)
        content, begin = self.files[name], 0
        if match := re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or ""):
            begin = int(match[1])
            self.ranges.append(name)
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        end = len(content) if name in self.begun or len(content) < 1000 else len(content) // 2
        self.begun.add(name)
        Store.sent += end - begin
        self.wfile.write(content[begin:end])
        self.close_connection = True

    def log_message(self, *_):
        pass


class Bucket(http.server.BaseHTTPRequestHandler):
    """A store of one bucket whose lists have encoded keys."""
    objects = {}

    def do_GET(self):
        content = self.objects.get(urllib.parse.unquote(self.path.partition("?")[0].removeprefix("/set/")))
        if "list-type=2" in self.path:
            content = "".join(f"<Contents><Key>{urllib.parse.quote_plus(key, safe='/')}</Key><Size>{len(text)}</Size>"
                              "<LastModified>2026-01-02T03:04:05Z</LastModified></Contents>" for key, text in self.objects.items())
            content = f"<ListBucketResult><EncodingType>url</EncodingType>{content}</ListBucketResult>".encode()
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Shards(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_LOCAL_ISOLATION"] = "off"
        dice = random.Random(16)
        self.content = {f"data/train-0000{n}-of-00005.parquet": dice.randbytes(1 << 20) for n in range(5)}
        self.content |= {"data/validation-00000-of-00001.parquet": dice.randbytes(5000), "README.md": b"what it is\n"}

    def checksums(self, files):
        return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())

    def on_nodes(self, folder):
        """By node the files that it has, each with its content."""
        found = {}
        for path in self.found(f"home/{folder}/**"):
            if path.is_file() and not path.name.startswith("."):
                node, name = re.search(rf"nodes/([^/]*)/home/{folder}/(.*)", str(path)).groups()
                found.setdefault(node, {})[name] = path.read_bytes()
        return found

    def assert_spread(self, nodes, content):
        trains = []
        for files in nodes.values():
            for name, text in files.items():
                self.assertEqual(text, content[name], name)
            trains += [name for name in files if "train-" in name]
            self.assertLessEqual({"README.md", "data/validation-00000-of-00001.parquet"}, set(files), "they are no shards to be spread")
        self.assertEqual(sorted(trains), sorted(name for name in content if "train-" in name), "a shard is nowhere, or twice")

    def test_of_a_web_server_by_checksums(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        Store.files = self.content
        self.write("SHA256SUMS", self.checksums(self.content))
        file = self.write("set.radl", FILE.replace("PORT", str(server.server_port)))
        self.radlc("apply", "-y", file)
        self.assertEqual(len(self.on_nodes("set")), 2)
        self.assert_spread(self.on_nodes("set"), self.content)
        for n in range(2):  # a program finds them by what the module says
            self.assertIn("validation-00000-of-00001.parquet", (self.folder / f"reads-results/worker[{n}]/{n}").read_text())
        report = json.loads((self.folder / "data-results/report.json").read_text())
        self.assertEqual(report["metrics"], {"files": 7, "shards": 6})
        self.assertLessEqual({name for name in self.content if "train-" in name}, set(Store.ranges), "they began anew")
        self.assertEqual(self.actions(file), {})

        # One more node: what a node has is not fetched again, and what is another one's now is no longer there.
        before = Store.sent
        self.radlc("apply", "-y", file, "--input", "nodes=3")
        self.assertEqual(len(self.on_nodes("set")), 3)
        self.assert_spread(self.on_nodes("set"), self.content)
        self.assertLess(Store.sent - before, 4 << 20, "all was fetched again")

        # Another content than the list says; a file that somebody else has put there.
        changed = dict(self.content, **{"README.md": b"what it was\n"})
        self.write("CHANGED", self.checksums(changed))
        self.radlc("apply", "-y", file, "--input", "nodes=3", "--input", "sums=./CHANGED", code=2)
        self.assertIn("README.md: its SHA-256 is", self.err)
        for n in range(3):  # whichever fails first
            self.radlc("exec", file, f"worker[{n}]", "-c", "echo mine > ~/set/README.md")
        self.radlc("apply", "-y", file, "--input", "nodes=3", "--input", "sums=./CHANGED", code=2)
        self.assertIn("README.md is there already and is not the source's", self.err)
        self.assertEqual([files["README.md"] for files in self.on_nodes("set").values()], [b"mine\n"] * 3)
        self.radlc("destroy", "-y", file)
        self.assert_nothing_left()

    def test_keys_of_a_bucket_are_files_names_byte_for_byte_or_refused(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        file = self.write("set.radl", replaced(
            FILE, ("source = 'http://127.0.0.1:PORT/set/resolve/', checksums = input.sums", "source = 's3://set/p'"),
            ("HTTP_TOKEN = 'hf_token'", f"AWS_ENDPOINT_URL_S3 = 'http://127.0.0.1:{server.server_port}'")))
        odd = {"one two+3%.txt": b"1", "\u00e9/\x01": b"2"}
        for name in ("./a", "b//c", "b/../c", "/d"):
            Bucket.objects = {"p/" + key: text for key, text in {**odd, name: b"no"}.items()}
            self.radlc("apply", "-y", file, code=2)
            self.assertIn(f"the object 'p/{name}' has no name that a file can have: rename or remove it", self.err)
            self.assertEqual(self.on_nodes("set"), {})
        Bucket.objects = {"p/" + key: text for key, text in odd.items()}
        self.radlc("apply", "-y", file)
        self.assertEqual(list(self.on_nodes("set").values()), [odd, odd])
        self.radlc("destroy", "-y", file)
        self.assert_nothing_left()

    def test_a_local_folder_and_impossible_places(self):
        for name, content in self.content.items():
            self.write("own/" + name, "").write_bytes(content)
        text = replaced(FILE, ("source = 'http://127.0.0.1:PORT/set/resolve/', checksums = input.sums", "files = './own'"), ("~/set", "~/own"))
        file = self.write("set.radl", text)
        self.radlc("apply", "-y", file)
        self.assert_spread(self.on_nodes("own"), self.content)
        self.edit(file, ("folder = ", "spread = no, folder = "))
        self.radlc("apply", "-y", file)
        self.assertEqual([files for files in self.on_nodes("own").values()], [self.content] * 2)
        self.edit(file, ("files = './own'", "source = 'https://127.0.0.1:9/set'"))
        self.radlc("apply", "-y", file, code=2)
        self.assertIn("`checksums` names a file that lists it", self.err)
        self.edit(file, ("'https://127.0.0.1:9/set'", "'ftp://127.0.0.1/set'"))
        self.radlc("apply", "-y", file, code=2)
        self.assertIn("the source is not one of s3://, webhdfs:// and https://: 'ftp://127.0.0.1/set'", self.err)
        self.radlc("destroy", "-y", file)
        self.assert_nothing_left()


if __name__ == "__main__":
    import unittest
    unittest.main()
