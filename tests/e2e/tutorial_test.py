"""README.md and docs/tutorial.md followed as a newcomer does: each command as it is printed, answered at a terminal."""
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import time
import unittest

from radl_case import BUILD, SOURCE, RadlCase

ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\r")
PLACE = pathlib.Path("examples/cifar10/training.radl")


def commands(page):
    """The indented lines of a page that are typed: without what is said of them behind a `#`."""
    blocks = re.findall(r"^ {4}(\S.*)$", (SOURCE / page).read_text(), re.M)
    return [re.sub(r"\s+#.*$", "", line) for line in blocks if line.split()[0] in ("radlc", "make", "tensorboard")]


class Newcomer(RadlCase):
    """Types at a terminal, in a folder that has the repository's examples, and says yes where radlc asks."""

    def setUp(self):
        super().setUp()
        shutil.copytree(SOURCE / "examples" / "cifar10", self.folder / "examples" / "cifar10",
                        ignore=shutil.ignore_patterns("subset"))
        self.environment.update(PATH=f"{BUILD / 'bin'}:{self.environment['PATH']}", TERM="xterm", CI="",
                                RADL_CIFAR10_SUBSET=str(SOURCE / "examples/cifar10/subset"))

    def small(self):
        """From now on the training is one of seconds; the commands stay as they are."""
        self.environment.update(RADL_INPUT_source="subset", RADL_INPUT_model="logistic", RADL_INPUT_epochs="1")

    def type(self, line, code=0, folder=".", answer="yes", then=""):
        """What the terminal shows of a command line. `answer`: to radlc's question; `then`: is typed ahead."""
        master, terminal = pty.openpty()
        os.write(master, then.encode())
        process = subprocess.Popen(shlex.split(line), cwd=self.folder / folder, env=self.environment, stdin=terminal,
                                   stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        shown, answered, deadline = "", 0, time.time() + 200
        while time.time() < deadline:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    piece = os.read(master, 65536).decode(errors="replace")
                except OSError:  # the terminal has no program any more
                    break
                shown += ESCAPES.sub("", piece)
                asked = shown.count("Only 'yes' is accepted:")
                if asked > answered:
                    os.write(master, answer.encode() + b"\n")
                    answered = asked
            elif process.poll() is not None:
                break
        if process.poll() is None and time.time() >= deadline:
            process.kill()
        self.assertEqual(process.wait(timeout=20), code, f"{line}\n{shown}")
        os.close(master)
        return shown


class Tutorial(Newcomer):
    def test_every_command_of_it_in_its_order(self):
        lines = commands("docs/tutorial.md")
        followed = []

        def type(part, **options):
            """The next command of the page, which holds `part`."""
            line = lines[len(followed)]
            self.assertIn(part, line, f"after {followed}")
            followed.append(line)
            return self.type(line, **options)

        type("check")
        first = self.type(lines[1])
        page = (SOURCE / "docs/tutorial.md").read_text()
        excerpt = re.search(r"^ {6}\+ server.*?accuracy = .*?$", page, re.M | re.S).group(0)
        for line in excerpt.splitlines():
            self.assertIn(" ".join(line.split()), " ".join(first.split()), "the plan that the page shows")
        self.small()
        type("plan")
        self.assertIn("Apply this plan?", type("apply"))
        result = self.folder / "cifar10-run"
        self.assertTrue((result / "model" / "model.safetensors").exists() or list(result.rglob("*.safetensors")))
        self.assertIn("worker[1]", type("show"))
        self.assertRegex(type("output"), r"accuracy = 0\.\d+")
        self.assertRegex(type("ssh"), r"^\S+\n$", "the name of a host")
        self.assertIn("~/cluster", type("logs"))
        followed.append(lines[len(followed)])
        self.assertEqual(followed[-1], "tensorboard --logdir cifar10-run/events")
        self.assertTrue(list((result / "events").glob("*tfevents*")), "the folder that TensorBoard is shown")
        self.assertIn("No changes", type("apply"))
        planned = type("--input workers=3")
        for line in (r"\+ worker\[2\]", r"~?> server\[0\]/base", r"> worker\[2\]/base", r"> training/cifar"):
            self.assertRegex(planned, line)
        self.assertNotRegex(planned, r"(?m)^ *[-+~>/]+ worker\[[01]", "they are left as they are")
        # "Edit ~/cluster/role on a node by `radlc ssh` and `radlc plan --refresh` shows the difference."
        self.type(f"radlc ssh {PLACE} 'worker[0]' 'echo mine > cluster/role'")
        drift = self.type(f"radlc plan --refresh {PLACE}")
        self.assertIn("Changed outside of radlc", drift)
        self.assertIn("-mine", drift)
        type("destroy")
        self.assertEqual(followed, lines, "a command of the page that nothing follows")
        self.assert_nothing_left("examples/cifar10/.radl")
        self.assertTrue(list(result.rglob("*.safetensors")), "the model is the user's")

    def test_errors_of_mistakes_and_saved_plans(self):
        file = self.folder / PLACE
        self.small()
        text = file.read_text()
        self.edit(file, ("memory.size", "memory.sise"))
        self.assertIn("memory.size", self.type(f"radlc check {PLACE}", code=1).replace("memory.sise", ""))
        file.write_text(text)
        self.type(f"radlc plan {PLACE} --out FILE")
        self.edit(file, ("0750", "0700"))
        self.assertIn("has changed since the plan was made", self.type("radlc apply FILE", code=2))


class Readme(Newcomer):
    def test_every_command_of_it_in_its_order(self):
        self.small()
        made = []
        text = (SOURCE / "Makefile").read_text()
        folder = self.folder / "examples" / "mine"
        folder.mkdir()
        shutil.copy(self.folder / PLACE, folder / "FILE.radl")
        self.assertIn("see also: show, output, logs -f", (SOURCE / "README.md").read_text())
        for line in commands("README.md"):
            words = line.split()
            if words[0] == "make":
                self.assertRegex(text, rf"(?m)^(?:[a-z-]+ )*{words[1]}(?: [a-z-]+)*:", line)
                continue
            made.append(words[1])
            if words[1] == "apply":
                for answer in ("y", "no", ""):
                    self.type(line, folder=folder, answer=answer, code=1)
            shown = self.type(line, folder=folder, then="echo node $((40 + 2)); exit\n" if words[1] == "ssh" else "")
            if words[1] == "apply":
                self.assertIn("No changes", self.type(line, folder=folder), "again: no changes")
            if words[1] == "ssh":
                self.assertIn("node 42", shown)
                self.assertIn("worker[1]", self.type("radlc show", folder=folder))
                self.assertIn("accuracy", self.type("radlc output", folder=folder))
                self.assertIn("worker[0]", self.type("radlc logs", folder=folder))
            if words[1] == "plan":
                self.assertIn("Plan: ", shown)
        self.assertEqual(made, ["demo", "check", "plan", "apply", "ssh", "destroy"])
        self.assert_nothing_left("examples/mine/.radl")


    def test_its_file_compiles_and_its_plan_is_what_radlc_prints(self):
        text = (SOURCE / "README.md").read_text()
        self.write("train.radl", re.search(r"^```radl\n(.*?)^```", text, re.M | re.S)[1])
        line, shown = re.search(r"^```console\n\$ radlc (.*?)\n(.*?)^```", text, re.M | re.S).groups()
        self.environment.update(AWS_REGION="eu-west-1")
        printed = self.radlc(*line.split()).splitlines()
        wrong = [each for each in shown.splitlines() if each != "..." and each not in printed]
        self.assertEqual(wrong, [], "\n".join(printed))


class Pages(RadlCase):
    """Every `radlc ...` that a page prints has a command and options that there are."""

    def help_of(self, *words):
        return self.radlc(*words, "--help", code=None)

    def printed(self, page):
        text = page.read_text()
        lines = re.findall(r"^(?: {4}|\$ )(?:sudo )?((?:radlc|radl-train) .*)$", text, re.M)
        for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
            lines += re.findall(r"^\s*(?:\$ )?((?:radlc|radl-train) .*)$", block, re.M)
        spans = [span for part in re.split(r"\n\s*\n|\n(?=- |\|)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
                 for span in re.findall(r"`([^`]+)`", part)]
        lines += [" ".join(span.split()) for span in spans if re.match(r"(radlc|radl-train) ", span)]
        return sorted({re.sub(r"\s+#.*$", "", line) for line in lines})

    def test_commands_and_options_exist(self):
        known = {"radlc": self.help_of(), "radl-train": subprocess.run([BUILD / "bin" / "radl-train", "--help"], capture_output=True,
                                                                       text=True, check=True).stdout}
        known = {program: {(): text} for program, text in known.items()}
        pages = [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "examples").rglob("*.md")]
        seen, wrong = 0, []
        for page in pages:
            if page.name == "results.md":  # of earlier builds
                continue
            for line in self.printed(page):
                program, *words = line.split()
                helps = known[program]
                name = ()
                if words[0] == "--server" and len(words) > 2:  # of radlc itself, before the command
                    words = words[2:]
                for word in words:
                    commands = re.findall(r"^  ([a-z][a-z0-9-]+) ", helps[name], re.M)
                    if not re.fullmatch(r"[a-z][a-z0-9-]+", word) or word not in commands:
                        break
                    name += (word,)
                    if name not in helps:
                        helps[name] = subprocess.run([BUILD / "bin" / program, *name, "--help"], capture_output=True, text=True,
                                                     check=True).stdout
                where = f"{page.relative_to(SOURCE)}: {line}"
                if not name and not re.match(r"(JOB|[\w./-]+\.json|COMMAND|-)", words[0]):
                    wrong.append(where)
                for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z]\b)", " ".join(words).partition(" -- ")[0].partition(" '")[0]):
                    if not re.search(rf"(?<![\w-]){option}(?![\w-])", helps[name] + helps[()]):
                        wrong.append(f"{where}: {option}")
                seen += 1
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 150)


class Help(RadlCase):
    """What --help prints fits a terminal, and shows a command that works."""

    def commands(self, program, *words):
        text = subprocess.run([BUILD / "bin" / program, *words, "--help"], capture_output=True, text=True, env=self.environment).stdout
        yield words, text
        for heading, block in re.findall(r"^(\w+):\n((?:  .*\n)+)", text, re.M):
            for name in re.findall(r"^  ([a-z][a-z0-9-]+) ", block, re.M) if heading not in ("Options", "Positionals") else ():
                yield from self.commands(program, *words, name)

    def test_lines_fit_and_each_command_has_an_example(self):
        for program in ("radlc", "radl-train"):
            wide, options, found = [], 0, 0
            for words, text in self.commands(program):
                wide += [f"{' '.join(words)}: {line}" for line in text.splitlines() if len(line) > 100]
                if len(words) != 1:
                    continue
                found += 1
                example = re.search(rf"^Example: {program} (.*)$", text, re.M)[1].split()
                self.assertEqual(example[0], words[0])
                self.assertNotIn("First steps", text)
                all_of_it = "".join(inner for _, inner in self.commands(program, *words))
                for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(example[1:])):
                    options += 1
                    self.assertRegex(all_of_it, rf"(?<![\w-]){option}(?![\w-])", f"{example}: {option}")
            self.assertEqual(wide, [])
            self.assertGreater(options, 5)
            self.assertGreater(found, 8)

    def test_options_of_the_task_come_first(self):
        names = re.findall(r"^  (?:-\w,)?--([a-z-]+)", self.radlc("apply", "--help", code=None), re.M)
        self.assertLess(max(map(names.index, ("input", "auto-approve", "max-cost"))),
                        min(map(names.index, ("file", "state", "name", "module-path"))))


class Links(unittest.TestCase):
    def test_links_of_pages_resolve(self):
        for page in [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "examples").rglob("*.md")]:
            text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                name, _, anchor = target.partition("#")
                if re.match(r"[a-z]+:", target):
                    continue
                path = (page.parent / name).resolve() if name else page
                self.assertTrue(path.exists(), f"{page.relative_to(SOURCE)}: {target}")
                if anchor and path.suffix == ".md":
                    heads = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
                    anchors = {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower()).replace(" ", "-") for head in heads}
                    self.assertIn(anchor, anchors, f"{page.relative_to(SOURCE)}: {target}")


if __name__ == "__main__":
    unittest.main()
