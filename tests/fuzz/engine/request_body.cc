// Any bytes as the body of a request: never more images than asked for, nor more bytes than came.
#include <cstdint>

#include "engine/serve/request_body.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto images =
      radl::engine::serve::images_in(std::string(reinterpret_cast<const char*>(data), size), 3);
  if (!images.ok()) return 0;
  size_t bytes = 0;
  for (const std::string& p : *images) bytes += p.size();
  if (images->empty() || images->size() > 3 || bytes > size) __builtin_trap();
  return 0;
}
