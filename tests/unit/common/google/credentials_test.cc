// Who somebody is for Google Cloud: key files, logins, federation; tokens and calls by what a server answers,
// byte for byte.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <fstream>

#include "common/digest.h"
#include "common/google/client.h"
#include "common/google/errors.h"
#include "common/google/jwt.h"
#include "common/google/settings.h"
#include "common/json_values.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temporary_folder.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;
const Stop kNoStop;

struct TestKey {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  ~TestKey() { EVP_PKEY_free(key); }
  std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    std::string pem(text, static_cast<size_t>(size));
    BIO_free(bio);
    return pem;
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

const TestKey& test_key() {
  static const TestKey key;
  return key;
}

std::string from_base64url(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4) text += '=';
  return *base64_decode(text);
}

std::string answer(int status, const Json& body) {
  const std::string text = body.dump();
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(text.size()) +
         "\r\nConnection: close\r\n\r\n" + text;
}

Json account_file(const std::string& token_url) {
  return {{"type", "service_account"},
          {"project_id", "my-project"},
          {"private_key_id", "k1"},
          {"private_key", test_key().pem()},
          {"client_email", "radlc@my-project.iam.gserviceaccount.com"},
          {"token_uri", token_url}};
}

Settings settings_with(const Json& file, const std::string& compute_url) {
  Settings settings;
  auto credential = parse_credential(file.dump(), "key.json", &settings.project);
  EXPECT_TRUE(credential.ok()) << credential.status().text();
  if (credential.ok()) settings.credential = *credential;
  settings.compute_url = compute_url;
  return settings;
}

TEST(GoogleJwt, IsSignedByTheKeyOfTheAccountAndSaysWhatGoogleAsksFor) {
  auto credential = parse_credential(account_file("https://oauth2.googleapis.com/token").dump(), "key.json");
  ASSERT_TRUE(credential.ok()) << credential.status().text();
  auto token = signed_assertion(*credential, "a-scope", 1'700'000'000);
  ASSERT_TRUE(token.ok()) << token.status().text();
  const size_t first = token->find('.'), last = token->rfind('.');
  const Json header = Json::parse(from_base64url(token->substr(0, first)));
  EXPECT_EQ(header, (Json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "k1"}}));
  const Json claims = Json::parse(from_base64url(token->substr(first + 1, last - first - 1)));
  EXPECT_EQ(claims, (Json{{"iss", "radlc@my-project.iam.gserviceaccount.com"},
                          {"scope", "a-scope"},
                          {"aud", "https://oauth2.googleapis.com/token"},
                          {"iat", 1'700'000'000},
                          {"exp", 1'700'003'600}}));
  EXPECT_TRUE(test_key().verifies(token->substr(0, last), from_base64url(token->substr(last + 1))));
  EXPECT_FALSE(test_key().verifies(token->substr(0, last) + "x", from_base64url(token->substr(last + 1))));
}

TEST(GoogleCredentials, AFileThatCannotBeUsedIsNamedAndNothingOfIt) {
  const std::string secret = "hush-hush";
  for (const Json& file :
       std::vector<Json>{{{"type", "service_account"}, {"private_key", secret}},
                         {{"type", secret}},
                         {{"type", "authorized_user"}, {"client_secret", secret}, {"client_id", "i"}},
                         {{"type", "external_account"},
                          {"audience", "a"},
                          {"subject_token_type", "t"},
                          {"token_url", secret}},
                         secret}) {
    auto made = parse_credential(file.dump(), "/home/x/key.json");
    ASSERT_FALSE(made.ok()) << file;
    EXPECT_EQ(made.status().code(), Code::Invalid);
    EXPECT_NE(made.status().text().find("/home/x/key.json"), std::string::npos);
    EXPECT_EQ(made.status().text().find(secret), std::string::npos) << made.status().text();
  }
  Json file = account_file("https://oauth2.googleapis.com/token");
  file["private_key"] = "-----BEGIN PRIVATE KEY-----\nhush-hush\n-----END PRIVATE KEY-----\n";
  auto made = parse_credential(file.dump(), "key.json");
  ASSERT_TRUE(made.ok());
  auto token = signed_assertion(*made, "s", 1);
  EXPECT_EQ(token.status().code(), Code::Auth);
  EXPECT_EQ(token.status().text().find(secret), std::string::npos);
}

TEST(GoogleSettings, AreFoundAsGcloudFindsThem) {
  test::TemporaryFolder folder;
  std::map<std::string, std::string> set = {{"HOME", folder.path()}};
  const Lookup environment = [&](const std::string& name) {
    auto found = set.find(name);
    return found == set.end() ? std::string() : found->second;
  };
  auto none = load_settings(environment);
  EXPECT_EQ(none.status().code(), Code::NotFound);
  EXPECT_NE(none.status().hint().find("application-default login"), std::string::npos);

  const std::string gcloud = folder.path() + "/.config/gcloud";
  ASSERT_EQ(std::system(("mkdir -p " + gcloud + "/configurations").c_str()), 0);
  std::ofstream(gcloud + "/active_config") << "work\n";
  std::ofstream(gcloud + "/configurations/config_work")
      << "[core]\nproject = from-gcloud\n[compute]\nzone = europe-west1-c\n";
  std::ofstream(gcloud + "/application_default_credentials.json") << Json{
      {"type", "authorized_user"}, {"client_id", "i"}, {"client_secret", "s"}, {"refresh_token", "r"}};
  auto found = load_settings(environment);
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_EQ(found->credential.kind, Credential::Kind::AuthorizedUser);
  EXPECT_EQ(found->project, "from-gcloud");
  EXPECT_EQ(found->region, "europe-west1");
  EXPECT_EQ(found->zone, "europe-west1-c");
  EXPECT_EQ(found->compute_url, "https://compute.googleapis.com/compute/v1/");

  set["CLOUDSDK_COMPUTE_REGION"] = "us-central1";
  EXPECT_EQ(load_settings(environment)->zone, "") << "a zone of another region";
  set["CLOUDSDK_CORE_PROJECT"] = "from-variable";
  EXPECT_EQ(load_settings(environment)->project, "from-variable");
  set["GOOGLE_APPLICATION_CREDENTIALS"] = folder.path() + "/missing.json";
  EXPECT_EQ(load_settings(environment).status().code(), Code::Invalid)
      << "a file that is named is not passed over";
}

TEST(GoogleSession, AServiceAccountsTokenIsAskedForOnceAndAgainWhenItIsRefused) {
  int tokens = 0;
  test::ScriptedServer server([&](const std::string& request) {
    if (request.find("/token") != std::string::npos)
      return answer(200, {{"access_token", "t" + std::to_string(++tokens)}, {"expires_in", 3600}});
    if (request.find("Bearer t1") != std::string::npos)
      return answer(401, {{"error", {{"code", 401}, {"message", "expired"}}}});
    return answer(200, {{"ok", true}});
  });
  http::Client http{environment_of_process()};
  Session session(http, settings_with(account_file(server.url("/token")), server.url("/")));
  Service service(session, server.url("/compute/v1/"));
  Answer first = service.call({.method = "GET", .path = "projects/p", .query = {}, .body = nullptr}, kNoStop);
  ASSERT_TRUE(first.ok()) << first.failure().status.text();
  EXPECT_TRUE(
      service.call({.method = "GET", .path = "projects/p", .query = {}, .body = nullptr}, kNoStop).ok());
  EXPECT_EQ(tokens, 2);
}

TEST(GoogleSession, ATokenIsRenewedBeforeItEnds) {
  int tokens = 0;
  test::ScriptedServer server([&](const std::string&) {
    return answer(200, {{"access_token", "t" + std::to_string(++tokens)}, {"expires_in", 120}});
  });
  http::Client http{environment_of_process()};
  Session session(http, settings_with(account_file(server.url("/token")), ""));
  EXPECT_EQ((*session.token(kNoStop))->value, "t1");
  EXPECT_EQ((*session.token(kNoStop))->value, "t2");
}

TEST(GoogleSession, ARefusedLoginSaysSoWithoutWhatWasSent) {
  test::ScriptedServer server([&](const std::string&) {
    return answer(400, {{"error", "invalid_grant"}, {"error_description", "hush-hush is expired"}});
  });
  http::Client http{environment_of_process()};
  const Json file = {{"type", "authorized_user"},
                     {"client_id", "i"},
                     {"client_secret", "hush-hush"},
                     {"refresh_token", "hush-hush"},
                     {"token_uri", server.url("/token")}};
  Session session(http, settings_with(file, ""));
  const Status refused = session.token(kNoStop).status();
  EXPECT_EQ(refused.code(), Code::Auth);
  EXPECT_NE(refused.text().find("invalid_grant"), std::string::npos);
  EXPECT_EQ(refused.text().find("hush-hush"), std::string::npos) << refused.text();
}

TEST(GoogleSession, FederationExchangesTheTokenOfAFileAndActsAsAServiceAccount) {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() + "/token.json") << Json{{"id_token", "theirs"}};
  test::ScriptedServer server([&](const std::string& request) {
    if (request.find("/sts") != std::string::npos) {
      EXPECT_NE(request.find("subject_token=theirs"), std::string::npos) << request;
      EXPECT_NE(request.find("token-exchange"), std::string::npos);
      return answer(200, {{"access_token", "federated"}, {"expires_in", 3600}});
    }
    EXPECT_NE(request.find("Bearer federated"), std::string::npos);
    return answer(200, {{"accessToken", "of-the-account"}, {"expireTime", "2099-01-01T00:00:00Z"}});
  });
  http::Client http{environment_of_process()};
  const Json file = {
      {"type", "external_account"},
      {"audience", "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"},
      {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
      {"token_url", server.url("/sts")},
      {"service_account_impersonation_url", server.url("/impersonate")},
      {"credential_source",
       {{"file", folder.path() + "/token.json"},
        {"format", {{"type", "json"}, {"subject_token_field_name", "id_token"}}}}}};
  Session session(http, settings_with(file, ""));
  auto token = session.token(kNoStop);
  ASSERT_TRUE(token.ok()) << token.status().text();
  EXPECT_EQ((*token)->value, "of-the-account");
}

TEST(GoogleSession, FederationTakesThePlainTextOfAnAddressAndSaysWhoIsBilled) {
  test::ScriptedServer server([&](const std::string& request) {
    if (request.starts_with("GET /subject")) return test::http_answer(200, "", "theirs\n");
    EXPECT_NE(request.find("subject_token=theirs&"), std::string::npos) << request;
    EXPECT_NE(request.find("options=%7B%22userProject%22%3A%22billed%22%7D"), std::string::npos) << request;
    return answer(200, {{"access_token", "federated"}, {"expires_in", 3600}});
  });
  http::Client http{environment_of_process()};
  const Json file = {{"type", "external_account"},
                     {"audience", "//iam.googleapis.com/locations/global/workforcePools/p/providers/q"},
                     {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"},
                     {"token_url", server.url("/sts")},
                     {"workforce_pool_user_project", "billed"},
                     {"credential_source", {{"url", server.url("/subject")}}}};
  Session session(http, settings_with(file, ""));
  auto token = session.token(kNoStop);
  ASSERT_TRUE(token.ok()) << token.status().text();
  EXPECT_EQ((*token)->value, "federated");
}

// The subject token is a request to STS, signed with the keys of AWS's own variables.
TEST(GoogleSession, FederationOfAwsShowsASignedRequestOfItsOwn) {
  std::string posted;
  test::ScriptedServer server([&](const std::string& request) {
    posted = request;
    return answer(200, {{"access_token", "federated"}, {"expires_in", 3600}});
  });
  http::Client http{Environment(Environment::Variables{{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                                                       {"AWS_SECRET_ACCESS_KEY", "very-secret"},
                                                       {"AWS_SESSION_TOKEN", "session-1"},
                                                       {"AWS_REGION", "eu-west-1"}})};
  const std::string audience = "//iam.googleapis.com/projects/1/locations/global/p/providers/q";
  Json file = {{"type", "external_account"},
               {"audience", audience},
               {"subject_token_type", "urn:ietf:params:aws:token-type:aws4_request"},
               {"token_url", server.url("/sts")},
               {"credential_source",
                {{"environment_id", "aws1"},
                 {"region_url", "http://169.254.169.254/latest/meta-data/placement/availability-zone"},
                 {"url", "http://169.254.169.254/latest/meta-data/iam/security-credentials"},
                 {"regional_cred_verification_url",
                  "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"}}}};
  auto token = Session(http, settings_with(file, "")).token(kNoStop);
  ASSERT_TRUE(token.ok()) << token.status().text();
  EXPECT_EQ((*token)->value, "federated");
  const size_t from = posted.find("subject_token=") + 14;
  ASSERT_NE(posted.find("subject_token="), posted.npos) << posted;
  // Of a form, and a URL-encoded text in it.
  const std::string once = *http::percent_decode(posted.substr(from, posted.find('&', from) - from));
  const Json shown = Json::parse(*http::percent_decode(once));
  EXPECT_EQ(shown["url"], "https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
  EXPECT_EQ(shown["method"], "POST");
  std::map<std::string, std::string> headers;
  for (const Json& header : shown["headers"]) headers[header["key"]] = header["value"];
  EXPECT_EQ(headers["host"], "sts.eu-west-1.amazonaws.com");
  EXPECT_EQ(headers["x-goog-cloud-target-resource"], audience);
  EXPECT_EQ(headers["x-amz-security-token"], "session-1");
  const std::string& signature = headers["authorization"];
  EXPECT_NE(signature.find("Credential=AKIDEXAMPLE/"), signature.npos) << signature;
  EXPECT_NE(signature.find("/eu-west-1/sts/aws4_request"), signature.npos) << signature;
  EXPECT_NE(signature.find("SignedHeaders=host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource"),
            signature.npos)
      << signature;
  EXPECT_EQ(posted.find("very-secret"), posted.npos);
  file["credential_source"]["environment_id"] = "aws2";
  EXPECT_NE(parse_credential(file.dump(), "f", nullptr).status().text().find("aws2"), std::string::npos);
}

TEST(GoogleSession, APersonOfAWorkforcePoolIsKnownByARefreshToken) {
  test::ScriptedServer server([&](const std::string& request) {
    EXPECT_EQ(test::header_of(request, "Authorization"), "Basic " + base64_encode("i:s")) << request;
    EXPECT_NE(request.find("grant_type=refresh_token&refresh_token=r"), std::string::npos) << request;
    return answer(200, {{"access_token", "t"}, {"expires_in", 3600}});
  });
  http::Client http{environment_of_process()};
  const Json file = {{"type", "external_account_authorized_user"},
                     {"audience", "//iam.googleapis.com/locations/global/workforcePools/p/providers/q"},
                     {"client_id", "i"},
                     {"client_secret", "s"},
                     {"refresh_token", "r"},
                     {"token_url", server.url("/oauthtoken")}};
  Session session(http, settings_with(file, ""));
  auto token = session.token(kNoStop);
  ASSERT_TRUE(token.ok()) << token.status().text();
  EXPECT_EQ((*token)->value, "t");
}

TEST(GoogleSession, AServiceAccountByOthersInBetweenIsAskedForByAllOfThem) {
  test::ScriptedServer server([&](const std::string& request) {
    if (request.starts_with("POST /token"))
      return answer(200, {{"access_token", "mine"}, {"expires_in", 3600}});
    EXPECT_EQ(test::header_of(request, "Authorization"), "Bearer mine");
    const Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
    EXPECT_EQ(body["delegates"],
              Json::array({"projects/-/serviceAccounts/between@p.iam.gserviceaccount.com"}));
    return answer(200, {{"accessToken", "of-the-account"}});
  });
  http::Client http{environment_of_process()};
  const Json file = {
      {"type", "impersonated_service_account"},
      {"delegates", Json::array({"projects/-/serviceAccounts/between@p.iam.gserviceaccount.com"})},
      {"service_account_impersonation_url", server.url("/impersonate")},
      {"source_credentials",
       {{"type", "authorized_user"},
        {"client_id", "i"},
        {"client_secret", "s"},
        {"refresh_token", "r"},
        {"token_uri", server.url("/token")}}}};
  Session session(http, settings_with(file, ""));
  auto token = session.token(kNoStop);
  ASSERT_TRUE(token.ok()) << token.status().text();
  EXPECT_EQ((*token)->value, "of-the-account");
}

TEST(GoogleCredentials, AFileThatIsNoKeyIsSaidWithWhatOneIs) {
  for (const char* text : {"{\"type\": \"service_acc", "-----BEGIN PRIVATE KEY-----\n", "[]"}) {
    auto made = parse_credential(text, "key.json");
    EXPECT_EQ(made.status().message(), "key.json is not a JSON object");
    EXPECT_NE(made.status().hint().find("gcloud iam service-accounts keys create"), std::string::npos);
  }
  auto client = parse_credential(R"({"installed": {"client_id": "x", "client_secret": "hush"}})", "key.json");
  EXPECT_NE(client.status().message().find("an OAuth client ID"), std::string::npos);
  EXPECT_EQ(client.status().text().find("hush"), std::string::npos);
}

TEST(GoogleClient, WhatAnErrorMeansIsSaidByItsReason) {
  EXPECT_EQ(code_of({"rateLimitExceeded", "", ""}, 403), Code::Retry);
  EXPECT_EQ(code_of({"quotaExceeded", "", ""}, 403), Code::Quota);
  EXPECT_EQ(code_of({"QUOTA_EXCEEDED", "", ""}, 403), Code::Quota);
  EXPECT_EQ(code_of({"ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "", ""}, 503), Code::Quota);
  EXPECT_EQ(code_of({"forbidden", "", ""}, 403), Code::Auth);
  EXPECT_EQ(code_of({"alreadyExists", "", ""}, 409), Code::Exists);
  EXPECT_EQ(code_of({"resourceInUseByAnotherResource", "", ""}, 400), Code::Retry);
  EXPECT_EQ(code_of({"conditionNotMet", "", ""}, 412), Code::Retry);
  EXPECT_EQ(code_of({"notFound", "", ""}, 404), Code::NotFound);
  EXPECT_EQ(code_of({"invalid", "", ""}, 400), Code::Invalid);
}

TEST(GoogleClient, WhatOneZoneLacksIsTriedInAnotherAndWhatAPolicyForbidsIsNotTriedAgain) {
  const Said machine{"invalid",
                     "Invalid value for field 'resource.machineType': '..'. Machine type with name "
                     "'c3-standard-4' does not exist in zone 'z'.",
                     ""};
  EXPECT_EQ(code_of(machine, 400), Code::Quota);
  EXPECT_EQ(code_of({"notFound",
                     "The resource 'projects/p/zones/z/acceleratorTypes/nvidia-tesla-t4' was not found", ""},
                    404),
            Code::Quota);
  EXPECT_EQ(code_of({"notFound", "The resource 'projects/p/zones/z/disks/d' was not found", ""}, 404),
            Code::NotFound);
  const Said policy{"conditionNotMet",
                    "Constraint constraints/compute.vmExternalIpAccess violated for project 42.", ""};
  EXPECT_EQ(code_of(policy, 412), Code::Invalid);
  EXPECT_NE(cure_of(policy, Code::Invalid).find("policy of the organization"), std::string::npos);
}

TEST(GoogleClient, AZoneWithoutRoomIsARefusalAlsoWhereItsStatusIs503) {
  int asked = 0;
  Json error = {{"code", 503},
                {"message",
                 "The zone 'projects/p/zones/z' does not have enough resources available to fulfill "
                 "the request.  '(resource type:compute)'."}};
  test::ScriptedServer server([&](const std::string& request) {
    if (request.find("/token") != std::string::npos)
      return answer(200, {{"access_token", "t"}, {"expires_in", 3600}});
    ++asked;
    return answer(503, {{"error", error}});
  });
  http::Client http{environment_of_process()};
  Session session(http, settings_with(account_file(server.url("/token")), ""));
  Service service(session, server.url("/"));
  for (const char* reason : {"", "ZONE_RESOURCE_POOL_EXHAUSTED"}) {
    asked = 0;
    if (*reason) error["errors"] = {{{"reason", reason}, {"message", "no room"}}};
    const Answer made =
        service.call({.method = "POST", .path = "p/instances", .query = {}, .body = Json::object()}, kNoStop);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.failure().kind, Failure::Kind::Refused);
    EXPECT_EQ(made.failure().status.code(), Code::Quota);
    EXPECT_EQ(asked, 1);
  }
}

TEST(GoogleClient, TheReasonOfTheNewerFormIsRead) {
  const Said said = error_in(
      {{"error",
        {{"code", 403},
         {"message", "Compute Engine API has not been used in project p before .."},
         {"status", "PERMISSION_DENIED"},
         {"details",
          {{{"@type", "type.googleapis.com/google.rpc.ErrorInfo"}, {"reason", "SERVICE_DISABLED"}}}}}}});
  EXPECT_EQ(code_of(said, 403), Code::Auth);
  EXPECT_NE(cure_of(said, Code::Auth).find("gcloud services enable"), std::string::npos);
}

TEST(GoogleClient, AProjectWithoutBillingOrSuspendedIsNotTakenForOneWithoutTheRole) {
  EXPECT_NE(cure_of({"forbidden", "This API method requires billing to be enabled. ..", ""}, Code::Auth)
                .find("billing account"),
            std::string::npos);
  EXPECT_NE(
      cure_of({"forbidden", "Consumer 'projects/p' has been suspended.", ""}, Code::Auth).find("suspended"),
      std::string::npos);
  EXPECT_NE(
      cure_of({"forbidden", "Required 'compute.instances.create' permission", ""}, Code::Auth).find("roles"),
      std::string::npos);
}

TEST(GoogleClient, AQuotaIsSaidByItsNameWithThePageWhereToAskForMore) {
  const nlohmann::json operation = {
      {"error",
       {{"errors",
         {{{"code", "QUOTA_EXCEEDED"},
           {"message", "Quota 'GPUS_PER_GPU_FAMILY' exceeded.  Limit: 0.0 in region us-central1."},
           {"errorDetails",
            {{{"quotaInfo",
               {{"metricName", "compute.googleapis.com/gpus_per_gpu_family"},
                {"dimensions", {{"gpu_family", "NVIDIA_H100"}, {"region", "us-central1"}}}}}}}}}}}}}};
  const Said said = error_in(operation);
  EXPECT_EQ(said.quota, "GPUS_PER_GPU_FAMILY (gpu_family NVIDIA_H100, region us-central1)");
  EXPECT_EQ(cure_of(said, Code::Quota),
            "Request an increase of GPUS_PER_GPU_FAMILY (gpu_family NVIDIA_H100, region us-central1): "
            "https://console.cloud.google.com/iam-admin/quotas");
  const Said at_once = error_in(
      {{"error",
        {{"message", "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 1.0"},
         {"errors",
          {{{"reason", "quotaExceeded"}, {"message", "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 1.0"}}}}}}});
  EXPECT_EQ(at_once.quota, "NVIDIA_T4_GPUS");
  EXPECT_NE(cure_of({"ZONE_RESOURCE_POOL_EXHAUSTED", "no room", ""}, Code::Quota).find("availability_zone"),
            std::string::npos);
}

TEST(GoogleClient, AListIsReadPageAfterPageAndAZoneThatIsMissingIsAnError) {
  std::string down;  // the zone
  Json unreachables = Json::array();
  test::ScriptedServer server([&](const std::string& request) {
    if (request.find("/token") != std::string::npos)
      return answer(200, {{"access_token", "t"}, {"expires_in", 3600}});
    const bool second = request.find("pageToken=next") != std::string::npos;
    Json page = {{"items",
                  {{"zones/west1-z", {{"instances", {{{"name", second ? "b" : "a"}}}}}},
                   {"zones/y", {{"warning", {{"code", "NO_RESULTS_ON_PAGE"}}}}}}}};
    if (!down.empty())
      page["items"][down] = {{"warning", {{"code", "UNREACHABLE"}, {"message", "zone is down"}}}};
    if (!unreachables.empty()) page["unreachables"] = unreachables;
    if (!second) page["nextPageToken"] = "next";
    return answer(200, page);
  });
  http::Client http{environment_of_process()};
  Session session(http, settings_with(account_file(server.url("/token")), ""));
  Service service(session, server.url("/"));
  std::string names;
  auto each = [&](const std::string& region) {
    names.clear();
    return service.each("projects/p/aggregated/instances", {"instances", region}, {}, kNoStop,
                        [&](const Json& item) { names += json::text_of(item, "name"); });
  };
  EXPECT_TRUE(each("").ok());
  EXPECT_EQ(names, "ab");
  for (const char* zone : {"zones/west1-y", "regions/west1"}) {
    down = zone;
    EXPECT_EQ(each("").code(), Code::Retry) << zone;
    EXPECT_EQ(each("west1").code(), Code::Retry) << zone;
  }
  // One of another region is no business of this one's.
  down = "zones/west12-a";
  EXPECT_EQ(each("").code(), Code::Retry);
  EXPECT_TRUE(each("west1").ok());
  EXPECT_EQ(names, "ab");
  down.clear();
  unreachables = {"projects/p/zones/west1-z"};
  EXPECT_EQ(each("west1").code(), Code::Retry);
  unreachables = {"zones/east1-z"};
  EXPECT_TRUE(each("west1").ok());
}

}  // namespace
}  // namespace radl::google
