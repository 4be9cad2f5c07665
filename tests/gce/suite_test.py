"""The conformance suite of clouds on Google Compute Engine; every request is checked against Google's description of the API."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import discovery
from server import Server

PROGRAM = pathlib.Path(os.environ["RADL_BUILD"]) / "tests" / "gce_suite_test"


class Suite(unittest.TestCase):
    def test_compute_engine_is_a_cloud_as_the_executor_wants_it(self):
        with tempfile.TemporaryDirectory(prefix="radl-gce-") as folder:
            server = Server(discovery.Description(discovery.document()), folder)
            self.addCleanup(server.close)
            compute = server.compute
            compute.put_somebody_elses()
            others = compute.everything()

            def put(field):
                return lambda yes: setattr(compute, field, yes == "yes") or True
            server.controls = {"tamper": compute.tamper, "stop": compute.stop, "exhaust": put("exhausted"), "breaks": put("broken"),
                               "others": lambda: [name for name in compute.everything() if name in others]}
            environment = {**os.environ, **server.environment, "HOME": folder, "no_proxy": "*", "RADL_GCE_SETTLES_AFTER": "0.4",
                           "RADL_GCE_PACE": "0.05", "RADL_TEST_CONTROL": server.url + "/control"}
            done = subprocess.run([PROGRAM, *os.environ.get("RADL_SUITE_FLAGS", "").split()], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=1000)
            self.assertEqual(done.returncode, 0, done.stdout[-9000:])
            self.assertEqual(compute.violations, [])
            self.assertEqual(compute.everything(), others, "left behind, or somebody else's is gone")
            self.assertTrue([r for r in server.log if "pageToken" in r.parameters], "no list had a second page")


if __name__ == "__main__":
    unittest.main()
