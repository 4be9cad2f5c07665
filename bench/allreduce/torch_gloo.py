"""A member of an all-reduce by the Gloo in PyTorch, without encryption: a peer of ours.cc. torch_gloo.py RANK SIZE EMPTY-FOLDER"""
import statistics
import sys
import time

import torch
import torch.distributed

rank, size, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=size)
for megabytes in (1, 10, 100):
    taken = []
    for _ in range(20 if megabytes < 100 else 6):
        numbers = torch.full((megabytes * 2**20 // 4,), float(rank + 1))
        begin = time.monotonic()
        torch.distributed.all_reduce(numbers)
        taken.append(time.monotonic() - begin)
        assert (numbers == size * (size + 1) / 2).all(), "wrong sum"
    if rank == 0:
        print(megabytes, 1000 * statistics.median(taken), flush=True)
torch.distributed.destroy_process_group()
