"""Webhooks of `radlc serve`: signed, sent until they arrive, and only to open addresses."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import subprocess
import sys
import threading

from page_case import SOURCE, PageCase

PROGRAM = "radl 2\noutput a (value = {})\n"
PAGE = SOURCE / "docs/service-webhooks.md"


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what it is sent; answers the first requests with `answers`, then 204."""
    daemon_threads = True

    def __init__(self, port=0, answers=()):
        self.got, self.refused, self.answers, self.lock = [], [], list(answers), threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.lock:
                    status = receiver.answers.pop(0) if receiver.answers else 204
                    (receiver.got if status == 204 else receiver.refused).append((self.path, dict(self.headers), body))
                self.send_response(status)
                if status == 307:
                    self.send_header("Location", f"http://127.0.0.1:{receiver.server_port}/redirected")
                self.end_headers()

            def log_message(self, *_):
                pass
        super().__init__(("127.0.0.1", port), Handler)
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def close(self):
        self.shutdown()
        self.thread.join()
        self.server_close()

    def events(self):
        with self.lock:
            return [json.loads(body)["type"] for _, _, body in self.got]


class ServiceWebhooksTest(PageCase):
    def setUp(self):
        super().setUp()
        self.receiver = None

    def tearDown(self):
        if self.receiver:
            self.receiver.close()
        super().tearDown()

    def hook(self, port, **more):
        status, hook, _ = self.ask("POST", "/webhooks", {"url": f"http://127.0.0.1:{port}/hook", **more})
        self.assertEqual(status, 201, hook)
        return hook

    def has(self, *events):
        self.wait_until(lambda: set(self.receiver.events()) >= set(events), 120, lambda: str(self.get("/webhooks")))

    def settled(self):
        """The only webhook, once nothing is pending."""
        self.wait_until(lambda: not self.get("/webhooks")["webhooks"][0]["pending"], 120)
        return self.get("/webhooks")["webhooks"][0]

    def test_its_url_is_a_secret_of_those_who_may_add_one(self):
        """The URL of many receivers is all that a stranger needs to write there."""
        self.receiver = Receiver(answers=(500,))
        hook = self.hook(self.receiver.server_port)
        self.assertEqual(hook["attempts"], [])
        self.run_plan(infrastructure=self.create(), program=PROGRAM.format(1))
        self.has("run.queued", "run.started", "run.finished")
        shown = self.settled()
        self.assertEqual(shown["url"], hook["url"])
        self.assertNotIn("secret", shown)
        self.assertEqual(len(shown["attempts"]), 4)
        self.assertEqual([a["number"] for a in shown["attempts"] if a["error"]], [1])
        self.assertEqual(sorted(a["number"] for a in shown["attempts"] if not a["error"]), [1, 1, 2])
        for scope in ("read", "plan"):
            secret = self.ask_at("/api/tokens", "POST", {"scope": scope})[1]["secret"]
            status, listed, _ = self.ask("GET", "/webhooks", Authorization=f"Bearer {secret}")
            self.assertEqual((status, listed["webhooks"][0]["id"]), (200, hook["id"]))
            self.assertNotIn("/hook", json.dumps(listed))
            self.assertNotIn(str(self.receiver.server_port), json.dumps(listed))

    def test_each_event_arrives_signed_and_is_sent_again_until_it_does(self):
        self.receiver = Receiver(answers=(500, 307))
        hook = self.hook(self.receiver.server_port)
        one = self.create()
        run = self.start_plan(infrastructure=one, program=PROGRAM.format(1))
        self.has("run.queued", "run.started", "run.finished")
        key = base64.b64decode(hook["secret"].removeprefix("whsec_"))
        self.assertEqual(len(key), 32)
        for path, headers, body in self.receiver.got + self.receiver.refused:
            self.assertEqual(path, "/hook")
            event = json.loads(body)
            self.assertEqual((event["data"]["infrastructure"]["id"], event["data"]["run"]["id"]), (one, run))
            signed = f"{headers['Webhook-Id']}.{headers['Webhook-Timestamp']}.".encode() + body
            self.assertEqual(headers["Webhook-Signature"], "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode())
        arrived = [headers["Webhook-Id"] for _, headers, _ in self.receiver.got]
        self.assertEqual(len(self.receiver.refused), 2)
        self.assertEqual(len(set(arrived)), 3)
        self.assertLessEqual({headers["Webhook-Id"] for _, headers, _ in self.receiver.refused}, set(arrived))
        finished = next(json.loads(body) for _, _, body in self.receiver.got if json.loads(body)["type"] == "run.finished")
        self.assertEqual(finished["data"]["run"]["state"], "done")
        listed = self.settled()
        self.assertNotIn("secret", listed)
        self.assertEqual((listed["last_error"], listed["given_up"]), ("", 0))
        for path in (self.folder / "service").rglob("*"):
            if path.is_file():
                self.assertNotIn(hook["secret"].encode(), path.read_bytes(), path)
        self.assertEqual(list((self.folder / "service/deliveries").iterdir()), [])
        self.assertEqual(self.ask("DELETE", f"/webhooks/{hook['id']}")[0], 204)
        self.assertEqual(self.ask("DELETE", f"/webhooks/{hook['id']}")[0], 404)
        self.assertEqual(self.get("/webhooks")["webhooks"], [])

    def test_a_delivery_survives_kill_9_and_goes_with_its_webhook(self):
        self.receiver = Receiver()
        port = self.receiver.server_port
        self.receiver.close()
        self.receiver = None
        hook = self.hook(port, events=["run.finished"])
        run = self.run_plan(infrastructure=self.create(), program=PROGRAM.format(1))
        self.wait_until(lambda: self.get("/webhooks")["webhooks"][0]["last_error"])
        self.assertEqual(self.get("/webhooks")["webhooks"][0]["pending"], 1)
        self.server.kill()
        self.server.communicate()
        self.receiver = Receiver(port)
        (self.folder / "service/deliveries/half.json").write_text("{")  # a note, and no reason not to start
        self.serve(self.port)
        self.has("run.finished")
        self.assertEqual(self.receiver.events(), ["run.finished"])
        self.assertEqual(json.loads(self.receiver.got[0][2])["data"]["run"]["id"], run["id"])
        self.settled()
        self.receiver.close()
        self.receiver = None
        self.run_plan(infrastructure=self.create("another"), program=PROGRAM.format(2))
        self.wait_until(lambda: self.get("/webhooks")["webhooks"][0]["last_error"])
        self.assertEqual(self.ask("DELETE", f"/webhooks/{hook['id']}")[0], 204)
        self.wait_until(lambda: [p.name for p in (self.folder / "service/deliveries").iterdir()] == ["half.json"])

    def test_a_run_that_was_asked_to_stop_is_reported_by_the_next_service(self):
        self.receiver = Receiver()
        self.hook(self.receiver.server_port, events=["run.finished"])
        one = self.create()
        run = self.run_plan(infrastructure=one, program=PROGRAM.format(1))["id"]
        self.has("run.finished")
        self.server.kill()
        self.server.communicate()
        about = self.folder / "service/workspaces" / one / "about.json"
        record = json.loads(about.read_text())
        record["runs"][0] |= {"state": "running", "stop_asked": True}
        about.write_text(json.dumps(record))
        self.serve(self.port)
        self.assertEqual(self.get(f"/runs/{run}")["state"], "stopped")
        # Three if the service was killed before it noted that the first had arrived.
        self.wait_until(lambda: len(self.receiver.events()) >= 2)
        self.assertEqual(len({headers["Webhook-Id"] for _, headers, _ in self.receiver.got}), 1)

    def test_closed_and_open_addresses(self):
        for url, status in (("https://169.254.169.254/latest", 403), ("https://[::ffff:169.254.169.254]/", 403), ("https://0.0.0.0/", 403),
                            ("https://[fd00:ec2::254]/", 403), ("https://2852039166/", 403), ("http://192.0.2.1/", 400), ("ftp://example.org/", 400),
                            ("https://u:p@192.0.2.1/", 400), ("", 400), (1, 400)):
            self.assertEqual(self.ask("POST", "/webhooks", {"url": url})[0], status, url)
        self.assertEqual(self.ask("POST", "/webhooks", {"url": "https://192.0.2.1/" + "x" * 2000})[0], 400)
        for events in ("run.finished", ["run.lost"], [1]):
            self.assertEqual(self.ask("POST", "/webhooks", {"url": "https://192.0.2.1/", "events": events})[0], 400, events)
        token = self.issue("bob", "apply")
        for url in ("http://127.0.0.1:1/", "https://localhost/", "https://[::1]/"):
            self.assertEqual(self.ask("POST", "/webhooks", {"url": url}, Authorization=f"Bearer {token}")[0], 400 if url[4] == ":" and "127" not in url else 403, url)
        for _ in range(20):
            self.assertEqual(self.ask("POST", "/webhooks", {"url": "https://192.0.2.1/"}, Authorization=f"Bearer {token}")[0], 201)
        self.assertNotIn(self.ask("POST", "/webhooks", {"url": "https://192.0.2.1/"}, Authorization=f"Bearer {token}")[0], (201, 500))
        self.assertEqual(self.hook(1, events=["run.finished"] * 100000)["events"], ["run.finished"])  # each once: all must fit into one file
        self.assertEqual({hook["user"] for hook in self.ask("GET", "/webhooks", Authorization=f"Bearer {token}")[1]["webhooks"]}, {"bob"})
        self.assertEqual(len(self.get("/webhooks")["webhooks"]), 21)  # an administrator sees all

    def test_a_name_that_leads_to_a_closed_address_later_is_not_connected_to(self):
        """The address is checked when the service connects: a name may lead elsewhere by then (DNS rebinding)."""
        self.stop_server()
        names = self.write("hosts", "192.0.2.1 moves.test\n")
        private = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"mount --bind {names} /etc/hosts && exec \"$@\"", "sh"]
        if subprocess.run([*private, "true"], capture_output=True).returncode != 0:
            self.serve()
            self.skipTest("no file system of its own for the service: needs root")
        self.receiver = Receiver()
        self.serve(wrapper=private)
        status, hook, _ = self.ask("POST", "/webhooks", {"url": f"https://moves.test:{self.receiver.server_port}/", "events": ["run.finished"]})
        self.assertEqual(status, 201, hook)
        names.write_text("127.0.0.1 moves.test\n")
        self.assertEqual(self.ask("POST", "/webhooks", {"url": "https://moves.test/"})[0], 403)
        self.run_plan(infrastructure=self.create(), program=PROGRAM.format(1))
        self.wait_until(lambda: self.get("/webhooks")["webhooks"][0]["last_error"])
        self.assertIn("makes no requests to that address", self.get("/webhooks")["webhooks"][0]["last_error"])
        self.assertEqual(self.receiver.got, [])

    def test_the_receiver_of_the_page_verifies_signatures(self):
        (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
        self.receiver = Receiver()
        port = self.receiver.server_port
        self.receiver.close()
        self.receiver = None
        for right in (True, False):
            hook = self.hook(port, events=["run.finished"])
            secret = hook["secret"] if right else "whsec_" + base64.b64encode(bytes(32)).decode()
            environment = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": secret}
            with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as receiver:
                try:
                    run = self.run_plan(infrastructure=self.create(f"right-{right}".lower()), program=PROGRAM.format(1))
                    if right:
                        self.assertEqual(receiver.stdout.readline(), f"run.finished {run['id']} done\n")
                        self.settled()
                    else:
                        self.wait_until(lambda: "401" in self.get("/webhooks")["webhooks"][0]["last_error"])
                finally:
                    receiver.kill()
            self.assertEqual(self.ask("DELETE", f"/webhooks/{hook['id']}")[0], 204)
