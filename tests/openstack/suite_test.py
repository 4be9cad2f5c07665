"""The conformance suite of clouds on OpenStack, against the services themselves."""
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from gate import Gate
from site_of_tests import Site

PROGRAM = pathlib.Path(os.environ["RADL_BUILD"]) / "tests" / "openstack_suite_test"


class Suite(unittest.TestCase):
    def test_openstack_is_a_cloud_as_the_executor_wants_it(self):
        project = Site.shared().project()
        project.somebody_else()
        while any(server.status == "BUILD" for server in project.servers()):
            time.sleep(0.2)
        gate = Gate()
        self.addCleanup(gate.close)
        others = project.everything()
        compute = project.cloud.compute

        def tamper(kind, name):
            network = project.cloud.network
            if kind == "server":
                compute.add_security_group_to_server(name, network.find_security_group("somebody-else"))
            else:
                network.create_security_group_rule(security_group_id=name, direction="ingress", ether_type="IPv4", protocol="tcp",
                                                   port_range_min=9999, port_range_max=9999, remote_ip_prefix="0.0.0.0/0")
            return True

        def stop(name):
            compute.stop_server(name)
            for _ in range(300):
                if compute.get_server(name).status == "SHUTOFF":
                    return True
                time.sleep(0.2)
            return False

        def exhaust(yes):
            project.quota(instances=len(project.servers()) if yes == "yes" else 50)
            return True

        def breaks(yes):
            gate.flavor = project.flavor("t.huge") if yes == "yes" else None
            return True

        def of_others():
            now = project.everything()
            return sorted(map(list, others & now))

        gate.controls = {"tamper": tamper, "stop": stop, "exhaust": exhaust, "breaks": breaks, "others": of_others}
        with tempfile.TemporaryDirectory(prefix="radl-openstack-") as folder:
            environment = {**os.environ, **project.environment(gate.auth_url), "HOME": folder, "no_proxy": "*", "RADL_CALLER_CIDR": "203.0.113.7/32",
                           "RADL_OPENSTACK_SETTLES_AFTER": "0.5", "RADL_OPENSTACK_PACE": "0.1", "RADL_TEST_CONTROL": gate.url + "/control"}
            log = pathlib.Path(os.environ.get("RADL_SUITE_LOG", folder + "/log"))  # so that a run that does not end shows how far it came
            with open(log, "wb") as out:
                program = subprocess.Popen([PROGRAM, *os.environ.get("RADL_SUITE_FLAGS", "").split()], env=environment, stdout=out, stderr=out)
            try:
                code = program.wait(timeout=3000)
            finally:
                program.kill()
                program.wait()
                said = log.read_text(errors="replace")[-9000:]
            self.assertEqual(code, 0, said)
        self.assertEqual(project.everything(), others, "left behind, or somebody else's is gone")
        pages = [r for r in gate.log if "marker" in r.parameters]
        self.assertTrue(pages, "no list had a second page")


if __name__ == "__main__":
    unittest.main()
