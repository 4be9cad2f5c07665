"""The machines behind those of the tests' Resource Manager (tests/aws/booted.py)."""
import booted
from resources import key_of


def _addresses(arm, record):
    found = set()
    interface = arm.resources[key_of(record["properties"]["networkProfile"]["networkInterfaces"][0]["id"])]
    for config in interface["properties"]["ipConfigurations"]:
        found.add(config["properties"]["privateIPAddress"])
        if "publicIPAddress" in config["properties"]:
            address = arm.resources[key_of(config["properties"]["publicIPAddress"]["id"])]["properties"].get("ipAddress")
            found.update([address] if address else [])
    return sorted(found)


def _shown(arm, record):
    state = {"running": "running", "deallocated": "off", "stopped": "off"}.get(record["_power"], "")
    key = record["properties"]["osProfile"]["linuxConfiguration"]["ssh"]["publicKeys"][0]["keyData"]
    return booted.Shown(state, _addresses(arm, record), key, record["_user_data"])


class Machines(booted.Machines):
    def __init__(self, arm, folder, boots=True):
        def seen():
            with arm.lock:
                return {path: _shown(arm, one) for path, one in arm.all_of("virtualMachines").items()}
        super().__init__(seen, folder, boots)
