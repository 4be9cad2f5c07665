"""What stands between radlc and the API: passes requests on, records them, and does to them what a `Faults` decides (faults.py).

Each request of the tests' client has a number, from 1 on. The proxy also answers what moto does not know: GetConsoleOutput with the
machine's host keys, placement groups, and client tokens that make a request idempotent.
"""
import contextlib
import dataclasses
import http.client
import os
import signal
import socket
import ssl
import threading
import time
import urllib.parse

CREATES_WITH_TOKEN = {"RunInstances"}


@dataclasses.dataclass
class Request:
    number: int
    method: str
    path: str
    headers: dict
    body: bytes
    service: str = ""
    action: str = ""
    parameters: dict = dataclasses.field(default_factory=dict)

    def parameter(self, name, default=""):
        return self.parameters.get(name, default)


@dataclasses.dataclass
class Answer:
    status: int
    headers: list
    body: bytes

    @classmethod
    def xml(cls, text, status=200):
        return cls(status, [("Content-Type", "text/xml;charset=UTF-8")], text.encode())


@dataclasses.dataclass
class Treatment:
    """What happens to one request. The default: it is passed on, and so is its answer."""
    name: str = ""
    delay: float = 0  # seconds before anything
    refuse: Answer = None  # this is the answer; the server never sees the request
    reset_before: bool = False
    reset_after: bool = False  # the server acts, the client gets a reset
    signal: int = 0  # for the client, before the server sees the request
    kill_before: bool = False
    kill_during: float = None  # SIGKILL for the client; so many seconds later the server acts
    kill_after: bool = False  # SIGKILL for the client, before and after the server acted
    cut: float = None  # this part of the answer's body, then the end
    garble: bool = False  # a body that is no XML
    slow: float = 0  # seconds that the body takes, in pieces
    change: object = None  # Answer -> Answer


def ec2_error(code, message, status):
    return Answer.xml(f'<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message>'
                      "</Error></Errors><RequestID>00000000-0000-0000-0000-000000000000</RequestID></Response>", status)


def s3_error(code, message, status):
    return Answer.xml(f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>', status)


def service_of(headers):
    """"ec2", "s3", "sts": as the signature's scope says."""
    for word in headers.get("authorization", "").split("Credential=")[1:]:
        scope = word.split(",")[0].split("/")
        if len(scope) >= 5:
            return scope[3]
    return "s3"


def s3_action(method, path, query):
    """The operation's name in the API reference."""
    inside = "/" in path.strip("/")
    for mark, names in (("uploadId", {"PUT": "UploadPart", "POST": "CompleteMultipartUpload", "DELETE": "AbortMultipartUpload",
                                      "GET": "ListParts"}),
                        ("uploads", {"POST": "CreateMultipartUpload", "GET": "ListMultipartUploads"}),
                        ("delete", {"POST": "DeleteObjects"}), ("location", {"GET": "GetBucketLocation"})):
        if mark in query and method in names:
            return names[method]
    of_object = {"GET": "GetObject", "PUT": "PutObject", "HEAD": "HeadObject", "DELETE": "DeleteObject", "POST": "PostObject"}
    of_bucket = {"GET": "ListObjectsV2" if "list-type" in query else "ListObjects", "PUT": "CreateBucket", "HEAD": "HeadBucket",
                 "DELETE": "DeleteBucket"}
    return (of_object if inside else of_bucket).get(method, method) if path.strip("/") else "ListBuckets"


def aws_names(method, path, headers, body):
    """(service, action, parameters) of a request to AWS."""
    split = urllib.parse.urlsplit(path)
    query = urllib.parse.parse_qs(split.query, keep_blank_values=True)
    service = service_of(headers)
    parameters = {name: values[0] for name, values in query.items()}
    if service != "s3":
        parameters |= dict(urllib.parse.parse_qsl(body.decode("latin-1"), keep_blank_values=True))
    target = headers.get("x-amz-target", "").rpartition(".")[2]  # services with JSON
    return service, s3_action(method, split.path, query) if service == "s3" else target or parameters.get("Action", ""), parameters


class Broken(Exception):
    """The connection with the client ends now, with a reset."""


class Proxy:
    """`faults`: called with a Request, gives a Treatment; None: nothing happens to any. `victim`: process id for SIGKILL.
    `names`: what a request is, as aws_names() says it of AWS's."""

    def __init__(self, upstream, faults=None, extras=None, tls=None, names=aws_names):
        self.names = names
        self.upstream = urllib.parse.urlsplit(upstream)
        self.faults, self.extras, self.victim = faults, extras, None
        self.log, self.treated = [], []
        self._lock = threading.Lock()
        self._open = 0  # connections
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._closed = False
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def calls(self):
        """{(service, action)} of all requests so far."""
        return {(request.service, request.action) for request in self.log}

    def close(self):
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        # A thread on its way into accept() has the listener's number already; closed before it got there, the next proxy's listener
        # has that number, and the thread would take a connection of another infrastructure's.
        self._accepting.join()
        self._listener.close()

    def _accept(self):
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._count(1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _count(self, more):
        with self._lock:
            self._open += more

    def speak_tls(self, context):
        """From now on, at an https address."""
        self._tls, self.url = context, self.url.replace("http:", "https:")

    def wait_for_the_last(self, seconds=120):
        """Until the server has done what a client asked for that has ended since: one that was killed leaves requests under way, and
        on a busy computer they may take longer than the time in which the tests let a cloud settle."""
        deadline = time.monotonic() + seconds
        while self._open and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self._open

    def _serve(self, connection):
        try:
            self._serve_all(connection)
        finally:
            self._count(-1)

    def _serve_all(self, connection):
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as reader:
                try:
                    while self._one(connection, reader):
                        pass
                except Broken:  # closed with a reset instead of an end
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        except (OSError, ValueError, ssl.SSLError, http.client.HTTPException):
            connection.close()

    def _one(self, connection, reader):
        """True when the connection may carry another request."""
        line = reader.readline(65536).decode("latin-1").split()
        if len(line) < 3:
            return False
        headers = {}
        for raw in iter(lambda: reader.readline(65536), b"\r\n"):
            if not raw:
                return False
            name, _, value = raw.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = self._recorded(line[0], line[1], headers, read_body(reader, headers))
        treatment = (self.faults and self.faults(request)) or Treatment()
        if treatment.name:
            self.treated.append((request.number, request.action, treatment.name))
        self._answer(connection, request, treatment)
        return headers.get("connection", "").lower() != "close"

    def _recorded(self, method, path, headers, body):
        service, action, parameters = self.names(method, path, headers, body)
        with self._lock:
            request = Request(len(self.log) + 1, method, path, headers, body, service, action, parameters)
            self.log.append(request)
        return request

    def _kill(self):
        self._signal(signal.SIGKILL)
        raise Broken

    def _signal(self, number):
        if self.victim:
            os.kill(self.victim, number)

    def _answer(self, connection, request, treatment):
        time.sleep(treatment.delay)
        if treatment.signal:
            self._signal(treatment.signal)
        if treatment.kill_before:
            self._kill()
        if treatment.kill_during is not None:
            self._signal(signal.SIGKILL)
            time.sleep(treatment.kill_during)
        if treatment.reset_before:
            raise Broken
        answer = treatment.refuse
        if answer is None:
            answer = self.extras(request) if self.extras else None
            answer = answer or self.forward(request)
            if self.extras:
                self.extras.acted(request)
            if treatment.kill_after:
                self._kill()
            if treatment.kill_during is not None:
                raise Broken
            if treatment.reset_after:
                raise Broken
            if treatment.change:
                answer = treatment.change(answer)
        self._send(connection, request, answer, treatment)

    def route(self, request):
        """(host, port, path) where a request goes."""
        return self.upstream.hostname, self.upstream.port, request.path

    def forward(self, request):
        host, port, path = self.route(request)
        upstream = http.client.HTTPConnection(host, port, timeout=60)
        try:
            upstream.putrequest(request.method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                if name not in ("connection", "expect", "transfer-encoding", "content-length"):
                    upstream.putheader(name, value)
            upstream.putheader("content-length", str(len(request.body)))
            upstream.endheaders(request.body)
            got = upstream.getresponse()
            return Answer(got.status, got.getheaders(), got.read())
        finally:
            upstream.close()

    def _send(self, connection, request, answer, treatment):
        body = b"<html>this is no answer of the API" if treatment.garble else answer.body
        length = len(answer.body) if request.method == "HEAD" else len(body)
        head = [f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, 'Unknown')}"]
        given = [(n, v) for n, v in answer.headers if n.lower() not in ("connection", "transfer-encoding", "content-length")]
        if request.method == "HEAD":
            length = next((v for n, v in answer.headers if n.lower() == "content-length"), length)
        head += [f"{name}: {value}" for name, value in given] + [f"Content-Length: {length}"]
        connection.sendall(("\r\n".join(head) + "\r\n\r\n").encode("latin-1"))
        if request.method == "HEAD":
            return
        if treatment.cut is not None:
            connection.sendall(body[:int(len(body) * treatment.cut)])
            raise Broken
        if treatment.slow:
            for k in range(10):
                connection.sendall(body[len(body) * k // 10:len(body) * (k + 1) // 10])
                time.sleep(treatment.slow / 10)
        else:
            connection.sendall(body)


def read_body(reader, headers):
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = b""
        while size := int(reader.readline().split(b";")[0], 16):
            body += reader.read(size)
            reader.readline()
        reader.readline()
        return body
    return reader.read(int(headers.get("content-length") or 0))
