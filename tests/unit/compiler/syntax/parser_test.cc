// What the parser promises beyond the golden files: one message a mistake, whole trees, and bounded cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "compiler/check/check.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"

namespace radl {
namespace {

struct Parsed {
  SourceMap sources;
  Diagnostics diagnostics;
  std::unique_ptr<ast::Tree> tree;

  explicit Parsed(std::string text, DialectChoice dialect = DialectChoice::Auto) {
    tree = parse(sources.add("case.radl", std::move(text)), diagnostics, {dialect});
    diagnostics.sort();
  }
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : diagnostics.all())
      if (d.severity == Severity::Error)
        out.push_back(std::string(code_info(d.code).id) + ":" +
                      std::to_string(sources.position(d.span).line));
    return out;
  }
};

using Errors = std::vector<std::string>;

TEST(Recovery, ThreeMistakesGiveThreeMessages) {
  Parsed p(
      "system a (\n  cpu.count >= and\n  memory.size = 1G\n  price = 1\n)\n"
      "network b ( outbound = \"yes\" )\nsystem c ( cpu.count = 2 )\ndeploy c 1\n");
  EXPECT_EQ(p.errors(), (Errors{"E0101:2", "E0106:4", "E0108:6"})) << render_text(p.diagnostics, p.sources);
  EXPECT_EQ(p.tree->blocks.size(), 4u);
}

TEST(Recovery, AMissingParenthesisSwallowsNothing) {
  Parsed p(
      "system a (\n  cpu.count = 2 and\n\nnetwork b ()\nconfigure c (\n@begin\n- x\n@end\nsystem d "
      "()\ndeploy d 1\n");
  EXPECT_EQ(p.errors(), (Errors{"E0102:1", "E0102:5"}));
  ASSERT_EQ(p.tree->blocks.size(), 5u);
  EXPECT_EQ(p.tree->blocks[3]->name.text, "d");
}

TEST(Recovery, AMissingQuoteIsFoundWhereItIs) {
  Parsed p("system a (\n  x = 'one and\n  y = 'two' and\n  z = 'three'\n)\nsystem b ( q = 'four' )\n");
  EXPECT_EQ(p.errors(), (Errors{"E0122:2"})) << render_text(p.diagnostics, p.sources);
  ASSERT_EQ(p.tree->blocks.size(), 2u);
  EXPECT_EQ(ast::as<ast::FeatureBlock>(p.tree->blocks[1])->body.items.size(), 1u);
}

TEST(Recovery, GoesOnInsideContextualizeAndGroups) {
  Parsed p(
      "system a ( disk.0.applications contains (name 'x') and cpu.count = 1 )\n"
      "contextualize (\n  system a configure\n  system a configure b step one\n  system a configure "
      "b\n)\nsystem c 5\ndeploy a 1\n");
  EXPECT_EQ(p.errors(), (Errors{"E0101:1", "E0101:4", "E0101:4", "E0101:7"}))
      << render_text(p.diagnostics, p.sources);
}

TEST(Recovery, StopsAfterTwentyErrors) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "system 5\n";
  EXPECT_EQ(Parsed(text).errors().size(), Diagnostics::kMaxSyntaxErrorsPerFile);
}

TEST(Bounds, NestingIsRefusedNotSuffered) {
  std::string deep = "system a ( ";
  for (int i = 0; i < 100000; ++i) deep += "x contains ( ";
  EXPECT_EQ(Parsed(deep).errors(), (Errors{"E0003:1"}));
  std::string lists = "radl 2\nsystem a ( x = " + std::string(100000, '[') + " )\n";
  EXPECT_FALSE(Parsed(lists).errors().empty());
  std::string minus = "radl 2\nsystem a ( x = " + std::string(100000, '-') + "1 )\n";
  EXPECT_EQ(Parsed(minus).errors().front(), "E0003:2");
}

TEST(Bounds, EscapedQuotesWithoutEndAreLinear) {
  std::string text = "system a ( x = ";
  for (int i = 0; i < 300000; ++i) text += "\\'";
  Parsed p(text);  // quadratic scanning would take minutes
  EXPECT_TRUE(p.diagnostics.has_errors());
}

TEST(Tree, KeepsSpansAndComments) {
  std::string text = "# first\nsystem a ( # why\n  cpu.count >= 2 GB ) # last\n";
  Parsed p(text);
  ASSERT_EQ(p.tree->trivia.size(), 3u);
  EXPECT_EQ(p.sources.text(p.tree->trivia[1].span), "# why");
  auto* block = ast::as<ast::FeatureBlock>(p.tree->blocks[0]);
  ASSERT_NE(block, nullptr);
  const ast::Feature* feature = block->body.items[0];
  EXPECT_EQ(p.sources.text(feature->span), "cpu.count >= 2 GB");
  auto* number = ast::as<ast::Number>(feature->value);
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(number->unit.text, "GB");
  EXPECT_FALSE(number->is_float);
}

TEST(Tree, RecipesAreKeptByteForByte) {
  Parsed p("configure c (@begin\n---\n  'it' # stays \"as\" it @end is\n@end)\n");
  auto* configure = ast::as<ast::Configure>(p.tree->blocks[0]);
  ASSERT_NE(configure, nullptr);
  EXPECT_EQ(configure->recipe->text, "\n---\n  'it' # stays \"as\" it @end is\n");
}

TEST(Tree, ReadsWindowsLineEnds) {
  Parsed p("\xEF\xBB\xBFsystem a (\r\n x = 1\r\n)\r\nconfigure c (@begin\r\na\r\n@end)\r\n");
  EXPECT_TRUE(p.errors().empty());
  EXPECT_EQ(p.diagnostics.warnings(), 0u);
  EXPECT_EQ(ast::as<ast::Configure>(p.tree->blocks[1])->recipe->text, "\na\n");
}

TEST(Radl2, ExpressionsBindAsDocumented) {
  SourceMap sources;
  Diagnostics diagnostics;
  auto parsed = parse_expression(sources.add("e", "1 + 2 * -x[0].ip >= 3 and not a or if b then 1 else 2"),
                                 diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, sources);
  auto* either = ast::as<ast::Binary>(parsed.value);
  ASSERT_NE(either, nullptr);
  EXPECT_EQ(either->op, ast::BinaryOp::Or);
  EXPECT_EQ(ast::as<ast::Binary>(either->left)->op, ast::BinaryOp::And);
  EXPECT_EQ(either->right->kind, ast::Kind::If);
}

// In the first column, what is repeated says where an `each` belongs.
TEST(Radl2, AnEachInTheFirstColumnRepeatsFeaturesOrBlocks) {
  Parsed features(
      "radl 2\nsystem a (\neach i, d in input.disks (\n'disk.${i}.size' = d\n)\ncpu.count = 1\n)\n");
  EXPECT_TRUE(features.errors().empty()) << render_text(features.diagnostics, features.sources);
  Parsed blocks("radl 2\nsystem a (\n  cpu.count = 1\neach i in [1] (\n  system b ()\n)\n");
  EXPECT_EQ(blocks.errors(), (Errors{"E0102:2"}));
}

// The `)` that closes nothing is left out; what follows keeps its own value and place.
TEST(Radl2, ACloudOrZoneIsAWordOrAString) {
  const std::string head = "radl 2\nsystem a ( cpu.count >= 1 )\n";
  for (const char* fine : {"ec2", "'ec2'", "'${input.cloud}'", "none", "\"${x[0]}\"", "ec2 when = yes"})
    EXPECT_EQ(Parsed(head + "deploy a 1 " + fine + "\n").errors(), Errors()) << fine;
  for (const char* wrong : {"input.cloud", "x[0]", "x[0].y", "lookup(m, 'a', none)"})
    EXPECT_EQ(Parsed(head + "deploy a 1 " + wrong + "\n").errors(), (Errors{"E0433:3"})) << wrong;
  for (const char* name : {"cloud", "availability_zone"}) {
    const std::string begin = "radl 2\nsystem a ( " + std::string(name) + " = ";
    for (const char* fine : {"eu-west-1a", "'a'", "none", "'${input.zone}, b'", "7"})
      EXPECT_EQ(Parsed(begin + fine + " )\n").errors(), Errors()) << fine;
    for (const char* wrong : {"input.zone", "a == b", "not a", "if a then 'b' else none", "(x)[0]"})
      EXPECT_EQ(Parsed(begin + wrong + " )\n").errors(), (Errors{"E0433:2"})) << wrong;
  }
}

TEST(Radl2, ANumberOrStringAfterAnExtraParenthesisIsRead) {
  Parsed p("radl 2\nlet a = )5\nlet b = ) 'x'\n");
  EXPECT_EQ(p.errors(), (Errors{"E0103:2", "E0103:3"}));
  ASSERT_EQ(p.tree->blocks.size(), 3u);
  auto* number = ast::as<ast::Number>(ast::as<ast::Let>(p.tree->blocks[1])->value);
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(number->integer, 5);
  auto* text = ast::as<ast::String>(ast::as<ast::Let>(p.tree->blocks[2])->value);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->text, "x");
}

TEST(Radl2, TextsHoldExpressionsAndTheirTexts) {
  Parsed p("radl 2\noutput o ( value = 'a $${x} ${join(', ', w[*].ip)} \\' z' )\n");
  EXPECT_TRUE(p.errors().empty()) << render_text(p.diagnostics, p.sources);
  auto* text = ast::as<ast::String>(ast::as<ast::FeatureBlock>(p.tree->blocks[1])->body.items[0]->value);
  ASSERT_NE(text, nullptr);
  ASSERT_EQ(text->parts.size(), 3u);
  EXPECT_EQ(text->parts[0].text, "a ${x} ");
  EXPECT_EQ(text->parts[1].value->kind, ast::Kind::Call);
  EXPECT_EQ(text->parts[2].text, " ' z");
}

TEST(Radl2, ItsWordsAreOrdinaryInRadl1) {
  Parsed p(
      "system input ( output = 1 and use = 'x' and if = 2 and note = 'a ${b}' )\ndeploy input 1 after\n");
  EXPECT_TRUE(p.errors().empty()) << render_text(p.diagnostics, p.sources);
}

TEST(Radl2, WordsOfBlocksAreReservedWhereABlockMayBegin) {
  // Behind a value a block begins; where a value or a name must stand, none can.
  Parsed p(
      "radl 2\nlet description = 'x'\nlet both = description + 'y' network input ()\n"
      "system deploy ( output = description ) deploy deploy 1 system other ()\n");
  EXPECT_TRUE(p.errors().empty()) << render_text(p.diagnostics, p.sources);
  ASSERT_EQ(p.tree->blocks.size(), 7u);
  EXPECT_EQ(p.tree->blocks[3]->kind, ast::Kind::Network);
  EXPECT_EQ(p.tree->blocks[4]->name.text, "deploy");
  EXPECT_EQ(p.tree->blocks[5]->kind, ast::Kind::Deploy);
  EXPECT_FALSE(ast::as<ast::Deploy>(p.tree->blocks[5])->cloud);
  EXPECT_EQ(p.tree->blocks[6]->kind, ast::Kind::System);
}

TEST(Radl2, AndIsOnlyTheOperator) {
  Parsed condition("radl 2\nsystem s ( spot = big and memory.size >= 64G )\n");
  EXPECT_TRUE(condition.errors().empty()) << render_text(condition.diagnostics, condition.sources);
  const auto& features = ast::as<ast::FeatureBlock>(condition.tree->blocks[1])->body.items;
  ASSERT_EQ(features.size(), 1u);
  EXPECT_EQ(ast::as<ast::Binary>(features[0]->value)->op, ast::BinaryOp::And);
  // Between two features it is a mistake, and both are read.
  for (const char* text : {"cpu.count >= 2 and memory.size >= 4G", "a = 'x' and b = 1", "a = c and b = 1"}) {
    Parsed p("radl 2\nsystem s ( " + std::string(text) + " )\n");
    EXPECT_EQ(p.errors(), std::vector<std::string>{"E0101:2"}) << text;
    EXPECT_EQ(ast::as<ast::FeatureBlock>(p.tree->blocks[1])->body.items.size(), 2u) << text;
  }
}

// ---- EC3
// ------------------------------------------------------------------------------------------------------

TEST(Ec3, IsRecognisedByItsMarks) {
  for (const char* text :
       {"network public (outports contains '8800/tcp')\n",
        "system wn (ec3_max_instances = 5)\nnetwork n ()\ndescription late (name = 'x')\n",
        "system a (ec3_inherit_from = system wn)\n",
        "description network (kind = 'component' and short = 'NFS')\n",
        "include other (template = 'nfs')\nsystem front ()\n",
        "configure front (\n@begin\n- vars:\n    X:\n      ec3_xpath: /system/front/cpu.count\n@end\n)\n"
        "infrastructure x (a = 1)\n"}) {
    Parsed p(text);
    EXPECT_EQ(p.tree->dialect, ast::Dialect::Ec3) << text;
    EXPECT_TRUE(p.errors().empty()) << text << render_text(p.diagnostics, p.sources);
  }
}

TEST(Ec3, PlainFilesAreHeldToTheReference) {
  EXPECT_EQ(Parsed("network n ()\ndescription d (name = 'x')\n").errors(), (Errors{"E0112:2"}));
  EXPECT_EQ(Parsed("infrastructure x (a = 1)\n").errors(), (Errors{"E0116:1"}));
  EXPECT_EQ(Parsed("description network (name = 'x')\nnetwork n\n").errors(), (Errors{"E0115:1"}));
  EXPECT_EQ(Parsed("network n (outports contains '22')\n", DialectChoice::Radl1).errors(),
            (Errors{"E0119:1"}));
  EXPECT_TRUE(Parsed("infrastructure x (a = 1)\n", DialectChoice::Ec3).errors().empty());
}

TEST(Ec3, ACloudBeforeASentenceIsTold) {
  Parsed plain("deploy a 1\nec2\nnetwork n ()\n");
  EXPECT_TRUE(plain.errors().empty());
  EXPECT_EQ(ast::as<ast::String>(ast::as<ast::Deploy>(plain.tree->blocks[0])->cloud)->text, "ec2");
  Parsed ec3("deploy a 1\ninclude x (template = 'y')\n");
  EXPECT_TRUE(ec3.errors().empty());
  EXPECT_EQ(ast::as<ast::Deploy>(ec3.tree->blocks[0])->cloud, nullptr);
}

TEST(Ec3, FilesAreUnited) {
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& main =
      sources.add("main.radl",
                  "description m (kind = 'main')\nnetwork public (outports contains '22')\n"
                  "system front (cpu.count >= 1 and memory.size >= 1G and disk.0.os.name = 'linux' and\n"
                  "  disk.0.applications contains (name = 'a'))\ndeploy front 1\n");
  const SourceFile& component =
      sources.add("nfs.radl",
                  "description n (kind = 'component')\nnetwork public (outports contains '2049')\n"
                  "system front (cpu.count >= 4 and memory.size <= 512M and disk.0.os.name = 'windows' and\n"
                  "  disk.0.applications contains (name = 'b'))\nconfigure front ()\n");
  auto trees = parse_all({&main, &component}, diagnostics);
  sema::Document document = sema::build_document({trees[0].get(), trees[1].get()}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, sources);
  const sema::Definition* front = document.systems.find("front");
  ASSERT_NE(front, nullptr);
  EXPECT_EQ(front->features.find("cpu.count")->lower.number()->integer, 4);
  EXPECT_EQ(front->features.find("memory.size")->lower.number(),
            nullptr);  // ranges apart: the later file wins
  EXPECT_EQ(front->features.text("disk.0.os.name"), "windows");
  EXPECT_EQ(front->features.find("disk.0.applications")->groups.size(), 2u);
  EXPECT_EQ(document.networks.find("public")->features.find("outports")->set.size(), 2u);
}

// ---- large files
// -----------------------------------------------------------------------------------------------

// Some megabytes: parts of it are read side by side.
std::string large(const std::string& middle, const std::string& head = "") {
  std::string out = head;
  for (int i = 0; i < 60'000; ++i) {
    if (i == 30'000) out += middle;
    out += "system s" + std::to_string(i) + " ( cpu.count >= 1 and disk.0.os.name = 'linux' )  # one\n";
  }
  return out + "deploy s7 1\n";
}

std::vector<std::string> findings(const Parsed& p) {
  std::vector<std::string> out;
  for (const Diagnostic& d : p.diagnostics.all())
    out.push_back(std::to_string(p.sources.position(d.span).line) + " " + d.message);
  return out;
}

TEST(LargeFiles, AreOneTreeWithPlacesInTheFile) {
  Parsed p(large(""));
  EXPECT_EQ(findings(p), std::vector<std::string>{});
  ASSERT_EQ(p.tree->blocks.size(), 60'001u);
  EXPECT_EQ(p.tree->trivia.size(), 60'000u);
  for (uint32_t i : {0u, 29'999u, 30'000u, 30'001u, 59'999u}) {
    EXPECT_EQ(p.tree->blocks[i]->name.text, "s" + std::to_string(i));
    EXPECT_EQ(p.sources.position(p.tree->blocks[i]->span).line, static_cast<int>(i) + 1);
    EXPECT_EQ(p.sources.text(p.tree->blocks[i]->name.span), "s" + std::to_string(i));
  }
}

// Where a part would have to be cut inside of something, the whole is read as one.
TEST(LargeFiles, WhatLooksLikeTheBeginOfABlockIsNone) {
  std::string lines;
  for (int i = 0; i < 40'000; ++i) lines += "system s" + std::to_string(i) + " configure c step 1\n";
  Parsed items(large("configure c ()\ncontextualize (\n" + lines + ")\n"));
  EXPECT_EQ(findings(items), std::vector<std::string>{});
  EXPECT_EQ(items.tree->blocks.size(), 60'003u);
  Parsed recipe(large("configure c (\n@begin\n" + lines + "@end\n)\n"));
  EXPECT_EQ(findings(recipe), std::vector<std::string>{});
  EXPECT_EQ(recipe.tree->blocks.size(), 60'002u);
  Parsed text(large("system t ( x = 'a\n" + lines + "' )\n"));
  EXPECT_EQ(findings(text), std::vector<std::string>{});
  EXPECT_EQ(text.tree->blocks.size(), 60'002u);
}

TEST(LargeFiles, MistakesAreReportedOnceAndInOrder) {
  Parsed p(large("system broken ( cpu.count >= )\n", "system first ( x = )\n"));
  std::vector<std::string> found = p.errors();
  EXPECT_EQ(found, (std::vector<std::string>{"E0101:1", "E0101:30002"}));
  Parsed late(large("description d ( name = 'x' )\n"));
  EXPECT_EQ(late.errors(), std::vector<std::string>{"E0112:30001"});
}

// Merged and checked side by side: as many findings, in the order of the file.
TEST(LargeFiles, AreCheckedAsOne) {
  std::string wrong = "system w ( cpu.count >= 4 and cpu.count <= 2 )\nsystem v ( colour = 'red' )\n";
  Parsed p(large(wrong) + "system s9 ()\nsystem u ( cpu.count = 'many' )\nnetwork n ()\n");
  sema::Document document = sema::build_document({p.tree.get()}, p.diagnostics);
  sema::check_document(document, p.diagnostics);
  p.diagnostics.sort();
  std::vector<int> lines;
  for (const Diagnostic& d : p.diagnostics.all()) lines.push_back(p.sources.position(d.span).line);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  EXPECT_EQ(p.errors(), (std::vector<std::string>{"E0202:30001", "E0201:60004", "E0305:60005"}));
  EXPECT_EQ(document.systems.find("s59999")->features.text("disk.0.os.name"), "linux");
  EXPECT_NE(document.systems.find("v"), nullptr);
}

// ---- RADL-JSON
// ------------------------------------------------------------------------------------------------

std::string json_of(std::string text) {
  Parsed p(std::move(text));
  return sema::to_radl_json(sema::build_document({p.tree.get()}, p.diagnostics));
}

// A file that is not text has one error, whatever its bytes look like.
TEST(Parser, FilesThatAreNoTextGiveOneFinding) {
  std::string utf16 = "\xFF\xFE",
              elf("\x7F"
                  "ELF\2\1\1",
                  7),
              random;
  for (char c : std::string("network public ( outbound = 'yes' )\n")) utf16 += std::string(1, c) + '\0';
  elf += std::string(9, '\0') + "\3\0>\0\1" + std::string(200, '\0') + "system ( ((";
  uint32_t state = 7;
  for (int i = 0; i < 4000; ++i) random += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const std::string& bytes : {utf16, utf16.substr(2), elf, random}) {
    Parsed p(bytes);
    ASSERT_EQ(p.diagnostics.all().size(), 1u) << render_text(p.diagnostics, p.sources).substr(0, 2000);
    EXPECT_EQ(p.diagnostics.all()[0].message, "this is not a text file");
  }
}

TEST(Parser, ANulByteIsInNoTextOfRadl2) {
  const std::string kNul(1, '\0');
  for (const std::string& text :
       {"radl 2\n" + kNul + "\nsystem a\n", "radl 2\n# " + kNul + "\nlet a = 'b'\n"}) {
    Parsed p(text);
    ASSERT_EQ(p.diagnostics.all().size(), 1u) << render_text(p.diagnostics, p.sources);
    EXPECT_EQ(p.diagnostics.all()[0].message, "this is not a text file: a NUL byte");
    EXPECT_EQ(p.sources.position(p.diagnostics.all()[0].span).line, 2);
  }
}

// Latin-1, and a stray control character, are text with a mistake.
TEST(Parser, TextInAnOlderEncodingIsStillRead) {
  Parsed p("# caf\xE9 \xE0 la cr\xE8me\nsystem s ( x = \x01 1 )\ndeploy t 1\n");
  EXPECT_TRUE(p.diagnostics.has(DiagCode::NotUtf8));
  EXPECT_EQ(p.tree->blocks.size(), 2u);
}

TEST(Parser, ProseCostsLinearTime) {
  std::string line = "this is a line of prose -- that someone wrote\n", text;
  for (int i = 0; i < 100'000; ++i) text += line;
  Parsed p(text);
  EXPECT_TRUE(p.diagnostics.has_errors());
}

// Nothing but parentheses: reading ends early, and keeps none of them.
TEST(Parser, MillionsOfParenthesesAreGivenUpEarly) {
  Parsed p(std::string(20'000'000, '('));
  EXPECT_EQ(p.diagnostics.errors(), 1u) << render_text(p.diagnostics, p.sources).substr(0, 2000);
  Parsed inside("system s ( x = " + std::string(20'000'000, '('));
  EXPECT_TRUE(inside.diagnostics.has_errors());
}

TEST(Parser, ATextWhereNoneBelongsIsClosedAllTheSame) {
  Parsed p("radl 2\ninput n ()\nsystem node ()\nuse 'a' '${input.n}'\nsystem b ()\n");
  EXPECT_EQ(p.errors(), std::vector<std::string>{"E0101:4"}) << render_text(p.diagnostics, p.sources);
}

TEST(Messages, DoNotHoldWholeTexts) {
  Diagnostics diagnostics;
  diagnostics.report(DiagCode::InputValue, {}, "'" + std::string(5'000'000, 'x') + "' is no number");
  EXPECT_LT(diagnostics.all()[0].message.size(), 1100u);
  EXPECT_TRUE(diagnostics.all()[0].message.ends_with("' is no number"));
}

TEST(RadlJson, WritesNumbersAsPythonDoes) {
  std::string json = json_of(
      "system s (a = 1.5G and b = 3. and c = 0.00001 and d = 1234567890123456789.0 and e = "
      "99999999999999999999K and\n"
      "  f = 0.1K and g <= 4 and h >= 2 and h <= 2.0 and i >= 1K and i <= 1000)\n");
  for (const char* line :
       {"\"a\": 1500000000.0", "\"b\": 3.0", "\"c\": 1e-05", "\"d\": 1.2345678901234568e+18",
        "\"e\": 99999999999999999999000", "\"f\": 100.0", "\"g_max\": 4", "\"h\": 2,", "\"i_min\": 1000"})
    EXPECT_NE(json.find(line), std::string::npos) << line << "\n" << json;
}

TEST(RadlJson, EscapesToAscii) {
  std::string json = json_of("system s (a = '\xC3\xA9\xF0\x9F\x98\x80\"\\n\t')\n");
  EXPECT_NE(json.find("\"a\": \"\\u00e9\\ud83d\\ude00\\\"\\\\n\\t\""), std::string::npos) << json;
}

TEST(RadlJson, OfNothingIsAnEmptyList) { EXPECT_EQ(json_of(" \n\n"), "[]\n"); }

TEST(RadlJson, WhatRadlCannotWriteIsNamed) {
  SourceMap sources;
  Diagnostics diagnostics;
  auto text = sema::from_radl_json(
      sources.add("x.json", R"([{"class": "system", "id": "s", "path": "C:\\"}])"), diagnostics);
  EXPECT_FALSE(text);
  ASSERT_EQ(diagnostics.errors(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("field `path` of system 's'"), std::string::npos);
}

TEST(RadlJson, FindingsPointAtTheValue) {
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& file = sources.add("x.json", R"([
  {"class": "network", "id": "a", "tags": ["x", "y:{}"]},
  {"class": "system", "id": "s", "cpu.count": {"x": 1}, "name": "a\u0000b"},
  {"class": "systm", "id": "t"},
  {"class": "deploy", "system": "s"},
  {"class": "deploy", "system": "s 1\nsystem more", "vm_number": 1}
])");
  EXPECT_FALSE(sema::from_radl_json(file, diagnostics));
  std::vector<std::string> found;
  for (const Diagnostic& d : diagnostics.all())
    found.push_back(std::to_string(file.line_of(d.span.begin)) + " " + std::string(file.text(d.span)));
  EXPECT_EQ(found, (std::vector<std::string>{"3 {", R"(3 "a\u0000b")", R"(4 "systm")", "5 {",
                                             R"(6 "s 1\nsystem more")"}));
}

TEST(RadlJson, SetsOfEc3AreReadBack) {
  std::string json = json_of("system s ( x contains 'a' and x contains 5 )\n");
  SourceMap sources;
  Diagnostics diagnostics;
  auto text = sema::from_radl_json(sources.add("x.json", json), diagnostics);
  ASSERT_TRUE(text) << render_text(diagnostics, sources);
  EXPECT_EQ(json_of(*text), json) << *text;
}

TEST(Radl2, ValuesOfOneEachHaveDifferentNames) {
  Parsed p("radl 2\neach x in [1] (\n  let a = x\n  let b = x\n  let a = 2\n)\n");
  EXPECT_EQ(p.errors().size(), 1u) << render_text(p.diagnostics, p.sources);
  EXPECT_TRUE(p.diagnostics.has(DiagCode::NameClash));
}

// ---- the feature table
// ------------------------------------------------------------------------------------------

TEST(Features, AreFoundByIndexAndCorrected) {
  ASSERT_NE(sema::find_feature(sema::Scope::System, "disk.12.os.name"), nullptr);
  EXPECT_EQ(sema::find_feature(sema::Scope::System, "disk.12.os.name")->name, "disk.N.os.name");
  EXPECT_NE(sema::find_feature(sema::Scope::System, "net_interface.1.dns.0.tls.certificate"), nullptr);
  EXPECT_EQ(sema::find_feature(sema::Scope::Network, "cpu.count"), nullptr);
  EXPECT_EQ(sema::nearest_feature(sema::Scope::System, "disk.3.sise"), "disk.3.size");
  EXPECT_EQ(sema::nearest_feature(sema::Scope::System, "colour.of.the.box"), "");
}

TEST(Positions, CountCharactersAndUtf16Units) {
  SourceMap sources;
  const SourceFile& file = sources.add("p", "a\n\xC3\xA9\xF0\x9F\x98\x80x");
  uint32_t x = file.offset(Position{2, 3});
  EXPECT_EQ(file.text()[x], 'x');
  EXPECT_EQ(file.utf16_position(x).character, 3);
  EXPECT_EQ(file.offset(Utf16Position{1, 3}), x);
  EXPECT_EQ(file.position(x).column, 3);
}

// Line starts are computed only as far as needed.
TEST(Positions, HoldInWhateverOrderTheyAreAskedFor) {
  const std::string text = "a\nbc\n\nd\n";
  SourceMap sources;
  const SourceFile& forwards = sources.add("f", text);
  EXPECT_EQ(forwards.line_of(0), 1);
  EXPECT_EQ(forwards.line_of(3), 2);
  EXPECT_EQ(forwards.line_text(2), "bc");
  EXPECT_EQ(forwards.line_count(), 5) << "behind the last newline is an empty one";
  const SourceFile& backwards = sources.add("b", text);
  EXPECT_EQ(backwards.line_begin(9), text.size()) << "clamped to the last line";
  EXPECT_EQ(backwards.line_of(static_cast<uint32_t>(text.size())), 5);
  EXPECT_EQ(backwards.line_begin(4), 6u);
  EXPECT_EQ(backwards.line_of(1), 1) << "a newline is of the line that it ends";
  const SourceFile& empty = sources.add("e", "");
  EXPECT_EQ(empty.line_count(), 1);
  EXPECT_EQ(empty.line_of(0), 1);
}

}  // namespace
}  // namespace radl
