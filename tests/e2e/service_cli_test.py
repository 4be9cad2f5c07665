"""`radlc login` and `radlc --server`: the command line on a service."""
import http.server
import json
import re
import signal
import threading

from service_cli_case import NODE, ServiceCliCase

HELD = """configure tools (command 'echo it $((40+2)); until [ -e ~/release ]; do sleep 0.05; done' ())
contextualize (system worker configure tools step 1)
"""


class ServiceCliTest(ServiceCliCase):
    def test_a_token_is_checked_and_kept_for_its_user_alone(self):
        (self.folder / "wrong").write_text("0" * 64)
        self.radlc("login", self.host, "--token-file", self.folder / "wrong", code=2)
        kept = self.folder / "config/radlc/servers.json"
        self.assertFalse(kept.exists())
        self.on_service("plan", self.file, code=1)  # there is no token
        self.log_in()
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        self.assertEqual(json.loads(kept.read_text()), {self.host: self.token})
        for url in ("http://192.0.2.1:8899", "http://127.0.0.1.example.com", "http://127.0.0.1.evil", "http://u:s3cr3t@127.0.0.1:8899"):
            self.radlc("login", url, "--token-file", self.folder / "service/token", code=1)
            self.assertNotIn("s3cr3t", self.err)
        # No proxy sees the token: this one does not even exist.
        for name in ("no_proxy", "NO_PROXY"):
            self.environment.pop(name, None)
        self.environment["http_proxy"] = "http://127.0.0.1:1"
        self.log_in()
        self.on_service("plan", self.file)
        self.radlc("login", self.host, "--remove")
        self.assertEqual(json.loads(kept.read_text()), {})

    def test_plan_apply_and_destroy(self):
        self.log_in()
        local = self.radlc("plan", self.file, "--cloud", "local")
        self.assertEqual(self.on_service("plan", self.file), local)
        self.assertEqual(list((self.folder / "service").glob("workspaces/*/plans/*")), [])  # its draft is gone
        self.on_service("apply", self.file, code=1)  # nobody is asked
        self.on_service("apply", self.file, "--auto-approve")
        (one,) = self.named("one")
        self.assertEqual((one["state"], one["nodes"]), ("ready", 1))
        self.assertFalse((self.folder / ".radl").exists())  # nothing of it is here
        events = [json.loads(line) for line in self.on_service("runs", self.file, "-f", "--json").splitlines()]
        self.assertEqual([event["sequence"] for event in events], list(range(1, len(events) + 1)))
        rest = self.on_service("runs", self.file, "--from", str(len(events)), "--json").splitlines()
        self.assertEqual([json.loads(line) for line in rest], events[-1:])
        self.on_service("wait", self.file)
        self.on_service("destroy", self.file, "--auto-approve")
        self.assertEqual(self.named("one")[0]["state"], "destroyed")
        self.assertEqual([run["command"] for run in json.loads(self.on_service("runs", self.file, "--json"))], ["destroy", "apply"])

    def test_outputs_alone_are_applied_and_destroyed(self):
        self.log_in()
        for value in ("one", "two"):
            self.file.write_text(f"radl 2\noutput a (value = '{value}')\n")
            self.on_service("apply", self.file, "--auto-approve")
        runs = json.loads(self.on_service("runs", self.file, "--json"))
        self.assertEqual([run["state"] for run in runs], ["done", "done"])
        self.on_service("apply", self.file, "--auto-approve")  # there is nothing to do
        self.assertEqual(len(json.loads(self.on_service("runs", self.file, "--json"))), 2)
        self.on_service("destroy", self.file, "--auto-approve")
        self.assertEqual(self.named("one")[0]["state"], "destroyed")

    def test_a_plan_with_the_scope_plan_leaves_no_draft(self):
        (self.folder / "plans").write_text(self.issue("ana", "plan"))
        self.radlc("login", self.host, "--token-file", self.folder / "plans")
        self.file.write_text("network lan ()\n")
        self.on_service("plan", self.file)
        self.assertEqual(list((self.folder / "service/workspaces").iterdir()), [])

    def test_a_run_is_named_by_its_whole_number(self):
        self.log_in()
        for number in range(11):
            self.file.write_text(f"radl 2\noutput a (value = '{number}')\n")
            self.on_service("apply", self.file, "--auto-approve", "--detach")
            self.on_service("wait", self.file)
        (one,) = self.named("one")
        event = json.loads(self.on_service("runs", "-f", self.file, "1", "--json").splitlines()[0])
        self.assertEqual(event, self.get(f"/runs/{one['id']}-1/events")["events"][0])
        self.on_service("runs", "-f", self.file, "12", code=1)

    def test_findings_and_options_that_a_service_does_not_have(self):
        self.log_in()
        self.file.write_text(NODE + "deploy other 1\n")
        self.on_service("plan", self.file, code=1)
        self.file.write_text(NODE)
        self.on_service("check", self.file, code=1)
        self.on_service("wait", self.file, "program/x", code=1)
        self.on_service("destroy", self.file, "--auto-approve")  # there is none
        self.on_service("destroy", "--name", "one", "--auto-approve", code=1)
        self.assertEqual(self.named("one"), [])

    def test_each_option_is_honoured_or_refused_with_a_reason(self):
        # There is no token: a command with an option that a service honours fails only for want of it.
        values = {"NAME=VALUE": "a=1", "CLOUD": "local", "FILE": "other", "TEXT": "x", "AMOUNT[/h]": "1", "ADDRESS": "worker[0]", "DIR": "x",
                  "PLACE": "x", "SECONDS": "1", "ID": "x", "TAG": "x", "NUMBER": "1", "INT": "1"}
        refused = {}
        for command in ("plan", "apply", "scale", "destroy", "runs", "wait", "logs", "cancel", "show", "output", "list"):
            words = {"scale": [self.file, "worker", "1"], "list": []}.get(command, [self.file])
            self.on_service(command, *words, code=1)
            self.assertIn("radlc login", self.err)
            options = re.findall(r"^  (?:-\w,)?(--[\w-]+)(?:,--[\w-]+)*(?: ([A-Z][\w=\[\]/]*)(?::\{(\w+))?\S*)?", self.radlc(command, "--help"), re.M)
            self.assertTrue(options, command)
            for option, kind, choice in options:
                if option == "--help":
                    continue
                given = [option] + ([choice or values[kind]] if kind else [])
                its = [self.file, "worker"] if option in ("--node", "--reset") else words
                self.radlc("--server", self.host, command, *its, *given, code=None)
                if "radlc login" not in self.err:
                    self.assertRegex(self.err, rf"error: {option} of radlc {command} is not supported with --server: \w")
                    refused.setdefault(command, set()).add(option)
        state, all_of_a_run = {"--state"}, {"--state", "--auth", "--ask-sudo-password"}
        self.assertEqual(refused, {
            "plan": all_of_a_run | {"--out"}, "apply": all_of_a_run, "scale": {"--state", "--auth"},
            "destroy": all_of_a_run | {"--also", "--from-cloud"}, "runs": state, "logs": state, "cancel": state, "show": state, "output": state,
            "wait": {"--state", "--auth", "--cloud", "--input", "--input-file", "--module-path"}})

    def test_ctrl_c_leaves_the_run_going(self):
        self.log_in()
        self.file.write_text(NODE + HELD)
        client = self.start("--server", self.host, "apply", self.file, "--auto-approve", "--json")
        while "it 42" not in (line := client.stdout.readline()):
            self.assertNotEqual(line, "", "it has ended")
        client.send_signal(signal.SIGINT)
        _, err = client.communicate(timeout=60)
        self.assertEqual(client.returncode, 130, err)
        self.assertEqual(self.named("one")[0]["state"], "working")
        # The command that it prints follows the run to its end.
        words = re.search(r"radlc (--server \S+ wait --name [\w-]+)", err)[1].split()
        follower = self.start(*words)
        self.release()
        _, err = follower.communicate(timeout=120)
        self.assertEqual(follower.returncode, 0, err)
        self.assertEqual(self.named("one")[0]["state"], "ready")

    def test_ctrl_c_while_a_run_is_started_names_it(self):
        begun, over, test = threading.Event(), threading.Event(), self

        class Between(http.server.BaseHTTPRequestHandler):
            """Passes requests on to the service; the answer to a started run never arrives."""
            def pass_on(self):
                status, body, _ = test.ask(self.command, self.path.removeprefix("/api/v1"), self.rfile.read(int(self.headers.get("Content-Length", 0))))
                if (self.command, self.path) == ("POST", "/api/v1/runs"):
                    begun.set()
                    over.wait()
                    return
                body = json.dumps(body).encode() if body else b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            do_GET = do_POST = do_PUT = do_DELETE = pass_on

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between) as between:
            threading.Thread(target=between.serve_forever).start()
            try:
                url = f"http://127.0.0.1:{between.server_port}"
                self.log_in(url)
                client = self.start("--server", url, "apply", self.file, "--auto-approve")
                self.assertTrue(begun.wait(60))
                client.send_signal(signal.SIGINT)
                _, err = client.communicate(timeout=60)
            finally:
                over.set()
                between.shutdown()
        self.assertEqual(client.returncode, 130, err)
        (one,) = self.named("one")
        self.assertIn(one["id"] + "-1", err)
        self.assertEqual(self.end_of(one["id"] + "-1")["state"], "done")

    def test_a_broken_connection_is_resumed_and_files_go_along(self):
        self.log_in()
        self.write("files/data.txt", "sent")
        self.write("files/unnamed", "stays here")
        self.file.write_text(NODE + "output data (value = file('./files/data.txt'))\n" + HELD)
        client = self.start("--server", self.host, "apply", self.file, "--auto-approve", "--json")
        lines = []
        while not lines or "it 42" not in lines[-1]:
            lines.append(client.stdout.readline())
            self.assertNotEqual(lines[-1], "", "it has ended")
        (one,) = self.named("one")
        self.assertEqual([file["path"] for file in self.get(f"/infrastructures/{one['id']}/files")["files"]], ["files/data.txt", "one.radl"])
        # The service is killed in the middle, and is there again.
        self.server.kill()
        self.server.communicate()
        self.serve(self.port)
        self.release()
        out, err = client.communicate(timeout=120)
        self.assertEqual(client.returncode, 0, err)
        numbers = [json.loads(line)["sequence"] for line in lines + out.splitlines()]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))  # each event once
