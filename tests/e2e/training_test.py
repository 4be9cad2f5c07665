"""A training through the whole spine, on the images that the repository carries."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from radl_case import BUILD, SOURCE, RadlCase, long_test, replaced

# The learning rate is near the engine's own for LeNet. Two asynchronous workers do not train well with three times as much: each
# computes its gradient on weights that the other has changed meanwhile, and with momentum that lowers the largest stable rate.
FILE = """radl 2
input workers ( type = 'integer', default = 2, min = 1 )
input epochs ( type = 'integer', default = 4 )
input model ( type = 'text', default = 'logistic' )
network lan ( outbound = 'no' )
system server ( cpu.count >= 1, net_interface.0.connection = 'lan' )
system worker ( cpu.count >= 1, net_interface.0.connection = 'lan' )
deploy server 1
deploy worker input.workers
use 'std/training/parameter_server' as small (
  servers = system.server, workers = system.worker
  model = input.model, learning_rate = 0.005, dataset = 'cifar10', source = 'subset'
  mode = 'async', batch_size = 50, epochs = input.epochs, result = 'result'
)
output model ( value = small.model_path )
output accuracy ( value = small.test_accuracy )
"""


class Training(RadlCase):
    def setUp(self):
        super().setUp()
        self.environment["RADL_CIFAR10_SUBSET"] = str(SOURCE / "examples/cifar10/subset")
        self.file = self.write("train.radl", FILE)

    def apply(self, *arguments, **options):
        return self.radlc("apply", "--auto-approve", self.file, *arguments, **options)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def training_pids(self):
        found = []
        for pid in self.processes():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if b"radl-train" in line.split(b"\0")[0]:
                found.append(pid)
        return found

    def report(self):
        return json.loads((self.folder / "result" / "report.json").read_text())

    def start_training(self, *inputs, timeout=None):
        """An apply that has come to its first training steps, and the log of its events."""
        if timeout:
            self.edit(self.file, ("mode = 'async'", f"mode = 'async', peer_timeout = {timeout}s"))
        log = self.folder / "events.jsonl"
        arguments = [a for i in inputs for a in ("--input", i)]
        if "input.model" in self.file.read_text():
            arguments += ["--input", "model=lenet"]
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log), *arguments)
        self.wait_for_steps(log)
        return process, log

    def end(self, process, log):
        """The training goes on, and ends well: on a fast computer it may have done so already."""
        steps = lambda: len([e for e in self.metrics(log) if e["event"] == "step"])
        seen = steps()
        self.wait_until(lambda: steps() >= seen + 3 or process.poll() is not None, message="no further step")
        out, err = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 0, out + err)

    def metrics(self, log):
        return [e["data"] for e in self.events(log) if e["event"] == "metric"]

    def wait_for_event(self, log, kind, times=1, **fields):
        """Until the log of events has that many of a kind with these fields."""
        self.wait_until(lambda: len([e for e in self.metrics(log) if e["event"] == kind and fields.items() <= e.items()]) >= times,
                        message=lambda: f"no event {kind} {fields}: {self.metrics(log)}")

    def wait_for_task(self, task, other_than=None):
        """Process id of a task of the training ("worker-1")."""
        found = []

        def look():
            for pid in self.training_pids():
                try:
                    line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                except OSError:
                    continue
                if f"job-{task}.json".encode() in line and pid != other_than:
                    found.append(pid)
            return found

        self.wait_until(look, message="no process of " + task)
        return found[0]

    def wait_for_steps(self, log):
        """Until the log of events shows that training steps are being done."""
        self.wait_for_event(log, "step")

    def test_a_model_comes_back_and_again_changes_nothing(self):
        again = ("--input", "epochs=10")
        out = self.apply(*again)
        self.assertIn("test accuracy", out)
        result = self.folder / "result"
        names = [p.name for p in result.rglob("*") if p.is_file()]
        self.assertTrue([n for n in names if n.endswith(".safetensors")], names)
        self.assertTrue([n for n in names if n.endswith(".onnx")], names)
        self.assertTrue([n for n in names if "tfevents" in n], names)
        outputs = json.loads(self.radlc("output", "--file", self.file, "--json"))
        self.assertTrue(pathlib.Path(outputs["model"]["value"]).exists())
        self.assertGreater(outputs["accuracy"]["value"], 0.15)  # ten classes: guessing gives 0.1
        self.assertEqual(self.actions(self.file, *again), {})
        self.assertEqual(self.training_pids(), [])
        self.destroy()

    def test_the_plan_shows_and_keeps_user_files_in_the_folder_of_results(self):
        self.write("result/model/mine.bin", "mine")
        for command in (("plan",), ("apply", "--auto-approve")):
            self.radlc(*command, self.file, code=1)
            self.assertRegex(self.err, "training/small: .*holds 'model', which no training has put there")
        (self.folder / "result/model").rename(self.folder / "result/my-model")
        self.apply("--input", "epochs=1")
        self.write("result/report.json", "my own words")
        self.assertRegex(self.radlc("plan", self.file, "--input", "epochs=2"), "radlc did not write the current content of 'report.json'")
        self.apply("--input", "epochs=2")
        self.assertEqual((self.folder / "result/report.json.~1~").read_text(), "my own words")
        self.assertIn("metrics", self.report())
        self.assertEqual((self.folder / "result/my-model/mine.bin").read_text(), "mine")
        self.destroy()

    def test_without_its_output_the_training_runs_again(self):
        self.apply()
        for path in (self.folder / "result").rglob("*.safetensors"):
            path.unlink()
        planned = self.actions(self.file)
        self.assertEqual([i for i in planned if i.startswith("training/")], list(planned))
        self.assertEqual(len(planned), 1)
        self.destroy()

    def test_another_worker_and_more_epochs_go_on_from_the_last_checkpoint(self):
        self.apply("--input", "workers=2", "--input", "epochs=2")
        before = self.report()["metrics"]["steps"]
        more = ("--input", "workers=3", "--input", "epochs=3")
        plan = self.plan(self.file, *more)
        training = [a for a in plan["actions"] if a["id"].startswith("training/")]
        self.assertEqual(len(training), 1, plan)
        self.assertTrue(training[0]["resume"], training)
        self.assertEqual({a["id"]: a["verb"] for a in plan["actions"] if a["verb"] == "create"}, {"worker[2]": "create"})
        self.apply(*more)
        metrics = self.report()["metrics"]
        self.assertEqual(metrics["resumed_from"], before)
        self.assertEqual(metrics["steps"], before * 3 // 2)
        fewer = [a for a in self.plan(self.file, "--input", "workers=3", "--input", "epochs=1")["actions"]]
        self.assertEqual([a["resume"] for a in fewer], [False])
        self.destroy()

    def test_the_report_tells_of_the_subset_and_of_the_first_step(self):
        out = self.apply("--input", "epochs=1")
        self.assertIn("2000 training images of CIFAR-10's 50000", out)
        self.assertIn("first training step", out)
        report = self.report()
        self.assertIn("subset", report["data"]["note"])
        self.assertGreater(report["apply"]["first_step_seconds"], 0)
        self.destroy()

    def all_reduce(self):
        text = replaced(FILE[:FILE.index("use 'std")], ("deploy server 1\n", "")) + """use 'std/training/all_reduce' as small (
  workers = system.worker, model = 'lenet', learning_rate = 0.005, dataset = 'cifar10', source = 'subset'
  batch_size = 50, epochs = input.epochs, result = 'result'
)
"""
        self.file.write_text(text)

    def test_the_module_train_has_all_strategies(self):
        modes = {"auto": ("auto", 1, 0), "local_steps": ("allreduce", 16, 4), "sync": ("sync", 1, 0)}
        for strategy, expected in modes.items():
            with self.subTest(strategy=strategy):
                self.all_reduce()
                text = replaced(self.file.read_text(), ("all_reduce", "train"), ("batch_size = 50", f"batch_size = 10, strategy = '{strategy}'"))
                self.file.write_text(text)
                out = self.apply("--input", "epochs=1")
                report = self.report()
                sync = report["job"]["sync"]
                self.assertEqual((sync["mode"], sync["local_steps"], sync.get("delay", 0)), expected)
                self.assertEqual(report["metrics"]["steps"], 200)
                self.assertEqual("predicted efficiency" in out, strategy == "auto", out)
                self.destroy()

    def test_all_reduce_continues_without_a_killed_worker_which_rejoins(self):
        self.all_reduce()
        process, log = self.start_training("epochs=40")
        first = self.wait_for_task("worker-1")
        os.kill(first, signal.SIGKILL)
        self.wait_for_event(log, "peer_lost", peer="worker/1")
        self.assertNotEqual(self.wait_for_task("worker-1", other_than=first), first)
        self.wait_for_event(log, "peer_joined", 2, peer="worker/1")
        self.end(process, log)
        self.assertNotIn('"event":"action_retry"', log.read_text())
        self.assertEqual(self.report()["metrics"]["resumed_from"], 0)
        self.destroy()

    def lose_node(self, name):
        """The machine disappears, as a preempted one does."""
        for pid in self.processes():
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
                if f"/nodes/{name}-".encode() in line + pathlib.Path(f"/proc/{pid}/environ").read_bytes() and b"/bin/radlc" not in line:
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        (folder,) = [path for path in self.found(f"{name}-*") if path.parent.name == "nodes"]
        shutil.rmtree(folder)

    def test_a_node_that_disappears_is_replaced_and_its_worker_joins_the_running_training(self):
        self.all_reduce()
        process, log = self.start_training("epochs=2000")
        chief = self.wait_for_task("worker-0")
        self.wait_for_event(log, "peer_joined", peer="worker/1")
        first = self.wait_for_task("worker-1")
        self.lose_node("worker-1")
        self.wait_for_event(log, "member_lost")
        self.wait_for_task("worker-1", other_than=first)
        # The second is the first, told again to whoever joined the training.
        self.wait_for_event(log, "peer_joined", 3, peer="worker/1")
        self.assertEqual(self.wait_for_task("worker-0"), chief, "it was not started again")
        self.assertNotIn('"event":"action_retry"', log.read_text())
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 130, out + err)
        self.destroy()

    def test_scale_drains_a_worker_of_a_running_training(self):
        self.all_reduce()
        self.edit(self.file, ("default = 2, min = 1", "default = 3"), ("default = 4", "default = 2000"))
        process, log = self.start_training()
        chief = self.wait_for_task("worker-0")
        self.wait_for_event(log, "peer_joined", peer="worker/2")
        self.wait_until(lambda: "at_work" not in self.show(self.file), 60, "the lock is not given back")
        self.radlc("scale", self.file, "worker", "2", "-y")
        self.assertEqual([r["address"] for r in self.show(self.file)["resources"] if r.get("system") == "worker"], ["worker[0]", "worker[1]"])
        steps = lambda: len([e for e in self.metrics(log) if e["event"] == "step"])
        seen = steps()
        self.wait_until(lambda: steps() >= seen + 3 or process.poll() is not None, message="no further step")
        self.assertIsNone(process.poll())
        self.assertEqual(self.wait_for_task("worker-0"), chief, "it was not started again")
        self.assertFalse({"action_retry", "member_lost"} & set(log.read_text().split('"')))
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 130, out + err)
        self.destroy()

    def wait_for_free_lock(self):
        self.wait_until(lambda: "at_work" not in self.show(self.file), 60, "the lock is not given back")

    def workers_of_training(self):
        (step,) = [s for s in self.show(self.file)["steps"] if s["id"] == "training/small"]
        return step["nodes"]

    def test_nodes_that_scale_adds_join_the_running_training_and_leave_it(self):
        self.all_reduce()
        self.edit(self.file, ("default = 4", "default = 2000"))
        process, log = self.start_training()
        chief = self.wait_for_task("worker-0")
        self.wait_for_event(log, "peer_joined", peer="worker/1")
        self.wait_for_free_lock()
        out = self.radlc("scale", self.file, "worker", "3", "-y")
        self.assertIn("worker[2] joins the training that runs", out)
        self.wait_for_event(log, "peer_joined", peer="worker/2")
        self.wait_for_event(log, "started", task="worker/2")
        self.assertEqual(self.workers_of_training(), ["worker[0]", "worker[1]", "worker[2]"])
        # One that leaves, in the middle; the others keep their numbers, and a new one gets the free number.
        self.wait_for_free_lock()
        self.radlc("scale", self.file, "worker", "--node", "worker[1]", "-y")
        self.wait_until(lambda: self.workers_of_training() == ["worker[0]", "worker[2]"], 100, "the supervisor does not notice")
        third = self.wait_for_task("worker-2")
        self.wait_for_free_lock()
        joined = len([e for e in self.metrics(log) if e["event"] == "started" and e["task"] == "worker/1"])
        self.radlc("scale", self.file, "worker", "3", "-y")
        self.wait_for_event(log, "started", joined + 1, task="worker/1")
        self.assertEqual(self.wait_for_task("worker-0"), chief, "it was not started again")
        self.assertEqual(self.wait_for_task("worker-2"), third)
        self.assertNotIn('"event":"action_retry"', log.read_text())
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 130, out + err)
        self.destroy()

    def test_scale_lets_nodes_join_a_training_that_nobody_supervises(self):
        self.all_reduce()
        self.edit(self.file, ("default = 4", "default = 2000"))
        self.apply("--detach")
        chief = self.wait_for_task("worker-0")
        out = self.radlc("scale", self.file, "worker", "3", "-y")
        self.assertIn("worker[2] joins the training that runs", out)
        third = self.wait_for_task("worker-2")
        process, log = self.start_training()  # it is joined, with its new worker
        self.wait_for_event(log, "peer_joined", peer="worker/2")
        process.kill()
        process.communicate()
        self.radlc("scale", self.file, "worker", "4", "-y")
        self.wait_for_task("worker-3")
        self.assertEqual((self.wait_for_task("worker-0"), self.wait_for_task("worker-2")), (chief, third))
        self.destroy()

    def test_scale_starts_no_training_that_does_not_run(self):
        self.all_reduce()
        self.edit(self.file, ("default = 4", "default = 2000"))
        self.apply("--detach")
        self.wait_for_task("worker-0")
        for pid in self.training_pids():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.wait_until(lambda: not self.training_pids(), message="a process is left")
        self.radlc("scale", self.file, "worker", "3", "-y")
        self.assertEqual(self.training_pids(), [])
        self.destroy()

    def has_successor(self, log):
        """Worker 1 leads and has written the result, and the training was not started again."""
        self.assertEqual({e["task"] for e in self.metrics(log) if e["event"] == "chief"}, {"worker/1"})
        self.assertNotIn('"event":"action_retry"', log.read_text())
        self.assertEqual(self.report()["task"], "worker/1")
        self.assertTrue((self.folder / "result/model/model.safetensors").exists())

    def test_another_worker_takes_over_from_a_killed_chief_and_its_model_comes_back(self):
        self.all_reduce()
        process, log = self.start_training("epochs=60")
        first = self.wait_for_task("worker-0")
        self.wait_for_event(log, "peer_joined", peer="worker/1")
        os.kill(first, signal.SIGKILL)
        self.wait_for_event(log, "chief", task="worker/1")
        self.wait_for_task("worker-0", other_than=first)
        self.wait_for_event(log, "peer_joined", peer="worker/0")
        self.end(process, log)
        self.has_successor(log)
        self.destroy()

    @long_test
    def test_another_worker_takes_over_when_the_chiefs_node_is_lost(self):
        self.all_reduce()
        process, log = self.start_training("epochs=150")
        self.wait_for_event(log, "peer_joined", peer="worker/1")
        self.lose_node("worker-0")
        self.wait_for_event(log, "chief", task="worker/1")
        self.wait_for_event(log, "member_lost")
        out, err = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 0, out + err)
        self.has_successor(log)
        self.assertEqual(self.report()["metrics"]["epochs"], 150)
        self.destroy()

    @long_test
    def test_the_result_of_a_successor_is_found_without_supervision(self):
        self.all_reduce()
        process, _ = self.start_training("epochs=60")
        process.kill()
        process.communicate()
        os.kill(self.wait_for_task("worker-0"), signal.SIGKILL)
        process, log = self.start_training("epochs=60")
        out, err = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 0, out + err)
        self.has_successor(log)
        self.destroy()

    def test_a_killed_worker_is_started_again(self):
        process, log = self.start_training("epochs=80")
        first = self.wait_for_task("worker-1")
        self.wait_for_event(log, "peer_joined", peer="worker/1")
        os.kill(first, signal.SIGKILL)
        self.assertNotEqual(self.wait_for_task("worker-1", other_than=first), first)
        self.wait_for_event(log, "peer_joined", 2, peer="worker/1")
        self.end(process, log)
        self.destroy()

    def test_a_stopped_worker_is_given_up_and_replaced(self):
        process, log = self.start_training("epochs=80", timeout=2)
        first = self.wait_for_task("worker-1")
        self.wait_for_event(log, "peer_joined", peer="worker/1")
        os.kill(first, signal.SIGSTOP)
        self.assertNotEqual(self.wait_for_task("worker-1", other_than=first), first)
        self.end(process, log)
        lost = [e for e in self.metrics(log) if e["event"] == "peer_lost" and e["peer"] == "worker/1"]
        self.assertEqual(len(lost), 1)
        self.assertLess(lost[0]["after_seconds"], 10)  # the timeout is 2; the machine may be busy
        self.destroy()

    def test_a_killed_server_resumes_from_the_checkpoint(self):
        process, log = self.start_training("epochs=15")
        self.wait_for_event(log, "checkpoint")
        os.kill(self.wait_for_task("ps-0"), signal.SIGKILL)
        self.end(process, log)
        self.assertGreater(self.report()["metrics"]["resumed_from"], 0)
        self.destroy()

    def test_a_killed_second_server_loses_nothing_and_is_started_again(self):
        self.edit(self.file, ("deploy server 1", "deploy server 2"))
        process, log = self.start_training("epochs=60")
        first = self.wait_for_task("ps-1")
        os.kill(first, signal.SIGKILL)
        self.wait_for_event(log, "peer_lost", peer="ps/1")
        self.wait_for_task("ps-1", other_than=first)
        self.wait_for_event(log, "peer_joined", peer="ps/1")
        self.end(process, log)
        self.assertNotIn('"event":"action_retry"', log.read_text())
        self.assertEqual(self.report()["metrics"]["resumed_from"], 0)
        self.assertEqual(self.report()["metrics"]["epochs"], 60)
        self.destroy()

    @long_test
    def test_scale_drains_the_chief_of_a_running_training(self):
        self.all_reduce()
        self.edit(self.file, ("default = 2, min = 1", "default = 3"), ("default = 4", "default = 2000"))
        process, log = self.start_training()
        self.wait_for_event(log, "peer_joined", peer="worker/2")
        self.wait_for_free_lock()
        self.radlc("scale", self.file, "worker", "--node", "worker[0]", "-y")
        self.wait_for_event(log, "chief", task="worker/1")
        self.wait_until(lambda: self.workers_of_training() == ["worker[1]", "worker[2]"], 100, "the supervisor does not notice")
        steps = lambda: len([e for e in self.metrics(log) if e["event"] == "step" and e["task"] == "worker/1" and "eta_seconds" in e])
        seen = steps()
        self.wait_until(lambda: steps() >= seen + 3 or process.poll() is not None, message="no further step")
        self.assertIsNone(process.poll())
        self.assertNotIn('"event":"action_retry"', log.read_text())
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 130, out + err)
        self.destroy()

    def test_radlc_killed_during_training_takes_it_up_again(self):
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log), "--input", "epochs=4", "--input", "model=lenet")
        self.wait_for_steps(log)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.apply("--input", "epochs=4", "--input", "model=lenet")
        self.assertEqual(self.actions(self.file, "--input", "epochs=4", "--input", "model=lenet"), {})
        self.destroy()

    def test_an_edited_training_ends_the_one_that_a_killed_radlc_has_left(self):
        process, _ = self.start_training("epochs=100")
        left = set(self.training_pids())
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.assertTrue(left <= set(self.training_pids()), "it goes on without radlc")
        self.edit(self.file, ("learning_rate = 0.005", "learning_rate = 0.006"))
        planned = {a["id"]: a for a in self.plan(self.file, "--input", "epochs=1")["actions"]}
        self.assertEqual(sorted(planned["training/small"]["ends"]), ["server[0]", "worker[0]", "worker[1]"])
        self.apply("--input", "epochs=1")
        self.assertEqual(left & set(self.training_pids()), set())
        self.destroy()

    def test_destroy_in_the_middle_of_a_training_leaves_nothing(self):
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", str(self.file), "--log-json", str(log), "--input", "epochs=100", "--input", "model=lenet")
        self.wait_for_steps(log)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.destroy()


class EngineAlone(RadlCase):
    """radl-train on a job file, without radlc."""

    def start_engine(self, name, epochs):
        job = {"job": 1, "model": "lenet", "dataset": {"name": "cifar10", "directory": str(SOURCE / "examples/cifar10/subset")},
               "batch_size": 50, "epochs": epochs, "threads": 1, "schedule": {"peak": 0.005}, "augment": {"flip": True},
               "average": 0.9, "checkpoint": {"every_epochs": 0.1, "share": 0}, "progress": name + "/progress.jsonl",
               "directories": {"checkpoint": name + "/checkpoint", "model": name + "/model"}}
        (self.folder / name).mkdir(exist_ok=True)
        file = self.write(name + ".json", json.dumps(job))
        return subprocess.Popen([str(BUILD / "bin" / "radl-train"), str(file)], cwd=self.folder, env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def run_engine(self, name, epochs):
        process = self.start_engine(name, epochs)
        error = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 0, error)
        return (self.folder / name / "model" / "model.safetensors").read_bytes()

    def test_after_a_kill_at_any_time_the_resumed_training_gives_the_same_bits(self):
        whole = self.run_engine("whole", 4)
        progress = self.folder / "killed" / "progress.jsonl"
        for kills in range(1, 4):
            process = self.start_engine("killed", 4)
            deadline = time.time() + 60
            while not progress.exists() or progress.read_text().count('"event":"checkpoint"') < 7 * kills:
                self.assertLess(time.time(), deadline)
                self.assertIsNone(process.poll(), "it ended before it was killed")
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        self.assertEqual(self.run_engine("killed", 4), whole)
        report = json.loads((self.folder / "killed" / "model" / "report.json").read_text())
        self.assertEqual(report["runs"], 4)

    def start_worker(self, index, addresses, **more):
        job = {"job": 1, "model": "lenet", "dataset": {"name": "cifar10", "directory": str(SOURCE / "examples/cifar10/subset")},
               "batch_size": 20, "epochs": 30, "threads": 1, "schedule": {"peak": 0.005}, "sync": {"mode": "allreduce"},
               "cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}, "secrets": "job.key",
               "peer_timeout_seconds": 3, "progress": f"worker-{index}.jsonl", "directories": {"model": "ring"}, **more}
        file = self.write(f"worker-{index}.json", json.dumps(job))
        return subprocess.Popen([str(BUILD / "bin" / "radl-train"), str(file)], cwd=self.folder, env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def lines(self, index, event, **fields):
        progress = self.folder / f"worker-{index}.jsonl"
        said = [json.loads(line) for line in progress.read_text().splitlines() if line.endswith("}")] if progress.exists() else []
        return [line for line in said if line["event"] == event and fields.items() <= line.items()]

    def ring(self, **more):
        with contextlib.ExitStack() as stack:
            taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
            addresses = ["127.0.0.1:%d" % one.getsockname()[1] for one in taken]
        key = self.folder / "job.key"
        key.write_text("6b" * 32)
        key.chmod(0o600)
        members = [self.start_worker(index, addresses, **more) for index in range(3)]
        for member in members:
            self.addCleanup(member.communicate)
            self.addCleanup(member.kill)
        self.wait_until(lambda: self.lines(0, "step"), message="no step")
        return addresses, members

    def end_ring(self, members):
        for member in members:
            error = member.communicate(timeout=200)[1]
            self.assertEqual(member.returncode, 0, error)
        self.assertEqual(self.lines(0, "finished")[0]["step"], 30 * 100)
        self.assertTrue((self.folder / "ring" / "model.safetensors").exists())

    def test_a_ring_continues_without_a_killed_worker_and_with_its_successor(self):
        for options in ({}, {"sync": {"mode": "allreduce", "local_steps": 8, "delay": 2}}, {"sync": {"mode": "auto"}}):
            with self.subTest(**options):
                addresses, members = self.ring(**options)
                members[1].kill()
                self.wait_until(lambda: self.lines(0, "peer_lost", peer="worker/1"), message="the chief does not miss it")
                steps = len(self.lines(0, "step"))
                self.wait_until(lambda: len(self.lines(0, "step")) > steps, message="no step without it")
                members[1] = self.start_worker(1, addresses, **options)
                self.addCleanup(members[1].communicate)
                self.addCleanup(members[1].kill)
                self.wait_until(lambda: len(self.lines(0, "peer_joined", peer="worker/1")) == 2, message="it does not join")
                self.end_ring(members)
                for index in range(3):
                    (self.folder / f"worker-{index}.jsonl").unlink()

    def test_a_ring_gives_up_a_stopped_worker(self):
        _, members = self.ring()
        members[2].send_signal(signal.SIGSTOP)
        self.wait_until(lambda: self.lines(0, "peer_lost", peer="worker/2"), message="the chief does not miss it")
        self.end_ring(members[:2])
        members[2].send_signal(signal.SIGCONT)
        members[2].communicate(timeout=60)
        self.assertEqual(members[2].returncode, 2, "it was lost to the others")

    def test_a_stopped_chief_does_not_overwrite_files_of_its_successor(self):
        _, members = self.ring(epochs=10)
        members[0].send_signal(signal.SIGSTOP)
        for member in members[1:]:
            error = member.communicate(timeout=200)[1]
            self.assertEqual(member.returncode, 0, error)
        model = self.folder / "ring" / "model.safetensors"
        written = model.stat().st_mtime_ns
        members[0].send_signal(signal.SIGCONT)
        members[0].communicate(timeout=60)
        self.assertEqual(members[0].returncode, 2, "it was lost to the others")
        self.assertEqual(model.stat().st_mtime_ns, written)


if __name__ == "__main__":
    unittest.main()
