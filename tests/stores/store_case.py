"""What every object store must do, by the transfer library's tool and looked at by the vendor's own client."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import peers
from google_gate import plain_names
from proxy import Answer, Broken, Proxy, Treatment

TOOL = pathlib.Path(os.environ["RADL_BUILD"]) / "tests/conformance_transfer"
STATUS = {"invalid": 1, "not-found": 2, "exists": 3, "conflict": 4, "auth": 5, "retry": 7, "lost": 10, "corrupt": 11, "unsupported": 12}
MIB = 1 << 20
BUCKET = "data-of-tests"


class StoreProxy(Proxy):
    """Where the server says to go on, the way leads through the proxy as well."""

    busy = 0

    def _answer(self, connection, request, treatment):
        with self._lock:
            self.busy += 1
        try:
            super()._answer(connection, request, treatment)
        finally:
            with self._lock:
                self.busy -= 1

    def forward(self, request):
        if len(request.body) < int(request.headers.get("content-length") or 0):  # its client was killed meanwhile
            raise Broken
        answer = super().forward(request)
        real = f"http://{self.upstream.netloc}"
        answer.headers = [(name, value.replace(real, self.url)) for name, value in answer.headers]
        return answer


class WithServer:
    """A store's server of a class of tests (`store_type`); without one they are skipped, with why."""
    store_type = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="radl-store-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        try:
            cls.store = cls.store_type(folder)
        except peers.Unavailable as why:
            raise unittest.SkipTest(f"skipped: {why}") from why
        cls.addClassCleanup(cls.store.stop)


class StoreCase(WithServer):
    """One server's tests: a subclass says which (`store_type`)."""
    big = 40 * MIB
    part = 5 * MIB
    writes_if_match = True  # writes on the condition that an object is as it was

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-store-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GOOGLE_", "AZURE_", "OS_", "ST_", "STORAGE_"))}
        self.env = {**kept, **self.store.environment(), "HOME": str(self.folder), "no_proxy": "*"}
        self.store.make(BUCKET)
        self.addCleanup(self.store.empty, BUCKET)

    def address(self, key=""):
        return f"{self.store.scheme}://{BUCKET}/{key}" if key else f"{self.store.scheme}://{BUCKET}"

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
        return self.store.get(BUCKET, key)

    def proxied(self, faults=None):
        proxy = StoreProxy(self.store.url, faults, names=plain_names)
        self.addCleanup(proxy.close)
        self.env.update(self.store.environment(proxy.url))
        return proxy

    # --- objects

    def test_what_is_put_is_what_others_get(self):
        for size in (0, 1, 100_000):
            path = self.file(f"f{size}", size)
            self.tool("put", path, self.address(f"f{size}"))
            self.assertEqual(self.body(f"f{size}"), path.read_bytes())
            self.tool("get", self.address(f"f{size}"), self.folder / "got")
            self.assertEqual((self.folder / "got").read_bytes(), path.read_bytes())

    def test_a_range_is_that_part_alone(self):
        self.store.put(BUCKET, "x", b"0123456789")
        self.assertEqual(self.tool("range", self.address("x"), 3, 4), b"3456")
        self.assertEqual(self.tool("stat", self.address("x")).split()[1], b"10")

    def test_a_large_file_goes_in_parts_and_comes_in_ranges(self):
        path = self.file("large", 71 * MIB + 12345)
        self.tool("put", path, self.address("large"), f"part={6 * MIB}")
        self.assertEqual(hashlib.sha256(self.body("large")).digest(), hashlib.sha256(path.read_bytes()).digest())
        self.tool("get", self.address("large"), self.folder / "got")
        self.assertEqual(hashlib.sha256((self.folder / "got").read_bytes()).digest(), hashlib.sha256(path.read_bytes()).digest())
        self.assertEqual(sorted(p.name for p in self.folder.iterdir() if p.name.startswith(("got", "large"))), ["got", "large"])
        self.assertEqual(self.tool("list", self.address()).split()[0], b"large")
        self.assertEqual(self.store.unfinished(BUCKET), [])

    def test_large_objects_of_others(self):
        path = self.file("theirs", self.big)
        self.store.put_file(BUCKET, "theirs", path)
        self.tool("get", self.address("theirs"), self.folder / "got")
        self.assertEqual(hashlib.sha256((self.folder / "got").read_bytes()).digest(), hashlib.sha256(path.read_bytes()).digest())

    def test_names_of_every_character(self):
        names = ("a b+c%41 ü&=#?.bin", "quote'\"<>", "päth/ze&ro", "x=1;y")
        for name in names:
            self.tool("put", self.file("one", 10), self.address(name))
            self.assertEqual(self.body(name), (self.folder / "one").read_bytes())
            self.tool("get", self.address(name), self.folder / "got")
            self.assertEqual((self.folder / "got").read_bytes(), (self.folder / "one").read_bytes())
        self.assertEqual(len(self.tool("list", self.address()).decode().splitlines()), len(names))

    def test_copy_remove_and_remove_many(self):
        self.tool("put", self.file("x", 100), self.address("x"))
        self.tool("copy", self.address("x"), self.address("y"))
        self.assertEqual(self.body("y"), self.body("x"))
        self.tool("remove", self.address("x"))
        self.tool("remove", self.address("x"))  # gone already
        names = [f"m/{n}" for n in range(20)] + ["m/<&>"]
        for name in names:
            self.store.put(BUCKET, name, b"1")
        self.tool("remove", *(self.address(name) for name in names))
        self.assertEqual(self.store.keys(BUCKET), ["y"])

    def test_folders_of_many_small_files_both_ways(self):
        source = self.folder / "source"
        for number in range(60):
            file = source / f"c{number % 3}" / f"{number:04}.bin"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(hashlib.sha256(str(number).encode()).digest() * (number % 7))
        self.tool("put-folder", source, self.address("many"))
        self.tool("get-folder", self.address("many"), self.folder / "back")
        for file in source.rglob("*.bin"):
            self.assertEqual((self.folder / "back" / file.relative_to(source)).read_bytes(), file.read_bytes())
        self.store.put(BUCKET, "many/c0/0000.bin", b"new")
        self.store.remove(BUCKET, "many/c1/0001.bin")
        unchanged = (self.folder / "back/c2/0002.bin").stat().st_mtime_ns
        self.tool("get-folder", self.address("many"), self.folder / "back")
        self.assertEqual((self.folder / "back/c0/0000.bin").read_bytes(), b"new")
        self.assertFalse((self.folder / "back/c1/0001.bin").exists())
        self.assertEqual((self.folder / "back/c2/0002.bin").stat().st_mtime_ns, unchanged)

    def test_a_list_of_several_pages(self):
        source = self.folder / "source"
        source.mkdir()
        for number in range(1205):  # a page has a thousand at most, wherever
            (source / f"{number:05}").write_bytes(b"1")
        self.tool("put-folder", source, self.address("pages"))
        self.assertEqual(len(self.tool("list", self.address("pages")).splitlines()), 1205)

    # --- conditions

    def test_conditions(self):
        one, two = self.file("one", 10), self.file("two", 11)
        tag = self.tool("put", one, self.address("lock"), "absent").decode().strip()
        self.tool("put", two, self.address("lock"), "absent", fails="exists")
        if not self.writes_if_match:
            self.assertEqual(self.body("lock"), one.read_bytes())
            return
        self.tool("put", two, self.address("lock"), f"match={tag}")
        self.tool("put", one, self.address("lock"), f"match={tag}", fails="conflict")
        self.assertEqual(self.body("lock"), two.read_bytes())

    def test_of_many_who_write_at_once_on_a_condition_one_succeeds(self):
        if not self.writes_if_match:
            self.skipTest("this store has no such condition")
        path = self.file("one", 10)
        tag = self.tool("put", path, self.address("race"), "absent").decode().strip()
        codes = []

        def put():
            codes.append(subprocess.run(self.command("put", path, self.address("race"), f"match={tag}"), env=self.env, capture_output=True,
                                        timeout=60, check=False).returncode)
        threads = [threading.Thread(target=put) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(codes), [0] + [10 + STATUS["conflict"]] * 7)

    # --- what was interrupted

    def killed_in_the_middle(self, command, after):
        """Each of its requests takes longer than the one before; it is killed when `after` says so of the proxy, whose `large` counts the
        answers to requests with a MiB or more."""
        def counted(answer):
            proxy.large += 1
            return answer
        proxy = self.proxied(lambda request: Treatment(delay=0.05 * request.number, change=counted if len(request.body) >= MIB else None))
        proxy.large = 0
        process = subprocess.Popen(command, env=self.env)
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end and not after(proxy):
            time.sleep(0.002)
        process.kill()
        self.assertEqual(process.wait(), -9, "it was done before it could be killed")
        proxy.faults = None
        while proxy.busy and time.monotonic() < end:  # what is under way arrives
            time.sleep(0.05)
        return proxy

    def test_an_upload_that_is_killed_goes_on(self):
        path = self.file("big", self.big)
        put = self.command("put", path, self.address("big"), f"part={self.part}")
        proxy = self.killed_in_the_middle(put, lambda p: p.large >= 2)
        before = len(proxy.log)
        self.tool("put", path, self.address("big"), f"part={self.part}")
        self.assertEqual(hashlib.sha256(self.body("big")).digest(), hashlib.sha256(path.read_bytes()).digest())
        sent = sum(len(request.body) for request in proxy.log[before:])
        self.assertLess(sent, self.big - self.part, "it began anew")
        self.assertEqual(list(self.folder.glob("big.radl-upload*")), [])
        self.assertEqual(self.store.unfinished(BUCKET), [])

    def test_an_upload_whose_file_has_changed_begins_anew(self):
        path = self.file("big", self.big)
        put = self.command("put", path, self.address("big"), f"part={self.part}")
        self.killed_in_the_middle(put, lambda p: p.large >= 1)
        path.write_bytes(b"x" * 17 * MIB)
        self.tool("put", path, self.address("big"), f"part={self.part}")
        self.assertEqual(self.body("big"), path.read_bytes())
        self.assertEqual(self.store.unfinished(BUCKET), [])

    def test_a_download_that_is_killed_goes_on_with_its_ranges(self):
        path, got = self.file("big", self.big), self.folder / "got"
        self.store.put_file(BUCKET, "big", path)
        part, note = self.folder / "got.part", self.folder / "got.part.json"
        self.killed_in_the_middle(self.command("get", self.address("big"), got),
                                  lambda _: note.exists() and part.exists() and part.stat().st_blocks > 0)
        self.assertFalse(got.exists())
        self.tool("get", self.address("big"), got)
        self.assertEqual(hashlib.sha256(got.read_bytes()).digest(), hashlib.sha256(path.read_bytes()).digest())
        self.assertFalse(part.exists() or note.exists())

    # --- faults

    def test_what_may_pass_is_tried_again(self):
        """Every request is turned away, cut off or reset the first time that it comes."""
        path = self.file("f", 9 * MIB)
        seen, kinds = set(), ["refuse", "reset_before", "cut", "reset_after"]

        def faults(request):
            what = (request.method, request.path, request.headers.get("content-range"), request.headers.get("range"))
            if what in seen:
                return Treatment()
            seen.add(what)
            kind = kinds[len(seen) % len(kinds)]
            if kind == "refuse":
                return Treatment(refuse=Answer(503, [("Content-Type", "text/plain")], b"busy"))
            return Treatment(cut=0.5) if kind == "cut" else Treatment(**{kind: True})
        proxy = self.proxied(faults)
        self.tool("put", path, self.address("f"), f"part={self.part}")
        self.assertEqual(self.body("f"), path.read_bytes())
        self.tool("get", self.address("f"), self.folder / "got")
        self.assertEqual((self.folder / "got").read_bytes(), path.read_bytes())
        self.assertIn(b"f ", self.tool("list", self.address()))
        self.assertGreater(len(proxy.log), len(seen))

    def test_a_conditional_write_whose_answer_is_lost_is_not_repeated(self):
        self.tool("put", self.file("one", 10), self.address("other"))
        proxy = self.proxied(lambda request: Treatment(reset_after="once" in request.path))
        self.tool("put", self.file("one", 10), self.address("once"), "absent", fails="lost")
        self.assertEqual(len([r for r in proxy.log if r.method in ("PUT", "POST") and "once" in r.path]), 1)
        proxy.faults = None
        self.tool("put", self.file("two", 11), self.address("once"), "absent", fails="exists")
        self.assertEqual(self.body("once"), (self.folder / "one").read_bytes())

    def test_bytes_that_changed_on_their_way_are_not_kept(self):
        path = self.file("f", 100_000)
        self.store.put_file(BUCKET, "f", path)

        def other(answer):
            if len(answer.body) == 100_000:
                answer.body = b"X" + answer.body[1:]
            return answer
        self.proxied(lambda request: Treatment(change=other))
        self.tool("get", self.address("f"), self.folder / "got", fails="corrupt")
        self.assertFalse((self.folder / "got").exists())
        self.assertIn("checksum", self.said)

    def test_what_is_not_there(self):
        self.tool("get", self.address("none"), self.folder / "none", fails="not-found")
        self.assertEqual(list(self.folder.glob("none*")), [])
        self.tool("list", f"{self.store.scheme}://no-such-bucket-here", fails="not-found")
        self.assertIn("Create it first", self.said)
        self.assertNotIn("?", self.said)

    # --- URLs that are good by themselves

    def test_presigned_urls_get_and_put_without_credentials(self):
        path = self.file("signed", 1000)
        put = self.tool("presign", "PUT", self.address("a b/signed"), 60).decode().strip()
        request = urllib.request.Request(put, path.read_bytes(), {"Content-Type": "application/octet-stream", **self.store.put_headers}, method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
        get = self.tool("presign", "GET", self.address("a b/signed"), 60).decode().strip()
        with urllib.request.urlopen(get, timeout=10) as answer:
            self.assertEqual(answer.read(), path.read_bytes())
        self.tool("presign", "GET", self.address("x"), 8 * 24 * 3600, fails="invalid")
