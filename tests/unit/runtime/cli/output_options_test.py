"""Every option of every command against files that are not radlc's to replace: sources, states, other people's files."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import unittest

from foresight_case import ForesightCase, SERVED, SITE, profile

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
SOURCE = "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n"
OTHER = SOURCE.replace("deploy a 1", "deploy a 2")
# The options that write a file, and whether they know their own files again. --log-json only adds to its own.
KNOWN = {("compile", "-o"), ("plan", "--out"), ("plan", "--html"), ("graph", "-o"), ("doc", "-o"), ("recommend", "--write"),
         ("calibration export", "FILE"), ("apply", "--log-json")}
FORCED = {("convert", "-o"), ("state pull", "COPY")}
WRITERS = KNOWN | FORCED
QUICK = {"test": ["--runs", "1"]}


def lines_of(arguments, heading):
    """The names at the beginning of the lines of a part of --help."""
    out = subprocess.run([RADLC, *arguments, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    for part in out.split("\n\n"):
        title, _, rest = part.partition("\n")
        if heading(title):
            yield from (line.strip() for line in rest.splitlines() if re.match(r"  \S", line))


def commands():
    """The words of each command: ["plan"], ["state", "pull"], ..."""
    def is_group(title):
        return title.endswith(":") and title not in ("Options:", "Positionals:")
    for top in [line.split()[0] for line in lines_of([], is_group)]:
        below = [line.split()[0] for line in lines_of([top], lambda title: title == "Subcommands:")]
        yield from ([top, each] for each in below) if below else [[top]]


def takers():
    """(command, option or positional) of all that take a value."""
    for command in commands():
        for line in lines_of(command, lambda title: title == "Options:"):
            names = line.split("  ")[0].split(" ")
            if len(names) > 1:
                yield command, names[0].split(",")[0]
        for line in lines_of(command, lambda title: title == "Positionals:"):
            yield command, line.split()[0]


class EveryOption(ForesightCase):
    """In a folder with a source, a state, and a profile to recommend from."""

    def setUp(self):
        super().setUp()
        self.environment = {**self.environment, "RADL_LOCAL_ISOLATION": "off", "RADL_LOCAL_NETWORK": "shared"}
        self.know(profile())
        (self.at / "a.radl").write_text(SOURCE)
        self.state = self.at / "kept"
        self.run_radlc("apply", "-y", "a.radl", "--state", self.state)
        self.addCleanup(self.run_radlc, "destroy", "-y", "a.radl", "--state", self.state)

    def run_radlc(self, *arguments):
        return subprocess.run([RADLC, *map(str, arguments)], cwd=self.at, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def arguments(self, command, option, value, source="a.radl"):
        """A run of the command that would come to writing, with the value for this option."""
        words, name = [*command, *QUICK.get(command[0], [])], " ".join(command)
        if option.startswith("-"):
            words += [option, value]
        if name == "recommend":
            source = "site.radl"
            words += ["--types", "c5.xlarge", *SERVED]
        if name == "graph" and option != "--format":
            words += ["--format", "dot"]
        if name in ("state pull", "destroy"):
            words += ["--state", self.state]
        if name not in ("calibration export",) and not (option == "FILE"):
            words.append(source)
        return words if option.startswith("-") else [*words, value]

    def over_all(self, tried):
        """Calls tried(command, option) for all, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda each: tried(*each), takers()))

    def precious(self):
        """Files that no option may replace, by what they are."""
        files = {"a source": self.at / "mine.radl", "a text": self.at / "notes.txt", "a table": self.at / "table.json",
                 "a state": self.at / "other" / "a" / "state.db"}
        shutil.rmtree(self.at / "other", ignore_errors=True)
        files["a state"].parent.mkdir(parents=True)
        shutil.copy(self.state / "a" / "state.db", files["a state"])
        with contextlib.closing(sqlite3.connect(files["a state"])) as database:
            database.execute("pragma journal_mode = delete")
            database.execute("create table other (a)")
            database.commit()
        files["a source"].write_text(SOURCE)
        files["a text"].write_text("three weeks of notes\n")
        files["a table"].write_text('{"workers": 3}\n')
        return files

    def test_none_replaces_a_file_that_radlc_did_not_write(self):
        files = self.precious()
        before = {path: path.read_bytes() for path in [*files.values(), self.at / "a.radl"]}
        changed = []

        def tried(command, option):
            for what, path in files.items():
                self.run_radlc(*self.arguments(command, option, path))
                if path.read_bytes() != before[path]:
                    path.write_bytes(before[path])
                    changed.append((" ".join(command), option, what))
        self.over_all(tried)
        self.assertEqual(changed, [])
        self.assertEqual({path: path.read_bytes() for path in before}, before)
        self.assertIn("a[0]", self.run_radlc("state", "list", "--state", self.state).stdout.split())

    def test_these_write_files(self):
        """A new option that writes one is to be added above, and is then held to the rules below."""
        found = set()

        def tried(command, option):
            path = self.at / "new" / "-".join([*command, option])
            self.run_radlc(*self.arguments(command, option, path))
            if path.is_file():
                found.add((" ".join(command), option))
        (self.at / "new").mkdir()
        self.over_all(tried)
        found.discard(("state pull", "FILE"))  # a lone word is its COPY
        self.assertEqual(found | {("apply", "--log-json")}, WRITERS)

    def writes(self, name, option, path, *more, source="a.radl"):
        command = name.split()
        words = self.arguments(command, option, path, source)
        return self.run_radlc(*words, *more, *(["-y"] if name == "apply" else []))

    def test_what_is_refused_is_named_and_force_replaces_it(self):
        for name, option in sorted(WRITERS):
            for what, path in self.precious().items():
                if (name, what) == ("state pull", "a source"):
                    continue  # a word that ends in .radl is its FILE
                with self.subTest(command=name, option=option, file=what):
                    done = self.writes(name, option, path)
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                    self.assertIn(str(path), done.stderr)
                    if option == "--log-json":
                        continue  # nothing is lost by naming another file, and nothing is ever replaced
                    self.assertIn("--force", done.stderr)
                    before = path.read_bytes()
                    done = self.writes(name, option, path, "--force")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotEqual(path.read_bytes(), before)

    def test_its_own_file_is_replaced_without_a_word(self):
        (self.at / "b.radl").write_text(OTHER)
        for name, option in sorted(KNOWN - {("recommend", "--write"), ("calibration export", "FILE"), ("apply", "--log-json")}):
            with self.subTest(command=name):
                path = self.at / f"own-{name}{option}"
                first = self.writes(name, option, path)
                self.assertEqual(first.returncode, 0, first.stderr)
                before = path.read_bytes()
                again = self.writes(name, option, path, source="b.radl")
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertNotEqual(path.read_bytes(), before)

    def test_a_choice_and_a_calibration_are_replaced(self):
        for name, option, more in (("recommend", "--write", ("--workers", "2")), ("calibration export", "FILE", ())):
            path = self.at / f"own-{option}"
            self.assertEqual(self.writes(name, option, path).returncode, 0)
            if not more:
                self.run_radlc("calibration", "forget", "--all")
            before = path.read_bytes()
            done = self.writes(name, option, path, *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotEqual(path.read_bytes(), before)

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_drawings_are_known_again(self):
        (self.at / "b.radl").write_text(OTHER)
        for name in ("a.svg", "a.png", "a.pdf"):
            for source in ("a.radl", "b.radl"):
                done = self.run_radlc("graph", source, "--each-node", "-o", name)
                self.assertEqual(done.returncode, 0, done.stderr)
            png = (self.at / name).read_bytes()
            self.assertIn(b"Written by radlc", png[-200:])

    def test_empty_and_equal_files_are_nothing_to_lose(self):
        path = self.at / "made-by-mktemp"
        for name, option in sorted(FORCED):
            path.write_bytes(b"")
            for _ in range(2):
                done = self.writes(name, option, path)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_events_go_on_in_a_file_of_events(self):
        log = self.at / "events.jsonl"
        for deploy in ("deploy a 1", "deploy a 2"):
            (self.at / "a.radl").write_text(SOURCE.replace("deploy a 1", deploy))
            done = self.run_radlc("apply", "-y", "a.radl", "--state", self.state, "--log-json", log)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_radlc("destroy", "-y", "a.radl", "--state", self.state, "--log-json", log)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
        self.assertEqual(events.count("run_started"), 2)


if __name__ == "__main__":
    unittest.main()
