// AWS's shared files, and what they and the environment say besides keys.
#include "common/aws/settings.h"

#include "tests/unit/common/aws/aws_files.h"

namespace radl::aws {
namespace {

using test::AwsFiles;

std::string mistake(const std::string& text, FileKind kind = FileKind::Config) {
  auto parsed = parse_profiles(text, "f", kind);
  return parsed.ok() ? "" : parsed.status().message();
}

TEST(Profiles, SectionsSettingsCommentsAndNestedSettings) {
  auto parsed = parse_profiles(
      "# a comment\n; another\n[default]\r\nregion = eu-west-1 # why\n\n[profile 'a b']\nREGION=us-east-1\n"
      "s3 =\n  addressing_style = path\n  max_concurrent_requests = 20\noutput = json\n  more\n"
      "[services mine]\nec2 =\n  endpoint_url = http://127.0.0.1:1\n[plain]\nregion = lost\n",
      "f", FileKind::Config);
  ASSERT_TRUE(parsed.ok()) << parsed.status().text();
  EXPECT_EQ(parsed->at("profile default").get("region"), "eu-west-1");
  EXPECT_EQ(parsed->at("profile default").place("region"), "f:4");
  EXPECT_EQ(parsed->at("profile a b").get("region"), "us-east-1");
  EXPECT_EQ(parsed->at("profile a b").get("s3.addressing_style"), "path");
  EXPECT_EQ(parsed->at("profile a b").get("output"), "json\nmore");
  EXPECT_EQ(parsed->at("services mine").get("ec2.endpoint_url"), "http://127.0.0.1:1");
  EXPECT_EQ(parsed->count("profile plain"), 0u);  // in a config file a profile's section says so
}

TEST(Profiles, ProfileDefaultCountsMoreThanDefault) {
  for (const char* text : {"[profile default]\nregion = a\n[default]\nregion = b\n",
                           "[default]\nregion = b\n[profile default]\nregion = a\n"}) {
    auto parsed = parse_profiles(text, "f", FileKind::Config);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->at("profile default").get("region"), "a") << text;
  }
}

TEST(Profiles, AMistakeNamesFileAndLineAndNeverTheText) {
  EXPECT_EQ(mistake("region = x\n"), "f:1: a setting before the first [section]");
  EXPECT_EQ(mistake("[default]\nSECRET\n"), "f:2: no \"=\": a setting is NAME = VALUE");
  EXPECT_EQ(mistake("[default\nregion = x\n"), "f:1: a section's name needs a \"]\" at its end");
  EXPECT_EQ(mistake("[]\n"), "f:1: a section without a name");
  EXPECT_EQ(mistake("[default]\n= x\n"), "f:2: no name before \"=\"");
  EXPECT_EQ(mistake("[default]\ns3 =\n  SECRET\n"), "f:3: no \"=\": a setting is NAME = VALUE");
}

TEST(Profiles, ASectionMayBeIndentedAndAColonSeparatesToo) {
  auto parsed = parse_profiles(
      "[work]\n    aws_access_key_id: A\n    aws_secret_access_key = b:c=\n\n  [home]\n\taws_access_key_id = "
      "B\n"
      "\taws_secret_access_key\t=\td\n\ts3 =\n\t\taddressing_style = path\n\tregion = eu-west-1\n",
      "f", FileKind::Credentials);
  ASSERT_TRUE(parsed.ok()) << parsed.status().text();
  EXPECT_EQ(parsed->at("profile work").get("aws_access_key_id"), "A");
  EXPECT_EQ(parsed->at("profile work").get("aws_secret_access_key"), "b:c=");
  EXPECT_EQ(parsed->at("profile home").get("aws_secret_access_key"), "d");
  EXPECT_EQ(parsed->at("profile home").get("s3.addressing_style"), "path");
  EXPECT_EQ(parsed->at("profile home").get("region"), "eu-west-1");
}

TEST(Settings, TheEnvironmentCountsMoreThanTheProfile) {
  AwsFiles files;
  files.config("[default]\nregion = eu-west-1\nmax_attempts = 7\nca_bundle = ~/ca.pem\n");
  EXPECT_EQ(*(*files.load())->region(), "eu-west-1");
  EXPECT_EQ(*(*files.load())->max_attempts(), 7);
  EXPECT_EQ((*files.load())->ca_bundle(), files.home + "/ca.pem");
  files.variables["AWS_DEFAULT_REGION"] = "us-east-2";
  EXPECT_EQ(*(*files.load())->region(), "us-east-2");
  files.variables["AWS_REGION"] = "ap-south-1";
  EXPECT_EQ(*(*files.load())->region(), "ap-south-1");
  files.variables["AWS_REGION"] = "evil.example/";
  EXPECT_EQ((*files.load())->region().status().code(), Code::Invalid);
  files.variables["AWS_MAX_ATTEMPTS"] = "many";
  EXPECT_EQ((*files.load())->max_attempts().status().code(), Code::Invalid);
}

TEST(Settings, AProfileThatIsNowhereIsAnErrorThatSaysHowItsSectionIsWritten) {
  AwsFiles files;
  files.config("[prod]\nregion = eu-west-1\n");
  files.variables["AWS_PROFILE"] = "prod";
  auto loaded = files.load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), Code::NotFound);
  EXPECT_NE(loaded.status().text().find("[profile prod]"), std::string::npos) << loaded.status().text();
  files.credentials("[prod]\naws_access_key_id = a\naws_secret_access_key = b\n");
  EXPECT_TRUE(files.load().ok());
  EXPECT_FALSE(files.load("other").ok());
}

TEST(Settings, EndpointsInAwssOrder) {
  AwsFiles files;
  files.config(
      "[default]\nservices = mine\nendpoint_url = http://all.profile\n[services mine]\nec2 =\n"
      "  endpoint_url = http://ec2.profile/\n");
  EXPECT_EQ(*(*files.load())->configured_endpoint("ec2"), "http://ec2.profile");
  EXPECT_EQ(*(*files.load())->configured_endpoint("sts"), "http://all.profile");
  files.variables["AWS_ENDPOINT_URL"] = "http://all.environment";
  EXPECT_EQ(*(*files.load())->configured_endpoint("ec2"), "http://all.environment");
  files.variables["AWS_ENDPOINT_URL_SSO_OIDC"] = "http://oidc.environment";
  EXPECT_EQ(*(*files.load())->configured_endpoint("sso_oidc"), "http://oidc.environment");
  files.variables["AWS_ENDPOINT_URL_EC2"] = "ftp://x";
  EXPECT_EQ((*files.load())->configured_endpoint("ec2").status().code(), Code::Invalid);
  files.variables["AWS_ENDPOINT_URL_EC2"] = "http://x/?key=value";
  EXPECT_EQ((*files.load())->configured_endpoint("ec2").status().code(), Code::Invalid);
  files.variables["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
  EXPECT_EQ(*endpoint_of(**files.load(), "ec2", "eu-west-1"), "https://ec2.eu-west-1.amazonaws.com");
}

TEST(Settings, EndpointsOfOtherKindsHaveToBeNamed) {
  AwsFiles files;
  files.config("[default]\nuse_dualstack_endpoint = True\nuse_fips_endpoint = false\n");
  for (const std::string kind : {"DUALSTACK", "FIPS"}) {
    Status asked = endpoint_of(**files.load(), "ec2", "us-east-1").status();
    EXPECT_EQ(asked.code(), Code::Invalid);
    EXPECT_NE(asked.text().find("AWS_USE_" + kind + "_ENDPOINT"), std::string::npos) << asked.text();
    EXPECT_NE(asked.text().find("AWS_ENDPOINT_URL_EC2="), std::string::npos) << asked.text();
    files.variables["AWS_USE_FIPS_ENDPOINT"] = "true";
  }
  files.variables["AWS_ENDPOINT_URL_EC2"] = "https://ec2-fips.us-east-1.amazonaws.com";
  EXPECT_EQ(*endpoint_of(**files.load(), "ec2", "us-east-1"), "https://ec2-fips.us-east-1.amazonaws.com");
  files.variables.erase("AWS_ENDPOINT_URL_EC2");
  for (const char* name : {"AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"})
    files.variables[name] = "false";
  EXPECT_EQ(*endpoint_of(**files.load(), "ec2", "us-east-1"), "https://ec2.us-east-1.amazonaws.com");
}

TEST(Settings, AServicesSectionThatIsNotThereIsAnError) {
  AwsFiles files;
  files.config("[default]\nservices = mine\n");
  auto endpoint = (*files.load())->configured_endpoint("ec2");
  ASSERT_FALSE(endpoint.ok());
  EXPECT_NE(endpoint.status().message().find("/.aws/config:2"), std::string::npos);
}

TEST(Settings, AmazonsOwnEndpoints) {
  EXPECT_EQ(default_endpoint("ec2", "eu-west-1"), "https://ec2.eu-west-1.amazonaws.com");
  EXPECT_EQ(default_endpoint("ec2", "cn-north-1"), "https://ec2.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(default_endpoint("iam", "eu-west-1"), "https://iam.amazonaws.com");
  EXPECT_EQ(default_endpoint("sts", "us-gov-west-1"), "https://sts.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(default_endpoint("sso", "eu-west-1"), "https://portal.sso.eu-west-1.amazonaws.com");
}

}  // namespace
}  // namespace radl::aws
