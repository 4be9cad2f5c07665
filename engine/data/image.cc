#include "engine/data/image.h"

#include <algorithm>
#include <cmath>

namespace radl::engine::data {
namespace {

// Weights of the input pixels that make one output pixel along one axis.
struct Tap {
  int first = 0;
  std::vector<float> weights;
};

std::vector<Tap> make_taps(int in, float start, float length, int out) {
  std::vector<Tap> taps(static_cast<size_t>(out));
  const float scale = length / float(out), radius = std::max(scale, 1.0f);
  for (int o = 0; o < out; ++o) {
    const float centre = start + (float(o) + 0.5f) * scale - 0.5f;
    const int first = std::clamp(int(std::ceil(centre - radius)), 0, in - 1);
    const int last = std::clamp(int(std::floor(centre + radius)), first, in - 1);
    Tap& tap = taps[size_t(o)];
    tap.first = first;
    float sum = 0;
    for (int i = first; i <= last; ++i) {
      // A triangle as wide as the scale: bilinear when enlarging, without aliasing when shrinking.
      const float w = std::max(0.0f, 1 - std::abs(float(i) - centre) / radius);
      tap.weights.push_back(w);
      sum += w;
    }
    if (sum <= 0) tap.weights.assign(1, sum = 1.0f);
    for (float& w : tap.weights) w /= sum;
  }
  return taps;
}

}  // namespace

namespace {

constexpr std::string_view kPng = "\x89PNG", kJpeg = "\xff\xd8\xff";

Status neither(std::string_view bytes) {
  return {Code::Corrupt, bytes.empty() ? "an empty file" : "neither a PNG nor a JPEG"};
}

}  // namespace

Result<Image> decode_image(std::string_view bytes, const DecodeLimits& limits) {
  if (bytes.starts_with(kPng)) return decode_png(bytes, limits);
  if (bytes.starts_with(kJpeg)) return decode_jpeg(bytes, limits);
  return neither(bytes);
}

Result<ImageInfo> inspect_image(std::string_view bytes) {
  if (bytes.starts_with(kPng)) return inspect_png(bytes);
  if (bytes.starts_with(kJpeg)) return inspect_jpeg(bytes);
  return neither(bytes);
}

int decode_denominator(int height, int width, const DecodeLimits& limits) {
  if (limits.enough_height < 1 || limits.enough_width < 1) return 1;
  int denominator = 8;
  while (denominator > 1 &&
         (height / denominator < limits.enough_height || width / denominator < limits.enough_width))
    denominator /= 2;
  return denominator;
}

size_t decoded_bytes(const ImageInfo& info, const DecodeLimits& limits) {
  const int d = info.jpeg ? decode_denominator(info.height, info.width, limits) : 1;
  const size_t pixels = size_t(info.height / d + 1) * size_t(info.width / d + 1);
  return 4 * pixels;  // CMYK is the widest
}

Image orient(Image p, int orientation) {
  if (orientation < 2 || orientation > 8) return p;
  const bool swaps = orientation >= 5;
  const bool last_row_first = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool last_column_first = orientation == 2 || orientation == 3 || orientation >= 7;
  Image out{swaps ? p.width : p.height, swaps ? p.height : p.width, p.channels, {}};
  out.pixels.resize(p.pixels.size());
  const size_t channels = size_t(p.channels);
  uint8_t* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x, to += channels) {
      int row = swaps ? x : y, column = swaps ? y : x;
      if (last_row_first) row = p.height - 1 - row;
      if (last_column_first) column = p.width - 1 - column;
      const uint8_t* from = p.pixels.data() + (size_t(row) * size_t(p.width) + size_t(column)) * channels;
      std::copy_n(from, channels, to);
    }
  }
  return out;
}

Image fit_image(const Image& p, int height, int width) {
  if (p.height == height && p.width == width) return p;
  // The largest centred part with the output's aspect.
  const float scale = std::min(float(p.height) / float(height), float(p.width) / float(width));
  const float part_height = scale * float(height), part_width = scale * float(width);
  const auto rows = make_taps(p.height, (float(p.height) - part_height) / 2, part_height, height);
  const auto columns = make_taps(p.width, (float(p.width) - part_width) / 2, part_width, width);
  const size_t channels = size_t(p.channels);
  // Only the rows of that part: of an image of millions of short rows a few are.
  const int top = rows.front().first, bottom = rows.back().first + int(rows.back().weights.size());
  std::vector<float> narrow(size_t(bottom - top) * size_t(width) * channels);
  for (int y = top; y < bottom; ++y) {
    for (int x = 0; x < width; ++x) {
      const Tap& tap = columns[size_t(x)];
      for (size_t c = 0; c < channels; ++c) {
        const uint8_t* in =
            p.pixels.data() + (size_t(y) * size_t(p.width) + size_t(tap.first)) * channels + c;
        float sum = 0;
        for (size_t i = 0; i < tap.weights.size(); ++i) sum += tap.weights[i] * float(in[i * channels]);
        narrow[(size_t(y - top) * size_t(width) + size_t(x)) * channels + c] = sum;
      }
    }
  }
  Image out{height, width, p.channels, std::vector<uint8_t>(size_t(height) * size_t(width) * channels)};
  const size_t row = size_t(width) * channels;
  for (int y = 0; y < height; ++y) {
    const Tap& tap = rows[size_t(y)];
    for (size_t k = 0; k < row; ++k) {
      float sum = 0;
      for (size_t i = 0; i < tap.weights.size(); ++i)
        sum += tap.weights[i] * narrow[(size_t(tap.first - top) + i) * row + k];
      out.pixels[size_t(y) * row + k] = uint8_t(std::clamp(sum + 0.5f, 0.0f, 255.0f));
    }
  }
  return out;
}

}  // namespace radl::engine::data
