"""Trains small models on the subset with radl-train, then reads what it wrote with the formats' own packages."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from PIL import Image
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

PROGRAM = os.environ["RADL_BUILD"] + "/bin/radl-train"
SUBSET = pathlib.Path(os.environ["RADL_SOURCE"]) / "examples/cifar10/subset"
MODELS = os.environ.get("FORMATS_MODELS", "logistic mlp resnet20 fastcifar-s").split()
TOLERANCE = 1e-4  # largest difference of a probability, fp32 against fp32
PICTURES = 64


def radl(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"radl-train {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def write_pictures(folder):
    """The first test pictures as PNG; gives them as one array [n, 3, 32, 32]."""
    folder.mkdir()
    raw = np.frombuffer((SUBSET / "test_batch.bin").read_bytes(), dtype=np.uint8).reshape(-1, 3073)[:PICTURES, 1:]
    for number, row in enumerate(raw):
        Image.fromarray(row.reshape(3, 32, 32).transpose(1, 2, 0)).save(folder / f"{number:04}.png")
    return raw.reshape(-1, 3, 32, 32).astype(np.float32)


def check_onnx(run, pictures, folder):
    model = onnx.load(run / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(str(run / "m.onnx"), providers=["CPUExecutionProvider"])
    theirs = session.run(["probabilities"], {"images": pictures})[0]
    single = session.run(["probabilities"], {"images": pictures[:1]})[0]
    lines = radl("predict", run, folder, "--format", "csv").splitlines()[1:]
    ours = np.array([[float(v) for v in line.split(",")[4:]] for line in lines])
    difference = float(np.abs(ours - theirs).max())
    assert difference < TOLERANCE, f"probabilities differ by {difference}"
    assert np.abs(single - theirs[:1]).max() < TOLERANCE, "another batch size gives another answer"
    close = np.sort(theirs, axis=1)[:, -1] - np.sort(theirs, axis=1)[:, -2] < 2 * TOLERANCE
    assert ((ours.argmax(1) == theirs.argmax(1)) | close).all(), "another class"
    return difference


def check_safetensors(run):
    weights = load_file(run / "model/model.safetensors")
    shown = json.loads(radl("inspect", run / "model/model.safetensors", "--json"))
    assert {t["name"]: t["shape"] for t in shown["tensors"]} == {k: list(v.shape) for k, v in weights.items()}
    for t in shown["tensors"]:
        assert abs(t["mean"] - float(weights[t["name"]].astype(np.float64).mean())) < 1e-5, t["name"]
    return len(weights)


def check_events(run):
    events = EventAccumulator(str(run / "events"), size_guidance={"scalars": 0})
    events.Reload()
    tags = events.Tags()
    assert tags["scalars"], "no scalars"
    for tag in tags["scalars"]:
        values = events.Scalars(tag)
        assert [v.step for v in values] == sorted(v.step for v in values), tag
    return len(tags["scalars"])


def main():
    failed = 0
    shutil.rmtree("work", ignore_errors=True)
    work = pathlib.Path("work").resolve()
    work.mkdir()
    pictures = write_pictures(work / "pictures")
    for name in MODELS:
        run = work / name
        try:
            radl("train", "--model", name, "--data", SUBSET, "--epochs", "1", "--batch-size", "100", "--precision", "fp32", "-o", run, "-q")
            radl("export", run, "-o", run / "m.onnx")
            difference = check_onnx(run, pictures, work / "pictures")
            print(f"{name}: onnxruntime differs by at most {difference:.2g} (allowed {TOLERANCE:g}); {check_safetensors(run)} tensors; {check_events(run)} scalars")
        except (AssertionError, SystemExit, subprocess.TimeoutExpired) as problem:
            failed += 1
            print(f"{name}: FAILED: {problem}")
    print(f"{len(MODELS) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
