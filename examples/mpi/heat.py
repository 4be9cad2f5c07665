"""Heat in a rod that is cold at one end and warm at the other: each process has a part of it, and tells its neighbours its ends."""
import json
import os
import pathlib
import pickle
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
steps, points = int(sys.argv[1]), 60 // size
checkpoint = pathlib.Path(os.environ["RADL_CHECKPOINTS"], f"heat-{rank}-{size}.pickle")

begin, rod = pickle.loads(checkpoint.read_bytes()) if checkpoint.exists() else (0, [0.0] * points)
# A process that comes back has what it wrote last; all go on from the oldest of these, or from the start.
begins = world.allgather(begin)
if min(begins) != max(begins):
    begin, rod = 0, [0.0] * points
print(f"process {rank} of {size} on {MPI.Get_processor_name()} begins at step {begin}", flush=True)
for step in range(begin, steps):
    left = world.sendrecv(rod[-1], (rank + 1) % size, source=(rank - 1) % size)
    right = world.sendrecv(rod[0], (rank - 1) % size, source=(rank + 1) % size)
    whole = [0.0 if rank == 0 else left, *rod, 1.0 if rank == size - 1 else right]
    rod = [whole[i] + (whole[i - 1] - 2 * whole[i] + whole[i + 1]) / 3 for i in range(1, points + 1)]
    if (step + 1) % 500 == 0:
        world.Barrier()
        part = checkpoint.with_suffix(".part")
        part.write_bytes(pickle.dumps((step + 1, rod)))
        part.rename(checkpoint)
middle = world.gather(rod)
if rank == 0:
    rods = [value for part in middle for value in part]
    pathlib.Path(os.environ["RADL_RESULTS"], "rod.json").write_text(json.dumps(rods))
    print(json.dumps({"middle": rods[len(rods) // 2], "processes": size, "steps": steps}), flush=True)
