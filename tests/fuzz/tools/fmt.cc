// The formatter refuses, or gives a text with the same tree that it leaves as it is. It checks both itself
// and says Internal when it is wrong: that must not happen for any bytes.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/fmt/format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 20000) return 0;
  radl::Diagnostics diagnostics;
  radl::SourceFile source(1, "fuzz.radl", std::string(reinterpret_cast<const char*>(data), size));
  auto result = radl::formatter::format(source, diagnostics);
  if (!result.ok() && result.status().code() != radl::Code::Invalid) {
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
    std::abort();
  }
  return 0;
}
