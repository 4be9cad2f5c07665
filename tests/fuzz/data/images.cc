// Any bytes as a PNG or JPEG, in colour and grey, then scaled as a folder's images are.
#include <cstdint>

#include "engine/data/image.h"

using namespace radl::engine::data;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (int channels : {1, 3}) {
    auto image = decode_image(bytes, {.channels = channels, .largest = 1 << 20});
    if (!image.ok()) continue;
    if (image->channels != channels ||
        image->pixels.size() != size_t(image->height) * size_t(image->width) * size_t(channels))
      __builtin_trap();
    if (fit_image(*image, 5, 7).pixels.size() != size_t(35 * channels)) __builtin_trap();
  }
  return 0;
}
