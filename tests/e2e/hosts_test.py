"""Existing machines, one of them behind a jump host: planned, taken, configured, and given back as they were."""
import getpass
import os
import pathlib
import random
import shutil
import socket
import subprocess
import unittest

from radl_case import RadlCase, replaced

FILE = """radl 2
input greeting ( type = 'text' and default = 'hello' )
system worker (
  cpu.count >= 1 and
  disk.0.os.name = 'linux' and
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

    def test_a_machine_that_does_not_answer_is_named(self):
        self.first.stop()
        self.radlc("apply", "--auto-approve", self.file, code=2)
        self.assertIn("worker[0] (gpu1)", self.err)

    def test_what_is_less_than_asked_for_is_found_by_refresh(self):
        big = self.write("big.radl", replaced(FILE, ("cpu.count >= 1 ", "cpu.count >= 100000 ")))
        self.plan(big)
        self.radlc("plan", "--refresh", big, code=1)
        self.assertIn("worker[0]: gpu1: cpu.count >= 100000: it has", self.err)


if __name__ == "__main__":
    unittest.main()
