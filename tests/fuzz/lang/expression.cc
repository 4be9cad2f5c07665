// Expressions of radl 2, as `radlc console` reads them.
#include <cstdlib>

#include "compiler/syntax/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl;
  SourceMap sources;
  Diagnostics diagnostics;
  auto parsed = parse_expression(sources.add("fuzz", std::string(reinterpret_cast<const char*>(data), size)),
                                 diagnostics);
  if (!parsed.value) std::abort();
  return 0;
}
