"""What the end-to-end tests share: a folder of their own, the built radlc, and a look for what is left behind."""
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
SOURCE = pathlib.Path(os.environ["RADL_SOURCE"])
RADLC = BUILD / "bin" / "radlc"


def clean_environment(folder):
    """The own environment without what somebody's shell says to radlc or of a cloud; caches are in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RADL_INPUT_", "AWS_"))}
    return dict(kept, NO_COLOR="1", XDG_CACHE_HOME=str(pathlib.Path(folder) / "cache"))


def replaced(text, *changes):
    """The text with each (old, new) of the changes made. Text that has no `old` fails: the case would test nothing."""
    for old, new in changes:
        if old not in text:
            raise AssertionError(f"{old!r} is not in the text that is to be changed:\n{text}")
        text = text.replace(old, new)
    return text


def found(folder, pattern):
    """Paths below a folder that end as the pattern says; what others remove meanwhile is no error, unlike with rglob."""
    ends = glob.glob(os.path.join("**", pattern), root_dir=folder, recursive=True, include_hidden=True)
    return sorted(pathlib.Path(folder) / end for end in ends)


long_test = unittest.skipUnless(os.environ.get("RADL_LONG_TESTS"), "skipped: takes half a minute or more; RADL_LONG_TESTS=1 runs it")


class RadlCase(unittest.TestCase):
    """Each test gets an empty folder; at its end nothing of it may be alive."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-e2e-"))
        self.environment = clean_environment(self.folder)

    def tearDown(self):
        networks = self.networks()
        left = self.left()
        for pid in left:  # so that one failure does not disturb the tests after it
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for name in networks:
            subprocess.run(["ip", "link", "delete", name], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.assertFalse(networks, f"networks left behind: {networks}")
        self.assertFalse(left, f"processes left behind: {left}")

    def left(self):
        """Ids of processes of this test that do not end by themselves soon: what a program has started ends just after it."""
        deadline = time.monotonic() + 20
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left

    def networks(self):
        """Namespaces and links of isolated nodes of this test that are there now."""
        names = [json.loads(record.read_text()).get("name") for record in self.found("network.json")]
        return [name for name in names
                if name and (os.path.exists(f"/run/netns/{name}") or os.path.exists(f"/sys/class/net/{name}"))]

    def wait_until(self, holds, seconds=60, message="it does not happen"):
        """Asks until it holds. The time bounds a failure; nothing is measured by it."""
        deadline = time.time() + seconds
        while not holds():
            if time.time() > deadline:
                self.fail(message() if callable(message) else message)
            time.sleep(0.05)

    def found(self, pattern):
        return found(self.folder, pattern)

    def events(self, log):
        """The events of --log-json so far; a line that is being written is left for later."""
        return [json.loads(line) for line in log.read_text().rpartition("\n")[0].splitlines()] if log.exists() else []

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def edit(self, path, *changes):
        """Changes a file by (old, new)."""
        path.write_text(replaced(path.read_text(), *changes))

    def start(self, *arguments, wrapper=(), **options):
        return subprocess.Popen([*wrapper, str(RADLC), *map(str, arguments)], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **options)

    def issue(self, user, scope, *options):
        """A new token of the user, of the service in the folder `service`."""
        return self.radlc("serve", "token", "add", "--folder", self.folder / "service", "--user", user, "--scope", scope, *options).strip()

    def radlc(self, *arguments, code=0, timeout=180):
        """Runs radlc to its end; fails with its whole output unless the exit status is `code` (None: any)."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"radlc {' '.join(map(str, arguments))} did not end in {timeout} s\n{out}\n{err}")
        if code is not None and process.returncode != code:
            self.fail(f"radlc {' '.join(map(str, arguments))}: exit status {process.returncode}, not {code}\n{out}\n{err}")
        self.err = err
        return out

    def plan(self, *arguments, **options):
        return json.loads(self.radlc("plan", "--json", *arguments, **options))

    def actions(self, *arguments):
        """{id: verb} of a plan."""
        return {action["id"]: action["verb"] for action in self.plan(*arguments)["actions"]}

    def show(self, *arguments):
        return json.loads(self.radlc("show", "--json", *arguments))

    def processes(self):
        """Ids of processes that belong to this test: its folder stands in their command line, folder or environment."""
        mark = str(self.folder).encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                text += os.readlink(entry / "cwd").encode()
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except (OSError, PermissionError):
                continue
            if mark in text and state != "Z":
                found.append(int(entry.name))
        return found

    def assert_nothing_left(self, state=".radl"):
        """No process, no folder of a node, no state."""
        self.wait_until(lambda: not self.processes(), 60, lambda: f"processes left: {self.processes()}")
        left = [str(p) for p in (self.folder / state).rglob("*") if p.is_file()] if (self.folder / state).exists() else []
        self.assertEqual(left, [])
