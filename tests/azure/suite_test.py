"""The conformance suite of clouds on Azure; every request is checked against Microsoft's descriptions of the API."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import descriptions
from server import Server

PROGRAM = pathlib.Path(os.environ["RADL_BUILD"]) / "tests" / "azure_suite_test"


class Suite(unittest.TestCase):
    def test_azure_is_a_cloud_as_the_executor_wants_it(self):
        with tempfile.TemporaryDirectory(prefix="radl-azure-") as folder:
            server = Server(descriptions.Descriptions(descriptions.documents()), folder)
            self.addCleanup(server.close)
            arm = server.arm
            arm.put_somebody_elses()
            others = arm.everything()

            def put(field):
                return lambda yes: setattr(arm, field, yes == "yes") or True
            server.controls = {"tamper": arm.tamper, "stop": arm.stop, "exhaust": put("exhausted"), "breaks": put("broken"),
                               "others": lambda: [name for name in arm.everything() if name in others]}
            environment = {**os.environ, **server.environment, "HOME": folder, "no_proxy": "*", "RADL_AZURE_SETTLES_AFTER": "0.4",
                           "RADL_AZURE_PACE": "0.05", "RADL_TEST_CONTROL": server.url + "/control"}
            done = subprocess.run([PROGRAM, *os.environ.get("RADL_SUITE_FLAGS", "").split()], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=1000)
            self.assertEqual(done.returncode, 0, done.stdout[-9000:])
            self.assertEqual(arm.violations, [])
            self.assertEqual(arm.everything(), others, "left behind, or somebody else's is gone")
            self.assertTrue([r for r in server.log if "$skiptoken" in r.parameters], "no list had a second page")


if __name__ == "__main__":
    unittest.main()
