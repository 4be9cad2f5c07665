"""A Slurm cluster of Debian's packages for tests: one controller and two machines, all of them processes of this computer."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NEEDED = ["slurmctld", "slurmd", "sbatch", "munged"]
PLACES = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
MACHINES = ["n0", "n1"]
CONF = """ClusterName=farm
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=2
AccountingStorageType=accounting_storage/none
MaxArraySize={max_array_size}
MinJobAge={min_job_age}
SlurmdTimeout=5
MessageTimeout=5
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=1000
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=1000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=one Nodes=n1 MaxTime=INFINITE State=UP
"""


def why_not():
    if os.geteuid() != 0:
        return "slurmctld and slurmd need root"
    lacking = [name for name in NEEDED if not shutil.which(name, path=PLACES)]
    return "not installed: " + ", ".join(lacking) if lacking else ""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class SlurmCluster:
    def __init__(self, max_array_size=4, min_job_age=300):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
        os.chmod(self.folder, 0o755)  # munge's socket is in it
        for name in ["state", *MACHINES, "bin"]:
            (self.folder / name).mkdir()
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(CONF.format(folder=self.folder, host=socket.gethostname().split(".")[0], ports=free_ports(3),
                                         max_array_size=max_array_size, min_job_age=min_job_age))
        # As a login shell would: radlc finds the commands by `path`, and they find the cluster.
        for name in ["sbatch", "squeue", "scancel", "sinfo", "scontrol", "sacct"]:
            command = self.folder / "bin" / name
            command.write_text(f"#!/bin/sh\nSLURM_CONF={self.conf} exec {shutil.which(name, path=PLACES)} \"$@\"\n")
            command.chmod(0o755)
        self.processes = {}
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.launch("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={key}",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.wait(lambda: (self.folder / "munge.socket").exists())
        self.start_controller()
        for machine in MACHINES:
            self.start_machine(machine)
        self.wait(lambda: self.states() == {machine: "idle" for machine in MACHINES})

    def launch(self, program, *arguments, name=None):
        environment = {"PATH": PLACES, "SLURM_CONF": str(self.conf)}
        with open(self.folder / f"{name or program}.out", "ab") as out:
            self.processes[name or program] = subprocess.Popen([shutil.which(program, path=PLACES), *arguments], env=environment, cwd="/",
                                                               stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def start_controller(self):
        self.launch("slurmctld", "-D")

    def start_machine(self, machine):
        self.launch("slurmd", "-D", "-N", machine, name=machine)

    def kill(self, name):
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def forget(self):
        """The controller has lost its state: it knows no job."""
        self.kill("slurmctld")
        shutil.rmtree(self.folder / "state")
        (self.folder / "state").mkdir()
        self.start_controller()

    def run(self, *words):
        return subprocess.run([str(self.folder / "bin" / words[0]), *words[1:]], capture_output=True, text=True, check=False).stdout

    def resume(self):
        """As an administrator does after the machines were drained."""
        for machine in MACHINES:
            if self.states()[machine].startswith("drain"):
                self.run("scontrol", "update", f"nodename={machine}", "state=resume")

    def states(self):
        return dict(line.split() for line in self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%N %t").splitlines())

    def jobs(self, *states):
        """Lines "ARRAY_INDEX STATE NAME" of all tasks that Slurm knows, or of those in a state."""
        lines = self.run("squeue", "-h", "-r", "-a", "-t", ",".join(states) or "all", "-o", "%i %T %j").splitlines()
        return [line.split() for line in lines]

    def wait(self, holds, seconds=60):
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text(errors="replace")[-3000:] for path in self.folder.glob("*.log"))
                raise AssertionError(f"the Slurm cluster does not come so far\n{logs}")
            time.sleep(0.1)

    def close(self):
        if "slurmctld" in self.processes:
            self.run("scancel", "--full", "--signal=KILL", "-u", "root")
            self.run("scancel", "-u", "root")
        for name in reversed(list(self.processes)):
            self.kill(name)
        mark = str(self.conf).encode()
        for entry in pathlib.Path("/proc").iterdir():  # a machine's jobs outlive it
            try:
                if entry.name.isdigit() and int(entry.name) != os.getpid() and mark in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)
