"""The metadata service of a cloud's machines at 169.254.169.254, and EC2's (version 2 only). Which machine asks is seen from the connection's process.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
"""
import errno
import http.server
import json
import os
import pathlib
import re
import threading
import time

ADDRESS, PORT = "169.254.169.254", 80
INSTANCE = re.compile(rb"(?:^|\0)AWS_INSTANCE_ID=([^\0]+)")


def inode_of(port):
    """Of the socket of this computer that has this local port and is connected to the service."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[1].rpartition(":")[2], 16) == port and words[2].endswith(":0050"):
            return words[9]
    return None


def instance_at(port):
    """Id of the instance whose process holds that end; None where it is no instance's."""
    wanted = f"socket:[{inode_of(port)}]"
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if any(os.readlink(descriptor) == wanted for descriptor in (entry / "fd").iterdir()):
                found = INSTANCE.search((entry / "environ").read_bytes())
                return found[1].decode() if found else None
        except OSError:
            continue
    return None


def listening_at(port):
    """What holds a port of this namespace: "PID command line", one a line."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{words[9]}]")
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and any(os.readlink(descriptor) in inodes for descriptor in (entry / "fd").iterdir()):
                found.append(entry.name + " " + (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except OSError:
            continue
    return "\n".join(found) or "nobody that can be seen from here"


def bound(handler, seconds=10):
    """The server at its port. A node's own server may hold it for a moment longer than its test took."""
    until = time.monotonic() + seconds
    while True:
        try:
            return http.server.ThreadingHTTPServer((ADDRESS, PORT), handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise RuntimeError(f"the metadata service cannot listen at {ADDRESS}:{PORT} ({error}): the tests run in a namespace that "
                                   "tests/aws/run makes") from error
            if time.monotonic() > until:
                raise RuntimeError(f"port {PORT} is held by {listening_at(PORT)}") from error
        time.sleep(0.2)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text=""):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        service = self.server.service
        self.answer(*(service.put(self.path, self.headers) if service else (503,)))

    def do_GET(self):
        service = self.server.service
        if service is None:
            return self.answer(503)
        if not service.may_ask(self.headers):
            return self.answer(service.refusal)
        name = instance_at(self.client_address[1])
        service.requests.append((name, self.path))
        text = service.value(name, self.path)
        return self.answer(404) if text is None else self.answer(200, text)


class Service:
    """`value(machine, path)`: what a machine is answered, None where there is no such thing; `requests`: all (machine, path).

    One server for all tests of a process: the port is bound once, and each test's service answers behind it.
    """
    server = None
    needs, refusal = ("", ""), 400  # a header of each request, and the status without it

    def __init__(self):
        self.requests = []
        if Service.server is None:
            Service.server = bound(Handler)
            threading.Thread(target=Service.server.serve_forever, daemon=True).start()
        Service.server.service = self

    def may_ask(self, headers):
        return headers.get(self.needs[0]) == self.needs[1]

    def put(self, _path, _headers):
        return (405,)

    def close(self):
        Service.server.service = None


class Metadata(Service):
    """`interrupted`: instance id -> when it ends (seconds since the epoch); `credentials`: what a role gives, or None."""
    needs, refusal = ("X-aws-ec2-metadata-token", "token"), 401

    def __init__(self, machines):
        self.machines, self.interrupted, self.credentials = machines, {}, None
        super().__init__()

    def put(self, path, headers):
        lifetime = headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        return (200, "token") if path == "/latest/api/token" and lifetime.isdigit() else (400,)

    def value(self, name, path):
        role = path.partition("/latest/meta-data/iam/security-credentials/")
        if role[1] and self.credentials:
            return json.dumps(self.credentials) if role[2] else "tests"
        record = self.machines.records.get(name)
        if not record:
            return None
        if path == "/latest/user-data":
            return self.machines.user_data(name).decode(errors="replace") or None
        if path == "/latest/meta-data/spot/instance-action" and name in self.interrupted:
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.interrupted[name]))
            return json.dumps({"action": "terminate", "time": when})
        zone = record["Placement"]["AvailabilityZone"]
        return {"instance-id": name, "instance-type": record["InstanceType"], "ami-id": record["ImageId"],
                "local-ipv4": record.get("PrivateIpAddress"), "public-ipv4": record.get("PublicIpAddress"),
                "placement/availability-zone": zone, "placement/region": zone[:-1],
                "instance-life-cycle": record.get("InstanceLifecycle", "on-demand")}.get(path.partition("/latest/meta-data/")[2])
