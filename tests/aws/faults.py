"""What goes wrong with a request, decided by (seed, number of the request): the same seed does the same to the same requests."""
import dataclasses
import json
import math
import random
import re
import signal
import threading
import time
import xml.etree.ElementTree as ElementTree

from proxy import Answer, Treatment, ec2_error, s3_error

MAKES = ("Run", "Create", "Allocate", "Import", "Request", "Attach", "Associate", "Authorize")

# An error's code, what it says, its HTTP status; the words of it that a user must find in radlc's message.
THROTTLED = ("RequestLimitExceeded", "Request limit exceeded.", 503)
CAPACITY = ("InsufficientInstanceCapacity", "We currently do not have sufficient capacity in the Availability Zone you requested.", 500)
INSTANCES = ("InstanceLimitExceeded", "You have requested more instances than your current instance limit allows.", 400)
VCPUS = ("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit allows.", 400)
EXPIRED = ("RequestExpired", "The security token included in the request is expired", 400)
SKEWED = ("RequestExpired", "Request has expired. Timestamp date is 2020-01-01T00:00:00Z", 400)
UNAUTHORIZED = ("AuthFailure", "AWS was not able to validate the provided access credentials", 401)
INTERNAL = ("InternalError", "An internal error has occurred", 500)
UNAVAILABLE = ("Unavailable", "The service is unavailable. Please try again shortly.", 503)


def error(request, kind):
    code, message, status = kind
    if request.service != "s3":
        return ec2_error(code, message, status)
    code, status = {"RequestLimitExceeded": ("SlowDown", 503), "Unavailable": ("ServiceUnavailable", 503),
                    "RequestExpired": ("RequestTimeTooSkewed", 403), "AuthFailure": ("InvalidAccessKeyId", 403)}.get(code, (code, status))
    return s3_error(code, message, status)


def too_many(_request):
    return Answer(429, [("Content-Type", "text/plain"), ("Retry-After", "1")], b"too many requests")


def gateway(_request):
    return Answer(502, [("Content-Type", "text/html")], b"<html><body>Bad Gateway</body></html>")


# name -> (weight, Treatment of a request)
PASSING = {
    "delay": (4, lambda r, rng: Treatment(delay=rng.uniform(0.02, 0.3))),
    "reset before": (3, lambda r, rng: Treatment(reset_before=True)),
    "answer lost": (6, lambda r, rng: Treatment(reset_after=True)),
    "throttled": (4, lambda r, rng: Treatment(refuse=error(r, THROTTLED))),
    "internal error": (2, lambda r, rng: Treatment(refuse=error(r, INTERNAL))),
    "unavailable": (2, lambda r, rng: Treatment(refuse=error(r, UNAVAILABLE))),
    "too many": (1, lambda r, rng: Treatment(refuse=too_many(r))),
    "bad gateway": (1, lambda r, rng: Treatment(refuse=gateway(r))),
    "cut": (3, lambda r, rng: Treatment(cut=rng.random())),
    "garbled": (2, lambda r, rng: Treatment(garble=True)),
    "slow": (1, lambda r, rng: Treatment(slow=rng.uniform(0.1, 0.5))),
}


class Faults:
    """`share`: of the requests that something happens to; `kinds`: of PASSING; `most`: no more than so many in all."""

    def __init__(self, seed, share=0.2, kinds=None, most=1 << 30, eventual=None, market=None, passing=None):
        self.seed, self.share, self.left = seed, share, most
        self.kinds = {k: v for k, v in (passing or PASSING).items() if kinds is None or k in kinds}
        self.eventual, self.market = eventual, market
        self._lock = threading.Lock()

    def __call__(self, request):
        treatment = self._chance(request)
        if self.market and not treatment.name:
            treatment = self.market(request) or treatment
        if self.eventual and not treatment.name:
            treatment = self.eventual.not_yet(request) or treatment
        if self.eventual and not (treatment.refuse or treatment.reset_before):
            treatment.change = lambda answer: self.eventual(request, answer)
        return treatment

    def _chance(self, request):
        rng = random.Random(f"{self.seed}:{request.number}")
        if rng.random() >= self.share:
            return Treatment()
        with self._lock:
            if self.left <= 0:
                return Treatment()
            self.left -= 1
        name = rng.choices(list(self.kinds), [weight for weight, _ in self.kinds.values()])[0]
        treatment = self.kinds[name][1](request, rng)
        treatment.name = name
        return treatment


class At:
    """One treatment of the n-th request, counted over all or over those of some actions."""

    def __init__(self, number, treatment, actions=None, name="at"):
        self.number, self.treatment, self.actions, self.name, self.seen = number, treatment, actions, name, 0
        self._lock = threading.Lock()

    def __call__(self, request):
        if self.actions and request.action not in self.actions:
            return Treatment()
        with self._lock:
            self.seen += 1
            hit = self.seen == self.number
        if not hit:
            return Treatment()
        treatment = self.treatment(request)
        treatment.name = self.name
        return treatment


class First:
    """One treatment of the first `count` requests of some actions."""

    def __init__(self, count, treatment, actions, name="first"):
        self.left, self.treatment, self.actions, self.name = count, treatment, actions, name
        self._lock = threading.Lock()

    def __call__(self, request):
        if request.action not in self.actions:
            return None
        with self._lock:
            self.left -= 1
            if self.left < 0:
                return None
        treatment = self.treatment(request)
        treatment.name = self.name
        return treatment


class Always:
    """The same error for every request of some actions (None: all)."""

    def __init__(self, kind, actions=None):
        self.kind, self.actions = kind, actions

    def __call__(self, request):
        if self.actions and request.action not in self.actions:
            return Treatment()
        return Treatment(name=self.kind[0], refuse=error(request, self.kind))


class Market:
    """No capacity for some types and zones ("*": any), and an account's limits."""

    def __init__(self, moto, lacking=(), refused=()):
        self.ec2, self.lacking, self.refused, self._zones = moto.client("ec2"), set(lacking), dict(refused), {}

    def _zone(self, request):
        if zone := request.parameter("Placement.AvailabilityZone"):
            return zone
        subnet = request.parameter("SubnetId") or request.parameter("NetworkInterface.1.SubnetId")
        if subnet and subnet not in self._zones:
            self._zones[subnet] = self.ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailabilityZone"]
        return self._zones.get(subnet, "*")

    def __call__(self, request):
        if request.action != "RunInstances":
            return None
        kind, zone = request.parameter("InstanceType"), self._zone(request)
        if kind in self.refused:
            code = self.refused[kind]
            return Treatment(name=code[0], refuse=error(request, code))
        if {(kind, zone), (kind, "*"), ("*", zone)} & self.lacking:
            return Treatment(name="no capacity", refuse=error(request, CAPACITY))
        return None


class Eventual:
    """New things do not show for `hidden` seconds, and machines are pending for `pending` seconds, as in a large region. What uses,
    changes or removes a new thing does not find it for `lag` seconds, though lists show it: not every part of EC2 learns of it at once."""
    LACKING = {"i-": "InvalidInstanceID.NotFound", "sg-": "InvalidGroup.NotFound", "eipalloc-": "InvalidAllocationID.NotFound"}
    MADE = re.compile(rb"<(instanceId|groupId|allocationId|keyPairId|volumeId)>([^<]+)</")

    def __init__(self, hidden=0.0, pending=0.0, lag=0.0):
        self.hidden, self.pending, self.lag, self.born = hidden, pending, lag, {}

    def lag_anew(self, seconds):
        """What there is counts as made when it is next used, changed or removed."""
        self.lag, self.born = seconds, dict.fromkeys(self.born, math.inf)

    def not_yet(self, request):
        if not self.lag or request.service != "ec2" or request.action.startswith(("Describe", "Get")):
            return None
        self.born = {name: min(born, time.monotonic()) for name, born in self.born.items()}
        young = {name for name, born in self.born.items() if time.monotonic() - born < self.lag}
        for name in sorted(young & set(request.parameters.values())):
            for prefix, code in self.LACKING.items():
                if name.startswith(prefix):
                    return Treatment(name="not there yet", refuse=ec2_error(code, f"'{name}' does not exist", 400))
        return None

    def __call__(self, request, answer):
        now = time.monotonic()
        if request.service != "ec2" or answer.status != 200:
            return answer
        if request.action.startswith(MAKES):
            for _, name in self.MADE.findall(answer.body):
                self.born.setdefault(name.decode(), now)
            return answer
        if not request.action.startswith("Describe"):
            return answer
        young = {name for name, born in self.born.items() if now - born < self.hidden}
        asked = young & {v for k, v in request.parameters.items() if "Id." in k}
        if asked and request.action == "DescribeInstances":
            return ec2_error("InvalidInstanceID.NotFound", f"The instance ID '{sorted(asked)[0]}' does not exist", 400)
        waiting = {name for name, born in self.born.items() if now - born < self.pending}
        return self._edited(answer, young, waiting) if young or waiting else answer

    def _edited(self, answer, young, waiting):
        root = ElementTree.fromstring(answer.body)
        space = root.tag.partition("}")[0] + "}"
        for parent in list(root.iter()):
            for item in [c for c in parent if c.tag == space + "item"]:
                if any((item.findtext(space + name) in young) for name in ("instanceId", "groupId", "allocationId", "keyPairId",
                                                                           "volumeId") if parent.tag != space + "groupSet"):
                    parent.remove(item)
                elif item.findtext(space + "instanceId") in waiting and item.find(space + "instanceState") is not None:
                    self._pend(item, space)
        for reservations in root.iter(space + "reservationSet"):
            for item in list(reservations):
                if not list(item.iterfind(f"{space}instancesSet/{space}item")):
                    reservations.remove(item)
        ElementTree.register_namespace("", space[1:-1])
        return Answer(answer.status, answer.headers, ElementTree.tostring(root, "utf-8", xml_declaration=True))

    @staticmethod
    def _pend(item, space):
        state = item.find(space + "instanceState")
        if state.findtext(space + "name") == "running":
            state.find(space + "code").text, state.find(space + "name").text = "0", "pending"
            for name in ("ipAddress", "dnsName"):
                if (found := item.find(space + name)) is not None:
                    item.remove(found)


def interrupt(_request):
    """Ctrl-C in the middle of a run."""
    return Treatment(signal=signal.SIGINT)


def _places(value, path=()):
    """Paths of all that is inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*path, key)
        yield from _places(one, (*path, key))


def odd(answer, rng):
    """The answer with one thing in its JSON missing, null or of another type: another release's, or another's server."""
    try:
        document = json.loads(answer.body)
    except ValueError:
        return answer
    places = list(_places(document))
    if answer.status >= 300 or not places:
        return answer
    *way, last = rng.choice(places)
    held = document
    for key in way:
        held = held[key]
    old = held[last]
    new = rng.choice([None, "", "x", 7, -1, 1e30, True, [], {}, [None], [7], {"x": None}, "\u00e9\x00", str(old), [old], {"x": old}])
    if rng.random() < 0.3:
        del held[last]
    else:
        held[last] = new
    return dataclasses.replace(answer, body=json.dumps(document).encode())
