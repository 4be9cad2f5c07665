"""What the tests of radl-train's commands share: one small trained model, images, and running the program."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
SOURCE = pathlib.Path(os.environ["RADL_SOURCE"])
RADL_TRAIN = BUILD / "bin" / "radl-train"
SUBSET = SOURCE / "examples/cifar10/subset"
IMAGES = SOURCE / "tests/fuzz/data/seeds/images"  # small PNG and JPEG files of every kind
RECORD = 3073


def png(height, width, pixels):
    """RGB bytes as a PNG file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[3 * width * y:3 * width * (y + 1)] for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_image(number):
    """(label, PNG) of one of the subset's test images."""
    raw = (SUBSET / "test_batch.bin").read_bytes()[RECORD * number:RECORD * (number + 1)]
    planes = raw[1:]
    return raw[0], png(32, 32, bytes(planes[c * 1024 + i] for i in range(1024) for c in range(3)))


class EngineCase(unittest.TestCase):
    trained = None  # set by need_model

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="radl-engine-"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.shared, ignore_errors=True)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="case-", dir=self.shared))

    def run_program(self, *arguments, code=0, timeout=120, **options):
        """Standard output; fails unless the exit status is `code`. Standard error is kept in self.err."""
        done = subprocess.run([str(RADL_TRAIN), *map(str, arguments)], capture_output=True, cwd=self.folder, timeout=timeout,
                              env=dict(os.environ, **options.pop("env", {})), **options)
        self.err = done.stderr.decode(errors="replace")
        out = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"radl-train {' '.join(map(str, arguments))}\n{out}\n{self.err}")
        return out

    def refused(self, *arguments, says, code=1):
        """The program ends with this status and an error that has all these words, in one line each."""
        self.run_program(*arguments, code=code)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, self.err)
        self.assertNotIn("internal error", self.err)

    def model(self):
        """A model trained once for all tests of the class."""
        if type(self).trained is None:
            run = self.shared / "run"
            self.run_program("train", "--model", "lenet", "--data", SUBSET, "--epochs", "2", "--batch-size", "50", "--learning-rate",
                             "0.02", "--seed", "1", "-q", "-o", run)
            type(self).trained = run
        return self.trained

    def subset_copy(self, change=lambda train, test: (train, test)):
        """The subset in a folder of its own, its bytes changed."""
        folder = self.folder / "cifar"
        folder.mkdir()
        parts = change(bytearray((SUBSET / "data_batch_1.bin").read_bytes()), bytearray((SUBSET / "test_batch.bin").read_bytes()))
        for name, data in zip(("data_batch_1.bin", "test_batch.bin"), parts):
            (folder / name).write_bytes(data)
        return folder
