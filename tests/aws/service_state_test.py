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
