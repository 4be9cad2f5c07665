// Any bytes as CIFAR records, IDX files and CSV. The first byte chooses; what is accepted must be readable.
#include <cstdint>

#include "engine/data/cifar.h"
#include "engine/data/readers.h"

using namespace radl::engine;
using namespace radl::engine::data;

namespace {

void read_all(const radl::Result<DatasetPtr>& dataset) {
  if (!dataset.ok()) return;
  const Dataset& d = **dataset;
  std::vector<uint8_t> pixels(pixel_count(d.shape()));
  for (size_t i = 0; i < d.size(); ++i) {
    if (d.label(i) < 0 || d.label(i) >= d.classes() || !d.read(i, pixels).ok()) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool skip = data[0] & 4;
  switch (data[0] & 3) {
    case 0: {
      std::vector<uint8_t> pixels;
      std::vector<int32_t> labels;
      ReadReport report;
      const int classes = data[0] & 8 ? 100 : 10;
      const bool ok = parse_cifar(bytes, "x", {classes, skip}, pixels, labels, report).ok();
      if (ok && pixels.size() != labels.size() * 3072) __builtin_trap();
      break;
    }
    case 1: {
      const size_t half = data[0] & 8 ? bytes.size() / 2 : bytes.rfind(std::string_view("\0\0\x08\x01", 4));
      if (half <= bytes.size()) read_all(parse_idx(bytes.substr(0, half), bytes.substr(half), "x"));
      break;
    }
    default: {
      const InputShape shape = data[0] & 8 ? InputShape{2, 1, 1} : InputShape{0, 0, 0};
      read_all(parse_csv(bytes, "x", {skip, shape}));
    }
  }
  return 0;
}
