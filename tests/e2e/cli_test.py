"""What somebody types around a running project: where commands find it, hints that are followed, a node that has died."""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import unittest

from radl_case import RADLC, RadlCase

ONE = """radl 2
network lan ()
system web (net_interface.0.connection = 'lan')
configure web (
  command {command} ()
)
deploy web 1
output told (value = 'blue')
"""


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class CliCase(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_LOCAL_ISOLATION"] = "off"

    def project(self, name="a.radl", command="true"):
        return self.write(name, ONE.format(command=quoted(command)))

    def inside(self, folder, *arguments, code=0):
        """radlc as typed in another folder."""
        done = subprocess.run([RADLC, *map(str, arguments)], cwd=folder, env=self.environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=180)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.err = done.stderr
        return done.stdout

    def servers(self):
        """The processes of the nodes' own SSH servers."""
        return [json.loads(path.read_text())["pid"] for path in self.found("process.json")]


class Arguments(CliCase):
    def test_one_rule_for_all_commands(self):
        """FILE, its folder, or nothing; --file; --state and --name."""
        file = self.project("place/a.radl")
        folder, elsewhere = file.parent, self.folder / "elsewhere"
        elsewhere.mkdir()
        self.inside(elsewhere, "apply", "--auto-approve", folder)
        commands = {
            "plan": [], "show": [], "output": ["told"], "logs": ["web[0]"], "ssh": ["web", "echo hello"], "state list": [],
            "state history": [], "state unlock": [], "console": ["-e", "1 + 1"], "compile": [], "graph": [],
            "apply": ["--auto-approve"],
        }
        for command, rest in commands.items():
            words = command.split()
            with self.subTest(command=command):
                seen = {self.inside(elsewhere, *words, file, *rest), self.inside(elsewhere, *words, folder, *rest),
                        self.inside(elsewhere, *words, *rest, "--file", file), self.inside(folder, *words, *rest),
                        self.inside(folder, *words, "a.radl", *rest), self.inside(folder, *words, ".", *rest),
                        self.inside(elsewhere, *words, "--state", folder / ".radl", "--name", "a", file, *rest)}
                if command not in ("compile", "graph"):  # these two show paths as they were given
                    self.assertEqual(len(seen), 1, seen)
                if command not in ("plan", "compile", "graph", "apply", "console"):  # without any source
                    self.inside(elsewhere, *words, "--state", folder / ".radl", *rest)
        self.assertEqual(self.inside(folder, "output", "told"), "told = 'blue'\n")
        self.assertEqual(self.inside(elsewhere, "ssh", file, "web[0]", "echo", "a b"), "a b\n")
        self.inside(elsewhere, "output", file, "nothing", code=1)
        self.assertIn("no output nothing", self.err)
        self.inside(elsewhere, "ssh", file, code=1)
        self.assertIn("NODE is required", self.err)
        self.inside(elsewhere, "destroy", "--auto-approve", folder)
        self.assert_nothing_left("place/.radl")

    def test_a_file_that_was_not_applied_destroys_nothing(self):
        self.project("a.radl")
        self.radlc("apply", "--auto-approve", "a.radl")
        self.project("b.radl")
        for arguments in (["show", "b.radl"], ["ssh", "b.radl", "web", "true"], ["output", "b.radl"]):
            self.radlc(*arguments, code=1)
            self.assertIn("nothing has been applied from b.radl", self.err)
        self.radlc("destroy", "--auto-approve", "b.radl", code=0)
        self.assertEqual(len(self.servers()), 1, "what was applied from another file was destroyed")
        # A project that was moved is still its file's.
        os.rename(self.folder / "b.radl", self.folder / "c.radl")
        self.radlc("destroy", "--auto-approve", "a.radl")

    def test_several_files_and_several_states_are_named(self):
        self.project("a.radl")
        self.project("b.radl")
        self.radlc("plan", code=1)
        self.assertIn("a.radl, b.radl", self.err)
        self.radlc("apply", "--auto-approve", "a.radl")
        self.radlc("apply", "--auto-approve", "b.radl")
        self.radlc("show", code=1)
        self.assertIn("a, b", self.err)
        self.assertIn("--name", self.err)
        self.assertIn("b  (", self.radlc("show", "b.radl"))
        self.assertIn("b  (", self.radlc("show", "--name", "b"))
        os.remove(self.folder / "a.radl")
        self.assertIn("b  (", self.radlc("show"), "the only file of the folder says which")
        self.radlc("destroy", "--auto-approve", "--name", "a")
        self.radlc("destroy", "--auto-approve", "b.radl")

    def test_ssh_from_a_folder_of_any_name(self):
        file = self.project("with 'blank' ${HOME} 100%/a.radl")
        self.radlc("apply", "--auto-approve", file)
        self.assertEqual(self.radlc("ssh", file, "web", "echo here"), "here\n")
        self.radlc("destroy", "--auto-approve", file)


class Environment(CliCase):
    def test_inputs_and_env_are_read_and_the_command_line_is_stronger(self):
        self.write("a.radl", "radl 2\ninput colour ( type = 'string' )\nsystem web ()\ndeploy web 1\n"
                             "output seen ( value = '${input.colour} ${env('SHADE')}' )\n")
        self.environment.update(RADL_INPUT_colour="blue", SHADE="dark")
        self.assertIn("blue dark", self.radlc("plan", "a.radl"))
        self.assertIn("red dark", self.radlc("plan", "a.radl", "--input", "colour=red"))

    def test_the_standard_library_is_searched_where_radl_stdlib_says(self):
        self.write("lib/own.radl", "radl 2\noutput colour ( value = 'green' )\n")
        self.write("a.radl", "radl 2\nuse 'std/own' as own ()\noutput seen ( value = own.colour )\n")
        self.radlc("plan", "a.radl", code=1)
        self.environment.update(RADL_STDLIB=str(self.folder / "lib"))
        self.assertIn("green", self.radlc("plan", "a.radl"))


class Files(CliCase):
    """What is no regular file, where one is read or written."""

    def test_a_pipe_with_a_name_is_refused_and_one_of_the_shell_is_read(self):
        file, pipe = self.project(), self.folder / "pipe.radl"
        os.mkfifo(pipe)
        for command in ("check", "plan", "compile", "fmt", "convert", "doc"):
            self.inside(self.folder, command, "pipe.radl", code=1)
            self.assertIn("pipe.radl: is a named pipe and no regular file", self.err)
            self.assertLessEqual(self.err.count("\n"), 3, self.err)
        os.remove(file)
        self.inside(self.folder, "check", code=1)  # looked for in the folder, a pipe is none of its files
        self.write("b.radl", "radl 2\nsystem s\ndeploy s 1\noutput o (value = file('pipe.radl'))\n")
        self.inside(self.folder, "check", "b.radl", code=1)
        self.assertIn("named pipe", self.err)
        self.edit(self.folder / "b.radl", ("output o (value = file('pipe.radl'))", ""))
        for line in ("radlc check <(cat b.radl)", "cat b.radl | radlc check /dev/stdin", "cat b.radl | radlc check -",
                     "radlc plan --input-file <(echo '{}') b.radl"):
            done = subprocess.run(["bash", "-c", line.replace("radlc", shlex.quote(str(RADLC)))], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, line + done.stdout + done.stderr)

    def test_a_minus_for_a_file_is_standard_output_or_refused(self):
        file = self.project()
        self.assertTrue(json.loads(self.inside(self.folder, "compile", "-o", "-", file))["nodes"])
        self.assertIn("digraph", self.inside(self.folder, "graph", "-o", "-", file))
        self.assertIn("## Systems", self.inside(self.folder, "doc", "-o", "-", file))
        self.write("one.radl", "system s ()\ndeploy s 1\n")
        self.assertIn('"deploy"', self.inside(self.folder, "convert", "-o", "-", "one.radl"))
        self.assertIn("{", self.inside(self.folder, "calibration", "export", "-"))
        page = self.inside(self.folder, "plan", "--html", "-", file)
        self.assertTrue(page.startswith("<!doctype html>"), page[:80])
        self.inside(self.folder, "plan", "-out", "-", file, code=1)
        self.assertIn("-out needs the name of a file", self.err)
        self.inside(self.folder, "recommend", "--write", "-", file, code=1)
        self.assertIn("--write needs the name of a file", self.err)
        self.assertFalse((self.folder / "-").exists())


@unittest.skipUnless(os.uname().machine == "x86_64", "libraries are loaded at their first call on x86-64 alone")
@unittest.skipIf("asan" in subprocess.run(["ldd", RADLC], capture_output=True, text=True).stdout, "a sanitizer's build")
class Start(CliCase):
    def loads_none_of(self, names, *command):
        self.environment["LD_DEBUG"] = "files"
        self.inside(self.folder, *command)
        loaded = re.findall(r"calling init: (\S+)", self.err)
        self.assertTrue(any("libc.so" in each for each in loaded), self.err[:2000])
        for name in names:
            self.assertFalse([each for each in loaded if name in each], "%s is loaded" % name)

    def test_a_check_loads_no_library_of_the_network(self):
        self.loads_none_of(("libcurl", "libcrypto", "libssh2", "libarchive", "libsqlite3"), "check", self.project())

    def test_a_plan_that_asks_no_cloud_loads_no_library_of_the_network(self):
        self.write("one.radl", "system s (cpu.count >= 1)\ndeploy s 1\n")
        self.loads_none_of(("libcurl", "libssh2", "libarchive"), "plan", "one.radl")


class Upgrade(CliCase):
    RADL1 = """network lan (outbound = 'no')
system web (
  cpu.count >= @input.cores@ and
  net_interface.0.connection = 'lan' and
  disk.0.image.url = 'aws://@input.region@/ami-1'
)
deploy web 1
"""

    def test_placeholders_become_inputs_of_a_file_that_plans_the_same(self):
        path = self.write("a.radl", self.RADL1)
        given = ["--input", "cores=3", "--input", "region=eu-west-1"]
        before = json.loads(self.inside(self.folder, "compile", path, *given))
        self.assertEqual(self.inside(self.folder, "fmt", "--upgrade", path).strip(), str(path))
        after = json.loads(self.inside(self.folder, "compile", path, *given))
        self.assertEqual([node["requirements"] for node in before["nodes"]], [node["requirements"] for node in after["nodes"]])
        self.assertIn("input cores (type = integer)", pathlib.Path(path).read_text())
        self.inside(self.folder, "fmt", "--upgrade", "--check", path)

    def test_a_file_with_a_placeholder_in_a_name_is_left_alone(self):
        path = self.write("a.radl", self.RADL1.replace("system web", "system @input.name@"))
        self.inside(self.folder, "fmt", "--upgrade", path, code=1)
        self.assertIn("allows no value", self.err)
        self.assertIn("@input.name@", pathlib.Path(path).read_text())

    PLACES = """radl 2

let site = 'ec2'

system a (count = 1, cloud = %s)

each p in ['eu-a', 'eu-b'] (
  system 'n-${p}' (count = 1, cloud = local, availability_zone = %s)
)
"""

    def test_a_word_that_meant_a_value_is_an_error_until_it_is_quoted(self):
        path = self.write("a.radl", self.PLACES % ("site", "p"))
        self.inside(self.folder, "check", path, code=1)
        self.assertEqual(self.err.count("E0433"), 2, self.err)
        self.assertIn("'${site}'", self.err)
        self.inside(self.folder, "fmt", "--upgrade", path)
        self.assertEqual(pathlib.Path(path).read_text(), self.PLACES % ("'${site}'", "'${p}'"))
        nodes = json.loads(self.inside(self.folder, "compile", path))["nodes"]
        self.assertEqual({node["system"]: (node["cloud"], node["requirements"].get("availability_zone", {}).get("equals"))
                          for node in nodes},
                         {"a": ("ec2", None), "n-eu-a": ("local", "eu-a"), "n-eu-b": ("local", "eu-b")})

    def test_a_system_without_a_network_is_left_alone(self):
        """In `radl 2` it would get one."""
        text = "system s ( cpu.count = 1 )\ndeploy s 1\n"
        path = self.write("a.radl", text)
        self.inside(self.folder, "fmt", "--upgrade", path, code=1)
        self.assertIn("first give each system a network", self.err)
        self.assertEqual(pathlib.Path(path).read_text(), text)

    def test_a_computed_cloud_of_several_lines_is_upgraded(self):
        path = self.write("a.radl", "radl 2\n\nsystem a (\n  count = 1\n  cloud = lookup(\n    { k = 'ec2' },  # sites\n"
                                    "    'k',\n    'gce'\n  )\n)\n")
        self.inside(self.folder, "fmt", "--upgrade", path)
        self.assertIn("cloud = '${lookup({ k = 'ec2' }, 'k', 'gce')}'", pathlib.Path(path).read_text())
        self.assertEqual(json.loads(self.inside(self.folder, "compile", path))["nodes"][0]["cloud"], "ec2")

    SYSTEMS = "radl 2\n\nsystem s (cpu.count >= 1)\nsystem w (cpu.count >= 1)\ndeploy s 1\ndeploy w 2\n"
    RENAMED = {
        "std/storage/nfs": ("server = system.s, clients = system.w, options = ['ro']", "mount_options"),
        "std/storage/minio": ("server = system.s, clients = system.w, program = 'a.py', options = ['ro']", "mount_options"),
        "std/cluster/ray": ("head = system.s, workers = system.w, options = ['-v'], least = 1, most = 4", "start_arguments"),
        "std/cluster/spark": ("master = system.s, workers = system.w, home = '/opt/spark', most = 4", "max"),
        "std/cluster/hdfs": ("namenode = system.s, datanodes = system.w, hadoop = 'https://example.org/hadoop-3.4.1.tar.gz', sha256 = '" + 64 * "a" + "', most = 4", "max"),
        "std/training/torch": ("nodes = system.w, main = 'a.py', source = '.', least = 2", "min"),
        "std/cluster/slurm": ("head = system.s, workers = system.w, max = 4, settings = 'X=1'", "configuration"),
        "std/training/mpi": ("nodes = system.w, main = 'a.py', source = '.', packages = no", "install"),
    }

    def test_former_names_of_the_standard_library_are_upgraded(self):
        self.write("a.py", "")
        for module, (inputs, now) in self.RENAMED.items():
            with self.subTest(module):
                uses = "\nuse '%s' as m (%s)\n" % (module, inputs)
                output = "\noutput names (value = '${m.nodes}')\n" if module.endswith("slurm") else ""
                path = self.write("a.radl", self.SYSTEMS + uses + output)
                self.inside(self.folder, "check", path, code=1)
                self.assertIn("E0412", self.err)
                self.assertIn("'%s'" % now, self.err)
                self.inside(self.folder, "fmt", "--upgrade", path)
                after = pathlib.Path(path).read_text()
                self.assertIn(now + " = ", after)
                self.assertEqual("m.node_names" in after, bool(output))
                self.inside(self.folder, "check", path)


class Nodes(CliCase):
    def test_a_node_that_has_died_is_started_again(self):
        file = self.project(command="true")
        self.radlc("apply", "--auto-approve", file)
        for pid in self.servers():
            os.kill(pid, signal.SIGKILL)
        out = self.radlc("plan", "--refresh", file)
        self.assertIn("stopped", out)
        file.write_text(ONE.format(command="'echo again'"))  # a step that needs the node
        out = self.radlc("apply", "--auto-approve", file)
        self.assertIn("it is stopped", out)
        self.assertEqual(self.radlc("ssh", file, "web", "echo up"), "up\n")
        self.assertIn("No changes", self.radlc("apply", "--auto-approve", file))
        self.radlc("destroy", "--auto-approve", file)

    def test_a_plan_saved_before_a_node_died_is_refused(self):
        file = self.project()
        self.radlc("apply", "--auto-approve", file)
        file.write_text(ONE.format(command="'echo again'"))
        self.radlc("plan", file, "--out", "saved")
        for pid in self.servers():
            os.kill(pid, signal.SIGKILL)
        self.radlc("apply", "saved", code=2)
        self.assertIn("make the plan again", self.err)
        self.radlc("plan", file, "--out", "saved")
        self.radlc("apply", "saved")
        self.radlc("destroy", "--auto-approve", file)

    def holding(self, file):
        """An apply that holds the lock until the file `release` is made in the node's home."""
        log = self.folder / "log"
        running = self.start("apply", "--auto-approve", "--log-json", log, file)
        self.addCleanup(lambda: (running.poll() is None and os.killpg(running.pid, signal.SIGKILL), running.communicate()))
        self.wait_until(lambda: any(each.get("event") == "action_started" and each.get("verb") == "run"
                                    for each in self.events(log)))
        return running

    def waiting(self, *arguments):
        """A command that has said that it waits."""
        process = self.start(*arguments)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.communicate()))
        self.assertIn("waiting for the lock", process.stderr.readline())
        return process

    def release(self):
        (self.found("home")[0] / "release").write_text("")

    def test_a_lock_is_waited_for(self):
        file = self.project(command="until [ -e release ]; do sleep 0.05; done")
        running = self.holding(file)
        destroys = [self.waiting("destroy", "--auto-approve", "--lock-timeout", "120", *rest) for rest in ([file], ["--name", "a"])]
        self.release()
        for process in destroys:  # one finds nothing left to do, which is what it was asked for
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(running.wait(60), 0)
        self.assert_nothing_left()

    def test_a_lock_that_never_comes_free_is_given_up(self):
        file = self.project(command="until [ -e release ]; do sleep 0.05; done")
        running = self.holding(file)
        given_up = self.waiting("destroy", "--auto-approve", "--lock-timeout", "1", file)
        for arguments in (["destroy", "--auto-approve"], ["apply", "--auto-approve"], ["state", "rm", "web[0]"]):
            self.radlc(*arguments, "--lock-timeout", "0.3", code=2)
            self.assertIn("the state is locked: apply by", self.err)
        self.assertEqual(given_up.wait(60), 2)
        self.release()
        self.radlc("destroy", "--auto-approve", "--lock-timeout", "120", file)
        running.wait(60)


class TerminalText(CliCase):
    ESCAPES = "\\033]0;owned\\007\\033[2J\\033[31mred\\033[0m\\033[6n\\001 bell\\007 end"

    def assert_harmless(self, text, color=False):
        bad = re.findall(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]|\x1b(?!\[[0-9;]*m)", text)
        self.assertEqual(bad, [], repr(text))
        if not color:
            self.assertNotIn("\x1b", text)

    def test_output_of_nodes_cannot_control_the_terminal(self):
        file = self.project(command=f"printf '{self.ESCAPES}\\n'; printf '{self.ESCAPES}\\n' >&2; exit 3")
        for color in (False, True):
            if color:
                del self.environment["NO_COLOR"]
                self.environment["CLICOLOR_FORCE"] = "1"
                self.environment["TERM"] = "xterm"
            out = self.radlc("apply", "--auto-approve", file, code=2)
            self.assertIn("red", out + self.err)
            for text in (out, self.err, self.radlc("logs", file), self.radlc("show", file)):
                self.assert_harmless(text, color)
            follow = self.start("logs", "-f", file)
            lines = [follow.stdout.readline() for _ in range(3)]
            follow.send_signal(signal.SIGINT)
            follow.communicate(timeout=60)
            self.assert_harmless("".join(lines), color)
            self.assertIn("red", self.radlc("logs", file))
        self.radlc("destroy", "--auto-approve", file)

    def test_text_of_files_cannot_control_the_terminal(self):
        evil = "\x1b]0;owned\x07\x1b[2Jx"
        file = self.write("a.radl", "radl 2\nnetwork lan ()\nsystem s (net_interface.0.connection = 'lan')\n"
                          f"configure s (file '~/f' (content = '{evil}'))\ndeploy s 1\n"
                          f"output told (value = '{evil}', description = '{evil}')\n")
        self.assert_harmless(self.radlc("plan", file))
        self.assert_harmless(self.radlc("apply", "--auto-approve", file))
        self.assert_harmless(self.radlc("output", file))
        self.assert_harmless(self.radlc("show", file))
        self.edit(file, ("2Jx", "2Jy"))
        self.assert_harmless(self.radlc("plan", file))
        self.assertEqual(self.radlc("output", "--raw", file, "told"), evil, "scripts get the value")
        self.radlc("destroy", "--auto-approve", file)


class Hints(CliCase):
    """What a hint tells to type works as it is printed."""

    def typed(self, text):
        """The command lines in backticks, or behind `radlc` at a line's end, of what was printed."""
        found = re.findall(r"`(radlc [^`]+)`", text)
        return found + [line.strip().split(": ", 1)[-1] for line in text.splitlines()
                        if re.search(r"(^|: )radlc [a-z]", line.strip()) and "`" not in line]

    def type(self, line, code=0, folder=None):
        words = shlex.split(line)
        self.assertEqual(words[0], "radlc")
        return self.inside(folder or self.folder, *words[1:], code=code)

    def test_apply_without_a_terminal_requires_auto_approve(self):
        file = self.project("with blank/a.radl")
        self.radlc("apply", file, code=1)
        lines = self.typed(self.err)
        self.assertEqual(len(lines), 2, self.err)
        for line in lines:
            self.type(line)
        self.assertIn("No changes", self.radlc("plan", file))
        self.radlc("destroy", file, code=1)
        self.assertIn("--auto-approve", self.err)
        self.radlc("destroy", file, "--auto-approve")

    def test_the_summary_and_a_saved_plan_say_how_to_go_on(self):
        file = self.project("with blank/it's.radl")
        saved = self.folder / "saved plan"
        out = self.radlc("plan", file, "--out", saved)
        self.assertIn("+ web[0]", self.radlc("show", saved))
        self.assertIn("actions", json.loads(self.radlc("show", saved, "--json")))
        self.radlc("plan", saved, code=1)
        self.assertIn("is a saved plan, not RADL", self.err)
        self.type(re.search(r"radlc apply .*", out).group())
        out = self.radlc("apply", "--auto-approve", file, "--replace", "web[0]")
        self.type(re.search(r"radlc destroy .*", out).group() + " --auto-approve")
        self.assert_nothing_left("with blank/.radl")

    def test_a_lock_that_is_held(self):
        file = self.project(command="until [ -e release ]; do sleep 0.05; done")
        log = self.folder / "log"
        running = self.start("apply", "--auto-approve", "--log-json", log, file)
        try:
            self.wait_until(lambda: any(each.get("event") == "action_started" and each.get("verb") == "run"
                                        for each in self.events(log)))
            elsewhere = self.folder / "elsewhere"
            elsewhere.mkdir()
            for arguments in (["destroy", "--auto-approve", file], ["state", "rm", file, "web[0]"]):
                self.radlc(*arguments, code=2)
                self.assertIn("--lock-timeout SECONDS", self.err)
                lines = self.typed(self.err)
                self.assertEqual(len(lines), 1, self.err)
            self.radlc("state", "rm", file, "web[0]", "--lock-timeout", "0.2", code=2)
            os.killpg(running.pid, signal.SIGSTOP)
            self.type(lines[0], folder=elsewhere)
            self.assertEqual(self.radlc("state", "unlock", file), "not locked\n")
        finally:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
        self.radlc("destroy", "--auto-approve", file)

    def test_a_state_that_lacks_an_address(self):
        file = self.project("with blank/a.radl")
        self.radlc("apply", "--auto-approve", file)
        self.radlc("state", "rm", file, "wep[0]", code=1)
        lines = self.typed(self.err)
        self.assertEqual(len(lines), 1, self.err)
        self.assertIn("web[0]", self.type(lines[0]))
        self.radlc("destroy", "--auto-approve", file)

    def test_a_system_under_a_new_name(self):
        file = self.project()
        self.radlc("apply", "--auto-approve", file)
        self.edit(file, *((f"{word} web", f"{word} site") for word in ("system", "deploy", "configure")))
        lines = self.typed(self.radlc("plan", file))
        self.assertEqual(len(lines), 1)
        self.type(lines[0])
        self.assertNotIn("destroy", self.radlc("plan", file))
        self.radlc("destroy", "--auto-approve", file)

    def test_every_hint_in_the_source_names_commands_and_flags_that_exist(self):
        """Each `radlc ...` and --flag that stands in a string of the program, whatever leads there."""
        source = pathlib.Path(os.environ["RADL_SOURCE"])
        help_of = {"": self.radlc("--help", code=None)}
        commands = set(re.findall(r"^  ([a-z]+) ", help_of[""], re.M))
        self.assertGreater(len(commands), 15)
        for command in commands:
            help_of[command] = self.radlc(command, "--help")
            for inner in re.findall(r"^  ([a-z]+) ", help_of[command].partition("Subcommands:")[2], re.M):
                help_of[command] += self.radlc(command, inner, "--help")
        flags = set(re.findall(r"--[a-z][a-z-]*", "".join(help_of.values())))
        texts = []
        for folder in ("runtime", "compiler", "tools", "common"):
            for path in [*(source / folder).rglob("*.cc"), *(source / folder).rglob("*.def")]:
                if path.name in ("completions.cc", "manual.cc"):
                    continue
                code = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
                code = re.sub(r"\"\s*\n?\s*\"", "", code)  # strings that are continued
                for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code) + re.findall(r'R"\((.*?)\)"', code, re.S):
                    if "radlc " in text or re.search(r"(with|say|name|of|by) `?--[a-z]", text):
                        texts.append((path.relative_to(source), text))
        self.assertGreater(len(texts), 15)
        for path, text in texts:
            for name in re.findall(r"`radlc ([a-z]+)", text) + re.findall(r"(?:^|: )radlc ([a-z]+) (?=-|[a-z]+ (?:shows|list))", text):
                self.assertIn(name, commands, f"{path}: {text}")
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text) if "radl" in text or "with --" in text else []:
                if path.parts[:2] != ("runtime", "clouds") and path.parts[:2] != ("runtime", "ansible"):
                    self.assertIn(flag, flags, f"{path}: {text}")


if __name__ == "__main__":
    unittest.main()
