#include "engine/data/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/data/random.h"

namespace radl::engine::data {
namespace {

uint8_t to_byte(float v) { return uint8_t(std::clamp(v + 0.5f, 0.0f, 255.0f)); }

// Mirrors a coordinate beyond the edge back in: -1 -> 1, n -> n - 2.
int reflect(int i, int n) {
  if (n == 1) return 0;
  const int period = 2 * (n - 1);
  i = ((i % period) + period) % period;
  return i < n ? i : period - i;
}

void resample(const uint8_t* in, InputShape shape, float top, float left, float height, float width,
              InputShape out, std::vector<uint8_t>& result) {
  const int channels = shape.channels;
  result.resize(pixel_count(out));
  for (int y = 0; y < out.height; ++y) {
    float fy = std::clamp(top + (float(y) + 0.5f) * height / float(out.height) - 0.5f, 0.0f,
                          float(shape.height - 1));
    int y0 = int(fy), y1 = std::min(y0 + 1, shape.height - 1);
    float wy = fy - float(y0);
    for (int x = 0; x < out.width; ++x) {
      float fx = std::clamp(left + (float(x) + 0.5f) * width / float(out.width) - 0.5f, 0.0f,
                            float(shape.width - 1));
      int x0 = int(fx), x1 = std::min(x0 + 1, shape.width - 1);
      float wx = fx - float(x0);
      for (int c = 0; c < channels; ++c) {
        auto at = [&](int yy, int xx) {
          return float(in[(size_t(yy) * size_t(shape.width) + size_t(xx)) * size_t(channels) + size_t(c)]);
        };
        float upper = at(y0, x0) * (1 - wx) + at(y0, x1) * wx,
              lower = at(y1, x0) * (1 - wx) + at(y1, x1) * wx;
        result[(size_t(y) * size_t(out.width) + size_t(x)) * size_t(channels) + size_t(c)] =
            to_byte(upper * (1 - wy) + lower * wy);
      }
    }
  }
}

void adjust_colour(const Augment& a, int channels, KeyedRandom& random, std::vector<uint8_t>& image) {
  const float brightness = random.between(1 - a.brightness, 1 + a.brightness);
  const float contrast = random.between(1 - a.contrast, 1 + a.contrast);
  const float saturation = random.between(1 - a.saturation, 1 + a.saturation);
  uint64_t total = 0;
  for (uint8_t v : image) total += v;
  const float mean = float(double(total) / double(image.size())) * brightness;
  for (size_t i = 0; i < image.size(); i += size_t(channels)) {
    float grey = 0;
    if (channels == 3)
      grey = (0.299f * image[i] + 0.587f * image[i + 1] + 0.114f * image[i + 2]) * brightness;
    for (size_t c = 0; c < size_t(channels); ++c) {
      float v = float(image[i + c]) * brightness;
      if (channels == 3) v = grey + (v - grey) * saturation;
      image[i + c] = to_byte(mean + (v - mean) * contrast);
    }
  }
}

}  // namespace

bool Augment::any() const {
  return flip != Flip::None || translate > 0 || cutout > 0 || crop_area < 1 || brightness > 0 ||
         contrast > 0 || saturation > 0;
}

Status Transform::check(InputShape shape, const Augment& a, const Normalization& n) {
  if (n.mean.size() != size_t(shape.channels) || n.deviation.size() != size_t(shape.channels)) {
    return invalid("normalisation has " + std::to_string(n.mean.size()) + " means for " +
                   std::to_string(shape.channels) + " channels");
  }
  for (float d : n.deviation) {
    if (!(d > 0)) return invalid("normalisation: a deviation must be above 0");
  }
  if (a.translate >= std::min(shape.height, shape.width)) {
    return invalid("augment.translate: " + std::to_string(a.translate) + " pixels is the whole image of " +
                   std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
                   std::to_string(shape.channels));
  }
  return {};
}

Transform::Transform(InputShape shape, Augment augment, Normalization n) : shape_(shape), augment_(augment) {
  assert(check(shape, augment, n).ok());
  for (int x = 0; x < shape.width; ++x) {
    for (size_t c = 0; c < size_t(shape.channels); ++c) {
      scale_.push_back(1.0f / (255.0f * n.deviation[c]));
      bias_.push_back(-n.mean[c] / n.deviation[c]);
    }
  }
  for (float m : n.mean) mean_.push_back(to_byte(m * 255));
}

void Transform::normalise(const uint8_t* image, std::span<float> out) const {
  const size_t row = scale_.size();
  const float *scale = scale_.data(), *bias = bias_.data();
  for (int y = 0; y < shape_.height; ++y) {
    const uint8_t* in = image + size_t(y) * row;
    float* to = out.data() + size_t(y) * row;
    for (size_t i = 0; i < row; ++i) to[i] = float(in[i]) * scale[i] + bias[i];
  }
}

// The image with its corner at (top, left), of which a part lies outside.
void Transform::place(const uint8_t* image, int top, int left, bool mirror,
                      std::vector<uint8_t>& staged) const {
  const size_t channels = size_t(shape_.channels), row = size_t(shape_.width) * channels;
  staged.resize(row * size_t(shape_.height));
  const bool zero = augment_.padding == Augment::Padding::Zero;
  const bool inside = left == 0;
  for (int y = 0; y < shape_.height; ++y) {
    int from_y = top + y;
    uint8_t* to = staged.data() + size_t(y) * row;
    const bool row_outside = from_y < 0 || from_y >= shape_.height;
    if (row_outside) from_y = reflect(from_y, shape_.height);
    const uint8_t* from = image + size_t(from_y) * row;
    if (inside && !mirror && !(row_outside && zero)) {
      std::memcpy(to, from + size_t(left) * channels, row);
      continue;
    }
    for (int x = 0; x < shape_.width; ++x) {
      const int from_x = left + (mirror ? shape_.width - 1 - x : x);
      const bool outside = from_x < 0 || from_x >= shape_.width;
      const uint8_t* pixel = from + size_t(outside ? reflect(from_x, shape_.width) : from_x) * channels;
      if (zero && (outside || row_outside)) pixel = mean_.data();
      for (size_t c = 0; c < channels; ++c) to[size_t(x) * channels + c] = pixel[c];
    }
  }
}

// DeVries and Taylor 2017: the square's centre is anywhere, so it may be cut off by the edge.
void Transform::cut_out(int centre_y, int centre_x, std::span<float> out) const {
  const int side = augment_.cutout, channels = shape_.channels;
  const int top = std::max(centre_y - side / 2, 0),
            bottom = std::min(centre_y - side / 2 + side, shape_.height);
  const int left = std::max(centre_x - side / 2, 0),
            right = std::min(centre_x - side / 2 + side, shape_.width);
  for (int y = top; y < bottom && left < right; ++y) {
    float* row = out.data() + size_t(y) * scale_.size();
    std::fill(row + left * channels, row + right * channels, 0.0f);
  }
}

void Transform::train(const uint8_t* stored, uint64_t seed, uint64_t epoch, uint64_t index, Scratch& scratch,
                      std::span<float> out) const {
  if (!augment_.any()) {
    normalise(stored, out);
    return;
  }
  KeyedRandom random(seed, epoch, index);
  bool mirror = false;
  const uint64_t coin = random.next();
  if (augment_.flip == Augment::Flip::Random) mirror = coin & 1;
  if (augment_.flip == Augment::Flip::Alternate)
    mirror = (KeyedRandom(seed, ~0ull, index).next() ^ epoch) & 1;
  const uint8_t* image = stored;
  if (augment_.crop_area < 1) {
    // Inception-style crop (Szegedy et al. 2014): area and aspect first, then the place.
    const float area = random.between(augment_.crop_area, 1) * float(shape_.height) * float(shape_.width);
    const float aspect = std::exp(random.between(std::log(0.75f), std::log(4.0f / 3)));
    const float width = std::min(std::sqrt(area * aspect), float(shape_.width));
    const float height = std::min(std::sqrt(area / aspect), float(shape_.height));
    const float top = random.between(0, float(shape_.height) - height);
    const float left = random.between(0, float(shape_.width) - width);
    resample(stored, shape_, top, left, height, width, shape_, scratch.resized);
    image = scratch.resized.data();
  }
  const int t = augment_.translate;
  const int top = int(random.below(uint32_t(2 * t + 1))) - t;
  const int left = int(random.below(uint32_t(2 * t + 1))) - t;
  place(image, top, left, mirror, scratch.staged);
  if (augment_.brightness > 0 || augment_.contrast > 0 || augment_.saturation > 0) {
    adjust_colour(augment_, shape_.channels, random, scratch.staged);
  }
  normalise(scratch.staged.data(), out);
  if (augment_.cutout > 0) {
    const int y = int(random.below(uint32_t(shape_.height))), x = int(random.below(uint32_t(shape_.width)));
    cut_out(y, x, out);
  }
}

void Transform::evaluate(const uint8_t* stored, Scratch& scratch, std::span<float> out, bool mirror,
                         int shift_y, int shift_x) const {
  if (!mirror && shift_y == 0 && shift_x == 0) {
    normalise(stored, out);
    return;
  }
  place(stored, shift_y, shift_x, mirror, scratch.staged);
  normalise(scratch.staged.data(), out);
}

}  // namespace radl::engine::data
