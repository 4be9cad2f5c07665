// Expressions of radl 2, as `radlc console` reads and evaluates them: a value, or at least one error; work
// and memory stay within the budget.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compiler/diag/render.h"
#include "compiler/eval/evaluate.h"
#include "compiler/syntax/parser.h"

namespace {

using namespace radl;

class Names final : public expr::Namespace {
 public:
  std::optional<expr::Value> member(std::string_view name, Span) const override {
    using expr::Value;
    if (name == "secret") return Value::string("abc").mark_sensitive("input.secret");
    if (name == "later") return Value::unknown("worker[0].ip");
    if (name == "worker") return Value::system("worker");
    if (name == "size") return Value::integer(2, "G");
    if (name == "input") return Value::space(this);
    if (name == "map") return Value::map({{"a", Value::integer(1)}, {"b", Value::list({Value::null()})}});
    return std::nullopt;
  }
  std::vector<std::string> names() const override {
    return {"secret", "later", "worker", "size", "input", "map"};
  }
  std::string what() const override { return "name"; }
};

class Machines final : public expr::Systems {
 public:
  std::optional<int64_t> count(const std::string&, Span) override { return 3; }
  std::optional<expr::Value> attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                       Span) override {
    if (member == "number") return expr::Value::integer(ordinal);
    if (member == "ip") return expr::Value::unknown(system + "[0].ip");
    return std::nullopt;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceMap sources;
  Diagnostics diagnostics;
  auto parsed = parse_expression(sources.add("fuzz", std::string(reinterpret_cast<const char*>(data), size)),
                                 diagnostics);
  if (!parsed.value) std::abort();
  Names names;
  Machines systems;
  expr::Budget budget{200'000, size_t{4} << 20};
  expr::Context context{&diagnostics, &names, nullptr, &systems, &budget};
  expr::Value value = expr::evaluate(*parsed.value, context);
  if (value.is_error() && !diagnostics.has_errors()) std::abort();
  render_text(diagnostics, sources);
  if (!value.is_error()) {
    ir::Secrets secrets;
    std::string shown =
        expr::Emitter(&secrets, "here",
                      [](const std::string& system) { return std::vector<std::string>{system + "[0]"}; })
            .emit(value)
            .dump();
    if (value.sensitive() && shown.find("$secret") == std::string::npos) std::abort();
  }
  return 0;
}
