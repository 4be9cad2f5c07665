"""Runs tasks by HyperQueue's own Python package, a server and a worker of two processors. Prints their seconds.
Usage: hyperqueue_tasks.py COMMAND COUNT FOLDER"""
import pathlib
import sys
import time

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

command, count, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
with LocalCluster(str(folder / "server"), WorkerConfig(cores=2)) as cluster:
    client = cluster.client()
    job = Job(folder)
    for _ in range(count):
        job.program(["sh", "-c", command], stdout=None, stderr=None)
    begin = time.monotonic()
    client.wait_for_jobs([client.submit(job)])
    print(time.monotonic() - begin)
