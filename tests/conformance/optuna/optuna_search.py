"""std/farm/search with Optuna: conditional, logarithmic and stepped parameters, a killed radlc, earlier searches, samplers."""
import json
import signal
import unittest

from radl_case import RadlCase

FILE = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/search' as hpo (
  nodes = system.worker
  main = 'trial.sh'
  space = {
    kind = ['near', 'far']
    rate = { min = 0.0001, max = 1, log = yes }
    layers = { min = 2, max = 10, step = 4, integer = yes }
    momentum = { min = 0, max = 1, when = { kind = ['near'] } }
  }
  trials = TRIALS, strategy = 'optuna', seed = 5, MORE
  options = { source = './trial', launcher = ['sh'] }
)
"""
# The best: kind "near", a rate of 0.01, a momentum of 0.5.
TRIAL = """printf '%s' "$RADL_PARAMETERS" | python3 -c '
import json, math, sys
p = json.load(sys.stdin)
loss = abs(math.log10(p["rate"]) + 2) + abs(p.get("momentum", 3) - 0.5) + p["layers"] / 100
print(json.dumps({"loss": loss}))
'
"""


class Optuna(RadlCase):
    def setUp(self):
        super().setUp()
        self.write("trial/trial.sh", TRIAL)

    def search(self, trials, more="sampler = 'TPESampler'"):
        self.file = self.write("search.radl", FILE.replace("TRIALS", str(trials)).replace("MORE", more))

    def apply(self, **options):
        return self.radlc("apply", "--auto-approve", self.file, timeout=600, **options)

    def table(self):
        return json.loads(self.radlc("farm", "table", "--json", self.file))

    def parameters(self):
        return [task["spec"]["parameters"] for task in self.table()]

    def journal(self):
        return "".join(path.read_text() for path in self.found("farms/*/journal.jsonl"))

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()

    def test_each_trial_lies_in_the_space(self):
        self.search(14)
        self.apply()
        trials = self.parameters()
        self.assertEqual(len(trials), 14)
        for trial in trials:
            self.assertEqual("momentum" in trial, trial["kind"] == "near")
            self.assertIn(trial["layers"], (2, 6, 10))
            self.assertTrue(0.0001 <= trial["rate"] <= 1)
        self.assertEqual(len({json.dumps(trial) for trial in trials}), 14)
        self.destroy()

    def test_a_killed_radlc_keeps_its_trials(self):
        self.search(6)
        process = self.start("apply", "--auto-approve", self.file)
        self.wait_until(lambda: self.journal().count('"commit"') >= 2, 200, message="no trial ends")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = self.parameters()
        self.apply()
        self.assertEqual(self.parameters()[:len(before)], before)
        self.assertEqual({task["state"] for task in self.table()}, {"finished"})
        self.destroy()

    def test_it_learns_from_an_earlier_search(self):
        rows = [{"state": "finished", "metrics": {"loss": loss}, "task": f"trial-{i}-{loss}",
                 "spec": {"parameters": {"kind": kind, "rate": 10 ** (-4 + i / 5), "layers": 2, **more}}}
                for i in range(21) for kind, loss, more in (("near", abs(i - 10) / 5, {"momentum": 0.5}), ("far", 5, {}))]
        (self.folder / "old.json").write_text(json.dumps(rows))
        self.search(6, "from = [file('old.json')]")
        self.apply()
        self.assertGreaterEqual(sum(trial["kind"] == "near" for trial in self.parameters()), 4)
        self.destroy()

    def test_other_samplers(self):
        for sampler in ("RandomSampler", "CmaEsSampler"):
            with self.subTest(sampler):
                self.search(3, f"sampler = '{sampler}'")
                self.apply()
                self.assertEqual({task["state"] for task in self.table()}, {"finished"})
                self.destroy()
        self.search(3, "sampler = 'GuessSampler'")
        self.apply(code=2)
        self.assertIn("GuessSampler", self.err)
        self.destroy()


if __name__ == "__main__":
    unittest.main()
