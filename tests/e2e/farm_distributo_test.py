"""Distributo's words: they write a program, apply it, and destroy it."""
import json
import unittest

from farm_case import FarmCase, write_model_and_images


class Distributo(FarmCase):
    def predictions(self, folder):
        return [json.loads(line)["file"] for line in (self.folder / folder / "predictions.jsonl").read_text().splitlines()]

    def nodes(self):
        return sorted(r["address"] for r in self.show("distributo.radl")["resources"] if r.get("system") == "worker")

    def test_allocate_infer_and_free(self):
        write_model_and_images(self.folder)
        self.radlc("farm", "--allocate-resources", "-n", "2", "-y")
        self.assertEqual(self.nodes(), ["worker[0]", "worker[1]"])
        # Fewer are asked for: the others stay, as in Distributo.
        self.radlc("farm", "-i", "-n", "1", "--model", "model", "--images", "photos", "-s", "4", "-b", "2", "-o", "out", "-y")
        self.assertIn("has 2 instances", self.err)
        self.assertEqual(len(self.nodes()), 2)
        self.assertEqual(self.predictions("out"), [f"./{n}.png" for n in range(8)])
        self.assertEqual(len(self.found("out/inferred-4-8/predictions.jsonl")), 1)
        # It adds a batch, and the rest is as before.
        self.radlc("farm", "-i", "-b", "3", "-y")
        self.assertEqual(self.predictions("out"), [f"./{n}.png" for n in range(10)])
        self.radlc("farm", "--free-resources", "-y")
        self.assert_nothing_left()
        self.assertEqual(self.predictions("out"), [f"./{n}.png" for n in range(10)])
        self.radlc("farm", "-f", "-y")  # the cluster no longer exists

    def test_refused(self):
        for words, said in ((["-i"], "needs --model"), ([], "name a command"), (["-a", "-f"], "no other action"),
                            (["-f", "-n", "2"], "takes only --cluster"), (["-a", "-n", "0"], "--num-instances"),
                            (["-i", "--model", "a'b"], "quotes"), (["status", "-n", "3"], "not an option"), (["-a", "-c", "../x"], "letters, digits")):
            with self.subTest(said):
                self.radlc("farm", *words, "-y", code=1)
                self.assertIn(said, self.err)
        self.assertEqual(self.found("*.radl"), [])

    def test_an_edited_file_is_not_overwritten(self):
        file = self.write("distributo.radl", "radl 2\nsystem worker ()\n")
        self.radlc("farm", "-a", "-y", code=2)
        self.assertIn("radlc apply distributo.radl", self.err)
        self.assertEqual(file.read_text(), "radl 2\nsystem worker ()\n")

    def test_settings_of_another_kind_are_refused(self):
        for settings in ('{"num_instances": "2"}', '{"num_instances": 2, "inference": true}', '[2]', '{"num_instances": 2'):
            with self.subTest(settings):
                file = self.write("distributo.radl", f"radl 2\n# settings: {settings}\n")
                before = file.read_text()
                self.radlc("farm", "-a", "-y", code=2)
                self.assertIn("radlc apply distributo.radl", self.err)
                self.assertEqual(file.read_text(), before)


if __name__ == "__main__":
    unittest.main()
