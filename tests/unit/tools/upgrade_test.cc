// `radlc fmt --upgrade`: what becomes of older texts. That the program stays is checked by the command
// itself.
#include "tools/fmt/upgrade.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "common/files.h"
#include "compiler/syntax/parser.h"
#include "compiler/syntax/walk.h"
#include "tests/support/paths.h"
#include "tools/fmt/format.h"
#include "tools/fmt/separators.h"

namespace radl {
namespace {

std::string upgraded(const std::string& text) {
  Diagnostics diagnostics;
  auto result = formatter::upgrade(SourceFile(1, "test.radl", text), diagnostics);
  return result ? result->text : "error: " + result.status().message();
}

void expect_upgrade(const std::string& before, const std::string& after) {
  EXPECT_EQ(upgraded(before), after) << "of\n" << before;
  EXPECT_EQ(upgraded(after), after) << "not a fixed point";
}

TEST(Upgrade, TypesMapsAndParentheses) {
  expect_upgrade("radl 2\ninput n (type = 'integer' and default = 2)\n",
                 "radl 2\ninput n (type = integer, default = 2)\n");
  expect_upgrade("radl 2\nsystem a (cpu.count = 1)\ndeploy a ( input.n + 1 ) one\n",
                 "radl 2\nsystem a (cpu.count = 1)\ndeploy a input.n + 1 one\n");
  expect_upgrade("radl 2\noutput o (value = map('a', map('b c', 1), 'd', [2]))\n",
                 "radl 2\noutput o (value = { a = { 'b c' = 1 }, d = [2] })\n");
  expect_upgrade("radl 2\noutput o (value = map(input.k, 1))\n",
                 "radl 2\noutput o (value = map(input.k, 1))\n");
  expect_upgrade("radl 2\nconfigure c (package 'git' ())\n", "radl 2\nconfigure c (package 'git')\n");
}

TEST(Upgrade, InputsThatHadTheNameOfAnotherTypeAreRenamed) {
  expect_upgrade(
      "radl 2\n\nuse 'std/training/torch' as t (nodes = system.s, main = 'a.py', workers = 2)\n"
      "use 'std/training/ray' as r (head = system.s, main = 'a.py', options = { workers = 2 })\n"
      "use 'std/cluster/ray' as c (head = system.s, workers = system.w)\n",
      "radl 2\n\nuse 'std/training/torch' as t (nodes = system.s, main = 'a.py', processes = 2)\n"
      "use 'std/training/ray' as r (head = system.s, main = 'a.py', options = { processes = 2 })\n"
      "use 'std/cluster/ray' as c (head = system.s, workers = system.w)\n");
  expect_upgrade(
      "radl 2\n\nuse 'std/training/mpi' as m (nodes = s, main = 'a', packages = no)\n"
      "use 'std/cluster/ray' as r (head = h, options = ['-v'])\n"
      "use 'std/storage/nfs' as n (server = h, options = ['ro'])\n"
      "use 'std/cluster/slurm' as c (head = h, settings = 'X=1')\n",
      "radl 2\n\nuse 'std/training/mpi' as m (nodes = s, main = 'a', install = no)\n"
      "use 'std/cluster/ray' as r (head = h, start_arguments = ['-v'])\n"
      "use 'std/storage/nfs' as n (server = h, mount_options = ['ro'])\n"
      "use 'std/cluster/slurm' as c (head = h, configuration = 'X=1')\n");
  expect_upgrade(
      "radl 2\n\nuse 'std/cluster/slurm' as c (head = h)\nuse 'x' as d\n"
      "output o (value = ['${c.nodes}', d.nodes, c.name])\n",
      "radl 2\n\nuse 'std/cluster/slurm' as c (head = h)\nuse 'x' as d\n"
      "output o (value = ['${c.node_names}', d.nodes, c.name])\n");
  expect_upgrade("radl 2\n\nconfigure c (program 'p' (systems = w, main = 'a.py', workers = 2))\n",
                 "radl 2\n\nconfigure c (program 'p' (systems = w, main = 'a.py', processes = 2))\n");
}

TEST(Upgrade, ACloudWithADotIsQuoted) {
  expect_upgrade(
      "network n ()\nsystem a ( cpu.count >= 1 )\ndeploy a 2 my.cloud\ndeploy a 1 ec2\n",
      "radl 2\n\nnetwork n ()\nsystem a (cpu.count >= 1)\ndeploy a 2 'my.cloud'\ndeploy a 1 ec2\n");
}

TEST(Upgrade, AComputedCloudOrZoneIsQuoted) {
  expect_upgrade(
      "radl 2\nsystem a (availability_zone = if input.far then 'b' else none, soft 2 (cloud = s.cloud))\n"
      "deploy a 1 input.cloud\ndeploy a 1 input.sites['lab'].cloud when = yes\ndeploy a 1 lookup(m, 'a')\n",
      "radl 2\nsystem a (availability_zone = '${if input.far then 'b' else none}', soft 2 (cloud = "
      "'${s.cloud}'))\n"
      "deploy a 1 '${input.cloud}'\ndeploy a 1 '${input.sites['lab'].cloud}' when = yes\n"
      "deploy a 1 '${lookup(m, 'a')}'\n");
  expect_upgrade("system a (availability_zone = '@input.zone@')\n",
                 "radl 2\n\ninput zone (type = text)\n\nsystem a (availability_zone = '${input.zone}')\n");
}

TEST(Upgrade, AWordOfASystemThatWasAValueIsQuoted) {
  // The word of a `deploy` has always been a cloud.
  expect_upgrade("radl 2\nlet ec2 = 'gce'\nsystem a (cloud = ec2)\ndeploy a 1 ec2\n",
                 "radl 2\nlet ec2 = 'gce'\nsystem a (cloud = '${ec2}')\ndeploy a 1 ec2\n");
  // Only where the name is in scope; a function is not a value.
  const auto text = [](const std::string& p, const std::string& q) {
    return "radl 2\nlet f(x) = x\n\neach p in ['a'] (\n  system 'n-${p}' (availability_zone = " + p +
           ")\n)\n\nsystem b (\n  cloud = f\n  availability_zone = p\n  each q in ['x'] (\n    cloud = " + q +
           "\n  )\n)\n";
  };
  expect_upgrade(text("p", "q"), text("'${p}'", "'${q}'"));
}

TEST(Upgrade, AComputedPlaceOfSeveralLinesIsQuotedOnOne) {
  expect_upgrade(
      "radl 2\nsystem a (cloud = lookup({\n  a = 'x'  # one\n  # two\n  b = (1 +\n    2)\n  c = [3,\n 4]\n}, "
      "'k',\n  'q'\n))\n",
      "radl 2\nsystem a (cloud = '${lookup({ a = 'x', b = (1 + 2), c = [3, 4] }, 'k', 'q')}')\n");
  expect_upgrade("radl 2\nsystem a (cloud = if x then 'a' else\n  'os')\n",
                 "radl 2\nsystem a (cloud = '${if x then 'a' else 'os'}')\n");
}

TEST(Upgrade, LinesInQuotesBecomeABlockOfTextWhereThatIsTheSame) {
  expect_upgrade(
      "radl 2\nconfigure c (\n  file '/x' (\n    content = 'a\n  ${self.hostname}\n' and\n    mode = "
      "'0644'\n  )\n)\n",
      "radl 2\n\nconfigure c (\n  file '/x' (\n    content = <<END\na\n  ${self.hostname}\nEND\n    mode = "
      "'0644'\n  "
      ")\n)\n");
  std::string no_last_line = "radl 2\n\nconfigure c (\n  file '/x' (\n    content = 'a\nb\nc'\n  )\n)\n";
  EXPECT_EQ(upgraded(no_last_line), no_last_line);
}

TEST(Upgrade, Radl1) {
  expect_upgrade(
      "network n (outbound = 'yes')\nsystem a (\n  cpu.count >= 1 and\n  net_interface.0.dns_name = "
      "'a${b'\n)\n",
      "radl 2\n\nnetwork n (outbound = 'yes')\n\nsystem a (\n  cpu.count >= 1\n  net_interface.0.dns_name = "
      "'a$${b'\n)\n");
}

TEST(Upgrade, WhatRadl1SkipsIsRemoved) {
  EXPECT_EQ(upgraded("\"\nsystem s (cpu.count = -1 and disk.0.os.name = 'linux';)\ndeploy s 1\"\n"),
            upgraded("system s (cpu.count = 1 and disk.0.os.name = 'linux')\ndeploy s 1\n"));
  EXPECT_EQ(upgraded("network n ()\n}\n"), upgraded("network n ()\n"));
}

TEST(Upgrade, MegaIsWrittenInCapitals) {
  expect_upgrade("system a (memory.size >= 512m and disk.1.size <= 20 m and disk.0.size = 2g)\n",
                 "radl 2\n\nsystem a (memory.size >= 512M, disk.1.size <= 20M, disk.0.size = 2g)\n");
  expect_upgrade("system a (memory.size >= @input.mem@m)\n",
                 "radl 2\n\ninput mem (type = number)\n\nsystem a (memory.size >= input.mem * 1M)\n");
}

TEST(Upgrade, AUseWithNothingToSayNeedsNoParentheses) {
  expect_upgrade("radl 2\nuse 'x' as a ( )\n", "radl 2\nuse 'x' as a\n");
}

TEST(Upgrade, PlaceholdersBecomeInputsOfTheKindThatTheyStandFor) {
  expect_upgrade(
      "network n (outbound = '@input.open@')\n"
      "system a (\n  cpu.count >= @input.cores@ and  # @input.cores@ of them\n  memory.size >= @input.mem@ "
      "and\n"
      "  disk.1.size = @input.disk@GB and\n  disk.0.image.url = 'aws://@input.region@/${x}'\n)\n"
      "configure c (\n@begin\n- tasks: @input.region@\n@end\n)\ndeploy a @input.cores@\n",
      "radl 2\n\ninput open (type = text)\ninput cores (type = integer)\ninput mem (type = size)\n"
      "input disk (type = number)\ninput region (type = text)\n\nnetwork n (outbound = input.open)\n\n"
      "system a (\n  cpu.count >= input.cores  # @input.cores@ of them\n  memory.size >= input.mem\n"
      "  disk.1.size = input.disk * 1GB\n  disk.0.image.url = 'aws://${input.region}/$${x}'\n)\n\n"
      "configure c (\n@begin\n- tasks: @input.region@\n@end\n)\n\ndeploy a input.cores\n");
}

TEST(Upgrade, AnInputInANumberAndInATextIsANumber) {
  EXPECT_NE(upgraded("system a (name = '@input.n@')\ndeploy a @input.n@\n").find("input n (type = integer)"),
            std::string::npos);
  EXPECT_NE(upgraded("system a (name = '@input.n@')\ndeploy a @input.n@\n").find("name = '${input.n}'"),
            std::string::npos);
}

TEST(Upgrade, TheFilesOwnCommentStaysAboveItsInputs) {
  const std::string use = "system a (cpu.count >= @input.n@)\n";
  const std::string after = "input n (type = integer)\n\nsystem a (cpu.count >= input.n)\n";
  expect_upgrade("# A cluster\n# of mine\n\n" + use, "radl 2\n# A cluster\n# of mine\n\n" + after);
  expect_upgrade("# A cluster\n" + use, "radl 2\n# A cluster\n\n" + after);
  expect_upgrade(
      "# License\n\n# A cluster\n\n# the node\n" + use,
      "radl 2\n# License\n\n# A cluster\n\ninput n (type = integer)\n\n# the node\nsystem a (cpu.count >= "
      "input.n)\n");
  expect_upgrade(
      "# radl: allow W0308\n" + use,
      "radl 2\n\ninput n (type = integer)\n\n# radl: allow W0308\nsystem a (cpu.count >= input.n)\n");
}

TEST(Upgrade, WhatCannotBeWrittenIsLeftAlone) {
  EXPECT_NE(upgraded("system @input.N@ (cpu.count >= 1)\n").find("allows no value"), std::string::npos);
  EXPECT_NE(upgraded("system a@input.N@ (cpu.count >= 1)\n").find("a part of a word"), std::string::npos);
  EXPECT_NE(upgraded("system a (x = '@input.a.b@')\n").find("has no name"), std::string::npos);
  EXPECT_NE(upgraded("system a (\n").find("syntax errors"), std::string::npos);
}

TEST(Upgrade, AFileThatBelongsToEc3IsLeftAlone) {
  Diagnostics diagnostics;
  auto result = formatter::upgrade(SourceFile(1, "test.radl", "system a (cpu.count >= 1)\n"), diagnostics,
                                   {.dialect = DialectChoice::Ec3});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("EC3"), std::string::npos);
}

TEST(Upgrade, AndBetweenEntriesBecomesALineOrAComma) {
  expect_upgrade("radl 2\nsystem a (\n  cpu.count >= 1 and  # one and two\n  memory.size >= 1G\n)\n",
                 "radl 2\n\nsystem a (\n  cpu.count >= 1  # one and two\n  memory.size >= 1G\n)\n");
  expect_upgrade("radl 2\nsystem a (\ncpu.count = 1\n# b\nand memory.size = 1G\n)\n",
                 "radl 2\n\nsystem a (\n  cpu.count = 1\n  # b\n  memory.size = 1G\n)\n");
  expect_upgrade("radl 2\nsystem a (\n  cpu.count >= 1\n  and memory.size >= 1G\n)\n",
                 "radl 2\n\nsystem a (\n  cpu.count >= 1\n  memory.size >= 1G\n)\n");
  expect_upgrade(
      "radl 2\nsystem a (cpu.count >= 1 and memory.size >= input.n and soft 5 (price = 1 and spot = 'no'))\n",
      "radl 2\nsystem a (cpu.count >= 1, memory.size >= input.n, soft 5 (price = 1, spot = 'no'))\n");
  expect_upgrade("radl 2\nconfigure c (package 'git' and file 'x' (content = 'y' and mode = '0600'))\n",
                 "radl 2\n\nconfigure c (\n  package 'git'\n  file 'x' (content = 'y', mode = '0600')\n)\n");
  // An operator stays one.
  expect_upgrade(
      "radl 2\noutput o (value = input.a and not input.b and description = 'x' and sensitive = no)\n",
      "radl 2\noutput o (value = input.a and not input.b, description = 'x', sensitive = no)\n");
}

// With `and` between all of its features, as files were written before.
class Older {
 public:
  static std::string of(const ast::Tree& tree) {
    Older made(tree.source->text());
    each_block(tree.blocks, [&](const ast::Block& block) {
      if (auto* part = ast::as<ast::FeatureBlock>(&block)) made.features(part->body);
      if (auto* use = ast::as<ast::Use>(&block)) made.features(use->body);
      if (auto* configure = ast::as<ast::Configure>(&block)) made.resources(configure->resources);
    });
    std::string out;
    size_t done = 0;
    for (const auto& [end, next] : made.between_) {
      std::string_view gap = made.text_.substr(end, next - end);
      out.append(made.text_, done, end - done).append(" and");
      done = end + (gap.starts_with(",") ? 1 : 0);
    }
    return out.append(made.text_.substr(done));
  }

 private:
  explicit Older(std::string_view text) : text_(text) {}
  void features(const ast::Features& list) {
    for (size_t i = 0; i < list.items.size(); ++i) {
      // Behind the mark that ends a block of text there can be no `and`.
      const ast::Feature* before = i > 0 ? list.items[i - 1] : nullptr;
      const bool block =
          before && text_.substr(before->span.begin, before->span.size()).find("<<") != text_.npos;
      if (before && !block) between_[before->span.end] = list.items[i]->span.begin;
      if (list.items[i]->group) features(*list.items[i]->group);
    }
  }
  void resources(const List<ast::Resource*>& list) {
    for (const ast::Resource* resource : list) {
      features(resource->body);
      resources(resource->inner);
    }
  }

  std::string_view text_;
  std::map<uint32_t, uint32_t> between_;  // end of a feature -> begin of the next
};

TEST(Upgrade, EveryExampleAndModuleComesBackFromTheOlderSurface) {
  size_t files = 0;
  for (const char* folder : {"examples", "stdlib"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_dir() + "/" + folder)) {
      if (entry.path().extension() != ".radl") continue;
      auto text = read_file(entry.path().string());
      ASSERT_TRUE(text.ok()) << entry.path();
      Diagnostics found;
      const SourceFile today(1, entry.path().string(), *text);
      auto tree = parse(today, found);
      if (tree->dialect != ast::Dialect::Radl2) continue;
      const std::string older = Older::of(*tree);
      if (older == *text) continue;
      auto upgraded = formatter::separated_by_lines(SourceFile(2, today.path(), older));
      ASSERT_TRUE(upgraded) << today.path();
      const SourceFile again(3, today.path(), *upgraded);
      EXPECT_TRUE(formatter::same_meaning(*tree, *parse(again, found))) << today.path();
      ++files;
    }
  }
  EXPECT_GT(files, 25u);
}

TEST(Upgrade, AFileOfTodayIsNotReadAsAnOlderOne) {
  const std::string condition =
      "radl 2\n\nsystem a (\n  spot = big and\n    disks >= 2\n  cpu.count = 1\n)\n";
  EXPECT_EQ(upgraded(condition), condition);
}

}  // namespace
}  // namespace radl
