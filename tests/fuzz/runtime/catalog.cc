// Any bytes as a catalogue of instance types.
#include "runtime/catalog/catalog.h"

#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)radl::check_catalog(text, "f");
  radl::Catalog catalog;
  if (catalog.add(text, "f").ok()) (void)catalog.types("ec2", "us-east-1");
  return 0;
}
