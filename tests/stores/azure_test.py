"""az://: against Azurite, with Azure's own client beside it."""
import datetime
import unittest

from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas

from azure_store import ACCOUNT, KEY, AzureStore
from store_case import StoreCase


class OfAzure(StoreCase, unittest.TestCase):
    store_type = AzureStore

    def test_a_connection_string_says_all(self):
        self.env = {name: value for name, value in self.env.items() if not name.startswith("AZURE_")}
        self.env["AZURE_STORAGE_CONNECTION_STRING"] = (f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
                                                       f"BlobEndpoint={self.store.url}/{ACCOUNT};")
        self.tool("put", self.file("one", 10), self.address("x"))
        self.assertEqual(self.body("x"), (self.folder / "one").read_bytes())

    def test_a_shared_access_signature_lets_in_as_far_as_it_goes(self):
        del self.env["AZURE_STORAGE_KEY"]
        self.store.put("data-of-tests", "x", b"0123456789")
        self.env["AZURE_STORAGE_SAS_TOKEN"] = generate_account_sas(
            ACCOUNT, KEY, ResourceTypes(service=True, container=True, object=True), AccountSasPermissions(read=True, list=True),
            datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1))
        self.assertEqual(self.tool("range", self.address("x"), 0, 4), b"0123")
        self.assertEqual(self.tool("list", self.address()), b"x 10\n")
        self.tool("put", self.file("one", 10), self.address("y"), fails="auth")
        self.assertNotIn("sig=", self.said)

    def test_a_wrong_key_is_said_without_it(self):
        self.env["AZURE_STORAGE_KEY"] = "V1JPTkdTRUNSRVQ="
        self.tool("list", self.address(), fails="auth")
        self.assertIn("key", self.said)
        self.assertNotIn("V1JPTkdTRUNSRVQ", self.said)

    def test_no_account_is_said_with_what_to_set(self):
        self.env = {name: value for name, value in self.env.items() if not name.startswith("AZURE_")}
        self.tool("list", self.address(), fails="invalid")
        self.assertIn("AZURE_STORAGE_ACCOUNT", self.said)


if __name__ == "__main__":
    unittest.main()
