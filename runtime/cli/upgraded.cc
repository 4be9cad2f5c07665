#include "runtime/cli/upgraded.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/compile.h"
#include "compiler/ir/ir.h"
#include "runtime/cli/project.h"
#include "tools/fmt/upgrade.h"

namespace radl::cli {
namespace {

using Values = std::map<std::string, std::string>;

// One of each kind that a feature accepts, the most general first.
constexpr const char* kSamples[] = {"1",           "2",         "22",   "a1",
                                    "yes",         "no",        "512M", "debian",
                                    "dev",         "eu-west-1", "10.0", "aws://eu-west-1/ami-00000001",
                                    "192.0.2.0/24"};
constexpr size_t kMostInputs = 40;  // of which each is tried with all samples

// Without the places in files: those change.
void drop_origins(Json& value) {
  if (value.is_object()) value.erase("origin");
  if (value.is_structured())
    for (Json& each : value) drop_origins(each);
}

struct Made {
  std::optional<Json> program;  // none: it does not compile
  size_t errors = 0;
  std::string why;  // the first error
};

class Comparison {
 public:
  Comparison(const std::string& path, const formatter::Upgraded& after, CompileOptions options)
      : path_(path), before_(after.before), after_(after), options_(std::move(options)) {
    options_.inputs_may_be_missing = true;
    options_.ask = nullptr;
  }

  Status run() {
    Values values = start();
    auto [before, after] = both(values);
    if (!before.program)
      return invalid(path_ + " does not compile (see radlc check) and was left alone" + hint());
    if (!after.program)
      return invalid(path_ + " would not compile as `radl 2` (" + after.why + ") and was left alone" +
                     hint());
    if (*before.program != *after.program) return differs(*before.program, *after.program);
    // A value may be the same by chance: each input is compared with a second one.
    for (const std::string& name : free_) {
      for (const char* sample : kSamples) {
        Values other = values;
        if (other[name] == sample) continue;
        other[name] = sample;
        auto [left, right] = both(other);
        if (!left.program || !right.program) continue;
        if (*left.program != *right.program) return differs(*left.program, *right.program);
        break;
      }
    }
    return ok_status();
  }

 private:
  Status differs(const Json& before, const Json& after) const {
    Status found = invalid(path_ + " would be another program as `radl 2` and was left alone");
    if (after["networks"].size() == before["networks"].size()) return found;
    return std::move(found).with_hint(
        "in `radl 2` a system without a network gets a default one: first give each system a network "
        "(`net_interface.0.connection = 'NAME'`)");
  }
  std::string hint() const {
    return free_.empty() ? ""
                         : ", with none of the values tried: give them with --input " + free_[0] + "=VALUE";
  }

  // Values with which both compile, as far as there are any.
  Values start() {
    Values values = options_.inputs;
    for (const std::string& name : after_.inputs) {
      if (values.contains(name)) continue;
      values[name] = kSamples[0];
      if (free_.size() < kMostInputs) free_.push_back(name);
    }
    for (const std::string& name : free_) {
      size_t least = errors(values);
      if (least == 0) break;
      std::string best = values[name];
      for (const char* sample : kSamples) {
        Values tried = values;
        tried[name] = sample;
        if (size_t found = errors(tried); found < least) {
          least = found;
          best = sample;
        }
      }
      values[name] = best;
    }
    return values;
  }

  size_t errors(const Values& values) const {
    auto [before, after] = both(values);
    return before.errors + after.errors;
  }
  std::pair<Made, Made> both(const Values& values) const {
    return {made(before_, values), made(after_.text, values)};
  }

  // The program that a text comes to in the file's place. Missing inputs are no error: what depends on them
  // is left out of both programs.
  Made made(std::string_view text, const Values& values) const {
    CompileOptions with = options_;
    with.inputs = values;
    SourceMap sources;
    Diagnostics unheard;
    sources.overlay(path_, std::string(text));
    auto compiled = compile({path_}, with, sources, unheard);
    if (!compiled || unheard.has_errors())
      return {std::nullopt, std::max<size_t>(1, unheard.errors()), first_error(unheard)};
    Json program = ir::to_json(compiled->program);
    for (const char* key : {"sources", "source_digest"}) program.erase(key);
    if (!after_.inputs.empty()) program.erase("inputs");
    drop_origins(program);
    return {std::move(program), 0, {}};
  }

  static std::string first_error(const Diagnostics& found) {
    for (const Diagnostic& each : found.all())
      if (each.severity == Severity::Error) return std::string(code_info(each.code).id) + ": " + each.message;
    return "it has too many mistakes";
  }

  std::string path_;
  const std::string& before_;
  const formatter::Upgraded& after_;
  CompileOptions options_;
  std::vector<std::string> free_;  // inputs without a given value
};

}  // namespace

Result<std::string> upgraded(const Session& session, const std::string& path, const SourceFile& source,
                             DialectChoice dialect, const std::vector<std::string>& inputs,
                             Diagnostics& diagnostics) {
  auto made = formatter::upgrade(source, diagnostics, {.dialect = dialect});
  if (!made.ok()) return std::move(made).status();
  ProjectOptions project;
  project.inputs = inputs;
  auto options = compile_options(session, project);
  if (!options.ok()) return std::move(options).status();
  if (Status same = Comparison(path, *made, *options).run(); !same.ok()) return same;
  return std::move(made->text);
}

}  // namespace radl::cli
