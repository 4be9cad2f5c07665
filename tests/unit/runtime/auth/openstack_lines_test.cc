// Lines of types OpenStack and EGI, as the Infrastructure Manager means them.
#include "runtime/clouds/openstack/auth_lines.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

Result<openstack::Settings> settings_of_line(const std::string& line) {
  auto file = parse_auth(line, {.name = "auth.dat"});
  EXPECT_TRUE(file.ok()) << file.status().text();
  return openstack_settings(*file, file->lines.front());
}

TEST(OpenStackLines, APasswordWithProjectAndDomain) {
  for (const char* version : {"", "auth_version = 3.x_password;", "auth_version = 2.0_password;"}) {
    auto settings =
        settings_of_line(std::string("id = ost; type = OpenStack; ") + version +
                         "host = https://k.example:5000; username = me; password = 'a=b'; tenant = research; "
                         "domain = Users; service_region = R1; base_url = https://c.example/v2.1");
    ASSERT_TRUE(settings.ok()) << settings.status().text();
    EXPECT_EQ(settings->method, "password");
    EXPECT_EQ(settings->of("auth_url"), "https://k.example:5000");
    EXPECT_EQ(settings->of("password"), "a=b");
    EXPECT_EQ(settings->of("project_name"), "research");
    EXPECT_EQ(settings->of("user_domain_name"), "Users");
    EXPECT_EQ(settings->region, "R1");
    EXPECT_EQ(settings->endpoints.at("compute"), "https://c.example/v2.1");
    EXPECT_EQ(settings->name, "ost");
  }
}

TEST(OpenStackLines, AnApplicationCredential) {
  auto settings = settings_of_line(
      "type = OpenStack; host = k.example:5000; auth_version = 3.x_appcred; username = ID; password = "
      "SECRET");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->method, "application_credential");
  EXPECT_EQ(settings->of("application_credential_id"), "ID");
  EXPECT_EQ(settings->of("application_credential_secret"), "SECRET");
  EXPECT_EQ(settings->of("auth_url"), "http://k.example:5000");
}

TEST(OpenStackLines, AnAccessTokenWithItsProjectInTheDomain) {
  auto settings = settings_of_line(
      "type = OpenStack; host = https://k.example/v3; auth_version = 3.x_oidc_access_token; username = "
      "egi.eu; tenant = openid; "
      "password = TOKEN; domain = 00112233445566778899aabbccddeeff");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->method, "oidc_access_token");
  EXPECT_EQ(settings->of("identity_provider"), "egi.eu");
  EXPECT_EQ(settings->of("protocol"), "openid");
  EXPECT_EQ(settings->of("access_token"), "TOKEN");
  EXPECT_EQ(settings->of("project_id"), "00112233445566778899aabbccddeeff");
}

TEST(OpenStackLines, ASiteOfEgiIsLookedUpWhenItIsNeeded) {
  auto settings = settings_of_line("id = egi; type = EGI; host = CESGA; vo = vo.example; token = TOKEN");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->egi_site, "CESGA");
  EXPECT_EQ(settings->egi_vo, "vo.example");
  EXPECT_EQ(settings->method, "oidc_access_token");
}

TEST(OpenStackLines, WhatLacksIsNamedWithItsLineAndNoValue) {
  auto lacking =
      settings_of_line("id = ost; type = OpenStack; host = https://k.example; username = me; tenant = t");
  EXPECT_EQ(lacking.status().code(), Code::Auth);
  EXPECT_EQ(lacking.status().message(), "auth.dat:1: ost: has no password");
  auto proxy = settings_of_line("id = ost; type = OpenStack; host = https://k.example; proxy = SECRETPROXY");
  EXPECT_NE(proxy.status().message().find("VOMS"), std::string::npos);
  EXPECT_EQ(proxy.status().text().find("SECRETPROXY"), std::string::npos);
  auto version =
      settings_of_line("id = ost; type = OpenStack; host = https://k.example; auth_version = 2.0_voms");
  EXPECT_EQ(version.status().code(), Code::Invalid);
}

}  // namespace
}  // namespace radl
