#include "compiler/eval/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/eval/function_runs.h"

namespace radl::expr {

Value CallFrame::expected(size_t i, std::string_view what) const {
  context_.diagnostics->report(
      DiagCode::WrongArguments, span(i),
      fmt::format("{}() takes {} here, not {}", call_.function.text, what, kind_name(arguments_[i].kind())));
  return {};
}

Value CallFrame::fail(std::string message) const {
  context_.diagnostics->report(DiagCode::FunctionFailed, span(), std::move(message));
  return {};
}

bool CallFrame::charge(size_t elements, size_t bytes) const {
  if (elements > kMaxElements) {
    context_.diagnostics->report(DiagCode::ExpressionCost, span(),
                                 fmt::format("a list may have {} elements", kMaxElements));
    return false;
  }
  // Elements take memory as strings do.
  return expr::charge(context_, elements, bytes + elements * sizeof(Value), span());
}

// ---- the world

// Messages name the file or variable that was read, and so does the IR for files.
static Value secret_name(const CallFrame& call) {
  call.context().diagnostics->report(DiagCode::SecretShown, call.span(0),
                                     "what is read is shown in plans: its name cannot be a secret");
  return Value().mark_sensitive();
}

Value run_env(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a string");
  if (call[0].sensitive()) return secret_name(call);
  if (call.context().world == nullptr) return call.fail("env() cannot be used here");
  if (auto value = call.context().world->variable(call[0].as_text())) return Value::string(std::move(*value));
  if (call.size() == 2) return call[1];
  return call.fail(
      fmt::format("the environment has no variable '{}', and no other value is given", call[0].as_text()));
}

Value run_generated(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a name (a string)");
  if (call[0].sensitive()) return secret_name(call);
  auto text =
      call.context().world == nullptr ? std::nullopt : call.context().world->generated(call[0].as_text());
  if (!text) return call.fail("generated() cannot be used here");
  return Value::string(std::move(*text)).mark_sensitive();
}

Value run_file(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a path (a string)");
  if (call[0].sensitive()) return secret_name(call);
  if (call.context().world == nullptr) return call.fail("file() cannot be used here");
  auto content = call.context().world->file(call[0].as_text(), call.span());
  if (!content.ok()) return call.fail(content.status().text());
  return call.charge(0, content->size()) ? Value::string(std::move(*content)) : Value();
}

// The file sees the values of the map and nothing else.
Value run_template(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a path (a string)");
  if (call[1].kind() != Kind::Map) return call.expected(1, "a map of values");
  if (call[0].sensitive()) return secret_name(call);
  if (call.context().world == nullptr) return call.fail("template() cannot be used here");
  auto text = call.context().world->text_template(call[0].as_text(), call.span());
  if (!text.ok()) return call.fail(text.status().text());
  std::vector<Binding> bindings;
  bindings.reserve(call[1].entries().size());
  for (const auto& [name, value] : call[1].entries())
    bindings.push_back({name, &value, bindings.empty() ? nullptr : &bindings.back()});
  Context inside = call.context();
  constexpr int kMostWithin = 20;
  if (++inside.templates > kMostWithin) return call.fail("templates use each other more than 20 deep");
  inside.names = nullptr;
  inside.bindings = bindings.empty() ? nullptr : &bindings.back();
  return evaluate(**text, inside);
}

namespace {

constexpr size_t kAny = 1000;

constexpr Function kFunctions[] = {
#define RADL_FUNCTION(name, least, most, arguments, parameters, documentation, example) \
  {{#name, parameters, documentation, example}, least, most, Arguments::arguments, run_##name},
#include "compiler/eval/functions.def"
#undef RADL_FUNCTION
};

}  // namespace

std::span<const Function> function_table() { return kFunctions; }

const Function* find_function(std::string_view name) {
  if (name == "text") name = "string";  // the same under the name of the older type
  auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                            [&](const Function& f) { return f.info.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

std::vector<FunctionInfo> functions() {
  std::vector<FunctionInfo> all;
  for (const Function& function : kFunctions) all.push_back(function.info);
  return all;
}

}  // namespace radl::expr
