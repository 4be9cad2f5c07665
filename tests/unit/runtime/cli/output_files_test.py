"""Files that a user names for a command to write: what is there already, and what stands in the way."""
import contextlib
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import threading
import unittest

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
SOURCE = "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 2\n"


def commands(file, out):
    """Every command that writes a file that a user names."""
    return {
        "compile": ["compile", file, "-o", out],
        "convert": ["convert", file, "-o", out],
        "doc": ["doc", file, "-o", out],
        "doc --features": ["doc", "--features", "-o", out],
        "graph": ["graph", file, "--format", "dot", "-o", out],
        "plan --out": ["plan", file, "--out", out],
        "plan --html": ["plan", file, "--html", out],
    }


class OutputFiles(unittest.TestCase):
    def setUp(self):
        self.at = pathlib.Path(tempfile.mkdtemp(prefix="radl-files-"))
        self.addCleanup(shutil.rmtree, self.at, ignore_errors=True)
        self.source = self.at / "a.radl"
        self.source.write_text(SOURCE)

    def run_it(self, arguments, **options):
        return subprocess.run([RADLC, *map(str, arguments)], cwd=self.at, capture_output=True, text=True, timeout=60, **options)

    def each(self, out):
        for name, arguments in commands(self.source, out).items():
            with self.subTest(command=name):
                yield name, arguments

    def done(self, arguments, **options):
        done = self.run_it(arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def refused(self, arguments, path, cause, **options):
        """One clear line that names the path and the cause, and no temporary file."""
        done = self.run_it(arguments, **options)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(str(path), lines[0])
        self.assertIn(cause, lines[0])
        self.assertNotIn("internal error", done.stderr)

    def device(self, name, minor):
        """One of this test's own, as a mistake here must not cost the machine its /dev."""
        node = self.at / name
        try:
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            node.open("rb").close()
        except OSError as error:
            self.skipTest(f"no devices can be made here: {error}")
        return node

    def test_a_device_stays_a_device(self):
        node = self.device("null", 3)
        for _, arguments in self.each(node):
            self.done(arguments)
            self.assertTrue(stat.S_ISCHR(node.stat().st_mode))

    def test_a_pipe_is_written(self):
        pipe = self.at / "pipe"
        os.mkfifo(pipe)
        for name, arguments in self.each(pipe):
            got = []
            reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
            reader.start()
            self.done(arguments)
            reader.join(30)
            self.assertTrue(got and got[0], name)
            self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))

    def test_a_link_stays_and_its_target_keeps_its_mode(self):
        folder = self.at / "far"
        folder.mkdir()
        target, link = folder / "target", self.at / "link"
        link.symlink_to("far/target")
        for name, arguments in self.each(link):
            target.write_text("old")
            target.chmod(0o640)
            self.done([*arguments, "--force"])
            self.assertTrue(link.is_symlink(), name)
            self.assertNotEqual(target.read_bytes(), b"old")
            self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)
            target.unlink()
            self.done(arguments)  # a link to what is not there yet
            self.assertTrue(link.is_symlink() and target.exists(), name)
            self.assertEqual(os.listdir(folder), ["target"])

    def test_names_of_one_file_stay_one_file(self):
        one, other = self.at / "one", self.at / "other"
        one.write_text("old, and longer than what is written, if that were possible")
        os.link(one, other)
        for name, arguments in self.each(one):
            self.done([*arguments, "--force"])
            self.assertEqual(one.stat().st_ino, other.stat().st_ino, name)

    def test_new_files_follow_the_umask(self):
        for name, arguments in self.each(self.at / "new"):
            self.done(arguments, preexec_fn=lambda: os.umask(0o077))
            self.assertEqual(stat.S_IMODE((self.at / "new").stat().st_mode) & 0o077, 0, name)
            (self.at / "new").unlink()
            self.done(arguments, preexec_fn=lambda: os.umask(0o022))
            self.assertEqual(stat.S_IMODE((self.at / "new").stat().st_mode), 0o600 if name == "plan --out" else 0o644, name)
            (self.at / "new").unlink()

    def test_standard_output_by_its_name(self):
        out = self.at / "all"
        for name in ("stdout", "fd/1"):  # as in /dev, which no test may put at risk
            (self.at / "stdout").unlink(missing_ok=True)
            (self.at / "stdout").symlink_to("/proc/self/fd/1")
            (self.at / "fd").is_symlink() or (self.at / "fd").symlink_to("/proc/self/fd")
            with open(out, "w") as file:
                file.write("before\n")
                file.flush()
                done = subprocess.run([RADLC, "doc", str(self.source), "-o", name], cwd=self.at, stdout=file, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(out.read_text().startswith("before\n") and len(out.read_text()) > 20, name)

    def test_what_stands_in_the_way(self):
        taken, loop = self.at / "folder", self.at / "loop"
        taken.mkdir()
        loop.symlink_to("loop")
        for path, cause in ((self.at / "missing" / "out", "No such file or directory"),
                            (self.source / "out", "Not a directory"), (taken, "Is a directory"),
                            (loop, "Too many levels of symbolic links")):
            for _, arguments in self.each(path):
                self.refused(arguments, path, cause)
        self.assertEqual(sorted(os.listdir(self.at)), ["a.radl", "folder", "loop"])

    def test_a_full_device_is_told(self):
        full = self.device("full", 7)
        for _, arguments in self.each(full):
            self.refused(arguments, full, "No space left on device")

    def test_an_option_with_an_empty_value_is_no_option_that_was_left_out(self):
        """`--out "$PLAN"` of a script whose variable is not set."""
        for arguments in (["plan", self.source, "--out", ""], ["plan", self.source, "--out="], ["plan", self.source, "--html", ""],
                          ["graph", self.source, "-o", ""], ["plan", self.source, "--state", ""], ["plan", self.source, "--name", ""]):
            done = self.run_it(arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
            self.assertRegex(done.stderr, r"^error: (option '-\S+' has an empty value|-\S+: 1 required \S+ missing)\n")

    def test_full_standard_output_is_told(self):
        for arguments in (["plan", self.source], ["compile", self.source], ["doc", "--features"], ["explain", "--list"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([RADLC, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("error: standard output: No space left on device", done.stderr)

    @contextlib.contextmanager
    def small_file_system(self, *options):
        """A file system of 64 KiB in a mount namespace of the command: its runner."""
        place = self.at / "small"
        place.mkdir(exist_ok=True)
        mount = f"mount -t tmpfs -o size=64k{''.join(',' + o for o in options)} tmpfs '{place}'"
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace here")
        yield place, ["unshare", "-m", "sh", "-c"], mount

    def test_a_full_disk_keeps_the_old_file(self):
        with self.small_file_system() as (place, shell, mount):
            for name, arguments in commands(self.source, place / "out").items():
                with self.subTest(command=name):
                    words = " ".join(f"'{word}'" for word in [RADLC, *arguments, "--force"])
                    script = (f"{mount} && echo old > '{place}/out' && head -c 60000 /dev/zero > '{place}/rest'; "
                              f"head -c 9000 /dev/zero >> '{place}/rest' 2>/dev/null; {words}; echo $? $(cat '{place}/out' | head -c 3) $(ls '{place}')")
                    done = subprocess.run([*shell, script], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.stdout.strip().splitlines()[-1], "2 old out rest", done.stderr)
                    self.assertIn("No space left on device", done.stderr)
                    self.assertIn(str(place / "out"), done.stderr)

    def test_a_state_on_a_full_or_read_only_disk(self):
        with self.small_file_system() as (place, shell, mount):
            for prepare, cause in ((f"head -c 70000 /dev/zero > '{place}/rest' 2>/dev/null", "no space left"),
                                   (f"mount -o remount,ro '{place}'", "Read-only file system")):
                script = f"{mount}; {prepare}; {RADLC} apply --auto-approve '{self.source}' --state '{place}/state'; echo $?"
                done = subprocess.run([*shell, script], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout.strip().splitlines()[-1], "2", done.stderr)
                errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
                self.assertEqual(len(errors), 1, done.stderr)
                self.assertIn(cause.lower(), errors[0].lower())
                self.assertEqual(errors[0].count(str(place)), 1)
                self.assertNotIn("Input/output error", done.stderr)
                self.assertNotIn("I/O error", done.stderr)

    def test_limits_of_file_size_are_told(self):
        import resource
        import signal

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        for _, arguments in self.each(self.at / "out"):
            self.refused(arguments, self.at / "out", "File too large", preexec_fn=limit)
        self.assertEqual(os.listdir(self.at), ["a.radl"])


if __name__ == "__main__":
    unittest.main()
