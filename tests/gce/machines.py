"""The machines behind the instances of the tests' Compute Engine (tests/aws/booted.py)."""
import booted


def _shown(record):
    addresses = set()
    for interface in record["networkInterfaces"]:
        addresses.add(interface["networkIP"])
        addresses.update(access["natIP"] for access in interface.get("accessConfigs", ()))
    items = {item["key"]: item["value"] for item in record["metadata"]["items"]}
    state = {"RUNNING": "running", "TERMINATED": "off"}.get(record["status"], "")
    return booted.Shown(state, sorted(addresses), items["ssh-keys"].partition(":")[2], items.get("user-data", "").encode())


class Machines(booted.Machines):
    def __init__(self, compute, folder, boots=True):
        # What bears no mark is somebody else's.
        super().__init__(lambda: {path: _shown(one) for path, one in compute.all_of("instances").items()
                                  if one.get("description", "").startswith("radlc ")}, folder, boots)
        compute.guest_attributes = self.host_keys

    def host_keys(self, path):
        """As the guest agent writes them: {type: key}."""
        line = self.host_key(path)
        return dict([line.split()[:2]]) if line else {}
