"""Two clouds in one network: joined, looked at, put right, grown, shrunk, and given back; a training and a program across them."""
import json
import os
import subprocess

from radl_case import SOURCE, RadlCase

FILE = """network lan ( wireguard = 'yes' )
system near (
  net_interface.0.connection = 'lan' and
  net_interface.0.dns_name = 'near-#N#'
)
system far (
  net_interface.0.connection = 'lan' and
  net_interface.0.dns_name = 'far' and
  disk.0.image.url = 'ssh://far'
)
deploy far 1 hosts
deploy near %d local
"""
# Each member sends to all others, by the addresses that radlc tells it, and writes what it has heard.
RING = """import json, os, pathlib, socket
me, members = int(os.environ["RADL_MEMBER"]), os.environ["RADL_ADDRESSES"].split(",")
server = socket.create_server((os.environ["RADL_HOST"], int(os.environ["RADL_PORT"])))
server.settimeout(60)
for one in members:
    host, port = one.rsplit(":", 1)
    for attempt in range(200):
        try:
            with socket.create_connection((host, int(port)), 5) as to:
                to.sendall(f"{me} {os.environ['RADL_HOST']}".encode())
            break
        except OSError:
            if attempt == 199:
                raise
            __import__("time").sleep(0.1)
heard = []
for _ in members:
    with server.accept()[0] as by:
        heard.append(by.makefile().read() + " " + by.getpeername()[0])
pathlib.Path(os.environ["RADL_RESULTS"], f"heard-{me}.json").write_text(json.dumps(sorted(heard)))
"""
ACROSS = """
configure ring ( program 'ring' ( systems = [system.far, system.near], main = 'ring.py', source = 'ring', results = 'heard', collect = 'all' ) )
use 'std/training/parameter_server' as small (
  servers = system.far, workers = system.near, model = 'logistic', learning_rate = 0.02, dataset = 'cifar10'
  source = 'subset', mode = 'async', batch_size = 50, epochs = 1, result = 'result'
)
"""
# Machine and this computer, as they see each other.
FAR, HERE = "198.51.100.9", "198.51.100.1"
LOOK = "wg show wg-lan; cat /etc/hosts"


class FarMachine:
    """An SSH server in a network of its own, with /etc, /run and a home of its own."""

    def __init__(self, folder, user_key):
        self.folder = folder / "far"
        self.home = self.folder / "home"
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        (self.home / ".ssh" / "authorized_keys").write_text(user_key)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "host_key")], check=True)
        self.host_key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        (self.folder / "sshd_config").write_text(
            f"ListenAddress 0.0.0.0:22\nHostKey {self.folder}/host_key\nPidFile none\n"
            f"AuthorizedKeysFile {self.home}/.ssh/authorized_keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"PermitRootLogin prohibit-password\nMaxStartups 200\nUseDNS no\nSetEnv HOME={self.home}\n"
            "Subsystem sftp /usr/lib/openssh/sftp-server\n"
            'ForceCommand cd "$HOME" && exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n')
        script = (f"mount --make-rprivate / && mount -t tmpfs layers {self.folder}/layers && cd {self.folder}/layers && mkdir upper work && "
                  "mount -t overlay -o lowerdir=/etc,upperdir=$PWD/upper,workdir=$PWD/work etc /etc && mount -t tmpfs run /run && mkdir /run/sshd && "
                  "ip link set lo up && echo made && read -r go && ip link set far up && "
                  f"ip address add {FAR}/24 dev far && exec /usr/sbin/sshd -D -f {self.folder}/sshd_config -E {self.folder}/log")
        (self.folder / "layers").mkdir()
        self.server = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.server.stdout.readline() == "made\n"
        for command in (f"link add here type veth peer name far netns {self.server.pid}", f"address add {HERE}/24 dev here", "link set here up"):
            subprocess.run(["ip", *command.split()], check=True)
        self.server.stdin.write("go\n")
        self.server.stdin.close()

    def listens(self):
        log = self.folder / "log"
        return log.exists() and "Server listening" in log.read_text()

    def run(self, command, check=True):
        done = subprocess.run(["nsenter", "-t", str(self.server.pid), "--net", "--mount", "sh", "-c", command], capture_output=True, text=True, check=False)
        if check:
            assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def stop(self):
        self.run("wg-quick down wg-lan", check=False)
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()


class Joined(RadlCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / "id")], check=True)
        self.far = FarMachine(self.folder, (self.folder / "id.pub").read_text())
        self.addCleanup(subprocess.run, ["ip", "link", "delete", "here"], check=False, capture_output=True)
        self.wait_until(self.far.listens)
        self.environment["RADL_SSH_CONFIG"] = str(self.write(
            "ssh_config", f"Host far\n  HostName {FAR}\n  User root\nHost *\n  IdentityFile {self.folder}/id\n  IdentitiesOnly yes\n"
            f"  IdentityAgent none\n  UserKnownHostsFile {self.folder}/known_hosts\n"))
        self.write("known_hosts", f"{FAR} {self.far.host_key}\n")

    def tearDown(self):
        self.far.stop()
        super().tearDown()

    def on(self, node, command, code=0):
        return self.radlc("ssh", self.file, node, command, code=code)

    def meets(self, node, name):
        """A port that nobody listens at is refused by the machine itself. The first packets may be lost while keys are agreed upon."""
        def answers():
            done = subprocess.run([os.environ["RADL_BUILD"] + "/bin/radlc", "ssh", str(self.file), node, f"timeout 5 bash -c '</dev/tcp/{name}/9' 2>&1 | grep -q refused"],
                                  cwd=self.folder, env=self.environment, capture_output=True, check=False)
            return done.returncode == 0
        self.wait_until(answers, 60, lambda: f"{node} does not reach {name}\n" + self.on(node, LOOK) + self.far.run(LOOK))

    def test_two_clouds_in_one_network(self):
        hosts_before = self.far.run("cat /etc/hosts")
        self.file = self.write("two.radl", FILE % 2)
        plan = self.plan(self.file)
        self.assertFalse([note for note in plan.get("notes", []) if "several clouds" in note])
        self.radlc("apply", "--auto-approve", self.file, timeout=600)
        # The clouds' own addresses do not reach so far: what is between translates them.
        for node, name in (("near[0]", "far.lan"), ("near[1]", "far.lan"), ("near[0]", "near-2.lan"), ("far[0]", "near-1.lan"), ("far[0]", "near-2.lan")):
            with self.subTest(node=node, name=name):
                self.meets(node, name)
        self.assertEqual(self.actions(self.file), {})
        self.assertEqual(self.actions(self.file, "--refresh"), {}, "what was joined is as wanted")

        # The private keys are on their nodes alone.
        for key in (self.far.run("cat /etc/wireguard/wg-lan.key").strip(), self.on("near[0]", "cat /etc/wireguard/wg-lan.key").strip()):
            self.assertGreater(len(key), 40)
            for path in (self.folder / ".radl").rglob("*"):
                if path.is_file() and "/view/" not in str(path):
                    self.assertNotIn(key.encode(), path.read_bytes(), path)
        self.assertEqual(self.far.run("stat -c %a /etc/wireguard/wg-lan.key /etc/wireguard/wg-lan.conf").split(), ["600", "600"])

        # Behind its back.
        peer = self.far.run("wg show wg-lan peers").split()[0]
        self.far.run(f"wg set wg-lan peer {peer} remove")
        self.assertEqual(self.actions(self.file, "--refresh"), {"far[0]/network.lan": "run"})
        self.radlc("apply", "--auto-approve", "--refresh", self.file, timeout=600)
        self.assertIn(peer, self.far.run("wg show wg-lan peers"))

        # Nodes come and go.
        started = self.far.run("stat -c %Y /proc/$(pgrep -f 'wireguard-go-[^ ]*/wireguard wg-lan' | head -n 1) 2>/dev/null || echo kernel")
        self.file.write_text(FILE % 3)
        self.radlc("apply", "--auto-approve", self.file, timeout=600)
        self.meets("near[2]", "far.lan")
        self.meets("near[0]", "near-3.lan")
        self.assertEqual(len(self.far.run("wg show wg-lan peers").split()), 3)
        self.assertEqual(self.far.run("stat -c %Y /proc/$(pgrep -f 'wireguard-go-[^ ]*/wireguard wg-lan' | head -n 1) 2>/dev/null || echo kernel"), started,
                         "the interface stays up while peers come")
        self.file.write_text(FILE % 1)
        self.radlc("apply", "--auto-approve", self.file, timeout=600)
        self.assertEqual(len(self.far.run("wg show wg-lan peers").split()), 1)
        self.meets("near[0]", "far.lan")
        self.assertEqual(self.actions(self.file, "--refresh"), {})

        self.radlc("destroy", "--auto-approve", self.file, timeout=600)
        self.assertEqual(self.far.run("ls /etc/wireguard; ip -o link show wg-lan 2>/dev/null", check=False), "")
        self.assertEqual(self.far.run("cat /etc/hosts"), hosts_before)
        self.assertFalse((self.far.home / ".radl").exists())

    def test_a_program_and_a_training_across_two_clouds(self):
        self.write("ring/ring.py", RING)
        self.environment["RADL_CIFAR10_SUBSET"] = str(SOURCE / "examples/cifar10/subset")
        joined = FILE % 2 + ACROSS
        self.file = self.write("across.radl", "radl 2\n" + joined.replace(" and\n", "\n"))
        self.radlc("apply", "--auto-approve", self.file, timeout=800)
        report = json.loads((self.folder / "result/report.json").read_text())
        self.assertGreater(report["curve"][-1]["test_accuracy"], 0.12)
        said = sorted((self.folder / "heard").rglob("heard-*.json"))
        self.assertEqual([path.name for path in said if path.parent.name != "heard"], [f"heard-{member}.json" for member in range(3)], said)
        for path in said:
            heard = json.loads(path.read_text())
            self.assertEqual([one.split()[0] for one in heard], ["0", "1", "2"])
            for one in heard:
                _, said, seen = one.split()
                self.assertEqual(said, seen, "nobody translates addresses within the network")
                self.assertTrue(seen.startswith("10.213."), one)
        self.assertEqual(self.actions(self.file), {})
        self.radlc("destroy", "--auto-approve", self.file, timeout=600)

    def test_an_interface_of_somebody_elses_is_left_alone(self):
        self.far.run("mkdir -p /etc/wireguard && echo '# mine' > /etc/wireguard/wg-lan.conf")
        self.file = self.write("two.radl", FILE % 1)
        self.radlc("apply", "--auto-approve", self.file, code=None, timeout=600)
        self.assertIn("that radlc has not made", self.err)
        self.radlc("destroy", "--auto-approve", self.file, timeout=600)
        self.assertEqual(self.far.run("cat /etc/wireguard/wg-lan.conf; ls /etc/wireguard"), "# mine\nwg-lan.conf\n")
