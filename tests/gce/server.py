"""The Compute Engine of the tests (compute.py) behind the proxy of tests/aws, which records, delays, loses, refuses and kills; and the server
that gives tokens for a service account's key.
"""
import base64
import json
import pathlib
import secrets
import subprocess
import time
import urllib.parse

from compute import PROJECT, Compute
from faults import PASSING
from proxy import Answer, Proxy, Treatment

ACCOUNT = f"radlc@{PROJECT}.iam.gserviceaccount.com"


def _json(status, document):
    return Answer(status, [("Content-Type", "application/json; charset=UTF-8")], json.dumps(document).encode())


class Server(Proxy):
    """`machines`: something that is told of changes, and has host keys. `controls`: word -> what is done for /control/WORD/..."""

    def __init__(self, description, folder, faults=None, pace=1.0):
        self.compute, self.folder, self.machines, self.controls = Compute(description, pace), pathlib.Path(folder), None, {}
        self.tokens, self.token_seconds, self.asked_tokens = set(), 3600, 0
        self._description = description
        super().__init__("http://127.0.0.1:1", faults, names=self._names)
        self._make_key()

    def _names(self, method, path, headers, body):
        split = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        if not split.path.startswith("/compute/"):
            return "control" if split.path.startswith("/control/") else "token", split.path, query
        try:
            return "compute", self._description.find(method, split.path)[0]["id"].removeprefix("compute."), query
        except Exception:  # the request is answered as wrong
            return "compute", f"{method} {split.path}", query

    def _make_key(self):
        key = self.folder / "key.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", self.folder / "key.pub"], check=True, capture_output=True)
        self.private = key.read_text()
        self.key_file = self.folder / "account.json"
        self.key_file.write_text(json.dumps({"type": "service_account", "project_id": PROJECT, "private_key_id": "k1", "private_key": self.private,
                                             "client_email": ACCOUNT, "token_uri": self.url + "/token"}))
        self.key_file.chmod(0o600)

    @property
    def environment(self):
        """Of radlc."""
        return {"GOOGLE_APPLICATION_CREDENTIALS": str(self.key_file), "CLOUDSDK_COMPUTE_REGION": "europe-west1",
                "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": self.url + "/compute/v1/", "RADL_CALLER_CIDR": "203.0.113.7/32"}

    def forward(self, request):
        if request.service == "token":
            return self._token(request.body)
        if request.service == "control":
            words = [urllib.parse.unquote(word) for word in request.path.split("/", 3)[2:]]
            return _json(200, self.controls[words[0]](*words[1:]))
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return _json(401, {"error": {"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED",
                                         "errors": [{"reason": "authError", "message": "Invalid Credentials"}]}})
        answer = self.compute.handle(request.method, request.path, request.headers, request.body)
        if self.machines and request.method != "GET":
            self.machines.news()
        return answer

    def _token(self, body):
        form = dict(urllib.parse.parse_qsl(body.decode()))
        head, _, signature = form.get("assertion", "").rpartition(".")
        self.asked_tokens += 1
        try:
            claims = json.loads(base64.urlsafe_b64decode(head.split(".")[1] + "=="))
            (self.folder / "signature").write_bytes(base64.urlsafe_b64decode(signature + "=="))
            right = claims["iss"] == ACCOUNT and claims["aud"] == self.url + "/token" and claims["exp"] - claims["iat"] <= 3600
            right &= abs(claims["iat"] - time.time()) < 60 and form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        except (ValueError, KeyError, IndexError):
            right = False
        if right:
            right = subprocess.run(["openssl", "dgst", "-sha256", "-verify", self.folder / "key.pub", "-signature", self.folder / "signature"],
                                   input=head.encode(), capture_output=True).returncode == 0
        if not right:
            return _json(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})
        token = "ya29." + secrets.token_urlsafe(24)
        self.tokens.add(token)
        return _json(200, {"access_token": token, "expires_in": self.token_seconds, "token_type": "Bearer"})


def refuse(status, reason, message):
    return _json(status, {"error": {"code": status, "message": message,
                                    "errors": [{"domain": "global", "reason": reason, "message": message}]}})


def refused(status, reason, message):
    return lambda _request, _rng: Treatment(refuse=refuse(status, reason, message))


# What may pass, as Compute Engine and what stands before it say it.
GCE_PASSING = {**{name: PASSING[name] for name in ("delay", "reset before", "answer lost", "too many", "bad gateway", "cut", "garbled", "slow")},
               "throttled": (4, refused(403, "rateLimitExceeded", "Rate Limit Exceeded")),
               "internal error": (2, refused(500, "backendError", "Internal Error")),
               "unavailable": (2, refused(503, "backendError", "Backend Error")),
               "token refused": (2, refused(401, "authError", "Invalid Credentials"))}
