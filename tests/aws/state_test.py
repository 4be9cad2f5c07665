"""The state in a bucket: two writers never overwrite each other, and whatever happens between radlc and the server, what exists is
known. The nodes are those of this computer, which are quick; only the state is in S3."""
import contextlib
import datetime
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import tempfile
import threading
import time
import unittest

from large_state import grow
from moto_site import Moto
from proxy import Proxy, Treatment, s3_error
from quick import QUICK
from radl_case import RadlCase

PLACE = "s3://states/team"
ALL = bool(os.environ.get("RADL_KILL_ALL"))  # every point at which radlc can be killed (`make check-faults`)
FILE = """radl 2
input count ( type = 'integer', default = 2 )
input token ( type = 'string', default = '', sensitive = yes )
network lan ()
system node ( net_interface.0.connection = 'lan' )
configure tools ( file '~/token' ( content = input.token ) )
contextualize ( system node configure tools )
deploy node input.count
"""


class StateCase(RadlCase):
    """A moto and a bucket for each test, with a proxy between them and radlc."""

    def setUp(self):
        super().setUp()
        self.ground = pathlib.Path(tempfile.mkdtemp(prefix="radl-aws-"))
        self.addCleanup(shutil.rmtree, self.ground, ignore_errors=True)
        self.moto = Moto.shared()
        self.s3 = self.moto.client("s3")
        self.s3.create_bucket(Bucket="states")
        self.proxy = Proxy(self.moto.url)
        self.addCleanup(self.proxy.close)
        self.environment.update(self.moto.environment(url=self.proxy.url), HOME=str(self.folder / "home"), no_proxy="*",
                                RADL_STATE=PLACE, RADL_STATE_LEASE="6", RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        (self.folder / "home").mkdir()
        self.file = self.write("demo.radl", FILE)

    def keys(self):
        return sorted(o["Key"] for o in self.s3.list_objects_v2(Bucket="states").get("Contents", []))

    def keys_without_runs(self):
        """Beside these, the events of each run are below "runs/"."""
        return [key for key in self.keys() if "/runs/" not in key]

    def body(self, key):
        return self.s3.get_object(Bucket="states", Key=key)["Body"].read()

    def lock(self):
        return json.loads(self.body("team/demo/lock"))

    def nodes_that_run(self):
        """Folders of nodes whose server is alive, by the processes that there are."""
        found = set()
        for line in self.command_lines():
            found.update(re.findall(r"/work/nodes/([^/ ]+)", line.decode(errors="replace")) if b"sshd" in line else [])
        return found

    def command_lines(self):
        for pid in self.processes():
            with contextlib.suppress(OSError):
                yield pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def destroy(self, **options):
        return self.radlc("destroy", "--auto-approve", self.file, **options)

    def assert_whole(self, count=2):
        state = self.show(self.file)
        nodes = [r["address"] for r in state["resources"] if r["type"] == "node"]
        self.assertEqual(nodes, [f"node[{i}]" for i in range(count)])
        self.assertEqual(state["open_intents"], 0)
        self.assertEqual(len(self.nodes_that_run()), count)
        self.assertEqual(self.actions("--input", f"count={count}", self.file), {})

    def assert_nothing(self):
        self.assertEqual(self.keys(), [])
        self.assertEqual(self.nodes_that_run(), set())


class StateInABucket(StateCase):
    def test_apply_and_destroy_leave_nothing_behind(self):
        for name in ("RADL_LOCAL_ISOLATION", "RADL_LOCAL_NETWORK"):
            del self.environment[name]
        self.apply()
        self.assertEqual(self.keys_without_runs(), ["team/demo/lock", "team/demo/state.db.gz"])
        self.assertTrue(self.lock()["free"])
        self.assert_whole()
        self.assertIn("s3://states/team", self.radlc("list"))
        self.assertIn("node[1]", self.radlc("state", "list"))
        self.apply("--input", "count=3")
        self.assert_whole(3)
        self.assertEqual(self.radlc("ssh", "node[0]", "echo in"), "in\n")
        self.destroy()
        self.assert_nothing()
        self.assertNotIn("demo", self.radlc("list"))
        self.assertEqual([str(p) for p in (self.folder / "home").rglob("*") if "/s3/" in str(p)], [])

    def test_the_file_may_say_where_its_state_is(self):
        del self.environment["RADL_STATE"]
        self.file = self.write("demo.radl", FILE.replace("( system node configure", f"( option state = '{PLACE}' system node configure"))
        self.apply()
        self.assertEqual(self.keys_without_runs(), ["team/demo/lock", "team/demo/state.db.gz"])
        self.assertIn("node[0]", self.radlc("state", "list", self.file))
        self.destroy()
        self.assert_nothing()

    def test_the_document_is_a_database_without_secrets(self):
        secret = "correct-horse-battery"
        self.apply("--input", f"token={secret}")
        document = gzip.decompress(self.body("team/demo/state.db.gz"))
        self.assertNotIn(secret.encode(), document)
        self.assertNotIn(b"PRIVATE KEY", document)
        self.assertNotIn(str(self.folder / "home" / ".local/state/radlc/s3/states/team/demo/work/id_ed25519").encode(), document)
        copy = self.folder / "copy.db"
        self.radlc("state", "pull", self.file, copy)
        with contextlib.closing(sqlite3.connect(copy)) as db:
            self.assertEqual(db.execute("select count(*) from resources where type = 'node'").fetchone(), (2,))
        self.destroy()

    def test_an_older_copy_is_not_pushed_over_a_newer_state(self):
        self.apply()
        copy = self.folder / "copy.db"
        self.radlc("state", "pull", self.file, copy)
        self.apply("--input", "count=1")
        self.radlc("state", "push", self.file, copy, code=None)
        self.assertIn("is newer", self.err)
        self.assert_count_in_state(1)
        self.destroy()

    def assert_count_in_state(self, count):
        self.assertEqual(len([r for r in self.show(self.file)["resources"] if r["type"] == "node"]), count)

    def test_a_bucket_that_is_not_there_is_no_empty_one(self):
        self.environment["RADL_STATE"] = "s3://no-such-bucket/team"
        self.radlc("plan", self.file, code=1)
        self.assertIn("NoSuchBucket", self.err)

    def test_a_copied_prefix_is_no_second_state_of_the_same_nodes(self):
        self.apply("--input", "count=1")
        elsewhere = ("--state", "s3://states/copy")

        def copied():
            for key in self.keys():
                if key.startswith("team/"):
                    self.s3.copy_object(Bucket="states", Key=key.replace("team/", "copy/"), CopySource={"Bucket": "states", "Key": key})
        copied()
        nodes = self.nodes_that_run()
        self.assertEqual(len(nodes), 1)
        self.radlc("destroy", "--auto-approve", self.file, *elsewhere, code=1)
        self.assertIn("is a copy of s3://states/team/demo/state.db.gz", self.err)
        self.radlc("state", "rm", self.file, "node[0]/tools", *elsewhere, code=1)
        self.assertIn("is a copy of", self.err)
        self.assertEqual(self.nodes_that_run(), nodes)
        self.assertTrue([n for n in self.plan(self.file, "--input", "count=1", *elsewhere)["notes"] if "s3://states/team/demo/state.db.gz" in n])
        # Of a place that cannot be asked nobody knows whether the state is still there: nothing is changed or discarded.
        self.proxy.faults = lambda request: Treatment(
            refuse=s3_error("AccessDenied", "not yours", 403) if request.path.endswith("/team/demo/state.db.gz") else None)
        self.radlc("state", "rm", self.file, "node[0]/tools", *elsewhere, code=1)
        self.assertIn("was in s3://states/team/demo/state.db.gz before, which cannot be asked now", self.err)
        self.assertIn("radlc state adopt", self.err)
        self.radlc("state", "discard", self.file, *elsewhere, code=2)
        self.proxy.faults = None
        # The copy goes, and nothing else.
        self.radlc("state", "discard", self.file, *elsewhere)
        self.assertEqual([key for key in self.keys() if key.startswith("copy/")], [])
        # Or it is the state from now on, and the other one is the copy.
        copied()
        self.radlc("state", "adopt", self.file, *elsewhere)
        self.radlc("state", "rm", self.file, "node[0]/tools", *elsewhere)
        self.radlc("state", "adopt", self.file)
        self.radlc("plan", "--input", "count=1", "--detailed-exitcode", self.file)
        for key in [key for key in self.keys() if key.startswith("copy/")]:
            self.s3.delete_object(Bucket="states", Key=key)
        # A prefix that was moved is no copy.
        copied()
        for key in [key for key in self.keys() if key.startswith("team/")]:
            self.s3.delete_object(Bucket="states", Key=key)
        self.radlc("state", "rm", self.file, "node[0]/tools", *elsewhere)
        for key in [key for key in self.keys() if key.startswith("copy/")]:
            self.s3.copy_object(Bucket="states", Key=key.replace("copy/", "team/"), CopySource={"Bucket": "states", "Key": key})
            self.s3.delete_object(Bucket="states", Key=key)
        self.destroy()

    def test_a_lost_document_is_not_started_over(self):
        self.apply()
        saved = self.body("team/demo/state.db.gz")
        self.s3.delete_object(Bucket="states", Key="team/demo/state.db.gz")
        for _ in range(2):
            self.apply(code=None)
            self.assertIn("never starts over", self.err)
        self.s3.put_object(Bucket="states", Key="team/demo/state.db.gz", Body=saved)
        self.assert_whole()
        self.destroy()

    def test_a_plan_does_not_start_over_either(self):
        self.apply()
        saved = self.body("team/demo/state.db.gz")
        self.s3.delete_object(Bucket="states", Key="team/demo/state.db.gz")
        self.radlc("plan", self.file, code=None)
        self.assertIn("never starts over", self.err)
        self.s3.put_object(Bucket="states", Key="team/demo/state.db.gz", Body=saved)
        self.assert_whole()
        self.destroy()

    def test_a_damaged_lock_is_said_to_be_one_and_can_be_removed(self):
        self.apply()
        whole = self.body("team/demo/lock")
        for damaged in (b"", b"{}", whole[:40]):
            self.s3.put_object(Bucket="states", Key="team/demo/lock", Body=damaged)
            self.destroy(code=None)
            self.assertRegex(self.err, "(?s)lock is damaged.*radlc state unlock damaged")
        self.assertEqual(self.radlc("state", "unlock", "damaged"), "Unlocked\n")
        self.assert_whole()
        self.destroy()

    def test_moves_between_a_folder_and_a_bucket(self):
        del self.environment["RADL_STATE"]
        self.apply()
        self.radlc("state", "migrate", self.folder / ".radl", PLACE, code=None)
        self.assertIn("is a node of this computer", self.err)
        self.radlc("destroy", "--auto-approve", "--target", "node", self.file)
        before = self.show(self.file)["resources"]
        self.radlc("state", "migrate", self.folder / ".radl", PLACE)
        self.assertFalse((self.folder / ".radl").exists())
        self.environment["RADL_STATE"] = PLACE
        self.assertEqual(self.show(self.file)["resources"], before)
        self.apply()
        key = next(r for r in self.show(self.file)["resources"] if r["type"] == "key")
        self.assertEqual(key["attributes"]["key"], next(r for r in before if r["type"] == "key")["attributes"]["key"])
        self.radlc("destroy", "--auto-approve", "--target", "node", self.file)
        self.radlc("state", "migrate", PLACE, self.folder / ".radl")
        self.assertEqual(self.keys(), [])
        del self.environment["RADL_STATE"]
        self.assertEqual([r["address"] for r in self.show(self.file)["resources"]], [r["address"] for r in before])
        self.destroy()


class LargeState(StateCase):
    """Its database lies in parts, and a write sends what has changed."""

    def setUp(self):
        super().setUp()
        self.apply("--input", "count=1")
        self.copy = self.folder / "large.db"
        self.radlc("state", "pull", self.file, self.copy)
        grow(self.copy)
        self.radlc("state", "push", self.file, self.copy)
        self.assertEqual(len(self.parts()), 1)

    def parts(self):
        return [key for key in self.keys() if "/parts/" in key]

    def test_is_used_as_any_other(self):
        sizes = []

        def faults(request):
            if request.action == "PutObject" and re.search(r"/state\.db\.gz$|/parts/", request.path):
                sizes.append(len(request.body))
            return Treatment()

        self.proxy.faults = faults
        self.apply()
        self.assertGreater(len(sizes), 4)
        self.assertLess(max(sizes), len(self.body(self.parts()[0])) / 2)
        self.proxy.faults = None
        self.assert_whole()
        self.assertIn("node[1]", self.radlc("state", "list"))
        self.assertIn("demo", self.radlc("list"))
        self.radlc("state", "rm", self.file, "node[1]/tools")
        self.assertEqual(self.actions(self.file), {"node[1]/tools": "run"})
        self.radlc("state", "push", self.file, self.copy, code=None)
        self.assertIn("is newer", self.err)
        self.apply()
        self.radlc("state", "pull", self.file, self.folder / "now.db")
        self.radlc("state", "push", self.file, self.folder / "now.db")
        self.assert_whole()
        self.destroy()
        self.assert_nothing()

    def test_a_run_that_is_killed_at_a_write_is_recovered(self):
        for number in range(1, 9) if ALL else random.Random(str(datetime.date.today())).sample(range(1, 9), 2):
            with self.subTest(number=number):
                seen = []

                def faults(request, seen=seen, number=number):
                    hit = request.action == "PutObject" and re.search(r"/state\.db\.gz$|/parts/", request.path)
                    seen.extend([request] if hit else [])
                    return Treatment(kill_before=bool(hit) and len(seen) == number and number % 2 == 0,
                                     kill_after=bool(hit) and len(seen) == number and number % 2 == 1)

                self.proxy.faults = faults
                run = self.start("apply", "--auto-approve", self.file)
                self.proxy.victim = run.pid
                run.communicate(timeout=60)
                self.assertEqual(run.returncode, -signal.SIGKILL)
                self.proxy.faults = None
                self.apply()
                self.assert_whole()
                self.apply("--input", "count=1")
        self.destroy()
        self.assert_nothing()

    def test_a_part_that_somebody_removed_is_named_and_can_be_restored(self):
        [part] = self.parts()
        saved = self.body(part)
        self.s3.delete_object(Bucket="states", Key=part)
        for command in (("plan",), ("apply", "--auto-approve"), ("destroy", "--auto-approve")):
            self.radlc(*command, self.file, code=None)
            self.assertIn(part, self.err)
        self.s3.put_object(Bucket="states", Key=part, Body=saved)
        self.apply()
        self.assert_whole()
        self.destroy()


class TwoWriters(StateCase):
    def test_of_two_that_race_one_waits(self):
        runs = [self.start("apply", "--auto-approve", "--lock-timeout", "60", self.file) for _ in range(2)]
        for run in runs:
            out, err = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, out + err)
        self.assert_whole()
        self.destroy()

    def test_who_does_not_wait_is_told_who_has_it(self):
        held = threading.Event()
        go_on = threading.Event()

        def faults(request):
            if request.action == "PutObject" and request.path.endswith("state.db.gz") and not held.is_set():
                held.set()
                go_on.wait(30)
            return Treatment()

        self.proxy.faults = faults
        first = self.start("apply", "--auto-approve", self.file)
        held.wait(30)
        self.apply(code=None)
        self.assertIn(f"process {first.pid}", self.err)
        self.assertIn("state unlock", self.err)
        go_on.set()
        out, err = first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0, out + err)
        self.destroy()

    def take_lock_away(self, **fields):
        """As a run of another computer that has the lock now."""
        lock = {**self.lock(), "host": "elsewhere", "boot_id": "x", "owner": "ana", "free": False, "lease_seconds": 1, **fields}
        self.s3.put_object(Bucket="states", Key="team/demo/lock", Body=json.dumps(lock).encode())

    def test_a_dead_owner_on_another_computer_is_waited_for_as_long_as_its_lease(self):
        self.apply()
        self.take_lock_away()
        self.apply("--input", "count=1", code=None)
        self.assertIn("(as ana) on elsewhere", self.err)
        self.apply("--input", "count=1", "--lock-timeout", "40")
        self.assert_whole(1)
        self.destroy()

    def test_the_owner_on_another_computer_of_the_same_name_is_not_taken_for_a_dead_one(self):
        self.apply()
        self.take_lock_away(host=socket.gethostname(), lease_seconds=3600)
        self.apply("--input", "count=1", code=None)
        self.assertIn(f"(as ana) on {socket.gethostname()}", self.err)
        self.take_lock_away(free=True)
        self.destroy()

    def test_a_dead_owner_on_this_computer_is_noticed_at_once(self):
        self.environment["RADL_STATE_LEASE"] = "3600"
        seen = []

        def faults(request):
            if request.action == "PutObject" and request.path.endswith("state.db.gz"):
                seen.append(request)
            return Treatment(kill_after=len(seen) == 3)

        self.proxy.faults = faults
        run = self.start("apply", "--auto-approve", self.file)
        self.proxy.victim = run.pid
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGKILL)
        self.proxy.faults = None
        self.apply()
        self.assert_whole()
        self.destroy()

    def test_an_owner_that_slept_longer_than_its_lease_cannot_write(self):
        self.environment["RADL_STATE_LEASE"] = "3"
        seen = []

        def faults(request):
            if request.action == "PutObject" and request.path.endswith("state.db.gz"):
                seen.append(request)
                if len(seen) == 3:
                    return Treatment(signal=signal.SIGSTOP)
            return Treatment()

        self.proxy.faults = faults
        sleeper = self.start("apply", "--auto-approve", self.file)
        self.proxy.victim = sleeper.pid
        self.wait_until(lambda: len(seen) == 3)
        time.sleep(0.5)
        self.proxy.faults = None
        self.apply("--lock-timeout", "60")
        self.assert_whole()
        document, generation = self.body("team/demo/state.db.gz"), self.lock()["generation"]
        os.kill(sleeper.pid, signal.SIGCONT)
        out, err = sleeper.communicate(timeout=120)
        self.assertNotEqual(sleeper.returncode, 0, out + err)
        self.assertRegex(err, "taken over|another run has written")
        self.assertEqual(self.body("team/demo/state.db.gz"), document)
        self.assertEqual(self.lock()["generation"], generation)
        self.assert_whole()
        self.destroy()

    def test_who_wakes_without_the_lock_makes_and_waits_for_nothing_more(self):
        """Wherever it slept: also between its record of what it is about to make and the making."""
        self.environment["RADL_STATE_LEASE"] = "3"
        for last in range(3, 9) if ALL else (4, 6):
            seen = []

            def faults(request, seen=seen, last=last):
                if request.action == "PutObject" and request.path.endswith("state.db.gz"):
                    seen.append(request)
                    if len(seen) == last:
                        return Treatment(signal=signal.SIGSTOP)
                return Treatment()

            with self.subTest(write=last):
                self.proxy.faults = faults
                sleeper = self.start("apply", "--auto-approve", self.file, "--input", "count=6")
                self.proxy.victim = sleeper.pid
                self.wait_until(lambda seen=seen, last=last: len(seen) == last)
                time.sleep(0.3)
                self.proxy.faults = None
                self.apply("--lock-timeout", "60")
                os.kill(sleeper.pid, signal.SIGCONT)
                _, err = sleeper.communicate(timeout=20)
                self.assertNotEqual(sleeper.returncode, 0)
                self.assertRegex(err, "taken over|another run has written")
                self.assert_whole()
                self.destroy()
                self.assert_nothing()

    def test_a_run_that_waits_ends_when_the_lock_is_taken_from_it(self):
        """A step of a minute: nobody waits for its end to say that the lock is another run's."""
        self.environment["RADL_STATE_LEASE"] = "3"
        slow = self.write("demo.radl", FILE.replace("file '~/token'", "command 'sleep 60' ( creates = '~/never' )\n file '~/token'"))
        sleeper = self.start("apply", "--auto-approve", slow)
        self.wait_until(lambda: any(b"sleep 60" in one for one in self.command_lines()))
        os.kill(sleeper.pid, signal.SIGSTOP)
        time.sleep(6)
        lock = self.lock()
        lock.update(generation=lock["generation"] + 1, beat=lock["beat"] + 1, host="elsewhere")
        self.s3.put_object(Bucket="states", Key="team/demo/lock", Body=json.dumps(lock).encode())
        os.kill(sleeper.pid, signal.SIGCONT)
        begun = time.monotonic()
        _, err = sleeper.communicate(timeout=30)
        self.assertLess(time.monotonic() - begun, 15)
        self.assertNotEqual(sleeper.returncode, 0)
        self.assertIn("taken over", err)
        lock.update(free=True)
        self.s3.put_object(Bucket="states", Key="team/demo/lock", Body=json.dumps(lock).encode())
        self.destroy()

    def late(self, which):
        """The first write that `which` (a request -> what is written, or None) names comes to nothing as often as it is sent, and is done
        by the server all the same when something else is to be written in its place. The event says that it was."""
        first, done = [], threading.Event()

        def faults(request):
            written = which(request) if request.action == "PutObject" and not done.is_set() else None
            if written is None:
                return Treatment()
            if not first:
                first.append((written, request))
            if first[0][0] == written:
                return Treatment(reset_before=True)
            self.proxy.forward(first[0][1])
            done.set()
            return Treatment()

        self.proxy.faults = faults
        return done

    def waits_for(self, go):
        """A file whose step ends when `go` is there."""
        return self.write("demo.radl", FILE.replace("file '~/token'", f"command 'until test -e {go}; do sleep 0.1; done' ( creates = '{go}' )\n file '~/token'"))

    def test_a_lock_is_free_after_a_run_whose_last_renewal_was_done_late(self):
        go = self.folder / "go"

        def which(request):
            renewal = request.path.endswith("/lock") and json.loads(request.body)["beat"] > 0
            if renewal:
                go.touch()
            return request.body if renewal else None

        done = self.late(which)
        self.radlc("apply", "--auto-approve", self.waits_for(go), "--input", "count=1")
        self.assertTrue(done.is_set())
        self.assertTrue(self.lock()["free"])
        self.destroy()
        self.assert_nothing()

    def test_a_renewal_that_a_slow_server_does_late_is_nobody_elses(self):
        done = self.late(lambda r: json.loads(r.body)["beat"] or None if r.path.endswith("/lock") else None)
        go = self.folder / "go"
        file = self.waits_for(go)
        run = self.start("apply", "--auto-approve", file)
        self.wait_until(lambda: done.is_set() or run.poll() is not None)
        renewed = self.lock()["beat"] if done.is_set() else 0
        self.wait_until(lambda: self.lock()["beat"] > renewed or run.poll() is not None)
        go.touch()
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, out + err)
        self.assertTrue(done.is_set())
        self.destroy()
        self.assert_nothing()

    def test_a_state_that_a_slow_server_writes_late_is_nobody_elses(self):
        self.environment["RADL_STATE_LEASE"] = "3"
        documents = []

        def which(request):
            if not request.path.endswith("state.db.gz"):
                return None
            if request.body not in documents:
                documents.append(request.body)
            return request.body if len(documents) > 3 else None

        done = self.late(which)
        self.apply("--input", "count=4", "--parallelism", "2", code=None)
        self.proxy.faults = None
        self.assertTrue(done.is_set(), self.err)
        self.assertNotIn("another run has written", self.err)
        self.apply()
        self.assert_whole()
        self.destroy()
        self.assert_nothing()

    def test_a_lock_can_be_freed_by_hand(self):
        self.apply()
        self.take_lock_away(id="0123")
        self.assertIn("0123", self.radlc("state", "unlock"))
        self.radlc("state", "unlock", "4567", code=None)
        self.assertIn("another lock", self.err)
        self.assertEqual(self.radlc("state", "unlock", "0123"), "Unlocked\n")
        self.destroy()

    def test_a_server_without_conditional_writes_is_refused(self):
        for header in ("if-none-match", "if-match"):
            def faults(request, header=header):
                for name in list(request.headers):
                    if name.lower() == header:
                        del request.headers[name]
                return Treatment()

            self.proxy.faults = faults
            self.apply(code=None)
            self.assertIn("takes no notice of", self.err)
            self.assertEqual(self.nodes_that_run(), set())
            self.assertEqual(self.keys(), [])


class OnMinio(StateCase):
    """A server that is no moto: its conditions, its times, its ETags."""

    def setUp(self):
        super().setUp()
        try:
            from minio import Minio
            self.minio = Minio(self.ground / "minio")
        except Exception as why:
            self.skipTest(f"no MinIO: {why}")
        self.addCleanup(self.minio.stop)
        self.s3 = self.minio.client()
        self.s3.create_bucket(Bucket="states")
        self.environment.update(self.minio.environment())

    def test_apply_change_and_destroy(self):
        self.apply()
        self.assert_whole()
        runs = [self.start("apply", "--auto-approve", "--lock-timeout", "60", "--input", "count=3", self.file) for _ in range(2)]
        for run in runs:
            out, err = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, out + err)
        self.assert_whole(3)
        self.destroy()
        self.assert_nothing()


class Faults(StateCase):
    def test_killed_before_and_after_every_request(self):
        """All requests, or one of an apply's first ten, another each day."""
        today = random.Random(str(datetime.date.today()))
        for after in (False, True):
            number, killed = 0, True
            some = [] if ALL else [today.randrange(1, 11)]
            while killed if ALL else some:
                number = number + 1 if ALL else some.pop(0)
                with self.subTest(number=number, after=after):
                    begun = len(self.proxy.log)

                    def faults(request, at=begun + number):
                        hit = request.number == at
                        return Treatment(kill_before=hit and not after, kill_after=hit and after)

                    self.proxy.faults = faults
                    run = self.start("apply", "--auto-approve", self.file)
                    self.proxy.victim = run.pid
                    run.communicate(timeout=60)
                    killed = run.returncode == -signal.SIGKILL
                    self.proxy.faults = None
                    if number % 2:
                        self.apply()
                        self.assert_whole()
                    if self.keys():
                        self.destroy(code=None)
                    self.assertEqual(self.nodes_that_run(), set())
                    self.assertFalse([key for key in self.keys() if key.endswith(".gz")])
                    for key in self.keys():
                        self.s3.delete_object(Bucket="states", Key=key)
            self.assertTrue(number > 10 if ALL else killed, "an apply sends fewer requests than are killed")

    def test_what_passes_is_not_noticed(self):
        """Every other write meets one of these, in turns."""
        passing = [Treatment("the answer is lost", reset_after=True), Treatment("the request is lost", reset_before=True),
                   Treatment("503", refuse=s3_error("SlowDown", "Reduce your request rate.", 503)),
                   Treatment("500", refuse=s3_error("InternalError", "We encountered an internal error.", 500)),
                   Treatment("409", refuse=s3_error("ConditionalRequestConflict", "At the same time.", 409))]
        met = []
        for first in range(len(passing)) if ALL else [datetime.date.today().toordinal() % len(passing)]:
            with self.subTest(first=passing[first].name):
                count = 2 * first

                def faults(request):
                    nonlocal count
                    if request.action != "PutObject":
                        return Treatment()
                    count += 1
                    met.append(passing[count // 2 % len(passing)].name if count % 2 else "")
                    return passing[count // 2 % len(passing)] if count % 2 else Treatment()

                self.proxy.faults = faults
                self.apply()
                self.proxy.faults = None
                self.assertGreater(set(met), {treatment.name for treatment in passing})
                self.assert_whole()
                self.destroy()
                self.assert_nothing()

    def test_a_store_that_has_too_much_to_do_for_a_while_is_given_time(self):
        """Whichever of a run's writes it is: the first of each object, and what the lock asks of the store."""
        self.environment["RADL_STATE_LEASE"] = "60"
        for spared in range(4) if ALL else [1]:
            with self.subTest(spared=spared):
                writes = 0

                def faults(request, spared=spared):
                    nonlocal writes
                    writes += request.action == "PutObject"
                    busy = request.action == "PutObject" and spared < writes <= spared + 5
                    return Treatment("503", refuse=s3_error("SlowDown", "Reduce your request rate.", 503)) if busy else Treatment()

                self.proxy.faults = faults
                self.apply("--input", "count=1")
                self.proxy.faults = None
                self.assert_count(1)
                self.destroy()
                self.assert_nothing()

    def test_without_the_server_nothing_new_is_begun_and_a_copy_is_kept(self):
        self.environment["RADL_STATE_LEASE"] = "3"
        written = []

        def faults(request):
            if request.action == "PutObject" and request.path.endswith("state.db.gz"):
                written.append(request)
            return Treatment(reset_before=len(written) > 4)

        self.proxy.faults = faults
        kept = dict(self.environment)
        self.environment.update(QUICK, RADL_QUICK_TIME="4")  # each write that comes to nothing takes seconds
        self.apply("--input", "count=4", "--parallelism", "2", code=None)
        self.environment = kept
        err = self.err
        self.assertIn("cannot be written", err)
        push = re.search(r"radlc (state push .*)", err).group(1).split()
        self.assertTrue(pathlib.Path(push[2]).exists())
        running = len(self.nodes_that_run())
        self.assertLess(running, 4)
        self.proxy.faults = None
        self.radlc(*push)
        self.apply("--input", "count=4")
        self.assert_count(4)
        self.destroy()
        self.assert_nothing()

    def assert_count(self, count):
        self.assertEqual(len(self.nodes_that_run()), count)
        self.assertEqual(self.show(self.file)["open_intents"], 0)


if __name__ == "__main__":
    unittest.main()
