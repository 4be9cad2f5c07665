"""OpenStack Swift, by Swift's own servers and looked at by its own client."""
import json

import swiftclient
import swiftclient.service

from swift_server import KEY, USER, SwiftServer


class SwiftStore:
    scheme = "swift"
    put_headers = {}
    url_key = "key-of-temporary-urls"

    def __init__(self, folder):
        self.server = SwiftServer(folder)
        self.url = self.server.url
        self.client = swiftclient.Connection(authurl=self.url + "/auth/v1.0", user=USER, key=KEY, retries=1)
        self.client.post_account({"X-Account-Meta-Temp-URL-Key": self.url_key})

    def stop(self):
        self.server.stop()

    def environment(self, url=None):
        return {"ST_AUTH": (url or self.url) + "/auth/v1.0", "ST_USER": USER, "ST_KEY": KEY}

    def make(self, container):
        self.client.put_container(container)

    def empty(self, container):
        for name in (container, f"{container}_segments"):
            try:
                _, objects = self.client.get_container(name, full_listing=True)
            except swiftclient.ClientException:
                continue
            for one in objects:
                self.client.delete_object(name, one["name"])
            self.client.delete_container(name)

    def put(self, container, key, body):
        self.client.put_object(container, key, body)

    def put_file(self, container, key, path):
        """As `swift upload --use-slo --segment-size` does for what is large."""
        size = 7 << 20
        if path.stat().st_size <= size:
            self.client.put_object(container, key, path.read_bytes())
            return
        options = {"auth_version": "1", "auth": self.url + "/auth/v1.0", "user": USER, "key": KEY, "use_slo": True, "segment_size": str(size)}
        with swiftclient.service.SwiftService(options) as service:
            for done in service.upload(container, [swiftclient.service.SwiftUploadObject(str(path), object_name=key)]):
                if not done["success"]:
                    raise done["error"]

    def get(self, container, key):
        return self.client.get_object(container, key)[1]

    def keys(self, container):
        return [one["name"] for one in self.client.get_container(container, full_listing=True)[1]]

    def remove(self, container, key):
        self.client.delete_object(container, key)

    def segments(self, container):
        try:
            return self.keys(f"{container}_segments")
        except swiftclient.ClientException:
            return []

    def unfinished(self, container):
        """Segments to which no object refers."""
        used = set()
        for key in self.keys(container):
            headers = self.client.head_object(container, key)
            if headers.get("x-static-large-object"):
                body = self.client.get_object(container, key, query_string="multipart-manifest=get")[1]
                used |= {one["name"].split("/", 2)[2] for one in json.loads(body)}
        return [name for name in self.segments(container) if name not in used]
