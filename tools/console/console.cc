#include "tools/console/console.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/replaced.h"
#include "compiler/diag/render.h"
#include "compiler/eval/evaluate.h"
#include "compiler/syntax/parser.h"

namespace radl {
namespace {

using expr::Value;
using ir::Json;

Value value_of(const Json& json) {
  if (json.is_object() && json.contains("$secret")) {
    Value hidden = Value::string("");
    return hidden.mark_sensitive(json["$secret"].is_string() ? json["$secret"].get<std::string>() : "");
  }
  if (json.is_object() && json.contains("$unknown")) {
    return Value::unknown(json["$unknown"].is_string() ? json["$unknown"].get<std::string>() : "?");
  }
  if (json.is_object() && json.contains("$join") && json["$join"].is_array()) {
    expr::Items parts;
    for (const Json& part : json["$join"]) parts.push_back(value_of(part));
    return Value::joined(std::move(parts));
  }
  if (json.is_null()) return Value::null();
  if (json.is_boolean()) return Value::boolean(json.get<bool>());
  if (json.is_number_integer()) return Value::integer(json.get<int64_t>());
  if (json.is_number()) return Value::real(json.get<double>());
  if (json.is_string()) return Value::string(json.get<std::string>());
  if (json.is_array()) {
    expr::Items items;
    for (const Json& item : json) items.push_back(value_of(item));
    return Value::list(std::move(items));
  }
  expr::Entries entries;
  for (const auto& [key, item] : json.items()) entries.emplace(key, value_of(item));
  return Value::map(std::move(entries));
}

class JsonSpace : public expr::Namespace {
 public:
  JsonSpace(const std::map<std::string, Json>& values, std::string what)
      : values_(values), what_(std::move(what)) {}
  std::optional<Value> member(std::string_view name, Span) const override {
    auto found = values_.find(std::string(name));
    return found == values_.end() ? std::nullopt : std::optional(value_of(found->second));
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_) all.push_back(name);
    return all;
  }
  std::string what() const override { return what_; }

 private:
  const std::map<std::string, Json>& values_;
  std::string what_;
};

// What the first part of a reference means: input, output, a system, an output by its own name.
class TopSpace : public expr::Namespace {
 public:
  explicit TopSpace(const ConsoleScope& scope)
      : scope_(scope), inputs_(scope.inputs, "input"), outputs_(scope.outputs, "output") {}
  std::optional<Value> member(std::string_view name, Span at) const override {
    if (name == "input") return Value::space(&inputs_);
    if (name == "output") return Value::space(&outputs_);
    if (scope_.systems.count(std::string(name))) return Value::system(std::string(name));
    return outputs_.member(name, at);
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> all = {"input", "output"};
    for (const auto& [name, machines] : scope_.systems) all.push_back(name);
    for (const auto& [name, value] : scope_.outputs) all.push_back(name);
    return all;
  }
  std::string what() const override { return "name"; }

 private:
  const ConsoleScope& scope_;
  JsonSpace inputs_, outputs_;
};

class ScopeSystems : public expr::Systems {
 public:
  explicit ScopeSystems(const ConsoleScope& scope) : scope_(scope) {}
  std::optional<int64_t> count(const std::string& system, Span) override {
    auto found = scope_.systems.find(system);
    return found == scope_.systems.end() ? 0 : static_cast<int64_t>(found->second.size());
  }
  std::optional<Value> attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                 Span) override {
    auto found = scope_.systems.find(system);
    if (found == scope_.systems.end() || ordinal < 0 || ordinal >= static_cast<int64_t>(found->second.size()))
      return std::nullopt;
    const auto& attributes = found->second[static_cast<size_t>(ordinal)].attributes;
    if (auto value = attributes.find(std::string(member)); value != attributes.end())
      return value_of(value->second);
    const auto& known = expr::Systems::attributes();
    if (std::find(known.begin(), known.end(), member) == known.end()) return std::nullopt;
    return Value::unknown(system + "[" + std::to_string(ordinal) + "]." + std::string(member));
  }

 private:
  const ConsoleScope& scope_;
};

std::string radl_text(const std::string& text) { return "'" + replaced(text, "'", "\\'") + "'"; }

// As RADL would write it, so that an answer can be pasted into a file.
std::string shown(const Value& value) {
  if (value.sensitive()) return "(sensitive)";
  switch (value.kind()) {
    case expr::Kind::Null:
      return "null";
    case expr::Kind::String:
      return radl_text(value.as_text());
    case expr::Kind::Unknown:
      return "(known after apply: " + value.as_text() + ")";
    case expr::Kind::Joined: {
      std::string out;
      for (const Value& part : value.items()) {
        out += part.kind() == expr::Kind::String ? part.as_text() : "${" + part.as_text() + "}";
      }
      return radl_text(out) + " (known after apply)";
    }
    case expr::Kind::List: {
      std::string out;
      for (const Value& item : value.items()) out += (out.empty() ? "" : ", ") + shown(item);
      return "[" + out + "]";
    }
    case expr::Kind::Map: {
      std::string out;
      for (const auto& [key, item] : value.entries())
        out += (out.empty() ? "" : ", ") + key + " = " + shown(item);
      return "{" + out + "}";
    }
    case expr::Kind::System:
      return "system " + value.as_text();
    case expr::Kind::Node:
      return value.as_text() + "[" + std::to_string(value.as_integer()) + "]";
    case expr::Kind::Namespace: {
      std::string out;
      for (const std::string& name : value.space()->names()) out += (out.empty() ? "" : ", ") + name;
      return value.space()->what() + "s: " + (out.empty() ? "none" : out);
    }
    default:
      return expr::display(value).value_or("");
  }
}

// As `input NAME (type = ...)` would name it, where it can.
std::string type_of(const Value& value) {
  switch (value.kind()) {
    case expr::Kind::Error:
      return "";
    case expr::Kind::Null:
      return "null";
    case expr::Kind::Boolean:
      return "boolean";
    case expr::Kind::Integer:
      return value.unit().empty() ? "integer" : "integer with a unit (" + value.unit() + ")";
    case expr::Kind::Real:
      return value.unit().empty() ? "number" : "number with a unit (" + value.unit() + ")";
    case expr::Kind::String:
      return "string";
    case expr::Kind::Unknown:
      return "known after apply";
    case expr::Kind::Joined:
      return "text, parts of it known after apply";
    case expr::Kind::List: {
      std::string inner;
      for (const Value& item : value.items()) {
        std::string type = type_of(item);
        if (inner.empty()) inner = type;
        if (inner != type) return "list of " + std::to_string(value.items().size()) + ", of several kinds";
      }
      return "list of " + std::to_string(value.items().size()) + (inner.empty() ? "" : ", each: " + inner);
    }
    case expr::Kind::Map:
      return "map of " + std::to_string(value.entries().size());
    case expr::Kind::System:
      return "system";
    case expr::Kind::Node:
      return "node of system " + value.as_text();
    case expr::Kind::Namespace:
      return value.space()->what() + "s";
  }
  return "";
}

std::string described_type(const Value& value) {
  return type_of(value) + (value.sensitive() ? ", sensitive" : "");
}

std::string function_list() {
  std::string out;
  for (const expr::FunctionInfo& each : expr::functions()) {
    out += std::string(each.name) + "(" + std::string(each.parameters) + ")  " + std::string(each.doc) + "\n";
  }
  return out;
}

std::string name_list(const ConsoleScope& scope) {
  std::string out;
  for (const std::string& name : console_names(scope)) out += name + "\n";
  return out;
}

constexpr char kHelp[] =
    "An expression prints its value: 2 * input.workers, join(worker[*].ip, ','), count(worker)\n"
    ":type EXPRESSION  what kind of value it has   :names  what can be named\n"
    ":functions  what can be called   :quit  (or Ctrl-D) ends\n";
constexpr std::string_view kCommands[] = {":functions", ":help", ":names", ":quit", ":type "};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

ConsoleAnswer evaluate_line(std::string_view line, const ConsoleScope& scope, bool color) {
  line = trim(line);
  bool asks_type = line == ":type" || line.starts_with(":type ") || line.starts_with(":type\t");
  if (asks_type) line = trim(line.substr(5));
  if (asks_type && line.empty()) return {false, ":type needs an expression, such as :type input.workers\n"};
  if (line == ":help" || line == ":?") return {true, kHelp};
  if (line == ":names") return {true, name_list(scope)};
  if (line == ":functions") return {true, function_list()};
  if (line.starts_with(":")) return {false, "no such command; :help lists them\n"};
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& source = sources.add("console", std::string(line));
  ParsedExpression parsed = parse_expression(source, diagnostics);
  Value value;
  if (!diagnostics.has_errors()) {
    TopSpace names(scope);
    ScopeSystems systems(scope);
    expr::Budget budget;
    expr::Context context;
    context.diagnostics = &diagnostics;
    context.names = &names;
    context.systems = &systems;
    context.budget = &budget;
    value = expr::evaluate(*parsed.value, context);
    if (!diagnostics.has_errors()) return {true, (asks_type ? described_type(value) : shown(value)) + "\n"};
  }
  RenderOptions look;
  look.color = color;
  return {false, render_text(diagnostics, sources, look)};
}

std::vector<std::string> console_names(const ConsoleScope& scope) {
  std::vector<std::string> names;
  for (const auto& [name, value] : scope.inputs) names.push_back("input." + name);
  for (const auto& [name, value] : scope.outputs) names.push_back("output." + name);
  for (const auto& [name, machines] : scope.systems) {
    names.push_back(name);
    for (size_t i = 0; i < machines.size() && i < 20; ++i)
      names.push_back(name + "[" + std::to_string(i) + "]");
  }
  return names;
}

size_t console_word(std::string_view line) {
  constexpr std::string_view kEnds = " \t()+-*/%<>=!,{}'";
  size_t behind = line.find_last_of(kEnds);
  size_t begin = behind == std::string_view::npos ? 0 : behind + 1;
  size_t open = line.rfind('[');  // worker[0].ip is one word, [worker is not
  if (open != std::string_view::npos && open >= begin && line.find(']', open) == std::string_view::npos)
    begin = open + 1;
  else if (begin < line.size() && line[begin] == '[')
    ++begin;
  return begin;
}

std::vector<std::string> console_completions(std::string_view line, const ConsoleScope& scope) {
  size_t begin = console_word(line);
  std::string_view word = line.substr(begin);
  std::vector<std::string> all = console_names(scope);
  size_t bracket = word.rfind("].");
  if (bracket != std::string_view::npos) {
    for (const std::string& name : expr::Systems::attributes())
      all.push_back(std::string(word.substr(0, bracket + 2)) + name);
  }
  for (const expr::FunctionInfo& each : expr::functions()) all.push_back(std::string(each.name) + "(");
  if (begin == 0) all.insert(all.end(), std::begin(kCommands), std::end(kCommands));
  std::erase_if(all, [&](const std::string& each) { return !each.starts_with(word); });
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace radl
