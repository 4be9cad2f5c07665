"""What a description says is text, in every place where the language takes text: nothing of it is run on this computer, and
nothing is written outside of the state's folder, as root, with nodes that are isolated and with nodes that are not."""
import json
import os
import pathlib
import re
import unittest

from radl_case import RadlCase

ESCAPE = "\x1b]0;title\x07\x1b[31m\x01\x7f"


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


class HostileText(RadlCase):
    def setUp(self):
        super().setUp()
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        self.project = self.folder / "project"
        self.project.mkdir()
        touch = f"touch {self.outside}/made"
        up = "../" * 24
        self.texts = {
            "quotes": f"a'; {touch}; ' \"; {touch}; \" b",
            "substitution": f"$({touch}) `{touch}` ${{x:-$({touch})}}",
            "separators": f"a; {touch} & {touch} | {touch} || {touch} && {touch} > {self.outside}/made",
            "lines": f"a\n{touch}\n#",
            "options": f"-oProxyCommand={touch}",
            "path": f"{up}{str(self.outside)[1:]}/made",
            "absolute": f"{self.outside}/made",
            "control": ESCAPE + touch,
            "format": "%s%n{0}{}{{#N#}} %h %u \\",
        }
        self.hostname = pathlib.Path("/proc/sys/kernel/hostname").read_text()
        self.etc = {path: path.stat().st_mtime_ns for path in map(pathlib.Path, ("/etc/hosts", "/etc/passwd", "/etc/hostname"))
                    if path.exists()}

    def features(self, kind):
        """The names of a block's features that take a string, from the table that the compiler checks by."""
        section = re.search(rf"^## {kind}\n(.*?)(?=^## |\Z)", self.radlc("doc", "--features"), re.S | re.M).group(1)
        names = []
        for name, takes in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section, re.M):
            if "string" in takes or "any" in takes:
                names.append(name.replace(".N.", ".0.").replace(".I.", ".0.").replace(".*", ".x"))
        self.assertGreater(len(names), 8, kind)
        return [name for name in names if not name.endswith(".connection") and name != "ansible_host"]

    def features_that_pass(self, text):
        """A document with `text` in every feature, less those that the check refuses."""
        left = {"network": self.features("network"), "system": self.features("system")}
        while True:
            lines, at = [], {}
            for kind, name, first in (("network", "lan", ""), ("system", "s", "net_interface.0.connection = 'lan'")):
                lines.append(f"{kind} {name} (")
                items = [first] if first else []
                for feature in left[kind]:
                    at[sum(line.count("\n") + 1 for line in lines + items) + 1] = (kind, feature)
                    items.append(f"{feature} = {quoted(text)}")
                lines += [item + (" and" if i + 1 < len(items) else "") for i, item in enumerate(items)] + [")"]
            document = "\n".join(lines + ["deploy s 1", ""])
            path = self.project / "all.radl"
            path.write_text(document)
            found = json.loads(self.radlc("check", "--json", path, code=None))
            errors = [each for each in found["diagnostics"]
                      if each["severity"] == "error"]
            if not errors:
                return document, sum(map(len, left.values()))
            removed = False
            for each in errors:
                line = max((n for n in at if n <= each["line"]), default=None)
                if line is not None and at[line][1] in left[at[line][0]]:
                    left[at[line][0]].remove(at[line][1])
                    removed = True
            self.assertTrue(removed, errors)

    def assert_nothing_happened(self, what):
        made = list(self.outside.iterdir())
        for path in made:  # so that one failure is not told again by the next text
            path.unlink()
        self.assertEqual(made, [], f"{what}: something was run or written outside")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()
                                if path.name not in ("cache", "outside", "project")), [], what)
        self.assertEqual(pathlib.Path("/proc/sys/kernel/hostname").read_text(), self.hostname, what)
        for path, time in self.etc.items():
            self.assertEqual(path.stat().st_mtime_ns, time, f"{what}: {path} was written")

    def run_all(self, file, *arguments):
        """The life of a project, whatever comes of it."""
        self.radlc("plan", file, *arguments, code=None)
        self.radlc("apply", "--auto-approve", file, *arguments, code=None, timeout=280)
        self.radlc("plan", "--refresh", file, *arguments, code=None)
        self.radlc("output", file, code=None)
        self.radlc("logs", file, code=None)
        self.radlc("ssh", file, "s", "true", code=None)
        self.radlc("destroy", "--auto-approve", file)

    def each_isolation(self):
        for isolation in ("off", "auto") if os.geteuid() == 0 else ("off",):
            self.environment["RADL_LOCAL_ISOLATION"] = isolation
            yield isolation

    def test_features(self):
        for name, text in self.texts.items():
            document, count = self.features_that_pass(text)
            self.assertGreater(count, 20, f"{name}: hardly anything passes the check")
            for isolation in self.each_isolation():
                with self.subTest(text=name, isolation=isolation):
                    (self.project / "all.radl").write_text(document)
                    self.run_all(self.project / "all.radl")
                    self.assert_nothing_happened(f"{name}, isolation {isolation}")

    def test_host_names_are_refused(self):
        for name, text in self.texts.items():
            file = self.write("project/a.radl", "network n ()\nsystem s (net_interface.0.connection = 'n' and "
                              f"net_interface.0.dns_name = {quoted(text)})\ndeploy s 1\n")
            self.radlc("plan", file, code=1)
            self.assertIn("E0307", self.err, name)
            self.assertIn("^", self.err, name)

    def test_names_of_blocks(self):
        for kind in ("network", "system", "configure", "deploy"):
            for name, text in self.texts.items():
                file = self.write("project/a.radl", f"{kind} {text} ()\n")
                self.radlc("apply", "--auto-approve", file, code=None)
                self.assert_nothing_happened(f"{kind} {name}")
                self.radlc("destroy", "--auto-approve", file)

    def recipes(self, text):
        p = quoted(text).replace("${", "$${")
        return f"""radl 2
input given (type = 'string', default = {p}, description = {p})
network lan ()
system s (net_interface.0.connection = 'lan')
configure one (
  file '~/content' (content = {p})
  file '~/given' (content = input.given)
  directory '~/made' ()
  command 'true' (environment contains (A = {p}, B = input.given))
)
configure path (file {p} (content = 'x'))
configure folder (directory {p} ())
configure owner (file '~/owned' (content = 'x', owner = {p}, group = {p}))
configure creates (command 'true' (creates = {p}, directory = {p}))
configure packages (package {p} ())
configure services (service {p} ())
configure users (user {p} (home = {p}, shell = {p}, authorized_keys = [{p}]))
configure downloads (download {p} (url = {p}, sha256 = '{"0" * 64}', timeout = 1s))
configure mounts (mount {p} (device = {p}, fstype = {p}, options = [{p}]))
configure waits (wait_for 'x' (path = {p}, timeout = 1s, every = 1s))
configure urls (wait_for 'y' (url = {p}, timeout = 1s, every = 1s))
configure hosts (wait_for 'z' (port = 1, host = {p}, timeout = 1s, every = 1s))
deploy s 1
output told (value = input.given, description = {p})
contextualize (
  system s configure one
  system s configure RECIPE
)
"""

    def test_recipes_and_inputs(self):
        recipes = re.findall(r"^configure (\w+) ", self.recipes(""), re.M)[1:]
        for name in ("quotes", "substitution", "lines", "options", "path", "control"):
            for isolation in self.each_isolation():
                for recipe in recipes if name in ("quotes", "path") else recipes[::4]:
                    with self.subTest(text=name, isolation=isolation, recipe=recipe):
                        lines = self.recipes(self.texts[name])
                        kept = re.sub(r"^configure (?!one |%s )(\w+) .*?\)\)?\n(?=configure|deploy)" % recipe, "", lines, flags=re.S | re.M)
                        file = self.write("project/a.radl", kept.replace("RECIPE", recipe))
                        self.radlc("apply", "--auto-approve", file, "--input", "given=" + self.texts[name], code=None)
                        self.radlc("destroy", "--auto-approve", file)
                        self.assert_nothing_happened(f"{name}, {recipe}, isolation {isolation}")

    def test_names_of_folders(self):
        """The folder of a project has any name that a file system takes."""
        for name in ("with blank", "a'b\"c", "$(touch made)", "100%", "${HOME}", "a;b&c", "*?[x]", "-dash", "tab\tline\nend", "back\\slash"):
            for isolation in self.each_isolation():
                with self.subTest(name=name, isolation=isolation):
                    file = self.write(f"project/{name}/a.radl", "network n ()\nsystem s (net_interface.0.connection = 'n')\ndeploy s 1\n")
                    control = any(ord(c) < 32 for c in name)
                    self.radlc("apply", "--auto-approve", file, code=2 if control else 0)
                    if control:
                        self.assertIn("control character", self.err)
                    else:
                        self.assertEqual(self.radlc("ssh", file, "s", "echo $((20 + 3))").strip(), "23")
                    self.radlc("destroy", "--auto-approve", file)
                    self.assert_nothing_happened(name)


if __name__ == "__main__":
    unittest.main()
