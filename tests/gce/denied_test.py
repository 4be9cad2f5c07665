"""radlc on Compute Engine while a call of its API is not allowed, or not known (tests/aws/cloud_denied.py)."""
import unittest

import cloud_denied
import cloud_faults
from faults_test import Gce
from proxy import Answer
from server import refuse


class Denied(cloud_denied.Denied, cloud_faults.Faulted, Gce):
    words = {"denied": "docs/providers/gce.md, \"Permissions\"", "unknown": "HTTP status 404"}

    def denied(self, request):
        return refuse(403, "forbidden", f"Required 'compute.{request.action}' permission for 'projects/radl-tests/{request.action}'")

    def unknown(self, request):
        page = f"<html><title>Error 404 (Not Found)!!1</title><p>The requested URL <code>{request.path}</code> was not found on this server.</html>"
        return Answer(404, [("Content-Type", "text/html; charset=UTF-8")], page.encode())


if __name__ == "__main__":
    unittest.main()
