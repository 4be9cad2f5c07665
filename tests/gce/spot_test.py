"""A spot machine whose end is announced in the middle of a training or program: checkpoint, another machine, and on from there, in one apply."""
import json
import unittest

from gce_case import SYSTEM, GceCase

FILE = f"""radl 2
network lan ( outbound = 'yes' )
system worker ( cpu.count >= 1, spot = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy worker 2 gce
configure train (
  training 'small' (
    workers = system.worker, mode = 'allreduce', model = 'lenet', learning_rate = 0.005
    dataset = 'cifar10', source = 'subset', batch_size = 50, epochs = 20
    checkpoint_epochs = 0, checkpoint_every = 3600, result = 'trained'
  )
)
"""


PROGRAM = f"""radl 2
network lan ( outbound = 'yes' )
system worker ( cpu.count >= 1, spot = 'yes', net_interface.0.connection = 'lan', {SYSTEM} )
deploy worker 2 gce
configure work (
  program 'work' ( systems = system.worker, source = './work', main = 'work.py', retries = 1, results = 'out' )
)
"""
# Goes on from what an earlier start has left on its machine; the first start waits until it is asked to end.
WORK = """import os, pathlib, signal, sys, time
here, results = (pathlib.Path(os.environ[name]) for name in ("RADL_CHECKPOINTS", "RADL_RESULTS"))
(results / "attempt.txt").write_text(str(len(list(here.iterdir()))))
def asked(*_):
    (here / "asked").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, asked)
print("begun", flush=True)
while not (here / "asked").exists():
    time.sleep(0.05)
"""


class Spot(GceCase):
    def test_a_program_is_asked_to_end_and_starts_again_when_its_machine_is_another(self):
        file = self.write("work.radl", PROGRAM)
        self.write("work/work.py", WORK)
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", file, "--log-json", log)
        begun = lambda: json.dumps([e for e in self.events(log) if e["event"] == "output"]).count("begun")
        self.wait_until(lambda: begun() >= 2 or process.poll() is not None, 180)
        self.assertIsNone(process.poll(), "it ended before it was interrupted")
        victim = next(r["id"] for r in self.show(file)["resources"] if r["address"] == "worker[1]")
        self.notices.preempted.add(victim.rpartition("/")[2])
        # On the new machine nothing says that it was asked before: what the chief's has kept ends both.
        self.wait_until(lambda: begun() >= 3 or process.poll() is not None, 240)
        for folder in self.ground.rglob("checkpoints"):
            (folder / "asked").touch()
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(len([line for line in err.splitlines() if "worker[1] was preempted" in line]), 1, err)
        self.assertNotIn(victim, self.ours())
        self.assertEqual(len(self.ours()), 2)
        self.assertEqual((self.folder / "out/attempt.txt").read_text(), "1", "the chief's machine has kept its checkpoint")
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()

    def test_a_machine_whose_end_is_announced_is_replaced_and_the_training_goes_on(self):
        file = self.write("train.radl", FILE)
        log = self.folder / "events.jsonl"
        process = self.start("apply", "--auto-approve", file, "--log-json", log)
        steps = lambda: [e for e in self.events(log) if e["event"] == "metric" and e["data"].get("event") == "step"]
        self.wait_until(lambda: steps() or process.poll() is not None, 180)
        self.assertIsNone(process.poll(), "it ended before it was interrupted")
        victim = next(r["id"] for r in self.show(file)["resources"] if r["address"] == "worker[1]")
        name = victim.rpartition("/")[2]
        self.notices.preempted.add(name)
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(len([line for line in err.splitlines() if "worker[1] was preempted" in line]), 1, err)
        self.assertNotIn(victim, self.ours())
        self.assertEqual(len(self.ours()), 2)
        # The chief went on.
        report = json.loads((self.folder / "trained/report.json").read_text())
        self.assertEqual(report["metrics"]["resumed_from"], 0)
        self.assertEqual({machine for machine, _ in self.notices.requests if machine == name}, {name})
        self.radlc("destroy", "--auto-approve", file, timeout=200)
        self.assert_account_is_as_before()


if __name__ == "__main__":
    unittest.main()
