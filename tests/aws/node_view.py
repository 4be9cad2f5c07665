"""An instance's machine: a real sshd on the instance's own addresses, with a home folder and a host key of its own.

As root, and where the kernel allows it, the server has a copy-on-write view of this computer's files and processes of its own:
what steps do as root changes nothing here, `shutdown` ends the instance, and the usual login names of images exist. Otherwise it is
a server of the own user with another HOME; cloud-init's commands are not run then.
"""
import contextlib
import functools
import getpass
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

IMAGE_USERS = ("admin", "debian", "ubuntu", "ec2-user", "radlc")
SFTP = next((p for p in ("/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server") if os.path.exists(p)), "internal-sftp")

BOOT = r"""#!/bin/sh
set -e
umask 022
D={folder} R={folder}/view/root
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=/,upperdir=$D/view/upper,workdir=$D/view/work" "$R"
mount -t proc proc "$R/proc"
mount --rbind /sys "$R/sys"
mount --rbind /dev "$R/dev"
mount -t tmpfs -o mode=755 tmpfs "$R/run"
mkdir -p "$R/run/sshd" "$R/run/lock"
mount --bind "$D/view/tmp" "$R/tmp"
mkdir -p "$R$D"
mount --bind "$D" "$R$D"
hostname {hostname}
if [ ! -e "$D/view/made" ]; then
  echo {hostname} > "$R/etc/hostname"
  awk -F: -v OFS=: -v home="$D/home" '$3 == 0 {{ $6 = home; $7 = "/bin/sh" }} {{ print }}' /etc/passwd > "$R/etc/passwd"
  for name in {users}; do grep -q "^$name:" "$R/etc/passwd" || echo "$name:*:0:0::$D/home:/bin/sh" >> "$R/etc/passwd"; done
  for program in shutdown poweroff halt; do
    rm -f "$R/usr/sbin/$program" "$R/sbin/$program"
    install -m 0755 "$D/etc/shutdown" "$R/usr/sbin/$program"
  done
  {outfit}
  : > "$D/view/made"
fi
cd "$R"
mkdir -p .radl-old
pivot_root . .radl-old
exec chroot . /bin/sh -c 'cd / && umount -l /.radl-old && rmdir /.radl-old && {{ "$1" & }} && exec "$2" -D -e -f "$3"' sh \
  "$D/etc/first-boot" {sshd} "$D/etc/sshd_config"
"""
# In place of cloud-init: it has run already when it is asked, and left this.
OUTFIT = r"""install -m 0755 "$D/etc/cloud-init" "$R/usr/bin/cloud-init"
  mkdir -p "$R/var/lib/cloud/data" && echo {name} > "$R/var/lib/cloud/data/instance-id" """
# `shutdown [-h|-P] now|+MINUTES`, `shutdown -c`: when the machine goes off, in seconds since the epoch.
SHUTDOWN = r"""#!/bin/sh
minutes=0
for word; do case $word in
  -c) rm -f {folder}/run/shutdown; exit 0 ;;
  +*) minutes=${{word#+}} ;;
esac; done
echo $(( $(date +%s) + 60 * minutes )) > {folder}/run/shutdown
"""
CLOUD_INIT = r"""#!/bin/sh
# cloud-init status [--wait]
while [ "$2" = --wait ] && [ ! -e {folder}/run/cloud-init.done ]; do sleep 0.2; done
[ -e {folder}/run/cloud-init.done ] && echo "status: $(cat {folder}/run/cloud-init.done)" || echo "status: running"
"""
FIRST_BOOT = r"""#!/bin/sh
[ -e {folder}/run/cloud-init.done ] && exit 0
exec > {folder}/run/cloud-init.log 2>&1
HOME={folder}/home; export HOME
result=done
{commands}
echo $result > {folder}/run/cloud-init.done
"""
LOGIN = r"""#!/bin/sh
cd "$HOME" || exit 1
if [ -n "$SSH_ORIGINAL_COMMAND" ]; then exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"; fi
exec /bin/sh
"""
CONFIGURATION = """AddressFamily inet
HostKey {folder}/etc/host_key
PidFile none
AuthorizedKeysFile {folder}/home/.ssh/authorized_keys
StrictModes no
UsePAM no
AuthenticationMethods publickey
PermitRootLogin prohibit-password
AllowUsers {users}
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 200
MaxSessions 200
SetEnv HOME={folder}/home RADL_TEST_NODE={folder} AWS_INSTANCE_ID={name}
"""


@functools.cache
def own_view_works():
    """Whether views of the file system can be made here, tried for real."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory(prefix="radl-view-") as folder:
        script = f"cd {folder} && mkdir u w r && mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w r"
        return subprocess.run(["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "sh", "-c", script],
                              capture_output=True, check=False).returncode == 0


def processes_of(mark):
    """Ids of processes that carry this text in their environment or command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


class NodeView:
    def __init__(self, folder, name, isolated):
        self.folder, self.name, self.isolated = pathlib.Path(folder), name, isolated
        self.user_data = b""  # of the instance, for who reads it (cloud_init_view.py)
        self.process, self.addresses, self._configuration = None, [], ""
        for below in ("etc", "home", "run", "view/upper", "view/work", "view/root", "view/tmp"):
            (self.folder / below).mkdir(parents=True, exist_ok=True)
        (self.folder / "view/tmp").chmod(0o1777)
        key = self.folder / "etc/host_key"
        if not key.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"root@{name}", "-f", key], check=True)

    @property
    def home(self):
        return self.folder / "home"

    @property
    def host_key(self):
        return (self.folder / "etc/host_key.pub").read_text().strip()

    def _script(self, name, text):
        path = self.folder / "etc" / name
        path.write_text(text)
        path.chmod(0o755)

    def start(self, addresses, keys, first_boot=(), hostname=""):
        """`keys` may log in; `first_boot`: shell text that runs once, as cloud-init's commands would."""
        folder, sshd = str(self.folder), shutil.which("sshd") or "/usr/sbin/sshd"
        users = [getpass.getuser()] + ([u for u in ("root",) + IMAGE_USERS if u != getpass.getuser()] if self.isolated else [])
        authorized = self.home / ".ssh/authorized_keys"
        if not authorized.exists():
            authorized.parent.mkdir(mode=0o700)
            authorized.write_text("".join(key.strip() + "\n" for key in keys))
            authorized.chmod(0o600)
        configuration = CONFIGURATION.format(folder=folder, name=self.name, users=" ".join(users))
        if self.isolated:
            configuration += "Subsystem sftp internal-sftp\n"
            self._script("boot", BOOT.format(folder=shlex.quote(folder), hostname=shlex.quote(hostname or self.name), sshd=sshd,
                                             outfit=self._outfit(), users=" ".join(IMAGE_USERS)))
            self._script("shutdown", SHUTDOWN.format(folder=folder))
            self._write_first_boot(first_boot)
            command = ["unshare", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "sh", f"{folder}/etc/boot"]
        else:
            if os.geteuid() == 0:  # sshd insists on it; an init script makes it elsewhere
                os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
            self._script("login", LOGIN)
            configuration += f"Subsystem sftp {SFTP}\nForceCommand /bin/sh {folder}/etc/login\n"
            command = [sshd, "-D", "-e", "-f", f"{folder}/etc/sshd_config"]
        self._configuration = configuration
        begin = self._listen_on(addresses)
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "RADL_TEST_NODE": folder}
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/", env=environment,
                                            start_new_session=True)
        self._wait_for_listener(begin)

    def _outfit(self):
        """Shell text that completes a new machine's files below $R."""
        return OUTFIT.format(name=self.name)

    def _write_first_boot(self, texts):
        """etc/first-boot, which the machine runs beside its sshd."""
        commands = "\n".join(f"( {text}\n) || result=error" for text in texts)
        self._script("cloud-init", CLOUD_INIT.format(folder=self.folder))
        self._script("first-boot", FIRST_BOOT.format(folder=self.folder, commands=commands))

    def listen(self, addresses):
        """The instance has other addresses now; connections that are open stay."""
        begin = self._listen_on(addresses)
        server = self.process.pid
        if self.isolated:  # the only child of `unshare`
            server = int(pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split()[0])
        os.kill(server, signal.SIGHUP)
        self._wait_for_listener(begin)

    @property
    def log(self):
        return self.folder / "run/sshd.log"

    def _listen_on(self, addresses):
        """Where in the log to look for what the server says of it."""
        self.addresses = sorted(addresses)
        lines = "".join(f"ListenAddress {address}:22\n" for address in self.addresses)
        (self.folder / "etc/sshd_config").write_text(lines + self._configuration)
        return self.log.stat().st_size if self.log.exists() else 0

    def _wait_for_listener(self, begin):
        deadline = time.monotonic() + 30
        while self.log.read_bytes()[begin:].count(b"Server listening") < len(self.addresses):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the sshd of {self.name} does not start: {self.log.read_text()[begin:]}")
            time.sleep(0.02)

    def goes_off(self):
        """Whether somebody on the machine has shut it down."""
        try:
            return int((self.folder / "run/shutdown").read_text()) <= time.time()
        except (OSError, ValueError):
            return False

    def stop(self):
        """Ends all of its processes, as a machine that loses its power."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
        with contextlib.suppress(OSError):
            (self.folder / "run/shutdown").unlink()
        mark = f"RADL_TEST_NODE={self.folder}\0".encode()
        for _ in range(100):
            left = processes_of(mark)
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return
            time.sleep(0.05)
