// The quick look at a recipe takes only what the YAML parser takes.
#include "compiler/sema/plain_yaml.h"

#include <gtest/gtest.h>
#include <yaml.h>

#include <random>
#include <string>
#include <vector>

namespace radl::sema {
namespace {

bool libyaml_takes(const std::string& text) {
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  bool good = true, more = true;
  int documents = 0;
  while (good && more) {
    yaml_event_t event;
    good = yaml_parser_parse(&parser, &event) != 0;
    if (!good) break;
    more = event.type != YAML_STREAM_END_EVENT;
    documents += event.type == YAML_DOCUMENT_START_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return good && documents <= 1;
}

const std::vector<std::string> kPlain = {
    "\n---\n  - vars:\n      IDX: 0\n    tasks:\n      - name: install\n        apt: name=pkg0 "
    "state=present\n"
    "      - command: echo node0\n",
    "- hosts: all\n  tasks:\n  - name: \"a: b\"\n    copy: dest=/etc/x content='{{ y }}'\n  - shell: x | y > "
    "z\n",
    "a:\n- b\n- c: 1\n  d:\n  e: 'it'\nf: http://h:80/x\n",
    "# c\n\nroles:\n  - - x\n    - y\n  # d\n  - z\n",
    "a: 1\n",
};

const std::vector<std::string> kOthers = {
    "a: b: c\n",         "a: [x]\n",       "a: {{ x }}\n",  "a:\n  b: 1\n c: 2\n",
    "a: 1\n  b: 2\n",    "a:\n\tb: 1\n",   "- a\nb: 1\n",   "a: 'b\n",
    "a: 2001-02-30\n",   "a: &x 1\n",      "a: |\n  x\n",   "---\na: 1\n---\nb: 2\n",
    "a: x\n  y\n",       "  a: 1\nb: 2\n", "a: 0x\n",       "a: <<\n",
    "<<: 1\n",           "a: =\n",         "a: \"x\\q\"\n", "a: 'x' y\n",
    "- a: 1\n   b: 2\n", "a: @x\n",        "a: \xC3\xA9\n", "",
};

TEST(PlainYaml, TakesWhatRecipesMostlyAre) {
  for (const std::string& text : kPlain) {
    EXPECT_TRUE(is_plain_yaml(text)) << text;
    EXPECT_TRUE(libyaml_takes(text)) << text;
  }
}

TEST(PlainYaml, LeavesEverythingElseToTheParser) {
  for (const std::string& text : kOthers) EXPECT_FALSE(is_plain_yaml(text)) << text;
}

TEST(PlainYaml, NeverTakesWhatTheParserRefuses) {
  std::mt19937 random(7);
  auto any = [&](size_t below) { return static_cast<size_t>(random() % below); };
  const std::string bytes = " -:\n#'\"{}[]ab0.|>&*!%@?,=x\t\\";
  int taken = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text = kPlain[any(kPlain.size())] + (any(3) == 0 ? kPlain[any(kPlain.size())] : "");
    for (size_t edits = 1 + any(4); edits > 0; --edits) {
      size_t at = any(text.size());
      switch (any(4)) {
        case 0:
          text.erase(at, 1 + any(3));
          break;
        case 1:
          text.insert(at, 1, bytes[any(bytes.size())]);
          break;
        case 2:
          text.insert(at, std::string(1 + any(4), ' '));
          break;
        default:
          text[at] = bytes[any(bytes.size())];
      }
      if (text.empty()) text = "a";
    }
    if (!is_plain_yaml(text)) continue;
    ++taken;
    ASSERT_TRUE(libyaml_takes(text)) << text;
  }
  EXPECT_GT(taken, 3000) << "a test of nothing";
}

}  // namespace
}  // namespace radl::sema
