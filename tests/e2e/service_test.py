"""`radlc serve` as clients of the Infrastructure Manager use it, on nodes of this computer."""
import base64
import json
import signal
import threading

from service_case import DOCUMENT, ServiceCase


class ServiceTest(ServiceCase):
    def test_an_infrastructure_from_creation_to_its_end(self):
        path = self.create()
        self.wait_for(path, "configured")
        self.assertEqual(self.states(path)[1], {"0": "configured", "1": "configured"})
        status, body, _ = self.ask("GET", path, form="application/json")
        self.assertEqual([uri["uri"].rpartition("/")[2] for uri in body["uri-list"]], ["0", "1"])
        status, body, _ = self.ask("GET", path + "/vms/0", form="application/json")
        self.assertEqual(status, 200)
        system = next(part for part in body["radl"] if part["class"] == "system")
        self.assertEqual((system["id"], system["state"]), ("front", "configured"))
        self.assertEqual(self.ask("GET", path + "/vms/0/state")[:2], (200, "configured"))
        self.assertTrue(self.ask("GET", path + "/vms/0/net_interface.0.ip")[1])
        self.assertEqual(self.ask("GET", path + "/vms/0/nothing")[0], 404)
        self.assertIn("say it", self.ask("GET", path + "/vms/0/contmsg")[1])
        self.assertIn("say it", self.ask("GET", path + "/contmsg")[1])
        self.assertNotIn("say it", self.ask("GET", path + "/contmsg", query="?headeronly=1")[1])
        self.assertEqual(self.ask("GET", path + "/radl")[0], 200)

        # Two machines more: of a system that is there, by reference, and of one that is new.
        status, body, _ = self.ask("POST", path, "system worker\nsystem extra (net_interface.0.connection = 'inside')\nnetwork inside\n"
                                                 "deploy worker 1\ndeploy extra 1\n", form="application/json")
        self.assertEqual(status, 200, body)
        self.assertEqual(sorted(uri["uri"].rpartition("/")[2] for uri in body["uri-list"]), ["2", "3"])
        self.wait_for(path, "configured")
        # One goes: its number is never given again.
        self.assertEqual(self.ask("DELETE", path + "/vms/1")[0], 200)
        self.assertEqual(self.ask("GET", path + "/vms/1")[0], 404)
        self.assertEqual(sorted(self.states(path)[1]), ["0", "2", "3"])
        status, body, _ = self.ask("POST", path, "deploy worker 1\n", form="application/json")
        self.assertEqual([uri["uri"].rpartition("/")[2] for uri in body["uri-list"]], ["4"], body)
        self.wait_for(path, "configured")
        self.assertEqual(self.ask("PUT", path + "/reconfigure")[0], 200)
        self.wait_for(path, "configured")

        self.assertEqual(self.ask("DELETE", path)[:2], (200, ""))
        self.assertEqual(self.ask("GET", path)[0], 404)
        self.assertEqual(self.ask("GET", "/infrastructures")[:2], (200, ""))

    def test_an_addition_that_fails_leaves_everything_as_it_was(self):
        path = self.create()
        self.wait_for(path, "configured")
        document, machines = self.ask("GET", path + "/radl")[1], self.ask("GET", path)[1]
        for addition in ("system extra ()\ndeploy extra 1 nowhere\n", "deploy worker 1 nowhere\n", "deploy unknown 1\n"):
            self.assertGreaterEqual(self.ask("POST", path, addition)[0], 400, addition)
            self.assertEqual(self.ask("GET", path + "/radl")[1], document, addition)
            self.assertEqual(self.ask("GET", path)[1], machines, addition)
        self.wait_for(path, "configured")
        status, body, _ = self.ask("POST", path, "deploy worker 1\n")
        self.assertEqual((status, len(body.splitlines())), (200, 1), body)
        self.assertEqual(len(self.ask("GET", path)[1].splitlines()), 3)

    def test_two_clients_delete_at_once(self):
        path, answers = self.create(), []
        threads = [threading.Thread(target=lambda: answers.append(self.ask("DELETE", path, query="?force=yes")[0])) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(answers), {200, 404})
        self.assertIn(200, answers)
        self.assertEqual(self.ask("GET", path)[0], 404)
        self.assertEqual(list((self.folder / "service/infrastructures").iterdir()), [])

    def test_a_filter_cannot_hold_the_service_up(self):
        self.create("network n ()\nconfigure c (\n@begin\n---\n  - tasks: []\n  # " + "a" * 300000 + "\n@end\n)\n")
        for pattern in ("%5B%5Cs%5CS%5D*x", "(a*)*b", "(a%7Ca)*b", "(" * 5000):
            self.assertIn(self.ask("GET", "/infrastructures", query="?filter=" + pattern)[0], (200, 400), pattern)

    def test_a_killed_service_resumes(self):
        path = self.create(query="?async=yes")
        self.wait_until(lambda: "0" in self.states(path)[1], 60)
        self.stop(signal.SIGKILL)
        self.serve(port=self.port)
        self.assertEqual(sorted(self.states(path)[1]), ["0", "1"])
        self.assertEqual(self.ask("PUT", path + "/reconfigure")[0], 200)
        self.wait_for(path, "configured")
        self.assertEqual(self.ask("DELETE", path, query="?async=1")[0], 200)
        self.wait_until(lambda: self.ask("GET", path)[0] == 404, 120)

    def test_strangers_get_401_and_nothing_else(self):
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            for path in ("/", "/version", "/infrastructures", "/infrastructures/x", "/nothing", "/static/x"):
                for header in (None, "", "type = InfrastructureManager; username = ana; password = wrong", "Bearer wrong", "id = x; type = EC2",
                               "Basic " + base64.b64encode(b"ana:wrong").decode(), "[]", "{", "type = InfrastructureManager; token ="):
                    status, body, headers = self.ask(method, path, Authorization=header)
                    self.assertEqual(status, 401, (method, path, header, body))
                    self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.assertEqual(self.ask("GET", "/infrastructures", Authorization="Bearer " + self.token)[0], 200)

    def test_other_sites_are_refused_with_every_method(self):
        for method in ("GET", "POST", "PUT", "DELETE"):
            for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{self.port}"}, {"Origin": "http://evil.example"},
                            {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
                self.assertEqual(self.ask(method, "/infrastructures", **headers)[0], 403, (method, headers))
        self.assertEqual(self.ask("GET", "/infrastructures", Host=f"localhost:{self.port}")[0], 200)
        self.assertEqual(self.ask("GET", "/infrastructures", Origin=f"http://127.0.0.1:{self.port}", Sec_Fetch_Site="same-origin")[0], 200)

    def test_errors_are_reported_and_leave_nothing(self):
        for document, words in (("system a (", ""), ("deploy nowhere 1", "nowhere"), ("system a (cpu.count >= 'x')\ndeploy a 1", "")):
            status, body, _ = self.ask("POST", "/infrastructures", document, form="application/json")
            self.assertEqual((status, body["code"]), (400, 400), body)
            self.assertIn(words, body["message"])
        self.assertEqual(self.ask("POST", "/infrastructures", "[{", Content_Type="application/json")[0], 400)
        self.assertEqual(self.ask("POST", "/infrastructures", "a: b", Content_Type="text/yaml")[0], 400)
        self.assertEqual(self.ask("POST", "/infrastructures", "x", Content_Type="image/png")[0], 415)
        self.assertEqual(self.ask("POST", "/infrastructures", DOCUMENT, query="?async=perhaps")[0], 422)
        self.assertEqual(self.ask("GET", "/infrastructures", form="image/png")[0], 415)
        self.assertEqual(self.ask("GET", "/infrastructures", query="?filter=(")[0], 400)
        self.assertEqual(self.ask("GET", "/infrastructures")[:2], (200, ""))
        self.assertEqual(self.ask("GET", "/infrastructures/../../etc")[0], 404)
        status, body, _ = self.ask("GET", "/infrastructures/none", form="text/html")
        self.assertEqual((status, "Error 404." in body), (404, True))

    def test_legal_requests_of_other_clients(self):
        """What a client may send in another way gets the same answer."""
        path = self.create("network n ()")
        uuid = path.rpartition("/")[2]
        status, listed, _ = self.ask("GET", "/infrastructures")
        self.assertEqual((status, listed.rpartition("/")[2]), (200, uuid))
        for same in ("/infrastructures/", "/infrastructures?", "/%69nfrastructures", "/infrastructures/?filter="):
            self.assertEqual(self.ask("GET", same)[:2], (200, listed), same)
        escaped = "/infrastructures/" + "".join(f"%{ord(c):02x}" for c in uuid)
        for same in (path, path + "/", escaped, escaped.upper().replace("/INFRASTRUCTURES", "/infrastructures")):
            self.assertEqual(self.ask("GET", same + "/state" if not same.endswith("/") else same + "state/")[0], 200, same)
        for place in ("/", "/version", "/infrastructures", path, path + "/radl", path + "/state", "/stats"):
            status, body, headers = self.ask("HEAD", place)
            self.assertEqual((status, body), (200, ""), place)
            self.assertGreaterEqual(int(headers["Content-Length"]), 0)
        for place, allowed in (("/version", "GET, HEAD"), ("/infrastructures", "GET, HEAD, POST, PUT"), (path, "DELETE, GET, HEAD, POST"),
                               (path + "/state", "GET, HEAD"), (path + "/authorization", "GET, HEAD, POST"), (path + "/stop", "PUT")):
            for method in ("OPTIONS", "PATCH"):
                status, _, headers = self.ask(method, place)
                self.assertEqual((status, headers["Allow"]), (405, allowed), (method, place))
        # The first type that can be served, whatever its q.
        for accept, kind in ((None, "text/uri-list"), ("*/*", "text/uri-list"), ("text/*;q=0.1, application/json", "text/uri-list"), ("image/png, */*;q=0.1", "text/uri-list"),
                             ("application/json;q=0.2, text/uri-list", "application/json"), ("Application/JSON", "application/json"), ("application/*", "application/json")):
            self.assertEqual(self.ask("GET", "/infrastructures", form=accept)[2].get_content_type(), kind, accept)
        self.assertEqual(self.ask("GET", "/infrastructures", form="image/png")[0], 415)
        self.assertEqual(self.ask("GET", "/infrastructures/nothing", form="Application/JSON")[1]["code"], 404)
        for accept, kind in (("text/csv", "text/csv"), ("application/json, text/csv", "application/json"), ("text/csv;q=0.1, application/json", "text/csv"), ("*/*", "application/json")):
            self.assertEqual(self.ask("GET", "/stats", form=accept)[2].get_content_type(), kind, accept)
        for flag in ("1", "0", "true", "FALSE", "Yes", "no", "On", "oFF"):
            self.assertEqual(self.ask("GET", path + "/contmsg", query=f"?headeronly={flag}")[0], 200, flag)
        for wrong in ("2", "", "y", "%00"):
            self.assertIn(self.ask("GET", path + "/contmsg", query=f"?headeronly={wrong}")[0], (400, 422), wrong)
        self.assertEqual(self.ask("GET", path + "/outputs")[0], 403)  # as it has none
        self.assertIn("Infrastructure without any deploy. Exiting.", self.ask("GET", path + "/contmsg")[1])
        for method, place in (("POST", "/infrastructures"), ("POST", path), ("PUT", path + "/reconfigure")):
            status, text, _ = self.ask(method, place, "system (")
            self.assertEqual((status, text[:29]), (400, "Error parsing request body: e"), place)

    def test_documents_as_editors_and_clients_write_them(self):
        text, as_json = "network n ()\nsystem s (cpu.count = 1)\n", json.dumps([{"class": "network", "id": "n"}])
        for body, kind in ((text, None), (text, "text/plain; charset=utf-8"), (text, "TEXT/PLAIN"), (text, "*/*"), ("\ufeff" + text, "text/plain"),
                           (text.replace("\n", "\r\n"), "text/plain;charset=UTF-8"), (as_json, "application/json; charset=utf-8"), ("\ufeff" + as_json, "Application/JSON"),
                           (as_json.replace(",", ",\r\n"), "application/json"), ("", "text/plain")):
            status, answer, _ = self.ask("POST", "/infrastructures", body.encode(), query="?dry_run=yes", form="application/json", **({"Content_Type": kind} if kind else {}))
            self.assertEqual((status, answer), (200, {}), (body, kind))
        for kind in ("image/png", "text/html", "application/xml"):
            self.assertEqual(self.ask("POST", "/infrastructures", text, query="?dry_run=yes", Content_Type=kind)[0], 415, kind)

    def test_each_form_of_the_authorization(self):
        token = self.token
        own = f"type = InfrastructureManager; username = ana; password = {token}"
        for header in (own, own + "\\n", "\\n" + own, "id = one; type = Dummy\\n" + own, own + "\\n\\nid = one; type = Dummy", f"# ours\\n{own}",
                       f"id=im;type=InfrastructureManager;username=ana;password={token}", f"type = InfrastructureManager; token = '{token}'", f"Bearer {token}", f"bearer   {token}",
                       f"type = InfrastructureManager; username = ana; password = \"{token}\"", json.dumps([{"type": "InfrastructureManager", "username": "ana", "password": token}]),
                       own + "\\nid = g; type = GCE; private_key = 'A\\\\nB'", "Basic " + base64.b64encode(f"ana:{token}".encode()).decode()):
            self.assertEqual(self.ask("GET", "/version", Authorization=header)[0], 200, header)
        for header in ("", "Bearer", "Bearer x", "Basic x", own[:-1], own + token, f"type = Dummy; username = ana; password = {token}"):
            status, _, headers = self.ask("GET", "/version", Authorization=header)
            self.assertEqual((status, headers["WWW-Authenticate"]), (401, 'Bearer realm="radlc"'), header)

    def test_a_document_in_json_of_no_machine(self):
        status, uri, _ = self.ask("POST", "/infrastructures", json.dumps([{"class": "network", "id": "n"}]), Content_Type="application/json")
        self.assertEqual(status, 200, uri)
        path = self.path(uri)
        self.wait_until(lambda: self.states(path)[0] == "failed", 30, lambda: str(self.states(path)))
        self.assertEqual(self.ask("GET", "/infrastructures", query="?filter=network")[1], uri)
        self.assertEqual(self.ask("GET", "/infrastructures", query="?filter=nothing")[1], "")

    def test_credentials_of_a_client_are_nowhere(self):
        secret = "s3cr3tOfAClient"
        lines = self.authorization() + r"\nid = cloud1; type = OpenStack; host = https://127.0.0.1:1; username = u; tenant = t; password = " + secret
        status, body, _ = self.ask("POST", "/infrastructures", DOCUMENT.replace("deploy front 1", "deploy front 1 cloud1"), Authorization=lines)
        self.assertEqual(status, 400, body)
        self.assertNotIn(secret, body)
        self.stop()
        for file in self.found("*"):
            if file.is_file():
                self.assertNotIn(secret.encode(), file.read_bytes(), file)

    def test_nothing_but_loopback_without_tls(self):
        self.radlc("serve", "--listen", "0.0.0.0:0", "--folder", self.folder / "other", code=1)
        self.assertIn("--tls-cert", self.err)
        self.radlc("serve", "--listen", "127.0.0.1:0", "--folder", self.folder / "service", code=2)  # has its service

    def test_many_clients_at_once(self):
        path, wrong = self.create(query="?async=1"), []

        def look():
            for _ in range(20):
                status, body, _ = self.ask("GET", path + "/state")
                if status not in (200, 429):
                    wrong.append((status, body))

        threads = [threading.Thread(target=look) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.wait_for(path, "configured")
