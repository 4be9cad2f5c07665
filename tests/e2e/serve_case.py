"""A running `radl-train serve` and requests to it, for the tests of it."""
import http.client
import re
import signal
import subprocess

from engine_case import RADL_TRAIN, EngineCase


class ServeCase(EngineCase):
    def setUp(self):
        super().setUp()
        self.server = self.port = None

    def tearDown(self):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.assertEqual(self.server.wait(30), 0)
            self.server.stdout.close()
            self.server.stderr.close()

    def start(self, *options):
        self.server = subprocess.Popen([str(RADL_TRAIN), "serve", str(self.model()), "--port", "0", *options], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.server.stdout.readline()
        self.assertIn("http://127.0.0.1:", line)
        self.port = int(re.search(r":(\d+) ", line)[1])

    def ask(self, method, path, body=None, headers={}):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            connection.close()
