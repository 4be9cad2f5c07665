// URLs, and what services' answers say where nothing but their status tells of it.
#include "common/http/url.h"

#include <gtest/gtest.h>

#include "common/http/answer.h"
#include "common/http/http.h"
#include "common/http/loopback.h"

namespace radl::http {
namespace {

TEST(Loopback, IsALiteralOrLocalhost) {
  for (const char* host : {"localhost", "::1", "127.0.0.1", "127.255.0.9"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"127.0.0.1.example.com", "127.example.com", "127.0.0", "128.0.0.1", "0.0.0.0",
                           "::2", "localhost.example.com", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(Url, EncodesDecodesAndPrintsWithoutSecrets) {
  EXPECT_EQ(percent_encode("a b/ü~"), "a%20b%2F%C3%BC~");
  EXPECT_EQ(percent_encode("a b/c", true), "a%20b/c");
  EXPECT_EQ(*percent_decode("a%20b%2f"), "a b/");
  EXPECT_FALSE(percent_decode("a%2").ok());
  EXPECT_FALSE(percent_decode("%zz").ok());
  EXPECT_EQ(printable_url("https://u:p@h:1/a/b?X-Amz-Signature=s#f"), "https://h:1/a/b");
  EXPECT_EQ(printable_url("http://h/a@b"), "http://h/a@b");
  auto u = parse_url("webhdfs://user@[::1]:9870/a%20b?x=1");
  ASSERT_TRUE(u.ok());
  EXPECT_EQ(u->host, "::1");
  EXPECT_EQ(u->port, "9870");
  EXPECT_EQ(u->path, "/a%20b");
  EXPECT_EQ(u->user, "user");
  EXPECT_FALSE(parse_url("no url").ok());
  // As libcurl writes them into the Host header.
  EXPECT_EQ(parse_url("https://h:443/")->authority(), "h");
  EXPECT_EQ(parse_url("http://[::1]:80/")->authority(), "[::1]");
  EXPECT_EQ(parse_url("http://h:443/")->authority(), "h:443");
}

// What settings, credentials and variables name, wherever they stand.
TEST(Url, OfASettingIsHttpWithAHost) {
  for (const char* url : {"http://h", "https://h:1/a/", "http://[::1]:80", "https://u:p@h/"})
    EXPECT_TRUE(parse_http_url(url, "X").ok()) << url;
  for (const char* url : {"", "h", "h:80", "/a", "ftp://h/", "file:///a", "http://", "http:h"})
    EXPECT_EQ(parse_http_url(url, "X").status().code(), Code::Invalid) << url;
  EXPECT_EQ(parse_http_url("ftp://user:secret@h/a?key=secret", "FILE: token_uri").status().message(),
            "FILE: token_uri: \"ftp://h/a\" is not an http or https URL");
  EXPECT_EQ(parse_http_url("hush", "FILE: token_uri").status().message(),
            "FILE: token_uri is not an http or https URL");
}

TEST(Answers, SayByTheirStatusWhatWasDone) {
  using Kind = Failure::Kind;
  EXPECT_EQ(kind_of_status(400, false), Kind::Refused);
  EXPECT_EQ(kind_of_status(403, true), Kind::Throttled);
  EXPECT_EQ(kind_of_status(429, true), Kind::Throttled);
  for (const int unclear : {408, 500, 503})
    EXPECT_EQ(kind_of_status(unclear, false), Kind::Unknown) << unclear;
}

// What was sent more than once may have arrived, whatever became of the last attempt.
TEST(Answers, ThatNeverCame) {
  using Kind = Failure::Kind;
  EXPECT_EQ(no_answer({Code::Retry, "no connection"}, false).kind, Kind::NotSent);
  EXPECT_EQ(no_answer({Code::Retry, "no connection"}, true).kind, Kind::Unknown);
  EXPECT_EQ(no_answer({Code::Lost, "cut off"}, false).kind, Kind::Unknown);
  EXPECT_EQ(no_answer({Code::Auth, "no token"}, true).kind, Kind::NotSent);
}

TEST(Answers, HaveOneTableOfStatuses) {
  const std::pair<int, Code> kCodes[] = {{400, Code::Invalid},  {401, Code::Auth},     {403, Code::Auth},
                                         {404, Code::NotFound}, {409, Code::Conflict}, {412, Code::Conflict},
                                         {429, Code::Retry},    {500, Code::Retry},    {507, Code::Quota}};
  for (const auto& [status, code] : kCodes) {
    EXPECT_EQ(code_of_status(status), code) << status;
    EXPECT_EQ(status_of(Response{.status = status}, "GET x").code(), code) << status;
  }
}

TEST(Url, OneServerIsOneInWhateverLettersAndWithItsUsualPort) {
  const std::string here = "https://management.azure.com";
  for (const char* same : {"https://management.azure.com/x?y",
                           "https://management.azure.com:443/subscriptions", "HTTPS://Management.Azure.com/"})
    EXPECT_TRUE(same_origin(here, same)) << same;
  for (const char* other :
       {"http://management.azure.com/", "https://management.azure.com:8443/",
        "https://management.azure.com.evil.org/", "https://management.azure.com@evil.org/",
        "https://me@management.azure.com/", "/subscriptions", ""})
    EXPECT_FALSE(same_origin(here, other)) << other;
}

}  // namespace
}  // namespace radl::http
