// `radlc fmt --upgrade`: what becomes of older texts. That the program stays is checked by the command
// itself.
#include "compiler/tools/fmt/upgrade.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

std::string upgraded(const std::string& text) {
  Diagnostics diagnostics;
  auto result = formatter::upgrade(SourceFile(1, "test.radl", text), diagnostics);
  return result ? *result : "error: " + result.status().message();
}

void expect(const std::string& before, const std::string& after) {
  EXPECT_EQ(upgraded(before), after) << "of\n" << before;
  EXPECT_EQ(upgraded(after), after) << "not a fixed point";
}

TEST(Upgrade, TypesMapsAndParentheses) {
  expect("radl 2\ninput n (type = 'integer' and default = 2)\n",
         "radl 2\ninput n (type = integer, default = 2)\n");
  expect("radl 2\nsystem a (cpu.count = 1)\ndeploy a ( input.n + 1 ) one\n",
         "radl 2\nsystem a (cpu.count = 1)\ndeploy a input.n + 1 one\n");
  expect("radl 2\noutput o (value = map('a', map('b c', 1), 'd', [2]))\n",
         "radl 2\noutput o (value = { a = { 'b c' = 1 }, d = [2] })\n");
  expect("radl 2\noutput o (value = map(input.k, 1))\n", "radl 2\noutput o (value = map(input.k, 1))\n");
  expect("radl 2\nconfigure c (package 'git' ())\n", "radl 2\nconfigure c (package 'git')\n");
}

TEST(Upgrade, LinesInQuotesBecomeABlockOfTextWhereThatIsTheSame) {
  expect(
      "radl 2\nconfigure c (\n  file '/x' (\n    content = 'a\n  ${self.hostname}\n' and\n    mode = "
      "'0644'\n  )\n)\n",
      "radl 2\n\nconfigure c (\n  file '/x' (\n    content = <<END\na\n  ${self.hostname}\nEND\n    mode = "
      "'0644'\n  "
      ")\n)\n");
  std::string no_last_line = "radl 2\n\nconfigure c (\n  file '/x' (\n    content = 'a\nb\nc'\n  )\n)\n";
  EXPECT_EQ(upgraded(no_last_line), no_last_line);
}

TEST(Upgrade, Radl1) {
  expect(
      "network n (outbound = 'yes')\nsystem a (\n  cpu.count >= 1 and\n  net_interface.0.dns_name = "
      "'a${b'\n)\n",
      "radl 2\n\nnetwork n (outbound = 'yes')\n\nsystem a (\n  cpu.count >= 1\n  net_interface.0.dns_name = "
      "'a$${b'\n)\n");
}

TEST(Upgrade, WhatCannotBeWrittenIsLeftAlone) {
  EXPECT_NE(upgraded("system a (cpu.count >= @input.N@)\n").find("left alone"), std::string::npos);
  EXPECT_NE(upgraded("system a (x = '@input.N@')\n").find("declare it first"), std::string::npos);
  EXPECT_NE(upgraded("system a (\n").find("syntax errors"), std::string::npos);
}

}  // namespace
}  // namespace radl
