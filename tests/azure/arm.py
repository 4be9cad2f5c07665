"""A Resource Manager of the tests' own: what is asked for is checked against Microsoft's descriptions of the API (descriptions.py), and what it
does is what Azure documents: operations that go on after the answer, names that are taken, what is in use, quotas, restrictions, interfaces
that are kept for a machine that failed.

Lists give four things at once, so that every test reads pages. Ids come back in letters of Azure's own choice.
"""
import copy
import itertools
import json
import re
import threading
import time
import urllib.parse

from descriptions import Violation
from resources import IMAGES, REGION, SUBSCRIPTION, TENANT, VCPUS, Refused, Resources, collection_of, document, key_of, linked

PAGE = 4
TAKES = {"virtualMachines": 0.3, "disks": 0.1, "resourceGroups": 0.05}  # seconds; others half of a tenth
# Who names it keeps it from being deleted, and what is said then.
IN_USE = {"networkInterfaces": (("virtualMachines",), 400, "NicInUse"),
          "publicIPAddresses": (("networkInterfaces", "natGateways"), 400, "PublicIPAddressCannotBeDeleted"),
          "natGateways": (("virtualNetworks",), 400, "InUseNatGatewayCannotBeDeleted"),
          "virtualNetworks": (("networkInterfaces",), 400, "InUseSubnetCannotBeDeleted"),
          "networkSecurityGroups": (("networkInterfaces",), 400, "InUseNetworkSecurityGroupCannotBeDeleted"),
          "applicationSecurityGroups": (("networkInterfaces", "networkSecurityGroups"), 400, "InUseApplicationSecurityGroupCannotBeDeleted"),
          "disks": (("virtualMachines",), 409, "OperationNotAllowed"), "proximityPlacementGroups": (("virtualMachines",), 409, "OperationNotAllowed")}


class Operation:
    def __init__(self, name, target, kind, seconds, act, failure=None):
        self.name, self.target, self.kind, self.act, self.failure = name, target, kind, act, failure
        self.begun, self.seconds, self.is_done = time.monotonic(), seconds, False

    def shown(self):
        found = {"name": self.name, "status": "InProgress", "startTime": "2025-01-01T00:00:00Z"}
        if self.is_done:
            found["status"] = "Failed" if self.failure else "Succeeded"
        if self.is_done and self.failure:
            found["error"] = {"code": self.failure[0], "message": self.failure[1]}
        return found


class Manager(Resources):
    """`pace`: how much longer everything takes. `called`: what was asked for. `base()`: this server's URL."""

    def __init__(self, descriptions, base, pace=1.0):
        self.descriptions, self.base, self.pace = descriptions, base, pace
        self.resources, self.operations = {}, {}  # by key: {"path": as it was first asked for, ..}
        self.violations, self.called = [], set()
        self.vcpu_quota, self.exhausted, self.broken, self.evicted = 100, False, False, []
        self.full, self.restricted, self.full_zones = set(), {}, set()  # types without room; type -> why; zones without room
        self.state = "Enabled"  # of the subscription
        self.data_disks = {}  # type -> how many disks it takes beside its own; of others 64
        self.no_quota = {}  # type -> the quota of its family, of which there is none
        self.console = lambda path: ""
        self.lock = threading.RLock()
        self.numbers = itertools.count(2)
        self.admin_rules = {}  # virtual network -> security admin rules of a network manager
        self.kept_interfaces = {}  # key -> (until, machine)

    # ---- what tests look at and do ----
    @staticmethod
    def _is_part(one):
        return one["properties"].get("creationData", {}).get("createOption") == "FromImage"

    def everything(self):
        """Ids behind the subscription of all that there is, but for disks that come and go with their machines."""
        with self.lock:
            self._settle()
            return sorted(one["path"] for one in self.resources.values() if not self._is_part(one))

    def all_of(self, collection):
        with self.lock:
            self._settle()
            return {one["path"]: copy.deepcopy(one) for key, one in self.resources.items()
                    if collection_of(key) == collection.lower() and not self._is_part(one)}

    def put_somebody_elses(self):
        with self.lock:
            group = "resourceGroups/payroll"
            self._put(group, {"location": REGION, "properties": {"provisioningState": "Succeeded"}})
            self._put(group + "/providers/Microsoft.Compute/disks/payroll", {"location": REGION, "properties": {"provisioningState": "Succeeded", "diskSizeGB": 4}})

    def put_disk(self, path, **more):
        """Somebody else's, without a machine."""
        with self.lock:
            self._put(path, {"location": REGION, "sku": {"name": "StandardSSD_LRS"},
                             "properties": {"provisioningState": "Succeeded", "diskSizeGB": 4, "diskState": "Unattached"}, **more})

    def stop(self, path):
        with self.lock:
            self._settle()
            self.resources[path.lower()]["_power"] = "deallocated"
        return True

    def evict(self, path):
        """As Azure takes a spot machine back whose policy is Delete."""
        with self.lock:
            self._settle()
            self._remove_machine(path.lower())

    def tamper(self, path):
        with self.lock:
            self._settle()
            one = self.resources[path.lower()]
            if "networkSecurityGroups" in path:
                one["properties"]["securityRules"].append({"name": "let-in", "properties": {
                    "protocol": "Tcp", "sourcePortRange": "*", "destinationPortRange": "3389", "sourceAddressPrefix": "*",
                    "destinationAddressPrefix": "*", "access": "Allow", "direction": "Inbound", "priority": 4000}})
            else:
                one["properties"]["hardwareProfile"]["vmSize"] = "Standard_B12ms"  # somebody resizes it
        return True

    def change(self, path, act):
        """What somebody does to a resource behind radlc's back."""
        with self.lock:
            self._settle()
            act(self.resources[path.lower()])

    # ---- requests ----
    def handle(self, method, target, headers, body):
        split = urllib.parse.urlsplit(target)
        query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        try:
            with self.lock:
                self._settle()
                if "/operations/" in split.path or "/operationResults/" in split.path:
                    return self._progress(split.path)
            skip = int(query.pop("$skiptoken", "0"))
            try:
                value = json.loads(body) if body else None
                operation, folder, parameters = self.descriptions.find(method, split.path, query.get("api-version", ""))
                self.descriptions.check(operation, folder, query, headers, value)
            except (Violation, ValueError) as error:
                self.violations.append(f"{method} {split.path}: {error}")
                raise Refused(400, "InvalidRequestContent", str(error)) from error
            with self.lock:
                self.called.add(operation["name"])
                return self._do(operation["name"], method, split, parameters, query, headers, value, skip)
        except Refused as refused:
            return refused.answer()

    def _do(self, name, method, split, parameters, query, headers, body, skip):
        if name == "subscriptions_list":
            return document(200, {"value": [{"subscriptionId": SUBSCRIPTION, "tenantId": TENANT, "state": "Enabled"}]})
        if parameters.get("subscriptionId") != SUBSCRIPTION:
            raise Refused(404, "SubscriptionNotFound", f"The subscription '{parameters.get('subscriptionId')}' could not be found.")
        if name == "subscriptions_get":
            return document(200, {"subscriptionId": SUBSCRIPTION, "tenantId": TENANT, "displayName": "Tests", "state": self.state})
        if name.endswith("_list_network_manager_effective_security_admin_rules"):
            return self._admin_rules(split.path.rsplit("/", 2)[1], body)
        if self.state == "Disabled" and method in ("PUT", "PATCH", "POST"):
            raise Refused(409, "ReadOnlyDisabledSubscription", f"The subscription '{SUBSCRIPTION}' is disabled and therefore marked as read only. You cannot "
                          "perform any write actions on this subscription until it is re-enabled.")
        path = split.path.split(f"/subscriptions/{SUBSCRIPTION}/")[1]
        special = {"usage_list": self._usages, "resource_skus_list": self._skus, "virtual_machine_images_list": self._images,
                   "virtual_machine_images_get": self._images}.get(name)
        if special:
            return special(parameters, query, split, skip)
        if name == "resources_list_by_resource_group":
            return self._list(split, skip, lambda key: key.startswith(path.lower().removesuffix("resources")) and "/providers/" in key)
        if name.endswith(("_start", "_deallocate", "_power_off", "_boot_diagnostics_data")):
            return self._action(path.rpartition("/")[0], name)
        if "_list" in name:
            if path.lower() != "resourcegroups":
                self._need_group(path)
            return self._list(split, skip, lambda key: key.rpartition("/")[0] == path.lower(), query)
        handler = {"GET": self._get, "PUT": self._create, "PATCH": self._patch, "DELETE": self._delete}[method]
        return handler(path, headers, body, query)

    # ---- reading ----
    def _admin_rules(self, network, body):
        """A rule a page."""
        rules, at = self.admin_rules.get(network.lower(), []), int((body or {}).get("skipToken", "0"))
        return document(200, {"value": rules[at:at + 1], **({"skipToken": str(at + 1)} if at + 1 < len(rules) else {})})

    def _shown(self, one, query=None):
        found = {k: copy.deepcopy(v) for k, v in one.items() if not k.startswith("_") and k != "path"}
        properties = found.get("properties", {})
        if "_power" in one:
            properties.get("osProfile", {}).pop("customData", None)
            if (query or {}).get("$expand") == "instanceView":
                state = properties["provisioningState"]
                statuses = [{"code": one.get("_failed", "ProvisioningState/" + state.lower()), "message": "no room"}]
                if one["_power"]:
                    statuses.append({"code": "PowerState/" + one["_power"]})
                properties["instanceView"] = {"statuses": statuses}
        return found

    def _there(self, path):
        self._need_group(path)
        key = path.lower()
        if key not in self.resources:
            code = "ResourceGroupNotFound" if key.count("/") == 1 else "ResourceNotFound"
            raise Refused(404, code, f"The Resource '{path}' was not found.")
        return self.resources[key]

    def _need_group(self, path):
        group = "/".join(path.lower().split("/")[:2])
        if group not in self.resources:
            raise Refused(404, "ResourceGroupNotFound", f"Resource group '{group.split('/')[1]}' could not be found.")

    def _get(self, path, _headers, _body, query):
        return document(200, self._shown(self._there(path), query), self._limits())

    @staticmethod
    def _limits():
        return [("x-ms-ratelimit-remaining-subscription-reads", "11999"), ("x-ms-request-id", "0")]

    def _pages(self, split, skip, items):
        page = {"value": items[skip:skip + PAGE]}
        if skip + PAGE < len(items):
            query = dict(urllib.parse.parse_qsl(split.query))
            query["$skiptoken"] = str(skip + PAGE)
            page["nextLink"] = f"{self.base()}{split.path}?{urllib.parse.urlencode(query)}"
        return document(200, page)

    def _list(self, split, skip, wanted, query=None):
        return self._pages(split, skip, [self._shown(one, query) for key, one in sorted(self.resources.items()) if wanted(key)])

    def _used(self):
        return sum(VCPUS.get(one["properties"]["hardwareProfile"]["vmSize"], 2) for key, one in self.resources.items() if "/virtualmachines/" in key)

    def _usages(self, _parameters, _query, split, skip):
        usage = lambda name, limit, used: {"unit": "Count", "limit": limit, "currentValue": used, "name": {"value": name, "localizedValue": name}}
        return self._pages(split, skip, [usage("availabilitySets", 2500, 0), usage("cores", self.vcpu_quota, self._used()), usage("virtualMachines", 25000, 1),
                                         usage("lowPriorityCores", self.vcpu_quota, 0), usage("standardBSFamily", 1000, 0)])

    def _skus(self, _parameters, query, split, skip):
        if query.get("$filter") != f"location eq '{REGION}'":
            raise Refused(400, "InvalidFilter", query.get("$filter", ""))
        found = []
        for name in sorted(set(VCPUS) | set(self.restricted) | set(self.data_disks)):
            why = self.restricted.get(name)
            found.append({"resourceType": "virtualMachines", "name": name, "family": "standardBSFamily", "locations": [REGION], "capabilities": [
                {"name": "MaxDataDiskCount", "value": str(self.data_disks.get(name, 64))}, {"name": "PremiumIO", "value": "True"}], "restrictions": [
                {"type": "Location", "values": [REGION], "restrictionInfo": {"locations": [REGION]}, "reasonCode": why}] if why else []})
        return self._pages(split, skip, found)

    def _images(self, parameters, query, _split, _skip):
        name = "/".join((parameters["publisherName"], parameters["offer"], parameters["skus"]))
        versions = IMAGES.get(name)
        if versions is None or parameters["location"].lower() != REGION:
            raise Refused(404, "NotFound", f"Artifact: VMImage was not found: {name}")
        if "version" not in parameters:
            newest = sorted(versions, reverse="desc" in query.get("$orderby", ""))
            return document(200, [{"name": version, "location": REGION} for version in newest[:int(query.get("$top", "100"))]])
        if parameters["version"] not in versions:
            raise Refused(404, "NotFound", "no such version")
        return document(200, {"name": parameters["version"], "location": REGION,
                              "properties": {"hyperVGeneration": "V2", "architecture": "Arm64" if "arm64" in name else "x64", "osDiskImage": {"operatingSystem": "Linux", "sizeInGb": 30}}})

    def _progress(self, path):
        one = self.operations.get(path.rpartition("/")[2])
        if not one:
            raise Refused(404, "NotFound", "The entity was not found.")
        if "/operationResults/" in path:
            if one.is_done and one.failure:
                raise Refused(409, one.failure[0], one.failure[1])
            return document(200 if one.is_done else 202, None, [] if one.is_done else [("Location", self.base() + path), ("Retry-After", "0")])
        return document(200, one.shown())

    # ---- changing ----
    def _put(self, path, one):
        key = path.lower()
        old = self.resources.get(key, {})
        # Compute writes groups in capital letters.
        parts = path.split("/")
        if "Microsoft.Compute" in path:
            parts[1] = parts[1].upper()
        one |= {"path": old.get("path", path), "id": f"/subscriptions/{SUBSCRIPTION}/" + "/".join(parts), "name": parts[-1],
                "type": "/".join(parts[3:5]) if len(parts) > 3 else "Microsoft.Resources/resourceGroups"}
        self.resources[key] = one
        return one

    def _begin(self, key, kind, act, failure=None, status=200, shown=None, location=False):
        name = f"op-{next(self.numbers)}"
        seconds = TAKES.get(next((c for c in TAKES if "/" + c.lower() + "/" in "/" + key), ""), 0.05) * self.pace
        self.operations[name] = Operation(name, key, kind, seconds, act, failure)
        where = f"{self.base()}/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Tests/locations/{REGION}"
        headers = [("Location", f"{where}/operationResults/{name}?api-version=1"), ("Retry-After", "0")]
        if not location:
            headers.append(("Azure-AsyncOperation", f"{where}/operations/{name}?api-version=1"))
        return document(status, shown, headers + self._limits())

    def _settle(self):
        now = time.monotonic()
        for one in self.operations.values():
            if not one.is_done and now - one.begun >= one.seconds:
                one.is_done = True
                one.act(one.failure is None)

    def _busy(self, key):
        if any(not o.is_done and o.target == key for o in self.operations.values()):
            if "microsoft.compute" in key:
                raise Refused(409, "AnotherOperationInProgress", f"Another operation on {key} is in progress")
            raise Refused(429, "AnotherOperationInProgress", "Another operation on this or dependent resource is in progress.", [("Retry-After", "1")])

    def _check_links(self, key, body):
        for arm_id in linked(body):
            there = key_of(arm_id)
            name, _, subnet = there.partition("/subnets/")
            if name not in self.resources:
                raise Refused(400, "InvalidResourceReference", f"Resource {arm_id} referenced by resource {key} was not found.")
            if subnet and subnet not in [one["name"].lower() for one in self.resources[name]["properties"]["subnets"]]:
                raise Refused(400, "InvalidResourceReference", f"Resource {arm_id} referenced by resource {key} was not found.")
            if self.resources[name]["properties"].get("provisioningState") == "Creating":
                raise Refused(429, "ReferencedResourceNotProvisioned", f"Cannot proceed with operation because resource {arm_id} is not in Succeeded state.")

    def _create(self, path, headers, body, _query):
        key, old = path.lower(), self.resources.get(path.lower())
        if key.count("/") == 1:
            if old and old["properties"]["provisioningState"] == "Deleting":
                raise Refused(409, "ResourceGroupBeingDeleted", f"The resource group '{path}' is in deprovisioning state and cannot perform this operation.")
            self._put(path, {"location": body["location"], "tags": body.get("tags", {}), "properties": {"provisioningState": "Succeeded"}})
            return document(200 if old else 201, self._shown(self.resources[key]))
        self._need_group(path)
        group = self.resources["/".join(key.split("/")[:2])]
        if group["properties"]["provisioningState"] == "Deleting":
            raise Refused(409, "ResourceGroupBeingDeleted", "The resource group is in deprovisioning state and cannot perform this operation.")
        if body.get("location") != REGION:
            raise Refused(400, "LocationNotAvailableForResourceType", f"The provided location '{body.get('location')}' is not available.")
        if old and headers.get("if-none-match") == "*":
            raise Refused(412, "PreconditionFailed", "The resource exists already.")
        if len(key.rpartition("/")[2]) > 80:
            raise Refused(400, "InvalidResourceName", "the name is too long")
        self._busy(key)
        self._check_links(key, body)
        one, failure = copy.deepcopy(body), None
        one.setdefault("tags", {})
        properties = one.setdefault("properties", {})
        check = getattr(self, "_check_" + collection_of(key), None)
        failure = check(key, one, old) if check else None
        properties["provisioningState"] = "Updating" if old else "Creating"
        self._put(path, one)

        def act(well):
            properties["provisioningState"] = "Succeeded" if well else "Failed"
            if "/virtualmachines/" in key:
                one["_power"] = "running" if well else ""
                if not well:
                    one["_failed"] = "ProvisioningState/failed/" + failure[0]
            if "/publicipaddresses/" in key:
                properties.setdefault("ipAddress", f"203.0.113.{next(self.numbers) % 250 + 2}")
        return self._begin(key, "create", act, failure, 200 if old else 201, self._shown(one))

    def _patch(self, path, _headers, body, _query):
        one, key = self._there(path), path.lower()
        self._busy(key)
        properties = body.get("properties", {})
        size = properties.get("hardwareProfile", {}).get("vmSize")
        if size in self.full:
            raise Refused(409, "AllocationFailed", "no room")
        if properties.get("diskSizeGB", 10**6) < one["properties"].get("diskSizeGB", 0):
            raise Refused(409, "OperationNotAllowed", "a disk cannot shrink")

        def act(_well):
            if "tags" in body:
                one["tags"] = body["tags"]
            if size:
                one["properties"]["hardwareProfile"]["vmSize"] = size
            if "diskSizeGB" in properties:
                one["properties"]["diskSizeGB"] = properties["diskSizeGB"]
            one["properties"]["provisioningState"] = "Succeeded"
        one["properties"]["provisioningState"] = "Updating"
        return self._begin(key, "update", act, None, 200, self._shown(one))

    def _action(self, path, name):
        one, key = self._there(path), path.lower()
        if name.endswith("_boot_diagnostics_data"):
            return document(200, {"consoleScreenshotBlobUri": "", "serialConsoleLogBlobUri": f"{self.base()}/blob/{urllib.parse.quote(one['path'], safe='')}?sig=secret"})
        self._busy(key)
        to = "running" if name.endswith("_start") else "deallocated"

        def act(_well):
            one["_power"] = to
            one["properties"]["provisioningState"] = "Succeeded"
        one["_power"], one["properties"]["provisioningState"] = ("starting" if to == "running" else "deallocating"), "Updating"
        return self._begin(key, "action", act, None, 202)

    def _delete(self, path, _headers, _body, _query):
        key = path.lower()
        if key.count("/") == 1:
            one = self._there(path)
            if one["properties"]["provisioningState"] == "Deleting":  # the first one goes on
                under_way = next(name for name, o in self.operations.items() if o.target == key and o.kind == "delete" and not o.is_done)
                where = f"{self.base()}/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Tests/locations/{REGION}/operationResults/{under_way}?api-version=1"
                return document(202, None, [("Location", where), ("Retry-After", "0"), *self._limits()])
            one["properties"]["provisioningState"] = "Deleting"

            def all_of_it(_well):
                for inside in [k for k in self.resources if k == key or k.startswith(key + "/")]:
                    del self.resources[inside]
            return self._begin(key, "delete", all_of_it, None, 202, location=True)
        self._need_group(path)
        if key not in self.resources:
            return document(204, None)
        self._busy(key)
        one = self.resources[key]
        users, status, code = next(((u, s, c) for name, (u, s, c) in IN_USE.items() if name.lower() == collection_of(key)), ((), 0, ""))
        for user, other in self.resources.items():
            if collection_of(user) in [u.lower() for u in users] and any(key_of(i).partition("/subnets/")[0] == key for i in linked(other)):
                raise Refused(status, code, f"{path} is used by {user}")
        one["properties"]["provisioningState"] = "Deleting"
        act = (lambda _well: self._remove_machine(key)) if "/virtualmachines/" in key else lambda _well: self.resources.pop(key, None)
        return self._begin(key, "delete", act, None, 202)
