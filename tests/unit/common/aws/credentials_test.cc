// Where credentials come from, in AWS's order, what is said of incomplete ones, and that they are renewed.
#include "common/aws/credentials.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "common/aws/providers.h"
#include "common/http/http.h"
#include "tests/support/scripted_server.h"
#include "tests/unit/common/aws/aws_files.h"

namespace radl::aws {
namespace {

using test::AwsFiles;
using test::header_of;
using test::http_answer;
using test::ScriptedServer;

Result<Credentials> keys_of(const AwsFiles& files) {
  static http::Client http{environment_of_process()};
  auto configuration = files.load();
  if (!configuration.ok()) return configuration.status();
  return default_credentials(http, *configuration)->get({});
}

std::string error_of(const AwsFiles& files) {
  auto keys = keys_of(files);
  return keys.ok() ? "(keys of " + keys->origin + ")" : keys.status().text();
}

std::string json_keys(const std::string& id, const std::string& expires = "2099-01-01T00:00:00Z") {
  return R"({"Code":"Success","AccessKeyId":")" + id +
         R"(","SecretAccessKey":"S3CR3T","Token":"T0K3N","Expiration":")" + expires + "\"}";
}

std::string sts_answer(const std::string& action, const std::string& id) {
  return http_answer(200, "",
                     "<" + action + "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" +
                         action + "Result><Credentials><AccessKeyId>" + id +
                         "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
                         "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></" +
                         action + "Result></" + action + "Response>");
}

// An STS that gives out "ROLE" and keeps the bodies and signatures of what it was asked.
struct Sts {
  ScriptedServer server{[](const std::string& request) {
    const bool web = request.find("Action=AssumeRoleWithWebIdentity") != std::string::npos;
    return sts_answer(web ? "AssumeRoleWithWebIdentity" : "AssumeRole", web ? "WEB" : "ROLE");
  }};
};

TEST(Credentials, OfTheEnvironmentCountMoreThanTheProfile) {
  AwsFiles files;
  files.credentials("[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n");
  EXPECT_EQ(keys_of(files)->access_key, "FILE");
  files.variables["AWS_ACCESS_KEY_ID"] = "ENV";
  EXPECT_EQ(error_of(files), "environment: AWS_ACCESS_KEY_ID is set but AWS_SECRET_ACCESS_KEY is not set");
  files.variables["AWS_SECRET_ACCESS_KEY"] = "s";
  files.variables["AWS_SESSION_TOKEN"] = "t";
  EXPECT_EQ(keys_of(files)->access_key, "ENV");
  EXPECT_EQ(keys_of(files)->session_token, "t");
  EXPECT_EQ(keys_of(files)->origin, "environment");
}

TEST(Credentials, AVariableWithALineBreakIsNamed) {
  AwsFiles files;
  for (const char* broken : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
    files.variables["AWS_ACCESS_KEY_ID"] = "ENV";
    files.variables["AWS_SECRET_ACCESS_KEY"] = "s";
    files.variables["AWS_SESSION_TOKEN"] = "t";
    files.variables[broken] += "\n";
    EXPECT_EQ(keys_of(files).status().code(), Code::Auth);
    EXPECT_EQ(error_of(files).find(broken), 0u) << error_of(files);
  }
  // What `export KEY="$(cat FILE)"` and mounted secrets leave at the end is none of the value.
  EXPECT_EQ(Environment(Environment::Variables{{"KEY", "abc \r\n"}})("KEY"), "abc ")
      << "a password may end in a blank";
}

TEST(Credentials, OfTheCredentialsFileCountMoreThanProcessAndConfigFile) {
  AwsFiles files;
  files.config("[default]\naws_access_key_id = CONFIG\naws_secret_access_key = s\n");
  EXPECT_EQ(keys_of(files)->access_key, "CONFIG");
  files.file("keys.json", R"({"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"s"})");
  files.config(
      "[default]\naws_access_key_id = CONFIG\naws_secret_access_key = s\ncredential_process = cat '" +
      files.home + "/keys.json'\n");
  EXPECT_EQ(keys_of(files)->access_key, "PROCESS");
  files.credentials("[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n");
  EXPECT_EQ(keys_of(files)->access_key, "FILE");
}

TEST(Credentials, AnIncompleteProfileIsAnErrorWithFileAndLine) {
  AwsFiles files;
  const std::string config = files.home + "/.aws/config:", keys = files.home + "/.aws/credentials:";
  files.credentials("[default]\naws_access_key_id = A\n");
  EXPECT_EQ(error_of(files),
            keys + "2: profile \"default\" sets aws_access_key_id but not aws_secret_access_key");
  files.credentials("");
  const std::pair<const char*, const char*> cases[] = {
      {"[default]\nrole_arn = r\n",
       "2: profile \"default\" sets role_arn but none of source_profile, credential_source and "
       "web_identity_token_file, so no credentials can assume the role"},
      {"[default]\nsource_profile = x\n", "2: profile \"default\" sets source_profile but not role_arn"},
      {"[default]\nrole_arn = r\nsource_profile = x\n",
       "3: profile \"default\" sets source_profile = \"x\", but neither file contains that profile"},
      {"[default]\nrole_arn = r\nsource_profile = x\ncredential_source = Environment\n",
       "4: profile \"default\" sets both source_profile and credential_source; remove one of them"},
      {"[default]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = q\nsource_profile = default\n",
       "6: profile \"b\" and profile \"default\" name each other as source_profile"},
      {"[default]\nrole_arn = r\nsource_profile = x\n[profile x]\nregion = eu-west-1\n",
       "3: profile \"default\" sets source_profile = \"x\", but that profile has no credentials"},
      {"[default]\nrole_arn = r\ncredential_source = Elsewhere\n",
       "3: profile \"default\" sets an unknown credential_source; use Environment, Ec2InstanceMetadata or "
       "EcsContainer"},
      {"[default]\nrole_arn = r\ncredential_source = Environment\n",
       "3: profile \"default\" takes its keys from Environment, which has no keys on this computer"},
      {"[default]\nsso_start_url = https://x\nsso_region = eu-west-1\nsso_role_name = r\n",
       "2: profile \"default\" uses SSO but does not set sso_account_id"},
      {"[default]\nlogin_session = arn\n",
       "2: profile \"default\" was created by `aws login`, whose files only AWS's tools can read (Create "
       "another profile with "
       "`credential_process = aws configure export-credentials --profile default --format process`.)"},
      {"[default]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n",
       "2: profile \"default\" needs the section [sso-session s], which does not exist"},
  };
  for (const auto& [text, message] : cases) {
    files.config(text);
    EXPECT_EQ(error_of(files), config + message) << text;
  }
}

TEST(Credentials, NoneAnywhereIsNotFoundAndSaysWhereItLooked) {
  AwsFiles files;
  auto keys = keys_of(files);
  ASSERT_FALSE(keys.ok());
  EXPECT_EQ(keys.status().code(), Code::NotFound);
  EXPECT_NE(keys.status().text().find("AWS_PROFILE"), std::string::npos);
}

TEST(Credentials, ARoleIsAssumedWithTheKeysOfItsSourceProfile) {
  Sts sts;
  AwsFiles files;
  files.variables["AWS_ENDPOINT_URL_STS"] = sts.server.url("");
  files.config(
      "[profile prod]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = base\nexternal_id = ex\n"
      "role_session_name = me\nduration_seconds = 900\nregion = eu-west-1\n");
  files.credentials("[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n");
  files.variables["AWS_PROFILE"] = "prod";
  auto keys = keys_of(files);
  ASSERT_TRUE(keys.ok()) << keys.status().text();
  EXPECT_EQ(keys->access_key, "ROLE");
  ASSERT_TRUE(keys->expires.has_value());
  const std::string asked = sts.server.requests().at(0);
  EXPECT_NE(header_of(asked, "Authorization").find("Credential=BASE/"), std::string::npos);
  EXPECT_NE(header_of(asked, "Authorization").find("/eu-west-1/sts/"), std::string::npos);
  EXPECT_NE(asked.find("Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa&"
                       "RoleSessionName=me&ExternalId=ex&DurationSeconds=900"),
            std::string::npos)
      << asked;
}

TEST(Credentials, RolesInARowAndARoleByItsOwnKeys) {
  Sts sts;
  AwsFiles files;
  files.variables["AWS_ENDPOINT_URL"] = sts.server.url("");
  files.config(
      "[default]\nrole_arn = arn:1\nsource_profile = middle\n[profile middle]\nrole_arn = arn:2\n"
      "source_profile = middle\n");
  files.credentials("[middle]\naws_access_key_id = OWN\naws_secret_access_key = s\n");
  EXPECT_EQ(keys_of(files)->access_key, "ROLE");
  auto asked = sts.server.requests();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_NE(header_of(asked[0], "Authorization").find("Credential=OWN/"), std::string::npos);
  EXPECT_NE(header_of(asked[1], "Authorization").find("Credential=ROLE/"), std::string::npos);
}

TEST(Credentials, WebIdentityIsNotSignedAndItsTokenIsInNoError) {
  Sts sts;
  AwsFiles files;
  files.file("token", "eyJ.SECRET\n");
  files.variables["AWS_ENDPOINT_URL"] = sts.server.url("");
  files.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = files.home + "/token";
  EXPECT_EQ(error_of(files), "environment: AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is not");
  files.variables["AWS_ROLE_ARN"] = "arn:r";
  EXPECT_EQ(keys_of(files)->access_key, "WEB");
  const std::string asked = sts.server.requests().at(0);
  EXPECT_EQ(header_of(asked, "Authorization"), "");
  EXPECT_NE(asked.find("&WebIdentityToken=eyJ.SECRET"), std::string::npos);
  ScriptedServer refusing([](const std::string&) {
    return http_answer(400, "",
                       "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>No "
                       "provider</Message></Error></ErrorResponse>");
  });
  files.variables["AWS_ENDPOINT_URL"] = refusing.url("");
  EXPECT_EQ(keys_of(files).status().code(), Code::Auth);
  EXPECT_EQ(error_of(files).find("SECRET"), std::string::npos) << error_of(files);
  EXPECT_NE(error_of(files).find("InvalidIdentityToken: No provider"), std::string::npos) << error_of(files);
}

TEST(Credentials, OfAProcessWithoutAShell) {
  AwsFiles files;
  files.file(
      "keys.json",
      R"({"Version":1,"AccessKeyId":"P","SecretAccessKey":"s","SessionToken":"t","Expiration":"2099-01-01T00:00:00+00:00"})");
  files.config("[default]\ncredential_process = cat \"" + files.home + "/keys.json\"\n");
  auto keys = keys_of(files);
  ASSERT_TRUE(keys.ok()) << keys.status().text();
  EXPECT_EQ(keys->access_key, "P");
  EXPECT_EQ(keys->expires, 4070908800);
  files.config("[default]\ncredential_process = echo SECRET; cat x\n");  // no shell: echo prints all of it
  EXPECT_NE(error_of(files).find("not a JSON object"), std::string::npos) << error_of(files);
  files.config("[default]\ncredential_process = sh -c 'echo SECRET >&2; exit 3'\n");
  EXPECT_NE(error_of(files).find("sh failed with exit status 3"), std::string::npos) << error_of(files);
  EXPECT_EQ(error_of(files).find("SECRET >"), std::string::npos);
  files.config("[default]\ncredential_process = no-such-program-here\n");
  EXPECT_EQ(keys_of(files).status().code(), Code::Auth);
  files.config("[default]\ncredential_process = cat 'unfinished\n");
  EXPECT_NE(error_of(files).find("a quotation mark is not closed"), std::string::npos);
}

TEST(Credentials, AProcessThatHangsIsEndedAndNotRunAgain) {
  auto keys = process_credentials(environment_of_process(), "sleep 60", "its origin", {}, 0.2);
  ASSERT_FALSE(keys.ok());
  EXPECT_EQ(keys.status().code(), Code::Auth);  // what passes would be tried again
  EXPECT_NE(keys.status().text().find("its origin: sleep did not end within"), std::string::npos)
      << keys.status().text();
  StopSource stop;
  stop.request();
  EXPECT_EQ(
      process_credentials(environment_of_process(), "sleep 60", "its origin", stop.token()).status().code(),
      Code::Cancelled);
}

TEST(Credentials, WhatStsCanOnlyRefuseIsNotAskedFor) {
  Sts sts;
  AwsFiles files;
  files.variables["AWS_ENDPOINT_URL"] = sts.server.url("");
  files.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = files.home + "/token";
  files.variables["AWS_ROLE_ARN"] = "arn:r";
  files.file("token", "\n");
  EXPECT_EQ(error_of(files), "web identity of the environment: " + files.home + "/token contains no token");
  files.variables.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
  files.credentials("[base]\naws_access_key_id = BASE\naws_secret_access_key = s\n");
  for (const char* seconds : {"many", "60", "-900", "99999999999"}) {
    files.config(
        "[default]\nrole_arn = r\nsource_profile = base\nduration_seconds = " + std::string(seconds) + "\n");
    EXPECT_EQ(error_of(files), "role of profile \"default\": duration_seconds must be from 900 to 43200")
        << seconds;
  }
  EXPECT_TRUE(sts.server.requests().empty());
}

TEST(Credentials, AKeyThatTookTheNextLineInIsNamedWithItsPlace) {
  AwsFiles files;
  files.credentials("[default]\naws_access_key_id = AK\n  aws_secret_access_key = SECRET\n");
  EXPECT_EQ(keys_of(files).status().code(), Code::Auth);
  EXPECT_EQ(error_of(files).find("SECRET"), std::string::npos) << error_of(files);
  files.credentials("[default]\naws_secret_access_key = s\naws_access_key_id = AK\n  IA\n");
  EXPECT_NE(error_of(files).find("3: profile \"default\" sets aws_access_key_id over several lines"),
            std::string::npos)
      << error_of(files);
}

TEST(Credentials, ACommandIsSplitAsAShellTakesQuotes) {
  EXPECT_EQ(*split_command(R"(a 'b c' "d \"e\"" f\ g '' $HOME)"),
            (std::vector<std::string>{"a", "b c", "d \"e\"", "f g", "", "$HOME"}));
  EXPECT_FALSE(split_command("  ").ok());
}

// The name of the cache's file is the SHA-1 of the session's name, or of the start URL without sessions.
TEST(Credentials, OfSsoByTheTokenThatWasKept) {
  ScriptedServer portal([](const std::string&) {
    return http_answer(200, "",
                       R"({"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"t",)"
                       R"("expiration":4070908800000}})");
  });
  AwsFiles files;
  files.variables["AWS_ENDPOINT_URL_SSO"] = portal.url("");
  files.config(
      "[default]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Admin\n"
      "[sso-session corp]\nsso_start_url = https://corp.awsapps.com/start\nsso_region = eu-west-1\n");
  EXPECT_NE(error_of(files).find("`aws sso login --profile default`"), std::string::npos) << error_of(files);
  const std::string cache = ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";  // of "corp"
  files.file(cache, R"({"accessToken":"BEARER","expiresAt":"2099-01-01T00:00:00UTC"})");
  auto keys = keys_of(files);
  ASSERT_TRUE(keys.ok()) << keys.status().text();
  EXPECT_EQ(keys->access_key, "SSO");
  EXPECT_EQ(keys->expires, 4070908800);
  const std::string asked = portal.requests().at(0);
  EXPECT_EQ(asked.rfind("GET /federation/credentials?account_id=123&role_name=Admin ", 0), 0u) << asked;
  EXPECT_EQ(header_of(asked, "x-amz-sso_bearer_token"), "BEARER");
  files.file(cache, R"({"accessToken":"BEARER","expiresAt":"2001-01-01T00:00:00Z"})");
  EXPECT_EQ(error_of(files),
            "SSO of profile \"default\": its token has expired (Run `aws sso login --profile default`.)");
}

TEST(Credentials, AnSsoTokenThatRunsOutIsRefreshedAndKept) {
  ScriptedServer server([](const std::string& request) {
    if (request.rfind("POST /token ", 0) == 0)
      return http_answer(200, "", R"({"accessToken":"FRESH","expiresIn":28800,"refreshToken":"R2"})");
    return http_answer(200, "",
                       R"({"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"t",)"
                       R"("expiration":4070908800000}})");
  });
  AwsFiles files;
  files.variables["AWS_ENDPOINT_URL"] = server.url("");
  files.config(
      "[default]\nsso_start_url = https://corp.awsapps.com/start\nsso_region = eu-west-1\n"
      "sso_account_id = 123\nsso_role_name = Admin\n");
  // Of the start URL, as AWS's tools name it.
  const std::string name = error_of(files);
  const size_t at = name.find("/.aws/sso/cache/");
  ASSERT_NE(at, std::string::npos) << name;
  files.file(name.substr(at + 1, name.find(".json") + 5 - at - 1),
             R"({"accessToken":"OLD","expiresAt":"2001-01-01T00:00:00Z","refreshToken":"R1","clientId":"c",)"
             R"("clientSecret":"x","registrationExpiresAt":"2099-01-01T00:00:00Z"})");
  ASSERT_TRUE(keys_of(files).ok()) << error_of(files);
  EXPECT_NE(server.requests().at(0).find(R"("refreshToken":"R1")"), std::string::npos);
  EXPECT_EQ(header_of(server.requests().at(1), "x-amz-sso_bearer_token"), "FRESH");
  ASSERT_TRUE(keys_of(files).ok());  // the next process finds the fresh one
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(Credentials, OfAContainerOnlyFromWhereItMay) {
  ScriptedServer server([](const std::string&) { return http_answer(200, "", json_keys("TASK")); });
  AwsFiles files;
  files.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = server.url("/creds?id=SECRET");
  files.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "of the environment";
  files.file("token", "of the file\n");
  EXPECT_EQ(keys_of(files)->access_key, "TASK");
  EXPECT_EQ(header_of(server.requests().at(0), "Authorization"), "of the environment");
  files.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = files.home + "/token";
  EXPECT_EQ(keys_of(files)->access_key, "TASK");
  EXPECT_EQ(header_of(server.requests().at(1), "Authorization"), "of the file");
  EXPECT_EQ(keys_of(files)->origin.find("SECRET"), std::string::npos);
  for (const char* url :
       {"http://example.com/x", "http://169.254.169.254/x", "ftp://127.0.0.1/x", "nonsense"}) {
    files.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    EXPECT_EQ(keys_of(files).status().code(), Code::Auth) << url;
  }
}

TEST(Credentials, OfTheInstanceByMetadataVersion2) {
  ScriptedServer server([](const std::string& request) {
    if (request.rfind("PUT /latest/api/token ", 0) == 0) return http_answer(200, "", "SESSION");
    if (header_of(request, "X-aws-ec2-metadata-token") != "SESSION") return http_answer(401, "", "");
    if (request.rfind("GET /latest/meta-data/iam/security-credentials/ ", 0) == 0)
      return http_answer(200, "", "my-role\n");
    return http_answer(200, "", json_keys("INSTANCE"));
  });
  AwsFiles files;
  files.variables["AWS_EC2_METADATA_DISABLED"] = "";
  files.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server.url("/");
  auto keys = keys_of(files);
  ASSERT_TRUE(keys.ok()) << keys.status().text();
  EXPECT_EQ(keys->access_key, "INSTANCE");
  EXPECT_EQ(keys->origin, "instance role my-role");
  EXPECT_EQ(header_of(server.requests().at(0), "X-aws-ec2-metadata-token-ttl-seconds"), "21600");
  files.variables["AWS_EC2_METADATA_DISABLED"] = "TRUE";
  EXPECT_EQ(keys_of(files).status().code(), Code::NotFound);
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(Credentials, APlaceWithoutMetadataIsLeftSoonAndAskedOnce) {
  std::atomic<int> n{0};
  ScriptedServer silent([&](const std::string&) {
    ++n;
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return std::string();
  });
  AwsFiles files;
  files.variables["AWS_EC2_METADATA_DISABLED"] = "";
  files.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = silent.url("");
  http::Client http{environment_of_process()};
  auto source = default_credentials(http, *files.load());
  EXPECT_EQ(source->get({}).status().code(), Code::NotFound);
  EXPECT_EQ(source->get({}).status().code(), Code::NotFound);
  EXPECT_EQ(n, 1);
}

// ---- renewing ----

struct Clock {
  std::atomic<std::time_t> now{1000000};
};

TEST(Renewed, SomeMinutesBeforeTheEndAndOnlyThen) {
  Clock clock;
  int n = 0;
  auto source = renewed_credentials(
      [&](const Stop&) {
        ++n;
        return Result<Credentials>(Credentials{"K" + std::to_string(n), "s", "t", clock.now + 3600, ""});
      },
      [&] { return clock.now.load(); });
  EXPECT_EQ(source->get({})->access_key, "K1");
  clock.now += 3600 - 11 * 60;
  EXPECT_EQ(source->get({})->access_key, "K1");
  clock.now += 2 * 60;
  EXPECT_EQ(source->get({})->access_key, "K2");
}

TEST(Renewed, WhatHasEndedAsItComesMayBeAWrongClocks) {
  auto source = renewed_credentials(
      [](const Stop&) {
        return Result<Credentials>(Credentials{"K", "s", "t", 1000, "container"});
      },
      [] { return std::time_t{1767225600}; });
  const std::string text = source->get({}).status().text();
  EXPECT_NE(text.find("container: the credentials have expired"), std::string::npos) << text;
  EXPECT_NE(text.find("this computer's clock, which shows 2026-01-01T00:00:00Z"), std::string::npos) << text;
}

TEST(Renewed, AFailureWhileTheOldOnesAreGoodIsNotFelt) {
  Clock clock;
  bool broken = false;
  auto source = renewed_credentials(
      [&](const Stop&) {
        return broken ? Result<Credentials>(Status(Code::Retry, "away"))
                      : Result<Credentials>(Credentials{"K", "s", "t", clock.now + 3600, ""});
      },
      [&] { return clock.now.load(); });
  ASSERT_TRUE(source->get({}).ok());
  broken = true;
  clock.now += 3600 - 5 * 60;
  EXPECT_EQ(source->get({})->access_key, "K");
  clock.now += 5 * 60;
  EXPECT_EQ(source->get({}).status().message(), "away");
}

TEST(Renewed, RefusedOnesAreTakenAnewAndManyThreadsAskOnce) {
  std::atomic<int> n{0};
  auto source = renewed_credentials([&](const Stop&) {
    ++n;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return Result<Credentials>(Credentials{"K" + std::to_string(n), "s", "", std::nullopt, ""});
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(source->get({})->access_key, "K1"); });
  for (auto& t : threads) t.join();
  EXPECT_EQ(n, 1);
  source->refused(*source->get({}));
  EXPECT_EQ(source->get({})->access_key, "K2");
  source->refused(Credentials{"K1", "s", "", std::nullopt, ""});  // others than those that are kept
  EXPECT_EQ(source->get({})->access_key, "K2");
}

TEST(Renewed, WhoWaitsForAnotherIsStopped) {
  std::atomic<bool> leave{false};
  auto source = renewed_credentials([&](const Stop&) {
    while (!leave) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Result<Credentials>(Credentials{"K", "s", "", std::nullopt, ""});
  });
  std::thread first([&] { (void)source->get({}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(source->get(Stop().within(std::chrono::milliseconds(80))).status().code(), Code::Timeout);
  leave = true;
  first.join();
}

TEST(Json, TimesAsAwsWritesThem) {
  for (const char* text : {"2030-01-01T00:00:00Z", "2030-01-01T00:00:00UTC", "2030-01-01T00:00:00.123Z",
                           "2030-01-01T02:00:00+02:00", "2029-12-31T23:30:00-00:30"})
    EXPECT_EQ(parse_time(text), 1893456000) << text;
  EXPECT_FALSE(parse_time("soon").has_value());
  EXPECT_FALSE(parse_time("2030-01-01T00:00:00 CET").has_value());
}

}  // namespace
}  // namespace radl::aws
