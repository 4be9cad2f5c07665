// Which cloud and which credentials are taken, as OpenStack's own tools take them.
#include "common/openstack/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "common/digest.h"
#include "common/files.h"
#include "common/openstack/identity.h"
#include "common/openstack/values.h"

namespace radl::openstack {
namespace {

class Files {
 public:
  Files() : home(testing::TempDir() + "openstack-" + to_hex(random_bytes(6))) { variables["HOME"] = home; }
  ~Files() { std::filesystem::remove_all(home); }
  void write(const std::string& name, const std::string& text) const {
    const std::string folder = home + "/.config/openstack";
    (void)make_directories(folder);
    (void)write_file_atomic(folder + "/" + name, text);
  }
  Result<std::shared_ptr<const Configuration>> load() const {
    return Configuration::load([all = variables](const std::string& name) {
      auto found = all.find(name);
      return found == all.end() ? "" : found->second;
    });
  }
  std::string home;
  std::map<std::string, std::string> variables;
};

constexpr const char* kTwo = R"(
clouds:
  one:
    region_name: R1
    auth: {auth_url: "https://one.example:5000/", username: me, project_name: p, user_domain_name: d}
  two:
    auth_type: v3applicationcredential
    interface: internal
    auth: {auth_url: "https://two.example/identity/v3", application_credential_id: id}
)";

TEST(OpenStackSettings, TheCloudThatIsNamedIsTaken) {
  Files files;
  files.write("clouds.yaml", kTwo);
  files.write("secure.yaml",
              "clouds: {one: {auth: {password: hush}}, two: {auth: {application_credential_secret: s}}}");
  files.variables["OS_CLOUD"] = "two";
  auto loaded = files.load();
  ASSERT_TRUE(loaded.ok()) << loaded.status().text();
  auto two = (*loaded)->cloud("");
  ASSERT_TRUE(two.ok()) << two.status().text();
  EXPECT_EQ(two->method, "application_credential");
  EXPECT_EQ(two->of("application_credential_secret"), "s") << "secure.yaml lies over clouds.yaml";
  EXPECT_EQ(two->interface, "internal");
  auto one = (*loaded)->cloud("one");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->of("password"), "hush");
  EXPECT_EQ(one->of("auth_url"), "https://one.example:5000");
  EXPECT_EQ(one->region, "R1");
  EXPECT_EQ(identity_url(*one), "https://one.example:5000/v3");
  EXPECT_EQ(identity_url(*two), "https://two.example/identity/v3");
}

TEST(OpenStackSettings, VariablesComeBeforeTheOnlyCloudOfAFile) {
  Files files;
  files.write("clouds.yaml", "clouds: {only: {auth: {auth_url: 'https://only.example'}}}");
  EXPECT_EQ((*files.load())->default_name(), "only");
  files.variables["OS_AUTH_URL"] = "https://variables.example:5000/v3";
  files.variables["OS_USERNAME"] = "me";
  files.variables["OS_TENANT_NAME"] = "old name of a project";
  auto taken = (*files.load())->cloud("");
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken->of("auth_url"), "https://variables.example:5000/v3");
  EXPECT_EQ(taken->of("project_name"), "old name of a project");
}

TEST(OpenStackSettings, VariablesSayForTheCloudThatIsMeantWhatItLacks) {
  Files files;
  files.write("clouds.yaml", kTwo);
  files.variables = {
      {"HOME", files.home},           {"OS_CLOUD", "one"},
      {"OS_REGION_NAME", "R2"},       {"OS_INTERFACE", "internalURL"},
      {"OS_CACERT", "/ca.pem"},       {"OS_PASSWORD", "hush"},
      {"OS_PROJECT_NAME", "another"}, {"OS_APPLICATION_CREDENTIAL_SECRET", "of something else"}};
  auto one = (*files.load())->cloud("");
  ASSERT_TRUE(one.ok()) << one.status().text();
  EXPECT_EQ(one->region, "R2");
  EXPECT_EQ(one->interface, "internal");
  EXPECT_EQ(one->ca_file, "/ca.pem");
  EXPECT_EQ(one->method, "password");
  EXPECT_EQ(one->of("password"), "hush");
  EXPECT_EQ(one->of("project_name"), "p") << "the file says it";
  auto two = (*files.load())->cloud("two");
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->region, "") << "the variables are not meant for another one";
  EXPECT_EQ(two->of("application_credential_secret"), "");
  files.variables["OS_CLOUD"] = "two";
  two = (*files.load())->cloud("");
  EXPECT_EQ(two->method, "application_credential");
  EXPECT_EQ(two->of("application_credential_secret"), "of something else");
  EXPECT_EQ(two->of("password"), "");
}

TEST(OpenStackSettings, TheOnlyCloudOfAFileTakesItsProjectFromAVariable) {
  Files files;
  files.write("clouds.yaml", "clouds: {only: {auth: {auth_url: 'https://k', username: u, password: p}}}");
  files.variables["OS_PROJECT_NAME"] = "x";
  files.variables["OS_PROJECT_DOMAIN_NAME"] = "d";
  auto only = (*files.load())->cloud("");
  ASSERT_TRUE(only.ok());
  EXPECT_EQ(only->of("password"), "p");
  EXPECT_EQ((*token_request(*only))["auth"]["scope"]["project"],
            nlohmann::json({{"name", "x"}, {"domain", {{"name", "d"}}}}));
}

TEST(OpenStackSettings, ASecretThatLacksIsCalledByItsName) {
  auto settings =
      settings_of({{"auth.auth_url", "https://k"}, {"auth.application_credential_id", "i"}}, "a", "a");
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(token_request(*settings).status().message(), "a: lacks application_credential_secret");
}

TEST(OpenStackSettings, WhatCannotBeMeantIsSaid) {
  Files none;
  EXPECT_EQ((*none.load())->cloud("").status().code(), Code::NotFound);
  Files two;
  two.write("clouds.yaml", kTwo);
  EXPECT_NE((*two.load())->cloud("").status().message().find("contains several clouds: one, two"),
            std::string::npos);
  EXPECT_NE((*two.load())->cloud("tow").status().hint().find("two"), std::string::npos);
  Files unsafe;
  unsafe.write("clouds.yaml", "clouds: {a: {verify: false, auth: {auth_url: 'https://a.example'}}}");
  EXPECT_NE((*unsafe.load())->cloud("").status().message().find("always checks certificates"),
            std::string::npos);
  Files broken;
  broken.write("clouds.yaml", "clouds: {a: {auth: {password: 'hush");
  auto loaded = broken.load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().text().find("hush"), std::string::npos) << loaded.status().text();
}

TEST(OpenStackSettings, AnyBytesAreReadOrRefused) {
  std::mt19937 random(3);
  const std::string seed = kTwo;
  for (int round = 0; round < 3000; ++round) {
    std::string text = seed;
    for (int change = 0; change < 4; ++change)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    auto clouds = parse_clouds(text, "f", "clouds");
    if (!clouds.ok()) continue;
    for (const auto& [name, written] : *clouds) (void)settings_of(written, name, "f");
  }
}

TEST(OpenStackIdentity, ARequestHoldsMethodAndScope) {
  Settings settings;
  settings.method = "password";
  settings.auth = {{"auth_url", "https://k"}, {"username", "u"}, {"password", "p"}, {"project_name", "x"}};
  auto request = token_request(settings);
  ASSERT_TRUE(request.ok()) << request.status().text();
  EXPECT_EQ((*request)["auth"]["scope"]["project"]["name"], "x");
  EXPECT_EQ((*request)["auth"]["identity"]["password"]["user"]["domain"]["id"], "default");
  settings.auth.erase("password");
  EXPECT_EQ(token_request(settings).status().code(), Code::Auth);
  settings.method = "application_credential";
  settings.auth["application_credential_id"] = "i";
  settings.auth["application_credential_secret"] = "s";
  EXPECT_FALSE((*token_request(settings))["auth"].contains("scope")) << "it has its project with it";
  settings.method = "oidc_access_token";
  settings.auth["identity_provider"] = "egi.eu";
  settings.auth["protocol"] = "openid";
  settings.auth["access_token"] = "t";
  EXPECT_EQ(*federation_url(settings),
            "https://k/v3/OS-FEDERATION/identity_providers/egi.eu/protocols/openid/auth");
  EXPECT_EQ((*token_request(settings, "unscoped"))["auth"]["identity"]["token"]["id"], "unscoped");
}

TEST(OpenStackIdentity, ATokenOfAnyFormDoesNoHarm) {
  const std::string seed =
      R"({"token":{"expires_at":"2026-01-02T03:04:05.000000Z","project":{"id":"p","name":"n","domain":{"name":"d"}},"user":{"id":"u"},
      "roles":[{"name":"member"}],"catalog":[{"type":"compute","name":"nova","endpoints":[{"url":"http://h/v2.1/","interface":"public","region":"R"}]}]}})";
  auto token = parse_token(seed, "secret");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->expires, 1767323045);
  ASSERT_EQ(token->catalog.size(), 1u);
  EXPECT_EQ(token->catalog[0].url, "http://h/v2.1");
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (int change = 0; change < 3; ++change)
      text[random() % text.size()] = "{}[]\":,0-9e\\n"[random() % 13];
    (void)parse_token(text, "secret");
  }
  EXPECT_TRUE(parse_json(std::string(100000, '[')).is_null()) << "deeper than any answer is";
}

}  // namespace
}  // namespace radl::openstack
