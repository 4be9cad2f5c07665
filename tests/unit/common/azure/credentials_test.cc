// Who somebody is for Azure: variables, certificates, federation, managed identities, az's login; and calls
// of the Resource Manager by what a server answers, byte for byte.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <fstream>

#include "common/azure/client.h"
#include "common/digest.h"
#include "common/http/url.h"
#include "common/json_values.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace radl::azure {
namespace {

using Json = nlohmann::json;
const Stop kNoStop;

std::string answer(int status, const Json& body, const std::string& headers = "") {
  return test::http_answer(status, headers, body.dump());
}

// A key with its certificate, both in PEM.
struct TestCertificate {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  X509* certificate = X509_new();
  TestCertificate() {
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
  }
  ~TestCertificate() {
    EVP_PKEY_free(key);
    X509_free(certificate);
  }
  std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    PEM_write_bio_X509(bio, certificate);
    return taken(bio);
  }
  std::string encrypted_pem(const std::string& password) const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_256_cbc(), password.data(),
                                  static_cast<int>(password.size()), nullptr, nullptr);
    PEM_write_bio_X509(bio, certificate);
    return taken(bio);
  }
  std::string pkcs12(const std::string& password) const {
    PKCS12* made = PKCS12_create(password.c_str(), "client", key, certificate, nullptr, 0, 0, 0, 0, 0);
    BIO* bio = BIO_new(BIO_s_mem());
    i2d_PKCS12_bio(bio, made);
    PKCS12_free(made);
    return taken(bio);
  }
  static std::string taken(BIO* bio) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    std::string bytes(text, static_cast<size_t>(size));
    BIO_free(bio);
    return bytes;
  }
  std::string thumbprint() const {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    X509_digest(certificate, EVP_sha1(), digest, &size);
    return {reinterpret_cast<const char*>(digest), size};
  }
  bool verifies(const std::string& text, const std::string& signature) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key);
    const int right =
        EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(context);
    return right == 1;
  }
};

std::string from_base64url(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4) text += '=';
  return *base64_decode(text);
}

// A field of a form that was posted.
std::string field(const std::string& request, const std::string& name) {
  const std::string body = "&" + request.substr(request.find("\r\n\r\n") + 4) + "&";
  const size_t at = body.find("&" + name + "=");
  if (at == body.npos) return "";
  const size_t from = at + name.size() + 2;
  return *http::percent_decode(body.substr(from, body.find('&', from) - from));
}

class AzureCredentials : public testing::Test {
 protected:
  AzureCredentials() : server_([this](const std::string& request) { return respond_(request); }) {
    variables_["HOME"] = folder_.path();
    variables_["AZURE_AUTHORITY_HOST"] = server_.url("");
    variables_["RADL_AZURE_ENDPOINT"] = server_.url("");
  }
  Result<Settings> load() {
    return load_settings([this](const std::string& name) {
      auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    });
  }
  Result<std::shared_ptr<const Token>> token(
      const std::string& scope = "https://management.azure.com/.default") {
    auto settings = load();
    if (!settings.ok()) return settings.status();
    session_ = std::make_unique<Session>(http_, *settings);
    return session_->token(scope, kNoStop);
  }
  void principal() {
    variables_["AZURE_TENANT_ID"] = "tenant-1";
    variables_["AZURE_CLIENT_ID"] = "client-1";
  }
  std::string put(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_.path() + "/" + name;
    ::mkdir((folder_.path() + "/.azure").c_str(), 0700);
    ::mkdir((folder_.path() + "/bin").c_str(), 0700);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  test::TemporaryFolder folder_;
  std::map<std::string, std::string> variables_;
  std::function<std::string(const std::string&)> respond_ = [](const std::string&) {
    return answer(200, {{"access_token", "t-1"}, {"expires_in", 3600}});
  };
  test::ScriptedServer server_;
  http::Client http_{
      environment_of_process().with("PATH", folder_.path() + "/bin:" + environment_of_process()("PATH"))};
  std::unique_ptr<Session> session_;
};

TEST_F(AzureCredentials, ASecretIsExchangedForATokenWhichIsKeptUntilItEnds) {
  principal();
  variables_["AZURE_CLIENT_SECRET"] = "s3cr+t&";
  auto made = token();
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ((*made)->value, "t-1");
  EXPECT_TRUE(session_->token("https://management.azure.com/.default", kNoStop).ok());
  ASSERT_EQ(server_.requests().size(), 1u);
  const std::string request = server_.requests().front();
  EXPECT_TRUE(request.starts_with("POST /tenant-1/oauth2/v2.0/token ")) << request;
  EXPECT_EQ(field(request, "grant_type"), "client_credentials");
  EXPECT_EQ(field(request, "client_id"), "client-1");
  EXPECT_EQ(field(request, "client_secret"), "s3cr+t&");
  EXPECT_EQ(field(request, "scope"), "https://management.azure.com/.default");
  EXPECT_TRUE(session_->token("https://storage.azure.com/.default", kNoStop).ok());
  EXPECT_EQ(field(server_.requests().back(), "scope"), "https://storage.azure.com/.default");
}

TEST_F(AzureCredentials, ACertificateSignsAnAssertionForTheTokensAddress) {
  const TestCertificate certificate;
  principal();
  variables_["AZURE_CLIENT_CERTIFICATE_PATH"] = put("client.pem", certificate.pem());
  ASSERT_TRUE(token().ok());
  const std::string request = server_.requests().front();
  EXPECT_EQ(field(request, "client_assertion_type"),
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  const std::string assertion = field(request, "client_assertion");
  const size_t first = assertion.find('.'), last = assertion.rfind('.');
  const Json header = Json::parse(from_base64url(assertion.substr(0, first)));
  EXPECT_EQ(header["alg"], "RS256");
  EXPECT_EQ(from_base64url(header["x5t"]), certificate.thumbprint());
  const Json claims = Json::parse(from_base64url(assertion.substr(first + 1, last - first - 1)));
  EXPECT_EQ(claims["aud"], server_.url("/tenant-1/oauth2/v2.0/token"));
  EXPECT_EQ(claims["iss"], "client-1");
  EXPECT_EQ(claims["sub"], "client-1");
  EXPECT_TRUE(certificate.verifies(assertion.substr(0, last), from_base64url(assertion.substr(last + 1))));
}

TEST_F(AzureCredentials, AFileWithoutKeyOrCertificateIsSaidBeforeAnybodyIsAsked) {
  principal();
  variables_["AZURE_CLIENT_CERTIFICATE_PATH"] = put("client.pem", "-----BEGIN CERTIFICATE-----\nAA==\n");
  auto settings = load();
  EXPECT_EQ(settings.status().code(), Code::Invalid);
  EXPECT_NE(settings.status().message().find("client.pem"), std::string::npos) << settings.status().text();
  variables_["AZURE_CLIENT_CERTIFICATE_PATH"] = "/no/such/file.pem";
  EXPECT_NE(load().status().message().find("AZURE_CLIENT_CERTIFICATE_PATH"), std::string::npos);
}

// "x5t" of the assertion in a request for a token.
std::string thumbprint_in(const std::string& request) {
  const std::string assertion = field(request, "client_assertion");
  return from_base64url(Json::parse(from_base64url(assertion.substr(0, assertion.find('.'))))["x5t"]);
}

TEST_F(AzureCredentials, ACertificateMayHaveAPasswordAndBeInPemOrPkcs12) {
  const TestCertificate certificate;
  principal();
  variables_["AZURE_CLIENT_CERTIFICATE_PASSWORD"] = "hush-hush";
  for (const std::string& file : {certificate.encrypted_pem("hush-hush"), certificate.pkcs12("hush-hush"),
                                  certificate.pkcs12(""), certificate.pem()}) {
    variables_["AZURE_CLIENT_CERTIFICATE_PATH"] = put("client.pfx", file);
    auto made = token();
    ASSERT_TRUE(made.ok()) << made.status().text();
    EXPECT_EQ(thumbprint_in(server_.requests().back()), certificate.thumbprint());
  }
}

TEST_F(AzureCredentials, AWrongPasswordOfACertificateIsSaidAndNotShown) {
  const TestCertificate certificate;
  principal();
  for (const std::string& file : {certificate.encrypted_pem("right"), certificate.pkcs12("right")}) {
    variables_["AZURE_CLIENT_CERTIFICATE_PATH"] = put("client.pfx", file);
    variables_["AZURE_CLIENT_CERTIFICATE_PASSWORD"] = "";
    EXPECT_EQ(load().status().message(), "AZURE_CLIENT_CERTIFICATE_PATH: " + folder_.path() +
                                             "/client.pfx: its key has a password, and none is given");
    variables_["AZURE_CLIENT_CERTIFICATE_PASSWORD"] = "hush-hush";
    const Status wrong = load().status();
    EXPECT_EQ(wrong.code(), Code::Invalid);
    EXPECT_NE(wrong.message().find("is not that of its key"), std::string::npos) << wrong.text();
    EXPECT_EQ(wrong.text().find("hush-hush"), std::string::npos) << wrong.text();
  }
  variables_["AZURE_CLIENT_CERTIFICATE_PATH"] = put("client.pfx", "no certificate at all");
  EXPECT_NE(load().status().message().find("neither PEM nor PKCS#12"), std::string::npos);
}

TEST_F(AzureCredentials, AFederatedTokenIsReadAnewEachTime) {
  principal();
  variables_["AZURE_FEDERATED_TOKEN_FILE"] = put("token", "first\n");
  respond_ = [](const std::string&) { return answer(200, {{"access_token", "t"}, {"expires_in", "10"}}); };
  ASSERT_TRUE(token().ok());
  put("token", "second\n");
  ASSERT_TRUE(session_->token("https://management.azure.com/.default", kNoStop).ok());
  EXPECT_EQ(field(server_.requests().at(0), "client_assertion"), "first");
  EXPECT_EQ(field(server_.requests().at(1), "client_assertion"), "second");
}

TEST_F(AzureCredentials, TheManagedIdentityOfAMachineIsAskedWithItsHeader) {
  variables_["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = server_.url("/");
  variables_["AZURE_CLIENT_ID"] = "identity-1";
  respond_ = [](const std::string&) {
    return answer(200, {{"access_token", "t"}, {"expires_in", "3599"}, {"expires_on", "99999999999"}});
  };
  ASSERT_TRUE(token().ok());
  const std::string request = server_.requests().front();
  EXPECT_TRUE(request.starts_with("GET /metadata/identity/oauth2/token?")) << request;
  EXPECT_EQ(test::header_of(request, "Metadata"), "true");
  EXPECT_NE(request.find("resource=https%3A%2F%2Fmanagement.azure.com"), request.npos) << request;
  EXPECT_NE(request.find("client_id=identity-1"), request.npos);
}

TEST_F(AzureCredentials, TheManagedIdentityOfAServiceIsAskedWithItsOwn) {
  variables_["IDENTITY_ENDPOINT"] = server_.url("/msi/token");
  variables_["IDENTITY_HEADER"] = "h-1";
  ASSERT_TRUE(token().ok());
  EXPECT_TRUE(server_.requests().front().starts_with("GET /msi/token?api-version=2019-08-01&"));
  EXPECT_EQ(test::header_of(server_.requests().front(), "X-IDENTITY-HEADER"), "h-1");
}

// The file that the answer names shows who asks; it is read of the agent's folder alone.
TEST_F(AzureCredentials, AMachineOfArcShowsThatItMayReadTheAgentsKeys) {
  variables_["IDENTITY_ENDPOINT"] = server_.url("/metadata/identity/oauth2/token");
  variables_["IMDS_ENDPOINT"] = server_.url("");
  variables_["AZURE_CLIENT_ID"] = "passed-over";
  auto settings = load();
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->credential.kind, Credential::Kind::Arc);
  EXPECT_EQ(settings->credential.key_folder, "/var/opt/azcmagent/tokens/");
  settings->credential.key_folder = folder_.path() + "/";
  std::string named = put("a.key", "key-1");
  respond_ = [&](const std::string& request) {
    if (test::header_of(request, "Authorization") == "Basic key-1")
      return answer(200, {{"access_token", "of-arc"}, {"expires_in", 3600}});
    return "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=" + named +
           "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  };
  const std::string scope = "https://management.azure.com/.default";
  auto made = Session(http_, *settings).token(scope, kNoStop);
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ((*made)->value, "of-arc");
  const std::string request = server_.requests().front();
  EXPECT_TRUE(request.starts_with("GET /metadata/identity/oauth2/token?api-version=2020-06-01&")) << request;
  EXPECT_EQ(test::header_of(request, "Metadata"), "true");
  EXPECT_EQ(request.find("client_id"), request.npos);
  const std::string key = named;
  for (const std::string& other :
       {std::string("/etc/passwd"), folder_.path() + "/../a.key", key + ".txt", std::string("")}) {
    named = other;
    const Status refused = Session(http_, *settings).token(scope, kNoStop).status();
    EXPECT_EQ(refused.code(), Code::Auth) << other;
    EXPECT_NE(refused.text().find("names no key"), std::string::npos) << refused.text();
  }
}

TEST_F(AzureCredentials, AMetadataServiceThatIsBroughtUpToDateIsAskedAgain) {
  variables_["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = server_.url("/");
  int asked = 0;
  respond_ = [&](const std::string&) {
    const int status = ++asked == 1 ? 404 : asked == 2 ? 410 : 200;
    return answer(status, {{"access_token", "t"}, {"expires_in", 3600}});
  };
  auto made = token();
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(asked, 3);
}

const char* const kProfile =
    "\xef\xbb\xbf"
    R"({"subscriptions": [
  {"id": "sub-1", "tenantId": "t-1", "isDefault": false, "name": "other", "user": {"name": "me@x.org", "type": "user"}},
  {"id": "sub-2", "tenantId": "t-2", "isDefault": true, "name": "mine", "user": {"name": "Me@x.org", "type": "user"}}]})";

TEST_F(AzureCredentials, AzIsAskedForATokenOfTheSubscriptionThatItChose) {
  put(".azure/azureProfile.json", kProfile);
  put("bin/az",
      "#!/bin/sh\necho \"$@\" > " + folder_.path() +
          "/argv\necho '{\"accessToken\": \"t-az\", \"expires_on\": 99999999999}'\n",
      0700);
  variables_["PATH"] = folder_.path() + "/bin";
  auto made = token();
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ((*made)->value, "t-az");
  EXPECT_EQ(session_->settings().subscription, "sub-2");
  std::string argv;
  std::getline(std::ifstream(folder_.path() + "/argv"), argv);
  EXPECT_EQ(
      argv,
      "account get-access-token --output json --resource https://management.azure.com --subscription sub-2");
}

TEST_F(AzureCredentials, WithoutAzItsPlainFilesAreTaken) {
  put(".azure/azureProfile.json", kProfile);
  auto none = load();
  EXPECT_EQ(none.status().code(), Code::Auth);
  put(".azure/msal_token_cache.json",
      R"({"Account": {"a": {"username": "me@x.org", "home_account_id": "h.t"}},
    "RefreshToken": {"r": {"home_account_id": "h.t", "secret": "refresh-1", "client_id": "az"},
                     "o": {"home_account_id": "other", "secret": "refresh-2"}}})");
  ASSERT_TRUE(token().ok());
  const std::string request = server_.requests().front();
  EXPECT_TRUE(request.starts_with("POST /t-2/")) << request;
  EXPECT_EQ(field(request, "grant_type"), "refresh_token");
  EXPECT_EQ(field(request, "refresh_token"), "refresh-1");
  variables_["AZURE_SUBSCRIPTION_ID"] = "no-such";
  EXPECT_EQ(load().status().code(), Code::NotFound);
}

TEST_F(AzureCredentials, ASubscriptionIsAnIdAndByItsNameThatOfAzsProfile) {
  variables_["AZURE_SUBSCRIPTION_ID"] = "n 1";
  put(".azure/azureProfile.json",
      R"({"subscriptions": [{"id": "sub-1", "tenantId": "t-1", "isDefault": false, "name": "n 1",
          "user": {"name": "client-9", "type": "servicePrincipal"}}]})");
  put(".azure/service_principal_entries.json",
      R"([{"client_id": "client-9", "tenant": "t-1", "client_secret": "s"}])");
  auto named = load();
  ASSERT_TRUE(named.ok()) << named.status().text();
  EXPECT_EQ(named->subscription, "sub-1");
  variables_["AZURE_CLIENT_ID"] = variables_["AZURE_TENANT_ID"] = variables_["AZURE_CLIENT_SECRET"] = "x";
  auto wrong = load();
  EXPECT_EQ(wrong.status().code(), Code::Invalid);
  EXPECT_EQ(wrong.status().message(), "AZURE_SUBSCRIPTION_ID = 'n 1' is not the ID of a subscription");
  variables_["AZURE_SUBSCRIPTION_ID"] = "sub-1";
  EXPECT_TRUE(load().ok());
}

TEST_F(AzureCredentials, APrincipalThatAzHasLoggedInByItsCertificateIsTaken) {
  const TestCertificate certificate;
  put(".azure/azureProfile.json",
      R"({"subscriptions": [{"id": "sub-1", "tenantId": "t-1", "isDefault": true, "name": "n",
          "user": {"name": "client-9", "type": "servicePrincipal"}}]})");
  put(".azure/service_principal_entries.json",
      Json::array(
          {{{"client_id", "client-9"}, {"tenant", "t-1"}, {"certificate", put("sp.pem", certificate.pem())}}})
          .dump());
  auto made = token();
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(field(server_.requests().back(), "client_id"), "client-9");
  EXPECT_EQ(thumbprint_in(server_.requests().back()), certificate.thumbprint());
}

TEST_F(AzureCredentials, WhereAMachineHasNoIdentityTheLoginOfAzIsTaken) {
  variables_["AZURE_POD_IDENTITY_AUTHORITY_HOST"] = server_.url("/");
  put(".azure/azureProfile.json", kProfile);
  put(".azure/msal_token_cache.json",
      R"({"Account": {"a": {"username": "me@x.org", "home_account_id": "h.t"}},
    "RefreshToken": {"r": {"home_account_id": "h.t", "secret": "refresh-1", "client_id": "az"}}})");
  respond_ = [](const std::string& request) {
    if (request.starts_with("GET /metadata/"))
      return answer(400, {{"error", "invalid_request"}, {"error_description", "Identity not found"}});
    return answer(200, {{"access_token", "of-az"}, {"expires_in", 3600}});
  };
  auto made = token();
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ((*made)->value, "of-az");
  EXPECT_EQ(session_->settings().subscription, "sub-2");
}

TEST_F(AzureCredentials, WhatIsRefusedIsSaidWithItsCureAndWithoutTheSecret) {
  principal();
  variables_["AZURE_CLIENT_SECRET"] = "the-secret";
  respond_ = [](const std::string&) {
    return answer(401, {{"error", "invalid_client"},
                        {"error_description", "AADSTS7000215: Invalid client secret 'the-secret'"}});
  };
  const Status refused = token().status();
  EXPECT_EQ(refused.code(), Code::Auth);
  EXPECT_NE(refused.text().find("AADSTS7000215"), std::string::npos) << refused.text();
  EXPECT_NE(refused.hint().find("client secret is wrong"), std::string::npos);
  EXPECT_EQ(refused.text().find("the-secret"), std::string::npos);
}

TEST_F(AzureCredentials, HalfAPrincipalIsAMistakeAndNothingAtAllIsNotFound) {
  EXPECT_EQ(load().status().code(), Code::NotFound);
  variables_["AZURE_CLIENT_SECRET"] = "x";
  variables_["AZURE_CLIENT_ID"] = "y";
  EXPECT_EQ(load().status().code(), Code::Invalid);
  EXPECT_NE(load().status().message().find("AZURE_TENANT_ID"), std::string::npos);
}

TEST(AzureSites, AreChosenByAuthorityOrByAz) {
  std::map<std::string, std::string> variables = {{"AZURE_AUTHORITY_HOST", "login.microsoftonline.us"},
                                                  {"AZURE_DEFAULTS_LOCATION", "West Europe"}};
  auto environment = [&](const std::string& name) {
    return variables.count(name) ? variables[name] : std::string();
  };
  Settings settings = load_places(environment);
  EXPECT_EQ(settings.site.manager, "https://management.usgovcloudapi.net");
  EXPECT_EQ(settings.location, "westeurope");
  EXPECT_EQ(manager_scope(settings.site), "https://management.usgovcloudapi.net/.default");
  variables = {{"AZURE_CLOUD_NAME", "AzureChinaCloud"}};
  EXPECT_EQ(load_places(environment).site.authority, "https://login.chinacloudapi.cn");
}

class AzureManager : public AzureCredentials {
 protected:
  // Token first, then these answers to calls, in their order.
  void answers(std::vector<std::string> given) {
    principal();
    variables_["AZURE_CLIENT_SECRET"] = "x";
    respond_ = [given, at = size_t{0}](const std::string& request) mutable {
      if (request.starts_with("POST /tenant-1/"))
        return answer(200, {{"access_token", "t"}, {"expires_in", 3600}});
      return given.at(std::min(at++, given.size() - 1));
    };
    ASSERT_TRUE(token().ok());
    manager_ = std::make_unique<Manager>(*session_);
  }
  std::unique_ptr<Manager> manager_;
};

TEST_F(AzureManager, FollowsPagesAndNoAddressButItsOwn) {
  answers({answer(200, {{"value", {1, 2}}, {"nextLink", "HTTP" + server_.url("/more").substr(4)}}),
           answer(200, {{"value", {3}}})});
  std::vector<int> seen;
  auto take = [&](const Json& item) { seen.push_back(item.get<int>()); };
  EXPECT_TRUE(manager_
                  ->each({.method = "GET",
                          .path = "subscriptions/s/x",
                          .version = "2024-05-01",
                          .query = {},
                          .body = nullptr,
                          .headers = {}},
                         kNoStop, take)
                  .ok());
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
  answers({answer(200, {{"value", Json::array()}, {"nextLink", "https://evil.example/more"}})});
  EXPECT_EQ(
      manager_
          ->each({.method = "GET", .path = "x", .version = "1", .query = {}, .body = nullptr, .headers = {}},
                 kNoStop, take)
          .code(),
      Code::Corrupt);
}

TEST_F(AzureManager, AnOperationIsFollowedToItsEndAndItsErrorIsTheReason) {
  answers({answer(201, {{"name", "x"}},
                  "Azure-AsyncOperation: " + server_.url("/op/1") +
                      "\r\nRetry-After: 7\r\nx-ms-ratelimit-remaining-subscription-writes: 1199\r\n"),
           answer(200, {{"status", "InProgress"}}, "Retry-After: 2\r\n"),
           answer(200, {{"status", "Failed"},
                        {"error", {{"code", "ZonalAllocationFailed"}, {"message", "no room"}}}})});
  Accepted accepted;
  ASSERT_TRUE(manager_
                  ->call({.method = "PUT",
                          .path = "subscriptions/s/x",
                          .version = "1",
                          .query = {},
                          .body = Json::object(),
                          .headers = {}},
                         kNoStop, &accepted)
                  .ok());
  EXPECT_EQ(accepted.operation, server_.url("/op/1"));
  EXPECT_EQ(accepted.retry_after, 7);
  EXPECT_EQ(manager_->remaining(), 1199);
  auto first = manager_->progress(accepted.operation, kNoStop);
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->done);
  EXPECT_EQ(first->retry_after, 2);
  auto last = manager_->progress(accepted.operation, kNoStop);
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE(last->done);
  EXPECT_EQ(last->failed.code(), Code::Quota);
}

TEST_F(AzureManager, ATokenThatIsRefusedIsRenewedOnce) {
  answers({answer(401, {{"error", {{"code", "ExpiredAuthenticationToken"}, {"message", "expired"}}}}),
           answer(200, {{"ok", true}})});
  Answer got = manager_->call(
      {.method = "GET", .path = "x", .version = "1", .query = {}, .body = nullptr, .headers = {}}, kNoStop);
  EXPECT_TRUE(got.ok());
}

// As operations of Microsoft.Compute fail: the reason is deep inside.
}  // namespace
}  // namespace radl::azure
