"""The state in Google's and Azure's stores: the lock, two writers, a run that is killed. Nodes are those of this computer."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from azure_store import AzureStore
from google_store import GoogleStore
from large_state import grow
from proxy import Treatment
from store_case import StoreProxy, WithServer

RADLC = pathlib.Path(os.environ["RADL_BUILD"]) / "bin/radlc"
CONTAINER = "states-of-tests"
FILE = """radl 2
input token ( type = 'string', default = 'one' )
system node ()
configure tools ( file '~/token' ( content = input.token ) )
contextualize ( system node configure tools )
deploy node 1
"""


class StateCase(WithServer):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-state-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store.make(CONTAINER)
        self.addCleanup(self.store.empty, CONTAINER)
        self.proxy = StoreProxy(self.store.url, names=lambda method, *_: ("store", method, {}))
        self.addCleanup(self.proxy.close)
        self.env = {**os.environ, **self.store.environment(self.proxy.url), "HOME": str(self.folder), "no_proxy": "*", "NO_COLOR": "1",
                    "RADL_STATE": f"{self.store.scheme}://{CONTAINER}/team", "RADL_STATE_LEASE": "6", "RADL_LOCAL_ISOLATION": "off",
                    "RADL_LOCAL_NETWORK": "shared"}
        self.file = self.folder / "demo.radl"
        self.file.write_text(FILE)

    def radlc(self, *arguments, fails=False, env=None):
        done = subprocess.run([RADLC, *map(str, arguments)], capture_output=True, text=True, env=env or self.env, cwd=self.folder, timeout=120,
                              check=False)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stdout + done.stderr

    @staticmethod
    def writes(request):
        return request.method in ("PUT", "POST") and "state.db.gz" in request.path

    def test_applied_here_and_destroyed_from_another_folder(self):
        self.radlc("apply", "--auto-approve", self.file)
        state = [key for key in self.store.keys(CONTAINER) if "/runs/" not in key]  # the events of the run
        self.assertEqual(state, ["team/demo/lock", "team/demo/state.db.gz"])
        self.assertIn("node[0]", self.radlc("show", self.file))
        self.assertIn("No changes", self.radlc("plan", self.file))
        self.radlc("destroy", "--auto-approve", self.file)
        self.assertEqual(self.store.keys(CONTAINER), [])

    def test_a_large_state_lies_in_parts(self):
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("state", "pull", self.file, "large.db")
        grow(self.folder / "large.db")
        self.radlc("state", "push", self.file, "large.db")
        parts = [key for key in self.store.keys(CONTAINER) if key.startswith("team/demo/parts/")]
        self.assertEqual(len(parts), 1)
        written = []

        def noted(request):
            written.extend([len(request.body)] if self.writes(request) else [])
        self.proxy.faults = noted
        self.radlc("apply", "--auto-approve", "--input", "token=two", self.file)
        self.proxy.faults = None
        self.assertGreater(len(written), 2)
        self.assertLess(max(written), len(self.store.get(CONTAINER, parts[0])) / 2)
        self.assertIn("No changes", self.radlc("plan", "--input", "token=two", self.file))
        self.radlc("destroy", "--auto-approve", self.file)
        self.assertEqual(self.store.keys(CONTAINER), [])

    def test_the_lock_keeps_a_second_run_out_and_is_taken_over_when_its_owner_was_killed(self):
        held = []

        def slow(request):
            """Its second write of the state takes longer than anybody waits."""
            held.extend([request] if self.writes(request) else [])
            return Treatment(delay=20 if len(held) == 2 and self.writes(request) else 0)
        self.proxy.faults = slow
        hold = subprocess.Popen([RADLC, "apply", "--auto-approve", self.file], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while len(held) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        directly = {**self.env, **self.store.environment()}
        self.assertIn("locked", self.radlc("apply", "--auto-approve", "--lock-timeout", "0", self.file, fails=True, env=directly))
        hold.send_signal(signal.SIGKILL)
        hold.wait()
        self.env = directly
        self.radlc("apply", "--auto-approve", self.file)
        self.radlc("destroy", "--auto-approve", self.file)

    def test_a_state_that_another_changed_is_not_overwritten(self):
        self.radlc("apply", "--auto-approve", self.file)
        document = self.store.get(CONTAINER, "team/demo/state.db.gz")
        lock = json.loads(self.store.get(CONTAINER, "team/demo/lock"))
        changed = []

        def somebody_else(request):
            """Between this run's lock and its write."""
            if self.writes(request) and len(changed) == 1:
                self.store.put(CONTAINER, "team/demo/state.db.gz", document + b"another")
            changed.extend([1] if self.writes(request) else [])
        self.proxy.faults = somebody_else
        said = self.radlc("apply", "--auto-approve", "--input", "token=two", self.file, fails=True)
        self.proxy.faults = None
        self.assertIn("another run has written this state since", said)
        self.assertGreaterEqual(len(changed), 2)
        self.assertTrue(lock)
        self.store.put(CONTAINER, "team/demo/state.db.gz", document)
        self.radlc("destroy", "--auto-approve", self.file)


class OfGoogle(StateCase, unittest.TestCase):
    store_type = GoogleStore


class OfAzure(StateCase, unittest.TestCase):
    store_type = AzureStore


class OfSwift(unittest.TestCase):
    def test_a_state_in_swift_is_refused_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "demo.radl"
            file.write_text(FILE)
            done = subprocess.run([RADLC, "plan", "--state", "swift://states/team", file], capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("Swift cannot hold a state", done.stderr)
            self.assertIn("gs://", done.stderr)


if __name__ == "__main__":
    unittest.main()
