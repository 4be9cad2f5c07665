// Fuzzes the reader of ONNX files, and what becomes of their operators.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/export/onnx_import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl::engine::exporter;
  auto file = parse_onnx({reinterpret_cast<const char*>(data), size}, "input");
  if (file.ok()) (void)import_onnx(*file, {{0, 0, 0}, {0}, {1}, {}});
  return 0;
}
