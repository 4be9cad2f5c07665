// The whole compiler: any file is refused with a reason, or gives IR that holds together and that the IR's
// reader understands as it was meant.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl;
  // Reading devices and other people's files is no part of it.
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("/dev") != std::string::npos || text.find("/proc") != std::string::npos) return 0;
  SourceMap sources;
  sources.overlay("fuzz.radl", std::move(text));
  Diagnostics diagnostics;
  CompileOptions options;
  options.on_pass = [](std::string_view, const std::string&) {};  // the dumps too
  auto compiled = compile({"fuzz.radl"}, options, sources, diagnostics);
  render_text(diagnostics, sources);
  render_json(diagnostics, sources);
  if (!compiled) {
    if (!diagnostics.has_errors()) std::abort();
    return 0;
  }
  if (!ir::verify(compiled->program).ok()) std::abort();
  ir::Json written = ir::to_json(compiled->program);
  auto again = ir::parse_program(written.dump());
  if (!again.ok() || ir::to_json(*again) != written) std::abort();
  return 0;
}
