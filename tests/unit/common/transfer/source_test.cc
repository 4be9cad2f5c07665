// What servers answer, taken apart, and a folder brought from elsewhere: only what has changed is fetched.
#include "common/transfer/source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/answers.h"
#include "tests/support/scripted_server.h"

namespace radl::transfer {
namespace {

using test::http_answer;
using test::ScriptedServer;

TEST(Answers, AnS3ListGivesKeysSizesAndTheNextPage) {
  auto page = parse_s3_list(
      "<a:ListBucketResult "
      "xmlns:a='x'><a:IsTruncated>true</a:IsTruncated><a:Contents><a:Key>p/a&amp;b</a:Key>"
      "<a:ETag>\"e1\"</a:ETag><a:Size>12</a:Size></a:Contents>"
      "<a:NextContinuationToken>t</a:NextContinuationToken></a:ListBucketResult>",
      "p/");
  ASSERT_TRUE(page.ok()) << page.status().text();
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key, "p/a&b");
  EXPECT_EQ(page->objects[0].etag, "e1");
  EXPECT_EQ(page->objects[0].size, 12u);
  EXPECT_EQ(page->next, "t");
}

TEST(Answers, KeysOfAnS3ListAreDecodedWhereItSaysThatTheyAreEncoded) {
  auto list = [](const std::string& encoding) {
    return "<ListBucketResult>" + encoding +
           "<Contents><Key>p/a+b%2B%01%25</Key><Size>1</Size></Contents></ListBucketResult>";
  };
  auto encoded = parse_s3_list(list("<EncodingType>url</EncodingType>"), "p/");
  ASSERT_TRUE(encoded.ok()) << encoded.status().text();
  EXPECT_EQ(encoded->objects.at(0).key, "p/a b+\x01%");
  EXPECT_EQ(parse_s3_list(list(""), "p/")->objects.at(0).key, "p/a+b%2B%01%25");
  EXPECT_EQ(parse_s3_list("<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>p/%2</Key>"
                          "<Size>1</Size></Contents></ListBucketResult>",
                          "p/")
                .status()
                .code(),
            Code::Corrupt);
}

TEST(Answers, AnS3ListThatIsNoneIsCorrupt) {
  for (const char* xml :
       {"", "no", "<html/>",
        "<ListBucketResult><Contents><Key>p/a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>q</Key><Size>1</Size></Contents></ListBucketResult>"}) {
    EXPECT_EQ(parse_s3_list(xml, "p/").status().code(), Code::Corrupt) << xml;
  }
}

TEST(Answers, HdfsListsAndErrors) {
  auto list = parse_hdfs_list(
      R"({"FileStatuses":{"FileStatus":[{"pathSuffix":"a","type":"FILE","length":7,"modificationTime":5}]}})");
  ASSERT_TRUE(list.ok()) << list.status().text();
  EXPECT_EQ((*list)[0].size, 7u);
  EXPECT_FALSE((*list)[0].folder);
  for (const char* json : {"", "[]", R"({"FileStatuses":[]})", R"({"FileStatuses":{"FileStatus":{}}})",
                           R"({"FileStatuses":{"FileStatus":[{"pathSuffix":1}]}})",
                           R"({"FileStatuses":{"FileStatus":[
                             {"pathSuffix":"a","type":"FILE","length":-1,"modificationTime":5}]}})"}) {
    EXPECT_EQ(parse_hdfs_list(json).status().code(), Code::Corrupt) << json;
  }
  http::Response r;
  r.status = 404;
  r.body = R"({"RemoteException":{"exception":"FileNotFoundException","message":"no /x\nat y"}})";
  EXPECT_EQ(hdfs_error(r, "hdfs /x").code(), Code::NotFound);
  EXPECT_EQ(hdfs_error(r, "hdfs /x").message(), "hdfs /x: FileNotFoundException: no /x");
}

TEST(Answers, NestingDoesNotMatter) {
  const std::string deep = R"({"FileStatuses":)" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_FALSE(parse_hdfs_list(deep).ok());
}

TEST(Answers, ContentRange) {
  EXPECT_EQ(parse_content_range("bytes 100-199/200").first, 100u);
  EXPECT_EQ(parse_content_range("bytes 100-199/200").total, 200u);
  EXPECT_FALSE(parse_content_range("bytes */200").first);
  EXPECT_FALSE(parse_content_range("bytes x-1/*").first);
  EXPECT_FALSE(parse_content_range("bytes -/").total);
}

// A folder of files with versions, over HTTP.
struct Site {
  std::map<std::string, std::string> files;  // path -> content
  int gets = 0;
  std::string answer(const std::string& request) {
    const bool head = request.starts_with("HEAD ");
    gets += !head;
    const size_t begin = request.find(' ') + 1;
    const auto at = files.find(request.substr(begin, request.find(' ', begin) - begin));
    if (at == files.end()) return http_answer(404, "", "");
    const std::string whole = http_answer(200, "ETag: \"" + sha256_hex(at->second) + "\"\r\n", at->second);
    return head ? whole.substr(0, whole.size() - at->second.size()) : whole;
  }
};

TEST(FetchFolder, OnlyWhatHasChangedIsFetchedAndWhatIsGoneIsRemoved) {
  const std::string folder = testing::TempDir() + "source-" + to_hex(random_bytes(6));
  ASSERT_TRUE(make_directories(folder).ok());
  Site site{{{"/d/a", "one"}, {"/d/b", "two"}}};
  ScriptedServer server([&](const std::string& request) { return site.answer(request); });
  http::Client http{environment_of_process()};
  const auto fetch = [&] { return fetch_folder(http, server.url("/d"), folder, {"a", "b", "c"}); };
  ASSERT_TRUE(fetch().ok());
  EXPECT_EQ(*read_file(folder + "/a"), "one");
  EXPECT_EQ(site.gets, 2);
  ASSERT_TRUE(fetch().ok());
  EXPECT_EQ(site.gets, 2);
  site.files["/d/a"] = "ONE";  // as long as before
  site.files.erase("/d/b");
  ASSERT_TRUE(fetch().ok());
  EXPECT_EQ(*read_file(folder + "/a"), "ONE");
  EXPECT_EQ(site.gets, 3);
  EXPECT_FALSE(std::filesystem::exists(folder + "/b"));
  site.files.clear();
  EXPECT_EQ(fetch().code(), Code::NotFound);
  std::filesystem::remove_all(folder);
}

TEST(FetchFolder, AFileMayBecomeAFolderAndTheOtherWayRoundButNotBeBoth) {
  const std::string folder = testing::TempDir() + "source-" + to_hex(random_bytes(6));
  ASSERT_TRUE(make_directories(folder).ok());
  Site site{{{"/d/a", "one"}}};
  ScriptedServer server([&](const std::string& request) { return site.answer(request); });
  http::Client http{environment_of_process()};
  const auto fetch = [&] { return fetch_folder(http, server.url("/d"), folder, {"a", "a/b/c", "a/d"}); };
  ASSERT_TRUE(fetch().ok());
  site.files = {{"/d/a/b/c", "two"}, {"/d/a/d", "three"}};
  ASSERT_TRUE(fetch().ok()) << fetch().text();
  EXPECT_EQ(*read_file(folder + "/a/b/c"), "two");
  site.files = {{"/d/a", "four"}};
  ASSERT_TRUE(fetch().ok()) << fetch().text();
  EXPECT_EQ(*read_file(folder + "/a"), "four");
  site.files["/d/a/d"] = "three";
  const Status both = fetch();
  EXPECT_EQ(both.code(), Code::Unsupported);
  EXPECT_NE(both.message().find("\"a\" is a file and the folder of \"a/d\""), std::string::npos)
      << both.text();
  EXPECT_EQ(*read_file(folder + "/a"), "four");
  std::filesystem::remove_all(folder);
}

TEST(FetchFolder, AFileThatIsCalledLikeTheBeginningOfAnotherIsNoneOfIt) {
  const std::string folder = testing::TempDir() + "source-" + to_hex(random_bytes(6));
  ASSERT_TRUE(make_directories(folder).ok());
  const std::vector<std::string> names = {"a", "a.part", "a.part.json", "a.part.part", "b.part", "c"};
  Site site;
  for (const std::string& name : names) site.files["/d/" + name] = "content of " + name;
  site.files["/d/.radl-source.json"] = R"({"a": "no version of anything"})";
  ScriptedServer server([&](const std::string& request) { return site.answer(request); });
  http::Client http{environment_of_process()};
  // In whichever order they come.
  for (int i = 0; i < 10; ++i) {
    std::vector<std::string> asked = names;
    asked.push_back(".radl-source.json");
    const Status fetched = fetch_folder(http, server.url("/d"), folder, asked);
    ASSERT_TRUE(fetched.ok()) << fetched.text();
    EXPECT_EQ(read_file(folder + "/.radl-source.json")->find("no version"), std::string::npos);
    for (const std::string& name : names) EXPECT_EQ(*read_file(folder + "/" + name), "content of " + name);
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(make_directories(folder).ok());
  }
  std::filesystem::remove_all(folder);
}

TEST(FetchFolder, ANameThatNoFileSystemKeepsIsRefusedBeforeAnythingIsFetched) {
  const std::string folder = testing::TempDir() + "source-" + to_hex(random_bytes(6));
  ASSERT_TRUE(make_directories(folder).ok());
  for (const std::string name : {"./a", "a//b", "a/./b", ".", "a/."}) {
    // Of a store: an address is never tidied on its way there.
    ScriptedServer server([&](const std::string& request) {
      if (request.find("list-type=2") == request.npos) return http_answer(200, "", "x");
      return http_answer(200, "",
                         "<ListBucketResult><Contents><Key>d/" + name +
                             "</Key><Size>1</Size></Contents><Contents><Key>d/ok</Key><Size>1</Size>"
                             "</Contents></ListBucketResult>");
    });
    http::Client http{Environment(Environment::Variables{{"AWS_ENDPOINT_URL_S3", server.url("")},
                                                         {"AWS_ACCESS_KEY_ID", "AK"},
                                                         {"AWS_SECRET_ACCESS_KEY", "secret"},
                                                         {"AWS_REGION", "us-east-1"}})};
    const Status refused = fetch_folder(http, "s3://data/d", folder, {});
    EXPECT_EQ(refused.code(), Code::Unsupported) << name << ": " << refused.text();
    EXPECT_NE(refused.message().find("s3://data/d: \"" + name + "\" cannot be a file's path"),
              std::string::npos)
        << refused.text();
    EXPECT_EQ(server.requests().size(), 1u) << name;
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << name;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace radl::transfer
