"""Google Cloud Storage as fake-gcs-server has it, looked at by Google's own client."""
import os

import google.api_core.exceptions
import google.auth.credentials
from google.cloud import storage

import peers
from google_gate import GoogleGate


class GoogleStore:
    scheme = "gs"
    put_headers = {}

    def __init__(self, folder):
        program = peers.fake_gcs()
        port = peers.free_port()
        url = f"http://127.0.0.1:{port}"
        self.server = peers.Server([program, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-external-url", url,
                                    "-public-host", f"127.0.0.1:{port}"], folder, url, ready="/storage/v1/b")
        self.gate = GoogleGate(url)
        self.url = self.gate.url
        os.environ["STORAGE_EMULATOR_HOST"] = url
        self.client = storage.Client(project="tests", credentials=google.auth.credentials.AnonymousCredentials())

    def stop(self):
        self.gate.close()
        self.server.stop()

    def environment(self, url=None):
        return {"STORAGE_EMULATOR_HOST": url or self.url}

    def make(self, container):
        self.client.create_bucket(container)

    def empty(self, container):
        try:
            bucket = self.client.get_bucket(container)
        except google.api_core.exceptions.NotFound:
            return
        for blob in bucket.list_blobs():
            blob.delete()
        bucket.delete()

    def put(self, container, key, body):
        self.client.bucket(container).blob(key).upload_from_string(body, content_type="application/octet-stream")

    def put_file(self, container, key, path):
        self.client.bucket(container).blob(key).upload_from_filename(str(path))

    def get(self, container, key):
        return self.client.bucket(container).blob(key).download_as_bytes(checksum=None)

    def keys(self, container):
        return sorted(blob.name for blob in self.client.list_blobs(container))

    def remove(self, container, key):
        self.client.bucket(container).blob(key).delete()

    def unfinished(self, container):
        """Google has no list of sessions."""
        return []
