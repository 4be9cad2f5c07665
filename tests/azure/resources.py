"""What the tests' Azure says of resources that are asked for: what it refuses before it begins, and what it sets itself."""
import base64
import ipaddress
import json
import re
import time

from proxy import Answer

SUBSCRIPTION, TENANT, REGION = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-000000000000", "eastus"
KEEPS_INTERFACE = 0.5  # seconds; Azure's 180
IMAGES = {"Debian/debian-12/12": ["0.20250310.2"], "Debian/debian-12/12-arm64": ["0.20250310.2"], "Debian/debian-12/12-gen2": ["0.20250101.1", "0.20250310.2"], "Canonical/0001-com-ubuntu-server-jammy/22_04-lts-gen2": ["22.04.202501010"]}
VCPUS = {"Standard_B1s": 1, "Standard_B1ms": 1, "Standard_B2s": 2, "Standard_D2s_v5": 2}
RESERVED = {"root", "admin", "administrator", "user", "guest", "test"}


class Refused(Exception):
    def __init__(self, status, code, message, headers=()):
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers

    def answer(self):
        return document(self.status, {"error": {"code": self.code, "message": self.message}}, self.headers)


def document(status, value, headers=()):
    body = b"" if value is None else json.dumps(value).encode()
    return Answer(status, [("Content-Type", "application/json; charset=utf-8"), *headers], body)


def linked(value):
    """Every whole id in a document."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name == "id" and isinstance(one, str) and one.startswith("/subscriptions/"):
                yield one
            else:
                yield from linked(one)
    elif isinstance(value, list):
        for one in value:
            yield from linked(one)


def key_of(arm_id):
    """"resourcegroups/g/providers/microsoft.network/networkinterfaces/n" of an id in any letters."""
    return re.sub(r"^/?subscriptions/[^/]+/", "", arm_id.lower()).strip("/")


def collection_of(key):
    return key.split("/")[-2]


class Resources:
    """A mixin of arm.Manager: `resources`, `numbers`, `full`, `restricted` and the like are there."""

    def _check_virtualnetworks(self, _key, one, old):
        ranges = [ipaddress.ip_network(r) for r in one["properties"]["addressSpace"]["addressPrefixes"]]
        subnets = {s["name"]: ipaddress.ip_network(s["properties"]["addressPrefix"]) for s in one["properties"].get("subnets", [])}
        for name, inside in subnets.items():
            if not any(inside.subnet_of(r) for r in ranges):
                raise Refused(400, "NetcfgInvalidSubnet", f"Subnet '{name}' is not valid because its IP address range is outside the network's.")
            if any(inside.overlaps(other) for n, other in subnets.items() if n != name):
                raise Refused(400, "NetcfgSubnetRangesOverlap", f"Subnet '{name}' is not valid because its IP address range overlaps with that of another one.")
        for there in (old or {}).get("properties", {}).get("subnets", []):
            used = any(key_of(i).endswith("/subnets/" + there["name"].lower()) for k, n in self.resources.items() if "/networkinterfaces/" in k for i in linked(n))
            if used and there["name"] not in subnets:
                raise Refused(400, "InUseSubnetCannotBeDeleted", f"Subnet {there['name']} is in use")

    def _check_networksecuritygroups(self, _key, one, _old):
        rules = one["properties"].get("securityRules", [])
        if len({r["properties"]["priority"] for r in rules}) != len(rules) or len({r["name"] for r in rules}) != len(rules):
            raise Refused(400, "SecurityRuleConflict", "Security rules conflict: priorities and names are unique")
        for rule in rules:
            p = rule["properties"]
            if not 100 <= p["priority"] <= 4096:
                raise Refused(400, "SecurityRuleInvalidPriority", "priority is between 100 and 4096")
            for side in ("source", "destination"):
                if (side + "AddressPrefix" in p) == (side + "ApplicationSecurityGroups" in p):
                    raise Refused(400, "SecurityRuleParameterConflict", f"{rule['name']}: one {side}")
                if side + "PortRange" not in p:
                    raise Refused(400, "SecurityRuleInvalidPortRange", f"{rule['name']}: {side}PortRange")

    def _check_networkinterfaces(self, _key, one, old):
        for config in one["properties"]["ipConfigurations"]:
            inside = config["properties"]
            before = (old or {}).get("properties", {}).get("ipConfigurations", [{"properties": {}}])[0]["properties"].get("privateIPAddress")
            subnet = key_of(inside["subnet"]["id"])
            network = self.resources[subnet.partition("/subnets/")[0]]
            prefix = next(s["properties"]["addressPrefix"] for s in network["properties"]["subnets"] if s["name"].lower() == subnet.rpartition("/")[2])
            inside.setdefault("privateIPAddress", before or str(ipaddress.ip_network(prefix)[next(self.numbers) % 200 + 4]))

    def _check_publicipaddresses(self, _key, one, old):
        if old:
            one["properties"]["ipAddress"] = old["properties"]["ipAddress"]
        if one.get("sku", {}).get("name") == "Standard" and one["properties"].get("publicIPAllocationMethod") != "Static":
            raise Refused(400, "PublicIPAddressAllocationMethodInvalid", "Standard addresses are static")

    def _check_disks(self, _key, one, _old):
        one["properties"]["diskState"] = "Unattached"

    def _check_virtualmachines(self, key, one, old):
        """None, or how its operation is going to fail."""
        p = one["properties"]
        if old:
            raise Refused(409, "PropertyChangeNotAllowed", "Changing property 'osProfile' is not allowed.")
        size, spot = p["hardwareProfile"]["vmSize"], p.get("priority") == "Spot"
        if size in self.restricted:
            raise Refused(409, "SkuNotAvailable", f"The requested VM size for resource '{size}' is currently not available in location '{REGION}'.")
        if size in self.no_quota:
            raise Refused(409, "OperationNotAllowed", f"Operation could not be completed as it results in exceeding approved {self.no_quota[size]} Cores quota. "
                          f"Additional details - Deployment Model: Resource Manager, Location: {REGION}, Current Limit: 0, Current Usage: 0, Additional Required: 4, "
                          "(Minimum) New Limit Required: 4.")
        if len(p["storageProfile"].get("dataDisks", ())) > self.data_disks.get(size, 64):
            raise Refused(409, "OperationNotAllowed", "The maximum number of data disks allowed to be attached to a VM of this size is "
                          f"{self.data_disks[size]}.")
        if self.exhausted or self._used() + VCPUS.get(size, 2) > self.vcpu_quota:
            raise Refused(409, "OperationNotAllowed", "Operation could not be completed as it results in exceeding approved Total Regional Cores quota.")
        if not spot and ("evictionPolicy" in p or "billingProfile" in p):
            raise Refused(400, "InvalidParameter", "evictionPolicy and billingProfile are for spot machines")
        if one.get("zones") and one["zones"][0] not in ("1", "2", "3"):
            raise Refused(400, "InvalidParameter", "zones")
        kinds = [p["storageProfile"]["osDisk"]["managedDisk"].get("storageAccountType", "")]
        kinds += [self.resources[key_of(disk["managedDisk"]["id"])]["sku"]["name"] for disk in p["storageProfile"].get("dataDisks", ())]
        if any(kind.startswith(("Premium", "Ultra")) for kind in kinds) and not re.match(r"Standard_[A-Z]+[0-9-]+[a-z]*s", size):
            raise Refused(400, "InvalidParameter", f"Requested operation cannot be performed because the VM size {size} does not support the storage account type "
                          f"{kinds[0]} of disk.")
        login = p["osProfile"]
        keys = login["linuxConfiguration"]["ssh"]["publicKeys"]
        if login["adminUsername"].lower() in RESERVED or not login["computerName"] or len(login["computerName"]) > 64 or "." in login["computerName"]:
            raise Refused(400, "InvalidParameter", "adminUsername or computerName")
        if not keys or not keys[0]["keyData"].startswith("ssh-") or keys[0]["path"] != f"/home/{login['adminUsername']}/.ssh/authorized_keys":
            raise Refused(400, "InvalidParameter", "publicKeys")
        one["_user_data"] = base64.b64decode(login.get("customData", ""), validate=True)
        interface = key_of(p["networkProfile"]["networkInterfaces"][0]["id"])
        until, kept_for = self.kept_interfaces.get(interface, (0, ""))
        if until > time.monotonic() and kept_for != key:
            raise Refused(400, "NicReservedForAnotherVm", f"Nic(s) in request is reserved for another Virtual Machine for 180 seconds: {interface}")
        if any(interface in [key_of(i) for i in linked(m)] for k, m in self.resources.items() if "/virtualmachines/" in k):
            raise Refused(409, "NicInUse", f"Network Interface {interface} is used by another machine")
        self._image(p["storageProfile"])
        self._attach(key, p["storageProfile"])
        one["_power"] = ""
        if self.broken or size in self.full or set(one.get("zones", ())) & self.full_zones:
            self.kept_interfaces[interface] = (time.monotonic() + KEEPS_INTERFACE * self.pace, key)
            return ("AllocationFailed", "Allocation failed. We do not have sufficient capacity for the requested VM size in this region.")
        return None

    def _image(self, storage):
        image = storage["imageReference"]
        if "id" not in image and image.get("version") not in IMAGES.get(f"{image['publisher']}/{image['offer']}/{image['sku']}", ()):
            raise Refused(404, "PlatformImageNotFound", f"The platform image '{image}' is not available.")
        if storage["osDisk"]["createOption"] != "FromImage" or storage["osDisk"].get("deleteOption") != "Delete":
            raise Refused(400, "InvalidParameter", "osDisk")

    def _attach(self, key, storage):
        luns = [disk["lun"] for disk in storage.get("dataDisks", [])]
        if len(set(luns)) != len(luns):
            raise Refused(400, "InvalidParameter", "two disks at one lun")
        for disk in storage.get("dataDisks", []):
            there = self.resources[key_of(disk["managedDisk"]["id"])]
            if there["properties"]["diskState"] != "Unattached":
                raise Refused(409, "AttachDiskWhileBeingDetached", "the disk is attached elsewhere")
            there["properties"]["diskState"] = "Attached"
            there["managedBy"] = f"/subscriptions/{SUBSCRIPTION}/{key}"
        folder = self.resources["/".join(key.split("/")[:2])]["path"]
        self._put(f"{folder}/providers/Microsoft.Compute/disks/{storage['osDisk']['name']}",
                  {"location": REGION, "_machine": key, "properties": {"provisioningState": "Succeeded", "creationData": {"createOption": "FromImage"}}})

    def _remove_machine(self, key):
        one = self.resources.pop(key, None)
        if not one:
            return
        for disk in one["properties"]["storageProfile"].get("dataDisks", []):
            left = self.resources[key_of(disk["managedDisk"]["id"])]
            left["properties"]["diskState"] = "Unattached"
            left.pop("managedBy", None)
        for disk in [k for k, d in self.resources.items() if d.get("_machine") == key]:
            del self.resources[disk]
