"""One rank of the peer: the CIFAR ResNet of He et al. 2015 (projection shortcuts, as in docs/models.md) under DistributedDataParallel.

Arguments: model, batch, steps, precision. Prints one JSON line. The environment names rank, size and meeting point.
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Block(nn.Module):
    def __init__(self, fan_in, width, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(fan_in, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        self.skip = nn.Identity()
        if stride != 1 or fan_in != width:
            self.skip = nn.Sequential(nn.Conv2d(fan_in, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def resnet(depth):
    layers, width = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
    for stage, wanted in enumerate((16, 32, 64)):
        for block in range((depth - 2) // 6):
            layers.append(Block(width, wanted, 2 if stage > 0 and block == 0 else 1))
            width = wanted
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def main():
    name, batch, steps, precision = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    torch.manual_seed(1)
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    dist.init_process_group("gloo")
    model = DistributedDataParallel(resnet(int(name.removeprefix("resnet"))).to(memory_format=torch.channels_last))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    images = torch.randn(batch, 3, 32, 32).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (batch,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    step()
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    dist.barrier()
    seconds = time.perf_counter() - begin
    print(json.dumps({"images_per_second": steps * batch * dist.get_world_size() / seconds}))
    dist.destroy_process_group()


main()
