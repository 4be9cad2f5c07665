"""The metadata server of Compute Engine's machines, as far as spot machines that are taken back ask it (tests/aws/metadata.py).

https://cloud.google.com/compute/docs/instances/spot, https://cloud.google.com/compute/docs/metadata/overview
"""
from metadata import Service


class Notices(Service):
    """`preempted`: names of machines that Google takes back."""
    needs, refusal = ("Metadata-Flavor", "Google"), 403

    def __init__(self):
        self.preempted = set()
        super().__init__()

    def value(self, name, path):
        return str(name in self.preempted).upper() if path == "/computeMetadata/v1/instance/preempted" else None
