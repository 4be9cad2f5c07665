"""MinIO itself, built once from the Go proxy. Needs no package of PyPI.

`python minio_program.py` builds it (some minutes); tests take it where it is there and say so where it is not. RADL_TEST_MINIO=build
builds it in a test as well.
"""
import os
import pathlib
import shutil
import subprocess
import sys

VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c"  # github.com/minio/minio; the one place for it


def cache():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "radl-tests"
    return pathlib.Path(os.environ.get("RADL_TEST_CACHE") or default)


def build():
    """(program, ""), or (None, why not)."""
    program = cache() / f"minio-{VERSION}"
    if program.exists():
        return program, ""
    if not shutil.which("go"):
        return None, "no Go compiler"
    folder = cache() / "minio-build"
    done = subprocess.run(["nice", "-n", "10", "go", "install", f"github.com/minio/minio@{VERSION}"], capture_output=True, text=True,
                          env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-p=1"}, check=False)
    if done.returncode:
        return None, f"MinIO cannot be built: {done.stderr.strip().splitlines()[-1]}"
    (folder / "minio").rename(program)
    return program, ""


def program():
    """(program, ""), or (None, why there is none)."""
    if os.environ.get("RADL_TEST_MINIO") == "build":
        return build()
    found = cache() / f"minio-{VERSION}"
    return (found, "") if found.exists() else (None, "MinIO is not built: tests/aws/minio_program.py builds it")


if __name__ == "__main__":
    made, reason = build()
    print(made or reason)
    sys.exit(0 if made else 1)
