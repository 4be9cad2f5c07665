"""What Google Cloud Storage has and fake-gcs-server lacks: pages of lists, and sessions that are asked how much has come ("Resumable uploads":
`Content-Range: bytes */SIZE` is answered with 308 and Range; bytes that are there already are not taken twice)."""
import json
import re
import threading
import urllib.parse

from proxy import Answer, Proxy

CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+)$")


def plain_names(method, _path, _headers, _body):
    return "store", method, {}


class GoogleGate(Proxy):
    def __init__(self, upstream):
        super().__init__(upstream, names=plain_names)
        self.sessions, self._sessions_lock = {}, threading.Lock()

    def forward(self, request):
        url = urllib.parse.urlsplit(request.path)
        query = urllib.parse.parse_qs(url.query)
        if request.method == "GET" and url.path.endswith("/o") and "maxResults" in query:
            return self.page(request, url, query)
        if request.method in ("PUT", "DELETE") and "upload_id" in query:
            return self.session(request, query["upload_id"][0])
        request.headers["host"] = self.upstream.netloc
        answer = super().forward(request)
        answer.headers = [(name, value.replace(f"http://{self.upstream.netloc}", self.url)) for name, value in answer.headers]
        return answer

    def page(self, request, url, query):
        size, at = int(query.pop("maxResults")[0]), int(query.pop("pageToken", ["0"])[0])
        request.path = url.path + "?" + urllib.parse.urlencode({name: values[0] for name, values in query.items()})
        answer = super().forward(request)
        if answer.status != 200:
            return answer
        document = json.loads(answer.body)
        items = document.get("items", [])
        document["items"] = items[at:at + size]
        if at + size < len(items):
            document["nextPageToken"] = str(at + size)
        return Answer(200, answer.headers, json.dumps(document).encode())

    def session(self, request, name):
        with self._sessions_lock:
            had, done = self.sessions.get(name, (0, None))
            if request.method == "DELETE":
                self.sessions[name] = (0, Answer(404, [], b""))
                return Answer(499, [], b"")
            if done:
                return done
            first, last, total = CONTENT_RANGE.match(request.headers["content-range"]).groups()
            if first is None or int(first) != had:
                return self.so_far(had)
            answer = super().forward(request)
            if answer.status == 308:
                self.sessions[name] = (int(last) + 1, None)
                return self.so_far(int(last) + 1)
            self.sessions[name] = (int(total), answer)
            return answer

    @staticmethod
    def so_far(had):
        return Answer(308, [("Range", f"bytes=0-{had - 1}")] if had else [], b"")
