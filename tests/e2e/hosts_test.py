"""Existing machines, one of them behind a jump host: planned, taken, configured, and given back as they were."""
import getpass
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import unittest

from radl_case import RADLC, RadlCase, replaced

FILE = """radl 2
input greeting ( type = 'text', default = 'hello' )
system worker (
  cpu.count >= 1
  disk.0.os.name = 'linux'
  disk.0.image.url = ['ssh://gpu1', 'ssh://gpu2']
)
configure greet ( file '~/greeting.txt' ( content = input.greeting ) )
deploy worker 2 hosts
contextualize ( system worker configure greet )
"""


class Machine:
    """An SSH server on loopback with a home of its own."""

    def __init__(self, folder, name, user_key):
        self.folder = folder / name
        self.home = self.folder / "home"
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        (self.home / ".ssh" / "authorized_keys").write_text("# by hand\n" + user_key)
        self.host = f"127.{random.randint(64, 191)}.{random.randint(0, 255)}.{random.randint(1, 254)}"
        with socket.create_server((self.host, 0)) as free:
            self.port = free.getsockname()[1]
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "host_key")], check=True)
        self.host_key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        self.start()

    def start(self):
        (self.folder / "log").unlink(missing_ok=True)
        (self.folder / "sshd_config").write_text(
            f"ListenAddress {self.host}:{self.port}\nHostKey {self.folder}/host_key\nPidFile none\n"
            f"AuthorizedKeysFile {self.home}/.ssh/authorized_keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"PermitRootLogin prohibit-password\nMaxStartups 200\nUseDNS no\nSetEnv HOME={self.home}\n"
            "Subsystem sftp /usr/lib/openssh/sftp-server\n"
            'ForceCommand cd "$HOME" && exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n')
        self.server = subprocess.Popen([shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin"), "-D", "-f",
                                        str(self.folder / "sshd_config"), "-E", str(self.folder / "log")])

    def stop(self):
        self.server.kill()
        self.server.wait()

    def lose(self):
        """As a machine that is switched off: the sessions that are open go too."""
        sessions = [int(stat.parent.name) for stat in pathlib.Path("/proc").glob("[0-9]*/stat")
                    if stat.exists() and stat.read_text().rpartition(")")[2].split()[1] == str(self.server.pid)]
        self.stop()
        for pid in sessions:
            os.kill(pid, signal.SIGKILL)

    def listens(self):
        return "Server listening" in (self.folder / "log").read_text() if (self.folder / "log").exists() else False

    def files(self):
        return {str(path.relative_to(self.home)): (path.stat().st_mode, path.read_text() if path.is_file() else "")
                for path in self.home.rglob("*")}


class Hosts(RadlCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "id")], check=True)
        key = (self.folder / "id.pub").read_text()
        self.first, self.second = Machine(self.folder, "first", key), Machine(self.folder, "second", key)
        self.addCleanup(lambda: (self.first.stop(), self.second.stop()))
        for machine in (self.first, self.second):
            self.wait_until(machine.listens)
        config = ""
        for name, machine, more in (("gpu1", self.first, ""), ("gpu2", self.second, "  ProxyJump gpu1\n")):
            config += f"Host {name}\n  HostName {machine.host}\n  Port {machine.port}\n  User {getpass.getuser()}\n{more}"
        config += (f"Host *\n  IdentityFile {self.folder}/id\n  IdentitiesOnly yes\n  IdentityAgent none\n"
                   f"  UserKnownHostsFile {self.folder}/known_hosts\n")
        self.environment["RADL_SSH_CONFIG"] = str(self.write("ssh_config", config))
        self.write("known_hosts", "".join(f"[{m.host}]:{m.port} {m.host_key}\n" for m in (self.first, self.second)))
        self.file = self.write("site.radl", FILE)

    def tearDown(self):
        for machine in (self.first, self.second):
            machine.stop()
        super().tearDown()

    def test_they_are_taken_configured_and_given_back(self):
        before = [machine.files() for machine in (self.first, self.second)]
        plan = self.plan(self.file, "--refresh")
        self.assertEqual([a["id"] for a in plan["actions"]][:3], ["key.hosts", "worker[0]", "worker[1]"])
        self.radlc("apply", "--auto-approve", self.file)
        for machine in (self.first, self.second):
            self.assertEqual((machine.home / "greeting.txt").read_text(), "hello")
        self.assertEqual(self.actions(self.file), {})
        self.assertEqual(self.actions(self.file, "--refresh"), {})
        behind = next(one for one in self.show(self.file)["resources"] if one["address"] == "worker[1]")["attributes"]
        self.assertEqual(behind["ssh_config"], "~/.ssh/config", "a colleague's own, not a file of this computer")
        self.assertEqual(self.radlc("ssh", self.file, "worker[1]", "echo $HOME").strip(), str(self.second.home))
        self.radlc("apply", "--auto-approve", self.file, "--input", "greeting=again")
        self.assertEqual((self.first.home / "greeting.txt").read_text(), "again")
        self.radlc("destroy", "--auto-approve", self.file)
        for machine, files in zip((self.first, self.second), before):
            left = machine.files()
            self.assertIn("greeting.txt", left, "what recipes made is the user's")
            del left["greeting.txt"]
            self.assertEqual(left, files)
        self.second.stop()
        self.first.stop()
        self.assert_nothing_left()

    def test_one_login_serves_a_whole_run(self):
        one = self.write("one.radl", replaced(FILE, ("['ssh://gpu1', 'ssh://gpu2']", "['ssh://gpu1']"), ("deploy worker 2 ", "deploy worker 1 ")))
        self.radlc("apply", "--auto-approve", one)
        logins = lambda: (self.first.folder / "log").read_text().count("Accepted publickey")
        before = logins()
        self.radlc("apply", "--auto-approve", "--refresh", one, "--input", "greeting=again")
        self.assertEqual((self.first.home / "greeting.txt").read_text(), "again")
        self.assertEqual(logins() - before, 1, "the look at the machine, the look at its steps, and the step")
        self.radlc("destroy", "--auto-approve", one)

    def open_connection(self, name):
        """As a user has it who says ControlMaster in ~/.ssh/config; gives what closes it."""
        ssh = ["ssh", "-F", self.environment["RADL_SSH_CONFIG"]]
        subprocess.run([*ssh, "-fNM", name], check=True, stdin=subprocess.DEVNULL, capture_output=True)
        master = int(subprocess.run([*ssh, "-O", "check", name], check=True, capture_output=True, text=True).stderr.split("pid=")[1].split(")")[0])

        def close():  # ssh does not wait for the end of what it asks to end
            subprocess.run([*ssh, "-O", "exit", name], check=False, capture_output=True)
            self.wait_until(lambda: master not in self.processes())
        self.addCleanup(close)
        return close

    def test_a_connection_of_the_user_that_is_open_is_used(self):
        one = self.write("one.radl", replaced(FILE, ("['ssh://gpu1', 'ssh://gpu2']", "['ssh://gpu1']"), ("deploy worker 2 ", "deploy worker 1 ")))
        config = self.folder / "ssh_config"
        config.write_text(f"Host *\n  ControlPath {self.folder}/cm-%C\n" + config.read_text())
        self.radlc("apply", "--auto-approve", one)
        logins = lambda: (self.first.folder / "log").read_text().count("Accepted publickey")
        close = self.open_connection("gpu1")
        before = logins()
        self.radlc("apply", "--auto-approve", "--refresh", one, "--input", "greeting=again")
        self.assertEqual((self.first.home / "greeting.txt").read_text(), "again")
        self.assertEqual(self.radlc("exec", one, "worker[0]", "--", "cat greeting.txt; exit 3", code=3), "again")
        self.assertEqual(logins(), before, "nobody logged in anew")
        close()
        self.radlc("apply", "--auto-approve", "--refresh", one, "--input", "greeting=third")
        self.assertEqual((self.first.home / "greeting.txt").read_text(), "third")
        self.assertEqual(logins(), before + 1)
        self.radlc("destroy", "--auto-approve", one)

    def test_an_open_connection_that_leads_elsewhere_is_left_alone(self):
        config = self.folder / "ssh_config"
        config.write_text(f"Host *\n  ControlPath {self.folder}/one-for-all\nHost direct\n  HostName {self.second.host}\n  Port {self.second.port}\n"
                          f"  User {getpass.getuser()}\n" + config.read_text())
        close = self.open_connection("gpu1")
        one = self.write("one.radl", replaced(FILE, ("['ssh://gpu1', 'ssh://gpu2']", "['ssh://direct']"), ("deploy worker 2 ", "deploy worker 1 ")))
        out = self.radlc("apply", "--auto-approve", one)
        self.assertEqual((self.second.home / "greeting.txt").read_text(), "hello")
        self.assertFalse((self.first.home / "greeting.txt").exists())
        self.assertIn("does not lead there", out + self.err)
        self.radlc("destroy", "--auto-approve", one)
        close()

    def test_a_machine_that_was_forgotten_is_taken_in_again(self):
        self.radlc("apply", "--auto-approve", self.file)
        identity = self.show(self.file)["resources"][1]["id"]
        self.radlc("state", "rm", self.file, "worker[0]")
        self.assertEqual(self.actions(self.file)["worker[0]"], "create")
        self.radlc("import", self.file, "worker[0]", "nobody@nowhere", code=1)
        self.assertIn("has nothing with the id nobody@nowhere", self.err)
        self.radlc("import", self.file, "worker[1]", identity, code=1)
        self.assertIn("is in the state already", self.err)
        self.radlc("import", self.file, "worker[0]", identity)
        self.assertEqual(self.actions(self.file, "--refresh"), {"worker[0]/greet": "run"}, "what ran on it is not known any more")
        self.radlc("apply", "--auto-approve", self.file)
        self.assertEqual(self.actions(self.file, "--refresh"), {})
        self.radlc("destroy", "--auto-approve", self.file)
        self.assertNotIn("radl-", (self.first.home / ".ssh" / "authorized_keys").read_text())

    def test_commands_and_files_go_through_the_jump_host_both_ways(self):
        self.radlc("apply", "--auto-approve", self.file)
        out = self.radlc("exec", self.file, "--", "echo here; exit 3", code=3)
        self.assertEqual(sorted(out.splitlines()), ["worker[0] | here", "worker[1] | here"])
        self.assertIn("worker[1]: exit status 3", self.err)
        self.write("data/a.txt", "one")
        self.write("data/deep/b c.txt", "two")
        self.radlc("cp", "data", "worker:")
        for machine in (self.first, self.second):
            self.assertEqual((machine.home / "data/deep/b c.txt").read_text(), "two")
        self.radlc("cp", "worker[1]:data", "back")
        self.assertEqual((self.folder / "back/deep/b c.txt").read_text(), "two")
        self.second.stop()
        self.radlc("exec", self.file, "worker", "--", "true", code=255)
        self.assertIn("worker[1]: exit status 255", self.err)
        self.radlc("cp", "data", "worker[1]:", code=2)
        self.assertIn("worker[1]", self.err)
        self.second.start()
        self.wait_until(self.second.listens)
        self.radlc("destroy", "--auto-approve", self.file)

    def test_logs_are_followed_until_and_beyond_the_loss_of_a_node(self):
        slow = self.write("slow.radl", replaced(FILE, ("file '~/greeting.txt' ( content = input.greeting )",
                                                       "command 'echo begun; sleep 1000' ()")))
        apply = self.start("apply", "--auto-approve", slow)
        self.wait_until(lambda: self.found(".radl/slow/logs/**/*.log"))
        with open(self.folder / "seen", "wb") as seen:
            follow = subprocess.Popen([str(RADLC), "logs", "-f", str(slow)], cwd=self.folder, env=self.environment, stdout=seen,
                                      stderr=subprocess.STDOUT)
        text = (self.folder / "seen").read_text
        try:
            self.wait_until(lambda: "worker[0]" in text() and text().count("begun") >= 2, message=text)
            self.second.lose()
            # Ctrl-C until it is enough: two that follow at once may come as one.
            self.wait_until(lambda: apply.poll() is not None or apply.send_signal(signal.SIGINT))
            apply.communicate()
            self.assertIsNone(follow.poll(), "it goes on")
        finally:
            follow.send_signal(signal.SIGINT)
            follow.wait(20)
        self.assertEqual(follow.returncode, 0)
        self.second.start()
        self.wait_until(self.second.listens)
        self.radlc("destroy", "--auto-approve", slow)

    def test_destroy_lists_what_remains_on_a_released_machine(self):
        self.radlc("apply", "--auto-approve", self.file)
        out = self.radlc("plan", "--destroy", self.file)
        self.assertIn("worker[0], worker[1] are given back", out)
        self.assertIn("stays: file '~/greeting.txt'", out)
        self.radlc("destroy", "--auto-approve", self.file, "--input", "greeting=x")
        self.assertIn("destroy ignores inputs", self.err)

    def test_a_machine_that_does_not_answer_is_named(self):
        self.first.stop()
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertIn("worker[0] (gpu1)", self.err)

    def test_refresh_finds_machines_smaller_than_requested(self):
        big = self.write("big.radl", replaced(FILE, ("cpu.count >= 1\n", "cpu.count >= 100000, gpu.count >= 1000\n")))
        self.plan(big)
        self.radlc("plan", "--refresh", big, code=1)
        for node in ("worker[0]: gpu1", "worker[1]: gpu2"):
            self.assertRegex(self.err, re.escape(node) + ": cpu.count >= 100000: it has [0-9]+; gpu.count >= 1000: it has [0-9]+")


if __name__ == "__main__":
    unittest.main()
