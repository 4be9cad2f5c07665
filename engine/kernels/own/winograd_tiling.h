// How the pictures of a Winograd convolution are cut into tiles.
#pragma once

#include <algorithm>

#include "engine/kernels/conv_geometry.h"
#include "engine/kernels/own/plan.h"
#include "engine/kernels/own/winograd.h"
#include "engine/tensor/buffer.h"

namespace radl::engine::own {

constexpr int kMostTiles = 48;  // in a unit

// A place among the tiles: a unit's picture and its first tile's first output.
struct TileUnit {
  size_t picture;
  int row, column;
};

// Units are tile rows, or parts of wide ones; all have `segment` tiles, the last of a row perhaps outside.
struct Tiling {
  int tile = 2;
  int h = 0, w = 0, c = 0;     // of what is transformed
  int oh = 0, ow = 0, oc = 0;  // of what is tiled
  int pt = 0, pl = 0;
  int tile_rows = 0, segments = 0, segment = 0;

  Tiling() = default;
  // Of the forward pass, or of the gradient of the inputs. `even`: an even number of tiles a unit (a single
  // one stays single if `single`).
  Tiling(const ConvGeometry& g, int tile_size, bool backward, bool even = false, bool single = false)
      : tile(tile_size),
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
    if (even && !(single && tiles == 1)) segment = round_up(segment, 2);
  }

  size_t units(int n) const { return static_cast<size_t>(n) * tile_rows * segments; }
  int in_blocks() const { return (c + 15) / 16; }
  int out_blocks() const { return (oc + 15) / 16; }
  TileUnit unit(size_t index) const {
    const int part = static_cast<int>(index % segments);
    const size_t row = index / segments;
    return {row / tile_rows, static_cast<int>(row % tile_rows) * tile, part * segment * tile};
  }
};

// The rows of units: of what the tiles need, or of the outputs that they are.
class TileRows {
 public:
  explicit TileRows(const Tiling& t)
      : t_(t), zeros_(2 * (static_cast<size_t>(std::max(t.w * t.c, t.ow * t.oc)) + 32)) {}

  TileRow inputs(const TileUnit& u, const void* x) const {
    TileRow r = empty(t_.w, t_.c, u.column - t_.pl);
    for (int i = 0; i < t_.tile + 2; ++i)
      set(r, i, static_cast<const uint16_t*>(x), u.picture, u.row - t_.pt + i, t_.h);
    return r;
  }
  TileRow outputs(const TileUnit& u, const void* y) const {
    TileRow r = empty(t_.ow, t_.oc, u.column);
    for (int i = 0; i < t_.tile; ++i) set(r, i, static_cast<const uint16_t*>(y), u.picture, u.row + i, t_.oh);
    return r;
  }
  // A unit of zeros.
  TileRow nothing(int channels) const {
    TileRow r = empty(0, channels, 0);
    for (int i = 0; i < t_.tile + 2; ++i) set(r, i, nullptr, 0, -1, 0);
    return r;
  }

 private:
  TileRow empty(int w, int c, int first) const {
    return {.row = {},
            .w = w,
            .first = first,
            .tiles = t_.segment,
            .channels = c,
            .ahead = static_cast<size_t>(t_.tile) * w * c};
  }
  void set(TileRow& r, int i, const uint16_t* pictures, size_t picture, int y, int h) const {
    const bool inside = y >= 0 && y < h;
    r.row[i] = inside ? pictures + (picture * h + y) * r.w * r.channels : zero_;
  }
  const Tiling& t_;
  Buffer zeros_;
  const uint16_t* zero_ = zeros_.as<uint16_t>();
};

}  // namespace radl::engine::own
