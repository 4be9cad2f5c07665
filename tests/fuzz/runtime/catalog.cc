// Any bytes as a catalogue of instance types.
#include "runtime/catalog/catalog.h"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto catalog = radl::parse_catalog({reinterpret_cast<const char*>(data), size});
  if (catalog.ok()) (void)catalog->cheapest("ec2", "us-east-1", 2, 4e9, 0);
  return 0;
}
