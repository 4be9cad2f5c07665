"""Azure Blob Storage as Azurite has it, looked at by Azure's own client."""
import azure.core.exceptions
from azure.storage.blob import BlobServiceClient

import peers

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # Azurite's, known to everybody


class AzureStore:
    scheme = "az"
    put_headers = {"x-ms-blob-type": "BlockBlob"}

    def __init__(self, folder):
        port = peers.free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.server = peers.Server([peers.azurite(), "--blobHost", "127.0.0.1", "--blobPort", port, "--silent",
                                    "--skipApiVersionCheck", "--inMemoryPersistence", "--disableTelemetry"], folder, self.url)
        self.client = BlobServiceClient(f"{self.url}/{ACCOUNT}", credential=KEY, retry_total=1)

    def stop(self):
        self.server.stop()

    def environment(self, url=None):
        return {"AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_KEY": KEY, "AZURE_STORAGE_SERVICE_ENDPOINT": f"{url or self.url}/{ACCOUNT}"}

    def make(self, container):
        self.client.create_container(container)

    def empty(self, container):
        try:
            self.client.delete_container(container)
        except azure.core.exceptions.ResourceNotFoundError:
            pass

    def put(self, container, key, body):
        self.client.get_blob_client(container, key).upload_blob(body, overwrite=True)

    def put_file(self, container, key, path):
        with open(path, "rb") as data:
            self.client.get_blob_client(container, key).upload_blob(data, overwrite=True, max_concurrency=2, validate_content=True)

    def get(self, container, key):
        return self.client.get_blob_client(container, key).download_blob().readall()

    def keys(self, container):
        return sorted(blob.name for blob in self.client.get_container_client(container).list_blobs())

    def remove(self, container, key):
        self.client.get_blob_client(container, key).delete_blob()

    def unfinished(self, container):
        names = {blob.name for blob in self.client.get_container_client(container).list_blobs(include=["uncommittedblobs"])}
        return sorted(names - set(self.keys(container)))
