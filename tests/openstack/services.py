"""OpenStack's services from Debian's packages: Keystone, Glance, Placement, Neutron, Nova with its fake driver, and Cinder.

Real API servers, databases, policies and schedulers; what is not real is the hypervisor, the switch and the disks. They listen on ports of
their own on loopback, inside the namespaces that `run` has made. What takes longest (databases with their schemas) is made once and kept
in a folder; `python3 services.py --prepare` makes it.
"""
import atexit
import contextlib
import hashlib
import inspect
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HOST = "127.0.0.1"
PASSWORD = "p4ss-of-the-tests"
REGION = "TestRegion"
PORTS = {"mysql": 15306, "rabbit": 15671, "epmd": 15369, "erlang": 15370, "keystone": 15000, "glance": 15292, "placement": 15778,
         "neutron": 15696, "nova": 15774, "cinder": 15776}
# service -> (type, path of its endpoint)
ENDPOINTS = {"keystone": ("identity", "/v3"), "nova": ("compute", "/v2.1"), "placement": ("placement", ""), "glance": ("image", ""),
             "neutron": ("network", ""), "cinder": ("volumev3", "/v3/%(project_id)s")}
PACKAGES = ("keystone", "glance-api", "placement-api", "neutron-server", "nova-api", "nova-conductor", "nova-scheduler", "nova-compute",
            "cinder-api", "cinder-scheduler", "cinder-volume", "rabbitmq-server", "mariadb-server", "uwsgi-plugin-python3",
            "python3-openstackclient")
PAGE = 4  # what a list gives at once: small, so that every test reads pages
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

# Ports are bound without agents: nothing ever plugs into them.
FAKE_SWITCH = '''
from neutron_lib.plugins.ml2 import api


class FakeSwitch(api.MechanismDriver):
    def initialize(self):
        pass

    @property
    def connectivity(self):
        return "l2"

    def bind_port(self, context):
        segment = context.segments_to_bind[0]
        context.set_binding(segment[api.ID], "ovs", {"port_filter": True}, status="ACTIVE")

    def filter_hosts_with_segment_access(self, context, segments, candidate_hosts, agent_getter):
        return set()
'''
# Volumes are records.
FAKE_DISKS = '''
from cinder import interface
from cinder.volume import driver


@interface.volumedriver
class FakeDisks(driver.VolumeDriver):
    def check_for_setup_error(self):
        pass

    def create_volume(self, volume):
        pass

    def create_volume_from_snapshot(self, volume, snapshot):
        pass

    def create_cloned_volume(self, volume, src_vref):
        pass

    def delete_volume(self, volume):
        pass

    def create_snapshot(self, snapshot):
        pass

    def delete_snapshot(self, snapshot):
        pass

    def extend_volume(self, volume, new_size):
        pass

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector=None):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector, **more):
        return {"driver_volume_type": "fake", "data": {"volume_id": volume["id"]}}

    def terminate_connection(self, volume, connector, **more):
        pass

    def copy_image_to_volume(self, context, volume, image_service, image_id, **more):
        pass

    def _update_volume_stats(self):
        self._stats = {"volume_backend_name": "records", "vendor_name": "tests", "driver_version": "1", "storage_protocol": "fake",
                       "total_capacity_gb": 1000, "free_capacity_gb": 1000, "reserved_percentage": 0, "thin_provisioning_support": True,
                       "provisioned_capacity_gb": 0, "max_over_subscription_ratio": 20.0}
'''


def why_not():
    """Why the services cannot run here; "" where they can."""
    state = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *PACKAGES], capture_output=True, text=True,
                           check=False).stdout.split("\n")
    installed = {line.split()[0] for line in state if line.endswith(" installed")}
    missing = [name for name in PACKAGES if name not in installed]
    if missing:
        return f"these packages are not installed: {' '.join(missing)}"
    with open("/proc/meminfo", encoding="ascii") as lines:
        free = {line.split(":")[0]: int(line.split()[1]) for line in lines}["MemAvailable"] // 1024
    return f"the services need 4 GiB of memory, and {free} MiB are free" if free < 4096 else ""


def versions():
    text = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES], capture_output=True, text=True, check=True).stdout
    return hashlib.sha256((text + inspect.getsource(Services.prepare) + repr(PORTS)).encode()).hexdigest()[:16]


class Failed(RuntimeError):
    """A service does not start; the text has the end of its log."""


class Services:
    """All of them, while they run. `folder` is theirs alone."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = {}  # name -> Popen, in the order in which they were started
        for below in ("etc/placement", "log", "mysql", "rabbit", "keystone/fernet-keys", "keystone/credential-keys", "glance", "nova/instances",
                      "neutron", "cinder", "lock", "plugin"):
            (self.folder / below).mkdir(parents=True, exist_ok=True)
        for keys in ("fernet-keys", "credential-keys"):
            (self.folder / "keystone" / keys).chmod(0o700)
        self.environment = {"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8", "HOME": str(self.folder / "rabbit"), "PYTHONPATH": str(self.folder / "plugin"),
                            "PYTHONDONTWRITEBYTECODE": "1", "no_proxy": "*"}
        self._configure()

    # ---- configuration

    def _write(self, name, *sections):
        """sections: (title, {key: value})."""
        text = "".join(f"[{title}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items()) + "\n" for title, values in sections)
        (self.folder / "etc" / name).write_text(text)

    def _configure(self):
        at = self.folder
        database = f"mysql+pymysql://os:{PASSWORD}@{HOST}:{PORTS['mysql']}"
        rabbit = f"rabbit://guest:guest@{HOST}:{PORTS['rabbit']}/"
        keystone = f"http://{HOST}:{PORTS['keystone']}"
        lock = ("oslo_concurrency", {"lock_path": at / "lock"})

        def user(name):
            return {"auth_url": keystone, "auth_type": "password", "project_domain_name": "Default", "user_domain_name": "Default",
                    "project_name": "service", "username": name, "password": PASSWORD}

        def tokens(name):
            return ("keystone_authtoken", {**user(name), "www_authenticate_uri": keystone, "service_token_roles_required": "false"})

        self._write("keystone.conf", ("DEFAULT", {"log_file": at / "log/keystone.log"}), ("database", {"connection": f"{database}/keystone"}),
                    ("token", {"provider": "fernet"}), ("fernet_tokens", {"key_repository": at / "keystone/fernet-keys"}),
                    ("fernet_receipts", {"key_repository": at / "keystone/fernet-keys"}),
                    ("credential", {"key_repository": at / "keystone/credential-keys"}))
        self._write("placement/placement.conf", ("DEFAULT", {"log_file": at / "log/placement.log"}), ("api", {"auth_strategy": "keystone"}),
                    ("placement_database", {"connection": f"{database}/placement"}), tokens("placement"))
        self._write("glance-api.conf", ("DEFAULT", {"bind_host": HOST, "bind_port": PORTS["glance"], "workers": 1,
                                                    "log_file": at / "log/glance.log"}),
                    ("database", {"connection": f"{database}/glance"}),
                    ("glance_store", {"stores": "file", "default_store": "file", "filesystem_store_datadir": at / "glance"}),
                    ("paste_deploy", {"flavor": "keystone", "config_file": "/etc/glance/glance-api-paste.ini"}), lock, tokens("glance"))
        self._write("neutron.conf", ("DEFAULT", {
            "core_plugin": "ml2", "service_plugins": "router", "auth_strategy": "keystone", "transport_url": rabbit, "bind_host": HOST,
            "bind_port": PORTS["neutron"], "api_workers": 1, "rpc_workers": 1, "rpc_state_report_workers": 0, "state_path": at / "neutron",
            "api_paste_config": "/etc/neutron/api-paste.ini", "pagination_max_limit": PAGE, "notify_nova_on_port_status_changes": "true",
            "notify_nova_on_port_data_changes": "true", "log_file": at / "log/neutron.log"}),
                    ("database", {"connection": f"{database}/neutron"}), lock, ("nova", {**user("nova"), "region_name": REGION}),
                    ("placement", {**user("placement"), "region_name": REGION}), tokens("neutron"))
        self._write("ml2.ini", ("ml2", {"type_drivers": "flat,local,vxlan", "tenant_network_types": "vxlan", "mechanism_drivers": "fakeswitch",
                                        "extension_drivers": "port_security"}),
                    ("ml2_type_flat", {"flat_networks": "*"}), ("ml2_type_vxlan", {"vni_ranges": "1:5000"}))
        self._write("nova.conf", ("DEFAULT", {
            "my_ip": HOST, "host": "compute1", "state_path": at / "nova", "instances_path": at / "nova/instances",
            "compute_driver": "fake.FakeDriver", "transport_url": rabbit, "enabled_apis": "osapi_compute", "osapi_compute_listen": HOST,
            "osapi_compute_listen_port": PORTS["nova"], "osapi_compute_workers": 2, "log_dir": at / "log",
            "allow_resize_to_same_host": "true", "block_device_allocate_retries_interval": 1, "vif_plugging_is_fatal": "false", "vif_plugging_timeout": 0}),
                    ("api", {"auth_strategy": "keystone", "max_limit": PAGE}), ("api_database", {"connection": f"{database}/nova_api"}),
                    ("database", {"connection": f"{database}/nova_cell1"}), ("wsgi", {"api_paste_config": "/etc/nova/api-paste.ini"}),
                    ("conductor", {"workers": 1}), ("scheduler", {"workers": 1, "discover_hosts_in_cells_interval": 5}), ("vnc", {"enabled": "false"}),
                    ("glance", {"api_servers": f"http://{HOST}:{PORTS['glance']}"}), ("workarounds", {"skip_cpu_compare_on_dest": "true"}),
                    ("cinder", {"catalog_info": "volumev3::publicURL", "os_region_name": REGION}), lock,
                    ("neutron", {**user("neutron"), "region_name": REGION}), ("placement", {**user("placement"), "region_name": REGION}),
                    ("service_user", {**user("nova"), "send_service_user_token": "true"}), tokens("nova"))
        self._write("cinder.conf", ("DEFAULT", {
            "my_ip": HOST, "host": "disks1", "transport_url": rabbit, "state_path": at / "cinder", "log_dir": at / "log",
            "enabled_backends": "records", "osapi_max_limit": PAGE, "osapi_volume_listen": HOST, "osapi_volume_listen_port": PORTS["cinder"], "osapi_volume_workers": 1,
            "default_volume_type": "__DEFAULT__", "auth_strategy": "keystone",
            "api_paste_config": "/etc/cinder/api-paste.ini", "glance_api_servers": f"http://{HOST}:{PORTS['glance']}"}),
                    ("records", {"volume_driver": "fakedisks.FakeDisks", "volume_backend_name": "records"}),
                    ("database", {"connection": f"{database}/cinder"}), lock, tokens("cinder"))
        plugin = at / "plugin"
        (plugin / "fakeswitch.py").write_text(FAKE_SWITCH)
        (plugin / "fakedisks.py").write_text(FAKE_DISKS)
        information = plugin / "fakeswitch-1.0.dist-info"
        information.mkdir(exist_ok=True)
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: fakeswitch\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text("[neutron.ml2.mechanism_drivers]\nfakeswitch = fakeswitch:FakeSwitch\n")

    # ---- processes

    def _tool(self, *command, **more):
        done = subprocess.run([str(word) for word in command], env={**self.environment, **more}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def _start(self, name, *command, **more):
        with open(self.folder / "log" / f"{name}.out", "ab") as out:
            self.processes[name] = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                    env={**self.environment, **more}, start_new_session=True)

    def _wait(self, name, port, seconds=120):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1):
                return
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.1)
        log = "".join((self.folder / "log" / f"{name}{kind}").read_text(errors="replace")[-1500:] for kind in (".out", ".log")
                      if (self.folder / "log" / f"{name}{kind}").exists())
        raise Failed(f"{name} does not start:\n{log}")

    def _mysql(self):
        self._start("mysql", "mariadbd", "--no-defaults", "--user=root", f"--datadir={self.folder / 'mysql'}", f"--socket={self.folder / 'mysql.sock'}",
                    f"--port={PORTS['mysql']}", f"--bind-address={HOST}", "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", "--skip-sync-frm",
                    "--innodb-doublewrite=0", "--max-connections=500", f"--pid-file={self.folder / 'mysql.pid'}")

    def _rabbit(self):
        at = self.folder / "rabbit"
        (at / "plugins").write_text("[].\n")
        self._start("rabbit", "/usr/lib/rabbitmq/bin/rabbitmq-server", RABBITMQ_MNESIA_BASE=str(at / "mnesia"), RABBITMQ_LOG_BASE=str(at / "log"),
                    RABBITMQ_NODENAME="rabbit@localhost", RABBITMQ_NODE_IP_ADDRESS=HOST, RABBITMQ_NODE_PORT=str(PORTS["rabbit"]),
                    RABBITMQ_DIST_PORT=str(PORTS["erlang"]), ERL_EPMD_PORT=str(PORTS["epmd"]), ERL_EPMD_ADDRESS=HOST,
                    RABBITMQ_ENABLED_PLUGINS_FILE=str(at / "plugins"), RABBITMQ_CONF_ENV_FILE=str(at / "none"),
                    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}")

    def _wsgi(self, name, file, **more):
        # Without the header a client that keeps its connection waits for answers that never come.
        self._start(name, "uwsgi", "--plugins", "python3", "--http-socket", f"{HOST}:{PORTS[name]}", "--wsgi-file", file, "--master", "--processes", "2",
                    "--threads", "4", "--lazy-apps", "--enable-threads", "--die-on-term", "--buffer-size", "65535", "--need-app", "--disable-logging",
                    "--add-header", "Connection: close", **more)

    def prepare(self):
        """Databases, schemas and keys: what is the same each time."""
        etc = self.folder / "etc"
        self._tool("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={self.folder / 'mysql'}", "--auth-root-authentication-method=socket")
        self._mysql()
        self._wait("mysql", PORTS["mysql"])
        names = ("keystone", "placement", "glance", "neutron", "nova_api", "nova_cell0", "nova_cell1", "cinder")
        sql = "".join(f"CREATE DATABASE {name} CHARACTER SET utf8mb3;" for name in names)
        for host in ("%", "localhost"):
            sql += f"CREATE USER 'os'@'{host}' IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON *.* TO 'os'@'{host}';"
        self._tool("mariadb", "--no-defaults", "-S", self.folder / "mysql.sock", "-u", "root", "-e", sql)
        keystone = ["keystone-manage", "--config-file", etc / "keystone.conf"]
        nova = ["nova-manage", "--config-file", etc / "nova.conf"]
        self._tool(*keystone, "db_sync")
        for keys in ("fernet_setup", "credential_setup"):
            self._tool(*keystone, keys, "--keystone-user", "root", "--keystone-group", "root")
        url = f"http://{HOST}:{PORTS['keystone']}/v3"
        self._tool(*keystone, "bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-admin-url", url, "--bootstrap-internal-url", url,
                   "--bootstrap-public-url", url, "--bootstrap-region-id", REGION)
        self._tool("placement-manage", "--config-file", etc / "placement/placement.conf", "db", "sync", OS_PLACEMENT_CONFIG_DIR=str(etc / "placement"))
        self._tool("glance-manage", "--config-file", etc / "glance-api.conf", "db_sync")
        self._tool("neutron-db-manage", "--config-file", etc / "neutron.conf", "--config-file", etc / "ml2.ini", "upgrade", "heads")
        self._tool(*nova, "api_db", "sync")
        database = f"mysql+pymysql://os:{PASSWORD}@{HOST}:{PORTS['mysql']}"
        self._tool(*nova, "cell_v2", "map_cell0", "--database_connection", f"{database}/nova_cell0")
        self._tool(*nova, "cell_v2", "create_cell", "--name=cell1")
        self._tool(*nova, "db", "sync")
        self._tool("cinder-manage", "--config-file", etc / "cinder.conf", "db", "sync")
        self.stop()

    def start(self):
        etc = self.folder / "etc"
        self._mysql()
        self._rabbit()
        self._wait("mysql", PORTS["mysql"])
        self._wsgi("keystone", "/usr/bin/keystone-wsgi-public", OS_KEYSTONE_CONFIG_FILES=str(etc / "keystone.conf"))
        self._wait("keystone", PORTS["keystone"])
        self._register()
        self._wait("rabbit", PORTS["rabbit"])
        self._wsgi("placement", "/usr/bin/placement-api", OS_PLACEMENT_CONFIG_DIR=str(etc / "placement"))
        self._start("glance", "glance-api", "--config-file", etc / "glance-api.conf")
        self._start("neutron", "neutron-server", "--config-file", etc / "neutron.conf", "--config-file", etc / "ml2.ini")
        self._wait("placement", PORTS["placement"])
        for part in ("conductor", "scheduler", "compute"):
            self._start(f"nova-{part}", f"nova-{part}", "--config-file", etc / "nova.conf")
        self._start("nova", "nova-api", "--config-file", etc / "nova.conf")
        self._start("cinder", "cinder-api", "--config-file", etc / "cinder.conf")
        for part in ("scheduler", "volume"):
            self._start(f"cinder-{part}", f"cinder-{part}", "--config-file", etc / "cinder.conf")
        for name in ("glance", "neutron", "nova", "cinder"):
            self._wait(name, PORTS[name])
        self._wait_for_compute()

    def _wait_for_compute(self, seconds=90):
        nova = ["nova-manage", "--config-file", self.folder / "etc/nova.conf", "cell_v2"]
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._tool(*nova, "discover_hosts")
            if "compute1" in self._tool(*nova, "list_hosts"):
                return
            time.sleep(1)
        raise Failed("nova-compute does not show:\n" + (self.folder / "log/nova-compute.log").read_text(errors="replace")[-2000:])

    def _register(self):
        """Users of the services and their endpoints."""
        client = self.keystone()
        service = client.named("projects", "service", domain_id="default")
        admin, reader = client.named("roles", "admin"), client.named("roles", "service")
        known = {one["name"] for one in client.get("services", "services")}
        for name, (kind, path) in ENDPOINTS.items():
            if name == "keystone" or name in known:
                continue
            user = client.named("users", name, domain_id="default", password=PASSWORD)
            for role in (admin, reader):
                client.call("PUT", f"projects/{service}/users/{user}/roles/{role}")
            made = client.call("POST", "services", {"service": {"name": name, "type": kind}})["service"]["id"]
            for interface in ("public", "internal", "admin"):
                client.call("POST", "endpoints", {"endpoint": {"service_id": made, "interface": interface, "region_id": REGION,
                                                               "url": f"http://{HOST}:{PORTS[name]}{path}"}})

    def keystone(self):
        return Keystone(f"http://{HOST}:{PORTS['keystone']}/v3")

    def stop(self):
        """In the opposite order; each by its own id, with its children."""
        for name, process in reversed(list(self.processes.items())):
            if name not in ("mysql", "rabbit"):
                self._signal(process, signal.SIGTERM)
        for name, process in reversed(list(self.processes.items())):
            self._signal(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15 if name == "mysql" else 5)
            self._signal(process, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    @staticmethod
    def _signal(process, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


class Keystone:
    """A few calls of the identity API, as the administrator."""

    def __init__(self, url):
        self.url = url
        scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
        user = {"name": "admin", "domain": {"id": "default"}, "password": PASSWORD}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(self._request("POST", "auth/tokens", body), timeout=30) as answer:
                    self.token = answer.headers["X-Subject-Token"]
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.3)

    def _request(self, method, path, body=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(f"{self.url}/{path}", data, {"Content-Type": "application/json", **headers}, method=method)

    def call(self, method, path, body=None):
        with urllib.request.urlopen(self._request(method, path, body, **{"X-Auth-Token": self.token}), timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else {}

    def get(self, path, key):
        return self.call("GET", path)[key]

    def named(self, what, name, **more):
        """The id of a project, user or role of that name, made where it is not there."""
        for one in self.get(what, what):
            if one["name"] == name:
                return one["id"]
        return self.call("POST", what, {what[:-1]: {"name": name, **more}})[what[:-1]]["id"]


def prepared(cache):
    """A folder with everything that prepare() makes, as a copy of its own."""
    kept = pathlib.Path(cache) / f"openstack-{versions()}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = pathlib.Path(tempfile.mkdtemp(prefix=".openstack-", dir=cache))
        services = Services(made)
        try:
            services.prepare()
        except BaseException:
            services.stop()
            shutil.rmtree(made, ignore_errors=True)
            raise
        for old in kept.parent.glob("openstack-*"):
            shutil.rmtree(old, ignore_errors=True)
        made.rename(kept)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="radl-openstack-"))
    shutil.copytree(kept, folder, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("*.pid", "*.sock", "log"))
    return folder


_shared = []


def shared():
    """The one set of services of this program's tests."""
    if not _shared and os.environ.get("RADL_OPENSTACK_RUNNING"):  # by --stay in this namespace
        _shared.append(Services(os.environ["RADL_OPENSTACK_RUNNING"]))
    if not _shared:
        folder = prepared(os.environ.get("RADL_OPENSTACK_CACHE", "/var/tmp/radl-openstack"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        services = Services(folder)
        atexit.register(services.stop)
        services.start()
        _shared.append(services)
    return _shared[0]


if __name__ == "__main__":
    if reason := why_not():
        print(f"skipped: {reason}")
        sys.exit(77)
    begun = time.monotonic()
    if "--prepare" in sys.argv:
        shutil.rmtree(prepared(os.environ.get("RADL_OPENSTACK_CACHE", "/var/tmp/radl-openstack")))
    else:
        print(f"RADL_OPENSTACK_RUNNING={shared().folder}", flush=True)
    print(f"{time.monotonic() - begun:.0f} s", flush=True)
    if "--stay" in sys.argv:
        signal.pause()
