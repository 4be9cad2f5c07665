// Findings: what is kept, what is silenced, and how they are shown.
#include "compiler/diag/diagnostic.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "compiler/diag/render.h"

namespace radl {
namespace {

constexpr DiagCode kError = DiagCode::UnexpectedToken, kWarning = DiagCode::JunkSkipped;

TEST(Codes, AreFoundByIdAndName) {
  const CodeInfo* info = find_code("e0101");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->code, kError);
  EXPECT_EQ(find_code("unexpectedtoken"), info);
  EXPECT_EQ(find_code("E01"), nullptr);
  EXPECT_EQ(find_code(""), nullptr);
}

TEST(Codes, HaveAnIdOfTheirOwnThatSaysHowSevereTheyAre) {
  std::set<std::string_view> ids;
  for (const CodeInfo& info : all_codes()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_EQ(info.id[0], info.severity == Severity::Error ? 'E' : 'W') << info.id;
    EXPECT_FALSE(info.explanation.empty()) << info.id;
    EXPECT_EQ(&code_info(info.code), &info);
  }
}

TEST(Diagnostics, CountErrorsAndWarnings) {
  Diagnostics found;
  found.report(kError, {1, 5, 6}, "second");
  found.report(kWarning, {1, 0, 1}, "first");
  EXPECT_EQ(found.errors(), 1u);
  EXPECT_EQ(found.warnings(), 1u);
  found.sort();
  EXPECT_EQ(found.all().front().message, "first");
  found.clear();
  EXPECT_FALSE(found.has_errors());
  EXPECT_TRUE(found.all().empty());
}

TEST(Diagnostics, AnAllowedPlaceSilencesWarningsOnly) {
  Diagnostics found;
  found.allow(kWarning, {1, 10, 20});
  found.allow(kError, {1, 10, 20});
  found.report(kWarning, {1, 15, 16}, "inside");
  found.report(kWarning, {1, 20, 21}, "after it");
  found.report(kWarning, {2, 15, 16}, "in another file");
  found.report(kError, {1, 15, 16}, "an error");
  EXPECT_EQ(found.warnings(), 2u);
  EXPECT_EQ(found.errors(), 1u);
}

TEST(Diagnostics, SeverityIsAnOption) {
  Diagnostics found;
  found.set_severity(kWarning, std::nullopt);
  found.report(kWarning, {1, 0, 1}, "off");
  EXPECT_TRUE(found.all().empty());
  found.set_severity(kError, std::nullopt);
  found.report(kError, {1, 0, 1}, "errors cannot be turned off");
  EXPECT_EQ(found.errors(), 1u);

  Diagnostics strict;
  strict.allow(kWarning, {1, 0, 1});
  strict.warnings_as_errors(true);
  strict.report(kWarning, {1, 0, 1}, "allowed");
  strict.report(kWarning, {1, 5, 6}, "an error now");
  EXPECT_EQ(strict.errors(), 1u);
  EXPECT_EQ(strict.warnings(), 0u);
}

TEST(Diagnostics, CountWhatTheyDoNotKeep) {
  Diagnostics found;
  for (size_t i = 0; i < Diagnostics::kMaxPerCode + 3; ++i) found.report(kWarning, {1, 0, 1}, "again");
  EXPECT_EQ(found.all().size(), Diagnostics::kMaxPerCode);
  EXPECT_EQ(found.dropped(), 3u);
  EXPECT_EQ(found.warnings(), Diagnostics::kMaxPerCode + 3);
}

TEST(Diagnostics, TheSameAtTheSamePlaceIsSaidOnce) {
  Diagnostics found;
  for (int i = 0; i < 3; ++i) found.report(kError, {1, 4, 5}, "same");
  found.report(kError, {1, 4, 5}, "same").with_help("with help");
  found.sort();
  EXPECT_EQ(found.errors(), 2u);
}

TEST(Diagnostics, OfALibraryStandAtTheUse) {
  Diagnostics found;
  const Span use{1, 10, 20}, inside{2, 3, 4};
  found.report(kError, inside, "in the library").labelled("here").fix("write x", inside, "x");
  found.report(kError, {3, 0, 1}, "in a file of the user");
  found.tell_at_uses({{2, use}});
  const Diagnostic& moved = found.all()[0];
  EXPECT_EQ(moved.span, use);
  ASSERT_EQ(moved.notes.size(), 1u);
  EXPECT_EQ(moved.notes[0].span, inside);
  EXPECT_EQ(moved.notes[0].message, "here");
  EXPECT_TRUE(moved.fixes.empty()) << "a library is not the user's to edit";
  EXPECT_EQ(found.all()[1].span.file, 3u);
}

TEST(Diagnostics, AUseHoldsForItsScope) {
  Diagnostics found;
  const Span use{1, 10, 20};
  {
    WithinUse within(found, {.file = 2, .use = use, .library = true});
    found.report(kError, {2, 0, 1}, "inside");
  }
  found.report(kError, {2, 0, 1}, "outside");
  EXPECT_EQ(found.all()[0].used_at, use);
  EXPECT_FALSE(found.all()[1].used_at.known());
}

class Rendering : public testing::Test {
 protected:
  Rendering() {
    found.report(kError, {file.id(), 4, 7}, "wrong")
        .labelled("this")
        .with_help("do that")
        .note({file.id(), 0, 3}, "because");
  }
  SourceMap sources;
  const SourceFile& file = sources.add("a.radl", "one\nñwo three\n");
  Diagnostics found;
};

TEST_F(Rendering, ShowsTheLineBelowItsPlace) {
  const std::string text = render_text(found, sources);
  EXPECT_NE(text.find("error[E0101]: wrong\n --> a.radl:2:1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2 | ñwo three\n  | ^^ this\n"), std::string::npos) << text;
  EXPECT_NE(text.find("note: because (a.radl:1:1)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("help: do that\n"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(found, sources, {.color = true}).find("\x1b[1;31m"), std::string::npos);
  EXPECT_EQ(render_text(found, sources, {.context = false}).find("three"), std::string::npos);
}

TEST_F(Rendering, JsonHasPlacesInCodePoints) {
  found.report(kWarning, {}, "without a place");
  const auto json = nlohmann::json::parse(render_json(found, sources));
  ASSERT_EQ(json["diagnostics"].size(), 2u);
  const auto& first = json["diagnostics"][0];
  EXPECT_EQ(first["code"], "E0101");
  EXPECT_EQ(first["phase"], "parse");
  EXPECT_EQ(first["line"], 2);
  EXPECT_EQ(first["column"], 1);
  EXPECT_EQ(first["end_column"], 3) << "three bytes are two characters";
  EXPECT_EQ(first["notes"][0]["line"], 1);
  EXPECT_FALSE(json["diagnostics"][1].contains("file"));
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["warnings"], 1);
}

TEST_F(Rendering, SumsUp) {
  EXPECT_EQ(summary(Diagnostics()), "");
  EXPECT_EQ(summary(found), "1 error");
  found.report(kWarning, {}, "a");
  found.report(kWarning, {}, "b");
  EXPECT_EQ(summary(found), "1 error and 2 warnings");
}

}  // namespace
}  // namespace radl
