"""Commands of radlc around the language, run as programs: exit statuses, what goes where, files, a terminal."""
import json
import os
import pathlib
import pty
import re
import select
import stat
import subprocess
import tempfile
import time
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
GOOD = "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 2\n"
UGLY = "system   a(cpu.count>=1)\n"
PRETTY = "system a (cpu.count >= 1)\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="radl-cli-")
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def file(self, name, text):
        path = self.at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_it(self, *arguments, text="", environment=None):
        return subprocess.run([RADLC, *map(str, arguments)], cwd=self.at, input=text, capture_output=True, text=True,
                              timeout=60, env={**os.environ, **(environment or {})})

    def fails(self, status, said, *arguments, **more):
        done = self.run_it(*arguments, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("internal error", done.stderr)


class Test(Case):
    def test_many_runs_leave_nothing_behind(self):
        self.file("a.radl", GOOD)
        done = self.run_it("test", "a.radl", "--runs", "30", "--kill")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("30 runs: nothing is left, doubled, forgotten or billed", done.stdout)
        self.assertEqual(os.listdir(self.at), ["a.radl"])

    def test_one_run_shows_its_events_and_the_same_each_time(self):
        self.file("a.radl", GOOD)
        one, two = (self.run_it("test", "a.radl", "--runs", "1", "--seed", "7") for _ in range(2))
        self.assertEqual(one.returncode, 0, one.stderr)
        self.assertEqual(one.stdout, two.stdout)
        self.assertIn("cloud: create a[1]: accepted i-", one.stdout)
        self.assertIn("seed 7: nothing was found", one.stdout)

    def test_the_report_as_json(self):
        self.file("a.radl", GOOD)
        done = self.run_it("test", "a.radl", "--runs", "5", "--faults", "lost_after", "--json")
        report = json.loads(done.stdout)
        self.assertEqual((report["test"], report["runs"], report["failed"], report["failures"]), (1, 5, 0, []))
        self.assertEqual(report["findings"]["left"], 0)
        self.assertGreater(report["counts"]["calls"], 50)

    def test_what_cannot_be_tried(self):
        self.file("a.radl", GOOD)
        self.fails(1, "did you mean throttling?", "test", "a.radl", "--faults", "throtling")
        self.file("huge.radl", "system a (memory.size >= 900T)\ndeploy a 1\n")
        self.fails(1, "memory.size", "test", "huge.radl")


class Fmt(Case):
    def test_mode_and_link_stay(self):
        path = self.file("real.radl", UGLY)
        path.chmod(0o640)
        link = self.at / "link.radl"
        link.symlink_to("real.radl")
        done = self.run_it("fmt", "link.radl")
        self.assertEqual((done.returncode, done.stdout), (0, "link.radl\n"))
        self.assertTrue(link.is_symlink())
        self.assertEqual(path.read_text(), PRETTY)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertEqual(sorted(os.listdir(self.at)), ["link.radl", "real.radl"])

    def test_a_file_in_order_is_not_touched(self):
        path = self.file("a.radl", PRETTY)
        os.utime(path, (1, 1))
        self.assertEqual(self.run_it("fmt", "a.radl").stdout, "")
        self.assertEqual(path.stat().st_mtime, 1)

    def test_check_and_diff_write_nothing(self):
        path = self.file("a.radl", UGLY)
        done = self.run_it("fmt", "--check", ".")
        self.assertEqual((done.returncode, done.stdout), (1, "a.radl\n"))
        done = self.run_it("fmt", "--diff", ".")
        self.assertEqual(done.returncode, 0)
        self.assertIn("-" + UGLY, done.stdout)
        self.assertIn("+" + PRETTY, done.stdout)
        self.assertEqual(path.read_text(), UGLY)
        self.assertEqual(self.run_it("fmt", "--check", "-", text=PRETTY).returncode, 0)

    def test_standard_input(self):
        done = self.run_it("fmt", "-", text=UGLY)
        self.assertEqual((done.returncode, done.stdout), (0, PRETTY))
        self.fails(1, "E0102", "fmt", "-", text="system a (")

    def test_what_cannot_be_read_stays_and_the_rest_is_done(self):
        bad, good = self.file("a.radl", "system a (\n"), self.file("b.radl", UGLY)
        self.assertEqual(self.run_it("fmt", "a.radl", "b.radl").returncode, 1)
        self.assertEqual((bad.read_text(), good.read_text()), ("system a (\n", PRETTY))

    @unittest.skipIf(os.geteuid() == 0, "root may write everything")
    def test_a_file_that_may_not_be_written_stays(self):
        path = self.file("a.radl", UGLY)
        path.chmod(0o444)
        self.assertNotEqual(self.run_it("fmt", "a.radl").returncode, 0)
        self.assertEqual(path.read_text(), UGLY)


class Messages(Case):
    def test_each_says_what_is_wrong(self):
        self.file("good.radl", GOOD)
        self.file("bad.radl", "system a (\n")
        for said, arguments in [
                ("did you mean 'check'?", ("chek",)),
                ("did you mean '--json'?", ("check", "--jsn", "good.radl")),
                ("unknown command 'launch'; run `radlc apply FILE.radl`", ("launch", "good.radl")),
                ("unknown command 'templates'; run `radlc doc TEMPLATE.radl`", ("templates", "-s")),
                ("unknown command 'down'; run `radlc destroy FILE.radl`", ("down",)),
                ("unknown option '-var'; write --input NAME=VALUE", ("plan", "-var", "a=1", "good.radl")),
                ("unknown option '--yes'; write --auto-approve", ("apply", "--yes", "good.radl")),
                ("unknown option '--dry-run'; run `radlc plan`", ("apply", "--dry-run", "good.radl")),
                ("unknown option '--nothing-like-it'", ("plan", "--nothing-like-it")),
                ("error: unknown command 'lits'; did you mean 'list'?", ("state", "lits")),
                ("error: --format: nope", ("check", "--format", "nope", "good.radl")),
                ("error: FILE is required", ("convert",)),
                ("FILE is required", ("doc",)),
                ("none.radl", ("doc", "none.radl")),
                ("E0102", ("doc", "bad.radl")),
                ("/nowhere/x: ", ("doc", "good.radl", "-o", "/nowhere/x")),
                ("unknown code E9999", ("explain", "E9999")),
                ("is radl already", ("convert", "good.radl", "--to", "radl")),
                ("E0102", ("convert", "bad.radl")),
                ("E0102", ("graph", "bad.radl")),
                ("unknown code", ("check", "-Wnonsense", "good.radl")),
                ("E0001", ("check", "good.radl", "none.radl")),
                ("no .radl file", ("fmt", self.at / "empty")),
                ("tcsh", ("completions", "tcsh")),
                ("E0101", ("console", "good.radl", "-e", "1+"))]:
            (self.at / "empty").mkdir(exist_ok=True)
            with self.subTest(arguments=arguments):
                self.fails(1, said, *arguments)

    def test_help_as_a_word_is_the_option(self):
        self.assertEqual(self.run_it("help").stdout, self.run_it("--help").stdout)
        self.assertEqual(self.run_it("help", "plan").stdout, self.run_it("plan", "--help").stdout)
        self.fails(1, "unknown command 'pla'; did you mean 'plan'?", "help", "pla")

    def test_every_command_has_help(self):
        listed = self.run_it("--help").stdout
        for name in ("check", "fmt", "convert", "doc", "graph", "console", "explain", "lsp", "completions"):
            self.assertIn("\n  %s " % name, listed)
            done = self.run_it(name, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("Usage: radlc %s" % name, done.stdout)

    def test_drawing_needs_graphviz(self):
        self.file("good.radl", GOOD)
        self.assertIn("digraph", self.run_it("graph", "good.radl").stdout)
        self.fails(2, "install the package graphviz", "graph", "good.radl", "-o", "x.svg", environment={"PATH": "/nowhere"})
        self.assertFalse((self.at / "x.svg").exists())


class Check(Case):
    def test_files_and_folders_and_json(self):
        self.file("sub/bad.radl", "deploy a 1\n")
        self.file("good.radl", GOOD)
        done = self.run_it("check", ".")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 files: 1 error", done.stderr)
        found = json.loads(self.run_it("check", "--json", "sub", "good.radl").stdout)
        self.assertEqual((found["schema"], found["errors"], len(found["diagnostics"])), (1, 1, 1))
        finding = found["diagnostics"][0]
        # docs/tools.md names these.
        for key in ("severity", "code", "message", "phase", "file", "line", "column", "end_line", "end_column", "begin", "end"):
            self.assertIn(key, finding)
        self.assertEqual(self.run_it("check", "-q", "good.radl").stderr, "")
        self.assertEqual(self.run_it("check", "-", text=GOOD).returncode, 0)


class Elsewhere(Case):
    """Clouds of the Infrastructure Manager's that radlc does not have."""
    SYSTEM = "network n ()\nsystem a (net_interface.0.connection = 'n'{image})\ndeploy a 1{cloud}\n"

    def test_a_file_that_asks_for_one_is_told_in_every_form(self):
        for image, cloud, said in (("", " opennebula", "OpenNebula, which its `deploy` names ('opennebula')"),
                                   (" and\ndisk.0.image.url = 'one://server/3'", "", "OpenNebula, which its image is for"),
                                   ("", " kubernetes", "Kubernetes, which its `deploy` names ('kubernetes')"),
                                   (" and\ndisk.0.image.url = 'docker://debian:12'", "", "Docker or Kubernetes, which its image is for"),
                                   ("", " libvirt", "libvirt, which its `deploy` names ('libvirt')")):
            for form in ("text", "json", "sarif", "github"):
                with self.subTest(said, form=form):
                    self.file("a.radl", self.SYSTEM.format(image=image, cloud=cloud))
                    done = self.run_it("check", "--format", form, "a.radl")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(f"a.radl:2: note: system 'a': {said}, is not among radlc's clouds\n", done.stderr)
                    self.assertIn("docs/clouds.md", done.stderr)
                    if form in ("json", "sarif"):
                        json.loads(done.stdout)

    def test_the_page_that_it_names_has_them_all(self):
        page = (pathlib.Path(os.environ["RADL_SOURCE"]) / "docs/clouds.md").read_text()
        for word in ("OpenNebula", "Kubernetes", "pods", "libvirt"):
            self.assertIn(word, page.split("| not supported |")[1].split("\n\n")[0])

    def test_a_file_that_asks_for_what_there_is_is_told_nothing(self):
        self.file("a.radl", self.SYSTEM.format(image=" and disk.0.image.url = ['one://s/3', 'ost://s/4']", cloud=""))
        self.assertNotIn("note:", self.run_it("check", "a.radl").stderr)


class Convert(Case):
    def test_back_in_the_formatters_layout(self):
        self.file("a.radl", "system a ( cpu.count>=2 and memory.size >=1g and disk.0.os.name='linux')\ndeploy a 1\n")
        self.assertEqual(self.run_it("convert", "a.radl", "-o", "a.json").returncode, 0)
        back = self.run_it("convert", "a.json").stdout
        self.assertEqual(self.run_it("fmt", "-", text=back).stdout, back)
        self.file("b.radl", back)
        self.assertEqual(json.loads(self.run_it("convert", "b.radl").stdout), json.loads((self.at / "a.json").read_text()))

    def test_json_as_the_reference_writes_it(self):
        given = [{"class": "description", "id": 140139760475088, "name": "cluster", "short": "x"}, {"class": "system", "id": "a"}]
        done = self.run_it("convert", "-", text=json.dumps(given))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("description cluster ("), done.stdout)
        self.fails(1, "cannot be a name in RADL", "convert", "-", text=json.dumps([{"class": "system", "id": "two words"}]))

    def test_junk_in_front_makes_no_json(self):
        self.file("a.radl", "[ ] system a ()\ndeploy a 1\n")
        self.assertEqual(json.loads(self.run_it("convert", "a.radl").stdout)[0]["id"], "a")


class Compile(Case):
    def test_a_pass_can_be_looked_at(self):
        self.file("a.radl", GOOD)
        self.assertIn("system", self.run_it("compile", "--dump", "read", "a.radl").stdout)
        self.fails(1, "--dump", "compile", "--dump", "nonsense", "a.radl")

    def test_passes_over_a_file_that_is_not_utf8(self):
        (self.at / "a.radl").write_bytes(b"network n ()\nsystem a (net_interface.0.connection = 'n' and note = 'l\xe9n')\ndeploy a 1\n")
        for name in ("read", "nodes", "finish"):
            done = subprocess.run([RADLC, "compile", "--dump", name, "a.radl"], cwd=self.at, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"E0002", done.stderr)
            self.assertNotIn(b"internal error", done.stderr)

    def test_texts_that_are_not_utf8_are_refused(self):
        self.file("a.radl", "radl 2\ninput x (type = 'text')\nnetwork n ()\nsystem a (net_interface.0.connection = 'n'"
                            ", instance_name = '${input.x}')\ndeploy a 1\noutput o (value = input.x)\n")
        done = subprocess.run([RADLC.encode(), b"compile", b"a.radl", b"--input", b"x=a\xff"], cwd=self.at, capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"not UTF-8", done.stderr)
        self.assertNotIn(b"internal error", done.stderr)


class Explain(Case):
    def test_recipes_that_a_module_would_take_the_place_of(self):
        self.file("front.radl", """network lan (outbound = 'no')
system front (cpu.count >= 1 and net_interface.0.connection = 'lan')
system wn (cpu.count >= 1 and net_interface.0.connection = 'lan')
configure mpi (
@begin
---
  - tasks:
    # torch is only named here
    - name: Open MPI
      apt: name=openmpi-bin,libopenmpi-dev update_cache=yes
    - command: mpirun --version
@end
)
configure web (
@begin
---
  - tasks:
    - apt: name=nginx
@end
)
deploy front 1
deploy wn 2
contextualize (
  system front configure web step 1
  system wn configure mpi step 1
)
""")
        done = self.run_it("explain", "front.radl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("front.radl:4: recipe 'mpi' of 2 nodes: 'std/training/mpi' would do this", done.stdout)
        self.assertIn("| apt: name=openmpi-bin,libopenmpi-dev update_cache=yes", done.stdout)
        self.assertIn("use 'std/training/mpi' as NAME", done.stdout)
        self.assertNotIn("torch", done.stdout)
        self.assertNotIn("web", done.stdout)
        self.file("plain.radl", GOOD)
        self.assertIn("No recipe does what a module", self.run_it("explain", "plain.radl").stdout)

    def test_clusters_of_roles_of_the_infrastructure_manager(self):
        """Roles, packages and mounts, written as its collections write them; CRLF and upper case as they come."""
        recipes = {"front": """- vars:
      nfs_exports: [{path: "/home", export: "wn*.localdomain(rw,async,no_root_squash)"}]
    roles:
    - role: indigo-dc.nfs
      nfs_mode: front
    - { role: 'grycap.Slurm', slurm_type_of_node: 'front' }""",
                   "wn": """- tasks:
    - mount: src=front:/home path=/home fstype=nfs4 state=mounted
    - apt: name=slurm-llnl,munge
    - command: echo this is no transfs, and no sparkling""",
                   "files": """- roles:
    - { role: 'micafer.hadoop', hadoop_master: 'master', hadoop_type_of_node: 'master' }
    - { role: 'grycap.spark' }
  - tasks:
    - shell: s3fs bucket /data -o url=http://minio:9000"""}
        text = "network lan (outbound = 'no')\n"
        for name in recipes:
            text += f"system {name} (cpu.count >= 1 and net_interface.0.connection = 'lan')\n"
        for name, recipe in recipes.items():
            text += f"configure {name} (\n@begin\n---\n  {recipe}\n@end\n)\n"
        text += "".join(f"deploy {name} 1\n" for name in recipes)
        self.file("cluster.radl", text.replace("\n", "\r\n"))
        done = self.run_it("explain", "cluster.radl")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = set(re.findall(r"recipe '(\w+)' of 1 node: '([\w/]+)' would do this", done.stdout))
        self.assertEqual(found, {("front", "std/cluster/slurm"), ("front", "std/storage/nfs"), ("wn", "std/cluster/slurm"),
                                 ("wn", "std/storage/nfs"), ("files", "std/cluster/hdfs"), ("files", "std/cluster/spark"),
                                 ("files", "std/storage/minio")})
        self.assertNotIn("sparkling", done.stdout)
        self.assertEqual(done.stdout.count("| - command: echo"), 0)

    def test_recipes_that_no_node_runs_yet_are_compared_too(self):
        """A component of EC3, whose cluster is another file; working nodes that the cluster itself asks for."""
        self.file("hadoop.radl", """description hadoop (kind = 'component' and short = 'Hadoop')
system front (ec3_templates contains 'hadoop' and disk.0.applications contains (name = 'ansible.modules.grycap.hadoop'))
configure front (
@begin
  - roles:
    - { role: 'grycap.hadoop', hadoop_master: 'front', hadoop_type_of_node: 'master' }
@end
)
configure wn (
@begin
  - roles:
    - { role: 'grycap.hadoop', hadoop_master: 'front' }
@end
)
""")
        done = self.run_it("explain", "hadoop.radl")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("hadoop.radl:3: recipe 'front' of no node yet: 'std/cluster/hdfs' would do this", done.stdout)
        self.assertIn("hadoop.radl:9: recipe 'wn' of no node yet: 'std/cluster/hdfs' would do this", done.stdout)
        self.file("cluster.radl", """network n (outbound = 'no')
system front (net_interface.0.connection = 'n')
system wn (net_interface.0.connection = 'n')
configure front (
@begin
- vars:
    templates: [slurm, nfs]
  roles:
  - { role: 'grycap.slurm', slurm_type_of_node: 'front' }
@end
)
configure wn (
@begin
- roles:
  - { role: 'grycap.slurm', slurm_type_of_node: 'wn' }
@end
)
deploy front 1
deploy wn 0
""")
        done = self.run_it("explain", "cluster.radl")
        self.assertIn("cluster.radl:4: recipe 'front' of 1 node: 'std/cluster/slurm' would do this\n    | - { role:", done.stdout)
        self.assertIn("cluster.radl:12: recipe 'wn' of no node yet: 'std/cluster/slurm' would do this", done.stdout)

    def test_every_module_that_it_names_is_in_the_standard_library(self):
        source = pathlib.Path(__file__).resolve().parents[4]
        text = (source / "runtime/driver/replaceable.cc").read_text()
        named = set(re.findall(r"std/[a-z]+/[a-z_]+", text))
        self.assertGreaterEqual(len(named), 9)
        for module in named:
            self.assertTrue((source / f"stdlib/{module[4:]}.radl").exists(), module)
        self.fails(1, "unknown code E9999", "explain", "E9999")


class Options(Case):
    def test_they_stand_before_or_behind_the_file(self):
        self.file("a.radl", "radl 2\ninput x (type = 'text')\ninput y (type = 'text')\nnetwork n ()\n"
                            "system a (net_interface.0.connection = 'n')\ndeploy a 1\noutput o (value = '${input.x}${input.y}')\n")
        for order in (["--input", "x=1", "-i", "y=2", "a.radl"], ["a.radl", "--input", "x=1", "--input=y=2"],
                      ["--input", "x=1", "a.radl", "-i", "y=2"]):
            done = self.run_it("compile", *order)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"12"', done.stdout)


class Console(Case):
    def test_lines_from_a_pipe(self):
        done = self.run_it("console", text="1 + 1\n:type [1, 2]\n")
        self.assertEqual((done.returncode, done.stdout), (0, "2\nlist of 2, each: integer\n"))
        self.assertEqual(self.run_it("console", text="nothing\n").returncode, 1)

    def test_a_terminal_edits_completes_and_remembers(self):
        self.file("good.radl", GOOD)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.at)
            os.environ.update(TERM="xterm", HOME=str(self.at), CI="")
            os.environ.pop("XDG_STATE_HOME", None)
            os.execv(RADLC, [RADLC, "console", "good.radl"])
        shown = ""

        def expect(text):
            nonlocal shown
            limit = time.time() + 30
            while text not in shown:
                self.assertLess(time.time(), limit, "waiting for %r, got %r" % (text, shown))
                if select.select([terminal], [], [], 0.1)[0]:
                    shown += os.read(terminal, 4096).decode(errors="replace")
            shown = shown[shown.index(text) + len(text):]

        expect("> ")
        os.write(terminal, b"40 + 2\r")
        expect("\n42")
        expect("> ")
        os.write(terminal, b"\x1b[A0\r")  # the line before, and a digit behind it
        expect("\n60")
        expect("> ")
        os.write(terminal, b"coun\ta)\r")
        expect("\n2")
        expect("> ")
        os.write(terminal, b"\x04")
        limit, ended, status = time.time() + 30, 0, 0
        while not ended:
            self.assertLess(time.time(), limit, "it does not end at ^D")
            select.select([], [], [], 0.02)
            ended, status = os.waitpid(pid, os.WNOHANG)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        os.close(terminal)
        history = self.at / ".local/state/radlc/console_history"
        self.assertIn("count(a)", history.read_text())
        self.assertEqual(stat.S_IMODE(history.stat().st_mode), 0o600)


if __name__ == "__main__":
    unittest.main()
