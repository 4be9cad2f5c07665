// What may be written at a position, judged from the text before it. `|` marks the cursor.
#include "tools/lsp/cursor.h"

#include <gtest/gtest.h>

#include "compiler/syntax/parser.h"

namespace radl::lsp {
namespace {

Cursor cursor_in(std::string text) {
  size_t mark = text.find('|');
  EXPECT_NE(mark, std::string::npos);
  text.erase(mark, 1);
  const Cursor whole = read_cursor(text, static_cast<uint32_t>(mark));
  // From the block at hand on, it is the same.
  const SourceFile source(1, "", text);
  Diagnostics ignored;
  const auto tree = parse(source, ignored);
  Cursor part = read_cursor(text, static_cast<uint32_t>(mark), tree.get());
  EXPECT_EQ(part.place, whole.place) << text;
  EXPECT_EQ(part.expected, whole.expected) << text;
  EXPECT_EQ(part.owner, whole.owner) << text;
  EXPECT_EQ(part.word_begin, whole.word_begin) << text;
  return part;
}

Place place_in(const std::string& text) { return cursor_in(text).place; }

TEST(Cursor, Sentences) {
  EXPECT_EQ(place_in("|"), Place::Block);
  EXPECT_EQ(place_in("sys|"), Place::Block);
  EXPECT_EQ(cursor_in("network a ()\nsys|").word, "sys");
  EXPECT_EQ(place_in("network a ()\n|\nsystem b ()"), Place::Block);
  EXPECT_EQ(place_in("system |"), Place::None) << "a new name";
  EXPECT_EQ(place_in("deploy |"), Place::DeploySystem);
  EXPECT_EQ(place_in("deploy a |"), Place::Expression);
  EXPECT_EQ(place_in("deploy a 1 |"), Place::DeployCloud);
}

TEST(Cursor, Features) {
  Cursor cursor = cursor_in("system a (cpu.count >= 1 and mem|");
  EXPECT_EQ(cursor.place, Place::FeatureName);
  EXPECT_EQ(cursor.owner, "system");
  EXPECT_EQ(cursor.name, "a");
  EXPECT_EQ(cursor.word, "mem");
  EXPECT_EQ(cursor.features, std::vector<std::string>{"cpu.count"});
  EXPECT_EQ(place_in("system a (|"), Place::FeatureName);
  EXPECT_EQ(place_in("system a (cpu.count |"), Place::Comparator);
  EXPECT_EQ(place_in("system a (cpu.count >= |"), Place::Value);
  EXPECT_EQ(place_in("system a (cpu.count >= 1 |"), Place::BehindValue);
  EXPECT_TRUE(cursor_in("system a (memory.size >= 1 |").behind_number);
  EXPECT_EQ(place_in("system a (cpu.count >= 1 and |"), Place::FeatureName);
  EXPECT_EQ(place_in("system a (cpu.count >= 1)|"), Place::Block);
}

TEST(Cursor, FeaturesOfRadl2EndWithTheirLineOrAComma) {
  EXPECT_EQ(place_in("radl 2\nsystem a (cpu.count >= 1, |"), Place::FeatureName);
  EXPECT_EQ(place_in("radl 2\nsystem a (\n  cpu.count >= 1\n  |"), Place::FeatureName);
  EXPECT_EQ(place_in("radl 2\nsystem a (\n  cpu.count >= 1\n  memory.size >= |"), Place::Value);
  EXPECT_EQ(cursor_in("radl 2\nsystem a (\n  cpu.count >= 1\n  mem|").features,
            std::vector<std::string>{"cpu.count"});
  EXPECT_EQ(place_in("system a (\n  cpu.count >= 1\n  |"), Place::BehindValue) << "RADL 1 wants an `and`";
}

TEST(Cursor, StringsOfRadl2) {
  EXPECT_EQ(place_in("radl 2\nsystem a (\n  x = \"it's (\"\n  |"), Place::FeatureName);
  EXPECT_TRUE(cursor_in("radl 2\nlet a = \"${inp|").in_interpolation);
  EXPECT_TRUE(cursor_in("radl 2\nlet a = '${f({ b = 1 }, |").in_interpolation);
  EXPECT_FALSE(cursor_in("radl 2\nlet a = '${f({ b = 1 })}|").in_interpolation);
  Cursor cursor = cursor_in("radl 2\ninput n (type = \"int|x\")");
  EXPECT_TRUE(cursor.in_text);
  EXPECT_EQ(cursor.word, "int");
  EXPECT_EQ(cursor.word_end - cursor.word_begin, 4u);
  const std::string block = "radl 2\nconfigure c (\n  file '/x' (\n    content = <<END\nit's # (\n";
  EXPECT_TRUE(cursor_in(block + "${self.|").in_interpolation);
  EXPECT_TRUE(cursor_in(block + "wo|").in_text);
  EXPECT_EQ(cursor_in(block + "some wo|").word, "wo");
  EXPECT_EQ(place_in(block + "  END\n    |"), Place::FeatureName);
  EXPECT_EQ(place_in(block + "  ENDE\n    |"), Place::Value) << "another word";
}

TEST(Cursor, LetAssertAndEach) {
  EXPECT_EQ(place_in("radl 2\nlet x = |"), Place::Expression) << "an expression";
  EXPECT_EQ(place_in("radl 2\nlet x = 1\n|"), Place::Block);
  EXPECT_EQ(place_in("radl 2\nlet x = [1]\nsys|"), Place::Block);
  EXPECT_EQ(place_in("radl 2\nassert (|"), Place::Value);
  EXPECT_EQ(place_in("radl 2\nmoved (|"), Place::Value);
  EXPECT_EQ(place_in("radl 2\neach x in |"), Place::Expression) << "an expression";
  EXPECT_EQ(place_in("radl 2\neach x in range(3) (\n  |"), Place::Block);
  EXPECT_EQ(place_in("radl 2\neach x in [1] (\n  system a (\n    |"), Place::FeatureName);
  EXPECT_EQ(place_in("radl 2\nconfigure c (\neach x in [1] (\n  |"), Place::RecipeBody);
  EXPECT_EQ(cursor_in("radl 2\nconfigure c (\neach x in [1] (\n  file x (|").owner, "resource file");
  EXPECT_EQ(place_in("radl 2\ncontextualize (\neach s in l (\n  system |"), Place::SystemName);
  EXPECT_EQ(place_in("radl 2\ncontextualize (\neach s in l (\n  let n = |"), Place::Expression);
  EXPECT_EQ(place_in("radl 2\nconfigure c (\neach x in [1] (\n  let n = |"), Place::Expression);
  EXPECT_EQ(place_in("radl 2\nconfigure c (\neach x in [1] (\n  let n = 1\n  |"), Place::RecipeBody);
}

TEST(Cursor, Texts) {
  Cursor cursor = cursor_in("system a (net_interface.0.connection = 'pu|b')");
  EXPECT_EQ(cursor.place, Place::Value);
  EXPECT_EQ(cursor.feature, "net_interface.0.connection");
  EXPECT_TRUE(cursor.in_text);
  EXPECT_EQ(cursor.word, "pu");
  EXPECT_EQ(cursor.word_end - cursor.word_begin, 3u) << "the whole text is replaced";
  EXPECT_EQ(cursor_in("system a (x = '|").word, "") << "an unclosed quote";
  EXPECT_FALSE(cursor_in("system a (x = 'a' |").in_text);
  EXPECT_EQ(cursor_in("system a (x = 'it\\'s|").word, "it\\'s");
}

TEST(Cursor, InnerGroups) {
  Cursor cursor = cursor_in("system a (disk.0.applications contains (name = 'x' and ver|");
  EXPECT_EQ(cursor.place, Place::FeatureName);
  EXPECT_EQ(cursor.owner, "disk.0.applications");
  EXPECT_EQ(cursor.features, std::vector<std::string>{"name"});
  EXPECT_EQ(cursor_in("system a (disk.0.applications contains (name = 'x') |").place, Place::BehindValue);
  EXPECT_EQ(cursor_in("system a (soft 10 (|").owner, "system");
  EXPECT_EQ(cursor_in("system a (soft 10 (cpu.count = 1) and |").place, Place::FeatureName);
}

TEST(Cursor, Contextualize) {
  EXPECT_EQ(place_in("contextualize (|"), Place::Words);
  EXPECT_EQ(place_in("contextualize 10 ( system |"), Place::SystemName);
  EXPECT_EQ(place_in("contextualize ( system a |"), Place::Words);
  EXPECT_EQ(place_in("contextualize ( system a configure |"), Place::ConfigureName);
  EXPECT_EQ(place_in("contextualize ( system a configure b |"), Place::Words);
  EXPECT_EQ(place_in("contextualize ( system a configure b step |"), Place::StepNumber);
  EXPECT_EQ(place_in("contextualize ( system a configure b with |"), Place::ToolName);
  EXPECT_EQ(place_in("contextualize (\nsystem a configure b step 1\nsystem |"), Place::SystemName);
  EXPECT_EQ(place_in("contextualize ( option |"), Place::OptionName);
}

// What may follow is what the grammar takes there, and no list of ours.
TEST(Cursor, TheGrammarSaysWhatMayFollow) {
  const auto takes = [](const std::string& text, std::initializer_list<const char*> words,
                        std::initializer_list<const char*> others) {
    const Cursor cursor = cursor_in(text);
    for (const char* word : words) EXPECT_TRUE(cursor.expects(word)) << text << " takes " << word;
    for (const char* word : others) EXPECT_FALSE(cursor.expects(word)) << text << " does not take " << word;
  };
  takes("contextualize ( system a |", {"configure"}, {"step", "system"});
  takes("contextualize ( system a configure b |", {"step", "with", "system"}, {"after", "configure"});
  takes("radl 2\ncontextualize (\n  system a configure b |", {"step", "with", "after", "when"},
        {"configure"});
  takes("radl 2\nuse 'a' |", {"as"}, {"(", "system"});
  takes("system a (cpu.count |", {"=", ">=", "contains"}, {"and", "string"});
  takes("system a (cpu.count >= 1 |", {"and", ")"}, {"or", "="});
  takes("radl 2\nlet x = if a |", {"then", "and", "or"}, {"else", "system"});
  takes("radl 2\nlet x = [y |", {"for", ",", "]"}, {"then", "step"});
  takes("radl 2\n|", {"let", "use", "each", "system"}, {"step", "then"});
  takes("|", {"system", "deploy"}, {"let", "use"});
  takes("system a (x = and)\nsystem b (cpu.count |", {"="}, {"string"});
}

TEST(Cursor, RecipesAndComments) {
  EXPECT_EQ(place_in("configure a (\n@begin\n- tasks: |\n@end\n)"), Place::Recipe);
  EXPECT_EQ(place_in("configure a (\n@begin\nx\n@end\n)\n|"), Place::Block);
  EXPECT_EQ(place_in("configure a (|"), Place::RecipeBody);
  EXPECT_EQ(place_in("system a ( # cpu|"), Place::None);
  EXPECT_EQ(place_in("# it's a comment\nsystem a (|"), Place::FeatureName);
}

TEST(Cursor, AFreshSentenceEndsAnUnfinishedOne) {
  EXPECT_EQ(cursor_in("system a (cpu.count >= 1 and\n\nsystem b (\n  memory.size >= 1g and |").name, "b");
  EXPECT_EQ(place_in("system a (cpu.count >= 1 and\n\nnetwork b (outbound = 'yes')\n|"), Place::Block);
}

TEST(Cursor, Radl2) {
  Cursor cursor = cursor_in("radl 2\nconfigure t (\n  file '/x' (content = 'a', mo|");
  EXPECT_EQ(cursor.owner, "resource file");
  EXPECT_EQ(cursor.place, Place::FeatureName);
  EXPECT_EQ(place_in("radl 2\nconfigure t (\n  fi|"), Place::RecipeBody);
  EXPECT_EQ(place_in("radl 2\nconfigure t (\n  file '/x' ()\n  |"), Place::RecipeBody);
  EXPECT_EQ(place_in("radl 2\nuse '|"), Place::ModulePath);
  EXPECT_EQ(place_in("radl 2\nuse 'a' |"), Place::Words);
  EXPECT_EQ(cursor_in("radl 2\nuse 'std/x' as m (|").owner, "use std/x");
  cursor = cursor_in("radl 2\noutput o (value = join(worker[*].ip, |");
  EXPECT_EQ(cursor.place, Place::Value);
  EXPECT_EQ(cursor.call, "join");
  EXPECT_EQ(cursor.argument, 1);
  EXPECT_EQ(place_in("radl 2\noutput o (value = if input.x > 1 then |"), Place::Value);
  EXPECT_EQ(place_in("radl 2\ndeploy a inp|"), Place::Expression);
}

TEST(Cursor, Interpolations) {
  Cursor cursor = cursor_in("radl 2\noutput o (value = 'x ${input.na|} y')");
  EXPECT_TRUE(cursor.in_interpolation);
  EXPECT_EQ(cursor.place, Place::Value);
  EXPECT_EQ(cursor.word, "input.na");
  EXPECT_TRUE(cursor_in("radl 2\noutput o (value = '${join(a, ',')} |'").in_text);
  EXPECT_TRUE(cursor_in("radl 2\noutput o (value = '${join(a, '|").in_text);
  EXPECT_TRUE(cursor_in("radl 2\noutput o (value = '$${not |").in_text);
  EXPECT_TRUE(cursor_in("output o (value = '${rad|").in_text) << "RADL 1 has no interpolation";
}

// The parser skips what follows a mistake; the end may be among it.
TEST(Cursor, TheEndIsFoundAfterMistakes) {
  for (const char* text :
       {"((((", "'((((", ")))) deploy 1 1 1", "contextualize ( system", "system a (soft", "\\r\\r",
        "\"radl 2\\noutput o (value = '${\"", "radl 2\noutput o (value = '${", "radl 2\nuse 'x' as y (",
        "radl 2\n)))) let = = 1 [ (", "radl 2\nsystem a (x = = (\n y\n) z ${", "system a (x = = (y) z w v"}) {
    const std::string_view whole = text;
    for (uint32_t at = 0; at <= whole.size(); ++at) EXPECT_LE(read_cursor(whole, at).word_begin, at) << whole;
  }
  EXPECT_EQ(place_in("radl 2\nsystem a (\n  x = = 1\n  y |"), Place::Comparator);
  EXPECT_EQ(place_in("system a (x = = 1 and y |"), Place::Comparator);
}

TEST(Cursor, AnyNumberOfParenthesesThatCloseNothingIsRead) {
  const std::string text = "radl 2\n" + std::string(100'000, ')');
  EXPECT_LE(read_cursor(text, static_cast<uint32_t>(text.size())).word_begin, text.size());
}

TEST(Cursor, AnyPrefixOfAnythingIsRead) {
  std::string text =
      "radl 2\n# c 'x\nsystem a (x = 'it\\'s ${f(1, 'y}')}' and soft 1 (b contains (c = [1, 'd']) and e))\n"
      "configure r (\n@begin\n'#(\n@end\n)\ncontextualize 5 (option o = 1 system a configure r step "
      "1)\ndeploy a 1 c";
  for (uint32_t at = 0; at <= text.size(); ++at) {
    Cursor cursor = read_cursor(text, at);
    EXPECT_LE(cursor.word_begin, at);
    EXPECT_GE(cursor.word_end, std::min<uint32_t>(at, cursor.place == Place::None ? 0 : at));
  }
}

}  // namespace
}  // namespace radl::lsp
