"""What is done with running nodes from the command line: exec, cp, logs -f, keys that lie elsewhere, and nodes that must stay."""
import os
import select
import signal
import subprocess

from radl_case import RADLC, RadlCase, replaced

FILE = """radl 2
input count ( type = 'integer', default = 2 )
network lan ()
system node ( net_interface.0.connection = 'lan', prevent_destroy = 'no' )
configure tools ( command 'echo hello' () )
contextualize ( system node configure tools )
deploy node input.count
"""


class NodesCase(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["HOME"] = str(self.folder / "home")
        (self.folder / "home").mkdir()
        self.file = self.write("demo.radl", FILE)
        self.radlc("apply", "--auto-approve", self.file)

    def tearDown(self):
        if (self.folder / ".radl").exists():
            self.radlc("destroy", "--auto-approve", self.file)
        super().tearDown()

    def lines(self, text):
        return sorted(text.splitlines())


class Exec(NodesCase):
    def test_exec_runs_on_all_nodes_and_prefixes_each_line(self):
        self.assertEqual(self.lines(self.radlc("exec", self.file, "--", "echo", "a b")), ["node[0] | a b", "node[1] | a b"])
        self.assertEqual(self.lines(self.radlc("exec", "node", "--", "echo $((1+1))")), ["node[0] | 2", "node[1] | 2"])

    def test_one_node_alone_has_no_names_before_its_lines(self):
        self.assertEqual(self.radlc("exec", "node[1]", "--", "printf", "x\\ny"), "x\ny")

    def test_ends_with_the_exit_status_of_the_command(self):
        self.radlc("exec", "node[0]", "--", "exit 3", code=3)
        out = self.radlc("exec", "--", "echo to-stderr >&2; exit 4", code=4)
        self.assertEqual(out, "")
        self.assertIn("node[1] | to-stderr", self.err)
        self.assertIn("node[0]: exit status 4", self.err)
        self.radlc("exec", "node[7]", "--", "true", code=1)
        self.assertIn("existing: node[0], node[1]", self.err)
        self.radlc("exec", "node[0]", code=1)
        self.assertIn("a command is required", self.err)

    def fed(self, text, *arguments):
        """What a command prints that reads this text from its standard input."""
        run = subprocess.run([str(RADLC), "exec", *arguments], cwd=self.folder, env=self.environment, input=text,
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_standard_input_goes_to_the_command(self):
        self.assertEqual(self.fed("one\ntwo\n", "node[0]", "--", "cat; echo end"), "one\ntwo\nend\n")
        self.assertEqual(self.lines(self.fed("both\n", "--", "cat")), ["node[0] | both", "node[1] | both"])
        self.assertEqual(self.fed("kept\n", "-n", "node[0]", "--", "cat; echo end"), "end\n")
        self.assertEqual(self.fed("not read\n", "node[0]", "--", "echo end"), "end\n")
        much = "0123456789abcde\n" * 200_000
        self.assertEqual(self.lines(self.fed(much, "--parallelism", "1", "--", "wc -c")),
                         [f"node[{i}] | {len(much)}" for i in (0, 1)])

    def test_a_slow_command_loses_nothing_of_a_large_input_and_holds_its_reading_up(self):
        command = "while [ -e slow ]; do sleep 0.1; done; wc -c"
        self.radlc("exec", "node[1]", "--", "touch slow")
        piece, count = b"0123456789abcdef" * 65536, 100
        run = subprocess.Popen([str(RADLC), "exec", "--", command], cwd=self.folder, env=self.environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        written = 0
        os.set_blocking(run.stdin.fileno(), False)
        while select.select([], [run.stdin], [], 5)[1] and written < len(piece) * count:
            written += os.write(run.stdin.fileno(), piece[written % len(piece):])
        self.assertLess(written, len(piece) * count, "radlc has read on while node[1] read nothing")
        self.radlc("exec", "-n", "node[1]", "--", "rm slow")
        os.set_blocking(run.stdin.fileno(), True)
        while written < len(piece) * count:
            written += os.write(run.stdin.fileno(), piece[written % len(piece):])
        run.stdin.close()
        out = run.stdout.read().decode()
        run.stdout.close()
        self.assertEqual(run.wait(timeout=60), 0)
        self.assertEqual(self.lines(out), [f"node[{i}] | {len(piece) * count}" for i in (0, 1)])

    def test_standard_input_is_forwarded_while_the_command_runs(self):
        run = subprocess.Popen([str(RADLC), "exec", "node[0]", "--", "while read line; do echo got $line; done"], cwd=self.folder,
                               env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for word in ("one", "two"):
            run.stdin.write(word + "\n")
            run.stdin.flush()
            self.assertEqual(run.stdout.readline(), f"got {word}\n")
        run.stdin.close()
        self.assertEqual(run.wait(timeout=60), 0)
        run.stdout.close()

    def test_ctrl_c_ends_the_remote_command(self):
        run = self.start("exec", "--", "echo begun; exec sleep 1000")
        for _ in range(2):
            self.assertIn("begun", run.stdout.readline())
        os.killpg(run.pid, signal.SIGINT)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.wait_until(lambda: "sleep 1000" not in self.radlc("exec", "--", "ps ax -o args | grep -v grep | grep 'sleep 1000' || true"))


class Copies(NodesCase):
    def test_a_folder_goes_to_every_node_and_comes_back_from_each(self):
        self.write("data/a.txt", "one")
        self.write("data/deep/b c.txt", "two")
        tool = self.write("data/deep/run.sh", "#!/bin/sh\necho ran\n")
        tool.chmod(0o755)
        self.radlc("cp", "data", "node:")
        self.assertEqual(self.lines(self.radlc("exec", "--", "./data/deep/run.sh; cat 'data/deep/b c.txt'; echo")),
                         ["node[0] | ran", "node[0] | two", "node[1] | ran", "node[1] | two"])
        self.radlc("cp", "node:data", "back/")
        for node in ("node[0]", "node[1]"):
            self.assertEqual((self.folder / "back" / node / "data/deep/b c.txt").read_text(), "two")
            self.assertEqual((self.folder / "back" / node / "data/deep/run.sh").stat().st_mode & 0o777, 0o755)

    def test_a_file_takes_the_name_that_is_given_or_goes_into_the_folder(self):
        self.write("a.txt", "one")
        self.radlc("cp", "a.txt", "node[0]:b.txt")
        self.radlc("cp", "node[0]:b.txt", "c.txt")
        self.assertEqual((self.folder / "c.txt").read_text(), "one")
        self.radlc("cp", "node[0]:b.txt", ".")
        self.assertEqual((self.folder / "b.txt").read_text(), "one")

    def test_a_slash_at_the_end_means_a_folder(self):
        self.write("a.txt", "one")
        self.radlc("cp", "a.txt", "node[0]:new/deep/")
        self.assertEqual(self.radlc("exec", "node[0]", "--", "cat new/deep/a.txt"), "one")

    def test_several_go_into_a_folder_that_is_made(self):
        self.write("a.txt", "one")
        self.write("data/b.txt", "two")
        self.radlc("cp", "a.txt", "data", "node:made/here")
        self.assertEqual(self.lines(self.radlc("exec", "--", "cat made/here/a.txt made/here/data/b.txt; echo")),
                         ["node[0] | onetwo", "node[1] | onetwo"])
        self.radlc("cp", "data", "a.txt", "node[0]:made/here/a.txt", code=2)

    def test_links_to_files_are_copied_and_others_counted(self):
        self.write("data/a.txt", "one")
        os.symlink("a.txt", self.folder / "data/link")
        os.symlink("..", self.folder / "data/up")
        self.radlc("cp", "data", "node[0]:")
        self.assertIn("2 files; skipped 1", self.err)
        self.radlc("exec", "node[0]", "--", "cd data && ln -s a.txt other && ln -s .. up && mkfifo pipe")
        self.radlc("cp", "node[0]:data", "back")
        self.assertIn("3 files; skipped 2", self.err)
        self.assertEqual((self.folder / "back/other").read_text(), "one")

    def test_missing_files_and_two_equal_sides_are_errors(self):
        self.radlc("cp", "nothing", "node[0]:", code=2)
        self.assertIn("no such file", self.err)
        self.radlc("cp", "node[0]:nothing", ".", code=2)
        self.assertIn("node[0]", self.err)
        self.radlc("cp", "a", "b", code=1)
        self.assertIn("NODE:PATH", self.err)


class Keys(NodesCase):
    def test_a_key_is_found_where_a_colleague_has_put_it_and_asked_for_by_fingerprint(self):
        key = next((self.folder / ".radl").rglob("work/id_ed25519"))
        print_ = subprocess.run(["ssh-keygen", "-l", "-f", str(key)], capture_output=True, text=True, check=True).stdout.split()[1]
        state = self.radlc("show", "--json", self.file)
        self.assertIn(print_, state)
        self.assertNotIn(str(key), state)
        public = key.with_name(key.name + ".pub")
        private, line = key.read_bytes(), public.read_bytes()
        key.unlink(), public.unlink()
        self.radlc("exec", "node[0]", "--", "true", code=255)
        self.assertIn(print_, self.err)
        self.assertIn("home/.local/share/radlc/keys", self.err)
        for folder in (".local/share/radlc/keys", ".ssh"):
            there = self.folder / "home" / folder / "from_ana"
            there.parent.mkdir(parents=True)
            there.write_bytes(private)
            there.chmod(0o600)
            self.radlc("exec", "node[0]", "--", "true")
            self.assertEqual(self.radlc("ssh", "node[0]", "echo in"), "in\n")
            there.unlink()
        key.write_bytes(private), public.write_bytes(line)
        key.chmod(0o600)


class Logs(NodesCase):
    def test_following_survives_a_log_that_starts_over(self):
        log = next((self.folder / ".radl").rglob("logs/**/*node*0*tools*.log"), None) or \
            next(p for p in (self.folder / ".radl").rglob("logs/**/*") if p.is_file() and "node[0]" in p.name)
        with open(self.folder / "seen", "wb") as seen:
            follow = subprocess.Popen([str(RADLC), "logs", "-f", str(self.file)], cwd=self.folder, env=self.environment, stdout=seen,
                                      stderr=subprocess.STDOUT)
        try:
            text = lambda: (self.folder / "seen").read_text()
            self.wait_until(lambda: "hello" in text())
            os.rename(log, str(log) + ".1")
            log.write_text("after rotation\n")
            self.wait_until(lambda: "after rotation" in text(), message=text)
            log.write_text("cut\n")
            self.wait_until(lambda: "| cut" in text(), message=text)
        finally:
            follow.send_signal(signal.SIGINT)
            follow.wait(20)
        self.assertEqual(follow.returncode, 0)

    def test_a_name_that_nothing_has_is_not_followed(self):
        self.radlc("logs", "-f", self.file, "nodes", code=1)
        self.assertIn("no logs of 'nodes'", self.err)
        self.assertIn("node[0].tools", self.err)
        self.radlc("logs", "node[0]", self.file, code=1)
        self.assertIn("radlc logs FILE NODE", self.err)
        self.radlc("import", "node[0]", "id", self.file, code=1)
        self.assertIn("radlc import FILE ADDRESS ID", self.err)


class Moved(NodesCase):
    def renamed(self):
        return replaced(FILE, ("system node", "system member"), ("deploy node", "deploy member")) + "moved ('node', 'member')\n"

    def test_a_renamed_system_keeps_its_machines_and_their_content(self):
        self.radlc("exec", "--", "echo kept > here")
        self.write("demo.radl", self.renamed())
        plan = self.plan(self.file)
        self.assertEqual((plan["actions"], [(m["from"], m["to"]) for m in plan["moves"]]), ([], [("node", "member")]))
        self.assertIn("node -> member", self.radlc("plan", self.file))
        self.radlc("exec", "node[0]", "--", "true")  # a plan changes nothing
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.lines(self.radlc("exec", "member", "--", "cat here")), ["member[0] | kept", "member[1] | kept"])
        plan = self.plan(self.file, "--refresh")
        self.assertEqual((plan["actions"], plan["moves"]), ([], []))

    def test_a_saved_plan_with_a_move_is_applied_unchanged(self):
        self.write("demo.radl", self.renamed())
        self.radlc("plan", self.file, "--out", "saved.plan")
        self.radlc("apply", "saved.plan")
        self.assertIn("member[1]", self.radlc("state", "list", self.file))


class Protected(NodesCase):
    def protect(self, word):
        self.write("demo.radl", replaced(FILE, ("prevent_destroy = 'no'", f"prevent_destroy = '{word}'")))

    def tearDown(self):
        self.protect("no")
        super().tearDown()

    def test_prevent_destroy_prevents_removal_and_replacement(self):
        self.protect("yes")
        plan = self.plan(self.file)
        self.assertEqual(plan["actions"], [])
        self.assertNotIn("prevent_destroy", " ".join(plan["notes"]), "it is used, not passed over")
        self.radlc("plan", self.file, "--input", "count=1", code=1)
        self.assertIn("node[1] would be removed", self.err)
        self.assertIn("demo.radl:4", self.err)
        self.radlc("apply", "--auto-approve", self.file, "--replace", "node[0]", code=1)
        self.assertIn("node[0] would be replaced", self.err)
        self.protect("no")
        self.assertEqual(self.actions(self.file, "--input", "count=1")["node[1]"], "delete")

    def test_a_system_that_was_taken_out_of_the_file_is_still_protected(self):
        self.protect("yes")
        self.assertIn("must not be destroyed", self.radlc("apply", "--auto-approve", self.file))
        self.write("demo.radl", "radl 2\nnetwork lan ()\n")
        self.radlc("plan", self.file, code=1)
        self.assertIn("node[0] would be removed", self.err)
        self.assertIn("prevent_destroy = 'no'", self.err)
        self.radlc("destroy", "--auto-approve", self.file, code=1)
        self.assertIn("it was applied with prevent_destroy", self.err)
        self.protect("no")
        self.radlc("apply", "--auto-approve", self.file)

    def test_destroy_respects_prevent_destroy_until_it_is_no(self):
        self.protect("yes")
        self.radlc("destroy", "--auto-approve", self.file, code=1)
        self.assertIn("demo.radl:4", self.err)
        self.assertIn("node[0] would be removed", self.err)
        self.radlc("exec", "--", "true")
        self.protect("no")
        self.radlc("destroy", "--auto-approve", self.file)
        self.assertFalse((self.folder / ".radl").exists())
