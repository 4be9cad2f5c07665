#include "common/yaml_document.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

TEST(YamlDocument, NodesHaveKindsValuesAndPlacesInBytes) {
  const std::string text = "# \xC3\xA9\nname: \xE2\x9C\x93 ok\nlist: [1, 'null', ~]\nnone:\nmap: {a: b}\n";
  YamlDocument document;
  YamlFault fault;
  ASSERT_TRUE(document.load(text, fault)) << fault.problem;
  const YamlNode root = document.root();
  ASSERT_TRUE(root.is_map());
  EXPECT_FALSE(root.flow());
  EXPECT_EQ(root.find("name").text(), "\xE2\x9C\x93 ok");
  const YamlNode list = root.find("list");
  ASSERT_TRUE(list.is_list() && list.flow());
  EXPECT_EQ(text.substr(list.begin().offset, list.end().offset - list.begin().offset), "[1, 'null', ~]");
  EXPECT_EQ(list.begin().line, 3u);
  EXPECT_EQ(list.begin().column, 7u);
  ASSERT_EQ(list.items().size(), 3u);
  EXPECT_FALSE(list.items()[1].is_null()) << "in quotes";
  EXPECT_TRUE(list.items()[2].is_null());
  EXPECT_TRUE(root.find("none").is_null());
  EXPECT_TRUE(root.find("missing").is_null());
  EXPECT_EQ(root.find("map").entries().size(), 1u);
}

TEST(YamlDocument, AnAliasIsTheNodeThatItNames) {
  YamlDocument document;
  YamlFault fault;
  ASSERT_TRUE(document.load("a: &x {k: v}\nb: *x\n", fault)) << fault.problem;
  EXPECT_EQ(document.root().find("b").find("k").text(), "v");
}

TEST(YamlDocument, SaysWhereTheFaultIs) {
  YamlDocument document;
  YamlFault fault;
  EXPECT_FALSE(document.load("a: 1\nb: [\n", fault));
  EXPECT_EQ(fault.line, 3u);
  EXPECT_FALSE(fault.problem.empty());
  ASSERT_TRUE(document.load("", fault)) << "an empty text is a document without a node";
  EXPECT_TRUE(document.root().is_null());
}

}  // namespace
}  // namespace radl
