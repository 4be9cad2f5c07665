// Any bytes as a safetensors file, and as its header with the length put in front; what is accepted is
// written and read back.
#include <cstdint>

#include "engine/export/safetensors.h"

using namespace radl::engine::exporter;

namespace {

void parse(std::string_view bytes) {
  auto file = parse_safetensors(bytes, "x");
  if (!file.ok()) return;
  std::vector<TensorView> views;
  for (const auto& t : file->tensors) views.push_back({t.name, t.shape, t.values});
  auto again = encode_safetensors(views, file->metadata);
  if (!again.ok() || !parse_safetensors(*again, "y").ok()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  parse(bytes);
  // The header up to the first zero byte, then data.
  const size_t length = std::min(bytes.find('\0'), bytes.size());
  std::string whole;
  for (int i = 0; i < 8; ++i) whole.push_back(char(uint64_t(length) >> (8 * i)));
  parse(whole.append(bytes));
  return 0;
}
