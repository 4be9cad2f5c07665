// Compiles many small documents in one process, for the differential test: documents come on standard input,
// each ended by a NUL byte; one JSON line goes out for each: what refuses it (or "ok"), where, and its
// RADL-JSON.
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/check/check.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/parser.h"

namespace {

nlohmann::json look_at(const std::string& text) {
  using namespace radl;
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& file = sources.add("case.radl", text);
  auto tree = parse(file, diagnostics);
  sema::Document document = sema::build_document({tree.get()}, diagnostics);
  bool parsed = !diagnostics.has_errors();
  if (parsed) sema::check_document(document, diagnostics);
  nlohmann::json out = {{"verdict", parsed ? "ok" : "parse"}};
  if (parsed && diagnostics.has_errors()) out["verdict"] = "check";
  for (const Diagnostic& d : diagnostics.all()) {
    if (d.severity != Severity::Error) continue;
    out["codes"].push_back(code_info(d.code).id);
    out["lines"].push_back(sources.position(d.span).line);
  }
  out["ec3"] = tree->dialect == ast::Dialect::Ec3;
  if (parsed) {
    std::string json = sema::to_radl_json(document);
    out["json"] = json;
    // Back again: RADL from the JSON, and JSON from that.
    SourceMap again;
    Diagnostics faults;
    auto radl = sema::from_radl_json(again.add("case.json", json), faults);
    if (!radl) {
      out["round"] = "not read back: " + (faults.all().empty() ? std::string() : faults.all()[0].message);
    } else {
      const SourceFile& made = again.add("made.radl", *radl);
      auto second = parse(made, faults);
      std::string json2 = sema::to_radl_json(sema::build_document({second.get()}, faults));
      out["round"] = faults.has_errors() ? "refused: " + faults.all()[0].message
                     : json2 == json     ? "same"
                                         : "differs";
    }
  }
  return out;
}

}  // namespace

int main() {
  std::string text;
  while (std::getline(std::cin, text, '\0'))
    std::cout << look_at(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << "\n"
              << std::flush;
}
