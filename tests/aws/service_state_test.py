"""`radlc serve --state s3://..`: the states of its infrastructures are in a bucket, and a killed service goes on elsewhere."""
import shutil
import unittest

from moto_site import Moto
from page_case import PageCase

NODE = """radl 2
network lan (outbound = 'no')
system worker (cpu.count >= 1, net_interface.0.connection = 'lan')
deploy worker 1
configure told (command 'until [ -e ~/release ]; do sleep 0.05; done; echo released' ())
contextualize (system worker configure told step 1)
"""
PLACE = "s3://states/team"


class ServiceStateTest(PageCase):
    def serve(self, port=0, wrapper=(), folder="service", state=PLACE):
        if self.server is None:
            self.moto = Moto.shared()
            self.s3 = self.moto.client("s3")
            self.s3.create_bucket(Bucket="states")
            self.environment.update(self.moto.environment(), HOME=str(self.folder / "home"), no_proxy="*", RADL_STATE_LEASE="6",
                                    RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
            (self.folder / "home").mkdir()
        self.service = folder
        super().serve(port, wrapper, folder, ("--state", state) if state else ())

    def clean_up(self):
        if self.server.poll() is not None:
            self.serve(self.port, folder=self.service)
        super().clean_up()

    def keys(self):
        return sorted(o["Key"] for o in self.s3.list_objects_v2(Bucket="states").get("Contents", []))

    def test_a_killed_service_goes_on_in_another_folder(self):
        one = self.create()
        run = self.start_plan(infrastructure=one, program=NODE)
        self.wait_until(lambda: self.get(f"/infrastructures/{one}")["running"], 120, lambda: str(self.get(f"/runs/{run}/events")["events"][-5:]))
        self.assertIn(f"team/{one}/cluster/state.db.gz", self.keys())
        self.assertEqual(list((self.folder / "service/workspaces" / one).glob("state*")), [])
        self.server.kill()
        self.server.communicate()
        shutil.copytree(self.folder / "service", self.folder / "elsewhere")
        shutil.rmtree(self.folder / "service")
        self.serve(self.port, folder="elsewhere")
        self.assertEqual(self.get(f"/infrastructures/{one}")["nodes"], 1)
        for home in self.found("home"):
            (home / "release").touch()
        self.assertEqual((self.end_of(run)["state"], self.get(f"/runs/{run}")["recovered"]), ("done", True))
        row = self.get("/infrastructures")["infrastructures"][0]
        self.assertEqual((row["state"], row["nodes"]), ("ready", 1))
        self.assertIn("released", str(self.get(f"/runs/{run}/events")["events"]))
        self.run_plan(infrastructure=one, command="destroy")
        self.assertEqual(self.get(f"/infrastructures/{one}/receipt")["left"], [])
        self.assertEqual([key for key in self.keys() if key.endswith("state.db.gz")], [])
        self.assertTrue(self.get(f"/runs/{run}/events")["events"])  # they outlive the state

    def test_a_new_server_continues_where_a_lost_one_was(self):
        """Nothing of the service's folder is left: the bucket has the states and the records."""
        one = self.create()
        run = self.start_plan(infrastructure=one, program=NODE)
        self.wait_until(lambda: self.get(f"/infrastructures/{one}")["running"], 120, lambda: str(self.get(f"/runs/{run}/events")["events"][-5:]))
        self.assertIn(f"team/.service/workspaces/{one}/about.json", self.keys())  # before anything was created
        bob = {"Authorization": "Bearer " + self.ask_at("/api/tokens", "POST", {"user": "bob", "scope": "apply"})[1]["secret"]}
        status, uri, _ = self.ask_at("/infrastructures", "POST", "network inside ()\nsystem worker (cpu.count >= 1 and net_interface.0.connection = 'inside')\ndeploy worker 1\n")
        self.assertEqual(status, 200, uri)
        machines = uri.decode().partition(f":{self.port}")[2]
        self.assertEqual(self.ask_at("/api/credentials", "PUT", "id = one; type = OpenStack; host = https://192.0.2.1:5000; username = u; tenant = t; password = p4ssw0rd")[0], 204)
        self.wait_until(lambda: {"team/.service/tokens.json", f"team/.service{machines}/infrastructure.json"} <= set(self.keys())
                        and any("credentials/" in key for key in self.keys()), 60, lambda: str(self.keys()))
        for key in self.keys():  # neither the token nor the key of the credentials
            self.assertNotIn(self.token.encode(), self.s3.get_object(Bucket="states", Key=key)["Body"].read(), key)
        self.assertNotIn("credentials.key", str(self.keys()))
        key = (self.folder / "service/credentials.key").read_bytes()
        self.server.kill()
        self.server.communicate()
        (self.folder / "service").rename(self.folder / "lost")

        self.serve(self.port, folder="new")
        row = self.get(f"/infrastructures/{one}")
        self.assertEqual((row["name"], row["nodes"]), ("cluster", 1))
        self.assertEqual(self.ask("GET", "/me", **bob)[1]["user"], "bob")
        status, listed, _ = self.ask_at("/infrastructures", "GET")
        self.assertEqual((status, listed.decode().partition(f":{self.port}")[2]), (200, machines))
        self.assertEqual(self.ask_at(machines + "/state", "GET")[1]["state"]["vm_states"], {"0": "configured"})
        self.assertEqual(self.ask_at("/api/credentials", "GET")[1]["credentials"], [])  # their key is not there
        for home in self.found("home"):
            (home / "release").touch()
        self.assertEqual((self.end_of(run)["state"], self.get(f"/runs/{run}")["recovered"]), ("done", True))
        self.assertIn("released", str(self.get(f"/runs/{run}/events")["events"]))
        self.assertEqual(self.ask_at(machines, "DELETE")[0], 200)
        self.run_plan(infrastructure=one, command="destroy")
        self.wait_until(lambda: not any(machines in key for key in self.keys()), 60, lambda: str(self.keys()))
        self.assertEqual([name for name in self.keys() if name.endswith("state.db.gz")], [])
        self.stop_server()

        # The lost server comes back, and must not act on what another one manages.
        (self.folder / "lost").rename(self.folder / "service")
        self.radlc("serve", "--folder", self.folder / "service", "--listen", "127.0.0.1:0", "--state", PLACE, code=2)
        self.assertIn("taken over", self.err)
        # With the key of the credentials, a new server reads them.
        (self.folder / "third").mkdir(mode=0o700)
        (self.folder / "third/credentials.key").write_bytes(key)
        (self.folder / "third/credentials.key").chmod(0o600)
        self.serve(self.port, folder="third")
        self.assertEqual(self.ask_at("/api/credentials", "GET")[1]["credentials"], [{"id": "one", "type": "OpenStack"}])

    def test_an_infrastructure_keeps_the_place_of_its_state(self):
        """With another --state, its nodes must neither be forgotten nor be created again."""
        one = self.create()
        self.run_plan(infrastructure=one, program=NODE.replace("until [ -e ~/release ]; do sleep 0.05; done; ", ""))
        # No such job: the command that says so has read the state in the bucket.
        self.assertIn("neither trainings nor programs", str(self.ask("POST", f"/infrastructures/{one}/cancel", {"job": "training"})))
        self.stop_server()
        self.serve(self.port, state=None)
        row = self.get(f"/infrastructures/{one}")
        self.assertEqual((row["state"], row["nodes"]), ("ready", 1))
        self.assertEqual(self.ask("DELETE", f"/infrastructures/{one}")[0], 409)
        self.run_plan(infrastructure=one, command="destroy")
        self.assertEqual([key for key in self.keys() if key.endswith("state.db.gz")], [])

    def test_a_place_that_cannot_be_reached_is_an_error_at_the_start(self):
        self.stop_server()
        self.radlc("serve", "--folder", self.folder / "other", "--listen", "127.0.0.1:0", "--state", "s3://missing-bucket/team", code=1)
        self.assertIn("s3://missing-bucket", self.err)
        self.serve(self.port)


if __name__ == "__main__":
    unittest.main()
