// Where secrets would show: everything that the compiler, the plan and `radlc doc` say about a program.
#include <fstream>
#include <set>

#include "common/digest.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/render.h"
#include "tests/support/secret_programs.h"
#include "tools/doc/doc.h"

namespace radl::test {
namespace {

// The secret, what functions make of it, and what it chooses. What holds them as they are written in the
// program is no leak, so none of these stands there.
const std::vector<std::string>& needles() {
  static const std::vector<std::string> all = [] {
    const std::string text(kSecretText);
    std::string upper = text;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return std::vector<std::string>{text,
                                    upper,
                                    text.substr(0, 7),
                                    sha256_hex(text),
                                    base64_encode(text).substr(0, 12),
                                    std::string(kSecretNumber),
                                    std::string(kSecretNumber) + "000",
                                    "chosen~one",
                                    "chosen~two"};
  }();
  return all;
}

bool shows_secret(const std::string& text) {
  for (const std::string& needle : needles())
    if (text.find(needle) != text.npos) return true;
  return false;
}

size_t references_in(const ir::Json& json) {
  if (ir::is_secret(json)) return 1;
  size_t count = 0;
  if (json.is_structured())
    for (const ir::Json& inner : json) count += references_in(inner);
  return count;
}

class Search {
 public:
  Search(const SecretProgram& program, const std::string& file) : program_(program), file_(file) {}

  LeakSearch run() {
    look("page", document());
    compile_with({}, true);
    CompileOptions check;
    check.inputs_may_be_missing = true;
    compile_with(check, false);
    return std::move(found_);
  }

 private:
  void look(const std::string& where, const std::string& text) {
    if (shows_secret(text)) found_.leaks.push_back(where);
  }

  std::string document() {
    SourceMap sources;
    Diagnostics diagnostics;
    auto tree = parse(sources.add(file_, program_.text), diagnostics);
    return document_file(*tree, "program");
  }

  void compile_with(CompileOptions options, bool whole) {
    options.inputs = program_.inputs;
    options.lenient = true;
    options.on_pass = [this](std::string_view pass, const std::string& dump) {
      // What was pasted into RADL 1 by @input.NAME@ is no secret but in the features that are named so.
      look("dump " + std::string(pass), dump);
    };
    SourceMap sources;
    sources.overlay(file_, program_.text);
    Diagnostics diagnostics;
    auto compiled = compile({file_}, options, sources, diagnostics);
    look("findings", render_text(diagnostics, sources));
    look("findings as JSON", render_json(diagnostics, sources));
    if (!compiled || !whole) return;
    found_.compiled = true;
    ir::Json json = ir::to_json(compiled->program);
    found_.secrets = references_in(json);
    look("IR", json.dump());
    plan(compiled->program);
  }

  void plan(const ir::Program& program) {
    auto cloud = local::make_cloud({local::Isolation::Off});
    CloudSet clouds;
    clouds.add(*cloud);
    Snapshot nothing;
    Catalog catalog;
    Result<Plan> plan = make_plan({program, nothing, clouds, catalog, {}, nullptr, {}, {}});
    look("plan", plan.ok() ? render_text(*plan) : plan.status().text());
  }

  const SecretProgram& program_;
  const std::string& file_;
  LeakSearch found_;
};

}  // namespace

LeakSearch search_leaks(const SecretProgram& program, const std::string& folder) {
  return Search(program, folder + "/program.radl").run();
}

}  // namespace radl::test
