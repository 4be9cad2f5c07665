"""A running `radlc serve` with its page, for tests in a browser and of its own API."""
import http.client
import json
import re
import signal

from radl_case import BUILD, SOURCE, RadlCase

PAGE = BUILD / "share/radlc/page"


class PageCase(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_CIFAR10_SUBSET"] = str(SOURCE / "examples/cifar10/subset")
        self.environment["XDG_DATA_HOME"] = str(self.folder / "data")
        self.environment["XDG_STATE_HOME"] = str(self.folder / "state")
        self.server = None
        self.serve()

    def tearDown(self):
        try:
            self.clean_up()
        finally:
            super().tearDown()

    def clean_up(self):
        """Stops what runs and destroys what exists: no test leaves a node."""
        if not self.server or self.server.poll() is not None:
            self.serve(self.port)
        for one in self.get("/infrastructures")["infrastructures"]:
            for _ in range(2):
                for run in self.get(f"/runs?infrastructure={one['id']}")["runs"]:
                    self.ask("POST", f"/runs/{run['id']}/stop")
                self.wait_until(lambda: self.get(f"/infrastructures/{one['id']}")["state"] not in ("working", "deleting"), 120)
                if self.get(f"/infrastructures/{one['id']}")["resources"]:
                    self.run_plan(infrastructure=one["id"], command="destroy")
        self.stop_server()

    def serve(self, port=0, wrapper=(), folder="service", options=()):
        """`wrapper`: a command that runs radlc."""
        self.server = self.start("serve", "--open", "--trust-users", "--listen", f"127.0.0.1:{port}", "--folder", self.folder / folder, "--cloud", "local",
                                 *options, wrapper=wrapper)
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+);", self.server.stdout.readline())[1])
        self.link = re.search(r"http://\S+", self.server.stdout.readline())[0]
        self.token = (self.folder / folder / "token").read_text().strip()
        self.host = f"http://127.0.0.1:{self.port}"

    def stop_server(self, with_signal=signal.SIGTERM):
        self.server.send_signal(with_signal)
        out, err = self.server.communicate(timeout=120)
        return self.server.returncode, err

    def ask(self, method, path, body=None, **headers):
        """Status, the body (of JSON its value), the headers of a request below /api/v1."""
        return self.ask_at("/api/v1" + path, method, body, **headers)

    def ask_at(self, path, method, body=None, **headers):
        raw = isinstance(body, (bytes, str))
        headers = {"Authorization": f"Bearer {self.token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=170)
        connection.request(method, path, body if raw or body is None else json.dumps(body),
                           {name: value for name, value in headers.items() if value is not None})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(content) if is_json else content, answer.headers

    def get(self, path):
        status, body, _ = self.ask("GET", path)
        self.assertEqual(status, 200, body)
        return body

    def plan(self, **query):
        status, plan, _ = self.ask("POST", "/plans", query)
        self.assertEqual(status, 201, plan)
        return plan

    def start_plan(self, **query):
        status, run, _ = self.ask("POST", "/runs", {"plan": self.plan(**query)["id"]})
        self.assertEqual(status, 202, run)
        return run["id"]

    def end_of(self, run):
        """The run once it is over."""
        self.wait_until(lambda: self.get(f"/runs/{run}")["state"] not in ("queued", "running"), 170, lambda: str(self.get(f"/runs/{run}/events")["events"][-5:]))
        return self.get(f"/runs/{run}")

    def run_plan(self, **query):
        run = self.end_of(self.start_plan(**query))
        self.assertEqual(run["state"], "done", run)
        return run

    def create(self, name="cluster"):
        status, made, _ = self.ask("POST", "/infrastructures", {"name": name})
        self.assertEqual(status, 201, made)
        return made["id"]

    def upload(self, infrastructure, path, text):
        """A file of its program."""
        status, done, _ = self.ask("PUT", f"/infrastructures/{infrastructure}/files/{path}?offset=0&total={len(text)}", text)
        self.assertEqual(status, 201, done)

    def metrics(self, run, kind):
        return [e["data"] for e in self.get(f"/runs/{run}/events")["events"] if e["event"] == "metric" and e["data"]["event"] == kind]
