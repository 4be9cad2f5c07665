"""The examples of farms as they stand in examples/farm, from nothing to nothing."""
import json
import shutil
import subprocess
import sys
import unittest

from farm_case import FarmCase, write_model
from radl_case import SOURCE


def primes_below(limit):
    sieve = bytearray([0, 0]) + bytearray([1]) * (limit - 2)
    for n in range(2, int(limit ** 0.5) + 1):
        if sieve[n]:
            sieve[n * n::n] = bytes(len(range(n * n, limit, n)))
    return sum(sieve)


class FarmExamples(FarmCase):
    def example(self, name):
        shutil.copytree(SOURCE / "examples" / "farm", self.folder / "farm", dirs_exist_ok=True)
        self.file = self.folder / "farm" / name
        return self.folder / "farm"

    def test_tasks(self):
        folder = self.example("tasks.radl")
        self.apply()
        counts = (folder / "primes-results" / "count.txt").read_text().split()
        self.assertEqual(len(counts), 8)
        self.assertEqual(sum(map(int, counts)), primes_below(8 * 20000))
        self.assertEqual([one["address"] for one in self.show(self.file)["resources"] if one["address"].startswith("worker")], [])
        self.destroy()

    def test_search(self):
        folder = self.example("search.radl")
        self.apply()
        table = self.table()
        self.assertEqual(len(table), 24)
        self.assertIn("stopped", {task["state"] for task in table.values()})
        best = json.loads(self.radlc("farm", "best", self.file))
        self.assertLess(best["metrics"]["loss"], 0.02)
        model = json.loads((folder / "fit-results" / "best" / "model.json").read_text())
        self.assertAlmostEqual(model["weight"], 3, delta=0.1)
        self.destroy()

    def test_inference(self):
        folder = self.example("inference.radl")
        subprocess.run([sys.executable, SOURCE / "examples/own-images/make_images.py", "images"], cwd=self.folder, check=True, capture_output=True)
        write_model(self.folder)
        inputs = ("--input", f"images={self.folder}/images", "--input", f"model={self.folder}/model")
        self.radlc("apply", "--auto-approve", self.file, *inputs)
        lines = [json.loads(line) for line in (folder / "score-results" / "predictions.jsonl").read_text().splitlines()]
        self.assertEqual(len({line["file"] for line in lines}), 300)
        self.assertEqual(len(lines), 300)
        self.assertEqual([line["file"] for line in lines], sorted(line["file"] for line in lines))
        self.radlc("destroy", "--auto-approve", self.file, *inputs)
        self.assert_nothing_left("farm/.radl")


if __name__ == "__main__":
    unittest.main()
