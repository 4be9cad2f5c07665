// Decoding and encoding of PNG and JPEG, from and to bytes in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "engine/model/network.h"

namespace radl::engine::data {

struct Picture {
  int height = 0, width = 0, channels = 0;  // 1: grey, 3: RGB; transparency is put on black
  std::vector<uint8_t> pixels;              // height x width x channels
};

struct DecodeLimits {
  int channels = 3;                       // what to convert to: 1 or 3
  uint64_t largest = uint64_t{64} << 20;  // pixels (height x width); a header that claims more is refused
};

// By the content's first bytes. Corrupt says what is wrong (the caller adds where); Unsupported for other
// formats.
Result<Picture> decode_picture(std::string_view bytes, const DecodeLimits& limits = {});
Result<Picture> decode_png(std::string_view bytes, const DecodeLimits& limits = {});
Result<Picture> decode_jpeg(std::string_view bytes, const DecodeLimits& limits = {});

// 8-bit PNG of height x width x channels (1 or 3) bytes.
Result<std::string> encode_png(int height, int width, int channels, std::span<const uint8_t> pixels);

// Scales the short side and cuts the centre so that the result is exactly height x width; box filter when
// shrinking, bilinear when enlarging.
Picture fit_picture(const Picture& picture, int height, int width);

}  // namespace radl::engine::data
