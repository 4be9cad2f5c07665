"""radl-train serve under clients that want too much: its memory stays within --memory, and /health is answered meanwhile."""
import base64
import concurrent.futures
import http.client
import json
import socket
import struct
import time
import zlib

from engine_case import test_image
from serve_case import ServeCase

MIB = 1 << 20
BODY = 32 << 20  # the largest that is taken


def black_png(height, width):
    """A few bytes for each row of an RGB image."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, row = zlib.compressobj(9), bytes(1 + 3 * width)
    rows = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", rows) +
            chunk(b"IEND", b""))


class ServeLoadTest(ServeCase):
    def largest_memory(self):
        """Bytes: the most that the server has had in memory."""
        with open(f"/proc/{self.server.pid}/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))

    def connect(self, text):
        client = socket.create_connection(("127.0.0.1", self.port), 30)
        self.addCleanup(client.close)
        client.sendall(text)
        return client

    def healthy(self):
        self.assertEqual(self.ask("GET", "/health")[0], 200)

    def queued(self):
        """Bytes on their way to the server that it has not read (proc(5), net/tcp: local, remote address, state, tx:rx)."""
        port, total = f":{self.port:04X}", 0
        with open("/proc/net/tcp") as connections:
            for line in list(connections)[1:]:
                local, remote, _, queues = line.split()[1:5]
                sent, received = (int(one, 16) for one in queues.split(":"))
                total += sent * remote.endswith(port) + received * local.endswith(port)
        return total

    def wait_until_read(self):
        deadline = time.monotonic() + 45  # less than the time that a body may take
        while self.queued():
            self.assertLess(time.monotonic(), deadline, "the server does not read what was sent")
            time.sleep(0.05)

    def predicts(self):
        self.assertEqual(self.ask("POST", "/predict", test_image(0)[1])[0], 200)

    def start_measured(self, *options):
        self.start(*options)
        self.predicts()
        self.before = self.largest_memory()

    def assert_within(self, mib):
        """Half of the memory for what else a process takes: connections' threads, the compressed images, libraries."""
        self.assertLess(self.largest_memory() - self.before, 1.5 * mib * MIB)

    def test_small_files_of_large_images(self):
        self.start_measured("--memory", "512")
        large = black_png(8000, 8000)  # 192 MB of pixels
        self.assertLess(len(large), MIB)
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            answers = [pool.submit(self.ask, "POST", "/predict", large) for _ in range(40)]
            while not all(answer.done() for answer in answers):
                self.healthy()
                concurrent.futures.wait(answers, 0.2, concurrent.futures.FIRST_COMPLETED)
        self.assert_within(512)
        statuses = [answer.result()[0] for answer in answers]
        self.assertLessEqual(set(statuses), {200, 503})
        self.assertIn(200, statuses)
        for status, body, headers in (answer.result() for answer in answers):
            self.assertEqual("Retry-After" in headers, status == 503, body)
        self.predicts()

    def test_pixels_of_one_request_are_limited(self):
        self.start_measured("--memory", "512")
        large = base64.b64encode(black_png(8000, 8000)).decode()
        status, body, _ = self.ask("POST", "/predict", json.dumps({"images": [large] * 5}))
        self.assertEqual((status, "pixels" in json.loads(body)["error"]), (413, True), body)
        long = black_png(4_000_000, 2)  # rows of two pixels: a width of 32 for each would be 1.5 GB
        self.assertEqual(self.ask("POST", "/predict", long)[0], 200)
        self.assert_within(512)

    def test_a_image_beyond_the_memory_is_refused(self):
        self.start("--memory", "256")
        status, body, _ = self.ask("POST", "/predict", black_png(8000, 8000))
        self.assertEqual((status, "MiB" in json.loads(body)["error"]), (413, True), body)

    def test_slow_headers_leave_room(self):
        self.start_measured("--connections", "64")
        for k in range(300):
            self.connect(b"POST /predict HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            if k % 20 == 0:
                self.healthy()
        self.healthy()
        self.predicts()
        self.assert_within(128)

    def test_unfinished_bodies_leave_room(self):
        self.start_measured("--memory", "256")
        clients = [self.connect(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % BODY) for _ in range(8)]
        for client in clients:  # one after the other: how many find room does not depend on whose bytes are read first
            client.sendall(bytes(31 * MIB))
            self.wait_until_read()
            self.healthy()
        self.assert_within(256)
        status, body, headers = self.ask("POST", "/predict", test_image(0)[1] + bytes(20 * MIB))
        self.assertEqual((status, headers["Retry-After"]), (503, "1"), body)
        for client in clients:
            client.close()
        while self.ask("POST", "/predict", test_image(0)[1])[0] == 503:  # until the server has seen that they are gone
            self.healthy()
        self.predicts()

    def test_unfinished_bodies_of_unknown_length(self):
        self.start_measured("--memory", "256")
        part = b"%x\r\n" % MIB + bytes(MIB) + b"\r\n"
        clients = [self.connect(b"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n") for _ in range(30)]
        for _ in range(31):
            for client in clients:
                client.sendall(part)
        self.healthy()
        self.assert_within(256)

    def test_json_of_many_small_things(self):
        self.start_measured("--memory", "256")
        body = b'{"other": [' + b"{}," * (10 << 20) + b"0]}"
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: self.ask("POST", "/predict", body), range(8)))
        self.assertLessEqual({status for status, _, _ in answers}, {400, 503})
        self.assert_within(256)
        self.healthy()

    def test_bodies_in_pieces_and_questions_before_bodies(self):
        self.start()
        image = test_image(0)[1]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", "/predict", iter([image[:10], image[10:500], image[500:]]), encode_chunked=True,
                           headers={"Transfer-Encoding": "chunked"})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        asking = b"POST /predict HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
        self.assertTrue(self.connect(asking % (BODY + 1)).recv(1000).startswith(b"HTTP/1.1 413"))
        self.assertTrue(self.connect(asking % BODY).recv(1000).startswith(b"HTTP/1.1 100"))
        self.assertTrue(self.connect(asking.replace(b"%d", b"99999999999999999999")).recv(1000).startswith(b"HTTP/1.1 4"))
