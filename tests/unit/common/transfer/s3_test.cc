// S3 against a server that simulates what no real one does on demand: other regions, wrong clocks, lost
// responses. tests/aws/s3_test.py tests real servers (moto and MinIO).
#include "common/transfer/s3.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <map>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/checksum.h"
#include "tests/support/scripted_server.h"
#include "tests/unit/common/aws/aws_files.h"

namespace radl::transfer {
namespace {

using test::header_of;
using test::http_answer;
using test::ScriptedServer;

struct Bucket {
  explicit Bucket(ScriptedServer::Answer answer)
      : server(std::move(answer)),
        store(http,
              S3Options{.region = "us-east-1",
                        .endpoint = server.url(""),
                        .credentials = aws::fixed_credentials({"AKID", "SECRETKEY", "", {}, "test"}),
                        .attempts = 3},
              "data") {}
  http::Client http{environment_of_process()};
  ScriptedServer server;
  S3 store;
};

std::string s3_answer(int status, const std::string& code, const std::string& headers = "") {
  return http_answer(
      status, headers,
      "<Error><Code>" + code + "</Code><Message>m</Message><Region>eu-west-1</Region></Error>");
}

TEST(Checksum, IsThatOfItsStandard) {
  // "check" of the catalogue of parametrised CRC algorithms: CRC-32/ISO-HDLC, CRC-32/ISCSI, CRC-64/NVME.
  EXPECT_EQ(crc_of(Crc::Crc32, "123456789"), 0xcbf43926u);
  EXPECT_EQ(crc_of(Crc::Crc32c, "123456789"), 0xe3069283u);
  EXPECT_EQ(crc_of(Crc::Crc64Nvme, "123456789"), 0xae8b14860a799888u);
  EXPECT_EQ(crc_text(Crc::Crc32c, 0xe3069283u), "4waSgw==");
  EXPECT_EQ(crc_text(Crc::Crc64Nvme, 0xae8b14860a799888u), "rosUhgp5mIg=");
}

TEST(Checksum, PiecesJoinAndPartsAreOfTheirChecksums) {
  const std::string a(100000, 'a'), b = "bcd" + std::string(77777, 'e');
  for (Crc kind : {Crc::Crc32, Crc::Crc32c, Crc::Crc64Nvme}) {
    const uint64_t of_a = crc_of(kind, a), of_b = crc_of(kind, b), none = crc_of(kind, "");
    EXPECT_EQ(crc_of(kind, b, of_a), crc_of(kind, a + b));
    EXPECT_EQ(crc_joined(kind, of_a, of_b, b.size()), crc_of(kind, a + b));
    EXPECT_EQ(crc_joined(kind, none, of_b, b.size()), of_b);
    EXPECT_EQ(crc_joined(kind, of_a, none, 0), of_a);
  }
  EXPECT_EQ(crc_of_parts(Crc::Crc32c, {0x01020304u, 0x05060708u}),
            crc_of(Crc::Crc32c, "\x01\x02\x03\x04\x05\x06\x07\x08"));
}

TEST(Checksum, WhateverTheStoreKeepsIsCompared) {
  const std::pair<const char*, const char*> kept[] = {
      {"x-amz-checksum-crc32", "y/Q5Jg=="},
      {"x-amz-checksum-crc32c", "4waSgw=="},
      {"x-amz-checksum-crc64nvme", "rosUhgp5mIg="},
      {"x-amz-checksum-sha1", "98O8HYCOBHMq32eZZczDTKeuNEE="},
      {"x-amz-checksum-sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="}};
  for (const auto& [name, value] : kept) {
    const StoredChecksum stored = checksum_of({{name, value}});
    EXPECT_TRUE(check_bytes(stored, "123456789").ok()) << name << check_bytes(stored, "123456789").text();
    EXPECT_EQ(check_bytes(stored, "123456780").code(), Code::Corrupt) << name;
  }
  EXPECT_EQ(checksum_of({{"x-amz-checksum-crc32", "y/Q5Jg==-2"}, {"x-amz-checksum-type", "COMPOSITE"}}).parts,
            2);
}

TEST(S3, AddressesByVirtualHostPathAndEndpoint) {
  http::Client http{environment_of_process()};
  auto url = [&](S3Options options, const std::string& bucket) {
    options.credentials = aws::fixed_credentials({"A", "s", "", {}, ""});
    auto presigned = S3(http, options, bucket).presign("GET", "a b/c", 60);
    return presigned.ok() ? presigned->substr(0, presigned->find('?')) : presigned.status().text();
  };
  using Addressing = S3Options::Addressing;
  EXPECT_EQ(url({.region = "eu-west-1"}, "data"), "https://data.s3.eu-west-1.amazonaws.com/a%20b/c");
  EXPECT_EQ(url({.region = "cn-north-1"}, "data"), "https://data.s3.cn-north-1.amazonaws.com.cn/a%20b/c");
  EXPECT_EQ(url({.region = "eu-west-1"}, "data.example.com"),
            "https://s3.eu-west-1.amazonaws.com/data.example.com/a%20b/c");
  EXPECT_EQ(url({.region = "eu-west-1", .addressing = Addressing::Path}, "data"),
            "https://s3.eu-west-1.amazonaws.com/data/a%20b/c");
  EXPECT_EQ(url({.endpoint = "http://127.0.0.1:9000"}, "data"), "http://127.0.0.1:9000/data/a%20b/c");
  EXPECT_EQ(url({.endpoint = "http://store:9000", .addressing = Addressing::Virtual}, "data"),
            "http://data.store:9000/a%20b/c");
  // The port as libcurl sends it, and a path as it is written.
  EXPECT_EQ(url({.endpoint = "https://store:443"}, "data"), "https://store/data/a%20b/c");
  EXPECT_EQ(url({.endpoint = "http://store:443/my%20gateway"}, "data"),
            "http://store:443/my%20gateway/data/a%20b/c");
}

TEST(S3, ABucketInAnotherRegionIsFollowed) {
  for (const std::string& first : {s3_answer(301, "PermanentRedirect", "x-amz-bucket-region: eu-west-1\r\n"),
                                   s3_answer(400, "AuthorizationHeaderMalformed")}) {
    Bucket b([&](const std::string& r) {
      return header_of(r, "Authorization").find("/eu-west-1/s3/") != std::string::npos
                 ? http_answer(200, "", "x")
                 : first;
    });
    auto got = b.store.get("k");
    ASSERT_TRUE(got.ok()) << got.status().text();
    EXPECT_EQ(b.server.requests().size(), 2u);
    ASSERT_TRUE(b.store.get("k").ok());  // known from then on
    EXPECT_EQ(b.server.requests().size(), 3u);
  }
  Bucket circle([](const std::string&) { return s3_answer(301, "PermanentRedirect"); });
  EXPECT_EQ(circle.store.get("k").status().code(), Code::Invalid);
  EXPECT_EQ(circle.server.requests().size(), 1u);
}

TEST(S3, TheRegionIsReadFromTheEndpointOrPlaceWhereNothingElseNamesIt) {
  const auto answer = [](int status, const std::string& headers, const std::string& endpoint) {
    return http_answer(status, headers, "<Error><Code>X</Code><Endpoint>" + endpoint + "</Endpoint></Error>");
  };
  for (const std::string& first :
       {answer(301, "", "data.s3.eu-west-1.amazonaws.com"), answer(301, "", "s3-eu-west-1.amazonaws.com"),
        answer(301, "", "data.s3.dualstack.eu-west-1.amazonaws.com"),
        answer(307, "Location: https://data.s3.eu-west-1.amazonaws.com/key\r\n", ""),
        answer(307, "Location: https://data.s3-eu-west-1.amazonaws.com:443/key\r\n",
               "data.s3.amazonaws.com")}) {
    Bucket bucket([&](const std::string& request) {
      return request.find("/eu-west-1/s3/aws4_request") == std::string::npos
                 ? first
                 : http_answer(200, "ETag: \"e\"\r\n", "x");
    });
    auto got = bucket.store.get("key");
    ASSERT_TRUE(got.ok()) << first << got.status().text();
    EXPECT_EQ(got->bytes, "x");
  }
  for (const char* nowhere :
       {"data.s3.amazonaws.com", "s3-accelerate.amazonaws.com", "eu-west-1.example.org", "s3.", ""}) {
    Bucket bucket([&](const std::string&) { return answer(301, "", nowhere); });
    EXPECT_EQ(bucket.store.get("key").status().code(), Code::Invalid) << nowhere;
    EXPECT_EQ(bucket.server.requests().size(), 1u) << nowhere;
  }
}

TEST(S3, ALargeFileOfAnotherRegionIsFollowedToo) {
  const std::string path = testing::TempDir() + "s3-" + to_hex(random_bytes(6));
  Bucket b([&](const std::string& r) {
    return header_of(r, "Authorization").find("/eu-west-1/s3/") != std::string::npos
               ? http_answer(206, "ETag: \"e\"\r\n", "x")
               : s3_answer(400, "AuthorizationHeaderMalformed");
  });
  Status s = b.store.get_file("k", {.path = path});
  EXPECT_FALSE(s.ok());  // a range without Content-Range is refused, and that was asked in the right region
  EXPECT_NE(header_of(b.server.requests().back(), "Authorization").find("/eu-west-1/s3/"), std::string::npos);
}

TEST(S3, AConditionalPutWhoseAnswerIsLostIsNotRepeated) {
  for (const std::string& answer : {std::string(), s3_answer(500, "InternalError")}) {
    Bucket b([&](const std::string&) { return answer; });
    auto put = b.store.put("k", "x", {.if_absent = true});
    EXPECT_EQ(put.status().code(), Code::Lost) << put.status().text();
    EXPECT_EQ(b.server.requests().size(), 1u);
  }
  Bucket at_once([](const std::string&) { return s3_answer(409, "ConditionalRequestConflict"); });
  EXPECT_EQ(at_once.store.put("k", "x", {.if_match = "e"}).status().code(), Code::Retry);
  Bucket changed([](const std::string&) { return s3_answer(412, "PreconditionFailed"); });
  EXPECT_EQ(changed.store.put("k", "x", {.if_match = "e"}).status().code(), Code::Conflict);
  EXPECT_EQ(changed.store.put("k", "x", {.if_absent = true}).status().code(), Code::Exists);
  Bucket plain([](const std::string&) { return std::string(); });
  EXPECT_EQ(plain.store.put("k", "x").status().code(), Code::Retry);
  EXPECT_EQ(plain.server.requests().size(), 3u);
}

TEST(S3, WhatArrivesWithAnotherChecksumIsRefused) {
  Bucket b(
      [](const std::string&) { return http_answer(200, "x-amz-checksum-crc32c: AAAAAA==\r\n", "bytes"); });
  EXPECT_EQ(b.store.get("k").status().code(), Code::Corrupt);
  EXPECT_EQ(header_of(b.server.requests().at(0), "x-amz-checksum-mode"), "ENABLED");
  const std::string path = testing::TempDir() + "s3-" + to_hex(random_bytes(6));
  EXPECT_EQ(b.store.get_file("k", {.path = path}).code(), Code::Corrupt);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(S3, ErrorsSayWhatToDoAndHoldNoSecret) {
  struct Case {
    int status;
    const char* code;
    Code kind;
    const char* part;
  };
  for (const Case& c : {Case{404, "NoSuchBucket", Code::NotFound, "The bucket does not exist"},
                        Case{403, "AccessDenied", Code::Auth, "policies"},
                        Case{403, "SignatureDoesNotMatch", Code::Auth, "secret key is wrong"},
                        Case{503, "SlowDown", Code::Retry, "rate of requests"}}) {
    Bucket b([&](const std::string&) { return s3_answer(c.status, c.code); });
    const Status s = b.store.get("k").status();
    EXPECT_EQ(s.code(), c.kind) << c.code;
    EXPECT_NE(s.text().find(c.part), std::string::npos) << s.text();
    EXPECT_NE(s.text().find("s3://data/k"), std::string::npos) << s.text();
    EXPECT_EQ(s.text().find("SECRETKEY"), std::string::npos);
  }
}

TEST(S3, ExpiredKeysAreRenewedWithinATransfer) {
  int n = 0;
  http::Client http{environment_of_process()};
  ScriptedServer server([](const std::string& r) {
    return header_of(r, "Authorization").find("Credential=K2/") != std::string::npos
               ? http_answer(200, "", "x")
               : s3_answer(400, "ExpiredToken");
  });
  S3 store(http,
           {.endpoint = server.url(""),
            .credentials = aws::renewed_credentials([&](const Stop&) {
              return Result<aws::Credentials>(aws::Credentials{"K" + std::to_string(++n), "s", "t", {}, ""});
            })},
           "data");
  auto got = store.get("k");
  EXPECT_TRUE(got.ok()) << got.status().text();
}

TEST(S3, PartsGrowSoThatTenThousandAreEnough) {
  constexpr uint64_t kMiB = 1 << 20, kTiB = uint64_t{1} << 40;
  EXPECT_EQ(upload_part_bytes(0, 100 * kMiB), 16 * kMiB);
  EXPECT_EQ(upload_part_bytes(1, 100 * kMiB), 5 * kMiB);
  for (uint64_t size : {160000 * kMiB, 160000 * kMiB + 1, kTiB, 5 * kTiB}) {
    const uint64_t part = upload_part_bytes(0, size);
    EXPECT_LE((size + part - 1) / part, 10000u) << size;
    EXPECT_LE(part, uint64_t{5} << 30) << size;
  }
}

// A server that keeps parts, as far as an upload needs one.
struct Parts {
  std::map<std::string, std::string> kept;  // number -> body
  int begun = 0, sent = 0, aborted = 0;
  std::function<void()> after_part;

  std::string answer(const std::string& request) {
    const std::string line = request.substr(0, request.find('\r'));
    const std::string body = request.substr(request.find("\r\n\r\n") + 4);
    if (line.starts_with("POST /data/k?uploads=")) {
      ++begun;
      return http_answer(
          200, "", "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>");
    }
    if (line.starts_with("PUT ")) {
      const size_t at = line.find("partNumber=") + 11;
      kept[line.substr(at, line.find('&', at) - at)] = body;
      ++sent;
      if (after_part) after_part();
      return http_answer(200, "ETag: \"" + sha256_hex(body).substr(0, 8) + "\"\r\n", "");
    }
    if (line.starts_with("GET ")) {
      std::string list = "<ListPartsResult>";
      for (const auto& [number, bytes] : kept)
        list += "<Part><PartNumber>" + number + "</PartNumber><ETag>\"" + sha256_hex(bytes).substr(0, 8) +
                "\"</ETag><Size>" + std::to_string(bytes.size()) + "</Size></Part>";
      return http_answer(200, "", list + "</ListPartsResult>");
    }
    if (line.starts_with("DELETE ")) return ++aborted, http_answer(204, "", "");
    return http_answer(
        200, "", "<CompleteMultipartUploadResult><ETag>\"all-3\"</ETag></CompleteMultipartUploadResult>");
  }
};

TEST(S3, AnUploadThatIsStoppedGoesOnAndOneThatIsRefusedIsTakenBack) {
  const std::string folder = testing::TempDir() + "s3-" + to_hex(random_bytes(6)), path = folder + "/f";
  ASSERT_TRUE(make_directories(folder).ok());
  const std::string content = std::string(5 << 20, 'a') + std::string(5 << 20, 'b') + "c";
  ASSERT_TRUE(write_file_atomic(path, content).ok());
  auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  Parts parts;
  Bucket b([&](const std::string& request) { return parts.answer(request); });
  Upload how{.part_bytes = 5 << 20, .parallel = 1};
  StopSource stop;
  parts.after_part = [&] { stop.request(); };
  how.stop = stop.token();
  EXPECT_EQ(b.store.put_file("k", path, how).status().code(), Code::Cancelled);
  EXPECT_EQ(parts.sent, 1);
  EXPECT_EQ(files(), 2);  // the note beside the file
  parts.after_part = {};
  how.stop = {};
  uint64_t last = 0, all = 0;
  how.progress = [&](uint64_t done, uint64_t total) { last = done, all = total; };
  auto done = b.store.put_file("k", path, how);
  ASSERT_TRUE(done.ok()) << done.status().text();
  EXPECT_EQ(done->etag, "all-3");
  EXPECT_EQ(parts.begun, 1);
  EXPECT_EQ(parts.sent, 3);
  EXPECT_EQ(parts.kept["1"] + parts.kept["2"] + parts.kept["3"], content);
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(last, content.size());
  EXPECT_EQ(all, content.size());

  Bucket refusing([&](const std::string& request) {
    return request.starts_with("PUT ") ? s3_answer(403, "AccessDenied") : parts.answer(request);
  });
  EXPECT_EQ(refusing.store.put_file("k", path, how).status().code(), Code::Auth);
  EXPECT_EQ(parts.aborted, 1);
  EXPECT_EQ(files(), 1);
  std::filesystem::remove_all(folder);
}

// CompleteMultipartUpload, CopyObject and DeleteObjects begin to answer before they are done.
TEST(S3, A200ThatCarriesAnErrorIsRepeatedWhereItPasses) {
  std::atomic<int> n{0};
  std::string later;
  Bucket b([&](const std::string& request) {
    if (request.starts_with("HEAD ")) return http_answer(200, "ETag: \"e\"\r\n", "");
    return n++ == 0 ? s3_answer(200, "InternalError") : later;
  });
  later = http_answer(200, "", "<CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>");
  EXPECT_TRUE(b.store.copy("a", "b").ok());
  EXPECT_EQ(n, 2);
  n = 0;
  later = http_answer(200, "", "<DeleteResult/>");
  EXPECT_TRUE(b.store.remove_many({"a", "b"}).ok());
  EXPECT_EQ(n, 2);

  Bucket refused([](const std::string&) { return s3_answer(200, "AccessDenied"); });
  EXPECT_EQ(refused.store.copy("a", "b").status().code(), Code::Auth);
  EXPECT_EQ(refused.store.remove_many({"a"}).code(), Code::Auth);
  EXPECT_EQ(refused.store.list("").status().code(), Code::Auth);
  EXPECT_EQ(refused.server.requests().size(), 3u);
}

TEST(S3, KeysThatCouldNotBeRemovedJustNowAreRemovedLater) {
  std::atomic<int> n{0};
  Bucket b([&](const std::string&) {
    return http_answer(200, "",
                       n++ == 0 ? "<DeleteResult><Error><Key>b</Key><Code>SlowDown</Code><Message>m</"
                                  "Message></Error></DeleteResult>"
                                : "<DeleteResult/>");
  });
  EXPECT_TRUE(b.store.remove_many({"a", "b"}).ok());
  EXPECT_EQ(n, 2);
  Bucket denied([](const std::string&) {
    return http_answer(200, "",
                       "<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>");
  });
  EXPECT_EQ(denied.store.remove_many({"a", "b"}).code(), Code::Auth);
  EXPECT_EQ(denied.server.requests().size(), 1u);
}

TEST(S3, WhatProvesWhoAsksIsNotSentOnToAnotherHost) {
  ScriptedServer other([](const std::string&) { return http_answer(200, "ETag: \"e\"\r\n", "x"); });
  Bucket b(
      [&](const std::string&) { return http_answer(307, "Location: " + other.url("/data/k") + "\r\n", ""); });
  const std::string path = testing::TempDir() + "s3-" + to_hex(random_bytes(6));
  const Status status = b.store.get_file("k", {.path = path});
  EXPECT_EQ(status.code(), Code::Invalid) << status.text();
  EXPECT_NE(status.message().find("the server redirects"), std::string::npos) << status.text();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(other.requests().empty());
}

TEST(S3, PagesThatGoRoundInACircleEnd) {
  std::atomic<int> n{0};
  Bucket b([&](const std::string& request) {
    if (request.find("uploads=") != std::string::npos)
      return http_answer(200, "",
                         "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>" +
                             std::to_string(++n % 2) + "</NextKeyMarker></ListMultipartUploadsResult>");
    return http_answer(200, "",
                       "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>" +
                           std::to_string(++n % 2) + "</NextContinuationToken></ListBucketResult>");
  });
  EXPECT_EQ(b.store.list("").status().code(), Code::Corrupt);
  EXPECT_EQ(b.server.requests().size(), 3u);
  EXPECT_EQ(*b.store.abort_uploads("", 1), 0);
  EXPECT_EQ(b.server.requests().size(), 6u);
}

// A gateway's page, with status 200 for every request.
TEST(S3, WhatIsPutAndHasNoETagIsNotThere) {
  Bucket b([](const std::string&) { return http_answer(200, "", "<html>sign in</html>"); });
  EXPECT_EQ(b.store.put("k", "x").status().code(), Code::Corrupt);
  EXPECT_EQ(b.store.put("k", "x", {.if_absent = true}).status().code(), Code::Lost);
  const std::string path = testing::TempDir() + "s3-" + to_hex(random_bytes(6));
  ASSERT_TRUE(write_file_atomic(path, std::string(11 << 20, 'a')).ok());
  const Status whole = b.store.put_file("k", path, {}).status();
  EXPECT_EQ(whole.code(), Code::Corrupt);
  EXPECT_NE(whole.text().find("AWS_ENDPOINT_URL_S3"), std::string::npos) << whole.text();
  Parts parts;
  Bucket ends([&](const std::string& request) {
    return request.starts_with("POST /data/k?uploadId") ? http_answer(200, "", "<html/>")
                                                        : parts.answer(request);
  });
  EXPECT_EQ(ends.store.put_file("k", path, {.part_bytes = 5 << 20}).status().code(), Code::Corrupt);
  EXPECT_EQ(parts.aborted, 1);
  std::filesystem::remove(path);
}

TEST(S3, KeysThatNoXmlHasAreRemovedOneByOne) {
  Bucket b([](const std::string& request) {
    return request.starts_with("POST") ? http_answer(200, "", "<DeleteResult/>") : http_answer(204, "", "");
  });
  EXPECT_TRUE(b.store.remove_many({"a", "\x01", "b"}).ok());
  ASSERT_EQ(b.server.requests().size(), 2u);
  EXPECT_TRUE(b.server.requests().at(0).starts_with("DELETE /data/%01 ")) << b.server.requests().at(0);
  EXPECT_EQ(b.server.requests().at(1).find('\x01'), std::string::npos);
}

TEST(S3, DotsInAKeyAreNoPath) {
  Bucket b([](const std::string&) { return http_answer(200, "", "x"); });
  ASSERT_TRUE(b.store.get("a/../b/./c").ok());
  EXPECT_TRUE(b.server.requests().at(0).starts_with("GET /data/a/../b/./c HTTP/1.1"))
      << b.server.requests().at(0);
}

TEST(S3, ARangeOfAServerThatKnowsNoneIsCutOut) {
  Bucket b([](const std::string&) { return http_answer(200, "", "0123456789"); });
  EXPECT_EQ(b.store.get("k", {0, 4})->bytes, "0123");
  EXPECT_EQ(b.store.get("k", {2, 4}).status().code(), Code::Corrupt);
}

TEST(S3, APartThatIsNotTheOneAskedForIsRefused) {
  std::string range = "bytes 2-5/10", body = "2345";
  Bucket b([&](const std::string&) {
    return http_answer(206, "ETag: \"e\"\r\nContent-Range: " + range + "\r\n", body);
  });
  auto right = b.store.get("k", {2, 4});
  ASSERT_TRUE(right.ok()) << right.status().text();
  EXPECT_EQ(right->bytes, "2345");
  EXPECT_EQ(right->object.size, 10u);
  EXPECT_EQ(b.store.get("k", {3, 4}).status().code(), Code::Corrupt) << "begins elsewhere";
  body = "23456";
  EXPECT_EQ(b.store.get("k", {2, 4}).status().code(), Code::Corrupt) << "longer";
}

TEST(S3, KeysOfAProcessThatTheServerCallsExpiredAreAskedForAnew) {
  test::AwsFiles files;
  files.file("next",
             "echo x >> $0.log; echo '{\"Version\":1,\"AccessKeyId\":\"K'$(wc -l < "
             "$0.log)'\",\"SecretAccessKey\":\"s\"}'");
  files.config("[default]\ncredential_process = sh '" + files.home + "/next'\n");
  http::Client http{environment_of_process()};
  ScriptedServer server([](const std::string& r) {
    return header_of(r, "Authorization").find("Credential=K2/") != std::string::npos
               ? http_answer(200, "", "x")
               : s3_answer(400, "ExpiredToken");
  });
  files.variables["AWS_ENDPOINT_URL_S3"] = server.url("");
  auto options = s3_options(http, *files.load());
  ASSERT_TRUE(options.ok());
  auto got = S3(http, *options, "data").get("k");
  EXPECT_TRUE(got.ok()) << got.status().text();
}

TEST(S3, OptionsComeFromTheEnvironmentAndTheProfile) {
  test::AwsFiles files;
  http::Client http{environment_of_process()};
  files.config("[default]\nregion = eu-west-1\ns3 =\n  addressing_style = path\n");
  auto options = s3_options(http, *files.load());
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->region, "eu-west-1");
  EXPECT_EQ(options->addressing, S3Options::Addressing::Path);
  EXPECT_TRUE(options->credentials->get({})->anonymous());  // none anywhere: public buckets
  files.variables["AWS_S3_ADDRESSING"] = "sideways";
  EXPECT_EQ(s3_options(http, *files.load()).status().code(), Code::Invalid);
  EXPECT_FALSE(open_object_store(http, "s3://").ok());
  EXPECT_FALSE(open_object_store(http, "gs://b/k").ok());
}

}  // namespace
}  // namespace radl::transfer
