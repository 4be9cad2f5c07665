// Lines of type GCE, as the Infrastructure Manager means them.
#include "runtime/clouds/gce/auth_lines.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

Result<google::Settings> google_settings_of(const std::string& line) {
  auto file = parse_auth(line, {.name = "auth.dat"});
  EXPECT_TRUE(file.ok()) << file.status().text();
  google::Settings places;
  places.region = "europe-west1";
  places.project = "of-somebody-else";
  return google_settings(*file, *file->of_type("GCE").front(), places);
}

TEST(GoogleLines, AKeyInPemBelongsToTheAccountAndProjectOfTheLine) {
  auto settings = google_settings_of(
      R"(id = g; type = GCE; username = me@p.iam.gserviceaccount.com; project = p; password = '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----')");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->project, "p");
  EXPECT_EQ(settings->region, "europe-west1");
  EXPECT_EQ(settings->credential.account, "me@p.iam.gserviceaccount.com");
  EXPECT_EQ(settings->credential.private_key,
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----");
}

TEST(GoogleLines, AKeyFileInJsonBringsAccountAndProject) {
  auto settings = google_settings_of(
      R"(id = g; type = GCE; password = '{"type": "service_account", "client_email": "me@q", "private_key": "K", "project_id": "q"}')");
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->project, "q");
  EXPECT_EQ(settings->credential.account, "me@q");
}

TEST(GoogleLines, MissingFieldsAreReportedWithoutTheKey) {
  for (const char* line :
       {"type = GCE; username = me; project = p", "type = GCE; username = me; password = hush; project = p",
        "type = GCE; password = '-----BEGIN hush'; project = p",
        R"(type = GCE; password = '{"type": "service_account", "private_key": "hush"}')"}) {
    auto settings = google_settings_of(line);
    ASSERT_FALSE(settings.ok()) << line;
    EXPECT_NE(settings.status().text().find("auth.dat:1"), std::string::npos) << settings.status().text();
    EXPECT_EQ(settings.status().text().find("hush"), std::string::npos) << settings.status().text();
  }
}

}  // namespace
}  // namespace radl
