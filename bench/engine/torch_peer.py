"""One mode of PyTorch at a model that `radl-train bench --dump` wrote: python torch_peer.py DUMP MODE STEPS THREADS.

MODE is eager-fp32, eager-bf16, compiled-fp32 or compiled-bf16, all channels-last. Prints one JSON line: the losses of the
first three steps, the seconds (on the wall and of the processor) of the others, and the peak of resident memory.
"""
import sys

import torch
from safetensors import safe_open
from torch import nn
from torch.nn import functional

from peer import layers_of, measure, pair

ACTIVATIONS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "silu": functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "identity": lambda x: x,
}


class Model(nn.Module):
    """The layers of a canonical model text (docs/models.md), with the dump's weights."""

    def __init__(self, text, tensors):
        super().__init__()
        self.steps = []  # name, kind, options, inputs
        self.layers = nn.ModuleDict()
        for name, kind, options, inputs in layers_of(text):
            self.steps.append((name, kind, options, inputs))
            if kind in ("conv", "linear", "batchnorm"):
                self.layers[name.replace(".", "/")] = self.make(name, kind, options, tensors)

    @staticmethod
    def make(name, kind, o, tensors):
        get = lambda part: tensors.get(f"{name}.{part}")
        weight, bias = get("weight"), get("bias")
        if kind == "conv":
            out, depth, kh, kw = weight.shape
            groups = int(o["groups"])
            pad = "same" if o["pad"] == "same" else tuple(pair(o["pad"]))
            layer = nn.Conv2d(depth * groups, out, (kh, kw), tuple(pair(o["stride"])), pad, tuple(pair(o["dilation"])),
                              groups, bias is not None)
        elif kind == "linear":
            layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None)
        else:
            mean = get("running_mean")
            layer = nn.BatchNorm2d(mean.numel(), float(o["eps"]), float(o["momentum"]))
            layer.running_mean.copy_(mean)
            layer.running_var.copy_(get("running_var"))
        with torch.no_grad():
            for own, given, wanted in ((layer.weight, weight, 1.0), (layer.bias, bias, 0.0)):
                if own is None:
                    continue
                own.copy_(given) if given is not None else own.fill_(wanted)
                own.requires_grad_(given is not None and o.get("frozen") != "yes" and o.get("whiten") != "yes")
        return layer

    def forward(self, x):
        values = {"input": x}
        for name, kind, o, inputs in self.steps:
            v = values[inputs[0]]
            if kind in ("conv", "batchnorm"):
                v = self.layers[name.replace(".", "/")](v)
            elif kind == "linear":
                v = self.layers[name.replace(".", "/")](v.flatten(1))
            elif kind in ACTIVATIONS:
                v = ACTIVATIONS[kind](v)
            elif kind in ("maxpool", "avgpool"):
                pool = functional.max_pool2d if kind == "maxpool" else functional.avg_pool2d
                v = pool(v, pair(o["kernel"]), pair(o["stride"]), pair(o["pad"]))
            elif kind == "globalavgpool":
                v = v.mean((2, 3), keepdim=True)
            elif kind == "globalmaxpool":
                v = v.amax((2, 3), keepdim=True)
            elif kind == "scale":
                v = v * float(o["factor"])
            elif kind == "add":
                v = sum((values[i] for i in inputs[1:]), v)
            elif kind == "concat":
                v = torch.cat([values[i] for i in inputs], 1)
            else:
                raise SystemExit(f"no PyTorch form of layer kind {kind}")
            values[name] = v
        return v.flatten(1)


def main():
    dump, mode, steps, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(threads)
    with safe_open(dump, "pt") as f:
        text = f.metadata()["model"]
        tensors = {k: f.get_tensor(k) for k in f.keys()}
    images = tensors.pop("bench.images").permute(0, 3, 1, 2)
    labels = tensors.pop("bench.labels").long()
    bf16 = mode.endswith("bf16")
    model = Model(text, tensors).to(memory_format=torch.channels_last)
    if bf16:
        model = model.to(torch.bfloat16)
        for layer in model.modules():  # statistics stay fp32, as the public recipes have them
            if isinstance(layer, nn.BatchNorm2d):
                layer.float()
        images = images.to(torch.bfloat16)
    images = images.contiguous(memory_format=torch.channels_last)
    del tensors
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.001, 0.9)
    run = torch.compile(model) if mode.startswith("compiled") else model

    def step():
        loss = functional.cross_entropy(run(images).float(), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    measure(steps, step)


main()
