"""Images of one's own through the whole spine: planned, staged, trained, and nothing the second time."""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import unittest

from radl_case import BUILD, SOURCE, RadlCase

EXAMPLE = SOURCE / "examples" / "own-images"


def example_images():
    spec = importlib.util.spec_from_file_location("make_images", EXAMPLE / "make_images.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class OwnImages(RadlCase):
    def setUp(self):
        super().setUp()
        shutil.copy(EXAMPLE / "training.radl", self.folder / "training.radl")
        self.file = self.folder / "training.radl"
        make = example_images()
        for shape in ("circle", "square", "triangle"):
            for number in range(30):
                self.image(f"images/{shape}/{number:03}.png").write_bytes(make.image(shape, number))
        self.quick = ("--input", "epochs=30", "--input", "result=result")

    def image(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def notes(self, *arguments):
        return "\n".join(self.plan(self.file, *self.quick, *arguments)["notes"])

    def staged(self):
        """The dataset's folder on each node: its files by name."""
        found = {}
        for folder in (self.folder / ".radl").rglob("data/*"):
            if folder.is_dir():
                found[str(folder)] = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        return found

    def test_a_folder_becomes_a_model_and_changed_content_trains_again(self):
        self.assertIn("72 + 18 images of 3 classes (circle 30, square 30, triangle 30)", self.notes())
        self.assertIn("none is corrupt", self.notes())
        self.radlc("apply", "--auto-approve", self.file, *self.quick, "--input", "workers=2")
        outputs = json.loads(self.radlc("output", "--file", self.file, "--json"))
        self.assertTrue(pathlib.Path(outputs["model"]["value"]).exists())
        self.assertGreater(outputs["accuracy"]["value"], 0.5)  # three classes: guessing gives 0.33
        shown = subprocess.run([BUILD / "bin" / "radl-train", "predict", pathlib.Path(outputs["model"]["value"]).parent,
                                self.folder / "images/circle/000.png"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(shown, r"000\.png: +(circle|square|triangle) [\d.]+%")
        workers = ("--input", "workers=2")
        self.assertEqual(self.actions(self.file, *self.quick, *workers), {})
        # What does not belong to it changes nothing, nor do other times.
        self.image("images/.DS_Store").write_bytes(b"x")
        (self.folder / "images/circle/000.png").touch()
        self.assertEqual(self.actions(self.file, *self.quick, *workers), {})
        # One image less and one other: the training runs again, and the nodes have what the folder has.
        (self.folder / "images/circle/001.png").unlink()
        self.image("images/square/new.png").write_bytes((self.folder / "images/square/002.png").read_bytes())
        self.assertEqual(self.actions(self.file, *self.quick, *workers), {"training/shapes": "run"})
        self.radlc("apply", "--auto-approve", self.file, *self.quick, *workers)
        staged = self.staged()
        self.assertEqual(len(staged), 2, staged)
        for files in staged.values():
            self.assertNotIn("circle/001.png", files)
            self.assertIn("square/new.png", files)
            self.assertEqual(len(files), 90)
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()
        self.assertEqual(len(list((self.folder / "images").rglob("*.png"))), 90)  # the user's own stay

    def test_an_archive_staged_by_the_module_and_refreshed_without_drift(self):
        shutil.make_archive(str(self.folder / "shapes"), "gztar", self.folder, "images")
        self.edit(self.file, ("use 'std/training", """use 'std/data/dataset' as data (name = './shapes.tar.gz', systems = [system.worker])

use 'std/training"""), ("dataset = input.images", "dataset = data.dataset"))
        self.assertIn("72 + 18 images of 3 classes", self.notes())
        self.radlc("apply", "--auto-approve", self.file, *self.quick)
        self.assertEqual({len(f) for f in self.staged().values()}, {90})
        self.assertEqual(self.plan(self.file, *self.quick, "--refresh")["drift"], [])
        for folder in self.staged():
            victim = next(pathlib.Path(folder).rglob("000.png"))
            victim.chmod(0o644)
            victim.unlink()
        refreshed = self.actions(self.file, *self.quick, "--refresh")
        self.assertIn("worker[0]/data.stage", refreshed)
        self.radlc("destroy", "--auto-approve", self.file)

    def test_of_the_cache_nothing_but_the_data_goes_to_the_nodes_and_a_refresh_finds_no_drift(self):
        self.environment["RADL_CIFAR10_SUBSET"] = str(SOURCE / "examples/cifar10/subset")
        text = self.file.read_text()
        self.file.write_text(text[:text.index("use 'std/training")] + """use 'std/data/dataset' as data (
  name = 'cifar10', source = 'subset', systems = [system.worker]
)
""")
        self.radlc("apply", "--auto-approve", self.file, "--input", "workers=2")
        self.assertEqual(list(self.staged().values()), [{"data_batch_1.bin", "test_batch.bin"}] * 2)
        for _ in range(2):
            plan = self.plan(self.file, "--input", "workers=2", "--refresh")
            self.assertEqual((plan["drift"], plan["actions"]), ([], []))
        self.radlc("destroy", "--auto-approve", self.file)

    def test_corrupt_images_are_named_by_the_plan_refused_or_left_out(self):
        bad = self.image("images/circle/bad.png")
        bad.write_bytes((self.folder / "images/circle/000.png").read_bytes()[:100])
        self.assertIn("1 corrupt: circle/bad.png (PNG: ", self.notes().replace("images/circle", "circle"))
        self.radlc("apply", "--auto-approve", self.file, *self.quick, code=2)
        self.assertIn("circle/bad.png: PNG: ", self.err)
        self.assertIn("skip_corrupt = yes", self.err)
        self.edit(self.file, ("image_size = 32", "image_size = 32, skip_corrupt = yes"))
        self.radlc("apply", "--auto-approve", self.file, *self.quick)
        self.assertEqual({len(f) for f in self.staged().values()}, {90})
        self.radlc("destroy", "--auto-approve", self.file)

    def test_a_csv_with_pixels_or_files(self):
        lines = ["file,label"]
        for path in sorted((self.folder / "images").rglob("*.png")):
            lines.append(f"{path.relative_to(self.folder)},{path.parent.name}")
        self.write("labels.csv", "\n".join(lines) + "\n")
        csv = ("--input", "images=" + str(self.folder / "labels.csv"))
        self.assertIn("72 + 18 images of 3 classes", self.notes(*csv))
        self.radlc("apply", "--auto-approve", self.file, *self.quick, *csv)
        self.assertEqual({len(f) for f in self.staged().values()}, {91})
        self.radlc("destroy", "--auto-approve", self.file)

    def test_the_plan_reports_a_place_that_is_not_a_dataset(self):
        self.radlc("plan", self.file, "--input", "images=./nowhere", code=1)
        self.assertIn("nowhere", self.err)
        self.radlc("plan", self.file, "--input", "images=images", code=1)
        self.assertIn("write './images'", self.err)
        (self.folder / "empty" / "one").mkdir(parents=True)
        self.radlc("plan", self.file, "--input", "images=" + str(self.folder / "empty"), code=None)
        self.assertIn("hold no .jpg, .jpeg or .png", self.err)

    def test_the_plan_reports_an_unknown_model(self):
        self.edit(self.file, ("model = 'lenet'", "model = 'resnet99'"))
        self.radlc("plan", self.file, *self.quick, code=1)
        self.assertRegex(self.err, r'training/\w+: no model is called "resnet99" \(did you mean resnet20\?\)')
        self.assertNotIn("radl-train", self.err)
        (self.folder / "resnet20").mkdir()  # is not what is meant
        self.edit(self.file, ("model = 'resnet99'", "model = 'resnet20'"))
        self.plan(self.file, *self.quick)


if __name__ == "__main__":
    unittest.main()
