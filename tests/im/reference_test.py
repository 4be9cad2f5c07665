"""The Infrastructure Manager's own integration test (grycap/im), unchanged, against `radlc serve`.

Only its data are others: the address and the token of the service, and documents whose machines are nodes of this computer. What fails is
in the table of docs/service-im.md, "The Infrastructure Manager's own test", and nothing else may fail.
"""
import hashlib
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import time
import types
import unittest

from radl_case import SOURCE, replaced
from service_case import ServiceCase

REPOSITORY = os.environ.get("RADL_IM_REPOSITORY", "https://github.com/grycap/im")
COMMIT = "c2fc99ee2deb8452c8a552bee864de9b1f2bbf1c"
TEST, SHA256 = "test/integration/TestREST.py", "045b9158af51cd983935ecf2b421cc264b436b7127db1dc1826727432ec96ea9"
NODE_NAME = """'{{IM_INFRASTRUCTURE_RADL|json_query("[?id == ''front''].net_interface_0_dns_name|[0]")}}'"""


class Reference:
    """The pinned commit. Unavailable: it cannot be fetched."""
    class Unavailable(Exception):
        pass

    def __init__(self):
        self.folder = pathlib.Path(os.environ.get("RADL_TEST_CACHE") or pathlib.Path.home() / ".cache/radl-tests") / f"im-{COMMIT[:12]}"
        if self.git("cat-file", "-e", COMMIT).returncode == 0:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for command in (["init", "-q"], ["fetch", "-q", "--depth", "1", REPOSITORY, COMMIT]):
            done = self.git(*command)
            if done.returncode != 0:
                raise self.Unavailable(done.stderr.decode().strip())

    def git(self, *words):
        return subprocess.run(["git", "-C", str(self.folder), *words], capture_output=True, timeout=120, check=False) if self.folder.exists() \
            else subprocess.CompletedProcess(words, 1)

    def file(self, path):
        done = self.git("show", f"{COMMIT}:{path}")
        if done.returncode != 0:
            raise self.Unavailable(done.stderr.decode().strip())
        return done.stdout


def on_this_computer(document):
    """A document of the test whose machines have no image, no further disks, and need nothing from elsewhere."""
    lines = [line for line in document.splitlines() if not re.search(r"disk\.1\.|image\.url|applications contains|configure ntp step", line)]
    text = re.sub(r" and\n\)", "\n)", "\n".join(lines) + "\n").replace("memory.size>=1g", "memory.size>=128m")
    text = re.sub(r"^configure ntp \(\n@begin\n.*?@end\n\)\n", "", text, flags=re.M | re.S)
    if "json_query" in text:  # of a collection that this computer may not have
        text = replaced(text, (NODE_NAME, """'{{(IM_INFRASTRUCTURE_RADL | selectattr("id", "defined") | selectattr("id", "equalto", "front") | first).net_interface_0_dns_name}}'"""))
        text = re.sub(r"^    pre_tasks:\n.*?^    tasks:\n", "    tasks:\n", text, flags=re.M | re.S)
        text = re.sub(r"^      - shell:  test -d.*?(?=@end)", "", text, flags=re.M | re.S)
    text = re.sub(r"^(deploy \w+ \d+) one$", r"\1", text, flags=re.M)
    return re.sub(r"^  option ansible_version.*\n", "", text, flags=re.M).replace('ansible_version.string != "2.19.10"', "false")


class States:
    """What the test takes from the Infrastructure Manager's code: the names of its states."""
    PENDING, RUNNING, CONFIGURED, UNCONFIGURED = "pending", "running", "configured", "unconfigured"
    STOPPED, OFF, FAILED, UNKNOWN = "stopped", "off", "failed", "unknown"


def differences():
    """The tests that fail, from the table of the documentation."""
    page = (SOURCE / "docs/service-im.md").read_text().partition("own test\n")[2]
    return re.findall(r"^\| `(test_\w+)` \|", page, re.M)


class ReferenceTest(ServiceCase):
    def module(self, text, documents):
        modules = {"IM": types.ModuleType("IM"), "IM.VirtualMachine": types.ModuleType("IM.VirtualMachine")}
        modules["IM"].__version__ = self.ask("GET", "/version")[1]
        modules["IM.VirtualMachine"].VirtualMachine = States
        sys.modules.update(modules)
        path = self.folder / "TestREST.py"
        path.write_bytes(text)
        spec = importlib.util.spec_from_file_location("TestREST", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.HOSTNAME, module.TEST_PORT = "127.0.0.1", self.port
        module.read_file_as_string = lambda name: documents[name.rpartition("/")[2]]
        module.RADL_ADD = on_this_computer(module.RADL_ADD)
        module.time = types.SimpleNamespace(sleep=lambda seconds: time.sleep(min(seconds, 0.2)))  # nodes of this computer start at once
        return module

    def test_the_reference_s_own_test(self):
        try:
            reference = Reference()
            text = reference.file(TEST)
            documents = {name: on_this_computer(reference.file(f"test/files/{name}").decode()) for name in ("test.radl", "test_cont_dist.radl", "test_ansible.radl")}
        except Reference.Unavailable as why:
            self.skipTest(f"the test cannot be fetched from {REPOSITORY}: {why}")
        self.assertEqual(hashlib.sha256(text).hexdigest(), SHA256)
        module = self.module(text, {**documents, "auth.dat": self.authorization()})
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(module.TestIM).run(result)
        failed = {test.id().rpartition(".")[2]: trace for test, trace in result.failures + result.errors}
        unexpected = "\n".join(f"{name}: {trace[-700:]}" for name, trace in failed.items() if name not in differences())
        self.assertEqual(sorted(failed), sorted(differences()), unexpected)
        self.assertGreater(result.testsRun, 30)
