"""The smallest IAM policy for what radlc really asks, from the requests that a proxy has recorded.

Source of the actions' names: AWS Service Authorization Reference (EC2, S3).
"""
import json
import pathlib

PATH = pathlib.Path(__file__).resolve().parents[2] / "docs/providers/aws-policy.json"
BUCKET = "BUCKET"
OF_S3 = {
    "ListObjectsV2": "ListBucket", "ListObjects": "ListBucket", "HeadBucket": "ListBucket", "HeadObject": "GetObject",
    "CreateMultipartUpload": "PutObject", "UploadPart": "PutObject", "CompleteMultipartUpload": "PutObject",
    "AbortMultipartUpload": "AbortMultipartUpload", "ListParts": "ListMultipartUploadParts",
    "ListMultipartUploads": "ListBucketMultipartUploads", "DeleteObjects": "DeleteObject", "ListBuckets": "ListAllMyBuckets",
}
# What changes or ends something: allowed for what carries radlc's tag alone.
OWN = {"TerminateInstances", "StopInstances", "StartInstances", "ModifyInstanceAttribute", "DeleteSecurityGroup", "DeleteKeyPair",
       "ReleaseAddress", "DeletePlacementGroup", "DeleteVolume", "RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress"}
# Of files above 16 MiB: parts that are looked up and taken back after something went wrong, which a scenario does not make happen.
OF_LARGE_FILES = {"s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}
# Everything works without them: check-auth shows quotas as unknown, destroy does not name what still uses a group, and a refresh does
# not compare the tags of disks.
OPTIONAL = {"servicequotas:ListServiceQuotas", "ec2:DescribeAccountAttributes", "ec2:DescribeNetworkAcls", "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeVolumes"}
APART = {"iam:PassRole"}  # of an instance profile alone: docs/providers/aws.md
FREE = {("sts", "GetCallerIdentity")}  # needs no permission


def actions_of(request):
    """IAM actions that a request needs."""
    if (request.service, request.action) in FREE or not request.action:
        return set()
    if request.service == "s3":
        return {"s3:" + OF_S3.get(request.action, request.action)}
    needed = {f"{request.service}:{request.action}"}
    if any(name.startswith("TagSpecification.") for name in request.parameters):
        needed.add("ec2:CreateTags")
    if any(name.startswith("IamInstanceProfile.") for name in request.parameters):
        needed.add("iam:PassRole")
    return needed


def undocumented(requests):
    """What they need and the committed policy does not allow; how credentials are had (STS) is no part of it."""
    allowed = {action for statement in json.loads(PATH.read_text())["Statement"] for action in statement["Action"]}
    needed = set().union(*(actions_of(request) for request in requests if request.service != "sts"))
    return sorted(needed - allowed - APART)


def document(actions):
    actions = set(actions) | OPTIONAL
    def name(action):
        return action.partition(":")[2]

    looks = sorted(a for a in actions if name(a).startswith(("Describe", "Get", "List")) and not a.startswith("s3:"))
    own = sorted(a for a in actions if name(a) in OWN)
    store = {a for a in actions if a.startswith("s3:")}
    store = sorted(store | OF_LARGE_FILES if "s3:PutObject" in store else store)
    makes = sorted(set(actions) - set(looks) - set(own) - set(store))
    statements = [{"Sid": "Look", "Effect": "Allow", "Action": looks, "Resource": "*"},
                  {"Sid": "Make", "Effect": "Allow", "Action": makes, "Resource": "*"},
                  {"Sid": "ChangeAndRemoveWhatRadlcMade", "Effect": "Allow", "Action": own, "Resource": "*",
                   "Condition": {"Null": {"aws:ResourceTag/radlc:infrastructure": "false"}}},
                  {"Sid": "Store", "Effect": "Allow", "Action": store,
                   "Resource": [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]}]
    return {"Version": "2012-10-17", "Statement": [s for s in statements if s["Action"]]}


def text(policy):
    return json.dumps(policy, indent=2) + "\n"


def for_moto(policy, without=None):
    """As moto takes it (it knows neither resources nor conditions), maybe without one action."""
    statements = [{"Effect": "Allow", "Action": [a for a in s["Action"] if a != without], "Resource": "*"}
                  for s in policy["Statement"]]
    return {"Version": policy["Version"], "Statement": [s for s in statements if s["Action"]]}
