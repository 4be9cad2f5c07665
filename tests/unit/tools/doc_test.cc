// The page about a module.
#include "tools/doc/doc.h"

#include <gtest/gtest.h>

#include "compiler/syntax/parser.h"

namespace radl {
namespace {

std::string page(const std::string& text) {
  SourceFile source(1, "web.radl", text);
  Diagnostics diagnostics;
  auto tree = parse(source, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return document_file(*tree, "std/web");
}

TEST(Doc, ModulesInputsAndOutputs) {
  std::string text = page(R"(radl 2
# Serves pages.
# From several machines.

input pages (type = 'integer', default = 2, min = 1, max = 9, description = 'page | count')
# Where it listens.
input port (type = 'integer')
input host (type = 'string')
output address (value = worker[0].ip, description = 'of the first machine')
)");
  EXPECT_NE(text.find("# std/web\n"), std::string::npos);
  EXPECT_NE(text.find("Serves pages.\nFrom several machines."), std::string::npos) << text;
  EXPECT_NE(text.find("| `pages` | integer | `2` | at least `1`, at most `9` | page \\| count |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| `port` | integer | required | | Where it listens. |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `address` | `worker[0].ip` | of the first machine |"), std::string::npos) << text;
  EXPECT_NE(text.find("use 'std/web' as NAME (\n  port = ...\n  host = ...\n)"), std::string::npos) << text;
}

TEST(Doc, TheFilesOwnCommentIsNotTheFirstInputs) {
  std::string text =
      page("radl 2\n# A cluster.\n# Of two nodes.\ninput a (default = 2)\n# Mine.\ninput b ()\n");
  EXPECT_NE(text.find("\nA cluster.\nOf two nodes.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| `a` | | `2` | | |"), std::string::npos) << text;
  EXPECT_NE(text.find("Mine. |"), std::string::npos) << text;
  text = page("radl 2\n\n# Of the input.\ninput a (default = 2)\n");
  EXPECT_NE(text.find("| Of the input. |"), std::string::npos) << text;
}

TEST(Doc, ComposedTypesConditionsAndBlocksInsideEach) {
  std::string text = page(R"(radl 2
input disks (
  type = list(object(  # one a disk
    size = size,
    kind = optional(text, "ssd # fast")
  ))
  condition = count(disks) < 9
)
each zone in ['a', 'b'] (
  system worker (cpu.count = 2)
  output address (value = worker[0].ip)
)
)");
  EXPECT_NE(text.find("list(object( size = size, kind"), std::string::npos) << text;
  EXPECT_NE(text.find("\"ssd # fast\""), std::string::npos) << "no comment\n" << text;
  EXPECT_NE(text.find("such that `count(disks) < 9`"), std::string::npos) << text;
  EXPECT_NE(text.find("`worker`"), std::string::npos) << text;
  EXPECT_NE(text.find("`address`"), std::string::npos) << text;
}

TEST(Doc, Radl1Files) {
  std::string text = page(R"(description d (name = 'Farm' and short = 'Renders frames.')
network pub (outbound = 'yes' and outports = '22/tcp')
# Does the work.
system wn (cpu.count >= 2 and memory.size >= 1g)
configure wn (
@begin
- tasks: []
@end
)
deploy wn 3
deploy wn 2 ec2
contextualize (system wn configure wn step 1)
)");
  EXPECT_EQ(text.rfind("# Farm\n\nRenders frames.\n", 0), 0u) << text;
  EXPECT_NE(text.find("| `wn` | `3` + `2` | `cpu.count >= 2`, `memory.size >= 1g` | Does the work. |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| `pub` | public | `22/tcp` |"), std::string::npos) << text;
  EXPECT_NE(text.find("| `wn` | Ansible | `wn` (step 1) |"), std::string::npos) << text;
  EXPECT_EQ(text.find("## Inputs"), std::string::npos);
  EXPECT_EQ(text.find("\n\n\n"), std::string::npos);
}

TEST(Doc, CommentsAbove) {
  SourceFile source(1, "x", "# one\n\n# two\n#three\nsystem a ()\nsystem b ()\n");
  Diagnostics diagnostics;
  auto tree = parse(source, diagnostics);
  EXPECT_EQ(comment_above(*tree, tree->blocks[0]->span.begin), "two\nthree");
  EXPECT_EQ(comment_above(*tree, tree->blocks[1]->span.begin), "");
  EXPECT_EQ(comment_above(*tree, 0), "");
}

}  // namespace
}  // namespace radl
