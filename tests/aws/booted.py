"""Binds the machines that a cloud of the tests says are running to machines that can be logged in to (node_view.py), for as long as they run."""
import dataclasses
import pathlib
import shutil
import threading
import time

from node_view import NodeView, own_view_works
from user_data import understood

IDLE = 0.3  # seconds between two looks while nothing is asked for


@dataclasses.dataclass
class Shown:
    """What the cloud says of a machine: `state` is "running", "off", or something in between."""
    state: str
    addresses: list
    key: str
    user_data: bytes


class Machines(threading.Thread):
    """`seen()`: {path: Shown} of all machines that are ours. `close()` ends every machine. What goes wrong with one is in `errors`."""

    def __init__(self, seen, folder, boots=True):
        super().__init__(daemon=True)
        self.seen, self.folder, self.boots = seen, pathlib.Path(folder), boots
        self.views, self.running, self.errors = {}, set(), []
        self.isolated = own_view_works()
        self._done, self._news, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self.start()

    def news(self):
        self._news.set()

    def run(self):
        while not self._done.is_set():
            self._news.wait(IDLE)
            self._news.clear()
            try:
                seen = self.seen()
                with self._lock:
                    self._follow(seen)
            except Exception as error:  # the thread must live: the test says what was wrong
                self.errors.append(repr(error))

    def _follow(self, seen):
        # First what goes: a new machine may have the address of one that is no more.
        for path in [p for p in self.views if p not in seen]:
            self._remove(path)
        for path in [p for p in self.running if p in seen and seen[p].state == "off"]:
            self.running.discard(path)
            self.views[path].stop()
        for path, shown in seen.items():
            if shown.state == "running" and path not in self.running and self.boots:
                self.running.add(path)
                self._boot(path, shown)
            elif path in self.running and shown.state == "running" and self.views[path].addresses != shown.addresses:
                self.views[path].listen(shown.addresses)

    def _boot(self, path, shown):
        more, commands, host = understood(shown.user_data)
        name = path.rpartition("/")[2]
        view = self.views.setdefault(path, NodeView(self.folder / name, name, self.isolated))
        view.start(shown.addresses, [shown.key] + more, commands, host)

    def _remove(self, path):
        self.running.discard(path)
        view = self.views.pop(path)
        view.stop()
        shutil.rmtree(view.folder, ignore_errors=True)

    def machine(self, path, seconds=60):
        """The machine behind a path, once it takes logins."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self._lock:
                if path in self.running and path in self.views and self.views[path].process:
                    return self.views[path]
            time.sleep(0.05)
        raise RuntimeError(f"{path} does not boot: {self.errors}")

    def host_key(self, path):
        """An OpenSSH public key line; "" where there is none yet."""
        with self._lock:
            view = self.views.get(path)
        return view.host_key if view else ""

    def close(self):
        self._done.set()
        self._news.set()
        self.join()
        for path in list(self.views):
            self._remove(path)
