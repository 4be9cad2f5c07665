"""Members of a training are killed or stopped just before their n-th call of a kind, in every mode (kill_points.cc, preloaded).

A member is started again, as radlc does it. Without servers, worker 0 is one like the others: the next one takes over. With two
servers, either of them may be lost, also the one with the chief, and a chief in a process of its own too. A server whose shards have no
complete replica yet ends the job, which is started again as a whole, and so does an only server. However it went, each batch is in one
update, and the model has learned. RADL_LONG_TESTS=1 runs 500 cases in place of a few.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time
import unittest

from radl_case import BUILD, SOURCE, RadlCase

MODES = {"async": {"mode": "async"}, "stale": {"mode": "stale", "staleness": 2}, "sync": {"mode": "sync"},
         "allreduce": {"mode": "allreduce"}, "local": {"mode": "allreduce", "local_steps": 4}}
BATCHES = 120
PATIENCE = 90  # seconds, for what takes two or three


class Case:
    """One run of a job with two workers, and one or two servers if the mode has any."""

    def __init__(self, folder, mode, victim, fault, call, number, environment, servers=2):
        self.folder, self.mode, self.victim = folder, mode, victim
        self.environment = environment
        self.aim = {"LD_PRELOAD": str(BUILD / "tests/libradl_kill_points.so"), "RADL_KILL_AT": str(number), "RADL_KILL_ALL": "1",
                    "RADL_KILL_ONLY": f",{call},", **({"RADL_KILL_STOPS": "1"} if fault == "stop" else {})}
        self.name = f"{mode}, {servers} servers: {fault} {victim} before {call} {number}"
        folder.mkdir()
        key = folder / "job.key"
        key.write_text("6b" * 32)
        key.chmod(0o600)
        ring = mode in ("allreduce", "local")
        # Half of a job does not continue without a chief that is only silent.
        silent = ring and fault == "stop" and victim == "worker/0"
        servers = [] if ring else ["ps/0", "ps/1"] if servers == 2 else ["ps/0"]
        separate = ["chief/0"] if victim == "chief/0" else []
        self.tasks = [*separate, *servers, "worker/0", "worker/1", *(["worker/2"] if silent else [])]
        self.chief = self.tasks[0]
        self.heirs = [task for task in self.tasks if ring or (len(servers) > 1 and not task.startswith("worker"))] or [self.chief]
        self.succeeds = len(self.heirs) > 1
        self.starts = 0
        self.processes = {}

    def choose_ports(self):
        self.addresses = {}
        for task in self.tasks:
            while task not in self.addresses:
                port = random.randint(20000, 31999)
                with socket.socket() as one:
                    try:
                        one.bind(("127.0.0.1", port))
                    except OSError:
                        continue
                if f"127.0.0.1:{port}" not in self.addresses.values():
                    self.addresses[task] = f"127.0.0.1:{port}"

    def start(self, task, aimed=False):
        self.starts += 1
        kind, index = task.split("/")
        cluster = {"worker": [self.addresses[t] for t in self.tasks if t.startswith("worker")]}
        if "chief/0" in self.tasks:
            cluster["chief"] = [self.addresses["chief/0"]]
        if "ps/0" in self.tasks:
            cluster["ps"] = [self.addresses[t] for t in self.tasks if t.startswith("ps")]
        name = f"{kind}-{index}-{self.starts}"
        job = {"job": 1, "model": "logistic", "dataset": {"name": "cifar10", "directory": str(SOURCE / "examples/cifar10/subset")},
               "batch_size": 50, "epochs": BATCHES // 40, "threads": 1, "schedule": {"peak": 0.002}, "sync": MODES[self.mode],
               "cluster": cluster, "task": {"type": kind, "index": int(index)}, "secrets": "job.key", "peer_timeout_seconds": 2,
               "start_timeout_seconds": 30, "progress": f"{name}.jsonl", "checkpoint": {"every_epochs": 0.5, "share": 0},
               "directories": {"checkpoint": f"checkpoint-{kind}-{index}", "model": f"model-{kind}-{index}"} if task in self.heirs else {}}
        (self.folder / f"{name}.json").write_text(json.dumps(job))
        self.log = self.folder / f"{name}.log"
        with self.log.open("w") as log:
            self.processes[task] = subprocess.Popen([str(BUILD / "bin/radl-train"), f"{name}.json"], cwd=self.folder, stdout=log, stderr=log,
                                                    env={**self.environment, **(self.aim if aimed else {})})

    def says(self, event, by=None, **fields):
        for file in self.folder.glob((by or self.chief).replace("/", "-") + "-*.jsonl"):
            for line in file.read_text().splitlines():
                said = json.loads(line) if line.endswith("}") else {}
                if said.get("event") == event and fields.items() <= said.items():
                    return True
        return False

    def is_stopped(self, process):
        try:
            return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        except OSError:
            return False

    def until(self, what, patience=PATIENCE):
        end = time.monotonic() + patience
        while not what():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def require(self, met, what):
        if not met:
            raise AssertionError(f"{self.name}: {what}\n" + "\n".join(f"{f.name}: {f.read_text()[-600:]}" for f in self.folder.glob("*.log")))

    def ended(self, *tasks):
        return all(self.processes[task].poll() is not None for task in tasks)

    def run(self):
        self.choose_ports()
        for task in self.tasks:
            self.start(task, task == self.victim)
        victim, others = self.processes[self.victim], [task for task in self.tasks if task != self.victim]
        self.require(self.until(lambda: victim.poll() is not None or self.is_stopped(victim)), "neither hit nor ended")
        hit = victim.poll() in (None, -signal.SIGKILL)
        if hit and self.victim == self.chief and self.victim == "worker/0":
            return self.succession(victim, others)
        if hit and self.succeeds and not self.victim.startswith("worker"):
            return self.server_loss(victim, others)
        if hit and self.victim == self.chief:
            self.require(self.until(lambda: self.ended(*others)), "its loss does not end the others")
            for task in others:
                self.require(self.processes[task].returncode in (0, 2), f"{task} ended with {self.processes[task].returncode}")
            victim.kill()
            victim.wait()
            self.start_all_again()
        elif hit:
            if victim.poll() is None:  # it may not have come to the chief yet
                self.until(lambda: self.says("peer_lost", peer=self.victim) or self.ended(self.chief), 6)
                victim.kill()
                victim.wait()
            if not self.ended(self.chief):
                self.start(self.victim)
        self.require(self.until(lambda: self.ended(self.chief)), "the job does not end")
        self.require(self.processes[self.chief].returncode == 0, f"the chief ended with {self.processes[self.chief].returncode}")
        self.require_model()
        return hit

    def server_loss(self, victim, others):
        """A server or the chief is lost. The others end the job without it, unless they had no complete replica yet."""
        if victim.poll() is None:  # a pair of servers waits until a silent chief is known to have ended
            heirs = [task for task in self.heirs if task != self.victim]
            self.until(lambda: any(self.says("peer_lost", task, peer=self.victim) for task in heirs) or self.ended(*others), 6)
            victim.kill()
            victim.wait()
        if not self.ended(*others) and self.victim != "chief/0":
            self.start(self.victim)
        self.require(self.until(lambda: self.ended(*others)), "the job does not end")
        if any(self.processes[task].returncode != 0 for task in others):
            self.require(not self.was_complete(), "a complete replica has not taken over")
            for task in self.tasks:
                self.processes[task].kill()
                self.processes[task].wait()
            self.start_all_again()
            self.require(self.until(lambda: self.ended(self.chief)), "the job does not end")
        self.require_model()
        return True

    def start_all_again(self):
        self.choose_ports()
        for task in self.tasks:
            self.start(task)

    def was_complete(self):
        """Replicas are complete long before these: they are copied before the first of 40 batches of an epoch are done."""
        return self.says("checkpoint")

    def require_model(self):
        reports = list(self.folder.glob("model-*/report.json"))
        self.require(reports, "no model")
        metrics = json.loads(reports[-1].read_text())["metrics"]
        self.require(metrics["steps"] == BATCHES, f"{metrics['steps']} batches")
        self.require(metrics["test_accuracy"] > 0.2, f"accuracy {metrics['test_accuracy']}")  # ten classes; undisturbed 0.3

    def succession(self, victim, others):
        """Worker 0 is lost. If the job had not begun, it begins once worker 0 is back; else it ends without it, unless it wrote the model."""
        if victim.poll() is None:
            begun = any(self.folder.glob("worker-0-*.jsonl")) and self.says("step")
            if begun:
                self.require(self.until(lambda: self.ended(*others)), "the others do not end without a silent chief")
            victim.kill()
            victim.wait()
        if not self.ended(*others):
            self.start("worker/0")
            self.require(self.until(lambda: self.ended(*self.tasks)), "the job does not end")
        for task in others:
            self.require(self.processes[task].returncode == 0, f"{task} ended with {self.processes[task].returncode}")
        self.require_model()
        return True

    def clean(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


class ClusterFaults(RadlCase):
    def cases(self):
        if os.environ.get("RADL_LONG_TESTS"):
            chosen = random.Random(7)
            for number in range(500):
                mode, fault = chosen.choice(list(MODES)), chosen.choice(("kill", "stop"))
                chief = "worker/0" if mode in ("allreduce", "local") else "ps/0"
                victim = chosen.choice((chief, "worker/1") if chief == "worker/0" else (chief, chief, "ps/1", "chief/0", "worker/1"))
                call = chosen.choice(("send", "send", "send", "connect", *(("rename", "mkdir") if victim in (chief, "chief/0") else ())))
                yield mode, victim, fault, call, {"connect": chosen.randint(1, 3), "send": int(2 ** chosen.uniform(0, 9))}.get(call, chosen.randint(1, 8)), chosen.choice((1, 2, 2)) if victim == "ps/0" else 2
            return
        for mode in MODES:
            yield mode, "worker/1", "kill", "send", 40, 1
            yield mode, "worker/0" if mode in ("allreduce", "local") else "ps/0", "kill", "send", 60, 1
        for mode in ("async", "stale", "sync"):
            yield mode, "ps/1", "kill", "send", 100, 2
            yield mode, "ps/0", "kill", "send", 200, 2
        yield "async", "ps/1", "stop", "send", 100, 2
        yield "sync", "ps/0", "stop", "send", 200, 2
        yield "async", "ps/0", "kill", "rename", 8, 2  # it writes the model
        yield "sync", "chief/0", "kill", "send", 200, 2
        for mode in ("allreduce", "local"):
            yield mode, "worker/0", "stop", "send", 60, 0
            yield mode, "worker/0", "kill", "rename", 2, 0
        for mode in ("async", "allreduce"):
            yield mode, "worker/1", "stop", "send", 40, 1
            yield mode, "worker/1", "kill", "connect", 1, 1

    def run_case(self, number, case):
        *what, servers = case
        one = Case(self.folder / str(number), *what, self.environment, servers)
        try:
            return one.run()
        finally:
            one.clean()

    def test_each_batch_is_in_one_update_whoever_is_lost(self):
        cases = list(self.cases())
        failed, hits = [], 0
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for future in [pool.submit(self.run_case, number, case) for number, case in enumerate(cases)]:
                try:
                    hits += future.result()
                except AssertionError as failure:
                    failed.append(str(failure))
        self.assertEqual(failed, [], f"{len(failed)} of {len(cases)}")
        self.assertGreater(hits, len(cases) // 2, "the points are not reached")


def has_networks():
    name = f"radl-try-{os.getpid()}"
    made = os.geteuid() == 0 and shutil.which("ip") and subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "delete", name], check=True)
    return made


@unittest.skipUnless(has_networks(), "skipped: needs network namespaces")
class CutOff(RadlCase):
    def ip(self, *words):
        subprocess.run(["ip", *words], check=True)

    def linked_networks(self):
        """Two network namespaces that are linked: 10.213.7.1 and 10.213.7.2."""
        ends = [f"rc{i}-{os.getpid()}" for i in range(2)]
        for end in ends:
            self.ip("netns", "add", end)
            self.addCleanup(self.ip, "netns", "delete", end)
        self.ip("link", "add", ends[0], "netns", ends[0], "type", "veth", "peer", "name", ends[1], "netns", ends[1])
        for i, end in enumerate(ends):
            self.ip("-n", end, "addr", "add", f"10.213.7.{i + 1}/24", "dev", end)
            self.ip("-n", end, "link", "set", end, "up")
            self.ip("-n", end, "link", "set", "lo", "up")
        return ends

    def start_members(self, ends, mode, places, peer_timeout):
        """`places`: by task, the network in which it runs."""
        key = self.folder / "job.key"
        key.write_text("6b" * 32)
        key.chmod(0o600)
        addresses = {task: f"10.213.7.{place + 1}:{20001 + n}" for n, (task, place) in enumerate(places.items())}
        cluster = {}
        for task, address in addresses.items():
            cluster.setdefault(task.split("/")[0], []).append(address)
        members = {}
        for task, place in places.items():
            kind, index = task.split("/")
            name = f"{kind}-{index}"
            heir = kind == "ps" or (task == "worker/0" and "ps" not in cluster)
            job = {"job": 1, "model": "lenet", "dataset": {"name": "cifar10", "directory": str(SOURCE / "examples/cifar10/subset")},
                   "batch_size": 50, "epochs": 10, "threads": 1, "schedule": {"peak": 0.005}, "sync": {"mode": mode},
                   "cluster": cluster, "task": {"type": kind, "index": int(index)}, "secrets": "job.key",
                   "peer_timeout_seconds": peer_timeout, "progress": f"{name}.jsonl", "directories": {"model": f"model-{name}"} if heir else {}}
            file = self.write(f"{name}.json", json.dumps(job))
            with (self.folder / f"{name}.log").open("w") as log:
                members[task] = subprocess.Popen(["ip", "netns", "exec", ends[place], str(BUILD / "bin/radl-train"), str(file)], cwd=self.folder,
                                                 env=self.environment, stdout=log, stderr=log)
            self.addCleanup(members[task].wait)
            self.addCleanup(members[task].kill)
        return members

    def lines_of(self, task):
        file = self.folder / f"{task.replace('/', '-')}.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")] if file.exists() else []

    def cut_off(self, end, one_way):
        if one_way:  # its packets are dropped, those of the others arrive
            self.ip("-n", end, "route", "add", "blackhole", "10.213.7.1/32")
        else:
            self.ip("-n", end, "link", "set", end, "down")

    def end_without(self, mode, places, peer_timeout, one_way=False):
        """The second network is cut off, and the members of the first one end well."""
        ends = self.linked_networks()
        members = self.start_members(ends, mode, places, peer_timeout)
        chief = next(iter(places))
        self.wait_until(lambda: [e for e in self.lines_of(chief) if e["event"] == "step"] or members[chief].poll() is not None, message="no step")
        self.cut_off(ends[1], one_way)
        for task, place in places.items():
            if place == 0:
                self.assertEqual(members[task].wait(timeout=100), 0, (self.folder / f"{task.replace('/', '-')}.log").read_text())
        for process in members.values():
            process.kill()
            process.wait()

    def test_a_machine_that_is_cut_off_is_noticed_before_the_timeout(self):
        self.end_without("allreduce", {"worker/0": 0, "worker/1": 1}, 40)
        lost = [e for e in self.lines_of("worker/0") if e["event"] == "peer_lost"]
        self.assertEqual([e["peer"] for e in lost], ["worker/1"])
        self.assertIn("cannot be reached", lost[0]["message"])  # not: nothing was heard for peer_timeout

    def test_a_worker_that_hears_the_others_but_cannot_send_is_left_out(self):
        self.end_without("allreduce", {"worker/0": 0, "worker/1": 1, "worker/2": 0}, 8, one_way=True)
        self.assertIn("worker/1", [e["peer"] for e in self.lines_of("worker/0") if e["event"] == "peer_lost"])

    def test_servers_continue_without_a_worker_that_cannot_send(self):
        self.end_without("sync", {"ps/0": 0, "ps/1": 0, "worker/0": 0, "worker/1": 1}, 8, one_way=True)
        self.assertIn("worker/1", [e["peer"] for e in self.lines_of("ps/0") if e["event"] == "peer_lost"])

    def test_two_of_three_servers_continue_without_the_chief_that_is_cut_off(self):
        self.end_without("sync", {"ps/0": 1, "ps/1": 0, "ps/2": 0, "worker/0": 0, "worker/1": 0}, 8)
        self.assertEqual(len([e for task in ("ps/1", "ps/2") for e in self.lines_of(task) if e["event"] == "chief"]), 1)
        self.assertTrue(list(self.folder.glob("model-ps-[12]/report.json")))


if __name__ == "__main__":
    unittest.main()
