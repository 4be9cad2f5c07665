"""Servers of object stores on loopback, made once and kept: where they come from, and how they start and end."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

# The one place for their versions.
FAKE_GCS = "v1.52.2"  # github.com/fsouza/fake-gcs-server
AZURITE = "3.35.0"  # npm: azurite
LONGEST = 1800  # seconds that one may take to be made


class Unavailable(Exception):
    """A server cannot be had; the text says why."""


def cache():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "radl-tests"
    folder = pathlib.Path(os.environ.get("RADL_TEST_CACHE") or default)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def made(folder, name, tool, command, environment=None):
    """`name` in `folder`, which the command makes; Unavailable where it does not. `command` and `environment` are given the folder that it is
    made in: only what is whole gets its name."""
    if (folder / name).exists():
        return folder / name
    if not shutil.which(tool):
        raise Unavailable(f"no {tool} to make {name} with")
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    part.mkdir()
    try:
        done = subprocess.run([*map(str, command(part))], capture_output=True, text=True,
                              env={**os.environ, **(environment(part) if environment else {})}, timeout=LONGEST, check=False)
        if done.returncode or not (part / name).exists():
            lines = (done.stderr.strip() or done.stdout.strip() or f"{tool} ends with {done.returncode}").splitlines()
            raise Unavailable(f"{name} cannot be made: {lines[-1]}")
        if not (folder / name).exists():
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{name} is not made within {LONGEST} s") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder / name


def fake_gcs():
    return made(cache() / f"fake-gcs-{FAKE_GCS}", "fake-gcs-server", "go",
                lambda _: ["go", "install", f"github.com/fsouza/fake-gcs-server@{FAKE_GCS}"], lambda folder: {"GOBIN": str(folder)})


def azurite():
    return made(cache() / f"azurite-{AZURITE}", "node_modules/.bin/azurite-blob", "npm",
                lambda folder: ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--silent", f"azurite@{AZURITE}"])


class Server:
    """A process that answers at `url` until stop()."""

    def __init__(self, command, folder, url, environment=None, ready="/"):
        self.url, self.folder = url, pathlib.Path(folder)
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen([*map(str, command)], stdout=log, stderr=log, cwd=self.folder, start_new_session=True,
                                            env={**os.environ, **(environment or {})})
        for _ in range(600):
            try:
                urllib.request.urlopen(url + ready, timeout=2).close()
                return
            except urllib.error.HTTPError:  # it answers
                return
            except OSError:
                time.sleep(0.05)
            if self.process.poll() is not None:
                break
        said = (self.folder / "server.log").read_text(errors="replace")[-1500:]
        self.stop()
        raise RuntimeError(f"{command[0]} does not answer: {said}")

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
