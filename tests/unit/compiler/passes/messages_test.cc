// Every message of the compiler has a case: a golden, or one of tests/lang/messages (language_cases.h).
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/files.h"
#include "tests/support/language_cases.h"
#include "tests/support/source_texts.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

const std::vector<test::Case>& message_cases() {
  static const std::vector<test::Case> all = test::read_cases("messages");
  return all;
}

// The message that the case expects; "" if no finding has it. `all`: what was found.
std::string message_of(const test::Case& one, std::string* all = nullptr) {
  test::Outcome outcome;
  test::compile_files(one.before, outcome);
  if (all != nullptr) *all = outcome.text();
  for (const Diagnostic& found : outcome.diagnostics.all())
    if (test::matches(one.help, found.message)) return found.message;
  return "";
}

class Message : public testing::TestWithParam<test::Case> {};

TEST_P(Message, IsReported) {
  std::string all;
  EXPECT_NE(message_of(GetParam(), &all), "") << "nobody reports this\n" << all;
}

INSTANTIATE_TEST_SUITE_P(Lang, Message, testing::ValuesIn(message_cases()), test::case_name);

// Functions of the compiler that take a message.
constexpr const char* kTakers[] = {"error",        "fail",   "fault",  "fixed",        "limit", "miss",
                                   "not_vendored", "report", "syntax", "unknown_name", "wrong", "wrong_name"};

std::set<std::string> messages_in(const std::string& code) {
  std::set<std::string> found;
  for (const std::string taker : kTakers) {
    for (size_t at = code.find(taker + "("); at != code.npos; at = code.find(taker + "(", at + 1)) {
      if (at > 0 && (std::isalnum(static_cast<unsigned char>(code[at - 1])) || code[at - 1] == '_')) continue;
      for (const std::string& argument : test::arguments_at(code, at + taker.size()))
        for (const std::string& literal : test::literals_in(argument + ";", 0))
          found.insert(test::longest_piece(literal));
    }
  }
  return found;
}

// Messages that no short program gets, each with what tests it or keeps it.
const std::set<std::string> kElsewhere = {
#include "tests/unit/compiler/passes/messages_elsewhere.inc"
};

TEST(EveryMessage, IsFoundWhereAFunctionTakesIt) {
  const std::string code =
      "f() { error(DiagCode::X, at, n > 1 ? fmt::format(\"no '{}' here\", ')') : \"no \" \"place\");\n"
      "  d.wrong(key, \"too \" + word + \" for this\"); terror(\"not this\"); }";
  EXPECT_EQ(messages_in(code), (std::set<std::string>{"' here", "no place", "too ", " for this"}));
}

TEST(EveryMessage, HasACase) {
  std::string reported;
  for (const auto& entry : fs::recursive_directory_iterator(test::kLanguageTests))
    if (entry.path().extension() == ".exp") reported += *read_file(entry.path().string());
  for (const test::Case& one : message_cases()) reported += message_of(one) + "\n";
  for (const test::Case& one : test::read_cases("advice")) reported += one.help + "\n";
  std::string missing;
  std::set<std::string> excused = kElsewhere;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_dir() + "/compiler")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".cc" || path.find("/ir/") != path.npos) continue;
    for (const std::string& piece : messages_in(*read_file(path))) {
      if (piece.size() < 8 || piece.find(' ') == piece.npos || reported.find(piece) != reported.npos)
        continue;
      if (excused.erase(piece) == 0 && !kElsewhere.contains(piece))
        missing += entry.path().filename().string() + ": " + piece + "\n";
    }
  }
  EXPECT_EQ(missing, "") << "tests/lang/messages has no case";
  EXPECT_EQ(excused, std::set<std::string>()) << "have a case, or are no messages any more";
}

}  // namespace
}  // namespace radl
