"""`radlc serve` among those who wish it ill: floods, slow and half requests, paths that lead out, and bytes that mean nothing."""
import pathlib
import random
import socket
import threading

from service_case import ServiceCase

OUT = ("..%2f..%2f..%2fetc%2fpasswd", "%2e%2e", "..", "%00", "..%5c..", "a%2fb", "%2fetc%2fpasswd", "%ff", "~", "....//", "%c0%ae%c0%ae")


class ServiceHostileTest(ServiceCase):
    def raw(self, request, timeout=60):
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            connection.sendall(request)
            answer = b""
            while part := connection.recv(65536):
                answer += part
        return answer

    def head(self, method, path, *more):
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Authorization: {self.authorization()}", "Connection: close", *more]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def memory(self):
        """Bytes of the service in memory."""
        line = next(line for line in pathlib.Path(f"/proc/{self.server.pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024

    def assert_serves(self):
        self.assertIsNone(self.server.poll())
        self.wait_until(lambda: self.ask("GET", "/infrastructures")[0] == 200, 60)
        self.assertLess(self.memory(), 400 << 20)

    def test_a_thousand_requests_at_once(self):
        path, statuses, lock = self.create("network n ()"), [], threading.Lock()

        def look(count):
            for _ in range(count):
                try:
                    status = self.ask("GET", path)[0]
                except OSError:  # one connection too many is closed
                    status = 0
                with lock:
                    statuses.append(status)

        threads = [threading.Thread(target=look, args=(10,)) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(statuses), 1000)
        self.assertLessEqual(set(statuses), {200, 429, 503, 0})
        self.assertIn(200, statuses)
        self.assert_serves()
        self.assertEqual(self.ask("GET", path)[0], 200)

    def test_slow_and_partial_requests_block_no_other(self):
        kept = []
        for start in (b"GET / HT", b"POST /infrastructures HTTP/1.1\r\nHost: x\r\n", self.head("POST", "/infrastructures", "Content-Length: 1000") + b"half"):
            for _ in range(100):
                connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                connection.sendall(start)
                kept.append(connection)
        self.assert_serves()
        self.assertEqual(self.ask("GET", "/version")[0], 200)
        for connection in kept:
            connection.close()
        self.assertEqual(self.ask("GET", "/infrastructures")[1], "")  # of the half bodies nothing came

    def test_huge_bodies_and_headers(self):
        for body in (b"x" * (17 << 20), b"[" * (15 << 20)):
            try:
                status = self.ask("POST", "/infrastructures", body, Content_Type="application/json")[0]
            except OSError:  # it closes before all of it was sent
                status = 413
            self.assertIn(status, (400, 413))
        self.assertIn(b" 431 ", self.raw(self.head("GET", "/infrastructures", "X: " + "x" * 60000)))
        self.assert_serves()

    def test_deep_and_wide_json(self):
        """A value in a value a million times would overflow a stack, and a million values take a hundred times their bytes."""
        deep, wide = "[" * 1_000_000 + "]" * 1_000_000, "[" + "0," * 4_000_000 + "0]"
        for path in ("/api/v1/runs", "/api/v1/plans", "/api/v1/infrastructures", "/api/v1/recommend", "/api/v1/rehearsals", "/api/v1/measurements", "/api/v1/webhooks", "/api/tokens"):
            for inner in (deep, wide):
                self.assertIn(self.ask("POST", path, '{"name": "a", "scope": "all", "plan": "x-1", "inputs": {"a": %s}}' % inner)[0], (400, 413), path)
        uri = self.create("network n ()")
        for inner in (deep, wide):
            self.assertEqual(self.ask("POST", uri + "/authorization", '{"token": %s}' % inner)[0], 400)
            self.assertEqual(self.ask("PUT", "/infrastructures", '{"id": %s}' % inner)[0], 400)
        self.assert_serves()

    def test_many_large_bodies_at_once_do_not_fill_the_memory(self):
        kept = []
        for _ in range(60):
            connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            connection.sendall(self.head("POST", "/api/v1/plans", f"Content-Length: {15 << 20}"))
            try:
                for _ in range(15):  # all but its end
                    connection.sendall(b" " * ((1 << 20) - 100))
            except OSError:  # refused before all of it came
                pass
            kept.append(connection)
        self.assertLess(self.memory(), 700 << 20)
        for connection in kept:
            connection.close()
        self.assert_serves()

    def test_no_path_leads_out(self):
        path = self.create("network n ()")
        for out in OUT:
            for method, place in (("GET", f"/infrastructures/{out}"), ("DELETE", f"/infrastructures/{out}"), ("GET", f"{path}/{out}"), ("PUT", f"{path}/{out}"),
                                  ("GET", f"{path}/vms/{out}"), ("DELETE", f"{path}/vms/{out}"), ("GET", f"{path}/vms/0/{out}"), ("GET", f"/clouds/{out}/images"),
                                  ("GET", f"/static/{out}"), ("DELETE", f"/api/tokens/{out}"), ("GET", f"/{out}"), ("PUT", f"{path}/vms/0/disks/{out}/snapshot?image_name=x")):
                answer = self.raw(self.head(method, place, "Content-Length: 0"))
                status = int(answer.split(b" ", 2)[1])
                self.assertIn(status, (400, 403, 404, 405, 422), (method, place))
                self.assertNotIn(b"root:", answer)
        self.assertEqual(self.ask("GET", path)[0], 200)

    def test_nonsense_is_answered(self):
        chance = random.Random(37)
        pieces = [b"network ", b"system ", b"deploy ", b"configure c (", b"@begin", b"@end", b"(", b")", b"'", b"= ", b"\n", b"and ", b"9" * 40, b"\xff\xfe", b"\0",
                  b'{"class":', b"[", b"]", b"}", b'"', b"topology_template:", b" node_templates:", b"- &a *a", b"contextualize ("]
        for round_ in range(300):
            body = b"".join(chance.choice(pieces) for _ in range(chance.randrange(1, 60)))
            kind = chance.choice(("text/plain", "application/json", "text/yaml"))
            status, text, _ = self.ask("POST", "/infrastructures", body, query="?dry_run=1", Content_Type=kind)
            self.assertIn(status, (200, 400), (round_, body, text))
        for header in (b"type = ", b"[{]", b"Basic \xff", b"Bearer", b"\\n\\n\\n", b"type = InfrastructureManager; token = " + b"x" * 9000):
            answer = self.raw(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\nAuthorization: %s\r\n\r\n" % (self.port, header))
            self.assertIn(int(answer.split(b" ", 2)[1]), (400, 401), header)
        self.assert_serves()
        self.assertEqual(self.ask("GET", "/infrastructures")[1], "")
