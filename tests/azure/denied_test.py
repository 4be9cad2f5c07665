"""radlc on Azure while a call of its API is not allowed, or not known (tests/aws/cloud_denied.py)."""
import unittest

import cloud_denied
import cloud_faults
from faults_test import Azure
from server import document


class Denied(cloud_denied.Denied, cloud_faults.Faulted, Azure):
    words = {"denied": "docs/providers/azure.md, \"Permissions\"", "unknown": "lacks the resource type or API version"}

    def denied(self, request):
        said = f"The client 'radlc' with object id 'o' does not have authorization to perform action '{request.action}' over scope '{request.path}'"
        return document(403, {"error": {"code": "AuthorizationFailed", "message": said}})

    def unknown(self, request):
        return document(404, {"error": {"code": "InvalidResourceType", "message": f"The resource type could not be found in the namespace for {request.path}"}})


if __name__ == "__main__":
    unittest.main()
