// Decoding and encoding of PNG and JPEG, from and to bytes in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "engine/model/network.h"

namespace radl::engine::data {

struct Image {
  int height = 0, width = 0, channels = 0;  // 1: grey, 3: RGB; transparency is put on black
  std::vector<uint8_t> pixels;              // height x width x channels
};

struct DecodeLimits {
  int channels = 3;                       // what to convert to: 1 or 3
  uint64_t largest = uint64_t{64} << 20;  // pixels (height x width); a header that claims more is refused
  // When both are set, a JPEG that is at least twice as large may be decoded at half, a quarter or an eighth
  // of its sides, none of them below these: much less time and memory.
  int enough_height = 0, enough_width = 0;
  // Asked, when the header is read, with the pixels and with the bytes that decoding is about to take; what
  // it refuses is the result. Empty: nothing is asked.
  std::function<Status(uint64_t pixels, uint64_t bytes)> admit;
};

// What the header says, after the turn that EXIF asks for.
struct ImageInfo {
  int height = 0, width = 0;
  bool grey = false;
  bool jpeg = false;
};
// The beginning of the file is enough (256 KiB, unless a JPEG carries longer notes). Corrupt, Unsupported.
Result<ImageInfo> inspect_image(std::string_view bytes);
// What decoding takes at most, in bytes.
size_t decoded_bytes(const ImageInfo& info, const DecodeLimits& limits);

// By the content's first bytes. Palettes, 16 bits and transparency of PNG are resolved; JPEG may be baseline
// or progressive, grey, YCbCr, RGB, CMYK or YCCK, and is turned as its EXIF orientation says. Corrupt says
// what is wrong (the caller adds where); Unsupported for other formats.
Result<Image> decode_image(std::string_view bytes, const DecodeLimits& limits = {});
Result<Image> decode_png(std::string_view bytes, const DecodeLimits& limits = {});
Result<Image> decode_jpeg(std::string_view bytes, const DecodeLimits& limits = {});
Result<ImageInfo> inspect_png(std::string_view bytes);
Result<ImageInfo> inspect_jpeg(std::string_view bytes);

// The denominator, 1, 2, 4 or 8, that the limits allow for an image of this size.
int decode_denominator(int height, int width, const DecodeLimits& limits);

// Turns and mirrors as an EXIF orientation (1..8) says; any other number leaves it as it is.
Image orient(Image image, int orientation);

// 8-bit PNG of height x width x channels (1 or 3) bytes.
Result<std::string> encode_png(int height, int width, int channels, std::span<const uint8_t> pixels);

// Scales the short side and cuts the centre so that the result is exactly height x width; box filter when
// shrinking, bilinear when enlarging.
Image fit_image(const Image& image, int height, int width);

}  // namespace radl::engine::data
