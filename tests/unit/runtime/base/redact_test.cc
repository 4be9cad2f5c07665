// No form of a secret gets through.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "runtime/base/redact.h"

namespace radl {
namespace {

TEST(Redact, MasksEveryOccurrence) {
  Redactor redactor(std::map<std::string, std::string>{{"a", "hunter2"}});
  EXPECT_EQ(redactor.mask("pw hunter2, again hunter2!"), "pw (sensitive), again (sensitive)!");
  EXPECT_EQ(redactor.mask("nothing here"), "nothing here");
}

TEST(Redact, MasksTheLongerOfTwoThatOverlap) {
  Redactor redactor(std::map<std::string, std::string>{{"a", "pass"}, {"b", "password1"}});
  EXPECT_EQ(redactor.mask("password1"), "(sensitive)");
}

TEST(Redact, MasksEncodedForms) {
  std::string secret = "p\"ss word/+";
  Redactor redactor(std::map<std::string, std::string>{{"a", secret}});
  std::string json = nlohmann::json(secret).dump();
  EXPECT_EQ(redactor.mask(json).find("ss word"), std::string::npos);
  EXPECT_EQ(redactor.mask("x=p%22ss%20word%2F%2B"), "x=(sensitive)");
  std::string encoded = base64_encode(secret);
  EXPECT_EQ(redactor.mask(encoded).find(encoded.substr(0, 10)), std::string::npos);
}

TEST(Redact, MasksEachLineOfAKey) {
  Redactor redactor(std::map<std::string, std::string>{
      {"key", "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----\n"}});
  EXPECT_EQ(redactor.mask("line: MIIEvQIBADANBg"), "line: (sensitive)");
}

TEST(Redact, AShortSecretIsMaskedOnlyAsAWhole) {
  Redactor redactor(std::map<std::string, std::string>{{"pin", "7"}});
  EXPECT_EQ(redactor.mask("7 of 17"), "7 of 17");
  EXPECT_EQ(redactor.mask("7"), "(sensitive)");
}

TEST(Redact, GoesThroughJson) {
  Redactor redactor(std::map<std::string, std::string>{{"a", "hunter2"}, {"pin", "4711"}});
  nlohmann::json value = {{"x", {"hunter2", 4711, 5, true}}, {"hunter2", nullptr}};
  nlohmann::json masked = redactor.mask_json(value);
  EXPECT_EQ(masked["x"], nlohmann::json({"(sensitive)", "(sensitive)", 5, true}));
  EXPECT_TRUE(masked.contains("(sensitive)"));
}

}  // namespace
}  // namespace radl
