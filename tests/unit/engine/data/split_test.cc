// Every class has its share of what is held out and of what is used, the same on every machine.
#include "engine/data/split.h"

#include "engine/data/open.h"
#include "tests/unit/engine/data/own_case.h"

namespace radl::engine::data {
namespace {

std::vector<size_t> per_class(const Dataset& d) {
  std::vector<size_t> counts(size_t(d.classes()));
  for (size_t i = 0; i < d.size(); ++i) ++counts[size_t(d.label(i))];
  return counts;
}

std::vector<std::string> origins(const Dataset& d) {
  std::vector<std::string> all;
  for (size_t i = 0; i < d.size(); ++i) all.push_back(d.origin(i).substr(d.origin(i).size() - 10));
  return all;
}

using Split_ = OwnCase;

TEST_F(Split_, ValidationHoldsOutOfEveryClassItsShare) {
  classes("f", {{"ape", 40}, {"bee", 20}, {"cat", 10}});
  auto parts = open_dataset({.directory = path + "/f", .validation = 14});
  ASSERT_TRUE(parts.ok()) << parts.status().text();
  EXPECT_EQ(per_class(*parts->test), (std::vector<size_t>{8, 4, 2}));
  EXPECT_EQ(per_class(*parts->train), (std::vector<size_t>{32, 16, 8}));
}

TEST_F(Split_, FewerTrainingImagesAreStillOfAllClasses) {
  classes("f/train", {{"ape", 40}, {"bee", 20}, {"cat", 10}});
  classes("f/test", {{"ape", 4}, {"bee", 4}, {"cat", 4}});
  auto parts = open_dataset({.directory = path + "/f", .train = 7, .test = 3});
  ASSERT_TRUE(parts.ok()) << parts.status().text();
  EXPECT_EQ(per_class(*parts->train), (std::vector<size_t>{4, 2, 1}));
  EXPECT_EQ(per_class(*parts->test), (std::vector<size_t>{1, 1, 1}));
}

TEST_F(Split_, TheSameImagesWhereverTheFolderLies) {
  classes("here/f", {{"ape", 30}, {"bee", 31}});
  classes("else/where/f", {{"ape", 30}, {"bee", 31}});
  auto a = open_dataset({.directory = path + "/here/f"}),
       b = open_dataset({.directory = path + "/else/where/f"});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(origins(*a->test), origins(*b->test));
  EXPECT_EQ(a->test->size(), 12u);  // one of five
  EXPECT_NE(a->note.find("held out"), std::string::npos);
  // Not simply the first or the last ones.
  EXPECT_NE(origins(*a->test).front().find("100"), 4u);
  std::set<std::string> used;
  for (const auto& part : {a->train, a->test})
    for (size_t i = 0; i < part->size(); ++i) EXPECT_TRUE(used.insert(part->origin(i)).second);
  EXPECT_EQ(used.size(), 61u);
}

TEST_F(Split_, NoClassIsHeldOutWhole) {
  classes("f", {{"ape", 1}, {"bee", 2}, {"cat", 9}});
  auto parts = open_dataset({.directory = path + "/f", .validation = 9});
  ASSERT_TRUE(parts.ok()) << parts.status().text();
  for (size_t n : per_class(*parts->train)) EXPECT_GE(n, 1u);
  auto too_many = open_dataset({.directory = path + "/f", .validation = 10});
  EXPECT_EQ(too_many.status().code(), Code::Invalid);
  EXPECT_NE(too_many.status().message().find("at most 9"), std::string::npos) << too_many.status().text();
}

}  // namespace
}  // namespace radl::engine::data
