"""What exists in an account, asked by boto3: a client that knows nothing of radlc."""
import dataclasses

THERE = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}


@dataclasses.dataclass(frozen=True)
class Thing:
    kind: str  # "instance", "volume", ...
    id: str
    tags: tuple = ()  # ((key, value), ...), sorted
    detail: str = ""

    def tag(self, key):
        return dict(self.tags).get(key)

    def __str__(self):
        return f"{self.kind} {self.id} {dict(self.tags)} {self.detail}".rstrip()


def tags_of(record):
    return tuple(sorted((tag["Key"], tag["Value"]) for tag in record.get("Tags") or record.get("TagSet") or []))


def pages(client, operation, key, **arguments):
    """Every record of a paged or unpaged answer."""
    if client.can_paginate(operation):
        for page in client.get_paginator(operation).paginate(**arguments):
            yield from page[key]
    else:
        yield from getattr(client, operation)(**arguments)[key]


def instances(ec2):
    """Every instance that is not terminated: of those moto never forgets one."""
    return [instance for reservation in pages(ec2, "describe_instances", "Reservations", Filters=[THERE])
            for instance in reservation["Instances"]]


# kind -> (operation, key of its list, key of the id, whether it counts). moto has no placement groups.
LISTS = {
    "volume": ("describe_volumes", "Volumes", "VolumeId", lambda r: r["State"] != "deleted"),
    "security group": ("describe_security_groups", "SecurityGroups", "GroupId", lambda r: r["GroupName"] != "default"),
    "key pair": ("describe_key_pairs", "KeyPairs", "KeyPairId", lambda r: True),
    "address": ("describe_addresses", "Addresses", "AllocationId", lambda r: True),
    "spot request": ("describe_spot_instance_requests", "SpotInstanceRequests", "SpotInstanceRequestId",
                     lambda r: r["State"] in ("open", "active")),
    "network interface": ("describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId", lambda r: True),
}
# What an infrastructure stands in; radlc makes none of it.
SURROUNDINGS = {
    "launch template": ("describe_launch_templates", "LaunchTemplates", "LaunchTemplateId", lambda r: True),
    "vpc": ("describe_vpcs", "Vpcs", "VpcId", lambda r: True),
    "subnet": ("describe_subnets", "Subnets", "SubnetId", lambda r: True),
    "internet gateway": ("describe_internet_gateways", "InternetGateways", "InternetGatewayId", lambda r: True),
    "route table": ("describe_route_tables", "RouteTables", "RouteTableId", lambda r: True),
}


def buckets(s3):
    for bucket in (b["Name"] for b in s3.list_buckets()["Buckets"]):
        yield Thing("bucket", bucket)
        for item in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket).search("Contents[]"):
            if item:
                yield Thing("object", f"{bucket}/{item['Key']}", detail=f"{item['Size']} bytes")
        for upload in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
            yield Thing("incomplete upload", f"{bucket}/{upload['Key']}", detail=upload["UploadId"])


def everything(moto, region="us-east-1", storage=True, surroundings=True):
    """{Thing} of a region, and the objects of all buckets."""
    ec2 = moto.client("ec2", region)
    found = {Thing("instance", i["InstanceId"], tags_of(i), i["State"]["Name"]) for i in instances(ec2)}
    for kind, (operation, key, name, counts) in (LISTS | SURROUNDINGS if surroundings else LISTS).items():
        found |= {Thing(kind, record[name], tags_of(record)) for record in pages(ec2, operation, key) if counts(record)}
    if surroundings:
        found |= {Thing("snapshot", record["SnapshotId"], tags_of(record))
                  for record in pages(ec2, "describe_snapshots", "Snapshots", OwnerIds=["self"])}
    if storage:
        found |= set(buckets(moto.client("s3", region)))
    return found


class Baseline:
    """What was there before a test, and must be there after it as it was."""

    def __init__(self, moto, region="us-east-1", storage=True):
        self.moto, self.region, self.storage = moto, region, storage
        self.before = everything(moto, region, storage)

    def changes(self, surroundings=True):
        """(new, missing): things made since, and those that are gone or were changed; each sorted."""
        now = everything(self.moto, self.region, self.storage, surroundings)
        before = {thing for thing in self.before if surroundings or thing.kind not in {*SURROUNDINGS, "snapshot"}}
        return sorted(now - before, key=str), sorted(before - now, key=str)

    def made(self, kind):
        """Those of one kind that are new."""
        return [thing for thing in self.changes()[0] if thing.kind == kind]
