"""radlc on OpenStack while a call of a service's is not allowed, or not known (tests/aws/cloud_denied.py)."""
import unittest

import cloud_denied
import cloud_faults
from faults_test import OpenStack
from gate import error


class Denied(cloud_denied.Denied, cloud_faults.Faulted, OpenStack):
    words = {"denied": "disallowed by policy", "unknown": "could not be found"}

    def is_named(self, request):
        # Without its document of versions a service is taken for an old one, which is no refusal.
        return request.service not in ("identity", "control") and request.action != "GET /"

    def denied(self, request):
        return error("forbidden", 403, f"rule:{request.action} is disallowed by policy")

    def unknown(self, request):
        return error("itemNotFound", 404, "The resource could not be found.")


if __name__ == "__main__":
    unittest.main()
