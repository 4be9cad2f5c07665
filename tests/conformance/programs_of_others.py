"""Programs that others have published, by address and SHA-256; the one place for them. They are run as they are.

`python programs_of_others.py` brings them all to the cache. Where a file cannot be fetched its test is skipped and says so.
"""
import hashlib
import os
import pathlib
import sys
import urllib.error
import urllib.request

RAW = "https://raw.githubusercontent.com"
PYTORCH = f"{RAW}/pytorch/examples/77f55b912142e11fcfdf5b530231fb9c52f181e8"
FILES = {
    "elastic echo": (f"{RAW}/kubeflow/training-operator/3790fd2f52c49967534c23c6e0db9b7083836bdf/examples/pytorch/elastic/echo/echo.py",
                     "50a61a6df12527c9445ebfe4a8d4704a74aabb366c69574538c2b3c0f5d0e4c3"),
    # PyTorch Elastic's own ImageNet example (DistributedDataParallel, checkpoints), as Kubeflow ships it: it names no CUDA device.
    "elastic imagenet": (f"{RAW}/kubeflow/training-operator/3790fd2f52c49967534c23c6e0db9b7083836bdf/examples/pytorch/elastic/"
                         "imagenet/imagenet.py", "ea5c07b57ff6fb2d81fc7def20c19c06db6f99b4c195ff7435e4c5a9934a2da9"),
    # PyTorch's own examples: they ask for CUDA devices.
    "ddp multinode": (f"{PYTORCH}/distributed/ddp-tutorial-series/multinode.py",
                      "28e52a2615675a4e4fba78aac60f4f2ca9c589a13f434811db2b2a408a56489c"),
    "ddp datautils": (f"{PYTORCH}/distributed/ddp-tutorial-series/datautils.py",
                      "6af257501c49d1373b9b57f47e54ec9260eef7d97ad46b59cd0280cbbd6cc779"),
    "imagenet": (f"{PYTORCH}/imagenet/main.py", "f67ca2cd730bf91afe0504694abf07b88cbd03ac8c8a0426023620d29175c158"),
    "tensorflow tutorial": (f"{RAW}/tensorflow/docs/7c3650212740204359d4ceae481abc79345541be/site/en/tutorials/distribute/"
                            "multi_worker_with_keras.ipynb", "0f0d327aa1f37e8667983d6251711868004a0383cb96ee07fa251b26b2dda8bd"),
    "mnist": ("https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
              "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"),
    "slurm array": (f"{RAW}/perellonieto/bluecrystal4_demo/a5a8d90381f2ff9814e5e6fa596bca6a1619ce70/05_sbatch_array_job/"
                    "add_queue_array_jobs_01.sh", "e9800a4e5e0386f3792af09383fce057d87a21ae3b4714efcfa8909f8d848713"),
}


def cache():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "radl-tests"
    return pathlib.Path(os.environ.get("RADL_TEST_CACHE") or default) / "programs"


def bring(name):
    """(the file, ""), or (None, why it is not here)."""
    address, digest = FILES[name]
    path = cache() / f"{digest[:16]}-{address.rsplit('/', 1)[1]}"
    if not path.exists():
        try:
            content = urllib.request.urlopen(address, timeout=30).read()
        except (OSError, urllib.error.URLError) as why:
            return None, f"'{name}' cannot be fetched: {why}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        path.unlink()
        raise RuntimeError(f"what {address} gives is not the file that was pinned")
    return path, ""


if __name__ == "__main__":
    missing = [why for why in (bring(name)[1] for name in FILES) if why]
    print("\n".join(missing) or "all are here")
    sys.exit(1 if missing else 0)
