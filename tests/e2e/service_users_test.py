"""`radlc serve` for several users: tokens, scopes, sessions, credentials, and what one user's programs see of another's."""
import http.client
import json
import re
import threading

from radl_case import found
from service_case import DOCUMENT, ServiceCase

EMPTY = "network n ()"


class ServiceUsersTest(ServiceCase):
    def as_user(self, token, method, path, body=None, **more):
        return self.ask(method, path, body, Authorization="Bearer " + token, **more)

    def test_scopes_and_owners(self):
        read, plan, ana, bob = (self.issue(user, scope) for user, scope in (("ana", "read"), ("ana", "plan"), ("ana", "apply"), ("bob", "apply")))
        own_plan = self.as_user(self.token, "POST", "/api/tokens", json.dumps({"scope": "plan"}))[1]["secret"]  # of a trusted user
        self.assertEqual(self.as_user(read, "POST", "/infrastructures", EMPTY)[0], 403)
        self.assertEqual(self.as_user(read, "POST", "/infrastructures", EMPTY, query="?dry_run=1")[0], 403)
        self.assertEqual(self.as_user(plan, "POST", "/infrastructures", EMPTY, query="?dry_run=1")[0], 200)
        self.assertEqual(self.as_user(plan, "POST", "/infrastructures", EMPTY)[0], 403)
        # Functions of radl 2 read the service's files while it is compiled, for a plan too.
        (self.folder / "secret").write_text("of-the-service")
        program = f"radl 2\nnetwork n (outbound = 'no')\noutput leak (value = file('{self.folder}/secret'))\n"
        for content_type in ("text/plain", None):
            status, body, _ = self.ask("POST", "/infrastructures", program, query="?dry_run=1", Authorization="Bearer " + own_plan, Content_Type=content_type)
            self.assertEqual(status, 403, body)
        status, uri, _ = self.as_user(ana, "POST", "/infrastructures", EMPTY)
        self.assertEqual(status, 200, uri)
        path = self.path(uri)
        self.assertEqual(self.as_user(read, "GET", path)[0], 200)
        self.assertEqual(self.as_user(read, "DELETE", path)[0], 403)
        self.assertEqual(self.as_user(bob, "GET", "/infrastructures")[1], "")
        for method, end in (("GET", ""), ("GET", "/radl"), ("GET", "/state"), ("GET", "/data"), ("DELETE", ""), ("POST", ""), ("PUT", "/stop"), ("PUT", "/reconfigure"), ("GET", "/vms/0")):
            self.assertEqual(self.as_user(bob, method, path + end)[0], 403, (method, end))
        self.assertEqual(self.ask("GET", path)[0], 200)  # the service's own user is an administrator
        self.assertEqual(self.as_user(bob, "PUT", "/infrastructures", "{}")[0], 403)
        self.assertEqual(self.as_user(bob, "GET", "/stats")[1], {"stats": []})

        # Ana gives it to Bob as well: his token says that it is he.
        self.assertEqual(self.as_user(ana, "POST", path + "/authorization", json.dumps({"username": "bob", "password": "guessed"}))[0], 400)
        self.assertEqual(self.as_user(ana, "POST", path + "/authorization", json.dumps({"username": "bob", "password": bob}))[0], 200)
        self.assertEqual(self.as_user(bob, "GET", path + "/authorization")[1], "ana\nbob")
        self.assertEqual(self.as_user(ana, "POST", path + "/authorization", json.dumps({"token": bob}), query="?overwrite=1")[0], 200)
        self.assertEqual(self.as_user(ana, "GET", path)[0], 403)
        self.stop()
        self.serve(port=self.port)
        self.assertEqual(self.as_user(bob, "GET", path)[0], 200)

    def test_tokens_are_kept_as_hashes_and_end_when_they_are_revoked(self):
        token = self.issue("ana", "apply", "--label", "laptop")
        self.assertEqual(self.as_user(token, "GET", "/infrastructures")[0], 200)
        for file in self.found("*"):
            if file.is_file():
                self.assertNotIn(token.encode(), file.read_bytes(), file)
        out = self.radlc("serve", "token", "list", "--folder", self.folder / "service")
        self.assertIn("laptop", out)
        self.assertNotIn(token, out)
        identity = out.split()[0]
        self.radlc("serve", "token", "revoke", identity, "--folder", self.folder / "service")
        self.assertEqual(self.as_user(token, "GET", "/infrastructures")[0], 401)
        self.radlc("serve", "token", "revoke", identity, "--folder", self.folder / "service", code=1)

    def test_a_token_grants_no_more_than_its_maker_has(self):
        plan, apply = self.issue("ana", "plan"), self.issue("ana", "apply", "--days", "1")
        make = lambda token, **wish: self.as_user(token, "POST", "/api/tokens", json.dumps(wish))
        self.assertEqual(make(plan, scope="apply")[0], 403)
        self.assertEqual(make(apply, scope="admin")[0], 403)
        self.assertEqual(make(apply, scope="read", user="bob")[0], 403)
        self.assertEqual(make(apply, scope="everything")[0], 400)
        self.assertEqual(make(self.token, scope="read", user="../x")[0], 400)
        status, made, _ = make(apply, scope="read")
        self.assertEqual((status, made["user"], made["scope"]), (201, "ana", "read"))
        self.assertIsNotNone(made["expires"])  # with its maker
        self.assertEqual(self.as_user(made["secret"], "GET", "/api/me")[1]["scope"], "read")
        # Bob sees and revokes none of hers; what a token made goes with it.
        bob = self.issue("bob", "apply")
        self.assertEqual(self.as_user(bob, "DELETE", "/api/tokens/" + made["id"])[0], 404)
        self.assertEqual([one["user"] for one in self.as_user(bob, "GET", "/api/tokens")[1]["tokens"]], ["bob"])
        mine = self.as_user(apply, "GET", "/api/me")[1]["token"]
        self.assertEqual(self.as_user(apply, "DELETE", "/api/tokens/" + mine)[0], 204)
        self.assertEqual(self.as_user(made["secret"], "GET", "/api/me")[0], 401)

    def test_a_link_opens_one_session(self):
        out = self.radlc("serve", "--open", "--folder", self.folder / "service")
        link = self.path(re.search(r"http://\S+", out)[0])
        ask = lambda method, path, **headers: self.ask(method, path, **{"Authorization": None, **headers})
        self.assertEqual(ask("HEAD", link)[0], 405)
        self.assertEqual(ask("GET", link, Sec_Fetch_Site="cross-site")[0], 403)
        status, _, headers = ask("GET", link)
        self.assertEqual(status, 303)
        cookie = headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        session = cookie.partition(";")[0]
        place, _, key = headers["Location"].partition("#key=")
        self.assertEqual(place, "/ui/")
        self.assertEqual(ask("GET", link)[0], 401)  # it works once
        self.assertEqual(ask("GET", "/api/me", Cookie=session)[1]["scope"], "admin")
        self.assertEqual(ask("GET", "/api/me", Authorization="Bearer " + session.partition("=")[2])[0], 401)
        self.assertEqual(ask("GET", "/api/me", Cookie=session.partition("=")[0] + "=" + self.token)[0], 401)
        # Other sites' forms carry the cookie at most without an origin of this service.
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            self.assertEqual(ask(method, "/infrastructures", Cookie=session)[0], 403, method)
            self.assertEqual(ask(method, "/infrastructures", Cookie=session, Origin="http://evil.example")[0], 403, method)
        self.assertEqual(ask("GET", "/infrastructures", Cookie=session, Host="evil.example")[0], 403)
        self.stop()
        self.serve(port=self.port)
        # A link that somebody opens in this browser deletes nothing.
        status, uri, _ = self.ask("POST", "/infrastructures", EMPTY)
        self.assertEqual(status, 200, uri)
        for end in ("/data?delete=yes", "/d%61ta?delete=1"):
            self.assertEqual(ask("GET", self.path(uri) + end, Cookie=session)[0], 403, end)
        self.assertEqual(self.ask("GET", self.path(uri))[0], 200)
        # Another server on this computer gets the cookie as well: alone, it changes nothing and shows no keys.
        own = {"Cookie": session, "Origin": f"http://127.0.0.1:{self.port}"}
        self.assertEqual(ask("GET", "/api/me", **own)[0], 200)
        self.assertEqual(ask("DELETE", self.path(uri), **own)[0], 403)
        self.assertEqual(ask("DELETE", self.path(uri), **own, X_Radlc_Page="0" * 64)[0], 403)
        self.assertEqual(ask("GET", self.path(uri) + "/data", **own)[0], 403)
        self.assertEqual(ask("GET", "/api/audit", **own)[0], 403)
        own["X_Radlc_Page"] = key
        self.assertEqual(ask("GET", self.path(uri) + "/data", **own)[0], 200)
        self.assertEqual(ask("GET", "/api/audit", **own)[0], 200)
        self.assertEqual(ask("DELETE", "/api/session", **own)[0], 204)
        self.assertEqual(ask("GET", "/api/me", **own)[0], 401)

    def test_credentials_are_encrypted_and_never_shown(self):
        secret, ana, bob = "s3cr3tOfAna", self.issue("ana", "apply"), self.issue("bob", "apply")
        line = f"id = one; type = OpenStack; host = https://192.0.2.1:5000; username = u; tenant = t; password = {secret}\n"
        self.assertEqual(self.as_user(ana, "PUT", "/api/credentials", line)[0], 204)
        self.assertEqual(self.as_user(ana, "GET", "/api/credentials")[1], {"credentials": [{"id": "one", "type": "OpenStack"}]})
        self.assertEqual(self.as_user(bob, "GET", "/api/credentials")[1], {"credentials": []})
        for wrong in ("id = x; type = EC2; username = file(/etc/passwd); password = p", "id = x; type = EC2; username = command(id); password = p", "", "{"):
            self.assertEqual(self.as_user(ana, "PUT", "/api/credentials", wrong)[0], 400, wrong)
        document = "network n ()\nsystem s (net_interface.0.connection = 'n')\ndeploy s 1 one\n"
        status, body, _ = self.as_user(ana, "POST", "/infrastructures", document, query="?dry_run=1")
        self.assertEqual((status, list(body)), (200, ["one"]), body)
        self.assertEqual(self.as_user(bob, "POST", "/infrastructures", document, query="?dry_run=1")[0], 400)
        for file in self.found("*"):
            if file.is_file():
                self.assertNotIn(secret.encode(), file.read_bytes(), file)
        self.assertEqual((self.folder / "service/credentials.key").stat().st_mode & 0o777, 0o600)
        # What somebody copied to another user's place is not decrypted there.
        stored = self.folder / "service/credentials/ana"
        (self.folder / "service/credentials/bob").write_bytes(stored.read_bytes())
        self.assertEqual(self.as_user(bob, "GET", "/api/credentials")[0], 500)
        self.assertEqual(self.as_user(ana, "DELETE", "/api/credentials")[0], 204)
        self.assertEqual(self.as_user(ana, "GET", "/api/credentials")[1], {"credentials": []})

    def test_programs_of_users_do_not_run_here(self):
        ana = self.issue("ana", "apply")
        create = lambda document, **more: self.as_user(ana, "POST", "/infrastructures", document, **more)
        self.assertEqual(create(DOCUMENT)[0], 403)
        (self.folder / "private").write_text("private text")
        for call in (f"file('{self.folder}/private')", "env('HOME')"):
            status, body, _ = create(f"radl 2\noutput x ( value = {call} )\n")
            self.assertEqual(status, 403, body)
            self.assertNotIn("private text", body)
        self.assertEqual(self.as_user(ana, "GET", "/infrastructures")[1], "")
        for host in ("http://169.254.169.254/", "169.254.169.254:80", "http://127.0.0.1:1", "http://localhost:5000", "http://[::1]:1", "http://[fe80::1]:1",
                     "http://[::ffff:169.254.169.254]:1", "http://0.0.0.0:1", "http://2852039166/"):
            lines = rf"type = InfrastructureManager; token = {ana}\nid = one; type = OpenStack; host = {host}; username = u; tenant = t; password = p"
            status, body, _ = self.ask("POST", "/infrastructures", EMPTY, Authorization=lines, query="?dry_run=1")
            self.assertIn(status, (400, 403), (host, body))
        self.stop()
        self.serve("--trust-users", port=self.port)
        status, body, _ = create(DOCUMENT, query="?dry_run=1")
        self.assertEqual(status, 200, body)

    def test_rights_are_those_of_the_caller(self):
        bob = self.issue("bob", "apply")
        for document in ("", " local", " hosts"):
            self.assertEqual(self.as_user(bob, "POST", "/infrastructures", f"network n ()\nsystem s (net_interface.0.connection = 'n')\ndeploy s 1{document}\n")[0], 403)
        path = self.path(self.ask("POST", "/infrastructures", EMPTY)[1])
        self.assertEqual(self.ask("POST", path + "/authorization", json.dumps({"token": bob}))[0], 200)
        self.assertEqual(self.as_user(bob, "POST", path, DOCUMENT)[0], 403)
        self.stop()
        self.serve(port=self.port)
        self.assertEqual(self.as_user(bob, "POST", path, DOCUMENT)[0], 403)
        # Nodes on the service's computer: he sees them, without the key that logs in there, and changes nothing.
        uris = self.ask("POST", path, "network m ()\nsystem t (net_interface.0.connection = 'm')\ndeploy t 1 local\n")
        self.assertEqual(uris[0], 200, uris[1])
        self.assertIn("PRIVATE KEY", self.ask("GET", path + "/vms/0")[1])
        status, shown, _ = self.as_user(bob, "GET", path + "/vms/0")
        self.assertEqual(status, 200, shown)
        self.assertNotIn("PRIVATE KEY", shown)
        for method, end in (("POST", ""), ("PUT", "/reconfigure"), ("PUT", "/stop"), ("DELETE", "/vms/0"), ("DELETE", "")):
            self.assertEqual(self.as_user(bob, method, path + end)[0], 403, (method, end))

    def test_the_audit_log_records_users_and_actions(self):
        ana = self.issue("ana", "apply")
        path = self.path(self.as_user(ana, "POST", "/infrastructures", EMPTY)[1])
        self.as_user("wrong" * 10, "GET", "/infrastructures")
        self.as_user(ana, "DELETE", path)
        lines = lambda end="": [json.loads(line) for line in self.ask("GET", "/api/audit" + end)[1].splitlines()]
        self.assertEqual([(line["method"], line["path"], line["status"], line.get("user")) for line in lines()][-4:],
                         [("POST", "/infrastructures", None, "ana"), ("POST", "/infrastructures", 200, "ana"), ("DELETE", path, None, "ana"), ("DELETE", path, 200, "ana")])
        self.assertEqual([(line["method"], line["path"], line["status"], line.get("user")) for line in lines("/refused")][-1:],
                         [("GET", "/infrastructures", 401, None)])
        self.assertEqual(self.as_user(ana, "GET", "/api/audit")[0], 403)
        self.assertNotIn(ana, (self.folder / "service/audit.jsonl").read_text())

    def test_waiting_requests_leave_workers_to_those_that_read(self):
        answers, lock = [], threading.Lock()
        held = """network n ()
system s (cpu.count >= 1 and net_interface.0.connection = 'n')
configure held (
@begin
---
  - tasks:
    - shell: until [ -e ~/release ]; do sleep 0.1; done
@end
)
contextualize (
  system s configure held
)
deploy s 1
"""
        path = self.create(held)  # its recipe runs until the test lets it go on

        def stop():
            status = self.ask("PUT", path + "/stop")[0]
            with lock:
                answers.append(status)

        threads = [threading.Thread(target=stop) for _ in range(80)]
        for thread in threads:
            thread.start()
        try:
            self.wait_until(lambda: len(answers) == 72, 60, lambda: f"{len(answers)} of 80 have an answer")
            self.assertEqual(set(answers), {429})
            self.assertEqual(self.ask("GET", path + "/state")[0], 200)
            self.assertEqual(self.ask("GET", "/api/v1/infrastructures")[0], 200)
        finally:
            (found(self.folder / "service", "home")[0] / "release").touch()
            for thread in threads:
                thread.join()
        self.assertEqual(set(answers), {429, 200})

    def test_limits(self):
        self.stop()
        self.serve("--max-infrastructures", "1", "--max-requests", "1", port=self.port)
        ana, statuses = self.issue("ana", "apply"), []
        path = self.path(self.as_user(ana, "POST", "/infrastructures", EMPTY)[1])
        self.assertEqual(self.as_user(ana, "POST", "/infrastructures", EMPTY)[0], 400)
        for _ in range(60):
            statuses.append(self.as_user(ana, "GET", "/version")[0])
        self.assertIn(429, statuses)
        self.assertEqual(self.ask("GET", "/version")[0], 200)  # another user's requests are counted apart
        self.assertEqual(self.ask("DELETE", path)[0], 200)
