// Signature Version 4 on AWS's published examples: the S3 API reference ("Examples: Signature Calculations"),
// the General Reference's test suite (get-vanilla and others) and its IAM ListUsers walk-through.
#include "common/aws/sigv4.h"

#include <gtest/gtest.h>

#include "common/digest.h"

namespace radl::aws {
namespace {

const Credentials kS3Key{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
const Credentials kSuiteKey{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
const SigningScope kS3{"us-east-1", "s3", 1369353600};          // 2013-05-24T00:00:00Z
const SigningScope kSuite{"us-east-1", "service", 1440938160};  // 2015-08-30T12:36:00Z

std::string signature_of(const http::Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name == "Authorization") return value.substr(value.find("Signature=") + 10);
  }
  return "";
}

ToSign s3(std::string method, std::string path, http::Headers query, http::Headers headers,
          std::string body = "") {
  return {std::move(method),  "examplebucket.s3.amazonaws.com",
          std::move(path),    std::move(query),
          std::move(headers), sha256_hex(body)};
}

ToSign suite(std::string path, http::Headers query = {}, std::string method = "GET",
             http::Headers headers = {}, std::string body = "") {
  return {std::move(method),
          "example.amazonaws.com",
          std::move(path),
          std::move(query),
          std::move(headers),
          sha256_hex(body),
          false};
}

TEST(SigV4, S3GetObject) {
  auto h = sign_v4(s3("GET", "/test.txt", {}, {{"Range", "bytes=0-9"}}), kS3Key, kS3);
  EXPECT_EQ(signature_of(h), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4, S3PutObject) {
  auto h =
      sign_v4(s3("PUT", "/test$file.text", {},
                 {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                 "Welcome to Amazon S3."),
              kS3Key, kS3);
  EXPECT_EQ(signature_of(h), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SigV4, S3GetBucketLifecycle) {
  auto h = sign_v4(s3("GET", "/", {{"lifecycle", ""}}, {}), kS3Key, kS3);
  EXPECT_EQ(signature_of(h), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(SigV4, S3ListObjects) {
  auto h = sign_v4(s3("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}), kS3Key, kS3);
  EXPECT_EQ(signature_of(h), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

// S3 API Reference, "Authenticating Requests: Using Query Parameters".
TEST(SigV4, APresignedUrlOfAnObject) {
  ToSign r = s3("GET", "/test.txt", {}, {});
  r.body_sha256 = "UNSIGNED-PAYLOAD";
  auto query = presign_v4(r, kS3Key, kS3, 86400);
  EXPECT_EQ(query.back().second, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
  EXPECT_EQ(http::query_string(query),
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%"
            "2Fs3%2Faws4_"
            "request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-Signature="
            "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404&X-Amz-SignedHeaders=host");
}

TEST(SigV4, IamListUsers) {
  ToSign r{"GET",
           "iam.amazonaws.com",
           "/",
           {{"Action", "ListUsers"}, {"Version", "2010-05-08"}},
           {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
           sha256_hex(""),
           false};
  SigningScope scope{"us-east-1", "iam", 1440938160};
  Credentials key{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  EXPECT_EQ(signature_of(sign_v4(r, key, scope)),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(SigV4, TestSuite) {
  struct Case {
    const char* name;
    ToSign request;
    const char* signature;
  };
  const Case cases[] = {
      {"get-vanilla", suite("/"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-vanilla-query-order-key-case", suite("/", {{"Param2", "value2"}, {"Param1", "value1"}}),
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"post-vanilla", suite("/", {}, "POST"),
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(signature_of(sign_v4(c.request, kSuiteKey, kSuite)), c.signature) << c.name;
  // Paths that normalise to the same one have the same signature; S3 keeps them apart.
  auto plain = signature_of(sign_v4(suite("/"), kSuiteKey, kSuite));
  for (const char* path : {"//", "/./", "/example/..", "/example1/example2/../.."}) {
    EXPECT_EQ(signature_of(sign_v4(suite(path), kSuiteKey, kSuite)), plain) << path;
  }
  EXPECT_NE(signature_of(sign_v4(s3("GET", "//", {}, {}), kS3Key, kS3)),
            signature_of(sign_v4(s3("GET", "/", {}, {}), kS3Key, kS3)));
}

TEST(SigV4, ASessionTokenIsSignedAndSent) {
  Credentials key = kSuiteKey;
  key.session_token = "token";
  auto h = sign_v4(suite("/"), key, kSuite);
  bool sent = false;
  for (auto& [n, v] : h) {
    sent |= n == "X-Amz-Security-Token" && v == "token";
    if (n == "Authorization") {
      EXPECT_NE(v.find("x-amz-security-token"), std::string::npos);
    }
  }
  EXPECT_TRUE(sent);
  EXPECT_NE(signature_of(h), signature_of(sign_v4(suite("/"), kSuiteKey, kSuite)));
}

}  // namespace
}  // namespace radl::aws
