"""The proxy of tests/aws in front of all of OpenStack's services: one address, with the service as the first part of the path.

The catalogue that Keystone answers with is rewritten, so that every further request comes this way too. It also answers what Nova's fake
driver has not (a console with host keys), and does what a test asks of it under /control/.
"""
import json
import re
import urllib.parse

import services
from faults import PASSING
from proxy import Answer, Proxy, Treatment

PREFIXES = {"identity": "keystone", "compute": "nova", "network": "neutron", "image": "glance", "volumev3": "cinder", "placement": "placement"}
PARTS = re.compile(r"/(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|radlc-[^/]+)(?=/|$)")


def openstack_names(method, path, headers, body):
    """("compute", "POST /servers", parameters): ids are cut out."""
    split = urllib.parse.urlsplit(path)
    service, _, rest = split.path.lstrip("/").partition("/")
    rest = re.sub(r"^v\d+(\.\d+)?(?=/|$)", "", rest).lstrip("/")
    plain = PARTS.sub("/ID", "/" + rest)
    if service == "volumev3":
        plain = plain.removeprefix("/ID") or "/"
    if plain.endswith("/action") and body:
        plain += ":" + next(iter(json.loads(body)), "")
    if "/metadata/" in plain:
        plain = plain[:plain.index("/metadata/")] + "/metadata/KEY"
    parameters = dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
    return service, f"{method} {plain}", parameters


def error(kind, status, message):
    return Answer(status, [("Content-Type", "application/json")], json.dumps({kind: {"code": status, "message": message}}).encode())


class Gate(Proxy):
    def __init__(self, faults=None, machines=None):
        super().__init__(f"http://{services.HOST}:{services.PORTS['keystone']}", faults, extras=None, names=openstack_names)
        self.machines = machines
        self.controls = {}  # word -> what is done: a function that gives something for JSON
        self.flavor = None  # in place of the one that a new server is to have
        self.extras = _Extras(self)

    @property
    def auth_url(self):
        return f"{self.url}/identity/v3"

    def route(self, request):
        service, _, rest = request.path.lstrip("/").partition("/")
        return services.HOST, services.PORTS[PREFIXES[service]], "/" + rest

    def forward(self, request):
        if self.flavor and request.action == "POST /servers":
            body = json.loads(request.body)
            body["server"]["flavorRef"] = self.flavor
            request.body = json.dumps(body).encode()
        answer = super().forward(request)
        if request.service == "identity" and answer.body:
            text = answer.body.decode()
            for prefix, name in PREFIXES.items():
                text = text.replace(f"http://{services.HOST}:{services.PORTS[name]}", f"{self.url}/{prefix}")
            answer.body = text.encode()
        return answer



class _Extras:
    def __init__(self, gate):
        self.gate = gate

    def __call__(self, request):
        if request.path.startswith("/control/"):
            words = request.path.split("/")[2:]
            made = self.gate.controls[words[0]](*map(urllib.parse.unquote, words[1:]))
            return Answer(200, [("Content-Type", "application/json")], json.dumps(made).encode())
        if request.action == "POST /servers/ID/action:os-getConsoleOutput" and self.gate.machines:
            name = request.path.split("/servers/")[1].split("/")[0]
            return Answer(200, [("Content-Type", "application/json")], json.dumps({"output": self.gate.machines.console(name)}).encode())
        return None

    def acted(self, request):
        if self.gate.machines and request.service == "compute" and request.method != "GET":
            self.gate.machines.news()


def refused(status, kind, message):
    return lambda _request, _rng: Treatment(refuse=error(kind, status, message))


# What may pass, as OpenStack's services and what stands before them say it.
OPENSTACK_PASSING = {**{name: PASSING[name] for name in ("delay", "reset before", "answer lost", "too many", "bad gateway", "cut", "garbled", "slow")},
                     "throttled": (4, refused(429, "overLimit", "This request was rate-limited.")),
                     "internal error": (2, refused(500, "computeFault", "Unexpected API Error.")),
                     "unavailable": (2, refused(503, "serviceUnavailable", "The service is unavailable.")),
                     "token refused": (2, refused(401, "error", "The request you have made requires authentication."))}
