"""moto's own server, with one repair: it compares signatures with what was sent, not with the decoded query and path of it.

Without it moto refuses what boto3 signs rightly as soon as a key or prefix has a character that is encoded ("a/b" in a query).
"""
import sys

import flask
from moto.iam.access_control import IAMRequestBase
from moto.server import main

decoded = IAMRequestBase._create_aws_request


def as_sent(self):
    kept = self._path
    self._path = flask.request.environ.get("RAW_URI") or kept
    try:
        return decoded(self)
    finally:
        self._path = kept


if __name__ == "__main__":
    IAMRequestBase._create_aws_request = as_sent
    main(sys.argv[1:])
