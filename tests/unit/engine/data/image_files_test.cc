// Folders, archives and CSV files of images as people have them: sizes, colours, nesting, what is wrong.
#include "engine/data/image_files.h"

#include "engine/data/archive.h"
#include "engine/data/examine.h"
#include "engine/data/open.h"
#include "engine/data/readers.h"
#include "tests/unit/engine/data/own_case.h"

namespace radl::engine::data {
namespace {

using Own = OwnCase;

std::vector<int> shape_of(const Parts& p) {
  const InputShape s = p.train->shape();
  return {s.height, s.width, s.channels};
}

TEST_F(Own, TheSizeIsTheImagesOwnOrTheMedianOfTheirSides) {
  classes("same", {{"a", 5}, {"b", 5}}, 20);
  auto same = open_dataset({.directory = path + "/same"});
  ASSERT_TRUE(same.ok()) << same.status().text();
  EXPECT_EQ(shape_of(*same), (std::vector<int>{20, 20, 3}));
  for (int i = 0; i < 6; ++i) {
    put("mixed/a/" + std::to_string(i) + ".png", png(30 + i, 50, 1));
    put("mixed/b/" + std::to_string(i) + ".png", png(900, 500, 2));
  }
  auto mixed = open_dataset({.directory = path + "/mixed"});
  ASSERT_TRUE(mixed.ok()) << mixed.status().text();
  EXPECT_EQ(shape_of(*mixed), (std::vector<int>{224, 224, 3}));
  auto given = open_dataset({.directory = path + "/mixed", .shape = {16, 24, 1}});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(shape_of(*given), (std::vector<int>{16, 24, 1}));
}

TEST_F(Own, GreyImagesHaveOneChannelUnlessOneHasColour) {
  for (const char* name : {"a/1.png", "a/2.png", "b/1.png", "b/2.png"})
    put(std::string("g/") + name, png(9, 9, 5, 1));
  auto grey = open_dataset({.directory = path + "/g"});
  ASSERT_TRUE(grey.ok()) << grey.status().text();
  EXPECT_EQ(shape_of(*grey), (std::vector<int>{9, 9, 1}));
  put("g/b/3.png", png(9, 9, 5, 3));
  auto colour = open_dataset({.directory = path + "/g"});
  ASSERT_TRUE(colour.ok());
  EXPECT_EQ(shape_of(*colour), (std::vector<int>{9, 9, 3}));
}

TEST_F(Own, AnArchiveIsTheFolderInIt) {
  std::vector<std::pair<std::string, std::string>> members = {
      {"./images/README.txt", "x"}, {"__MACOSX/images/a/._1.png", "x"}, {"images/.DS_Store", "x"}};
  for (int i = 0; i < 5; ++i) {
    members.push_back({"images/a/" + std::to_string(i) + ".png", png(9, 9, 1)});
    members.push_back({"images/b/deeper/" + std::to_string(i) + ".png", png(9, 9, 2)});
  }
  for (const char* name : {"x.tar", "x.tar.gz", "x.tgz", "x.zip"}) {
    auto parts = open_dataset({.directory = archive(name, members)});
    ASSERT_TRUE(parts.ok()) << name << ": " << parts.status().text();
    EXPECT_EQ(parts->train->class_names(), (std::vector<std::string>{"a", "b"})) << name;
    EXPECT_EQ(parts->train->size() + parts->test->size(), 10u) << name;
  }
}

TEST_F(Own, AnArchiveCannotWriteOutsideOfItsFolder) {
  for (const char* name : {"../out.png", "a/../../out.png", "/out.png"}) {
    const std::string file = archive("bad.tar", {{name, png(3, 3, 1)}});
    // libarchive takes the leading '/' off when it writes; a '..' stays.
    Status s = unpack_archive(file, path + "/unpacked");
    if (std::string(name).find("..") != std::string::npos) {
      EXPECT_EQ(s.code(), Code::Corrupt) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(path + "/out.png")) << name;
    std::filesystem::remove_all(path + "/unpacked");
  }
}

TEST_F(Own, ACsvNamesFilesAndTextsAreLabels) {
  for (int i = 0; i < 10; ++i) put("c/images/" + std::to_string(i) + ".png", png(8, 8, uint8_t(i)));
  std::string csv = "id,file,label\n";
  for (int i = 0; i < 10; ++i)
    csv += std::to_string(i) + ",\"images/" + std::to_string(i) + ".png\"," +
           (i % 2 ? "odd" : "\"even, so\"") + "\r\n";
  const std::string file = put("c/labels.csv", csv);
  for (const std::string& place : {file, path + "/c"}) {
    auto parts = open_dataset({.directory = place});
    ASSERT_TRUE(parts.ok()) << parts.status().text();
    EXPECT_EQ(parts->name, "csv");
    EXPECT_EQ(parts->train->class_names(), (std::vector<std::string>{"even, so", "odd"}));
    EXPECT_EQ(parts->train->size(), 8u);
    EXPECT_EQ(parts->test->size(), 2u);
  }
  put("c/labels.csv", "file,label\n../../etc/passwd.png,x\n");
  EXPECT_NE(open_dataset({.directory = file}).status().message().find("labels.csv:2"), std::string::npos);
}

TEST_F(Own, NumbersAsLabelsOfFilesStandInTheirOrder) {
  for (int i = 0; i < 4; ++i) put("c/" + std::to_string(i) + ".png", png(8, 8, uint8_t(i)));
  auto parts =
      open_dataset({.directory = put("c/l.csv", "filename,class\n0.png,10\n1.png,9\n2.png,10\n3.png,9\n")});
  ASSERT_TRUE(parts.ok()) << parts.status().text();
  EXPECT_EQ(parts->train->class_names(), (std::vector<std::string>{"9", "10"}));
}

TEST_F(Own, ATestFolderWithoutATrainingFolderIsNoClass) {
  classes("f/test", {{"a", 2}, {"b", 2}});
  auto parts = open_dataset({.name = "folder", .directory = path + "/f"});
  EXPECT_EQ(parts.status().code(), Code::Invalid);
  EXPECT_NE(parts.status().message().find("no folder train"), std::string::npos) << parts.status().text();
}

TEST_F(Own, ExamineNamesWhatIsCorruptAndWhatIsNotRead) {
  classes("f", {{"a", 6}, {"b", 6}});
  put("f/a/101.png", png(8, 8, 1).substr(0, 50));
  put("f/b/x.jpg", "not a JPEG");
  put("f/b/y.webp", "RIFF");
  put("f/notes.txt", "");
  auto found = examine({.open = {.directory = path + "/f"}, .threads = 2});
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_EQ(found->decoded, 13u);
  std::set<std::string> names;
  for (const auto& p : found->corrupt) names.insert(p.name);
  EXPECT_EQ(names, (std::set<std::string>{"a/101.png", "b/x.jpg"}));
  EXPECT_EQ(found->other_files, (std::map<std::string, size_t>{{".webp", 1}, {".txt", 1}}));
  EXPECT_EQ(found->per_class, (std::vector<size_t>{6, 7}));
}

TEST_F(Own, ALineWithoutEndIsOneError) {
  const std::string file = put("long.csv", "1," + std::string(17 << 20, '1'));
  Status s = read_csv(file, true).status();
  EXPECT_EQ(s.code(), Code::Quota);
  EXPECT_NE(s.message().find("long.csv:1: a line of more than 16 MiB"), std::string::npos) << s.text();
}

TEST_F(Own, GzipThatUnpacksToVeryMuchIsRefused) {
  // 100 MiB of zeros are about 100 KiB.
  const std::string file = archive("zeros.gz", {{"zeros", std::string(size_t{100} << 20, '\0')}});
  ASSERT_LT(std::filesystem::file_size(file), size_t{1} << 20);
  EXPECT_EQ(read_maybe_gzip(file, size_t{4} << 30).status().code(), Code::Quota);
}

TEST_F(Own, GzipOfLinesThatUnpacksToVeryMuchIsRefused) {
  std::string lines;
  while (lines.size() < size_t{100} << 20) lines += "0,1,2,3\n";
  const std::string file = archive("lines.csv.gz", {{"lines", lines}});
  uint64_t seen = 0;
  const Status read = visit_lines(file, 1000, [&](std::string_view line) {
    seen += line.size() + 1;
    return Status();
  });
  EXPECT_EQ(read.code(), Code::Quota) << read.text();
  EXPECT_LE(seen, uint64_t{64} << 20);
}

}  // namespace
}  // namespace radl::engine::data
