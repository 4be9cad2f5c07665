"""The peer: CIFAR-10 in PyTorch with the best public recipe for few epochs, one run.

    torch_peer.py DATA EPOCHS SEED THREADS

Network and recipe are those of the public speed-run literature, written anew: Jordan 2024, "94% on CIFAR-10 in 3.29
seconds on a single GPU" (arXiv 2404.00498): a whitening first layer, three groups of two convolutions, GELU, scaled
logits, alternating mirror, label smoothing 0.2, test-time augmentation by mirroring and shifts of a pixel; with the Muon
optimizer for the filters. bf16, channels-last. DATA is the folder of the official binary files. Prints one JSON line.
"""
import json
import math
import os
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
BATCH, BIAS_RATE, HEAD_RATE, FILTER_RATE, SMOOTHING, SHIFT = 2000, 0.053, 0.67, 0.24, 0.2, 2
DECAY = 2e-6 * BATCH


def read(folder, names):
    raw = np.concatenate([np.fromfile(os.path.join(folder, n), np.uint8).reshape(-1, 3073) for n in names])
    images = torch.from_numpy(raw[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255)
    mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in (MEAN, DEVIATION))
    images = ((images - mean) / deviation).to(torch.bfloat16).contiguous(memory_format=torch.channels_last)
    return images, torch.from_numpy(raw[:, 0].astype(np.int64))


class Norm(nn.BatchNorm2d):
    def __init__(self, channels):
        super().__init__(channels, eps=1e-12, momentum=0.4)
        self.weight.requires_grad = False


def conv(fan_in, out):
    layer = nn.Conv2d(fan_in, out, 3, padding="same", bias=False)
    nn.init.dirac_(layer.weight.data[:fan_in])
    return layer


class Group(nn.Module):
    def __init__(self, fan_in, out):
        super().__init__()
        self.conv1, self.norm1, self.conv2, self.norm2 = conv(fan_in, out), Norm(out), conv(out, out), Norm(out)

    def forward(self, x):
        x = functional.gelu(self.norm1(functional.max_pool2d(self.conv1(x), 2)))
        return functional.gelu(self.norm2(self.conv2(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.whiten = nn.Conv2d(3, 24, 2)
        self.whiten.weight.requires_grad = False
        self.groups = nn.Sequential(Group(24, 64), Group(64, 256), Group(256, 256))
        self.head = nn.Linear(256, 10, bias=False)
        self.head.weight.data /= self.head.weight.data.std()

    def set_whitening(self, images):
        patches = images.float().unfold(2, 2, 1).unfold(3, 2, 1).permute(0, 2, 3, 1, 4, 5).reshape(-1, 12)
        values, vectors = torch.linalg.eigh(patches.T @ patches / len(patches))
        scaled = vectors.T.reshape(-1, 3, 2, 2) / torch.sqrt(values.view(-1, 1, 1, 1) + 5e-4)
        self.whiten.weight.data[:] = torch.cat((scaled, -scaled))

    def forward(self, x, train_whitening_bias=True):
        bias = self.whiten.bias if train_whitening_bias else self.whiten.bias.detach()
        x = self.groups(functional.gelu(functional.conv2d(x, self.whiten.weight, bias)))
        return self.head(functional.max_pool2d(x, 3).flatten(1)) / 256


def orthogonal(g, steps=3):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.to(torch.bfloat16)
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x


def muon_step(parameter, momentum, rate):
    momentum.mul_(0.6).add_(parameter.grad)
    update = orthogonal((parameter.grad + 0.6 * momentum).reshape(len(parameter), -1))
    parameter.data.mul_(len(parameter) ** 0.5 / parameter.data.norm())
    parameter.data.add_(update.view_as(parameter), alpha=-rate)


def batches(images, labels, epochs):
    """Every image mirrored in every other epoch; shifted within a reflected border."""
    n = len(images)
    mirrored = torch.rand(n) < 0.5
    padded = functional.pad(images, (SHIFT,) * 4, "reflect")
    span = torch.arange(32)
    for epoch in range(math.ceil(epochs)):
        order = torch.randperm(n)
        for i in range(n // BATCH):
            index = order[i * BATCH:(i + 1) * BATCH]
            top, left = torch.randint(0, 2 * SHIFT + 1, (2, BATCH, 1))
            columns = left + span
            flip = mirrored[index] ^ bool(epoch % 2)
            columns = torch.where(flip[:, None], columns.flip(1), columns)
            x = padded[index[:, None, None], :, (top + span)[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
            yield x.contiguous(memory_format=torch.channels_last), labels[index]


def evaluate(net, images, labels):
    """Accuracies without and with test-time augmentation."""
    def mirrored(x):
        return 0.5 * net(x) + 0.5 * net(x.flip(3))

    plain = augmented = 0
    with torch.no_grad():
        for x, y in zip(images.split(2000), labels.split(2000)):
            out, padded = net(x), functional.pad(x, (1,) * 4, "reflect")
            both = 0.5 * out + 0.5 * net(x.flip(3))
            shifted = 0.5 * mirrored(padded[:, :, :32, :32]) + 0.5 * mirrored(padded[:, :, 2:, 2:])
            plain += (out.argmax(1) == y).sum().item()
            augmented += ((0.5 * both + 0.5 * shifted).argmax(1) == y).sum().item()
    return plain / len(labels), augmented / len(labels)


def main():
    folder, epochs, seed, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    begin, working = time.perf_counter(), time.process_time()
    images, labels = read(folder, [f"data_batch_{i}.bin" for i in range(1, 6)])
    test_images, test_labels = read(folder, ["test_batch.bin"])
    net = Net()
    net.set_whitening(images[:5000])
    net = net.to(torch.bfloat16).to(memory_format=torch.channels_last)
    for layer in net.modules():
        if isinstance(layer, Norm):
            layer.float()
    filters = [p for p in net.parameters() if p.dim() == 4 and p.requires_grad]
    momenta = [torch.zeros_like(p) for p in filters]
    norms = [p for n, p in net.named_parameters() if "norm" in n and p.requires_grad]
    rest = torch.optim.SGD([dict(params=[net.whiten.bias], lr=BIAS_RATE, weight_decay=DECAY / BIAS_RATE),
                            dict(params=norms, lr=BIAS_RATE, weight_decay=DECAY / BIAS_RATE),
                            dict(params=[net.head.weight], lr=HEAD_RATE, weight_decay=DECAY / HEAD_RATE)],
                           momentum=0.85, nesterov=True)
    first = [g["lr"] for g in rest.param_groups]
    per_epoch = len(images) // BATCH
    steps, bias_steps = math.ceil(epochs * per_epoch), math.ceil(min(3, epochs) * per_epoch)
    train = time.perf_counter()
    for step, (x, y) in enumerate(batches(images, labels, epochs)):
        if step == steps:
            break
        left = 1 - step / steps
        for group, rate in zip(rest.param_groups, first):
            group["lr"] = rate * left
        rest.param_groups[0]["lr"] = first[0] * max(0, 1 - step / bias_steps)
        loss = functional.cross_entropy(net(x, step < bias_steps).float(), y, label_smoothing=SMOOTHING, reduction="sum")
        net.zero_grad(set_to_none=True)
        loss.backward()
        rest.step()
        for parameter, momentum in zip(filters, momenta):
            muon_step(parameter, momentum, FILTER_RATE * left)
        if step % 10 == 0:
            print(f"step {step} of {steps}: loss {loss.item() / BATCH:.3f}", file=sys.stderr, flush=True)
    net.eval()
    trained = time.perf_counter()
    plain, augmented = evaluate(net, test_images, test_labels)
    print(json.dumps({"accuracy": plain, "accuracy_tta": augmented, "seconds": time.perf_counter() - begin,
                      "processor_seconds": time.process_time() - working,
                      "images_per_second": steps * BATCH / (trained - train)}))


main()
