// Expressions: every documented example holds, operators and units behave as docs/language/expressions.md
// says, mistakes have their codes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/diag/render.h"
#include "compiler/eval/evaluate.h"
#include "compiler/eval/secret_access.h"
#include "compiler/syntax/parser.h"

namespace radl::expr {
namespace {

class FixedNames final : public Namespace {
 public:
  std::optional<Value> member(std::string_view name, Span) const override {
    if (name == "secret") return Value::string("abc").mark_sensitive("input.secret");
    if (name == "later") return Value::unknown("worker[0].ip");
    if (name == "worker") return Value::system("worker");
    if (name == "settings") return Value::map({{"a", Value::integer(1)}});
    return std::nullopt;
  }
  std::vector<std::string> names() const override { return {"secret", "later", "worker", "settings"}; }
  std::string what() const override { return "name"; }
};

class ThreeMachines final : public Systems {
 public:
  std::optional<int64_t> count(const std::string&, Span) override { return 3; }
  std::optional<Value> attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                 Span) override {
    if (member == "ordinal") return Value::integer(ordinal);
    if (member == "ip") return Value::unknown(system + "[" + std::to_string(ordinal) + "].ip");
    return std::nullopt;
  }
};

class FixedWorld final : public World {
 public:
  std::optional<std::string> variable(const std::string& name) override {
    return name == "HOME" ? std::optional<std::string>("/home/ana") : std::nullopt;
  }
  Result<const ast::Expr*> text_template(const std::string&, Span) override {
    return not_found("no templates here");
  }
  Result<std::string> file(const std::string& path, Span) override {
    if (path == "motd") return std::string("hello\n");
    return not_found(path + " is not there");
  }
};

struct Evaluated {
  Value value;
  std::vector<DiagCode> codes;
  std::string said;
};

Evaluated run(const std::string& text, Budget budget = {}) {
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& file = sources.add("expression", text);
  ParsedExpression parsed = parse_expression(file, diagnostics);
  FixedNames names;
  ThreeMachines systems;
  FixedWorld world;
  Context context{&diagnostics, &names, &world, &systems, &budget};
  Evaluated result{evaluate(*parsed.value, context), {}, render_text(diagnostics, sources)};
  for (const Diagnostic& each : diagnostics.all()) result.codes.push_back(each.code);
  return result;
}

// The value as JSON text, secrets and unknowns by name.
std::string shown(const std::string& text) {
  Evaluated result = run(text);
  if (result.value.is_error()) return "error: " + result.said;
  return Emitter(nullptr, "here").emit(result.value).dump();
}

void expect_code(const std::string& text, DiagCode code) {
  Evaluated result = run(text);
  EXPECT_TRUE(result.value.is_error()) << text;
  ASSERT_EQ(result.codes.size(), 1u) << text << "\n" << result.said;
  EXPECT_EQ(result.codes[0], code) << text << "\n" << result.said;
}

TEST(Functions, EveryDocumentedExampleHolds) {
  size_t examples = 0;
  for (const FunctionInfo& function : functions()) {
    EXPECT_FALSE(function.doc.empty()) << function.name;
    size_t arrow = function.example.find(" -> ");
    if (arrow == std::string_view::npos) continue;
    examples++;
    EXPECT_EQ(shown(std::string(function.example.substr(0, arrow))),
              shown(std::string(function.example.substr(arrow + 4))))
        << function.name;
  }
  EXPECT_EQ(examples, functions().size() - 3);  // file(), template() and generated() have none
}

TEST(Operators, ArithmeticKeepsWholeNumbersWhole) {
  EXPECT_EQ(shown("1 + 2 * 3"), "7");
  EXPECT_EQ(shown("(1 + 2) * 3"), "9");
  EXPECT_EQ(shown("6 / 3"), "2");
  EXPECT_EQ(shown("7 / 2"), "3.5");
  EXPECT_EQ(shown("-1 % 4"), "3");
  EXPECT_EQ(shown("1 - -1"), "2");
  EXPECT_EQ(shown("9223372036854775807 - 1"), "9223372036854775806");
}

TEST(Operators, NothingWrapsAround) {
  expect_code("9223372036854775807 + 1", DiagCode::NumberRange);
  expect_code("9223372036854775807 * 2", DiagCode::NumberRange);
  expect_code("1 / 0", DiagCode::NumberRange);
  expect_code("1 % 0", DiagCode::NumberRange);
  expect_code("9000000T + 900000Ti", DiagCode::NumberRange);
  expect_code("bytes(99000000T)", DiagCode::FunctionFailed);
}

TEST(Operators, UnitsMeetWithinTheirKind) {
  EXPECT_EQ(shown("1G + 500M == 1500M"), "true");
  EXPECT_EQ(shown("1Gi > 1G"), "true");
  EXPECT_EQ(shown("2 * 4G == 8G"), "true");
  EXPECT_EQ(shown("8G / 2G"), "4");
  EXPECT_EQ(shown("90s < 2min"), "true");
  EXPECT_EQ(shown("bytes(1G + 500M)"), "1500000000");
  expect_code("2G + 1", DiagCode::UnitClash);
  expect_code("2G < 90s", DiagCode::UnitClash);
  expect_code("2G * 2G", DiagCode::UnitClash);
}

TEST(Operators, LogicStopsEarlyAndChoiceTakesOneBranch) {
  EXPECT_EQ(shown("(no and 1 / 0 == 1)"), "false");
  EXPECT_EQ(shown("(yes or 1 / 0 == 1)"), "true");
  EXPECT_EQ(shown("if yes then 1 else 1 / 0"), "1");
  EXPECT_EQ(shown("not no"), "true");
  expect_code("if 1 then 2 else 3", DiagCode::WrongOperand);
}

TEST(Operators, IntegersAreComparedAsWhatTheyAre) {
  // 2^53 and the next one have one double.
  EXPECT_EQ(shown("max(9007199254740993, 9007199254740992)"), "9007199254740993");
  EXPECT_EQ(shown("min(9007199254740993, 9007199254740992.0)"), "9.007199254740992e+15");
  EXPECT_EQ(shown("sort([9007199254740993, 9007199254740992.0, 9007199254740992, 9007199254740991])"),
            "[9007199254740991,9.007199254740992e+15,9007199254740992,9007199254740993]");
  EXPECT_EQ(shown("9007199254740993 == 9007199254740992.0"), "false");
  EXPECT_EQ(shown("9007199254740993 > 9007199254740992.0"), "true");
  EXPECT_EQ(shown("9007199254740993K > 9007199254740992K"), "true");
  EXPECT_EQ(shown("9007199254740993M > 9007199254740992000K"), "true");
  EXPECT_EQ(shown("[0.1G == 100M, 1.5h == 90m, 2 == 2.0, 0.1 + 0.2 == 0.3]"), "[true,true,true,false]");
}

TEST(Values, EqualityIsWithinAKind) {
  EXPECT_EQ(shown("2 == 2.0"), "true");
  EXPECT_EQ(shown("'2' == 2"), "false");
  EXPECT_EQ(shown("[1, [2]] == [1, [2]]"), "true");
}

TEST(Values, TextsArePutTogetherInQuotes) {
  EXPECT_EQ(shown("'a${1 + 1}b'"), "\"a2b\"");
  EXPECT_EQ(shown("'${yes} ${[1, 2]}'"), "\"true [1,2]\"");
  expect_code("'a' + 'b'", DiagCode::WrongOperand);
}

TEST(Unknown, StandsAsAWholeOrInATextOnly) {
  EXPECT_EQ(shown("later"), "{\"$unknown\":\"worker[0].ip\"}");
  EXPECT_EQ(shown("'http://${later}:80'"),
            "{\"$join\":[\"http://\",{\"$unknown\":\"worker[0].ip\"},\":80\"]}");
  EXPECT_EQ(shown("join(worker[*].ip, ',')"),
            "{\"$join\":[{\"$unknown\":\"worker[0].ip\"},\",\",{\"$unknown\":\"worker[1].ip\"},\",\",{\"$"
            "unknown\":\"worker[2].ip\"}]}");
  EXPECT_EQ(shown("count(worker[*].ip)"), "3");
  // Of systems their nodes count, also of several, as an input of type `systems` gives them.
  EXPECT_EQ(shown("count(worker)"), "3");
  EXPECT_EQ(shown("count([worker, worker])"), "6");
  EXPECT_EQ(shown("length([worker, worker])"), "2");
  expect_code("later == 'x'", DiagCode::NotKnownYet);
  expect_code("if later == 'x' then 1 else 2", DiagCode::NotKnownYet);
  expect_code("upper(later)", DiagCode::NotKnownYet);
}

TEST(Secret, MarksEverythingMadeFromIt) {
  EXPECT_EQ(shown("secret"), "{\"$secret\":\"input.secret\"}");
  EXPECT_EQ(shown("'x${secret}'"), "{\"$secret\":\"here\"}");
  EXPECT_EQ(shown("upper(secret)"), "{\"$secret\":\"here\"}");
  EXPECT_EQ(shown("split(secret, 'b')"), "[{\"$secret\":\"here\"},{\"$secret\":\"here#2\"}]");
  EXPECT_EQ(shown("if secret == 'abc' then 'yes' else 'no'"), "{\"$secret\":\"here\"}");
  EXPECT_EQ(shown("'${later}:${secret}'"),
            "{\"$join\":[{\"$unknown\":\"worker[0].ip\"},\":\",{\"$secret\":\"here\"}]}");
  EXPECT_EQ(shown("length(secret)"), "{\"$secret\":\"here\"}");
}

TEST(Secret, NeverStandsInAMessage) {
  for (const char* text :
       {"number(secret)", "secret + 1", "[1][secret]", "format(secret, 1)", "split(secret, '')"}) {
    EXPECT_EQ(run(text).said.find("abc"), std::string::npos) << run(text).said;
  }
}

TEST(References, WhatIsNotThereIsNamedWithWhatIsNear) {
  expect_code("wrker", DiagCode::UnknownName);
  EXPECT_NE(run("wrker").said.find("worker"), std::string::npos);
  expect_code("settings.b", DiagCode::UnknownMember);
  expect_code("worker[3]", DiagCode::IndexRange);
  expect_code("worker[0].adress", DiagCode::UnknownMember);
  expect_code("worker.ip", DiagCode::UnknownMember);
  expect_code("joim([1])", DiagCode::UnknownFunction);
  expect_code("join()", DiagCode::WrongArguments);
  expect_code("join(1, 2)", DiagCode::WrongArguments);
  expect_code("env('NOT_SET')", DiagCode::FunctionFailed);
  expect_code("file('nowhere')", DiagCode::FunctionFailed);
  EXPECT_EQ(shown("env('HOME')"), "\"/home/ana\"");
  EXPECT_EQ(shown("trim(file('motd'))"), "\"hello\"");
}

TEST(Cost, IsBounded) {
  expect_code("count(range(100000000))", DiagCode::ExpressionCost);
  std::string nested = "true";
  for (int i = 0; i < 400; i++) nested = "not " + nested;
  expect_code(nested, DiagCode::ExpressionCost);
  Budget small;
  small.operations = 3;
  EXPECT_TRUE(run("1 + 2 + 3 + 4", small).value.is_error());
  Budget few_bytes;
  few_bytes.bytes = 100;
  EXPECT_TRUE(run("replace('aaaaaaaaaaaaaaaaaaaaaaaa', 'a', 'bbbbbbbbbb')", few_bytes).value.is_error());
}

TEST(Cost, NoValueIsMadeLargerThanItMayBe) {
  Value deep = Value::integer(1);
  for (int i = 0; i <= kMaxValueDepth; i++) deep = Value::list({std::move(deep)});
  EXPECT_EQ(deep.excess(), Excess::Depth);
  Value wide = Value::integer(1);
  while (!wide.is_error()) wide = Value::list({wide, wide, wide, wide});
  EXPECT_EQ(wide.excess(), Excess::Weight);
  EXPECT_EQ(Value::list({Value::integer(1)}).excess(), Excess::None);
}

TEST(Secret, GivesItsContentAgainstAPermissionOnly) {
  Value text = Value::string("abc"), number = Value::integer(7), yes = Value::boolean(true);
  for (Value* value : {&text, &number, &yes}) value->mark_sensitive();
  EXPECT_EQ(text.as_text(), "");
  EXPECT_EQ(number.as_integer(), 0);
  EXPECT_EQ(number.as_real(), 0);
  EXPECT_FALSE(yes.as_boolean());
  EXPECT_FALSE(display(Value::list({Value::integer(1), text})).has_value());
  EXPECT_EQ(text.as_text(kPermitted), "abc");
  EXPECT_EQ(number.as_integer(kPermitted), 7);
  EXPECT_TRUE(yes.as_boolean(kPermitted));
}

// A long sum is no deep one.
TEST(Expressions, OperatorsInARowAreOneLevel) {
  std::string sum = "1", all = "true";
  for (int i = 0; i < 900; ++i) {
    sum += " + 1";
    all += i % 2 == 0 ? " and 2 > 1" : " and not false";
  }
  Evaluated added = run(sum);
  ASSERT_TRUE(added.codes.empty()) << added.said;
  EXPECT_EQ(added.value.as_integer(), 901);
  EXPECT_EQ(run("10 - 3 - 2").value.as_integer(), 5);
  EXPECT_EQ(run("secret + 1 + 2").codes.size(), 1u) << "one message for one mistake";
  Evaluated held = run(all);
  ASSERT_TRUE(held.codes.empty()) << held.said;
  EXPECT_TRUE(held.value.as_boolean());
  EXPECT_EQ(run("false and (1 / 0 == 1) and true").value.as_boolean(), false) << "the rest is not looked at";
}

}  // namespace
}  // namespace radl::expr
