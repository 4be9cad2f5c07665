// Scanner, parser, check and renderers: any bytes give a tree, and the tree's spans lie in the file.
#include <cstdlib>

#include "compiler/check/check.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl;
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& file = sources.add("fuzz.radl", std::string(reinterpret_cast<const char*>(data), size));
  auto tree = parse(file, diagnostics);
  if (!tree) std::abort();
  for (const ast::Block* sentence : tree->blocks)
    if (sentence->span.end > file.text().size() || sentence->span.begin > sentence->span.end) std::abort();
  sema::Document document = sema::build_document({tree.get()}, diagnostics);
  sema::check_document(document, diagnostics);
  render_text(diagnostics, sources);
  bool clean = !diagnostics.has_errors() && tree->dialect == ast::Dialect::Radl1;
  tokenize(file);
  if (!clean) return 0;
  // What was accepted goes to JSON and back, and means the same.
  std::string json = sema::to_radl_json(document);
  SourceMap again;
  Diagnostics faults;
  auto radl = sema::from_radl_json(again.add("fuzz.json", json), faults);
  if (!radl) return 0;  // what RADL cannot write, such as the text 'random(3)'
  auto second = parse(again.add("again.radl", *radl), faults);
  sema::Document back = sema::build_document({second.get()}, faults);
  if (!faults.has_errors() && sema::to_radl_json(back) != json && json.find("random(") == std::string::npos)
    std::abort();
  return 0;
}
