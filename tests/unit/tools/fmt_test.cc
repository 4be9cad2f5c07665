// The formatter's layout, rule by rule. Every expected text must be a fixed point.
#include <gtest/gtest.h>

#include "tests/unit/tools/formatted.h"

namespace radl {
namespace {

using test::formatted;

void expect(const std::string& before, const std::string& after) {
  EXPECT_EQ(formatted(before), after) << "of\n" << before;
  EXPECT_EQ(formatted(after), after) << "not a fixed point";
}

TEST(Format, GroupsOnOneLineStayThere) {
  expect("network   a( outbound='yes'  and outports = '22/tcp' )",
         "network a (outbound = 'yes' and outports = '22/tcp')\n");
  expect("network b (   )\nsystem c\ndeploy c 1 one", "network b ()\nsystem c\ndeploy c 1 one\n");
}

TEST(Format, GroupsOverSeveralLinesHaveOneFeatureEach) {
  expect(
      "system a (\ncpu.count>=1 and memory.size>=512m and\n    net_interface.0.connection = 'x')\n",
      "system a (\n  cpu.count >= 1 and\n  memory.size >= 512m and\n  net_interface.0.connection = 'x'\n)\n");
}

TEST(Format, LongGroupsAreSpread) {
  std::string a = "disk.0.image.url = 'one://" + std::string(40, 'x') + "'";
  std::string b = "disk.1.image.url = 'one://" + std::string(40, 'y') + "'";
  expect("system a (" + a + " and " + b + ")", "system a (\n  " + a + " and\n  " + b + "\n)\n");
}

TEST(Format, AndEndsTheLineAlsoBehindComments) {
  expect("system a (\n  cpu.count >= 1 # one\n  # two\n  and memory.size >= 1g\n)\n",
         "system a (\n  cpu.count >= 1 and  # one\n  # two\n  memory.size >= 1g\n)\n");
  expect(
      "system a (\ndisk.0.os.version='12.04'and\n#disk.0.os.flavour='x' and\ncpu.count>=1\n#cpu.count>=2\n)",
      "system a (\n  disk.0.os.version = '12.04' and\n  #disk.0.os.flavour='x' and\n  cpu.count >= 1\n  "
      "#cpu.count>=2\n)\n");
}

TEST(Format, InnerGroups) {
  expect(
      "system a (\ndisk.0.applications contains(name='x' and version='1') and soft 10 (\nmemory.size>=2g)\n)",
      "system a (\n  disk.0.applications contains (name = 'x' and version = '1') and\n  soft 10 (\n    "
      "memory.size >= 2g\n  )\n)\n");
}

TEST(Format, Lists) {
  expect("system a (disk.0.image.url=[ 'one://a/1' ,'one://b/2' ])",
         "system a (disk.0.image.url = ['one://a/1', 'one://b/2'])\n");
  expect("system a (disk.0.image.url = [\n'one://a/1',\n'one://b/2' ])",
         "system a (\n  disk.0.image.url = [\n    'one://a/1',\n    'one://b/2'\n  ]\n)\n");
}

TEST(Format, UnitsStandBehindTheirNumber) {
  expect("system a (memory.size >= 2   GB and disk.0.free_size >= 1 .5)",
         "system a (memory.size >= 2GB and disk.0.free_size >= 1 .5)\n");
}

TEST(Format, RecipesAreKeptByteForByte) {
  std::string body = "@begin \t \n---\n  - tasks:\t\n\n\n     # comment   \n   - 'x'   \n @end\n@end";
  expect("configure a (" + body + ")", "configure a (\n" + body + "\n)\n");
  expect("configure a (\n# why\n" + body + "   )\ndeploy a 1",
         "configure a (\n  # why\n" + body + "\n)\n\ndeploy a 1\n");
  expect("configure a ( )\nconfigure b", "configure a ()\nconfigure b\n");
}

TEST(Format, ItemsAreAligned) {
  expect(
      "contextualize 100 (\noption ansible_version='2.9'\nsystem front configure nfs step 1\n  system wn "
      "configure client step 2\n\n"
      "system wn configure x with cloud_init\n)",
      "contextualize 100 (\n  option ansible_version = '2.9'\n  system front configure nfs    step 1\n  "
      "system wn    configure client step 2\n\n"
      "  system wn configure x with cloud_init\n)\n");
  expect("contextualize ( )", "contextualize ()\n");
  expect("contextualize (system a configure b)", "contextualize (system a configure b)\n");
}

TEST(Format, BlankLines) {
  expect(
      "\n\nnetwork a ()\n\n\n\nnetwork b ()\ndeploy x 1\nsystem y (\ncpu.count=1\n)\n# about z\nsystem z "
      "()\n",
      "network a ()\n\nnetwork b ()\ndeploy x 1\n\nsystem y (\n  cpu.count = 1\n)\n\n# about z\nsystem z "
      "()\n");
  expect("deploy a 1  deploy b 2", "deploy a 1\ndeploy b 2\n");
  expect("system y (\n\ncpu.count=1 and\n\n\n\nmemory.size=1g\n\n)",
         "system y (\n  cpu.count = 1 and\n\n  memory.size = 1g\n)\n");
}

TEST(Format, CommentsKeepTheirPlace) {
  expect("# head\n\n\n# next  \nnetwork a ()#trailing\n# below\n",
         "# head\n\n# next  \nnetwork a ()  #trailing\n# below\n");
  expect("system a ( # first\n cpu.count = 1)", "system a (  # first\n  cpu.count = 1\n)\n");
  expect("system a (cpu.count = # odd\n 1)", "system a (\n  cpu.count =  # odd\n      1\n)\n");
}

TEST(Format, SkippedCharactersStay) {
  expect("system a (price <= -1 and spot = 'no';\n)", "system a (\n  price <= -1 and\n  spot = 'no';\n)\n");
  expect("network a ();\ndeploy a 1;", "network a ();\ndeploy a 1;\n");
}

TEST(Format, AByteOrderMarkOfAnotherFileNeverBecomesThisOnes) {
  const std::string mark = "\xEF\xBB\xBF";
  expect("\n\n" + mark + "\n\n" + mark + "network b ()", "network b ()\n");
  expect("network a ()\n" + mark + "network b ()", "network a ()\n" + mark + "\nnetwork b ()\n");
}

TEST(Format, TextsOverLinesAreKept) {
  expect("system a (disk.0.os.credentials.private_key='---\n  KEY\n---' and cpu.count=1)",
         "system a (\n  disk.0.os.credentials.private_key = '---\n  KEY\n---' and\n  cpu.count = 1\n)\n");
}

TEST(Format, LineEndsOfTheSource) {
  EXPECT_EQ(formatted("network a ()\r\nconfigure b (\r\n@begin\r\n- x\r\n@end\r\n)\r\n"),
            "network a ()\r\n\r\nconfigure b (\r\n@begin\r\n- x\r\n@end\r\n)\r\n");
}

TEST(Format, Radl2) {
  expect("radl 2\ninput n(type='integer',default=2*( 1+3 ),min=-1)\n",
         "radl 2\ninput n (type = 'integer', default = 2 * (1 + 3), min = -1)\n");
  expect(
      "radl   2\nconfigure t (\npackage 'htop' ( )\n  file '/etc/motd'(content='x ${input.n}',mode = "
      "'0644')\n)\n",
      "radl 2\n\nconfigure t (\n  package 'htop' ()\n  file '/etc/motd' (content = 'x ${input.n}', mode = "
      "'0644')\n)\n");
  expect(
      "radl 2\nuse 'std/x'  as m ( servers=system.s,n=if input.n>1 then join( ['a' , 'b'], '' ) else w [ "
      "0 ].ip )\n",
      "radl 2\nuse 'std/x' as m (servers = system.s, n = if input.n > 1 then join(['a', 'b'], '') else "
      "w[0].ip)\n");
}

TEST(Format, SyntaxErrorsLeaveTheTextAlone) {
  Diagnostics diagnostics;
  SourceFile source(1, "bad.radl", "system a (cpu.count >=\n)\n");
  auto result = formatter::format(source, diagnostics);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::Invalid);
  EXPECT_TRUE(diagnostics.has_errors());
}

TEST(Format, InputsThatAreFilledInLater) {
  expect("system a (cpu.count>=@input.CPUs@ and memory.size >= @input.Memory@)\ndeploy a @input.Nodes@",
         "system a (cpu.count >= @input.CPUs@ and memory.size >= @input.Memory@)\ndeploy a @input.Nodes@\n");
  expect("network a (outports='@input.Ports@' and x = @input.y z@) # @input.c@\n",
         "network a (outports = '@input.Ports@' and x = @input.y z@)  # @input.c@\n");
  // Glued to a word the value goes on with that word: no blank may come between.
  expect("deploy a 1@input.Nodes@", "deploy a 1@input.Nodes@\n");
}

TEST(Format, AnEmptyTextStaysEmpty) {
  expect("", "");
  expect(" \n\n", "");
}

// Without its leading marks the text is mostly NUL, and is not read as text any more.
TEST(Format, BytesThatAreNotTextAreRefused) {
  Diagnostics diagnostics;
  const SourceFile source(1, "a.radl", std::string("\r\r\r\r\r\xEF\xBB\xBF\r\r\0\r", 12));
  EXPECT_EQ(formatter::format(source, diagnostics).status().code(), Code::Invalid);
}

// Whether a block takes one line is decided twice, for the blank lines around it and for itself.
TEST(Format, ALineAsWideAsMayBeStaysOne) {
  for (int width = 90; width <= 110; ++width) {
    std::string text =
        "network n (a = '" + std::string(static_cast<size_t>(width - 34), 'x') + "' and c = ['abc'])\n";
    ASSERT_EQ(text.size(), static_cast<size_t>(width) + 1);
    text += "deploy node 1\n";
    Diagnostics diagnostics;
    auto once = formatter::format(SourceFile(1, "a.radl", text), diagnostics);
    ASSERT_TRUE(once.ok()) << width << ": " << once.status().message();
    EXPECT_EQ(*once == text, width <= 100) << *once;
  }
}

}  // namespace
}  // namespace radl
