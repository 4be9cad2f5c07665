// Lines of type Azure, as the Infrastructure Manager means them.
#include "runtime/clouds/azure/auth_lines.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

Result<azure::Settings> azure_settings_of(const std::string& line) {
  auto file = parse_auth(line, {.name = "auth.dat"});
  EXPECT_TRUE(file.ok()) << file.status().text();
  azure::Settings places;
  places.location = "westeurope";
  places.subscription = "of-somebody-else";
  return azure_settings(*file, *file->of_type("Azure").front(), places);
}

TEST(AzureLines, AServicePrincipalIsOfItsTenantAndSubscription) {
  auto settings = azure_settings_of(
      "id = az; type = Azure; subscription_id = s-1; client_id = c-1; secret = 'x=y'; tenant = t-1");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->subscription, "s-1");
  EXPECT_EQ(settings->location, "westeurope");
  EXPECT_EQ(settings->credential.kind, azure::Credential::Kind::Secret);
  EXPECT_EQ(settings->credential.tenant, "t-1");
  EXPECT_EQ(settings->credential.secret, "x=y");
}

TEST(AzureLines, AUsersPasswordIsTaken) {
  auto settings =
      azure_settings_of("id = az; type = Azure; subscription_id = s-1; username = me@x.org; password = pw");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->credential.kind, azure::Credential::Kind::Password);
  EXPECT_FALSE(settings->credential.client_id.empty());
}

TEST(AzureLines, MissingFieldsAreReportedWithoutASecret) {
  for (const char* line :
       {"type = Azure; client_id = c; secret = hush; tenant = t",
        "type = Azure; subscription_id = Pay as you go; client_id = c; secret = hush; tenant = t",
        "type = Azure; subscription_id = s; client_id = c; secret = hush",
        "type = Azure; subscription_id = s; username = u"}) {
    auto settings = azure_settings_of(line);
    ASSERT_EQ(settings.status().code(), Code::Auth) << line;
    EXPECT_NE(settings.status().text().find("auth.dat:1"), std::string::npos) << settings.status().text();
    EXPECT_EQ(settings.status().text().find("hush"), std::string::npos) << settings.status().text();
  }
}

}  // namespace
}  // namespace radl
