#include "engine/kernels/own/plan.h"

#include <algorithm>

namespace radl::engine::own {

namespace {

constexpr size_t kScratchBytes = 256 << 10;  // a quarter of a usual second-level cache
constexpr int kTileColumns = 16;             // the widest tile of direct.inc

PassPlan plan_pass(PackShape pack, BandShape band, int rows, bool pointwise, int per_unit) {
  PassPlan p;
  pack.units = band.units = (pack.c + per_unit - 1) / per_unit;
  band.blocks = (band.oc + 15) / 16;
  if (pointwise) {
    const int fitting = static_cast<int>(kScratchBytes / (4 * static_cast<size_t>(pack.units)));
    p.chunk = std::clamp(fitting / 16 * 16, 32, 256);
    pack.h = rows = 1;
    pack.w = band.ow = p.chunk;
  }
  const int written = pack.left + round_up(pack.w, 8) * pack.insert_w + 8;
  const int read = (round_up(band.ow, kTileColumns) - 1) * band.sw + (band.kw - 1) * band.dw + 1;
  pack.columns = band.columns = round_up(std::max(written, read), 8);
  p.pack = pack;
  p.band = band;
  p.rows = rows;
  const size_t row_words = static_cast<size_t>(pack.units) * pack.columns;
  p.band_rows = rows;
  while (p.band_rows > 4 && p.scratch_rows(p.band_rows) * row_words * 4 > kScratchBytes)
    p.band_rows = (p.band_rows + 1) / 2;
  p.scratch_words = p.scratch_rows(p.band_rows) * row_words;
  p.weight_words = static_cast<size_t>(band.blocks) * band.kh * band.kw * band.units * 16;
  return p;
}

}  // namespace

PassPlan plan_forward(const ConvGeometry& g, int per_unit) {
  const PackShape pack{.h = g.h, .w = g.w, .c = g.c, .top = g.pt, .left = g.pl};
  const BandShape band{
      .kh = g.kh, .kw = g.kw, .dh = g.dh, .dw = g.dw, .sh = g.sh, .sw = g.sw, .ow = g.ow, .oc = g.oc};
  return plan_pass(pack, band, g.oh, g.pointwise(), per_unit);
}

PassPlan plan_backward_data(const ConvGeometry& g, int per_unit) {
  const PackShape pack{.h = g.oh,
                       .w = g.ow,
                       .c = g.oc,
                       .top = (g.kh - 1) * g.dh - g.pt,
                       .left = (g.kw - 1) * g.dw - g.pl,
                       .insert_h = g.sh,
                       .insert_w = g.sw};
  const BandShape band{.kh = g.kh, .kw = g.kw, .dh = g.dh, .dw = g.dw, .ow = g.w, .oc = g.c};
  return plan_pass(pack, band, g.h, g.pointwise(), per_unit);
}

WeightPlan plan_weights(const ConvGeometry& g, const DirectKernels& kernels) {
  WeightPlan p;
  const int value_bytes = 4 / kernels.values_per_unit;
  WeightShape& s = p.shape;
  s = {.kh = g.kh, .kw = g.kw, .dh = g.dh, .dw = g.dw, .sh = g.sh, .sw = g.sw, .c = g.c};
  s.c_padded = round_up(g.c, kernels.channel_multiple);
  s.blocks = (g.oc + 15) / 16;
  p.pack = {.h = g.h, .w = g.w, .c = g.c, .top = g.pt, .left = g.pl};
  int ow = g.ow, oh = g.oh;
  if (g.pointwise()) {
    const int fitting =
        static_cast<int>(kScratchBytes / (static_cast<size_t>(value_bytes) * (s.c_padded + 16 * s.blocks)));
    p.chunk = std::clamp(fitting / 16 * 16, 64, 1024);
    p.pack.h = oh = 1;
    p.pack.w = ow = p.chunk;
  }
  s.units = (ow + kernels.values_per_unit - 1) / kernels.values_per_unit;
  const int read = (s.units * kernels.values_per_unit - 1) * g.sw + (g.kw - 1) * g.dw + 1;
  const int written = p.pack.left + round_up(p.pack.w, 16);
  s.phase_columns = round_up((std::max(read, written) + g.sw - 1) / g.sw + 2, 8);
  const auto x_bytes = [&](int rows) {
    return static_cast<size_t>(s.c_padded) * rows * s.sw * s.phase_columns * value_bytes;
  };
  const auto dy_bytes = [&](int rows) { return static_cast<size_t>(rows) * s.blocks * s.units * 64; };
  const int span = (g.kh - 1) * g.dh + 1;
  p.band_rows = oh;
  while (p.band_rows > 4 &&
         x_bytes((p.band_rows - 1) * g.sh + span) + dy_bytes(p.band_rows) > 4 * kScratchBytes)
    p.band_rows = (p.band_rows + 1) / 2;
  s.rows_per_image = p.band_rows;
  s.image_rows = (p.band_rows - 1) * g.sh + span;
  if (p.band_rows == oh && !p.chunk) {
    const size_t one = x_bytes(s.image_rows) + dy_bytes(s.rows_per_image);
    p.images = static_cast<int>(std::clamp<size_t>(kScratchBytes / one, 1, std::min(16, g.n)));
  }
  s.rows = s.rows_per_image * p.images;
  s.x_rows = s.image_rows * p.images;
  // Channels a multiple of 4 KiB apart would fall into the same cache sets.
  // Where the rows alone make it one (128 rows of fp32), more columns change nothing.
  const size_t per_column = static_cast<size_t>(s.x_rows) * s.sw * value_bytes;
  while (per_column * 8 % 4096 != 0 && per_column * s.phase_columns % 4096 == 0) s.phase_columns += 8;
  p.x_bytes = x_bytes(s.x_rows) + 64;  // the last loads of a row may reach beyond it
  p.dy_bytes = dy_bytes(s.rows);
  p.partial_floats = static_cast<size_t>(s.blocks) * g.kh * g.kw * s.c_padded * 16;
  return p;
}

}  // namespace radl::engine::own
