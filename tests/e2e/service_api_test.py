"""The own API of `radlc serve` against its description, docs/openapi.json, and as a program uses it."""
import contextlib
import http.client
import json
import sqlite3
import threading

from api_case import DOCUMENT, ApiCase, mismatch, operations, resolve
from engine_case import test_image
from radl_case import found

NODE = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
deploy worker 1
"""
TRAINING = NODE + """
use 'std/training/all_reduce' as training (
  workers = system.worker
  model = 'logistic', dataset = 'cifar10', source = 'subset', epochs = 1, result = 'result'
)
"""


class Api(ApiCase):
    def test_the_document_has_each_route_with_its_scope(self):
        described = sorted((method, path, operation["x-scope"]) for method, path, operation in operations())
        self.assertEqual(sorted((r["method"], r["path"], r["scope"]) for r in self.get("/about")["routes"]), described)
        accounts = sorted((method, path, operation["x-scope"]) for method, path, operation in operations(""))
        self.assertEqual(sorted((r["method"], r["path"], r["scope"]) for r in self.get("/about")["account_routes"]), accounts)
        self.assertEqual(self.get("/openapi.json"), DOCUMENT)
        self.assertEqual(self.get("/me")["scope"], "admin")

    def account(self, method, path, body=None, **headers):
        """As ask(), of the requests of an account."""
        status, content, sent = self.ask_at("/api" + path, method, body, **headers)
        template = "/tokens/{token}" if path.startswith("/tokens/") else path
        (operation,) = [its for m, p, its in operations("") if (m, p) == (method, template)]
        self.assertIn(str(status), operation["responses"], f"{method} {path}: {content}")
        types = resolve(operation["responses"][str(status)]).get("content", {})
        if types:
            self.assertIn(sent.get_content_type(), types)
        if "application/json" in types:
            self.assertIsNone(mismatch(content, types["application/json"]["schema"]), f"{method} {path}")
        return status, content

    def test_accounts_answer_as_the_document_says(self):
        self.assertEqual(self.account("GET", "/me")[1]["scope"], "admin")
        status, token = self.account("POST", "/tokens", {"scope": "read", "days": 1, "label": "ci"})
        self.assertEqual(status, 201)
        self.assertIn(token["id"], [one["id"] for one in self.account("GET", "/tokens")[1]["tokens"]])
        for wrong in ("", "[]", {"scope": "all"}, {"scope": "read", "days": "x"}):
            self.assertEqual(self.account("POST", "/tokens", wrong)[0], 400, wrong)
        reader = {"Authorization": f"Bearer {token['secret']}"}
        for method, path in (("PUT", "/credentials"), ("DELETE", "/credentials"), ("GET", "/audit"), ("GET", "/audit/refused")):
            self.assertEqual(self.account(method, path, **reader)[0], 403, path)
        self.assertEqual(self.account("DELETE", f"/tokens/{token['id']}")[0], 204)
        self.assertEqual(self.account("DELETE", f"/tokens/{token['id']}")[0], 404)
        self.assertEqual(self.account("PUT", "/credentials", "id = one; type = OpenStack; host = https://192.0.2.1:5000; username = u; tenant = t; password = p")[0], 204)
        self.assertEqual(self.account("GET", "/credentials")[1]["credentials"], [{"id": "one", "type": "OpenStack"}])
        self.assertEqual(self.account("PUT", "/credentials", "nonsense")[0], 400)
        self.assertEqual(self.account("DELETE", "/credentials")[0], 204)
        self.assertIn(b"/api/credentials", self.account("GET", "/audit")[1])
        self.assertEqual(self.account("GET", "/audit/refused")[0], 200)
        for method, path, operation in operations(""):
            path = path.replace("{token}", "nothing")
            self.assertEqual(self.account(method, path, Authorization="Bearer " + "0" * 64)[0], 401, path)
            self.assertEqual(self.ask_at("/api" + path, "PATCH")[0], 405, path)
        for path in ("/api/me/x", "/api/tokens/a/b", "/api/audit/all", "/api/nothing"):
            self.assertEqual(self.ask_at(path, "GET")[0], 404, path)

    def test_strangers_and_wrong_requests_are_refused_on_each_route(self):
        for method, path, operation in operations():
            path = path.replace("{infrastructure}", "nothing").replace("{plan}", "nothing-1").replace("{run}", "nothing-1").replace("{webhook}", "nothing")
            path = path.replace("{path}", "a/b")
            for wrong in (None, "Bearer " + "0" * 64):
                self.assertEqual(super().ask(method, path, {} if method == "POST" else None, Authorization=wrong)[0], 401, path)
            self.assertEqual(super().ask("PATCH", path)[0], 405, path)
            self.assertEqual(super().ask(method, path, Sec_Fetch_Site="cross-site")[0], 403, path)
            if "{infrastructure}" in str(path) or "nothing" in path:
                self.assertIn(self.ask(method, path, {} if method == "POST" else None)[0], (400, 404), path)
            if method == "POST" and "requestBody" in operation and "application/json" in operation["requestBody"]["content"]:
                for body in ("", "[]", "{", '{"name": 1, "program": 2, "plan": 3, "infrastructure": 4}'):
                    self.assertIn(self.ask(method, path, body)[0], (400, 404) if "nothing" in path else (400,), (path, body))
        for path in ("/nothing", "/runs/a/b/c", "/infrastructures/../../etc", "/infrastructures/%2e%2e/program"):
            self.assertEqual(self.ask("GET", path)[0], 404, path)

    def test_a_training_from_its_plan_to_its_receipt(self):
        one = self.create("shown")
        status, refused, _ = self.ask("POST", "/plans", {"infrastructure": one, "program": "radl 2\nsystem a ("})
        self.assertEqual((status, bool(refused["findings"])), (422, True))
        plan = self.plan(infrastructure=one, program=TRAINING)
        self.assertEqual(self.get(f"/plans/{plan['id']}")["id"], plan["id"])
        self.assertEqual(self.get("/infrastructures")["infrastructures"], [])  # nothing was done
        status, run, _ = self.ask("POST", "/runs", {"plan": plan["id"]})
        self.assertEqual(status, 202)
        streamed = self.stream(run["id"], 1)
        self.assertEqual(self.end_of(run["id"])["state"], "done")
        kept = self.get(f"/runs/{run['id']}/events")
        self.assertTrue(kept["over"])
        self.assertEqual(streamed, kept["events"])
        self.assertEqual([e["sequence"] for e in streamed], list(range(1, len(streamed) + 1)))
        self.assertEqual(self.stream(run["id"], 5), streamed[4:])
        self.assertEqual(self.ask("POST", "/runs", {"plan": plan["id"]})[0], 409)  # once
        self.assertEqual(self.ask("POST", f"/runs/{run['id']}/stop")[0], 409)
        detail = self.get(f"/infrastructures/{one}")
        self.assertEqual((detail["state"], detail["nodes"]), ("ready", 1))
        self.assertEqual(self.get(f"/infrastructures/{one}/program"), TRAINING.encode())
        self.assertEqual(self.get("/jobs")["jobs"][0]["state"], "done")
        files = [f["path"] for f in self.get(f"/infrastructures/{one}/results")["files"]]
        self.assertIn("model/model.safetensors", files)
        for path in ("%2e%2e/program.radl", "nothing", ".radl-results", "model"):
            self.assertEqual(self.ask("GET", f"/infrastructures/{one}/results/{path}")[0], 404, path)
        status, guess, _ = self.ask("POST", f"/infrastructures/{one}/predict", test_image(0)[1])
        self.assertEqual((status, len(guess["top"])), (200, 5))
        self.assertEqual(self.ask("POST", f"/infrastructures/{one}/predict", b"not a picture")[0], 400)
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{one}")[0], 409)  # it exists
        self.run_plan(infrastructure=one, command="scale", system="worker", count=2)
        self.assertEqual(self.get(f"/infrastructures/{one}")["nodes"], 2)
        self.run_plan(infrastructure=one, command="destroy")
        receipt = self.get(f"/infrastructures/{one}/receipt")
        self.assertEqual((receipt["left"], receipt["leftovers"]), ([], []))
        self.assertTrue(receipt["resources"] and all(r["gone"] for r in receipt["resources"]))
        self.assertEqual(self.get(f"/runs/{run['id']}/events")["events"], streamed)  # they outlive the state
        self.assertGreaterEqual(len(self.get("/costs")["runs"]), 3)
        self.assertIn(b'radlc_runs{state="done"} 3', self.get("/metrics"))
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{one}")[0], 204)
        self.assertEqual(self.ask("GET", f"/infrastructures/{one}")[0], 404)

    def stream(self, run, first):
        """The events of a run from a number on, as the stream gives them until its end."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=170)
        connection.request("GET", f"/api/v1/runs/{run}/events?from=1", headers={"Authorization": f"Bearer {self.token}", "Accept": "text/event-stream",
                                                                             "Last-Event-ID": str(first - 1)})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.headers.get_content_type()), (200, "text/event-stream"))
        events, name, number = [], "", None
        for line in answer:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                number = int(value)
            elif field == "data" and name != "end":
                events.append(json.loads(value))
                self.assertEqual(events[-1]["sequence"], number)
        connection.close()
        self.assertEqual(name, "end")
        return events

    def test_users_see_nothing_of_others_and_scopes_limit_their_actions(self):
        one = self.create()
        plan = self.plan(infrastructure=one, program=NODE)["id"]
        self.token = apply = self.issue("ben", "apply")
        its = self.create("of-ben")
        first = self.plan(infrastructure=its, program=NODE)["id"]
        self.token = self.issue("ben", "plan")
        self.assertEqual(self.get("/me"), {"user": "ben", "scope": "plan"})
        for method, path in (("GET", f"/infrastructures/{one}"), ("GET", f"/plans/{plan}"), ("GET", f"/infrastructures/{one}/program"),
                             ("GET", f"/infrastructures/{one}/results"), ("GET", f"/infrastructures/{one}/files")):
            self.assertEqual(self.ask(method, path)[0], 404, path)
        self.assertEqual(self.ask("POST", "/plans", {"infrastructure": one})[0], 404)
        # Functions of `radl 2` read files of the service.
        leak = "radl 2\noutput x (value = file('/etc/hostname'))\n"
        for path, body in (("/plans", {"infrastructure": its, "program": leak}), ("/plans", {"infrastructure": its}),
                           ("/rehearsals", {"program": leak}), ("/recommend", {"program": leak})):
            self.assertEqual(self.ask("POST", path, body)[0], 403, (path, body))
        # A plan that somebody may have approved names the files.
        self.assertEqual(self.ask("PUT", f"/infrastructures/{its}/files/train.py?total=1", b"x")[0], 403)
        its = self.create("old")
        self.assertEqual(self.ask("PUT", f"/infrastructures/{its}/files/train.py?total=1", b"x")[0], 201)
        plan = self.plan(infrastructure=its, program="network lan ()\nsystem a (cpu.count >= 1 and net_interface.0.connection = 'lan')\ndeploy a 1\n")["id"]
        self.assertEqual(self.ask("POST", "/runs", {"plan": plan})[0], 403)
        draft = self.create("draft")
        self.plan(infrastructure=draft, program="network lan ()\n")
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{draft}")[0], 204)
        # What is done for a user is done in that user's place.
        self.token = apply
        self.assertEqual(self.ask("POST", "/runs", {"plan": first})[0], 202)
        self.assertEqual(self.end_of(self.get("/runs")["runs"][0]["id"])["state"], "done")
        self.assertEqual(len(self.get("/costs")["runs"]), 1)
        ran = self.get("/infrastructures")["infrastructures"][0]["id"]
        self.run_plan(infrastructure=ran, command="destroy")
        self.token = self.issue("ben", "plan")
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{ran}")[0], 403)  # it is not a draft
        self.token = (self.folder / "service/token").read_text().strip()
        self.assertFalse((self.folder / "data/radlc/runs.jsonl").exists())
        self.token = self.issue("ben", "read")
        self.assertEqual(self.ask("POST", "/infrastructures", {"name": "x"})[0], 403)
        self.assertEqual(self.ask("GET", f"/plans/{plan}")[0], 200)
        self.token = (self.folder / "service/token").read_text().strip()

    def test_a_plan_that_is_out_of_date_does_nothing(self):
        one = self.create()
        first = self.plan(infrastructure=one, program=NODE)
        self.plan(infrastructure=one, program=NODE.replace("worker 1", "worker 2"))
        status, run, _ = self.ask("POST", "/runs", {"plan": first["id"]})
        self.assertEqual(status, 202)
        self.assertEqual((self.end_of(run["id"])["state"], self.end_of(run["id"])["code"]), ("failed", "conflict"))
        self.assertEqual(self.get(f"/infrastructures/{one}")["resources"], 0)

    def put(self, one, path, text):
        status, answer, _ = self.ask("PUT", f"/infrastructures/{one}/files/{path}?total={len(text)}", text.encode())
        self.assertEqual(status, 201, answer)

    def test_a_program_of_several_files(self):
        one = self.create()
        files = {"main.radl": "radl 2\nuse './modules/named' as named (word = input.word)\ninput word (type = string)\nnetwork lan (outbound = 'no')\n"
                              "system worker (cpu.count >= 1, net_interface.0.connection = 'lan')\n"
                              "configure told (command 'echo it $((40+2)) $TOLD' (environment = { TOLD = file('./data/told.txt') }))\n"
                              "contextualize (system worker configure told step 1)\n",
                 "parts/deploy.radl": "radl 2\ndeploy worker 2\noutput told (value = [file('../data/told.txt'), named.said])\n",
                 "modules/named.radl": "radl 2\ninput word (type = string)\noutput said (value = input.word)\n", "data/told.txt": "told"}
        query = {"infrastructure": one, "files": ["main.radl", "parts/deploy.radl"], "inputs": {"word": "aloud"}}
        self.put(one, "main.radl", files["main.radl"])
        self.assertEqual(self.ask("POST", "/plans", query)[0], 404)  # a file is missing
        for path, text in files.items():
            self.put(one, path, text)
        plan = self.plan(**query, view="dot")
        self.assertTrue(plan["view"].startswith("digraph"))
        self.assertNotIn(str(self.folder / "service"), json.dumps(plan))
        self.assertEqual(self.end_of(self.ask("POST", "/runs", {"plan": plan["id"]})[1]["id"])["state"], "done")
        state = self.get(f"/infrastructures/{one}")
        self.assertEqual(state["snapshot"]["outputs"][0]["value"], ["told", "aloud"])
        self.assertEqual((state["nodes"], state["running"]), (2, []))
        self.assertIn("deploy worker 2", self.ask("GET", f"/infrastructures/{one}/program")[1].decode())
        self.assertEqual(self.ask("POST", "/plans", {"infrastructure": one, "program": NODE})[0], 409)  # which of the files?
        # Logs, piece by piece.
        (log,) = self.get(f"/infrastructures/{one}/logs?of=worker%5B1%5D")["logs"]
        piece = self.get(f"/infrastructures/{one}/logs/{log['log'].replace('[', '%5B').replace(']', '%5D')}")
        self.assertIn("it 42 told", piece["text"])
        self.assertEqual((piece["next"], piece["file"]), (log["bytes"], log["file"]))
        last = self.get(f"/infrastructures/{one}/logs/worker%5B1%5D.told?lines=1")
        self.assertEqual((last["text"].count("\n"), last["next"]), (1, log["bytes"]))
        self.assertEqual(self.get(f"/infrastructures/{one}/logs/worker%5B1%5D.told?from={log['bytes']}")["text"], "")
        self.assertEqual(self.ask("GET", f"/infrastructures/{one}/logs/..%2Fstate.db")[0], 404)
        for job, status in (("program/none", 400), ("-h", 400), ("../x", 400)):
            self.assertEqual(self.ask("POST", f"/infrastructures/{one}/cancel", {"job": job})[0], status, job)
        # A scale by a difference, of the files that were planned last; a replacement; a destroy of one node.
        nodes = lambda: sorted(r["address"] for r in self.get(f"/infrastructures/{one}")["snapshot"]["resources"] if "system" in r)
        self.run_plan(infrastructure=one, command="scale", system="worker", count=1, relative=True, inputs=query["inputs"])
        self.assertEqual(nodes(), ["worker[0]", "worker[1]", "worker[2]"])
        self.run_plan(infrastructure=one, command="scale", system="worker", without=[0], inputs=query["inputs"])
        self.assertEqual(nodes(), ["worker[1]", "worker[2]"])
        self.run_plan(infrastructure=one, command="scale", system="worker", reset=True, inputs=query["inputs"])
        self.assertEqual(nodes(), ["worker[0]", "worker[1]"])
        self.assertEqual([a["verb"] for a in self.plan(**query, replace=["worker[0]"])["actions"] if a["id"] == "worker[0]"], ["replace"])
        self.run_plan(infrastructure=one, command="destroy", targets=["worker[1]"])
        self.assertEqual((nodes(), self.get(f"/infrastructures/{one}")["state"]), (["worker[0]"], "ready"))
        self.run_plan(infrastructure=one, command="destroy")
        status, refused, _ = self.ask("POST", "/plans", {"infrastructure": one, "command": "destroy"})
        self.assertEqual((status, str(self.folder) in json.dumps(refused)), (404, False))

    def test_links_lead_nowhere(self):
        """A node or a program may leave symbolic links where results and uploads lie."""
        one = self.create()
        self.run_plan(infrastructure=one, program="radl 2\noutput a (value = 1)\n")
        secrets = self.folder / "secrets"
        secrets.mkdir()
        (secrets / "key").write_text("secret of the computer")
        for folder in ("result", "files"):
            place = self.folder / "service/workspaces" / one / folder
            place.mkdir(exist_ok=True)
            (place / "file").symlink_to(secrets / "key")
            (place / "folder").symlink_to(secrets)
        for place in ("results", "files"):
            listed = self.get(f"/infrastructures/{one}/{place}")
            self.assertNotIn("file", str(list(listed.values())), place)
            self.assertNotIn("folder", str(list(listed.values())), place)
        for path in ("file", "folder/key", "folder"):
            status, body, _ = self.ask("GET", f"/infrastructures/{one}/results/{path}")
            self.assertEqual(status, 404, path)
            self.assertNotIn("secret of", str(body))
        for path in ("file", "folder/key", "folder/new"):
            self.ask("PUT", f"/infrastructures/{one}/files/{path}", b"overwritten")
        self.assertEqual([(file.name, file.read_text()) for file in secrets.iterdir()], [("key", "secret of the computer")])

    def test_a_draft_of_a_killed_plan_is_removed_with_its_files(self):
        status, draft, _ = self.ask("POST", "/infrastructures", {"name": "killed", "temporary": True})
        self.assertEqual(status, 201)
        kept = self.create("kept")
        for one in (draft["id"], kept):
            self.put(one, "a/b", "x")
        self.stop_server()
        for one in (draft["id"], kept):
            about = self.folder / f"service/workspaces/{one}/about.json"
            about.write_text(json.dumps({**json.loads(about.read_text()), "created": 1}))
        self.serve(self.port)
        self.assertFalse((self.folder / f"service/workspaces/{draft['id']}").exists())
        self.assertTrue((self.folder / f"service/workspaces/{kept}/files/a/b").exists())

    def forget_its_answer(self, infrastructure, address):
        """As if the service was killed just before it recorded that the resource exists."""
        self.server.kill()
        self.server.communicate()
        with contextlib.closing(sqlite3.connect(self.folder / f"service/workspaces/{infrastructure}/state/cluster/state.db")) as state, state:
            state.execute("DELETE FROM resources WHERE address = ?", (address,))
            state.execute("UPDATE journal SET closed_at = NULL, outcome = NULL WHERE address = ? AND kind = 'create'", (address,))
        self.serve(self.port)

    def test_a_plan_after_an_interrupted_run_can_be_run(self):
        one = self.create()
        self.run_plan(infrastructure=one, program=NODE)
        self.forget_its_answer(one, "worker[0]")
        plan = self.plan(infrastructure=one)
        self.assertTrue(plan["interrupted"])
        self.run_plan(infrastructure=one)
        row = self.get(f"/infrastructures/{one}")
        self.assertEqual((row["nodes"], row["resources"]), (1, 3))
        self.assertEqual(len(self.found("home")), 1)  # of the one node
        self.forget_its_answer(one, "worker[0]")
        plan = self.plan(infrastructure=one, command="destroy")
        self.assertEqual((plan["interrupted"], plan["uncertain"]), (True, ["worker[0]"]))
        self.assertNotIn("worker[0]", [action["id"] for action in plan["actions"]])
        self.assertEqual(self.end_of(self.ask("POST", "/runs", {"plan": plan["id"]})[1]["id"])["state"], "done")
        self.assertEqual(self.get(f"/infrastructures/{one}/receipt")["left"], [])
        self.assertEqual(self.found("home"), [])

    def test_a_plan_above_its_budget_is_not_run(self):
        one = self.create()
        program = NODE.replace("cpu.count >= 1", "instance_type = 'm5.large', availability_zone = 'eu-west-1'").replace("worker 1", "worker 1 ec2")
        plan = self.plan(infrastructure=one, program=program, max_cost="0.001 USD/h")
        self.assertIn("above_budget", plan)
        self.assertEqual(self.ask("POST", "/runs", {"plan": plan["id"]})[0], 400)
        self.assertEqual(self.get(f"/plans/{plan['id']}")["max_cost"], "0.001 USD/h")

    def test_secret_inputs_are_sent_with_the_run_and_kept_nowhere(self):
        one = self.create()
        program = NODE + "input key (type = string, sensitive = yes)\noutput shown (value = input.key, sensitive = yes)\n"
        status, plan, _ = self.ask("POST", "/plans", {"infrastructure": one, "program": program, "inputs": {"key": "hush-1234567"}})
        self.assertEqual(status, 201, plan)
        self.assertEqual(plan["secret_inputs"], ["key"])
        self.assertEqual(self.ask("POST", "/runs", {"plan": plan["id"]})[0], 400)
        self.assertEqual(self.ask("POST", "/runs", {"plan": plan["id"], "inputs": {"key": "hush-1234567", "other": "x"}})[0], 400)
        status, run, _ = self.ask("POST", "/runs", {"plan": plan["id"], "inputs": {"key": "hush-1234567"}})
        self.assertEqual(status, 202, run)
        self.assertEqual(self.end_of(run["id"])["state"], "done")
        for file in found(self.folder / "service/workspaces", "*"):
            if file.is_file():
                self.assertNotIn(b"hush-1234567", file.read_bytes(), file)

    def test_a_record_that_cannot_be_read_hides_no_other(self):
        one, other, lost = self.create("one"), self.create("other"), self.create("lost")
        for its in (one, other, lost):
            self.run_plan(infrastructure=its, program="radl 2\noutput a (value = 1)\n")
        reader = self.as_user("reader", "read")
        self.stop_server()
        place = self.folder / "service/workspaces"
        about = json.loads((place / one / "about.json").read_text())
        about["runs"] = [{"id": one + "-1", "state": "nonsense"}, 7, *about["runs"][1:]]
        (place / one / "about.json").write_text(json.dumps(about))
        (place / lost / "about.json").write_text("{")
        (place / other / "receipt.json").write_text("[")
        (database,) = (place / other / "state").rglob("state.db")
        kept = database.read_bytes()
        database.write_bytes(b"not a database" * 1000)
        tokens = json.loads((self.folder / "service/tokens.json").read_text())
        tokens["tokens"] += [7, {"scope": []}, {"scope": "read", "kind": "client", "id": 3}]
        (self.folder / "service/tokens.json").write_text(json.dumps(tokens))
        (self.folder / "service/infrastructures/nonsense").mkdir()
        (self.folder / "service/deleted.jsonl").write_text('{"id": 7}\n[]\nnonsense\n')
        self.serve(self.port)
        listed = self.get("/infrastructures")
        self.assertLessEqual({one, other}, {row["id"] for row in listed["infrastructures"]})
        self.assertEqual([u["infrastructure"] for u in listed["unreadable"]], [lost])
        self.assertEqual(self.ask("GET", "/infrastructures", **reader)[1]["unreadable"], [])
        by_id = {run["id"]: run for run in self.get("/runs")["runs"]}
        self.assertEqual((by_id[one + "-1"]["state"], by_id[one + "-1"]["code"]), ("failed", "corrupt"))
        self.assertEqual(by_id[other + "-1"]["state"], "done")
        self.assertEqual([u["infrastructure"] for u in self.get("/jobs")["unreadable"]], [other])
        for path in ("/farms", "/costs", "/metrics"):
            self.get(path)
        self.assertEqual(self.ask_at("/infrastructures", "GET")[0], 200)
        self.assertEqual(self.ask_at("/stats", "GET")[1]["stats"], [])
        self.assertEqual(self.run_plan(infrastructure=one, program="radl 2\noutput a (value = 2)\n")["id"], one + "-3")
        database.write_bytes(kept)

    def test_only_its_own_id_names_an_infrastructure(self):
        one = self.create()
        for method in ("GET", "DELETE"):
            self.assertEqual(self.ask(method, f"/infrastructures/{one}-3")[0], 404)
        self.assertEqual(self.ask("GET", f"/infrastructures/{one}")[0], 200)

    def test_a_scale_does_not_run_another_program(self):
        one = self.create()
        self.run_plan(infrastructure=one, program=NODE)
        scale = self.plan(infrastructure=one, command="scale", system="worker", count=2)
        self.plan(infrastructure=one, program=NODE.replace("cpu.count >= 1", "cpu.count >= 2"))
        status, run, _ = self.ask("POST", "/runs", {"plan": scale["id"]})
        self.assertEqual(status, 202, run)
        self.assertEqual((self.end_of(run["id"])["state"], self.end_of(run["id"])["code"]), ("failed", "conflict"))
        self.assertEqual(self.get(f"/infrastructures/{one}")["nodes"], 1)

    def test_a_newer_upload_takes_the_file_over(self):
        one = self.create()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest("PUT", f"/api/v1/infrastructures/{one}/files/data?total=6")
        connection.putheader("Authorization", f"Bearer {self.token}")
        connection.putheader("Content-Length", "6")
        connection.endheaders(b"old")
        part = self.folder / f"service/workspaces/{one}/files/data.part"
        self.wait_until(lambda: part.exists() and part.stat().st_size == 3, 60)
        self.assertEqual(self.ask("PUT", f"/infrastructures/{one}/files/data?offset=0&total=6", b"new")[0], 202)
        connection.send(b"old")
        self.assertEqual(connection.getresponse().status, 409)
        connection.close()
        self.assertEqual(self.ask("PUT", f"/infrastructures/{one}/files/data?offset=3&total=6", b"new")[0], 201)
        self.assertEqual((part.parent / "data").read_bytes(), b"newnew")

    def test_a_path_lists_its_supported_methods(self):
        status, _, headers = self.ask("PATCH", "/runs")
        self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD, POST"))
        self.assertEqual(self.ask("HEAD", "/metrics")[:2], (200, b""))

    def test_an_upload_continues_at_its_offset(self):
        one = self.create()
        put = lambda offset, body, total=6, name="data.zip": self.ask("PUT", f"/infrastructures/{one}/files/{name}?offset={offset}&total={total}", body)
        self.assertEqual(put(0, b"abc")[:2], (202, {"bytes": 3, "complete": False}))
        status, _, headers = put(5, b"f")
        self.assertEqual((status, headers["Upload-Offset"]), (409, "3"))
        self.assertEqual(self.get(f"/infrastructures/{one}/files")["files"], [{"path": "data.zip", "bytes": 3, "complete": False}])
        status, _, headers = put(5, b"f", name="other.zip")
        self.assertEqual((status, headers["Upload-Offset"]), (409, "0"))
        self.assertEqual(len(self.get(f"/infrastructures/{one}/files")["files"]), 1)
        self.assertEqual(put(3, b"defg")[0], 400)  # more than the total
        self.assertEqual(put(0, b"abcdef")[:2], (201, {"bytes": 6, "complete": True}))
        self.assertEqual((self.folder / f"service/workspaces/{one}/files/data.zip").read_bytes(), b"abcdef")
        for name in ("a.part", "a%2fb", "..%2fprogram.radl", "%2e%2e", "a/../b", "a/%2e%2e/%2e%2e/b", "/".join("a" * 40)):
            self.assertIn(put(0, b"x", 1, name)[0], (400, 404), name)
        self.assertEqual(put(0, b"x", 1, "a/.b/c")[0], 201)
        (described,) = [f for f in self.get(f"/infrastructures/{one}/files?sha256=yes")["files"] if f["path"] == "a/.b/c"]
        self.assertEqual((described["sha256"][:8], described["executable"]), ("2d711642", False))
        self.assertIn(put(0, b"x", 1, "data.zip/a")[0], (400, 409))  # that is a file
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{one}/files/a/.b")[0], 404)
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{one}/files/a/.b/c")[0], 204)
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{one}/files/a/.b/c")[0], 404)
        self.assertEqual(put(0, b"", 1 << 60, "large")[0], 507)
        for number in range(10000):
            (self.folder / f"service/workspaces/{one}/files/{number}").touch()
        self.assertEqual(put(0, b"x", 1, "one-more")[0], 507)
        self.assertEqual(put(0, b"x", 1, "9")[0], 201)

    def test_a_recommendation_a_rehearsal_and_prices(self):
        answer = self.get("/recommend?batch_size=64000&latency=20")
        self.assertEqual(answer["workers"], 3)
        self.assertEqual(self.ask("GET", "/recommend?study=nothing")[0], 400)
        status, report, _ = self.ask("POST", "/rehearsals", {"program": NODE, "runs": 5})
        self.assertEqual((status, report["runs"], report["failed"]), (200, 5, 0))
        self.assertEqual(self.ask("POST", "/rehearsals", {"program": NODE, "runs": 100000})[0], 400)
        self.assertTrue(self.get("/prices?region=eu-west-1&cpu=4"))
        # What the command line answers, to the last digit.
        told = json.loads(self.radlc("recommend", "--study", "mnist", "--batch", "64000", "--latency", "20", "--json"))
        self.assertEqual(answer, told)

    def test_measurements_are_exported_and_imported_for_each_user(self):
        study = "anwar-2021"
        self.assertEqual(self.get("/measurements")["studies"], [])
        self.radlc("calibration", "import", study)  # by the user that the service runs as
        export = self.get("/measurements")
        self.assertEqual(export, json.loads(self.radlc("calibration", "export")))
        other = self.as_user("ana", "plan")
        self.assertEqual(self.ask("GET", "/measurements", **other)[1]["studies"], [])
        status, done, _ = self.ask("POST", "/measurements", export, **other)
        self.assertEqual((status, done["added"]), (201, len(export["studies"])))
        self.assertEqual(self.ask("POST", "/measurements", export, **other)[1]["added"], 0)
        self.assertEqual(self.ask("GET", "/measurements", **other)[1], export)
        self.assertEqual(self.ask("POST", "/measurements", {"calibration": 99}, **other)[0], 400)
        self.assertEqual(self.ask("POST", "/measurements", export, **self.as_user("bob", "read"))[0], 403)

    def test_many_readers_of_one_run_all_get_every_event(self):
        one = self.create()
        run = self.start_plan(infrastructure=one, program=NODE)
        got = []
        readers = [threading.Thread(target=lambda: got.append(self.stream(run, 1))) for _ in range(40)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertEqual(len(got), 40)
        self.assertTrue(all(events == got[0] for events in got) and got[0][-1]["event"] == "run_finished")
