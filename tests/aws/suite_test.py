"""The conformance suite of clouds on EC2, against moto."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from extras import Extras
from moto_site import Moto
from proxy import Proxy
from quick import QUICK

PROGRAM = pathlib.Path(os.environ["RADL_BUILD"]) / "tests" / "ec2_suite_test"


class Suite(unittest.TestCase):
    def test_ec2_is_a_cloud_as_the_executor_wants_it(self):
        with tempfile.TemporaryDirectory(prefix="radl-aws-") as folder:
            moto = Moto.shared()
            extras = Extras()
            proxy = Proxy(moto.url, extras=extras)
            extras.forward = proxy.forward
            self.addCleanup(proxy.close)
            environment = {**os.environ, **moto.environment(url=proxy.url), "HOME": folder, "no_proxy": "*", "RADL_CALLER_CIDR": "203.0.113.7/32",
                           "RADL_EC2_SETTLES_AFTER": "2", "RADL_EC2_PACE": "0.2", **QUICK}
            done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=500)
            self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
