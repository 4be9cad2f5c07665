// RADL-JSON from anybody: refused, or RADL text that parses.
#include <cstdlib>

#include "compiler/compat/json/radl_json.h"
#include "compiler/syntax/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl;
  SourceMap sources;
  Diagnostics diagnostics;
  const SourceFile& file = sources.add("fuzz.json", std::string(reinterpret_cast<const char*>(data), size));
  auto radl = sema::from_radl_json(file, diagnostics);
  if (!radl && !diagnostics.has_errors()) std::abort();
  if (radl) parse(sources.add("made.radl", *radl), diagnostics);
  return 0;
}
