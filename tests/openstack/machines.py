"""Binds what Nova says is running to machines that can be logged in to (tests/aws/node_view.py), for as long as it runs."""
import base64
import json
import pathlib
import shutil
import threading
import time
import urllib.request

import services
from node_view import NodeView, own_view_works
from user_data import understood

IDLE = 0.5  # seconds between two looks while nothing is asked for


class Machines(threading.Thread):
    """Looks at the servers of a project now and then; `close()` ends every machine. What goes wrong with one is in `errors`."""

    def __init__(self, project, folder, pace=0.05, boots=True):
        super().__init__(daemon=True)
        self.project, self.folder, self.pace, self.boots = project, pathlib.Path(folder), pace, boots
        self.compute = f"http://{services.HOST}:{services.PORTS['nova']}/v2.1"
        self.views, self.running, self.errors = {}, set(), []
        self.isolated = own_view_works()
        self._done, self._news, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self.start()

    def news(self):
        self._news.set()

    def _admin(self, path):
        request = urllib.request.Request(self.compute + path, headers={"X-Auth-Token": self.project.site.admin.auth_token,
                                                                       "X-OpenStack-Nova-API-Version": "2.60"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def _servers(self):
        """Page after page."""
        marker, found = "", {}
        while True:
            page = self._admin(f"/servers/detail?all_tenants=1&project_id={self.project.id}{marker}")
            found |= {s["id"]: s for s in page["servers"]}
            if not page["servers"] or not page.get("servers_links"):
                return found
            marker = f"&marker={page['servers'][-1]['id']}"

    def _addresses(self):
        """Server -> its IPv4 addresses, floating ones included, as Neutron has them: not every kernel has IPv6."""
        ports = {p.id: p for p in self.project.site.admin.network.ports(project_id=self.project.id)}
        found = {}
        for port in ports.values():
            found.setdefault(port.device_id, set()).update(fixed["ip_address"] for fixed in port.fixed_ips if ":" not in fixed["ip_address"])
        for address in self.project.site.admin.network.ips(project_id=self.project.id):
            if address.port_id in ports:
                found.setdefault(ports[address.port_id].device_id, set()).add(address.floating_ip_address)
        return found

    def run(self):
        while True:
            self._news.wait(IDLE)
            self._news.clear()
            if self._done.wait(self.pace):
                return
            try:
                seen = self._servers()
                addresses = self._addresses() if any(s["status"] == "ACTIVE" for s in seen.values()) else {}
            except OSError:
                continue
            try:
                with self._lock:
                    self._follow(seen, addresses)
            except Exception as error:  # the thread must live: the test says what was wrong
                self.errors.append(repr(error))

    def _follow(self, seen, addresses):
        # First what goes: a new machine may have the address of one that is no more, or of one whose port has gone before it.
        for name in [n for n in self.views if n not in seen]:
            self._remove(name)
        for name in [n for n in self.running if n in seen]:
            if seen[name]["status"] == "SHUTOFF" or (seen[name]["status"] == "ACTIVE" and not addresses.get(name)):
                self.running.discard(name)
                self.views[name].stop()
            kept = [one for one in self.views[name].addresses if one in addresses.get(name, ())]
            if name in self.running and seen[name]["status"] == "ACTIVE" and kept and kept != self.views[name].addresses:
                self.views[name].listen(kept)
        for name, record in seen.items():
            here = sorted(addresses.get(name, ()))
            if not record["metadata"].get("radlc:token") or not here:
                continue  # somebody else's, or going
            if record["status"] in ("ACTIVE", "VERIFY_RESIZE") and name not in self.running and self.boots:
                self.running.add(name)
                self._boot(name, record, here)
            elif name in self.running and record["status"] == "ACTIVE" and self.views[name].addresses != here:
                self.views[name].listen(here)

    def _boot(self, name, record, addresses):
        key = self._admin(f"/os-keypairs/{record['key_name']}?user_id={self.project.user_id}")["keypair"]["public_key"]
        data = base64.b64decode(record.get("OS-EXT-SRV-ATTR:user_data") or "")
        more, commands, host = understood(data)
        view = self.views.setdefault(name, NodeView(self.folder / name, name, self.isolated))
        view.start(addresses, [key] + more, commands, host)

    def _remove(self, name):
        self.running.discard(name)
        view = self.views.pop(name)
        view.stop()
        shutil.rmtree(view.folder, ignore_errors=True)

    def machine(self, name, seconds=60):
        """The machine of a server, once it takes logins."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self._lock:
                if name in self.running and name in self.views and self.views[name].process:
                    return self.views[name]
            time.sleep(0.05)
        raise RuntimeError(f"{name} does not boot: {self.errors}")

    def console(self, name):
        with self._lock:
            view = self.views.get(name)
        return f"-----BEGIN SSH HOST KEY KEYS-----\n{view.host_key}\n-----END SSH HOST KEY KEYS-----\n" if view else ""

    def close(self):
        self._done.set()
        self._news.set()
        self.join()
        for name in list(self.views):
            self._remove(name)
