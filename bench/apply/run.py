"""`radlc apply` and `radlc destroy` of machines on moto, beside the bare API: the same requests (one launch for each machine, looks in batches
until all run) by threads with boto3's signing and HTTP alone, as many at once.

JSON lines {name, ours, peer, unit, ratio, goal, machine}: seconds of the wall clock, the best of the rounds, ratio = ours / peer (goal: at
most); and radlc's own processor time a machine (ms). An independent count after each round says that both made and removed the same.
"""
import concurrent.futures
import json
import os
import pathlib
import platform
import resource
import subprocess
import tempfile
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from moto_site import Moto

BUILD = pathlib.Path(os.environ["RADL_BUILD"])
NODES = int(os.environ.get("BENCH_APPLY_NODES", "200"))
PARALLELISM = int(os.environ.get("BENCH_APPLY_PARALLELISM", "10"))
ROUNDS = int(os.environ.get("BENCH_APPLY_ROUNDS", "3"))
IMAGE = "ami-0deb12000000000a2"
FILE = f"""network lan ()
system worker ( instance_type = 't3.micro' and net_interface.0.connection = 'lan' and
  disk.0.image.url = 'aws://us-east-1/{IMAGE}' and disk.0.os.credentials.username = 'admin' )
deploy worker {NODES}
contextualize ()
"""


def machine():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return f"{os.cpu_count()} cores, {line.split(':', 1)[1].strip()}"
    return platform.machine()


def running(ec2):
    pages = ec2.get_paginator("describe_instances").paginate(
        Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}])
    return [i["InstanceId"] for page in pages for r in page["Reservations"] for i in r["Instances"]]


def radlc(words, folder, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run([BUILD / "bin" / "radlc", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"radlc {words}: {done.stdout[-800:]}{done.stderr[-800:]}")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(moto, ec2):
    with tempfile.TemporaryDirectory(prefix="radl-bench-") as folder:
        (pathlib.Path(folder) / "many.radl").write_text(FILE)
        environment = {**os.environ, **moto.environment(), "HOME": folder, "RADL_CALLER_CIDR": "203.0.113.7/32", "no_proxy": "*"}
        parallel = f"--parallelism={PARALLELISM}"
        made, cpu_made = radlc(["apply", "--auto-approve", "--cloud", "ec2", parallel, "many.radl"], folder, environment)
        assert len(running(ec2)) == NODES, "radlc's machines"
        gone, cpu_gone = radlc(["destroy", "--auto-approve", parallel, "many.radl"], folder, environment)
        assert not running(ec2), "radlc's machines are gone"
    return made, gone, cpu_made + cpu_gone


def tags(kind, number, count):
    return {"ResourceType": kind, "Tags": [{"Key": f"radlc:{k}", "Value": f"value of machine {number}, {k}"} for k in range(count)]}


def public_key():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    return key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)


def surroundings(ec2, identity, key, material):
    """Who asks, and the network, key, groups and image of the machines, by the requests that radlc sends for them."""
    identity.get_caller_identity()
    network = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]["VpcId"]
    subnet = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [network]}])["Subnets"][0]["SubnetId"]
    ec2.import_key_pair(KeyName=key, PublicKeyMaterial=material)
    groups = [ec2.create_security_group(GroupName=f"{key}-{k}", Description="bench", VpcId=network)["GroupId"] for k in range(2)]
    ec2.describe_security_groups(GroupIds=groups)
    for group in groups:
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[
            {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "203.0.113.7/32"}]}])
    ec2.describe_key_pairs(KeyNames=[key])
    ec2.describe_security_groups(GroupIds=groups)
    ec2.describe_images(ImageIds=[IMAGE])
    return subnet, groups


def bare(moto, ec2):
    """What the same costs with nothing but the requests, each with as much in it as radlc's."""
    clients = [moto.client("ec2") for _ in range(PARALLELISM)]
    identity, material = moto.client("sts"), public_key()
    stamp = key = str(time.monotonic_ns())

    def launch(number):
        answer = clients[number % PARALLELISM].run_instances(
            ImageId=IMAGE, InstanceType="t3.micro", MinCount=1, MaxCount=1, ClientToken=f"bare-{stamp}-{number}", KeyName=key,
            UserData="#cloud-config\n" + "# as long as radlc's\n" * 20, MetadataOptions={"HttpTokens": "required"},
            NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": subnet, "Groups": groups, "AssociatePublicIpAddress": True,
                                "DeleteOnTermination": True}],
            TagSpecifications=[tags("instance", number, 6), tags("volume", number, 4)])
        return answer["Instances"][0]["InstanceId"]

    def remove(item):
        number, name = item
        clients[number % PARALLELISM].terminate_instances(InstanceIds=[name])

    with concurrent.futures.ThreadPoolExecutor(PARALLELISM) as pool:
        begin = time.monotonic()
        subnet, groups = surroundings(ec2, identity, key, material)
        names = list(pool.map(launch, range(NODES)))
        while len(running(ec2)) < NODES:
            time.sleep(0.2)
        made = time.monotonic() - begin
        begin = time.monotonic()
        list(pool.map(remove, enumerate(names)))
        while running(ec2):
            time.sleep(0.2)
        for group in groups:
            ec2.delete_security_group(GroupId=group)
        ec2.delete_key_pair(KeyName=key)
        return made, time.monotonic() - begin


def main():
    best = {}
    with tempfile.TemporaryDirectory(prefix="radl-bench-") as folder:
        moto = Moto(pathlib.Path(folder))
        try:
            ec2 = moto.client("ec2")
            for _ in range(ROUNDS):
                peer_made, peer_gone = bare(moto, ec2)
                our_made, our_gone, cpu = ours(moto, ec2)
                for name, value in {"peer_made": peer_made, "peer_gone": peer_gone, "made": our_made, "gone": our_gone, "cpu": cpu}.items():
                    best[name] = min(best.get(name, value), value)
        finally:
            moto.stop()
    for name, our, peer in (("apply", best["made"], best["peer_made"]), ("destroy", best["gone"], best["peer_gone"])):
        print(json.dumps({"name": f"{name}_{NODES}", "ours": round(our, 2), "peer": round(peer, 2), "unit": "s",
                          "ratio": round(our / peer, 2), "goal": 1.2, "machine": machine()}))
    print(json.dumps({"name": "cpu_per_node", "ours": round(best["cpu"] * 1000 / NODES, 2), "peer": None, "unit": "ms", "ratio": None,
                      "goal": 5, "machine": machine()}))


if __name__ == "__main__":
    main()
