"""What becomes of a state that is lost, renamed in, or cannot be compared with the machines."""
import contextlib
import os
import sqlite3
import subprocess
import unittest

from radl_case import RADLC, RadlCase, replaced

FILE = """radl 2
input text ( type = 'text', default = 'hello' )
network lan ( outbound = 'no' )
system SYSTEM ( cpu.count >= 1, memory.size >= 64M, net_interface.0.connection = 'lan' )
system client ( cpu.count >= 1, memory.size >= 64M, net_interface.0.connection = 'lan' )
configure base ( directory '~/made' () )
configure greet (
  file '~/made/greeting.txt' ( content = input.text )
  command 'echo once >> $HOME/ran' ()
)
configure call ( file '~/called' ( content = '${SYSTEM[0].private_ip}' ) )
deploy SYSTEM 2
deploy client 1
contextualize (
  system SYSTEM configure base
  system SYSTEM configure greet
  system client configure call after greet
)
"""


class State(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment.update(RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        self.file = self.write("site.radl", replaced(FILE, ("SYSTEM", "worker")))

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def state(self):
        return self.folder / ".radl" / "site"

    def sql(self, text):
        with contextlib.closing(sqlite3.connect(self.state() / "state.db")) as db:
            db.execute(text)
            db.commit()

    def test_a_lost_state_is_not_started_over(self):
        self.apply()
        running = self.processes()
        whole = (self.state() / "state.db").read_bytes()
        for replace in (lambda path: path.unlink(), lambda path: path.write_bytes(b""),
                        lambda path: path.write_bytes(b"no database, but somebody's words"),
                        lambda path: path.write_bytes(whole[:len(whole) // 2]), lambda path: path.write_bytes(bytes(4096))):
            replace(self.state() / "state.db")
            for command in (["plan", self.file], ["apply", "--auto-approve", self.file], ["show", self.file],
                            ["destroy", "--auto-approve", self.file], ["plan", "--refresh", self.file]):
                with self.subTest(command=command[:1]):
                    self.radlc(*command, code=2)
                    self.assertIn("backup", self.err)
            self.assertEqual(sorted(self.processes()), sorted(running))
            (self.state() / "state.db").write_bytes(whole)
        (self.state() / "state.db").unlink()
        (self.state() / "state.db").mkdir()
        self.radlc("plan", self.file, code=2)
        self.assertIn(str(self.state() / "state.db"), self.err, "which folder is in the way")
        (self.state() / "state.db").rmdir()
        (self.state() / "state.db").write_bytes(whole)
        os.chmod(self.state() / "state.db", 0o600)
        self.assertEqual(self.actions(self.file), {})
        self.destroy()

    def test_a_system_under_a_new_name_keeps_its_machines_and_their_work(self):
        self.apply()
        running = self.processes()
        self.file.write_text(replaced(FILE, ("SYSTEM", "trainer")))
        self.assertIn("worker[0]", self.actions(self.file))
        self.assertEqual(self.radlc("state", "mv", "--file", self.file, "worker", "trainer"), "Moved worker to trainer\n")
        self.assertEqual(self.actions(self.file), {})
        self.assertIn("No changes", self.apply())
        self.assertEqual(sorted(self.processes()), sorted(running))
        self.assertEqual(self.radlc("ssh", "--file", self.file, "trainer[1]", "cat ran"), "once\n")
        self.destroy()

    def test_a_host_key_that_does_not_match_is_an_error_of_the_refresh(self):
        self.apply()
        self.sql("update resources set attributes = json_set(attributes, '$.host_key', (select "
                 "json_extract(attributes, '$.host_key') from resources where address = 'worker[1]')) "
                 "where address = 'worker[0]'")
        out = self.radlc("plan", "--refresh", self.file, code=2)
        self.assertNotIn("No changes. ", out)
        self.assertIn("worker[0] could not be checked", self.err)
        self.radlc("plan", "--refresh", "--detailed-exitcode", self.file, code=1)
        self.destroy()

    def test_a_change_of_the_file_is_no_drift(self):
        self.apply()
        self.radlc("ssh", "--file", self.file, "worker[1]", "echo edited > made/greeting.txt")
        plan = self.plan("--refresh", self.file, "--input", "text=other")
        self.assertEqual([d["address"] for d in plan["drift"]], ["worker[1]/greet"])
        self.assertNotIn("other", str(plan["drift"]))
        actions = {a["id"]: a["verb"] for a in plan["actions"]}
        self.assertLessEqual({"worker[0]/greet": "run", "worker[1]/greet": "run"}.items(), actions.items())
        self.destroy()

    def test_steps_after_a_failure_do_not_run(self):
        text = replaced(self.file.read_text(), ("command 'echo once >> $HOME/ran' ()", "command 'test -e $HOME/fine' ()"))
        self.file.write_text(text)
        out = self.apply(code=2)
        self.assertRegex(out, r"client\[0\]/call.*worker\[[01]\]/greet failed")
        steps = {s["id"]: s["status"] for s in self.show(self.file)["steps"]}
        self.assertNotIn("client[0]/call", steps)
        self.destroy()

    def test_a_run_that_gets_little_memory_ends_with_an_error_and_not_with_a_crash(self):
        # With less, libssh2 1.10 crashes: it uses an HMAC context without looking whether it got one.
        for megabytes in (160, 200, 300):
            limited = f"ulimit -v {megabytes * 1024}; exec \"$0\" \"$@\""
            done = subprocess.run(["bash", "-c", limited, str(RADLC), "apply", "--auto-approve", str(self.file)],
                                  cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=120)
            with self.subTest(megabytes=megabytes):
                self.assertGreaterEqual(done.returncode, 0, f"ended by a signal: {done.stdout}{done.stderr}")
        self.apply()
        self.assertEqual(self.actions(self.file), {})
        self.destroy()


if __name__ == "__main__":
    unittest.main()
