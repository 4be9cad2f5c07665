"""Swift's own servers from Debian's packages: proxy, accounts, containers, and objects in memory; one replica of each, on loopback."""
import os
import pathlib
import shutil
import subprocess
import urllib.error
import urllib.request

import peers

PROGRAMS = ("swift-proxy-server", "swift-account-server", "swift-container-server", "swift-object-server", "swift-ring-builder")
PACKAGES = "swift-proxy swift-account swift-container swift-object"
USER, KEY = "tests:ana", "swift-secret-of-tests"
PIPELINE = "catch_errors gatekeeper healthcheck cache listing_formats bulk tempurl {auth} copy slo dlo proxy-server"

SERVER = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
workers = 0
user = {user}
log_level = WARNING
log_address = {folder}/no-log
[pipeline:main]
pipeline = {pipeline}
[app:{kind}-server]
use = egg:swift#{app}
{more}
"""
FILTERS = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n{more}" for name, more in (
    ("catch_errors", ""), ("gatekeeper", ""), ("healthcheck", ""), ("listing_formats", ""), ("bulk", ""), ("tempurl", ""), ("copy", ""),
    ("dlo", ""), ("slo", "min_segment_size = 1\n"),
    ("tempauth", f"user_tests_ana = {KEY} .admin\n"))) + "[filter:cache]\npaste.filter_factory = one_process_cache:filter_factory\n"
# In place of memcached: the proxy is one process.
CACHE = """class Cache:
    def __init__(self):
        self.held = {}

    def get(self, key, **_):
        return self.held.get(key)

    def set(self, key, value, **_):
        self.held[key] = value

    def delete(self, key, **_):
        self.held.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.held[key] = max(0, int(self.held.get(key) or 0) + delta)
        return self.held[key]


def filter_factory(_global, **_conf):
    cache = Cache()

    def filtered(app):
        def answer(environ, start):
            environ["swift.cache"] = cache
            return app(environ, start)
        return answer
    return filtered
"""


def program(name):
    """Debian's, whichever Python is first in the PATH."""
    return shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")


class SwiftServer:
    """`auth`: a filter's name and its section; TempAuth where none is given."""

    def __init__(self, folder, auth="tempauth", section="", more=""):
        missing = [name for name in PROGRAMS if not program(name)]
        if missing:
            raise peers.Unavailable(f"no {missing[0]}: apt-get install --no-install-recommends {PACKAGES}")
        self.folder, self.servers = pathlib.Path(folder), []
        (self.folder / "devices/d1").mkdir(parents=True)
        (self.folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = tests\nswift_hash_path_prefix = tests\n")
        ports = {kind: peers.free_port() for kind in ("account", "container", "object", "proxy")}
        for kind in ("account", "container", "object"):
            self.ring(kind, ports[kind])
        try:
            for kind in ("account", "container", "object"):
                self.start(kind, ports[kind], f"{kind}-server", "mem_object" if kind == "object" else kind, "")
            (self.folder / "one_process_cache.py").write_text(CACHE)
            filters = FILTERS + section
            self.proxy = self.start("proxy", ports["proxy"], PIPELINE.format(auth=auth), "proxy",
                                    "account_autocreate = true\nallow_account_management = true\n" + more, filters, ready="/healthcheck")
        except BaseException:
            self.stop()
            raise
        self.url = self.proxy.url

    def ring(self, kind, port):
        builder = self.folder / f"{kind}.builder"
        tool = program("swift-ring-builder")
        for arguments in (["create", "4", "1", "0"], ["add", "--region", "1", "--zone", "1", "--ip", "127.0.0.1", "--port", str(port), "--device", "d1",
                                                      "--weight", "1"], ["rebalance"]):
            subprocess.run([tool, builder, *arguments], check=True, capture_output=True, env=self.plain())

    @staticmethod
    def plain():
        """The environment without a virtual one's Python."""
        return {**{n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "VIRTUAL"))}, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}

    def start(self, kind, port, pipeline, app, more, filters="", ready="/"):
        conf = self.folder / f"{kind}-server.conf"
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        conf.write_text(SERVER.format(port=port, folder=self.folder, pipeline=pipeline, kind=kind, app=app, more=more, user=user) + filters)
        folder = self.folder / f"{kind}.run"
        folder.mkdir()
        server = peers.Server([program(f"swift-{kind}-server"), conf, "-v"], folder, f"http://127.0.0.1:{port}", environment={**self.plain(), "PYTHONPATH": str(self.folder)},
                              ready=ready)
        self.servers.append(server)
        return server

    def stop(self):
        for server in self.servers:
            server.stop()


def login(url):
    """(storage URL, token) of TempAuth."""
    request = urllib.request.Request(url + "/auth/v1.0", headers={"X-Auth-User": USER, "X-Auth-Key": KEY})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["X-Storage-Url"], answer.headers["X-Auth-Token"]
