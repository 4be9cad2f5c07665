// The console's answers.
#include "tools/console/console.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

ConsoleScope scope() {
  ConsoleScope made;
  made.inputs = {{"workers", 3}, {"name", "farm"}, {"token", {{"$secret", "token"}}}};
  made.outputs = {{"url", "http://10.0.0.1"}, {"later", {{"$unknown", "wn[0].ip"}}}};
  made.systems["wn"].resize(2);
  made.systems["wn"][0].attributes = {{"ip", "10.0.0.1"}};
  made.systems["wn"][1].attributes = {{"ip", "10.0.0.2"}};
  return made;
}

std::string answer(const std::string& line) {
  ConsoleAnswer made = evaluate_line(line, scope());
  EXPECT_TRUE(made.ok) << line << ": " << made.text;
  return made.text;
}

TEST(Console, Values) {
  EXPECT_EQ(answer("1 + 2 * 3"), "7\n");
  EXPECT_EQ(answer("input.workers * 2"), "6\n");
  EXPECT_EQ(answer("'a ${input.name}'"), "'a farm'\n");
  EXPECT_EQ(answer("input.name == 'farm'"), "true\n");
  EXPECT_EQ(answer("join(wn[*].ip, ',')"), "'10.0.0.1,10.0.0.2'\n");
  EXPECT_EQ(answer("count(wn)"), "2\n");
  EXPECT_EQ(answer("output.url"), "'http://10.0.0.1'\n");
  EXPECT_EQ(answer("url"), "'http://10.0.0.1'\n");
  EXPECT_EQ(answer("['a', 2]"), "['a', 2]\n");
  EXPECT_EQ(answer("wn[1]"), "wn[1]\n");
}

TEST(Console, SecretsAndUnknownsAreSaidToBeSuch) {
  EXPECT_EQ(answer("input.token"), "(sensitive)\n");
  EXPECT_EQ(answer("'x${input.token}'"), "(sensitive)\n");
  EXPECT_EQ(answer("output.later"), "(known after apply: wn[0].ip)\n");
  EXPECT_NE(answer("wn[0].hostname").find("known after apply"), std::string::npos);
}

TEST(Console, MistakesShowTheirPlace) {
  for (const char* line : {"1 +", "input.wrokers", "nothing", "wn[7].ip", "1 / 0", "", "f(1)"}) {
    ConsoleAnswer made = evaluate_line(line, scope());
    EXPECT_FALSE(made.ok) << line;
    EXPECT_NE(made.text.find("error"), std::string::npos) << line << ": " << made.text;
  }
  EXPECT_NE(evaluate_line("input.wrokers", scope()).text.find("workers"), std::string::npos)
      << "did you mean";
}

TEST(Console, TypesAreNamed) {
  EXPECT_EQ(answer(":type 1 + 2"), "integer\n");
  EXPECT_EQ(answer(":type 2G"), "integer with a unit (G)\n");
  EXPECT_EQ(answer(":type 1.5"), "number\n");
  EXPECT_EQ(answer("  :type   'a ${input.name}'"), "string\n");
  EXPECT_EQ(answer(":type input.workers > 2"), "boolean\n");
  EXPECT_EQ(answer(":type ['a', 'b']"), "list of 2, each: string\n");
  EXPECT_EQ(answer(":type ['a', 2]"), "list of 2, of several kinds\n");
  EXPECT_EQ(answer(":type []"), "list of 0\n");
  EXPECT_EQ(answer(":type wn"), "system\n");
  EXPECT_EQ(answer(":type wn[1]"), "node of system wn\n");
  EXPECT_EQ(answer(":type output.later"), "known after apply\n");
  EXPECT_EQ(answer(":type input.token"), "string, sensitive\n");
  EXPECT_FALSE(evaluate_line(":type", scope()).ok);
  EXPECT_FALSE(evaluate_line(":type nothing", scope()).ok);
  EXPECT_FALSE(evaluate_line(":typewriter", scope()).ok);
}

TEST(Console, WordsAreCompleted) {
  auto offered = [](const std::string& line) { return console_completions(line, scope()); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(offered("input.w"), Names{"input.workers"});
  EXPECT_EQ(offered("1 + input.wo"), Names{"input.workers"});
  EXPECT_EQ(offered("joi"), Names{"join("});
  EXPECT_EQ(offered("join(wn[0].i"), (Names{"wn[0].id", "wn[0].ip"}));
  EXPECT_EQ(offered("'a ${input.na"), Names{"input.name"}) << "in a text";
  EXPECT_EQ(offered("[input.na"), Names{"input.name"}) << "in a list";
  EXPECT_EQ(offered(":ty"), Names{":type "});
  EXPECT_EQ(offered("1 :ty"), Names{}) << "commands begin a line";
  EXPECT_EQ(offered("zzz"), Names{});
  for (const std::string& name : offered("")) EXPECT_FALSE(name.empty());
}

TEST(Console, Commands) {
  EXPECT_NE(answer(":names").find("wn[1]\n"), std::string::npos);
  EXPECT_NE(answer(":functions").find("join("), std::string::npos);
  EXPECT_NE(answer(":help").find(":quit"), std::string::npos);
  EXPECT_FALSE(evaluate_line(":nothing", scope()).ok);
}

}  // namespace
}  // namespace radl
