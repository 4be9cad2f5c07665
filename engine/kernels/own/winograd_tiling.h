// Divides the images of a Winograd convolution into tiles.
#pragma once

#include <algorithm>

#include "engine/kernels/conv_geometry.h"
#include "engine/kernels/own/plan.h"
#include "engine/kernels/own/winograd.h"
#include "engine/tensor/buffer.h"

namespace radl::engine::own {

constexpr int kMostTiles = 48;  // in a unit
// Trimming saves a sixth of the products of the last one of this many tiles per row. With more tiles the gain
// does not outweigh the smaller groups.
constexpr int kMostTrimmed = 4;

// A position among the tiles: a unit's image and its first tile's first output.
struct TileUnit {
  size_t image;
  int row, column;
};

// The position of the maximum in each window, 0 to 3 row by row, [n][oh/2][ow/2][oc]; null: no
// pooling.
using WindowIndex = const uint8_t*;

// Units are tile rows, or parts of wide ones, of `segment` tiles; the last of a row may extend beyond it.
struct Tiling {
  int tile = 2;
  int h = 0, w = 0, c = 0;     // of the transformed tensor
  int oh = 0, ow = 0, oc = 0;  // of the tiled tensor
  int pt = 0, pl = 0;
  int tile_rows = 0, segments = 0, segment = 0;
  bool low = false, narrow = false;  // the last tile of a column, of a row: see TileShapes

  Tiling() = default;
  // For the forward pass, or for the input gradient. `even`: an even number of tiles per unit (a single one
  // stays single with 4x4 tiles), unless tiles are trimmed.
  Tiling(const ConvGeometry& g, const WinogradKernels& kernels, bool backward, bool even = false)
      : tile(kernels.tile),
        h(backward ? g.oh : g.h),
        w(backward ? g.ow : g.w),
        c(backward ? g.oc : g.c),
        oh(backward ? g.h : g.oh),
        ow(backward ? g.w : g.ow),
        oc(backward ? g.c : g.oc),
        pt(backward ? 2 - g.pt : g.pt),
        pl(backward ? 2 - g.pl : g.pl),
        tile_rows((oh + tile - 1) / tile) {
    const int tiles = (ow + tile - 1) / tile;
    segments = (tiles + kMostTiles - 1) / kMostTiles;
    segment = (tiles + segments - 1) / segments;
    const bool trims = kernels.trims && std::max(tile_rows, tiles) <= kMostTrimmed;
    low = trims && oh % tile == 3;
    narrow = trims && ow % tile == 3;
    if (even && !trimmed() && !(tile == 4 && tiles == 1)) segment = round_up(segment, 2);
  }
  bool trimmed() const { return low || narrow; }

  size_t units(int n) const { return static_cast<size_t>(n) * tile_rows * segments; }
  int in_blocks() const { return (c + 15) / 16; }
  int out_blocks() const { return (oc + 15) / 16; }
  TileUnit unit(size_t index) const {
    const int part = static_cast<int>(index % segments);
    const size_t row = index / segments;
    return {row / tile_rows, static_cast<int>(row % tile_rows) * tile, part * segment * tile};
  }
};

// Rows of tiles for a strip of about `rows`: images in groups of four, so that their tiles of each shape
// divide well, or as few images as needed.
inline int whole_images(int rows, int rows_of_image) {
  const int images = std::max(1, rows / rows_of_image);
  return (images < 4 ? images : images / 4 * 4) * rows_of_image;
}

// The grain of strip ends, if a strip has up to `strip` rows of tiles: see whole_images().
inline size_t strip_grain(const Tiling& t, size_t strip) {
  if (!t.trimmed()) return 1;
  return static_cast<size_t>(t.tile_rows) * (strip / t.tile_rows < 4 ? 1 : 4);
}

// The number of equal strips of up to `strip` each, balanced over the threads.
inline size_t even_strips(size_t count, size_t strip, int threads) {
  const size_t least = (count + strip - 1) / strip, each = (least + threads - 1) / threads;
  return each * threads;
}

// The order of a strip's tiles. If tiles are trimmed, a strip begins with an image's first row and has whole
// images; `rows` of tiles follow each other as in an image.
class TileOrder {
 public:
  // `across`: tiles, or pairs of tiles, per row.
  TileOrder(const Tiling& t, int rows, int across)
      : t_(t), across_(across), lows_(t.low ? rows / t.tile_rows : 0), wholes_(rows - lows_) {
    const int plain = across - t.narrow;
    const int counts[] = {plain * lows_, plain * wholes_, t.narrow * wholes_, t.narrow * lows_};
    for (int i = 0, end = 0; i < 4; ++i) shapes_.end[i] = end += counts[i];
  }
  const TileShapes& shapes() const { return shapes_; }
  bool low(int row) const { return t_.low && row % t_.tile_rows == t_.tile_rows - 1; }
  TilePositions row(int row) const {
    if (!t_.trimmed()) return {row * across_, 1, 0};
    const int lows_before = t_.low ? row / t_.tile_rows : 0;
    if (low(row)) return {lows_before, lows_, shapes_.end[TileShapes::kNarrow] + lows_before};
    const int before = row - lows_before;
    return {shapes_.end[TileShapes::kLow] + before, wholes_, shapes_.end[TileShapes::kWhole] + before};
  }

 private:
  const Tiling& t_;
  int across_, lows_, wholes_;
  TileShapes shapes_;
};

// The rows of units: the inputs that the tiles need, or the outputs that they cover.
class TileRows {
 public:
  TileRows(const Tiling& t, int value_bytes)
      : t_(t),
        value_bytes_(static_cast<size_t>(value_bytes)),
        zeros_(value_bytes_ * (static_cast<size_t>(std::max(t.w * t.c, t.ow * t.oc)) + 32)) {}

  TileRow inputs(const TileUnit& u, const void* x, WindowIndex index = nullptr) const {
    TileRow r;
    set(r, u, {t_.tile + 2, u.row - t_.pt, t_.h, t_.w, t_.c}, u.column - t_.pl, x, index);
    return r;
  }
  TileRow outputs(const TileUnit& u, const void* y, WindowIndex index = nullptr) const {
    TileRow r;
    set(r, u, {t_.tile, u.row, t_.oh, t_.ow, t_.oc}, u.column, y, index);
    return r;
  }
  // A unit of zeros.
  TileRow nothing(int channels) const {
    TileRow r;
    set(r, {}, {t_.tile + 2, 0, 0, 0, channels}, 0, nullptr, nullptr);
    return r;
  }

 private:
  // For an image of h x w x c: `count` rows from row `first`, which may lie outside.
  struct Rows {
    int count, first, h, w, c;
  };
  void set(TileRow& r, const TileUnit& u, const Rows& rows, int column, const void* images,
           WindowIndex index) const {
    r.w = rows.w, r.first = column, r.tiles = t_.segment, r.channels = rows.c;
    r.low = t_.low && u.row + t_.tile > t_.oh, r.narrow = t_.narrow;
    if (index) return set_pooled(r, u, rows, static_cast<const std::byte*>(images), index);
    const size_t row = static_cast<size_t>(rows.w) * rows.c, bytes = row * value_bytes_;
    const std::byte* image = static_cast<const std::byte*>(images) + u.image * rows.h * bytes;
    r.ahead = t_.tile * row;
    for (int i = 0, y = rows.first; i < rows.count; ++i, ++y)
      r.row[i] = y >= 0 && y < rows.h ? image + y * bytes : zero_;
  }
  // The gradients of windows of 2x2.
  void set_pooled(TileRow& r, const TileUnit& u, const Rows& rows, const std::byte* windows,
                  WindowIndex index) const {
    const size_t row = static_cast<size_t>(rows.w / 2) * rows.c, half = rows.h / 2;
    r.ahead = t_.tile / 2 * row;
    r.w = rows.w / 2 * 2;
    for (int i = 0, y = rows.first; i < rows.count; ++i, ++y) {
      const bool inside = y >= 0 && y < rows.h / 2 * 2;
      const size_t at = inside ? (u.image * half + y / 2) * row : 0;
      r.row[i] = inside ? windows + value_bytes_ * at : zero_;
      r.index[i] = inside ? index + at : reinterpret_cast<const uint8_t*>(zero_);
      r.lower[i] = inside && y % 2 ? 2 : 0;
    }
  }

  const Tiling& t_;
  size_t value_bytes_;
  Buffer zeros_;
  const std::byte* zero_ = zeros_.data();
};

}  // namespace radl::engine::own
