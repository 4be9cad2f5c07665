"""The Resource Manager of the tests (arm.py) behind the proxy of tests/aws, which records, delays, loses, refuses and kills; the server that gives
tokens for a service principal's secret or certificate; and the log of each machine's console.
"""
import base64
import json
import pathlib
import secrets
import subprocess
import time
import urllib.parse

from arm import Manager
from faults import PASSING
from proxy import Answer, Proxy, Treatment
from resources import REGION, SUBSCRIPTION, TENANT, document

CLIENT, SECRET = "77777777-aaaa-bbbb-cccc-dddddddddddd", "s3cr3t~Of.The-Tests"


class Server(Proxy):
    """`machines`: something that is told of changes, and has host keys. `controls`: word -> what is done for /control/WORD/..."""

    def __init__(self, descriptions, folder, faults=None, pace=1.0):
        self.folder, self.machines, self.controls = pathlib.Path(folder), None, {}
        self.tokens, self.token_seconds, self.asked_tokens = set(), 3600, 0
        self._descriptions = descriptions
        self.arm = Manager(descriptions, lambda: self.url, pace)
        super().__init__("http://127.0.0.1:1", faults, names=self._names)
        self.arm.console = self._console

    def _names(self, method, path, headers, body):
        split = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        first = split.path.split("/")[1]
        if first != "subscriptions":
            return {"control": "control", "blob": "blob"}.get(first, "token"), split.path, query
        try:
            return "arm", self._descriptions.find(method, split.path, query.get("api-version", ""))[0]["name"], query
        except Exception:  # an operation that is followed, or a request that is answered as wrong
            return "arm", f"{method} {split.path}", query

    def make_certificate(self):
        """A PEM file with a key and its certificate, which the token's server then knows."""
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=radlc"],
                       check=True, capture_output=True)
        subprocess.run(["openssl", "x509", "-in", certificate, "-pubkey", "-noout", "-out", self.folder / "key.pub"], check=True, capture_output=True)
        both = self.folder / "client.pem"
        both.write_text(key.read_text() + certificate.read_text())
        both.chmod(0o600)
        return both

    @property
    def environment(self):
        """Of radlc."""
        return {"AZURE_CLIENT_ID": CLIENT, "AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_SECRET": SECRET, "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
                "AZURE_DEFAULTS_LOCATION": REGION, "AZURE_AUTHORITY_HOST": self.url, "RADL_AZURE_ENDPOINT": self.url,
                "RADL_CALLER_CIDR": "203.0.113.7/32"}

    def forward(self, request):
        if request.service == "token":
            return self._token(request.path, request.body)
        if request.service == "control":
            words = [urllib.parse.unquote(word) for word in request.path.split("/", 3)[2:]]
            return document(200, self.controls[words[0]](*words[1:]))
        if request.service == "blob":
            path = urllib.parse.unquote(urllib.parse.urlsplit(request.path).path.removeprefix("/blob/"))
            return Answer(200, [("Content-Type", "text/plain")], self.arm.console(path).encode())
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return document(401, {"error": {"code": "InvalidAuthenticationToken", "message": "The access token is invalid."}})
        answer = self.arm.handle(request.method, request.path, request.headers, request.body)
        if self.machines and request.method != "GET":
            self.machines.news()
        return answer

    def _console(self, path):
        """As cloud-init writes the host keys there."""
        line = self.machines.host_key(path) if self.machines else ""
        return f"Booting\n-----BEGIN SSH HOST KEY KEYS-----\n{line}\n-----END SSH HOST KEY KEYS-----\n" if line else "Booting\n"

    def _token(self, path, body):
        form = dict(urllib.parse.parse_qsl(body.decode()))
        self.asked_tokens += 1
        right = path == f"/{TENANT}/oauth2/v2.0/token" and form.get("client_id") == CLIENT and form.get("grant_type") == "client_credentials"
        right &= form.get("scope") == "https://management.azure.com/.default"
        if not right or not (form.get("client_secret") == SECRET or self._asserted(form)):
            return document(401, {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."})
        token = "eyJ0." + secrets.token_urlsafe(24)
        self.tokens.add(token)
        return document(200, {"access_token": token, "expires_in": self.token_seconds, "token_type": "Bearer"})

    def _asserted(self, form):
        head, _, signature = form.get("client_assertion", "").rpartition(".")
        if form.get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" or not head:
            return False
        claims = json.loads(base64.urlsafe_b64decode(head.split(".")[1] + "=="))
        (self.folder / "signature").write_bytes(base64.urlsafe_b64decode(signature + "=="))
        right = claims["iss"] == claims["sub"] == CLIENT and claims["aud"] == f"{self.url}/{TENANT}/oauth2/v2.0/token"
        right &= abs(claims["nbf"] - time.time()) < 60 and claims["exp"] > time.time()
        return right and subprocess.run(["openssl", "dgst", "-sha256", "-verify", self.folder / "key.pub", "-signature", self.folder / "signature"],
                                        input=head.encode(), capture_output=True).returncode == 0


def refused(status, code, message, headers=()):
    return lambda _request, _rng: Treatment(refuse=document(status, {"error": {"code": code, "message": message}}, headers))


# What may pass, as Azure and what stands before it say it.
AZURE_PASSING = {**{name: PASSING[name] for name in ("delay", "reset before", "answer lost", "bad gateway", "cut", "garbled", "slow")},
                 "throttled": (4, refused(429, "SubscriptionRequestsThrottled", "Number of requests exceeded the limit.", [("Retry-After", "1")])),
                 "internal error": (2, refused(500, "InternalServerError", "Encountered internal server error.")),
                 "unavailable": (2, refused(503, "ServerBusy", "The server is busy.")),
                 "retryable": (2, refused(429, "RetryableError", "A retryable error occurred.", [("Retry-After", "1")])),
                 "token refused": (2, refused(401, "ExpiredAuthenticationToken", "The access token expiry UTC time is earlier than current UTC time."))}
