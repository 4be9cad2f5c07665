// Google's, Azure's and Swift's stores against a server that simulates what no real one does on demand.
// tests/stores tests real servers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "common/transfer/azure_blob.h"
#include "common/transfer/gcs.h"
#include "common/transfer/swift.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace radl::transfer {
namespace {

using test::header_of;
using test::http_answer;
using test::ScriptedServer;

// "one", and "two" once that was refused.
class TwoTokens : public TokenSource {
 public:
  Result<std::string> token(const Stop&) override { return std::string(refused_ ? "two" : "one"); }
  void refused(const std::string& token) override { refused_ |= token == "one"; }

 private:
  bool refused_ = false;
};

GcsOptions google_at(const std::string& url) {
  GcsOptions options;
  options.endpoint = url;
  options.tokens = std::make_shared<TwoTokens>();
  options.attempts = 3;
  return options;
}

constexpr const char* kObject = R"({"name": "k", "size": "1", "generation": "1700000000000001"})";

TEST(Gcs, ATokenThatIsRefusedIsRenewedOnce) {
  ScriptedServer server([](const std::string& request) {
    return header_of(request, "Authorization") == "Bearer two" ? http_answer(200, "", kObject)
                                                               : http_answer(401, "", "");
  });
  http::Client http{environment_of_process()};
  Gcs store(http, google_at(server.url("")), "data");
  auto head = store.head("k");
  ASSERT_TRUE(head.ok()) << head.status().text();
  EXPECT_EQ(head->etag, "1700000000000001");
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(Gcs, WhoIsNotAllowedIsToldTheRoleThatLacks) {
  ScriptedServer server([](const std::string&) {
    return http_answer(403, "",
                       R"({"error": {"code": 403, "message": "ana does not have storage.objects.get"}})");
  });
  http::Client http{environment_of_process()};
  Gcs store(http, google_at(server.url("")), "data");
  const Status failed = store.head("k").status();
  EXPECT_EQ(failed.code(), Code::Auth);
  EXPECT_NE(failed.text().find("storage.objects.get"), std::string::npos) << failed.text();
  EXPECT_NE(failed.text().find("roles/storage.objectUser"), std::string::npos) << failed.text();
}

TEST(Gcs, AnObjectAndABucketThatAreNotThereAreToldApart) {
  ScriptedServer server([](const std::string& request) {
    return http_answer(
        404, "",
        request.find("/b/gone/") == std::string::npos
            ? R"({"error": {"code": 404, "message": "No such object: data/k"}})"
            : R"({"error": {"code": 404, "message": "The specified bucket does not exist."}})");
  });
  http::Client http{environment_of_process()};
  const Status object = Gcs(http, google_at(server.url("")), "data").head("k").status();
  EXPECT_EQ(object.code(), Code::NotFound);
  EXPECT_FALSE(is_missing_container(object)) << object.text();
  const Status bucket = Gcs(http, google_at(server.url("")), "gone").head("k").status();
  EXPECT_TRUE(is_missing_container(bucket)) << bucket.text();
}

// A state probes whether its store minds conditions with an ETag that nothing has.
TEST(Gcs, AGenerationThatNothingHasNeverMeansThatThereIsNothing) {
  ScriptedServer server([](const std::string&) { return http_answer(412, "", ""); });
  http::Client http{environment_of_process()};
  Gcs store(http, google_at(server.url("")), "data");
  EXPECT_EQ(store.put("k", "x", {.if_match = std::string(32, '0')}).status().code(), Code::Conflict);
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_NE(server.requests()[0].find("ifGenerationMatch=1 "), std::string::npos) << server.requests()[0];
}

TEST(Gcs, AnUploadAsksHowMuchHasComeWhenAChunkIsLost) {
  test::TemporaryFolder folder;
  const std::string path = folder.path() + "/big";
  const size_t size = size_t{9} << 20;
  std::ofstream(path) << std::string(size, 'x');
  std::string url;
  int chunks = 0;
  ScriptedServer server([&](const std::string& request) -> std::string {
    const std::string range = header_of(request, "Content-Range");
    if (request.starts_with("POST")) return http_answer(200, "Location: " + url + "\r\n", "");
    if (range.starts_with("bytes */")) return http_answer(308, "Range: bytes=0-1048575\r\n", "");
    return ++chunks == 1 ? std::string() : http_answer(200, "", kObject);
  });
  url = server.url("/session");
  http::Client http{environment_of_process()};
  auto put = Gcs(http, google_at(server.url("")), "data").put_file("k", path);
  ASSERT_TRUE(put.ok()) << put.status().text();
  const auto requests = server.requests();
  EXPECT_EQ(header_of(requests.back(), "Content-Range"), "bytes 1048576-9437183/9437184");
  EXPECT_EQ(header_of(requests.back(), "Authorization"), "") << "the session's URL is enough";
}

AzureBlobOptions azure_at(const std::string& url) {
  AzureBlobOptions options;
  options.endpoint = url;
  options.account = "acc";
  options.key = "key";
  options.attempts = 3;
  return options;
}

TEST(AzureBlob, AWrongClockIsPutRightByTheServersAnswer) {
  ScriptedServer server([](const std::string& request) {
    return header_of(request, "x-ms-date").find("2031") != std::string::npos
               ? http_answer(200, "ETag: \"0x1\"\r\nContent-Length: 1\r\n", "x")
               : http_answer(
                     403, "Date: Wed, 01 Jan 2031 00:00:00 GMT\r\nx-ms-error-code: AuthenticationFailed\r\n",
                     "");
  });
  http::Client http{environment_of_process()};
  auto got = AzureBlob(http, azure_at(server.url("")), "data").get("k");
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(AzureBlob, APartThatIsNotTheOneAskedForIsRefused) {
  std::string range = "bytes 2-5/10", body = "2345";
  ScriptedServer server([&](const std::string&) {
    return http_answer(206, "ETag: \"0x1\"\r\nContent-Range: " + range + "\r\n", body);
  });
  http::Client http{environment_of_process()};
  AzureBlob store(http, azure_at(server.url("")), "data");
  auto right = store.get("k", {2, 4});
  ASSERT_TRUE(right.ok()) << right.status().text();
  EXPECT_EQ(right->bytes, "2345");
  EXPECT_EQ(store.get("k", {3, 4}).status().code(), Code::Corrupt) << "begins elsewhere";
  body = "23456";
  EXPECT_EQ(store.get("k", {2, 4}).status().code(), Code::Corrupt) << "longer";
}

TEST(AzureBlob, TheSecretOfASignatureIsInNoError) {
  ScriptedServer server(
      [](const std::string&) { return http_answer(403, "x-ms-error-code: AuthenticationFailed\r\n", ""); });
  http::Client http{environment_of_process()};
  AzureBlobOptions options = azure_at(server.url(""));
  options.key.clear();
  options.sas = "sv=2021-12-02&sig=TOPSECRET";
  const Status failed = AzureBlob(http, options, "data").get("k").status();
  EXPECT_EQ(failed.code(), Code::Auth);
  EXPECT_EQ(failed.text().find("TOPSECRET"), std::string::npos);
  EXPECT_NE(server.requests()[0].find("sig=TOPSECRET"), std::string::npos);
  options.endpoint = "http://127.0.0.1:1";
  options.attempts = 1;
  EXPECT_EQ(AzureBlob(http, options, "data").get("k").status().text().find("TOPSECRET"), std::string::npos);
}

Result<AzureBlobOptions> azure_of(const std::map<std::string, std::string>& variables,
                                  const std::string& url = "") {
  return azure_blob_options(url, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(AzureBlob, AnAccountIsWhatTheVariablesOfAzSay) {
  auto options = azure_of({{"AZURE_STORAGE_ACCOUNT", "acc"}, {"AZURE_STORAGE_KEY", "a2V5"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->endpoint, "https://acc.blob.core.windows.net");
  EXPECT_EQ(options->key, "key");
  options = azure_of({{"AZURE_STORAGE_CONNECTION_STRING",
                       "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5;EndpointSuffix=core."
                       "chinacloudapi.cn"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->endpoint, "https://acc.blob.core.chinacloudapi.cn");
  options = azure_of({{"AZURE_STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=true"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->endpoint, "http://127.0.0.1:10000/devstoreaccount1");
  // The key of one account is not sent to another.
  options = azure_of({{"AZURE_STORAGE_ACCOUNT", "acc"}, {"AZURE_STORAGE_KEY", "a2V5"}},
                     "https://other.blob.core.windows.net");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->key, "");
  EXPECT_EQ(options->endpoint, "https://other.blob.core.windows.net");
  EXPECT_EQ(azure_of({}).status().code(), Code::Invalid);
  EXPECT_EQ(azure_of({{"AZURE_STORAGE_ACCOUNT", "acc"}, {"AZURE_STORAGE_KEY", "no base64!"}}).status().code(),
            Code::Invalid);
}

class OneAccount : public SwiftAccess {
 public:
  explicit OneAccount(std::string url) : url_(std::move(url)) {}
  Result<Account> account(const Stop&) override { return Account{url_, renewed_ ? "two" : "one"}; }
  void refused(const std::string&) override { renewed_ = true; }

 private:
  const std::string url_;
  bool renewed_ = false;
};

TEST(Swift, ATokenThatHasEndedIsRenewedAndTheObjectChecked) {
  ScriptedServer server([](const std::string& request) {
    return header_of(request, "X-Auth-Token") == "two"
               ? http_answer(200, "ETag: 9dd4e461268c8034f5c8564e155c67a6\r\n", "y")  // MD5 of "x"
               : http_answer(401, "", "");
  });
  http::Client http{environment_of_process()};
  Swift store(http, {std::make_shared<OneAccount>(server.url("/v1/AUTH_p")), "", 3}, "data");
  const Status got = store.get("k").status();
  EXPECT_EQ(got.code(), Code::Corrupt) << got.text();
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(Swift, KeystonesTokenAndCatalogueLeadToTheContainer) {
  std::string url;
  ScriptedServer server([&](const std::string& request) {
    if (request.starts_with("POST /v3/auth/tokens"))
      return http_answer(
          201, "X-Subject-Token: of-keystone\r\n",
          R"({"token": {"expires_at": "2099-01-01T00:00:00.000000Z", "catalog": [{"type": "object-store",
                             "endpoints": [{"interface": "public", "region": "R", "url": ")" +
              url + R"("}]}]}})");
    const bool known =
        header_of(request, "X-Auth-Token") == "of-keystone" && request.starts_with("GET /v1/AUTH_p/data/k ");
    return known ? http_answer(200, "ETag: 9dd4e461268c8034f5c8564e155c67a6\r\n", "x")
                 : http_answer(400, "", "");
  });
  url = server.url("/v1/AUTH_p");
  http::Client http{environment_of_process()};
  const std::map<std::string, std::string> variables = {{"OS_AUTH_URL", server.url("/v3")},
                                                        {"OS_USERNAME", "ana"},
                                                        {"OS_PASSWORD", "TOPSECRET"},
                                                        {"OS_PROJECT_NAME", "p"},
                                                        {"OS_USER_DOMAIN_ID", "d"},
                                                        {"OS_PROJECT_DOMAIN_ID", "d"},
                                                        {"HOME", "/nonexistent"}};
  auto options = swift_options(http, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
  ASSERT_TRUE(options.ok()) << options.status().text();
  auto got = Swift(http, std::move(*options), "data").get("k");
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_EQ(got->bytes, "x");
}

TEST(Swift, AConditionThatSwiftDoesNotHaveIsRefusedBeforeAnythingIsSent) {
  ScriptedServer server([](const std::string&) { return http_answer(201, "", ""); });
  http::Client http{environment_of_process()};
  Swift store(http, {std::make_shared<OneAccount>(server.url("/v1/AUTH_p")), "", 3}, "data");
  EXPECT_EQ(store.put("k", "x", {.if_match = "0123"}).status().code(), Code::Unsupported);
  EXPECT_EQ(server.requests().size(), 0u);
}

}  // namespace
}  // namespace radl::transfer
