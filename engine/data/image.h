// Decodes and encodes PNG and JPEG in memory.
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
  int height = 0, width = 0, channels = 0;  // 1: gray, 3: RGB; transparent pixels become black
  std::vector<uint8_t> pixels;              // height x width x channels
};

struct DecodeLimits {
  int channels = 3;                       // convert to 1 or 3
  uint64_t largest = uint64_t{64} << 20;  // limit in pixels (height x width); larger headers are rejected
  // If both are set, a JPEG at least twice as large may be decoded at 1/2, 1/4 or 1/8 of its sides, but not
  // below these. Saves much time and memory.
  int enough_height = 0, enough_width = 0;
  // Called after reading the header, with the number of pixels and of bytes needed for decoding. An error
  // aborts the decoding. May be empty.
  std::function<Status(uint64_t pixels, uint64_t bytes)> admit;
};

// Header data, after the rotation requested by EXIF.
struct ImageInfo {
  int height = 0, width = 0;
  bool grey = false;
  bool jpeg = false;
};
// The beginning of the file is enough (256 KiB, unless a JPEG carries larger metadata). Corrupt, Unsupported.
Result<ImageInfo> inspect_image(std::string_view bytes);
// Upper limit of the memory for decoding, in bytes.
size_t decoded_bytes(const ImageInfo& info, const DecodeLimits& limits);

// Detects the format by its first bytes. Resolves palettes, 16 bits and transparency of PNG. Accepts baseline
// and progressive JPEG in gray, YCbCr, RGB, CMYK or YCCK, and applies the EXIF orientation. Corrupt:
// describes the error (the caller adds the location). Unsupported: other formats.
Result<Image> decode_image(std::string_view bytes, const DecodeLimits& limits = {});
Result<Image> decode_png(std::string_view bytes, const DecodeLimits& limits = {});
Result<Image> decode_jpeg(std::string_view bytes, const DecodeLimits& limits = {});
Result<ImageInfo> inspect_png(std::string_view bytes);
Result<ImageInfo> inspect_jpeg(std::string_view bytes);

// The denominator (1, 2, 4 or 8) that the limits allow for an image of this size.
int decode_denominator(int height, int width, const DecodeLimits& limits);

// Rotates and mirrors by an EXIF orientation (1..8); ignores other numbers.
Image orient(Image image, int orientation);

// Encodes height x width x channels (1 or 3) bytes as 8-bit PNG.
Result<std::string> encode_png(int height, int width, int channels, std::span<const uint8_t> pixels);

// Scales the short side and crops the center to exactly height x width. Box filter when shrinking, bilinear
// when enlarging.
Image fit_image(const Image& image, int height, int width);

}  // namespace radl::engine::data
