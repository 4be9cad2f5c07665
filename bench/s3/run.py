"""One large object and many small ones, up and down, by ours and by the AWS command line and by AWS's CRT transfer client (crt_peer.py),
at the same server on loopback (MinIO where it is built: tests/aws/minio_program.py; else moto), turn by turn.

JSON lines {name, ours, peer, unit, ratio, goal, machine}: seconds of the wall clock, the best of the rounds; ratio is the faster
peer's time divided by ours (goal: at least). Beside it the peak resident memory of each (MiB). What arrives is compared with what was sent,
on both sides. `copy` is what the disk alone takes for the same bytes (cp and sync), the bound that nobody beats; `loopback`, of the large
object, what the server and loopback alone take: curl, which signs nothing, sums nothing and keeps nothing. The row `of what disk or loopback
gives` has the slower of the two as its peer.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import minio
from moto_site import Moto

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
LARGE = int(os.environ.get("BENCH_S3_LARGE", "2048")) << 20
SMALLS = [int(count) for count in os.environ.get("BENCH_S3_SMALL", "3000,10000").split(",")]
ROUNDS = int(os.environ.get("BENCH_S3_ROUNDS", "3"))
SMALL_BYTES = 4096
STREAMS = 8  # of curl's ranges at once, as of ours
PEERS = ("cli", "crt")


def machine():
    name = platform.processor() or platform.machine()
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return f"{os.cpu_count()} cores, {name}"


def timed(command, environment):
    """(seconds, peak MiB) of a program."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([str(c) for c in command], env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        # Not wait4's figure: that begins with what this program has when it forks.
        peak = 0
        while process.poll() is None:
            with contextlib.suppress(OSError, IndexError, ValueError):
                text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                peak = max(peak, int(text.split("VmHWM:")[1].split()[0]))
            time.sleep(0.005)
        seconds = time.monotonic() - begin
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"{command}: {errors.read().decode(errors='replace')[-500:]}")
    return seconds, peak / 1024


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree(folder):
    return {p.relative_to(folder).as_posix(): digest(p) for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith(".")}


class Bench:
    def __init__(self, work, server):
        self.work, self.server = work, server
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self.environment = {**kept, **server.environment(), "HOME": str(work), "no_proxy": "*"}
        self.client = server.client() if isinstance(server, minio.Minio) else server.client("s3")
        self.client.create_bucket(Bucket="data")
        (work / "config").write_text("[default]\ns3 =\n  addressing_style = path\n")
        self.aws = pathlib.Path(sys.executable).with_name("aws")

    def command(self, who, kind, up, place, name):
        if who == "ours":
            verb = ("put" if up else "get") + ("-folder" if kind == "small" else "")
            ends = (place, f"s3://data/{name}") if up else (f"s3://data/{name}", place)
            return [BUILD / "bin/s3_bench", verb, *ends]
        if who == "crt":
            return [sys.executable, "-B", pathlib.Path(__file__).with_name("crt_peer.py"), "up" if up else "down", place, name]
        ends = (place, f"s3://data/{name}") if up else (f"s3://data/{name}", place)
        more = ["--recursive"] if kind == "small" else []
        return [self.aws, "s3", "cp", "--no-progress", "--only-show-errors", *more, *ends]

    def one(self, who, kind, up, place, name):
        if not up:
            shutil.rmtree(place, ignore_errors=True) if kind == "small" else place.unlink(missing_ok=True)
        environment = dict(self.environment)
        if who != "ours":
            environment["AWS_CONFIG_FILE"] = str(self.work / "config")
        os.sync()
        return timed(self.command(who, kind, up, place, name), environment)

    def stored(self, kind, name):
        """What the server has, read by boto3."""
        if kind == "large":
            sum_ = hashlib.sha256()
            for piece in self.client.get_object(Bucket="data", Key=name)["Body"].iter_chunks(1 << 20):
                sum_.update(piece)
            return sum_.hexdigest()
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="data", Prefix=name + "/")
        return {o["Key"].removeprefix(name + "/"): (o["Size"], o["ETag"].strip('"')) for page in pages for o in page.get("Contents", [])}

    def loopback(self, up, source, name):
        """Seconds of the same bytes by curl; None where there is no curl."""
        if not shutil.which("curl"):
            return None
        begin = time.monotonic()
        if up:
            url = self.client.generate_presigned_url("put_object", Params={"Bucket": "data", "Key": "by-curl"})
            commands = [["curl", "-sSf", "-T", source, "-o", "/dev/null", url]]
        else:
            url = self.client.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": name})
            step = -(-LARGE // STREAMS)
            commands = [["curl", "-sSf", "-r", f"{at}-{min(at + step, LARGE) - 1}", "-o", "/dev/null", url] for at in range(0, LARGE, step)]
        running = [subprocess.Popen(command, env=self.environment) for command in commands]
        assert not any([process.wait() for process in running]), "curl failed"
        return time.monotonic() - begin

    def measure(self, kind, source):
        want = digest(source) if kind == "large" else tree(source)
        etags = None if kind == "large" else {
            p.relative_to(source).as_posix(): (p.stat().st_size, hashlib.md5(p.read_bytes()).hexdigest()) for p in source.rglob("*.bin")}
        for up in (True, False):
            best = {}
            for round_ in range(ROUNDS):
                if kind == "large" and (seconds := self.loopback(up, source, "large-ours")) is not None:
                    best["loopback"] = min(best.get("loopback", seconds), seconds)
                for who in ("ours", *PEERS):
                    target = f"{source.stem}-{who}" if up else f"{source.stem}-ours"
                    place = source if up else self.work / f"got-{kind}-{who}"
                    figure = self.one(who, kind, up, place, target)
                    best[who] = min(best.get(who, figure), figure)
                    if round_:
                        continue
                    if up:
                        assert self.stored(kind, target) == (want if kind == "large" else etags), f"{who} stored something else"
                    else:
                        assert (digest(place) if kind == "large" else tree(place)) == want, f"{who} got something else"
                    if not up:
                        shutil.rmtree(place, ignore_errors=True) if kind == "small" else place.unlink(missing_ok=True)
            self.report(kind, up, best, source)

    def copied(self, kind, source):
        target = self.work / "copy"
        begin = time.monotonic()
        shutil.copytree(source, target) if kind == "small" else shutil.copyfile(source, target)
        os.sync()
        seconds = time.monotonic() - begin
        shutil.rmtree(target) if kind == "small" else target.unlink()
        return seconds

    def report(self, kind, up, best, source):
        fastest = min(PEERS, key=lambda peer: best[peer][0])
        ours, peer = best["ours"][0], best[fastest][0]
        what = f"{LARGE >> 20} MiB in one object" if kind == "large" else f"{source.stem.partition('-')[2]} objects of {SMALL_BYTES} bytes"
        name, copy = f"s3 {'up' if up else 'down'}: {what}", self.copied(kind, source)
        row = {"ours": round(ours, 3), "unit": "s", "machine": machine(), "copy": round(copy, 3), "server": type(self.server).__name__.lower()}
        print(json.dumps({
            "name": name, **row, "peer": round(peer, 3), "ratio": round(peer / ours, 2), "goal": 1, "peer_client": fastest,
            "peers": {p: round(best[p][0], 3) for p in PEERS}, "our_peak_mib": round(best["ours"][1]),
            "peer_peak_mib": {p: round(best[p][1]) for p in PEERS}}), flush=True)
        if "loopback" in best:
            bound = max(copy, best["loopback"])
            print(json.dumps({"name": f"{name}, of what disk or loopback gives", **row, "peer": round(bound, 3),
                              "ratio": round(bound / ours, 2), "goal": 0.9, "loopback": round(best["loopback"], 3)}), flush=True)


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(65536, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    work = pathlib.Path(tempfile.mkdtemp(prefix="radl-bench-s3-"))
    server = None
    try:
        server = minio.Minio(work / "server") if minio.program()[0] else Moto(work / "server")
        bench = Bench(work, server)
        large = work / "large.bin"
        block = os.urandom(1 << 20)
        with open(large, "wb") as out:
            for number in range(LARGE >> 20):
                out.write(number.to_bytes(8, "big") + block[8:])
        bench.measure("large", large)
        for count in SMALLS:
            small = work / f"small-{count}"
            for number in range(count):
                folder = small / f"{number // 1000:03}"
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{number:06}.bin").write_bytes(number.to_bytes(8, "big") * (SMALL_BYTES // 8))
            bench.measure("small", small)
            shutil.rmtree(small)
    finally:
        if server:
            server.stop()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
