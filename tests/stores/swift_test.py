"""swift://: against Swift's own servers, with its own client beside it."""
import unittest

from store_case import MIB, StoreCase
from swift_store import SwiftStore


class OfSwift(StoreCase, unittest.TestCase):
    store_type = SwiftStore
    writes_if_match = False

    def test_segments_end_with_their_object(self):
        path = self.file("large", 12 * MIB)
        self.tool("put", path, self.address("large"), f"part={5 * MIB}")
        self.assertEqual(len(self.store.segments("data-of-tests")), 3)
        self.tool("put", self.file("other", 11 * MIB), self.address("large"), f"part={5 * MIB}")
        self.assertEqual(len(self.store.segments("data-of-tests")), 3, "those of what the object was are still there")
        self.tool("copy", self.address("large"), self.address("copied"))
        self.assertEqual(len(self.store.segments("data-of-tests")), 6)
        self.tool("remove", self.address("large"))
        self.assertEqual(self.body("copied"), (self.folder / "other").read_bytes())
        self.tool("put", self.file("small", 10), self.address("copied"))
        self.assertEqual(self.store.segments("data-of-tests"), [])

    def test_segments_that_nobody_finished_are_taken_back_when_asked(self):
        self.tool("put", self.file("large", 12 * MIB), self.address("a/kept"), f"part={5 * MIB}")
        self.store.put("data-of-tests_segments", "a/gone/radl-0123456789abcdef/00000001", b"1")
        self.store.put("data-of-tests_segments", "a/of-another/1", b"1")
        self.assertEqual(self.tool("abort", self.address("a/")), b"1\n")
        self.assertEqual(len(self.store.segments("data-of-tests")), 4)

    def test_another_condition_than_absence_is_refused(self):
        self.tool("put", self.file("one", 10), self.address("x"))
        self.tool("put", self.file("one", 10), self.address("x"), "match=0123", fails="unsupported")
        self.assertIn("gs://", self.said)

    def test_a_wrong_login_is_said_without_its_secret(self):
        self.env["ST_KEY"] = "WRONGSECRET"
        self.tool("list", self.address(), fails="auth")
        self.assertIn("ST_KEY", self.said)
        self.assertNotIn("WRONGSECRET", self.said)

    def test_without_a_key_no_temporary_url_is_signed(self):
        self.store.client.post_account({"X-Account-Meta-Temp-URL-Key": ""})
        self.addCleanup(self.store.client.post_account, {"X-Account-Meta-Temp-URL-Key": self.store.url_key})
        self.tool("presign", "GET", self.address("x"), 60, fails="auth")
        self.assertIn("Temp-URL-Key", self.said)


if __name__ == "__main__":
    unittest.main()
