"""Ctrl-C and TERM at every wait: a command that waits for somebody who never answers ends at once, as interrupted."""
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import pathlib
import unittest

from output_options_test import commands, lines_of

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
SIGNALS = (signal.SIGINT, signal.SIGTERM)
NODES = "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n"
EC2 = """radl 2
network n (outbound = 'yes')
system a (cpu.count >= 1, net_interface.0.connection = 'n', disk.0.image.url = 'aws://eu-west-1/ami-0123456789abcdef0')
deploy a 1 'ec2'
"""
TRAINING = """radl 2
network n ()
system a (net_interface.0.connection = 'n')
deploy a 1
use 'std/training/parameter_server' as training (
  servers = system.a
  workers = system.a
  model = 'logistic'
  dataset = './images'
  epochs = 1
  result = '%s'
)
"""
IMAGE = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63600000000200014898"
                      "5a0d0000000049454e44ae426082")


class Silence:
    """A server that takes every connection and never says a word."""

    def __init__(self):
        self.reached = threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.taken = []
        self.over = False
        self.thread = threading.Thread(target=self.take)
        self.thread.start()

    def take(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                if self.over:
                    return
                continue  # a client that was killed meanwhile
            self.taken.append(connection)
            self.reached.set()

    def close(self):
        # The thread ends first: its accept() would go on with the next socket of this number.
        self.over = True
        self.server.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.server.close()
        for connection in self.taken:
            connection.close()


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="radl-interrupts-"))
        self.addCleanup(shutil.rmtree, self.at, ignore_errors=True)
        self.silence = Silence()
        self.addCleanup(self.silence.close)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RADL_INPUT_"))}
        self.environment.update(
            HOME=str(self.at), XDG_STATE_HOME=str(self.at / "user"), XDG_DATA_HOME=str(self.at / "data"), XDG_CACHE_HOME=str(self.at / "cache"),
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{self.silence.port}", AWS_REGION="eu-west-1", AWS_ACCESS_KEY_ID="AKIAEXAMPLE",
            AWS_SECRET_ACCESS_KEY="secret", AWS_EC2_METADATA_DISABLED="true", RADL_LOCAL_ISOLATION="off", RADL_LOCAL_NETWORK="shared")
        (self.at / "nodes.radl").write_text(NODES)
        (self.at / "ec2.radl").write_text(EC2)

    def start(self, *arguments, **options):
        return subprocess.Popen([RADLC, *map(str, arguments)], cwd=self.at, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)

    def ends(self, arguments, reached, stop, twice=False):
        """Runs the command until it waits, sends the signal, and wants it to end as interrupted, with all its children."""
        process = self.start(*arguments)
        waiting = reached(process)
        if waiting:
            process.send_signal(stop)
        if waiting and twice:  # what is under way on a node is finished, unless the user insists
            while "again to stop now" not in process.stdout.readline():
                self.assertIsNone(process.poll())
            process.send_signal(stop)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail("it goes on")
        self.assertTrue(waiting, f"it never waits: {process.returncode}\n{out}\n{err}")
        self.assertIn(process.returncode, (130, -stop), out + err)
        self.assertNotIn("internal error", err)

    def each(self, cases, reached):
        for arguments in cases:
            for stop in SIGNALS:
                with self.subTest(command=" ".join(map(str, arguments)), signal=stop.name):
                    self.silence.reached.clear()
                    self.ends(arguments, reached, stop)

    def leaves(self, mark):
        """Until somebody has left this file."""
        def reached(process):
            while not mark.exists():
                if process.poll() is not None:
                    return False
            mark.unlink()
            return True
        return reached

    def asks(self, process):
        """Until the silent server is asked; False: the command ended before."""
        while not self.silence.reached.wait(0.05):
            if process.poll() is not None:
                return self.silence.reached.is_set()
        return True

    def test_a_state_in_a_bucket_that_does_not_answer(self):
        """Every command that takes --state."""
        words = {"apply": ["-y"], "destroy": ["-y"], "scale": ["a", "2", "-y"], "autoscale": [], "import": ["a[0]", "i-1"],
                 "ssh": ["a[0]"], "exec": ["a[0]", "-c", "true"], "cp": ["notes.txt", "a[0]:/tmp/"], "cancel": ["x"],
                 "submit": ["notes.txt"], "run": ["notes.txt"], "farm logs": ["t"], "farm cancel": ["t"], "farm retry": ["t"], "farm add": ["true"],
                 "state rm": ["a[0]"], "state mv": ["a", "b"], "state show": ["a[0]"],
                 "state unlock": [], "state pull": ["copy"], "state push": ["copy.db"], "output": [], "profile": ["--on", "a[0]"]}
        # These ask for no state before they have something else to do.
        without = {"compile", "graph", "test", "recommend", "profile", "console", "autoscale", "state push", "farm free", "im-import"}
        (self.at / "notes.txt").write_text("#!/bin/sh\n")
        cases = []
        for command in commands():
            name = " ".join(command)
            takes_state = any(line.startswith("--state ") for line in lines_of(command, lambda title: title == "Options:"))
            if takes_state and name not in without:
                file = [] if name == "cp" else ["nodes.radl"]
                cases.append([*command, *file, *words.get(name, []), "--state", "s3://bucket/states"])
        self.assertGreater(len(cases), 20)
        self.each(cases, self.asks)

    def test_a_profile_on_a_node_whose_state_does_not_answer(self):
        self.dataset()
        (self.at / "training.radl").write_text(TRAINING % "out")
        self.each([("profile", "training.radl", "--on", "a[0]", "--state", "s3://bucket/states")], self.asks)

    def test_a_cloud_that_does_not_answer(self):
        self.each([("plan", "--refresh", "ec2.radl"), ("apply", "--refresh", "-y", "ec2.radl"), ("apply", "-y", "ec2.radl"),
                   ("import", "ec2.radl", "a[0]", "i-0123456789abcdef0"), ("check-auth",)], self.asks)

    def test_an_infrastructure_manager_that_does_not_answer(self):
        (self.at / "auth.dat").write_text("type = InfrastructureManager; username = a; password = b\n")
        uri = f"http://127.0.0.1:{self.silence.port}/infrastructures/one"
        self.each([("im-import", uri, "--auth", "auth.dat")], self.asks)

    def test_a_bucket_for_results_that_does_not_answer(self):
        (self.at / "training.radl").write_text((TRAINING % "s3://bucket/results").replace("./images", "cifar10"))
        self.engine("exit 2")  # it cannot say what it thinks of models
        self.each([("apply", "-y", "training.radl")], self.asks)

    def dataset(self):
        for part in ("train", "test"):
            for name in ("a", "b"):
                folder = self.at / "images" / part / name
                folder.mkdir(parents=True)
                (folder / "1.png").write_bytes(IMAGE)

    def engine(self, script):
        path = self.at / "engine"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.environment["RADL_TRAIN"] = str(path)

    def test_an_engine_that_does_not_answer(self):
        """Asked for models, then for datasets, by whatever plans."""
        self.dataset()
        (self.at / "training.radl").write_text(TRAINING % "out")
        reached = self.leaves(self.at / "asked")
        for asked, script in (("models", "touch asked; exec sleep 600"),
                              ("datasets", 'case $1 in data) ;; *) exit 2;; esac; touch "$HOME/asked"; exec sleep 600')):
            self.engine(script.replace("touch asked", 'touch "$HOME/asked"'))
            for arguments in (("plan", "training.radl"), ("apply", "training.radl"), ("apply", "-y", "training.radl")):
                for stop in SIGNALS:
                    with self.subTest(asked=asked, command=arguments[0], signal=stop.name):
                        self.ends(arguments, reached, stop)

    def test_a_machine_whose_ssh_server_does_not_answer(self):
        key = self.at / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        known = self.at / "known_hosts"
        known.write_text(f"[127.0.0.1]:{self.silence.port} " + (self.at / "key.pub").read_text())
        config = self.at / "config"
        config.write_text(f"Host *\n  UserKnownHostsFile {known}\n  IdentityFile {key}\n")
        self.environment["RADL_SSH_CONFIG"] = str(config)
        (self.at / "hosts.radl").write_text(f"radl 2\nsystem a (disk.0.image.url = 'ssh://root@127.0.0.1:{self.silence.port}')\n"
                                            "deploy a 1 hosts\ncontextualize ()\n")
        self.each([("plan", "--refresh", "hosts.radl"), ("apply", "-y", "hosts.radl")], self.asks)

    def test_a_module_whose_server_does_not_answer(self):
        (self.at / "module.radl").write_text(f"radl 2\nuse 'git::https://127.0.0.1:{self.silence.port}/modules.git//web' as web ()\n")
        self.each([("vendor", "module.radl")], self.asks)

    def test_a_command_that_does_not_end_on_a_node(self):
        mark = self.at / "asked"
        self.well("apply", "-y", "nodes.radl")
        self.each([("exec", "nodes.radl", "a[0]", "-c", f"touch {mark}; sleep 600")], self.leaves(mark))
        self.well("destroy", "-y", "nodes.radl")

    def test_a_recipe_that_does_not_end_on_a_node(self):
        mark = self.at / "asked"
        (self.at / "recipe.radl").write_text(NODES.replace(
            "deploy", f"configure a (\n@begin\n---\n  - tasks:\n      - shell: touch {mark}; sleep 600\n@end\n)\ndeploy"))
        for stop in SIGNALS:
            with self.subTest(signal=stop.name):
                self.ends(("apply", "-y", "recipe.radl"), self.leaves(mark), stop, twice=True)
        self.well("destroy", "-y", "recipe.radl")

    def test_a_job_whose_controller_does_not_answer(self):
        self.well("apply", "-y", "nodes.radl")

        def reached(process):
            return "does not answer" in process.stderr.readline()
        self.each([("submit", "nodes.radl", "--node", "a[0]", "--follow", "7")], reached)
        self.well("destroy", "-y", "nodes.radl")

    def stand_ins(self, *names, before=":"):
        """Programs that commands of the only node run in place of these, and which never end. The file that they leave."""
        mark, folder = self.at / "asked", self.at / "stand-ins"
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_text(f"#!/bin/sh\n{before}\ntouch {mark}\nexec /bin/sleep 600\n")
            (folder / name).chmod(0o755)
        (login,) = self.at.rglob("etc/login")
        login.write_text(login.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\nexport PATH={folder}:$PATH\n"))
        return mark

    def test_a_slurm_that_does_not_answer(self):
        (self.at / "slurm.radl").write_text(f"radl 2\n{NODES}configure a (\n  command 'slurmctld' (unless = 'true')\n)\n")
        (self.at / "job.sh").write_text("#!/bin/sh\n")
        self.well("apply", "-y", "slurm.radl")
        mark = self.stand_ins("scontrol", "squeue", "sbatch")
        self.each([("submit", "slurm.radl", "job.sh"), ("submit", "slurm.radl", "--follow", "7"), ("cancel", "slurm.radl", "slurm/7"),
                   ("queue", "slurm.radl")], self.leaves(mark))
        self.well("destroy", "-y", "slurm.radl")

    def test_a_copy_to_a_node_in_mid_transfer(self):
        self.well("apply", "-y", "nodes.radl")
        (home,) = self.at.rglob("nodes/*/home")
        (self.at / "big").touch()
        os.truncate(self.at / "big", 1 << 30)

        def comes(process):
            while not any(path.is_file() and path.stat().st_size > 0 for path in home.iterdir()):
                if process.poll() is not None:
                    return False
            return True
        for stop in SIGNALS:
            with self.subTest(signal=stop.name):
                self.ends(("cp", "nodes.radl", "big", "a[0]:big"), comes, stop)
                self.assertFalse((home / "big").exists())
                for part in home.glob("big*"):
                    part.unlink()
        self.well("destroy", "-y", "nodes.radl")

    def test_a_copy_from_a_node_in_mid_transfer(self):
        self.well("apply", "-y", "nodes.radl")
        (home,) = self.at.rglob("nodes/*/home")
        (home / "there").write_bytes(bytes(1 << 20))
        (self.at / "here").mkdir()
        mark = self.stand_ins("cat", before="head -c 65536 /dev/zero")
        self.each([("cp", "nodes.radl", "a[0]:there", "here/")], self.leaves(mark))
        self.assertEqual(list((self.at / "here").iterdir()), [])
        self.well("destroy", "-y", "nodes.radl")

    def program(self):
        mark = self.at / "asked"
        (self.at / "program.radl").write_text(f"""radl 2
{NODES}configure run (
  program 'work' (systems = system.a, main = '/bin/sh', arguments = ['-c', 'echo $$ > {mark}.new; mv {mark}.new {mark}; sleep 600'])
)
""")
        return mark

    def test_a_program_that_runs(self):
        mark = self.program()
        for stop in SIGNALS:
            with self.subTest(signal=stop.name):
                pids = []

                def reached(process):
                    while not mark.exists():
                        if process.poll() is not None:
                            return False
                    pids.append(int(mark.read_text()))
                    mark.unlink()
                    return True
                self.ends(("apply", "-y", "program.radl"), reached, stop)
                self.assertFalse(os.path.exists(f"/proc/{pids[0]}"), "the program goes on")
        self.well("destroy", "-y", "program.radl")

    def test_a_node_that_does_not_tell_what_runs(self):
        """Whatever looks at a job that was left running."""
        ran = self.program()
        self.well("apply", "-y", "--detach", "program.radl")
        while not ran.exists():
            pass
        pid = int(ran.read_text())
        ran.unlink()
        mark = self.stand_ins("awk")
        self.each([("cancel", "program.radl"), ("queue", "program.radl"), ("plan", "--refresh", "program.radl")], self.leaves(mark))
        (self.at / "stand-ins/awk").unlink()
        mark = self.stand_ins("sleep")  # between the two looks at what a process uses
        self.each([("queue", "program.radl")], self.leaves(mark))
        (self.at / "stand-ins/sleep").unlink()
        self.assertTrue(os.path.exists(f"/proc/{pid}"), "the program was ended")
        self.well("cancel", "program.radl")
        self.well("destroy", "-y", "program.radl")

    def test_an_nvidia_smi_that_does_not_answer(self):
        mark, tool = self.at / "asked", self.at / "bin/nvidia-smi"
        tool.parent.mkdir()
        tool.write_text('#!/bin/sh\ntouch "$HOME/asked"\nexec sleep 600\n')
        tool.chmod(0o755)
        self.environment["PATH"] = f"{tool.parent}:{self.environment['PATH']}"
        (self.at / "gpus.radl").write_text(NODES.replace("(net_interface", "(gpu.count >= 1 and net_interface"))
        self.each([("plan", "gpus.radl"), ("apply", "-y", "gpus.radl")], self.leaves(mark))

    def well(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)

    def test_a_lock_that_another_run_holds(self):
        self.dataset()
        (self.at / "training.radl").write_text(TRAINING % "out")
        self.engine('touch "$HOME/asked"; exec sleep 600')
        holder = self.start("apply", "training.radl")
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        while not (self.at / "asked").exists():
            self.assertIsNone(holder.poll())

        def reached(process):
            return "waiting for the lock" in process.stderr.readline()
        for arguments in (("apply", "-y", "training.radl"), ("destroy", "-y", "training.radl"), ("state", "rm", "training.radl", "a[0]")):
            for stop in SIGNALS:
                with self.subTest(command=arguments[0], signal=stop.name):
                    self.ends([*arguments, "--lock-timeout", "600"], reached, stop)

    def test_under_nohup_a_hang_up_stays_ignored(self):
        process = self.start("plan", "--refresh", "ec2.radl", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.addCleanup(process.kill)
        self.assertTrue(self.asks(process))
        lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
        ignored = next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn:"))
        self.assertTrue(ignored & 1 << (signal.SIGHUP - 1))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertIn(process.returncode, (130, -signal.SIGINT))

    def test_a_question(self):
        """On a terminal, where Ctrl-C is a key."""
        for arguments in (("apply", "nodes.radl"),):
            for press in (True, False):
                pid, terminal = pty.fork()
                if pid == 0:
                    os.chdir(self.at)
                    environment = {name: value for name, value in self.environment.items() if name != "CI"}
                    os.execve(RADLC, [RADLC, *arguments], {**environment, "TERM": "xterm"})
                shown = b""
                while b"Apply this plan?" not in shown:
                    self.assertTrue(select.select([terminal], [], [], 60)[0], shown)
                    shown += os.read(terminal, 65536)
                os.write(terminal, b"\x03") if press else os.kill(pid, signal.SIGTERM)
                ended = False
                while not ended and select.select([terminal], [], [], 60)[0]:
                    try:
                        ended = not os.read(terminal, 65536)
                    except OSError:  # nobody has the other end any more
                        ended = True
                if not ended:
                    os.kill(pid, signal.SIGKILL)
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                os.close(terminal)
                self.assertEqual(status, 130)


if __name__ == "__main__":
    unittest.main()
