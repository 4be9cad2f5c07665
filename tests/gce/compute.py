"""A Compute Engine of the tests' own: what is asked for is checked against Google's description of the API (discovery.py), and what it does
is what Google documents: operations that are pending, running and done; names that are taken; what is in use; quotas; fingerprints.

Lists give four things at once, so that every test reads pages.
"""
import base64
import copy
import ipaddress
import itertools
import json
import re
import threading
import time
import urllib.parse

from discovery import Violation
from proxy import Answer

PROJECT, PROJECT_NUMBER = "radlc-tests", "424242424242"
REGION, ZONES = "europe-west1", ("europe-west1-b", "europe-west1-c", "europe-west1-d")
BASE = "https://www.googleapis.com/compute/v1/projects/"
PAGE = 4
IMAGES = {"debian-cloud": {"debian-12": "debian-12-bookworm-v20250101", "debian-12-arm64": "debian-12-bookworm-arm64-v20250101"},
          "ubuntu-os-cloud": {"ubuntu-2204-lts": "ubuntu-2204-jammy-v20250101"}}
ARM = ("t2a", "c4a", "n4a")  # families of machine types
NO_STANDARD = ("a3", "c3", "c3d", "h3", "z3")  # those that take no disk of type pd-standard, which is what a disk without a type is
COLLECTIONS = {"networks": "global", "firewalls": "global", "subnetworks": "region", "addresses": "region", "routers": "region",
               "resourcePolicies": "region", "disks": "zone", "instances": "zone"}
TAKES = {"instances": 0.3, "disks": 0.1}  # seconds; others half of a tenth
# A field of another resource that names this one keeps it from being deleted.
USERS = {"networks": ("subnetworks", "firewalls", "routers", "instances"), "subnetworks": ("instances",), "addresses": ("instances",),
         "disks": ("instances",), "resourcePolicies": ("instances",)}


class Refused(Exception):
    def __init__(self, status, reason, message):
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message

    def answer(self):
        error = {"code": self.status, "message": self.message, "errors": [{"domain": "global", "reason": self.reason, "message": self.message}]}
        return Answer(self.status, [("Content-Type", "application/json; charset=UTF-8")], json.dumps({"error": error}).encode())


def partial(url):
    """"zones/z/instances/n" of a URL or path of a resource."""
    return re.sub(r"^.*?projects/[^/]+/", "", url)


def mentions(value, path):
    if isinstance(value, dict):
        return any(mentions(one, path) for one in value.values())
    if isinstance(value, list):
        return any(mentions(one, path) for one in value)
    return isinstance(value, str) and partial(value) == path


class Operation:
    def __init__(self, name, place, target, kind, seconds, act, request, failure=None):
        self.name, self.place, self.target, self.kind, self.act, self.request, self.failure = name, place, target, kind, act, request, failure
        self.begun, self.seconds, self.is_done = time.monotonic(), seconds, False

    @property
    def path(self):
        return f"{self.place}/operations/{self.name}"

    def status(self):
        if self.is_done:
            return "DONE"
        return "PENDING" if time.monotonic() - self.begun < self.seconds / 3 else "RUNNING"

    def shown(self):
        found = {"kind": "compute#operation", "id": str(abs(hash(self.name)) % 10**18), "name": self.name, "operationType": self.kind,
                 "targetLink": BASE + f"{PROJECT}/{self.target}", "status": self.status(), "progress": 100 if self.is_done else 0,
                 "selfLink": BASE + f"{PROJECT}/{self.path}", "clientOperationId": self.request}
        if self.is_done and self.failure:
            code, message, status, *details = self.failure
            error = {"code": code, "message": message} | ({"errorDetails": details} if details else {})
            found |= {"error": {"errors": [error]}, "httpErrorStatusCode": status, "httpErrorMessage": "FAILED"}
        return found


class Compute:
    """`pace`: how much longer everything takes. `called`: the methods that were asked for."""

    def __init__(self, description, pace=1.0):
        self.description, self.pace = description, pace
        self.resources, self.operations, self.requests = {}, {}, {}
        self.violations, self.called = [], set()
        self.instance_quota, self.exhausted, self.broken = 100, False, False
        self.gpu_quota = {}  # accelerator -> how many there may be; none: as many as are asked for
        self.without = {}  # zone -> machine types and accelerators that it does not have
        self.policies = []  # effective firewall policies of every network; None: they may not be read
        self.full_zones = set()  # where machines are accepted and then fail, as a zone without room does
        self.fails_later = {}  # kind of operation -> how it fails once it was accepted
        self.guest_attributes = lambda path: {}
        self.serial_port = lambda path: ""
        self.lock = threading.RLock()
        self.numbers = itertools.count(2)
        self._put("global/networks/default", {"name": "default", "autoCreateSubnetworks": True})

    # ---- what tests look at and do ----
    def everything(self):
        with self.lock:
            self._settle()
            return sorted(self.resources)

    def all_of(self, collection):
        with self.lock:
            self._settle()
            return {path: copy.deepcopy(one) for path, one in self.resources.items() if path.split("/")[-2] == collection}

    def put_somebody_elses(self):
        """A machine, a disk and a rule that nobody may touch."""
        with self.lock:
            self._put("zones/europe-west1-b/disks/payroll", {"name": "payroll", "sizeGb": "10", "status": "READY"})
            self._put("global/firewalls/default-allow-ssh", {"name": "default-allow-ssh", "sourceRanges": ["0.0.0.0/0"]})
            self._put("zones/europe-west1-b/instances/payroll", {"name": "payroll", "status": "RUNNING", "networkInterfaces": [], "disks": []})

    def put_disk(self, path, **more):
        """Somebody else's, without a machine."""
        with self.lock:
            self._put(path, {"name": path.rpartition("/")[2], "sizeGb": "10", "status": "READY", **more})

    def put_firewall(self, name, network, **more):
        """Somebody else's; its path."""
        with self.lock:
            self._put(f"global/firewalls/{name}", {"name": name, "network": BASE + f"{PROJECT}/{network}", **more})
        return f"global/firewalls/{name}"

    def remove(self, path):
        """What somebody deletes behind radlc's back."""
        with self.lock:
            del self.resources[path]

    def stop(self, path):
        with self.lock:
            self._settle()
            self.resources[path]["status"] = "TERMINATED"
        return True

    def preempt(self, path):
        """As Google takes a spot machine back: it goes, and with it what it was started from."""
        with self.lock:
            self._settle()
            del self.resources[path]

    def tamper(self, path):
        with self.lock:
            self._settle()
            one = self.resources[path]
            if "/firewalls/" in path:
                one["sourceRanges"], one["sourceTags"] = ["0.0.0.0/0"], []
            else:
                items = one["tags"]["items"] + ["let-in"]
                one["tags"] = {"items": items, "fingerprint": self._print(items)}
        return True

    def change(self, path, act):
        """What somebody does to a resource behind radlc's back."""
        with self.lock:
            self._settle()
            act(self.resources[path])

    # ---- requests ----
    def handle(self, verb, target, headers, body):
        split = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        try:
            try:
                document = json.loads(body) if body else None
                method, parameters = self.description.find(verb, split.path)
                self.description.check(method, parameters, query, document)
            except (Violation, ValueError) as error:
                self.violations.append(f"{verb} {split.path}: {error}")
                raise Refused(400, "invalid", str(error)) from error
            with self.lock:
                self._settle()
                self.called.add(method["id"].removeprefix("compute."))
                found = self._do(method["id"].removeprefix("compute."), parameters, query, document)
            return Answer(200, [("Content-Type", "application/json; charset=UTF-8")], json.dumps(found).encode())
        except Refused as refused:
            return refused.answer()

    def _do(self, method, parameters, query, body):
        if method not in ("images.get", "images.getFromFamily") and parameters.get("project") != PROJECT:
            raise Refused(403, "forbidden", f"Required permission for 'projects/{parameters.get('project')}'")
        if "region" in parameters and parameters["region"] != REGION or "zone" in parameters and parameters["zone"] not in ZONES:
            raise Refused(404, "notFound", f"The resource '{parameters.get('zone', parameters.get('region'))}' was not found")
        collection, _, action = method.partition(".")
        if "requestId" in query:
            if not re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", query["requestId"]):
                raise Refused(400, "invalid", "requestId is no UUID")
            if query["requestId"] in self.requests:
                return self.requests[query["requestId"]].shown()
        elif action not in ("get", "list", "aggregatedList", "getFromFamily", "getGuestAttributes", "getSerialPortOutput", "getEffectiveFirewalls"):
            self.violations.append(f"{method} without a requestId")
        handler = getattr(self, "_" + action, None)
        if collection in ("globalOperations", "zoneOperations", "regionOperations"):
            return self._operations(action, parameters, query)
        if collection in ("projects", "regions", "images"):
            return getattr(self, "_" + collection)(action, parameters)
        if method == "regionNetworkFirewallPolicies.getEffectiveFirewalls":
            return self._policies(query)
        if collection not in COLLECTIONS or handler is None:
            raise NotImplementedError(method)
        place = {"global": "global", "region": f"regions/{parameters.get('region')}", "zone": f"zones/{parameters.get('zone')}"}
        folder = f"{place[COLLECTIONS[collection]]}/{collection}"
        name = next((v for k, v in parameters.items() if k not in ("project", "zone", "region")), "")
        return handler(collection, folder, name, query, body)

    # ---- reading ----
    def _policies(self, query):
        if self.policies is None:
            raise Refused(403, "forbidden", "Required 'compute.networks.getRegionEffectiveFirewalls' permission")
        if query["network"].split("/projects/")[1] not in {f"{PROJECT}/{path}" for path in self.resources} | {f"{PROJECT}/global/networks/default"}:
            raise Refused(404, "notFound", f"The resource '{query['network']}' was not found")
        return {"firewalls": [], "firewallPolicys": self.policies}

    def _projects(self, _action, _parameters):
        return {"name": PROJECT, "id": PROJECT_NUMBER, "selfLink": BASE + PROJECT,
                "quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 0.0, "usage": 0.0}, {"metric": "NETWORKS", "limit": 5.0, "usage": 1.0}]}

    def _regions(self, _action, _parameters):
        used = len([p for p in self.resources if "/instances/" in p])
        return {"name": REGION, "zones": [BASE + f"{PROJECT}/zones/{zone}" for zone in ZONES],
                "quotas": [{"metric": "INSTANCES", "limit": self.instance_quota, "usage": used}]}

    def _images(self, action, parameters):
        families = IMAGES.get(parameters["project"], {})
        wanted = parameters.get("family") if action == "getFromFamily" else parameters.get("image")
        for family, name in families.items():
            if wanted == (family if action == "getFromFamily" else name):
                return {"name": name, "family": family, "diskSizeGb": "10", "architecture": "ARM64" if family.endswith("arm64") else "X86_64", "selfLink": BASE + f"{parameters['project']}/global/images/{name}"}
        raise Refused(404, "notFound", f"The resource 'projects/{parameters['project']}/global/images/{wanted}' was not found")

    def _operations(self, action, parameters, query):
        if action == "aggregatedList":
            self._filter(query, {"status": "DONE"})
            return self._pages([(f"{o.place}", o.shown()) for o in self.operations.values() if self._filter(query, o.shown())], query, "operations")
        if parameters["operation"] not in self.operations:
            raise Refused(404, "notFound", "The operation was not found")
        return self.operations[parameters["operation"]].shown()

    @staticmethod
    def _filter(query, item):
        text = query.get("filter", "")
        if not text:
            return True
        match = re.fullmatch(r'(\w+) (eq|!=) "([^"]*)"', text)
        if not match:
            raise Refused(400, "invalid", f"Invalid list filter expression: {text}")
        field, operator, value = match.groups()
        there = item.get(field, "")
        return bool(re.fullmatch(value, there)) if operator == "eq" else there != value

    def _pages(self, items, query, key):
        start, size = int(query.get("pageToken", "0")), min(int(query.get("maxResults", "500")), PAGE)
        page = {"kind": "compute#list"}
        if key:
            page["items"] = {f"zones/{zone}": {"warning": {"code": "NO_RESULTS_ON_PAGE", "message": "no results"}} for zone in ZONES}
            for scope, item in items[start:start + size]:
                page["items"].setdefault(scope, {}).pop("warning", None)
                page["items"][scope].setdefault(key, []).append(item)
        else:
            page["items"] = [item for _, item in items[start:start + size]]
        if start + size < len(items):
            page["nextPageToken"] = str(start + size)
        return page

    def _get(self, _collection, folder, name, _query, _body):
        return self._there(f"{folder}/{name}")

    def _list(self, _collection, folder, _name, query, _body):
        found = [("", one) for path, one in sorted(self.resources.items()) if path.rpartition("/")[0] == folder and self._filter(query, one)]
        return self._pages(found, query, "")

    def _aggregatedList(self, collection, _folder, _name, query, _body):  # noqa: N802 - the API's word
        found = [("/".join(path.split("/")[:2]), one) for path, one in sorted(self.resources.items())
                 if path.split("/")[-2] == collection and self._filter(query, one)]
        return self._pages(found, query, collection)

    def _getGuestAttributes(self, _collection, folder, name, _query, _body):  # noqa: N802
        self._there(f"{folder}/{name}")
        found = self.guest_attributes(f"{folder}/{name}")
        if not found:
            raise Refused(404, "notFound", "The resource 'hostkeys/' of type 'Guest Attribute' was not found.")
        return {"queryPath": "hostkeys/", "queryValue": {"items": [{"namespace": "hostkeys", "key": k, "value": v} for k, v in found.items()]}}

    def _getSerialPortOutput(self, _collection, folder, name, _query, _body):  # noqa: N802
        self._there(f"{folder}/{name}")
        return {"contents": self.serial_port(f"{folder}/{name}"), "start": "0", "next": "1"}

    def _there(self, path):
        if path not in self.resources or self.resources[path].get("_hidden"):
            raise Refused(404, "notFound", f"The resource 'projects/{PROJECT}/{path}' was not found")
        shown = {k: v for k, v in self.resources[path].items() if not k.startswith("_")}
        if "/disks/" in path:
            shown["users"] = [BASE + f"{PROJECT}/{p}" for p, o in self.resources.items() if "/instances/" in p and mentions(o.get("disks"), path)]
        return shown

    # ---- changing ----
    def _put(self, path, one):
        one |= {"selfLink": BASE + f"{PROJECT}/{path}", "id": str(next(self.numbers) + 10**15)}
        if "/zones/" in "/" + path:
            one["zone"] = BASE + f"{PROJECT}/zones/{path.split('/')[1]}"
        self.resources[path] = one

    @staticmethod
    def _print(value):
        return base64.b64encode(str(abs(hash(json.dumps(value, sort_keys=True)))).encode()[:8]).decode()

    def _begin(self, path, kind, query, act, seconds=None, failure=None):
        name = f"operation-{next(self.numbers)}"
        seconds = (TAKES.get(path.split("/")[-2], 0.05) if seconds is None else seconds) * self.pace
        place = path.rsplit("/", 2)[0]
        made = Operation(name, place, path, kind, seconds, act, query.get("requestId", ""), failure)
        self.operations[name] = made
        if made.request:
            self.requests[made.request] = made
        return made.shown()

    def _settle(self):
        now = time.monotonic()
        for one in self.operations.values():
            if one.is_done:
                continue
            if "/instances/" in one.target and one.kind == "insert" and one.target in self.resources:
                self.resources[one.target]["status"] = "STAGING" if now - one.begun > one.seconds / 2 else "PROVISIONING"
            if now - one.begun >= one.seconds:
                one.is_done = True
                one.act(one.failure is None)

    def _busy(self, path):
        if any(not o.is_done and o.target == path for o in self.operations.values()):
            raise Refused(400, "resourceNotReady", f"The resource 'projects/{PROJECT}/{path}' is not ready")

    def _insert(self, collection, folder, _name, query, body):
        path = f"{folder}/{body['name']}"
        if path in self.resources:
            raise Refused(409, "alreadyExists", f"The resource 'projects/{PROJECT}/{path}' already exists")
        one, failure = copy.deepcopy(body), None
        if collection == "instances":
            failure = self._check_instance(path, one)
        for field in ("network", "subnetwork"):
            if isinstance(one.get(field), str):
                self._there(partial(one[field]))
        if collection == "subnetworks":
            self._check_range(one)
        if collection == "firewalls" and not (one.get("sourceRanges") or one.get("sourceTags")):
            raise Refused(400, "invalid", "Invalid value for field 'resource': no source")
        if collection == "disks":
            one |= {"status": "CREATING", "labelFingerprint": self._print(one.get("labels"))}
        if collection == "addresses":
            one |= {"status": "RESERVING", "address": f"198.51.100.{next(self.numbers) % 200 + 20}"}
        if collection == "resourcePolicies":
            one["status"] = "CREATING"
        # What has a status shows at once, other things when they are made.
        one["_hidden"] = "status" not in one
        self._put(path, one)

        def act(well):
            if not well:
                del self.resources[path]
                return
            one["_hidden"] = False
            if "status" in one:
                one["status"] = {"instances": "RUNNING", "addresses": "RESERVED"}.get(collection, "READY")
        return self._begin(path, "insert", query, act, failure=failure)

    def _check_range(self, one):
        wanted = ipaddress.ip_network(one["ipCidrRange"])
        for path, other in self.resources.items():
            if "/subnetworks/" in path and partial(other["network"]) == partial(one["network"]):
                if ipaddress.ip_network(other["ipCidrRange"]).overlaps(wanted):
                    raise Refused(400, "invalid", "Invalid IPCidrRange: it conflicts with an existing subnetwork in the same network")

    def _check_instance(self, path, one):
        """None, or how its operation is going to fail."""
        zone = path.split("/")[1]
        used = len([p for p in self.resources if "/instances/" in p])
        if self.exhausted or used >= self.instance_quota:
            raise Refused(403, "quotaExceeded", f"Quota 'INSTANCES' exceeded.  Limit: {used}.0 in region {REGION}.")
        if not one.get("disks") or not one.get("networkInterfaces"):
            raise Refused(400, "required", "Required field 'resource.disks' or 'resource.networkInterfaces' not specified")
        if f"zones/{zone}/machineTypes/" not in one.get("machineType", ""):
            raise Refused(400, "invalid", f"Invalid value for field 'resource.machineType': '{one.get('machineType')}'")
        machine = one["machineType"].rpartition("/")[2]
        family = machine.partition("-")[0]
        if machine in self.without.get(zone, ()):
            raise Refused(400, "invalid", f"Invalid value for field 'resource.machineType': '{one['machineType']}'. Machine type with name '{machine}' does not "
                          f"exist in zone '{zone}'.")
        for gpu in one.get("guestAccelerators", ()):
            if gpu["acceleratorType"].rpartition("/")[2] in self.without.get(zone, ()):
                raise Refused(404, "notFound", f"The resource '{partial(gpu['acceleratorType'])}' was not found")
        scheduling = one.setdefault("scheduling", {})
        if (one.get("guestAccelerators") or scheduling.get("provisioningModel") == "SPOT") and scheduling.get("onHostMaintenance") != "TERMINATE":
            raise Refused(400, "invalid", "Instances with guest accelerators and spot instances do not support live migration")
        for disk in one["disks"]:
            if "source" in disk:
                self._there(partial(disk["source"]))
                if any(mentions(o.get("disks"), partial(disk["source"])) for p, o in self.resources.items() if "/instances/" in p):
                    raise Refused(400, "resourceInUseByAnotherResource", f"The disk resource '{disk['source']}' is already being used")
            else:
                image = disk["initializeParams"]["sourceImage"].split("/")
                found = self._images("get", {"project": image[1], "image": image[-1]})
                if (found["architecture"] == "ARM64") != (family in ARM):
                    raise Refused(400, "invalid", f"Invalid value for field 'resource.disks[0]': the image's architecture {found['architecture']} is not that of {family}")
            kind = disk["initializeParams"].get("diskType", "pd-standard") if "source" not in disk else self.resources[partial(disk["source"])].get("type", "pd-standard")
            if family[1] == "4" and not kind.rpartition("/")[2].startswith("hyperdisk") or family in NO_STANDARD and kind.endswith("pd-standard"):
                raise Refused(400, "invalid", f"[{kind.rpartition('/')[2]}] features are not compatible for creating instance of {family}")
        for policy in one.get("resourcePolicies", ()):
            self._there(partial(policy))
        for number, interface in enumerate(one["networkInterfaces"]):
            self._connect(number, interface)
        one |= {"status": "PROVISIONING", "labelFingerprint": self._print(one.get("labels"))}
        one.setdefault("tags", {})["fingerprint"] = self._print(one["tags"].get("items"))
        one.setdefault("metadata", {})["fingerprint"] = self._print(one["metadata"].get("items"))
        for gpu in one.get("guestAccelerators", ()):
            kind = gpu["acceleratorType"].rpartition("/")[2]
            if gpu["acceleratorCount"] > self.gpu_quota.get(kind, 1000):
                metric = f"{kind.replace('-tesla-', '-').replace('-', '_').upper()}_GPUS"
                return ("QUOTA_EXCEEDED", f"Quota '{metric}' exceeded.  Limit: {self.gpu_quota[kind]}.0 in region {REGION}.", 403,
                        {"quotaInfo": {"metricName": f"compute.googleapis.com/{metric.lower()}", "dimensions": {"region": REGION}}})
        if self.broken or zone in self.full_zones and not any('source' in disk for disk in one['disks']):
            return ("ZONE_RESOURCE_POOL_EXHAUSTED", f"The zone 'projects/{PROJECT}/zones/{zone}' does not have enough resources available to "
                    "fulfill the request.  Try a different zone, or try again later.", 503)
        return None

    def _connect(self, number, interface):
        network = self._there(partial(interface["network"]))
        if "subnetwork" in interface:
            self._there(partial(interface["subnetwork"]))
        elif not network.get("autoCreateSubnetworks"):
            raise Refused(400, "invalid", "Invalid value for field 'resource.networkInterfaces[0]': a network in custom subnet mode needs a subnetwork")
        interface |= {"name": f"nic{number}", "network": network["selfLink"]}
        interface.setdefault("networkIP", f"10.132.{number}.{next(self.numbers) % 250 + 2}")
        for access in interface.get("accessConfigs", ()):
            access.setdefault("natIP", f"203.0.113.{next(self.numbers) % 250 + 2}")

    def _delete(self, collection, folder, name, query, _body):
        path = f"{folder}/{name}"
        self._there(path)
        self._busy(path)
        address = self.resources[path].get("address")
        for user, other in self.resources.items():
            if user.split("/")[-2] not in USERS.get(collection, ()):
                continue
            if mentions(other, path) or (address and address in json.dumps(other.get("networkInterfaces", []))):
                raise Refused(400, "resourceInUseByAnotherResource",
                              f"The {collection} resource 'projects/{PROJECT}/{path}' is already being used by 'projects/{PROJECT}/{user}'")
        if collection == "instances":
            self.resources[path]["status"] = "STOPPING"
        return self._begin(path, "delete", query, lambda _well: self.resources.pop(path, None))

    def _change(self, folder, name, query, kind, act, fingerprint=None, given=None):
        path = f"{folder}/{name}"
        one = self.resources[path] if self._there(path) else None
        self._busy(path)
        if fingerprint is not None and fingerprint(one) != given:
            raise Refused(412, "conditionNotMet", "Supplied fingerprint does not match current fingerprint.")
        return self._begin(path, kind, query, lambda well: act(one) if well else None, seconds=0.05, failure=self.fails_later.get(kind))

    def _setLabels(self, _collection, folder, name, query, body):  # noqa: N802
        return self._change(folder, name, query, "setLabels",
                            lambda one: one.update(labels=body["labels"], labelFingerprint=self._print(body["labels"])),
                            lambda one: one["labelFingerprint"], body.get("labelFingerprint"))

    def _setTags(self, _collection, folder, name, query, body):  # noqa: N802
        return self._change(folder, name, query, "setTags",
                            lambda one: one.update(tags={"items": body["items"], "fingerprint": self._print(body["items"])}),
                            lambda one: one["tags"]["fingerprint"], body.get("fingerprint"))

    def _setMetadata(self, _collection, folder, name, query, body):  # noqa: N802
        return self._change(folder, name, query, "setMetadata",
                            lambda one: one.update(metadata={"items": body["items"], "fingerprint": self._print(body["items"])}),
                            lambda one: one["metadata"]["fingerprint"], body.get("fingerprint"))

    def _setMachineType(self, _collection, folder, name, query, body):  # noqa: N802
        if self._there(f"{folder}/{name}")["status"] != "TERMINATED":
            raise Refused(400, "badRequest", "Instance must be in TERMINATED state to change its machine type")
        return self._change(folder, name, query, "setMachineType", lambda one: one.update(machineType=body["machineType"]))

    def _start(self, _collection, folder, name, query, _body):
        return self._change(folder, name, query, "start", lambda one: one.update(status="RUNNING"))

    def _stop(self, _collection, folder, name, query, _body):
        self._there(f"{folder}/{name}")
        self.resources[f"{folder}/{name}"]["status"] = "STOPPING"
        return self._change(folder, name, query, "stop", lambda one: one.update(status="TERMINATED"))

    def _resize(self, _collection, folder, name, query, body):
        if int(body["sizeGb"]) < int(self._there(f"{folder}/{name}")["sizeGb"]):
            raise Refused(400, "invalid", "Invalid value for field 'sizeGb': disk size cannot be decreased")
        return self._change(folder, name, query, "resize", lambda one: one.update(sizeGb=body["sizeGb"]))

    def _patch(self, _collection, folder, name, query, body):
        return self._change(folder, name, query, "patch", lambda one: one.update(body))

    def _deleteAccessConfig(self, _collection, folder, name, query, _body):  # noqa: N802
        return self._change(folder, name, query, "deleteAccessConfig", lambda one: one["networkInterfaces"][0].pop("accessConfigs", None))

    def _addAccessConfig(self, _collection, folder, name, query, body):  # noqa: N802
        body.setdefault("natIP", f"203.0.113.{next(self.numbers) % 250 + 2}")
        return self._change(folder, name, query, "addAccessConfig", lambda one: one["networkInterfaces"][0].update(accessConfigs=[body]))
