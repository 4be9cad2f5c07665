"""The metadata service of Azure's machines, as far as spot machines that are evicted ask it (tests/aws/metadata.py).

https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events: events of a machine's neighbours show too.
"""
import email.utils
import json
import time

from metadata import Service


class Notices(Service):
    """`evicted`: machine -> when (seconds since the epoch)."""
    needs, refusal = ("Metadata", "true"), 400

    def __init__(self):
        self.evicted = {}
        super().__init__()

    def value(self, name, path):
        if path != "/metadata/scheduledevents?api-version=2020-07-01":
            return None
        def event(kind, machine, when):
            return {"EventId": f"{kind}-{machine}", "EventStatus": "Scheduled", "EventType": kind, "ResourceType": "VirtualMachine",
                    "Resources": [machine], "NotBefore": email.utils.formatdate(when, usegmt=True), "Description": "", "EventSource": "Platform"}
        events = [event("Freeze", name, time.time() + 900)] + [event("Preempt", machine, when) for machine, when in self.evicted.items()]
        return json.dumps({"DocumentIncarnation": 1 + len(self.evicted), "Events": events})
