"""Two spirals told apart by a small network, trained by all workers together (DistributedDataParallel)."""
import argparse
import json
import math
import os
import pathlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def spirals(count):
    generator = torch.Generator().manual_seed(1)
    turn = torch.rand(count, generator=generator) * 3 * math.pi
    label = torch.arange(count) % 2
    angle = turn + label * math.pi
    points = torch.stack([angle.cos() * turn, angle.sin() * turn], 1) / 10
    return TensorDataset(points + torch.randn(points.shape, generator=generator) * 0.01, label)


def save(path, model, optimizer, epoch):
    part = path.with_suffix(".part")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, part)
    part.rename(path)  # it is there whole or not at all


def agree(path, model, optimizer, device):
    """The newest checkpoint of any worker becomes everybody's: one that comes back has an old one, or none."""
    state = torch.load(path, map_location=device) if path.exists() else None
    mine = torch.tensor([state["epoch"] if state else 0, -dist.get_rank()])
    everybody = [torch.zeros_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everybody, mine)
    epoch, owner = max((int(e), int(r)) for e, r in everybody)
    shared = [state if -owner == dist.get_rank() else None]
    dist.broadcast_object_list(shared, src=-owner)
    if epoch > 0:
        model.load_state_dict(shared[0]["model"])
        optimizer.load_state_dict(shared[0]["optimizer"])
    return epoch


def device_and_group():
    """The worker's device and the group that averages gradients: NCCL where each has a GPU of its own. It refuses several
    workers on one GPU, as local nodes have it; gloo takes them."""
    dist.init_process_group("gloo")
    if not torch.cuda.is_available():
        return torch.device("cpu"), None
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    gpus = [None] * dist.get_world_size()
    dist.all_gather_object(gpus, str(torch.cuda.get_device_properties(device).uuid))
    return device, dist.new_group(backend="nccl") if len(set(gpus)) == len(gpus) else None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--epochs", type=int, default=30)
    arguments.add_argument("--checkpoint", type=pathlib.Path, default=os.environ.get("RADL_CHECKPOINTS", ".") + "/spirals.pt")
    arguments.add_argument("--results", type=pathlib.Path, default=os.environ.get("RADL_RESULTS", "."))
    options = arguments.parse_args()

    device, group = device_and_group()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    begin = agree(options.checkpoint, model, optimizer, device)
    print(f"worker {dist.get_rank()} of {dist.get_world_size()} goes on at epoch {begin}", flush=True)
    parallel = DistributedDataParallel(model, process_group=group)
    data = spirals(3000)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    for epoch in range(begin, options.epochs):
        sampler.set_epoch(epoch)
        for points, label in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(parallel(points.to(device)), label.to(device))
            loss.backward()
            optimizer.step()
        if int(os.environ["LOCAL_RANK"]) == 0:
            save(options.checkpoint, model, optimizer, epoch + 1)
        if dist.get_rank() == 0:
            print(json.dumps({"epoch": epoch + 1, "loss": loss.item(), "workers": dist.get_world_size()}), flush=True)
    points, label = data.tensors
    accuracy = (model(points.to(device)).argmax(1).cpu() == label).float().mean().item()
    # Whoever is the first worker now: after a loss that may be another node than the chief's.
    if int(os.environ["LOCAL_RANK"]) == 0:
        torch.save(model.state_dict(), options.results / "model.pt")
        print(json.dumps({"accuracy": accuracy}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
