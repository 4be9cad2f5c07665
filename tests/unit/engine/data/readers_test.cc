// IDX, CSV, folders and packed records: right content, and a clear error for each way in which a file can be
// wrong.
#include "engine/data/readers.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "engine/data/image.h"
#include "engine/data/open.h"
#include "tests/support/paths.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  std::string path = testing::TempDir() + "readers-" + to_hex(random_bytes(6));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
  std::string put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path + "/" + name).parent_path());
    EXPECT_TRUE(write_file_atomic(path + "/" + name, bytes).ok());
    return path + "/" + name;
  }
};

std::string idx(std::vector<uint32_t> dims, const std::string& data, int type = 8) {
  std::string s = {0, 0, char(type), char(dims.size())};
  for (uint32_t d : dims) s += {char(d >> 24), char(d >> 16), char(d >> 8), char(d)};
  return s + data;
}

TEST(Idx, ReadsImagesAndLabels) {
  auto d = parse_idx(idx({2, 2, 3}, "abcdefghijkl"), idx({2}, {7, 3}), "x");
  ASSERT_TRUE(d.ok()) << d.status().text();
  EXPECT_EQ((*d)->size(), 2u);
  EXPECT_EQ((*d)->shape().height, 2);
  EXPECT_EQ((*d)->shape().width, 3);
  EXPECT_EQ((*d)->shape().channels, 1);
  EXPECT_EQ((*d)->classes(), 10);
  EXPECT_EQ((*d)->label(1), 3);
  EXPECT_EQ((*d)->pixels(1)[0], 'g');
}

TEST(Idx, RefusesWhatDoesNotFit) {
  const std::string good = idx({2, 2, 3}, "abcdefghijkl"), labels = idx({2}, "\1\2");
  for (auto& [images, which, says] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"", labels, "not an IDX"},
           {good.substr(0, 9), labels, "header is cut off"},
           {good.substr(0, good.size() - 1), labels, "has 11 bytes of data, its header says 12"},
           {good + "x", labels, "has 13"},
           {good, idx({3}, "\1\2\3"), "2 images but 3 labels"},
           {idx({2, 2, 3}, "abcdefghijkl", 13), labels, "type 13"},
           {idx({0xffffffff, 0xffffffff, 0xffffffff}, ""), labels, "larger than can be"},
           {idx({0, 2, 3}, ""), idx({0}, ""), "no image"},
           {idx({2, 6}, "abcdefghijkl"), labels, "3 or 4 dimensions"},
           {idx({1, 2, 3, 2}, "abcdefghijkl"), idx({1}, "\1"), "x 2"}}) {
    auto d = parse_idx(images, which, "f");
    ASSERT_FALSE(d.ok()) << says;
    EXPECT_NE(d.status().message().find(says), std::string::npos) << d.status().message();
  }
}

TEST(Csv, ReadsWithAndWithoutHeader) {
  auto plain = parse_csv("1,0,1,2,3\n0,4,5,6,255\n", "x", {});
  ASSERT_TRUE(plain.ok()) << plain.status().text();
  EXPECT_EQ((*plain)->size(), 2u);
  EXPECT_EQ((*plain)->shape().height, 2);
  EXPECT_EQ((*plain)->pixels(1)[3], 255);
  EXPECT_EQ((*plain)->label(0), 1);
  auto header = parse_csv("p1,p2,p3,p4,label\r\n9, 8 ,7,\"6\",5\r\n\r\n", "x", {});
  ASSERT_TRUE(header.ok()) << header.status().text();
  EXPECT_EQ((*header)->label(0), 5);
  EXPECT_EQ((*header)->pixels(0)[3], 6);
  auto colour = parse_csv("0,1,2,3\n1,4,5,6", "x", {});  // one RGB pixel
  ASSERT_TRUE(colour.ok());
  EXPECT_EQ((*colour)->shape().channels, 3);
  auto shaped = parse_csv("0,1,2,3,4,5,6\n", "x", {.shape = {2, 3, 1}});
  ASSERT_TRUE(shaped.ok());
  EXPECT_EQ((*shaped)->shape().width, 3);
}

TEST(Csv, ErrorsNameLineAndField) {
  for (auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"1,0,1,2,3\n0,4,5,6\n", "x:2: has 4 fields, the first line has 5"},
           {"1,0,1,2,256\n", "x:1: field 5: \"256\""},
           {"1,0,1,2,3\n0,4,,6,7\n", "x:2: field 3"},
           {"1,0,1,2,3\n-1,4,5,6,7\n", "is not a label"},
           {"1,0,1.5,2,3\n", "field 3: \"1.5\""},
           {"", "no image"},
           {"label,a,b,c,d\n", "no image"},
           {"0,1,2,3,4,5\n", "no square"}}) {
    auto d = parse_csv(text, "x", {});
    ASSERT_FALSE(d.ok()) << text;
    EXPECT_NE(d.status().message().find(says), std::string::npos) << d.status().message();
  }
  auto lenient = parse_csv("1,0,1,2,3\n0,4\n0,4,5,6,999\n0,4,5,6,7\n", "x", {.skip_corrupt = true});
  ASSERT_TRUE(lenient.ok());
  EXPECT_EQ((*lenient)->size(), 2u);
  EXPECT_EQ((*lenient)->report().skipped, 2u);
}

std::string png(uint8_t value, int side = 4) {
  return *encode_png(side, side, 3, std::vector<uint8_t>(size_t(side * side) * 3, value));
}

TEST(Folder, ClassesAreFoldersInOrderOfTheirNames) {
  Scratch f;
  f.put("train/dog/b.png", png(20));
  f.put("train/dog/a.PNG", png(10, 9));
  f.put("train/cat/x.png", png(30));
  f.put("train/cat/notes.txt", "no image");
  f.put("val/cat/y.png", png(40));
  f.put("val/dog/z.png", png(50));
  auto d = read_folder(f.path, true, {.shape = {4, 4, 3}});
  ASSERT_TRUE(d.ok()) << d.status().text();
  EXPECT_EQ((*d)->class_names(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ((*d)->size(), 3u);
  std::vector<uint8_t> out(48);
  ASSERT_TRUE((*d)->read(1, out).ok());
  EXPECT_EQ(out, std::vector<uint8_t>(48, 10));
  EXPECT_EQ((*d)->label(1), 1);
  auto parts = open_dataset({.name = "auto", .directory = f.path, .shape = {4, 4, 3}});
  ASSERT_TRUE(parts.ok()) << parts.status().text();
  EXPECT_EQ(parts->name, "folder");
  EXPECT_EQ(parts->test->size(), 2u);
}

TEST(Folder, CorruptImagesAreNamedWhenRead) {
  Scratch f;
  f.put("train/a/good.png", png(1));
  f.put("train/b/bad.png", png(2).substr(0, 40));
  f.put("train/b/empty.jpg", "");
  auto d = read_folder(f.path, true, {.shape = {4, 4, 3}});
  ASSERT_TRUE(d.ok());
  std::vector<uint8_t> out(48);
  Status s = (*d)->read(1, out);
  EXPECT_EQ(s.code(), Code::Corrupt);
  EXPECT_NE(s.message().find("train/b/bad.png: PNG: "), std::string::npos) << s.message();
  EXPECT_EQ((*d)->read(2, out).code(), Code::Corrupt);
  EXPECT_EQ(read_folder(f.path, false, {}).status().code(), Code::NotFound);
  fs::remove_all(f.path + "/train/b");
  EXPECT_EQ(read_folder(f.path, true, {}).status().code(), Code::Invalid);  // one class
}

DatasetPtr sample() {
  std::vector<uint8_t> pixels;
  for (int i = 0; i < 5 * 12; ++i) pixels.push_back(uint8_t(i * 3));
  return std::make_shared<MemoryDataset>(InputShape{2, 2, 3}, 4, std::vector<std::string>{"a", "b", "c", "d"},
                                         pixels, std::vector<int32_t>{0, 1, 2, 3, 0});
}

TEST(Packed, RoundTrip) {
  Scratch f;
  auto n = write_packed(f.path + "/train.radlpack", *sample());
  ASSERT_TRUE(n.ok()) << n.status().text();
  EXPECT_EQ(*n, 5u);
  auto d = read_packed(f.path, true);
  ASSERT_TRUE(d.ok()) << d.status().text();
  EXPECT_EQ((*d)->class_names()[3], "d");
  std::vector<uint8_t> out(12);
  const DatasetPtr original = sample();
  for (size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE((*d)->read(i, out).ok());
    EXPECT_EQ(std::vector<uint8_t>(original->pixels(i), original->pixels(i) + 12), out);
    EXPECT_EQ((*d)->label(i), original->label(i));
  }
}

TEST(Packed, EveryFlippedByteAndEveryCutIsNoticed) {
  Scratch f;
  ASSERT_TRUE(write_packed(f.path + "/p.radlpack", *sample()).ok());
  const std::string good = *read_file(f.path + "/p.radlpack");
  auto fully_read = [&](const std::string& bytes) {
    auto d = read_packed(f.put("x.radlpack", bytes), true);
    if (!d.ok()) return d.status();
    std::vector<uint8_t> out(pixel_count((*d)->shape()));
    for (size_t i = 0; i < (*d)->size(); ++i) {
      if (Status s = (*d)->read(i, out); !s.ok()) return s;
    }
    return Status();
  };
  EXPECT_TRUE(fully_read(good).ok());
  for (size_t cut : {size_t(0), size_t(5), size_t(17), size_t(100), size_t(4095), good.size() - 1}) {
    EXPECT_EQ(fully_read(good.substr(0, cut)).code(), Code::Corrupt) << cut;
  }
  EXPECT_EQ(fully_read(good + "x").code(), Code::Corrupt);
  const size_t index = 4096, pixels = good.size() - 60;
  for (size_t at : {size_t(0), size_t(10), index, index + 39, pixels, pixels + 59}) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 0x40);
    EXPECT_FALSE(fully_read(bad).ok()) << at;
  }
}

TEST(Packed, LeavesCorruptImagesOutWhenAsked) {
  Scratch f;
  f.put("train/a/good.png", png(1));
  f.put("train/b/bad.png", "x");
  auto d = read_folder(f.path, true, {.shape = {4, 4, 3}});
  EXPECT_EQ(write_packed(f.path + "/p", **d).status().code(), Code::Corrupt);
  EXPECT_FALSE(fs::exists(f.path + "/p"));
  auto n = write_packed(f.path + "/p", **d, true);
  ASSERT_TRUE(n.ok());
  EXPECT_EQ(*n, 1u);
  for (auto& e : fs::directory_iterator(f.path))
    EXPECT_EQ(e.path().filename().string().find(".tmp-"), std::string::npos);
}

TEST(Gzip, IsUnpackedWithinItsLimit) {
  Scratch f;
  // `printf 'hello hello hello' | gzip -n`
  auto packed = from_hex("1f8b0800000000000003cb48cdc9c957c84090008088f9e511000000");
  ASSERT_TRUE(packed.ok());
  const std::string path = f.put("x.gz", *packed);
  auto text = read_maybe_gzip(path, 100);
  ASSERT_TRUE(text.ok()) << text.status().text();
  EXPECT_EQ(*text, "hello hello hello");
  EXPECT_EQ(read_maybe_gzip(path, 5).status().code(), Code::Quota);
  f.put("cut.gz", packed->substr(0, 15));
  EXPECT_FALSE(read_maybe_gzip(f.path + "/cut.gz", 100).ok());
}

TEST(Open, LimitsHoldsOutAndNamesWhatIsUnknown) {
  const std::string subset = test::source_dir() + "/examples/cifar10/subset";
  auto p = open_dataset({.name = "auto", .directory = subset, .train = 100, .test = 50});
  ASSERT_TRUE(p.ok()) << p.status().text();
  EXPECT_EQ(p->name, "cifar10");
  EXPECT_EQ(p->train->size(), 100u);
  EXPECT_EQ(p->test->size(), 50u);
  auto held = open_dataset({.name = "cifar10", .directory = subset, .validation = 300});
  ASSERT_TRUE(held.ok());
  EXPECT_EQ(held->train->size(), 1700u);
  EXPECT_EQ(held->test->size(), 300u);
  EXPECT_EQ(open_dataset({.name = "cifar10", .directory = subset, .validation = 2000}).status().code(),
            Code::Invalid);
  EXPECT_NE(open_dataset({.name = "imagenet", .directory = subset}).status().message().find("imagenet"),
            std::string::npos);
  EXPECT_EQ(open_dataset({.name = "auto", .directory = "/nowhere"}).status().code(), Code::NotFound);
  EXPECT_EQ(open_dataset({.name = "cifar10"}).status().code(), Code::Invalid);
}

TEST(Open, ATestPartHasTheTrainingPartsClasses) {
  const Scratch scratch;
  const auto image = encode_png(2, 2, 3, std::vector<uint8_t>(12, 7));
  ASSERT_TRUE(image.ok());
  for (const char* name : {"f/train/ape/1.png", "f/train/bee/1.png", "f/train/cat/1.png", "f/test/cat/1.png",
                           "f/test/bee/1.png"})
    scratch.put(name, *image);
  auto folders = open_dataset({.name = "folder", .directory = scratch.path + "/f"});
  ASSERT_TRUE(folders.ok()) << folders.status().text();
  EXPECT_EQ(folders->test->class_names(), (std::vector<std::string>{"ape", "bee", "cat"}));
  EXPECT_EQ(folders->test->label(0), 1);
  EXPECT_EQ(folders->test->label(1), 2);
  scratch.put("f/test/dog/1.png", *image);
  EXPECT_NE(
      open_dataset({.name = "folder", .directory = scratch.path + "/f"}).status().message().find("\"dog\""),
      std::string::npos);

  scratch.put("c/train.csv", "0,1,2,3,4\n2,1,2,3,4\n");
  scratch.put("c/test.csv", "1,1,2,3,4\n");
  auto rows = open_dataset({.name = "csv", .directory = scratch.path + "/c"});
  ASSERT_TRUE(rows.ok()) << rows.status().text();
  EXPECT_EQ(rows->test->classes(), 3);
  scratch.put("c/test.csv", "3,1,2,3,4\n");
  EXPECT_NE(
      open_dataset({.name = "csv", .directory = scratch.path + "/c"}).status().message().find("up to 3"),
      std::string::npos);
}

TEST(Packed, ClassNamesMayBeAnyBytes) {
  const Scratch scratch;
  const MemoryDataset data({1, 1, 1}, 2, {"caf\xe9", "\x01\"x"}, {1, 2}, {0, 1});
  ASSERT_TRUE(write_packed(scratch.path + "/train.radlpack", data).ok());
  auto read = read_packed(scratch.path, true);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ((*read)->class_names()[1], "\x01\"x");
}

}  // namespace
}  // namespace radl::engine::data
