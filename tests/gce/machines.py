"""Binds what Compute Engine says is running to machines that can be logged in to (tests/aws/node_view.py), for as long as it runs."""
import pathlib
import shutil
import threading
import time

from node_view import NodeView, own_view_works
from user_data import understood

IDLE = 0.3  # seconds between two looks while nothing is asked for


class Machines(threading.Thread):
    """`close()` ends every machine. What goes wrong with one is in `errors`."""

    def __init__(self, compute, folder, boots=True):
        super().__init__(daemon=True)
        self.compute, self.folder, self.boots = compute, pathlib.Path(folder), boots
        self.views, self.running, self.errors = {}, set(), []
        self.isolated = own_view_works()
        self._done, self._news, self._lock = threading.Event(), threading.Event(), threading.Lock()
        compute.guest_attributes = self.host_keys
        self.start()

    def news(self):
        self._news.set()

    def run(self):
        while not self._done.is_set():
            self._news.wait(IDLE)
            self._news.clear()
            try:
                seen = self.compute.all_of("instances")
                with self._lock:
                    self._follow(seen)
            except Exception as error:  # the thread must live: the test says what was wrong
                self.errors.append(repr(error))

    @staticmethod
    def _addresses(record):
        found = set()
        for interface in record["networkInterfaces"]:
            found.add(interface["networkIP"])
            found.update(access["natIP"] for access in interface.get("accessConfigs", ()))
        return sorted(found)

    def _follow(self, seen):
        for path, record in seen.items():
            if not record.get("description", "").startswith("radlc "):
                continue  # somebody else's
            here = self._addresses(record)
            if record["status"] == "RUNNING" and path not in self.running and self.boots:
                self.running.add(path)
                self._boot(path, record, here)
            elif path in self.running and record["status"] == "RUNNING" and self.views[path].addresses != here:
                self.views[path].listen(here)
            elif path in self.running and record["status"] == "TERMINATED":
                self.running.discard(path)
                self.views[path].stop()
        for path in [p for p in self.views if p not in seen]:
            self._remove(path)

    def _boot(self, path, record, addresses):
        items = {item["key"]: item["value"] for item in record["metadata"]["items"]}
        _, _, key = items["ssh-keys"].partition(":")
        more, commands, host = understood(items.get("user-data", "").encode())
        name = path.rpartition("/")[2]
        view = self.views.setdefault(path, NodeView(self.folder / name, name, self.isolated))
        view.start(addresses, [key] + more, commands, host)

    def _remove(self, path):
        self.running.discard(path)
        view = self.views.pop(path)
        view.stop()
        shutil.rmtree(view.folder, ignore_errors=True)

    def machine(self, path, seconds=60):
        """The machine of an instance, once it takes logins."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self._lock:
                if path in self.running and path in self.views and self.views[path].process:
                    return self.views[path]
            time.sleep(0.05)
        raise RuntimeError(f"{path} does not boot: {self.errors}")

    def host_keys(self, path):
        """As the guest agent writes them: {type: key}."""
        with self._lock:
            view = self.views.get(path)
        return dict([view.host_key.split()[:2]]) if view else {}

    def close(self):
        self._done.set()
        self._news.set()
        self.join()
        for path in list(self.views):
            self._remove(path)
