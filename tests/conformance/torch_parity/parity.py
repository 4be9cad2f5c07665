"""Every model of the zoo, ours against PyTorch.

PyTorch builds the model (from our text, and for the well-known ones also as one writes it by hand), gives it random
weights, and saves them. `radl-train import` reads them, `radl-train export` writes them back, and PyTorch loads that. Then
both compute an evaluation's logits, one training step's loss, gradients and statistics, and two SGD updates.

The oracle is PyTorch in double precision. A tensor passes when our relative error (of the 2-norm) is below TOLERANCE, or
at most FACTOR times the largest of PyTorch's own in single precision on this model, whichever is larger (a rectifier whose
input rounds to the other side of zero moves gradients by a jump). Where the jump falls is chance, and differs between
processors: a batch that fails is followed by others, and the model passes with the first of BATCHES that does. A wrong
gradient is wrong with all of them. That says little of the deepest models' gradients, so our reference network, which the
fast kernels are tested against, also runs in double precision and must agree, with every batch, to EXACT, the rounding of
the file that carries its numbers. The models at 224x224 are too slow for that; theirs may never be above LARGEST.
"""
import os
import pathlib
import shutil
import sys

import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

from described import Described, Position
from written import WRITTEN

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import call, run_checks

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
RADL, STEP = BUILD / "bin/radl-train", BUILD / "tests/conformance_train_step"
TOLERANCE, FACTOR, LARGEST, EXACT, BATCHES = 1e-4, 4, 0.05, 1e-6, 4
BIG = ("resnet18-224", "resnet50", "inception-resnet-v1")  # at 224x224
CLASSES = 10


def zoo():
    return [name.strip() for name in call(RADL, "inspect", "--help").split("Built-in models:")[1].split(",")]


def randomise(model, batch):
    """Statistics that fit the model, and norms and biases that are not all one and zero."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum, module.kept = 1.0, module.momentum
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        model.train()(batch)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = module.kept


def error(ours, truth):
    scale = truth.double().norm().item()
    return (ours.double() - truth.double()).norm().item() / max(scale, 1e-30)


def decays(model, name, parameter):
    module = model.get_submodule(name.rsplit(".", 1)[0])
    return parameter.dim() > 1 and not isinstance(module, (torch.nn.Embedding, Position))


def torch_step(model, images, labels):
    """The same numbers as train_step.cc writes."""
    out = {}
    with torch.no_grad():
        logits = model.eval()(images)
        out["logits"] = logits
        out["loss"] = F.cross_entropy(logits, labels)[None]
    loss = F.cross_entropy(model.train()(images), labels)
    loss.backward()
    out["train_loss"] = loss.detach()[None]
    for name, p in model.named_parameters():
        if p.requires_grad:
            out["grad." + name] = p.grad.clone()
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    decaying = [p for n, p in trained if decays(model, n, p)]
    rest = [p for n, p in trained if not decays(model, n, p)]
    groups = [{"params": decaying, "weight_decay": 0.0005}, {"params": rest, "weight_decay": 0}]
    sgd = torch.optim.SGD(groups, lr=0.1, momentum=0.9, nesterov=True)
    sgd.step()
    sgd.step()
    for name, value in model.state_dict().items():
        if not name.endswith("num_batches_tracked"):
            out["after." + name] = value.detach().clone()
    return out


class TooFar(AssertionError):
    """Further from the truth than rounding explains, unless a rectifier flipped."""


def compare(ours, single, truth, largest):
    """The largest error and its tensor; raises TooFar at the first one that is too large."""
    errors = {}  # name -> (ours, PyTorch's in single precision)
    for name, value in truth.items():
        assert name in ours, f"we gave no {name}"
        assert tuple(ours[name].shape) == tuple(value.shape), f"{name}: {tuple(ours[name].shape)}, not {tuple(value.shape)}"
        if value.norm() > 1e-9:  # a bias before a batch norm has a gradient of nothing but rounding
            errors[name] = (error(ours[name], value), error(single[name], value))
    worst, rounding = (0.0, ""), 0.0
    for group in ("grad.", ""):
        names = [n for n in errors if n.startswith("grad.") == (group != "")]
        theirs = max(errors[n][1] for n in names)
        allowed = min(max(TOLERANCE, FACTOR * theirs), largest)
        for name in names:
            if errors[name][0] > allowed:
                raise TooFar(f"{name}: relative error {errors[name][0]:.2g}, allowed {allowed:.2g} (PyTorch: at most {theirs:.2g})")
            worst = max(worst, (errors[name][0], name))
        rounding = max(rounding, theirs)
    return worst, rounding


def check_round_trip(name, model, folder):
    """PyTorch -> our folder -> our export -> PyTorch."""
    back = load_file(folder / "back.safetensors")
    state = {k: v for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")}
    assert back.keys() == state.keys(), f"{set(back) ^ set(state)}"
    assert all(torch.equal(back[k], state[k]) for k in state), "the weights are not the same bits"
    if name not in WRITTEN:
        return None
    written = WRITTEN[name]()
    missing, unexpected = written.load_state_dict(back, strict=False)
    assert not unexpected and all(m.endswith("num_batches_tracked") for m in missing), f"{missing} {unexpected}"
    return written


def check(name, work):
    for seed in range(1, BATCHES + 1):
        try:
            return check_batch(name, work, seed) + (f"; batch {seed}" if seed > 1 else "")
        except TooFar as far:
            last = far
    raise AssertionError(f"{last}, and with {BATCHES - 1} other batches likewise")


def check_batch(name, work, seed):
    size, batch = (224, 2) if name in BIG else (32, 3)
    shape = ["--input", f"{size}x{size}x3", "--classes", CLASSES]
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = call(RADL, "inspect", name, "--text", *shape)
    # Random numbers are nobody's to compare: without dropout.
    text = "\n".join(line if ": dropout " not in line else line.split("rate=")[0] + "rate=0 from " + line.rsplit(" from ", 1)[1]
                     for line in text.split("\n"))
    (folder / "model.txt").write_text(text)
    torch.manual_seed(seed)
    model = Described(text)
    images, labels = torch.randn(batch, 3, size, size), torch.arange(batch) * 3 % CLASSES
    randomise(model, images)
    save_file({k: v for k, v in model.state_dict().items()}, folder / "weights.safetensors")
    call(RADL, "import", folder / "weights.safetensors", "--model", folder / "model.txt", "-o", folder / "model", *shape, "--dataset", "cifar10")
    call(RADL, "export", folder / "model", "-o", folder / "back.safetensors")
    save_file({"images": images.permute(0, 2, 3, 1).contiguous(), "labels": labels.float()}, folder / "batch.safetensors")
    call(STEP, folder / "model", folder / "batch.safetensors", folder / "out.safetensors", *([] if name in BIG else ["exact"]))
    ours = load_file(folder / "out.safetensors")
    written = check_round_trip(name, model, folder)
    truth_model = Described(text).double()
    truth_model.load_state_dict(model.state_dict())
    truth = torch_step(truth_model, images.double(), labels)
    single = torch_step(model, images, labels)
    if written is not None:
        by_hand = torch_step(written.double(), images.double(), labels)
        assert by_hand.keys() == truth.keys() and error(by_hand["logits"], truth["logits"]) < 1e-9, "the text is not the known model"
        truth = by_hand
    exact = [error(ours[k], truth[k.removeprefix("exact.")]) for k in ours if k.removeprefix("exact.") in truth and k.startswith("exact.")
             and truth[k.removeprefix("exact.")].norm() > 1e-9]
    assert not exact or max(exact) < EXACT, f"in double precision the relative error is {max(exact):.2g}"
    difference = (ours["logits"].double() - truth["logits"]).abs().max().item()
    (worst, tensor), theirs = compare(ours, single, truth, LARGEST if name in BIG else float("inf"))
    return f"logits differ by at most {difference:.2g} (absolute), {len(truth)} tensors by {worst:.2g} (relative, {tensor}; PyTorch itself by {theirs:.2g})" + (
        f", in double precision by {max(exact):.2g}" if exact else "") + ("" if written is None else "; written by hand")


def main():
    torch.set_num_threads(int(os.environ.get("PARITY_THREADS", os.cpu_count() or 1)))
    work = pathlib.Path("work").resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    checks = [(name, lambda name=name: check(name, work)) for name in zoo()]
    allowed = f"{TOLERANCE:g} of the norm, or {FACTOR} times PyTorch's own rounding"
    return run_checks(checks, sys.argv[1:], work, allowed)


if __name__ == "__main__":
    sys.exit(main())
