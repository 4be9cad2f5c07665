"""cloud-init itself, as Debian's or Ubuntu's package has it: unpacked beside the tests and never installed, as an installed one takes
the computer that it is on for a new machine of a cloud at its next start.

`python cloud_init_program.py` brings it (some seconds); where it is installed already, that one is taken.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from minio_program import cache

QUIET = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=30", "-o", "APT::Sandbox::User=root"]


def system():
    """"debian-12": of another system its packages are no use."""
    release = dict(re.findall(r'^(ID|VERSION_ID)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE))
    return "-".join(filter(None, (release.get("ID"), release.get("VERSION_ID"))))


def folder():
    """What is unpacked over a system's files to have cloud-init in it; empty where they have it."""
    return cache() / f"cloud-init-{system()}"


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return done.stdout


def bring():
    """(folder, ""), or (None, why not)."""
    if folder().exists():
        return folder(), ""
    try:
        plan = run("apt-get", "-s", "install", "--no-install-recommends", "cloud-init")
        packages = re.findall(r"^Inst (\S+)", plan, re.MULTILINE)
        cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache(), prefix="cloud-init-") as made:
            files = pathlib.Path(made) / "files"
            files.mkdir()
            if packages:
                run("apt-get", *QUIET, "download", *packages, cwd=made)
            for package in pathlib.Path(made).glob("*.deb"):
                run("dpkg-deb", "-x", str(package), str(files))
            files.rename(folder())
    except (OSError, RuntimeError) as error:
        return None, f"the package cloud-init cannot be had: {error}"
    return folder(), ""


def program():
    """(folder, ""), or (None, why there is none)."""
    return (folder(), "") if folder().exists() else (None, "there is no cloud-init: tests/aws/cloud_init_program.py brings it")


if __name__ == "__main__":
    found, reason = bring()
    print(found or reason)
    sys.exit(0 if found else 1)
