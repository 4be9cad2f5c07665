// Any bytes as a PNG or JPEG, in colour and grey, then scaled as a folder's pictures are.
#include <cstdint>

#include "engine/data/picture.h"

using namespace radl::engine::data;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (int channels : {1, 3}) {
    auto picture = decode_picture(bytes, {.channels = channels, .largest = 1 << 20});
    if (!picture.ok()) continue;
    if (picture->channels != channels ||
        picture->pixels.size() != size_t(picture->height) * size_t(picture->width) * size_t(channels))
      __builtin_trap();
    if (fit_picture(*picture, 5, 7).pixels.size() != size_t(35 * channels)) __builtin_trap();
  }
  return 0;
}
