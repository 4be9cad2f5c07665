"""What radl-train writes, read with the formats' own packages: ONNX, safetensors, TensorBoard events.

Weights are random and go in through `radl-train import`, so that every model of the zoo, and every kind of layer, takes
no training; one model is trained for its events.
"""
import io
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
from safetensors.numpy import load_file, save_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from foreign import check_foreign
from models import LAYERS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import call, run_checks

PROGRAM = os.environ["RADL_BUILD"] + "/bin/radl-train"
SUBSET = pathlib.Path(os.environ["RADL_SOURCE"]) / "examples/cifar10/subset"
TOLERANCE = 1e-4  # largest difference of a probability, fp32 against fp32
CLASSES = 10
# The ONNX files of these have operators that radl-train writes and does not read.
ONE_WAY = ("vit-tiny", "norms", "sequence")
LARGE = ("inception-resnet-v1", "resnet18-224", "resnet50")


def radl(*arguments):
    return call(PROGRAM, *arguments)


radl.program = PROGRAM


def random_weights(tensors, random, gain=1.0):
    """Small enough that a deep network's answers stay apart from 0 and 1."""
    weights = {}
    for tensor in tensors:
        name, shape = tensor["name"], tensor["shape"]
        if name.endswith("running_var"):
            value = random.uniform(0.5, 1.5, shape)
        elif len(shape) > 1:
            value = random.normal(0, gain / np.sqrt(np.prod(shape[1:])), shape)
        else:
            value = random.uniform(0.2, 0.6, shape) if name.endswith("weight") else random.normal(0, 0.1, shape)
        weights[name] = value.astype(np.float32)
    return weights


def make_images(folder, shape, count, random):
    height, width, channels = shape
    folder.mkdir()
    coarse = random.integers(0, 256, (count, height // 4 + 1, width // 4 + 1, channels)).repeat(4, 1).repeat(4, 2)
    images = coarse[:, :height, :width].astype(np.uint8)
    for number, image in enumerate(images):
        Image.fromarray(image if channels == 3 else image[:, :, 0]).save(folder / f"{number:04}.png")
    return images.transpose(0, 3, 1, 2).astype(np.float32)


def answers(model, folder, classes, *options):
    lines = radl("predict", model, folder, "--format", "csv", *options).splitlines()[1:]
    return np.array([[float(v) for v in line.split(",")[-classes:]] for line in lines])


def check_onnx(file, ours, images):
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    logits, theirs = session.run(["logits", "probabilities"], {"images": images})
    single = session.run(["probabilities"], {"images": images[:1]})[0]
    difference = float(np.abs(ours - theirs).max())
    assert difference < TOLERANCE, f"probabilities differ by {difference}"
    assert np.abs(single - theirs[:1]).max() < TOLERANCE, "another batch size gives another answer"
    assert logits.std() > 1e-3 and theirs.std(0).max() > 1e-5, "the answers say nothing"
    return difference


def check_model(name, shape, model, work):
    """Random weights -> import -> export as ONNX and safetensors."""
    random = np.random.default_rng(1)
    folder = work / name
    folder.mkdir()
    form = ["--input", "x".join(map(str, shape)), "--classes", CLASSES]
    described = json.loads(radl("inspect", model, "--json", *form))
    weights = random_weights(described["tensors"], random, 3.0 if name.startswith("inception") else 1.0)
    save_file(weights, folder / "weights.safetensors")
    mean, deviation = [0.5, 0.4, 0.45, 0.5], [0.25, 0.2, 0.3, 0.2]
    if shape[2] == 1:
        mean, deviation = [0], [1 / 255]  # the pixels themselves
    normal = [v for flag, values in (("--mean", mean), ("--deviation", deviation)) for v in (flag, ",".join(map(repr, values[: shape[2]])))]
    radl("import", folder / "weights.safetensors", "--model", model, "-o", folder / "model", *form, *normal)
    radl("export", folder / "model", "-o", folder / "back.safetensors")
    back = load_file(folder / "back.safetensors")
    assert back.keys() == weights.keys() and all(np.array_equal(back[k], weights[k]) for k in weights), "weights changed"
    radl("export", folder / "model", "-o", folder / "m.onnx")
    if shape[2] not in (1, 3):
        onnx.checker.check_model(onnx.load(folder / "m.onnx"), full_check=True)
        return f"{len(weights)} tensors there and back"
    images = make_images(folder / "images", shape, 4 if name in LARGE else 16, random)
    ours = answers(folder / "model", folder / "images", CLASSES)
    difference = check_onnx(folder / "m.onnx", ours, images)
    if name in ONE_WAY:
        done = subprocess.run([PROGRAM, "predict", folder / "m.onnx", "--check"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "cannot run the operator" in done.stderr, done.stderr
    else:
        assert np.abs(answers(folder / "m.onnx", folder / "images", CLASSES) - ours).max() < TOLERANCE, "its ONNX file predicts something else"
    return f"onnxruntime differs by at most {difference:.2g}; {len(weights)} tensors there and back"


def check_trained(work):
    """One model trained on the subset: its own ONNX and safetensors files and what TensorBoard reads."""
    run = work / "trained"
    radl("train", "--model", "fastcifar-s", "--data", SUBSET, "--epochs", "2", "--batch-size", "100", "--precision", "fp32", "-o", run, "-q")
    random = np.random.default_rng(2)
    images = make_images(run / "images", (32, 32, 3), 16, random)
    difference = check_onnx(run / "model/model.onnx", answers(run, run / "images", CLASSES), images)
    weights = load_file(run / "model/model.safetensors")
    shown = json.loads(radl("inspect", run / "model/model.safetensors", "--json"))
    assert {t["name"]: t["shape"] for t in shown["tensors"]} == {k: list(v.shape) for k, v in weights.items()}
    for t in shown["tensors"]:
        assert abs(t["mean"] - float(weights[t["name"]].astype(np.float64).mean())) < 1e-5, t["name"]
    return f"onnxruntime differs by at most {difference:.2g}; {check_events(run)}"


def check_events(run):
    events = EventAccumulator(str(run / "events"), size_guidance={"scalars": 0, "images": 0, "histograms": 0, "tensors": 0})
    events.Reload()
    tags = events.Tags()
    for tag in ("train/loss", "train/accuracy", "train/rate", "test/loss", "test/accuracy"):
        values = events.Scalars(tag)
        assert values and [v.step for v in values] == sorted(v.step for v in values), tag
    metrics = json.loads((run / "model/metrics.json").read_text())
    assert abs(events.Scalars("test/accuracy")[-1].value - metrics["test_accuracy"]) < 1e-6
    weights = load_file(run / "model/model.safetensors")
    count = sum(v.size for k, v in weights.items() if "running_" not in k)
    histogram = events.Histograms("weights")[-1].histogram_value
    assert histogram.num == count and abs(sum(histogram.bucket) - count) < 1e-6, "histogram of the weights"

    def text(tag):
        return events.Tensors(tag + "/text_summary" if tag + "/text_summary" in tags["tensors"] else tag)[-1].tensor_proto.string_val[0].decode()

    job = json.loads(text("job").removeprefix("```json\n").removesuffix("```"))
    assert job["model"] == "fastcifar-s" and job["batch_size"] == 100, "text of the configuration"
    # Every misclassified image is one of the test part, of the class that the text gives it.
    raw = np.frombuffer((SUBSET / "test_batch.bin").read_bytes(), dtype=np.uint8).reshape(-1, 3073)
    rows = text("misclassified").splitlines()[2:]
    names = (run / "model/model.json").read_text()
    images = sorted(t for t in tags["images"] if t.startswith("misclassified/"))
    assert len(images) == len(rows) == 16, f"{len(images)} misclassified images, {len(rows)} lines"
    for tag, row in zip(images, rows):
        pixels = np.asarray(Image.open(io.BytesIO(events.Images(tag)[-1].encoded_image_string)))
        found = np.flatnonzero((raw[:, 1:] == pixels.transpose(2, 0, 1).reshape(-1)).all(1))
        assert len(found), f"{tag} is no test image"
        _, true, taken = [cell.strip() for cell in row.split("|")[1:4]]
        label = json.loads(names)["class_names"][raw[found[0], 0]]
        assert true == label != taken, f"{tag}: {row}"
    return f"TensorBoard: {len(tags['scalars'])} scalars, a histogram, the job, {len(images)} misclassified images"


def main():
    shutil.rmtree("work", ignore_errors=True)
    work = pathlib.Path("work").resolve()
    work.mkdir()
    zoo = [name.strip() for name in radl("inspect", "--help").split("Built-in models:")[1].split(",")]
    checks = [("a trained model", lambda: check_trained(work)), ("files of others", lambda: check_foreign(work, answers, make_images, radl))]
    for name in zoo:
        size = 224 if name in LARGE else 32
        checks.append((name, lambda name=name, size=size: check_model(name, (size, size, 3), name, work)))
    for name, (shape, text) in LAYERS.items():
        (work / f"{name}.txt").write_text(text.strip() + "\n")
        checks.append((name, lambda name=name, shape=shape: check_model(name, shape, work / f"{name}.txt", work)))
    return run_checks(checks, sys.argv[1:], work, f"{TOLERANCE:g}", onnx.checker.ValidationError)


if __name__ == "__main__":
    sys.exit(main())
