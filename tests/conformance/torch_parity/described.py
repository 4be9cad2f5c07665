"""A PyTorch module built from a model's text as `radl-train inspect MODEL --text` prints it (docs/models.md).

Everything is [n, channels, height, width]; a vector of features is [n, features, 1, 1].
"""
import torch
from torch import nn
from torch.nn import functional as F

ACTIVATIONS = {
    "identity": lambda x, o: x,
    "relu": lambda x, o: F.relu(x),
    "leakyrelu": lambda x, o: F.leaky_relu(x, float(o["slope"])),
    "gelu": lambda x, o: F.gelu(x),
    "silu": lambda x, o: F.silu(x),
    "tanh": lambda x, o: torch.tanh(x),
    "sigmoid": lambda x, o: torch.sigmoid(x),
    "elu": lambda x, o: F.elu(x, float(o["slope"])),
    "hardswish": lambda x, o: F.hardswish(x),
}


def pair(text):
    sizes = [int(v) for v in text.split("x")]
    return (sizes[0], sizes[-1])


def padding(options, kernel, dilation):
    """(left, right, top, bottom), as F.pad takes it."""
    if options["pad"] == "same":
        spans = [(k - 1) * d for k, d in zip(kernel, dilation)]
        return (spans[1] // 2, spans[1] - spans[1] // 2, spans[0] // 2, spans[0] - spans[0] // 2)
    high, wide = pair(options["pad"])
    return (wide, wide, high, high)


class Position(nn.Module):
    def __init__(self, tokens, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(tokens, features) * 0.02)


class Line:
    """NAME: KIND ARGUMENTS OPTION=VALUE ... from INPUTS"""

    def __init__(self, text):
        self.name, rest = text.split(": ", 1)
        rest, inputs = rest.rsplit(" from ", 1)
        self.kind, *words = rest.split()
        self.arguments = [w for w in words if "=" not in w]
        self.options = dict(w.split("=", 1) for w in words if "=" in w)
        self.inputs = inputs.split()


class Described(nn.Module):
    def __init__(self, text):
        super().__init__()
        head, *lines = text.strip().split("\n")[1:]
        height, width, channels = (int(v) for v in head.split()[1:])
        self.shape = (channels, height, width)
        self.lines = [Line(line) for line in lines]
        self.parts = []  # of each line
        with torch.no_grad():
            values = {"input": torch.zeros(1, *self.shape)}
            for line in self.lines:
                first = values[line.inputs[0]]
                part = self.make(line, first.shape)
                if part is not None:
                    self.add(line.name, part)
                self.parts.append(part)
                values[line.name] = self.compute(line, part, [values[i] for i in line.inputs])

    def add(self, name, part):
        """Under a dotted name, so that state_dict() has ours."""
        *folders, last = name.split(".")
        at = self
        for folder in folders:
            if folder not in at._modules:
                at.add_module(folder, nn.Module())
            at = at._modules[folder]
        for child, module in at._modules.get(last, nn.Module())._modules.items():
            part.add_module(child, module)
        at.add_module(last, part)

    def make(self, line, shape):
        o, channels = line.options, shape[1]
        if line.kind == "conv":
            part = nn.Conv2d(channels, int(line.arguments[0]), pair(o["kernel"]), pair(o["stride"]), 0, pair(o["dilation"]),
                             int(o["groups"]), o["bias"] == "yes")
            part.requires_grad_(o.get("frozen") != "yes")
            if o.get("whiten") == "yes":
                part.weight.requires_grad_(False)
            return part
        if line.kind == "linear":
            inputs = channels if o["per_token"] == "yes" else channels * shape[2] * shape[3]
            return nn.Linear(inputs, int(line.arguments[0]), o["bias"] == "yes")
        if line.kind in ("batchnorm", "layernorm", "groupnorm"):
            eps = float(o["eps"])
            if line.kind == "batchnorm":
                part = nn.BatchNorm2d(channels, eps, float(o["momentum"]))
            elif line.kind == "layernorm":
                part = nn.LayerNorm(channels, eps)
            else:
                part = nn.GroupNorm(int(o["groups"]), channels, eps)
            for name, option in (("weight", "scale"), ("bias", "shift")):
                if o[option] == "no":
                    part.register_parameter(name, None)
            return part.requires_grad_(o.get("frozen") != "yes")
        if line.kind == "embedding":
            return nn.Embedding(int(o["vocabulary"]), int(line.arguments[0]))
        if line.kind == "position":
            return Position(shape[2] * shape[3], channels)
        if line.kind == "attention":
            return nn.MultiheadAttention(channels, int(o["heads"]), batch_first=True)
        return None

    def compute(self, line, part, inputs):
        x, o = inputs[0], line.options
        n, channels, height, width = x.shape
        if line.kind == "conv":
            return part(F.pad(x, padding(o, part.kernel_size, part.dilation)))
        if line.kind == "linear":
            if o["per_token"] == "yes":
                return part(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
            return part(x.flatten(1))[:, :, None, None]
        if line.kind in ("batchnorm", "groupnorm"):
            return part(x)
        if line.kind == "layernorm":
            return part(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        if line.kind == "maxpool":
            kernel = pair(o["kernel"])
            return F.max_pool2d(F.pad(x, padding(o, kernel, (1, 1)), value=-torch.inf), kernel, pair(o["stride"]))
        if line.kind == "avgpool":
            kernel, stride, pads = pair(o["kernel"]), pair(o["stride"]), padding(o, pair(o["kernel"]), (1, 1))
            counts = F.avg_pool2d(F.pad(torch.ones_like(x), pads), kernel, stride)
            return F.avg_pool2d(F.pad(x, pads), kernel, stride) / counts
        if line.kind == "globalavgpool":
            return x.mean((2, 3), keepdim=True)
        if line.kind == "globalmaxpool":
            return x.amax((2, 3), keepdim=True)
        if line.kind == "dropout":
            return F.dropout(x, float(o["rate"]), self.training)
        if line.kind == "add":
            return sum(inputs[1:], x)
        if line.kind == "concat":
            return torch.cat(inputs, 1)
        if line.kind == "flatten":
            return x.flatten(1)[:, :, None, None]
        if line.kind == "scale":
            return x * float(o["factor"])
        if line.kind == "embedding":
            return part(x[:, 0].long()).permute(0, 3, 1, 2)
        if line.kind == "position":
            return x + part.weight.T.reshape(1, channels, height, width)
        if line.kind == "attention":
            tokens = x.flatten(2).transpose(1, 2)
            mask = nn.Transformer.generate_square_subsequent_mask(height * width, dtype=x.dtype) if o["causal"] == "yes" else None
            y = part(tokens, tokens, tokens, need_weights=False, attn_mask=mask)[0]
            return y.transpose(1, 2).reshape(x.shape)
        return ACTIVATIONS[line.kind](x, o)

    def forward(self, x):
        values = {"input": x}
        for line, part in zip(self.lines, self.parts):
            values[line.name] = self.compute(line, part, [values[i] for i in line.inputs])
        return values[self.lines[-1].name].flatten(1)
