"""What tests of farms share."""
import contextlib
import json
import subprocess

from engine_case import RADL_TRAIN, SUBSET, test_image
from radl_case import RadlCase

# Waits for its gate, a file among its checkpoints.
GATED = 'echo begun >> "$RADL_CHECKPOINTS/begun"; while [ ! -e "$RADL_CHECKPOINTS/gate" ]; do sleep 0.05; done; echo {task} > "$RADL_RESULTS/o.txt"'

# A search through the service, whose trial uploads bring.
SEARCH = """radl 2
system worker ( cpu.count >= 1 )
deploy worker 2
use 'std/farm/search' as hpo (
  nodes = system.worker
  main = 'trial.sh', arguments = ['{x}']
  space = { x = { min = 0, max = 1 } }
  trials = 6, strategy = 'sobol', seed = 3
  options = { source = './files', launcher = ['sh'] }
)
"""
TRIAL = """for i in 1 2 3; do
  awk -v x="$1" -v i=$i 'BEGIN { d = x - 0.3; if (d < 0) d = -d; printf "{\\"loss\\": %f, \\"epoch\\": %d}\\n", d + 1 / i, i }'
done
mkdir -p "$RADL_RESULTS/model"
echo "$1" > "$RADL_RESULTS/model/weights"
"""


def write_model(folder):
    """A small trained model in `model`."""
    subprocess.run([RADL_TRAIN, "train", "--model", "lenet", "--data", SUBSET, "--epochs", "1", "--batch-size", "50", "-q", "-o", "model"],
                   cwd=folder, check=True, capture_output=True)


def write_model_and_images(folder):
    """A small trained model in `model`, and ten images in `photos`."""
    write_model(folder)
    (folder / "photos").mkdir()
    for n in range(10):
        (folder / "photos" / f"{n}.png").write_bytes(test_image(n)[1])


class FarmCase(RadlCase):
    def apply(self, **options):
        return self.radlc("apply", "--auto-approve", self.file, **options)

    def begin(self):
        return self.start("apply", "--auto-approve", self.file)

    def table(self):
        return {task["task"]: task for task in json.loads(self.radlc("farm", "table", "--json", self.file))}

    def journal(self):
        return "".join(path.read_text() for path in self.found("farms/*/journal.jsonl"))

    def status(self):
        (farm,) = json.loads(self.radlc("farm", "status", "--json", self.file))
        return farm

    def counts(self):
        farm = self.status()
        return {state: count for state, count in farm["counts"].items() if count}

    def begun(self):
        return {path.parent.name: path.read_text().split().count("begun") for path in self.found("home/.radl/jobs/*/checkpoints/*/begun")}

    def open_gates(self):
        for folder in self.found("home/.radl/jobs/*/checkpoints/*"):
            with contextlib.suppress(FileNotFoundError):  # its node was removed meanwhile
                (folder / "gate").touch()

    def open_gates_until(self, process):
        def over():
            self.open_gates()
            return process.poll() is not None
        self.wait_until(over, message="it does not end")
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, out + err)

    def destroy(self):
        self.radlc("destroy", "--auto-approve", self.file)
        self.assert_nothing_left()
