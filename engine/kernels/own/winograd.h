// The inner kernels of our Winograd convolutions F(2x2, 3x3) and F(4x4, 3x3) (Lavin and Gray 2016), as plain
// functions over packed scratch memory. The transforms are AVX-512; the products are AVX-512's bf16 dot
// products (winograd2_bf16.cc, winograd4_bf16.cc) or AMX's tile products (winograd2_amx.cc,
// winograd4_amx.cc). docs/engine-kernels.md has the drawing.
//
// A "tile" is 2x2 (4x4) outputs and the 4x4 (6x6) inputs that they need. Its 16 (36) transformed values
// ("places", row i and column j) are rounded to bf16, multiplied as so many independent matrix products with
// fp32 sums, and transformed back. Channels come in blocks of 16, the last one may be part of one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radl::engine::own {

// Neighbouring tiles of one tile row. Rows are given by address, one outside of the image as a row of
// zeros. Columns outside [0, w) are zero.
struct TileRow {
  const void* row[6];
  // Of gradients of pooled outputs: `row` is the row of windows that the tile's row is in, and a value counts
  // where the same place of this row names its position in the window, 0 to 3. Null: rows are plain.
  const uint8_t* index[6] = {};
  uint8_t lower[6] = {};  // 2 for a window's second row
  int w = 0;
  int first = 0;  // the first tile's first column; may be negative
  int tiles = 0;
  int channels = 0;
  size_t ahead = 0;     // from a row to the one that the next tile row needs: it is fetched early
  bool low = false;     // the tiles are low: see TileShapes
  bool narrow = false;  // the last tile is narrow
};

// Tiles of 4x4 at the lower and right edge of an image of which only three rows ("low") or columns
// ("narrow") are inside do without the value at infinity, the last place in that direction, so that its
// products are saved. The tiles of a strip are in the order of their shapes; a place that some of them lack
// has its tiles in one piece.
struct TileShapes {
  enum { kLow, kWhole, kNarrow, kLowNarrow };
  static constexpr int kDropped = 5;  // the place, in rows and in columns
  int end[4] = {};                    // of each shape's tiles
  int tiles() const { return end[kLowNarrow]; }
  // Those that have a value at row i and column j.
  int begin_at(int i) const { return i == kDropped ? end[kLow] : 0; }
  int end_at(int i, int j) const {
    return end[j == kDropped ? kWhole : i == kDropped ? kNarrow : kLowNarrow];
  }
};

// Where the tiles of a row are in their strip; of pairs of tiles, where the pairs are.
struct TilePositions {
  int first = 0, step = 1;
  int narrow = 0;  // of the last one, if it is narrow
};

// Where one tile's results go.
struct TileOutput {
  void* y = nullptr;  // its first position
  int rows = 0, columns = 0;
  uint8_t* index = nullptr;  // pooled: of the same position; null: not wanted
};

struct ProductShape {
  TileShapes tiles;       // of the strip
  int in_blocks = 0;      // of input channels
  int channels = 0;       // output channels
  size_t row_stride = 0;  // of y, in values
  const float* bias = nullptr;
  bool add = false;
  float* sums = nullptr;  // null, or [2][blocks * 16]: sums and sums of squares, added to
  bool pool = false;      // positions are windows of 2x2 outputs, of which the largest is stored
};

// A 3x3 filter bank in memory: tap t of output o and input i is at o * out_stride + i * in_stride + t, or at
// + 8 - t when `turned`.
struct FilterView {
  int outputs = 0, inputs = 0;
  size_t out_stride = 0, in_stride = 0;
  bool turned = false;
};

// Where pairs of tiles lie for the gradient of the weights: distances in values. A pair is [16 channels][2].
struct PairLayout {
  size_t place = 0, block = 0;
};

// A part of the filters' gradient at one place: up to WinogradKernels::group blocks of inputs by as many of
// outputs. The sums of a pair of blocks are [16 inputs][16 outputs].
struct PairProduct {
  int pairs = 0;
  int in_blocks = 1, out_blocks = 1;
  const void* inputs = nullptr;  // of the first block; the next one is layout.block on
  const void* gradients = nullptr;
  size_t block = 0;
  bool add = false;  // to the sums
  float* sums = nullptr;
  size_t next_in = 0, next_out = 0;  // from a block's sums to those of the next block of inputs, of outputs
};

struct WinogradKernels {
  const char* name;
  const char* isa;
  int value_bytes;  // of images. 2: bf16, 4: fp32
  int work_bytes;   // of transformed values and weights
  int tile;         // outputs of a tile in each direction
  bool trims;       // takes low and narrow tiles, and pools
  int places;       // (tile + 2)^2
  int partial;      // floats of scratch a tile that product() needs
  float rounding;   // the error to expect, in parts of the largest value
  // What scratch memory and weights are rounded up to: tiles of a strip, blocks of inputs, pairs at a place.
  int tile_multiple = 1, block_multiple = 1, pair_multiple = 1;
  int least_tiles = 8;  // of a strip, whatever the caches hold
  int group = 1;        // blocks of inputs and of outputs that multiply_pairs() takes at a time
  int cache_mib = 1;    // of second-level cache that the smallest processor with this instruction set has
  // Before and after any product(), and any multiply_pairs(), of a thread; null: nothing to do.
  void (*open)() = nullptr;
  void (*close)() = nullptr;
  // Weights for product(), of output blocks [begin, end).
  void (*pack_weights)(const FilterView& f, const float* filters, int begin, int end, void* weights);
  // The filters' gradient of one block of outputs and one of inputs, from the sums of `parts` threads: place
  // p (column-major) of them begins at sums[part] + at + p * place.
  void (*unpack_gradient)(const FilterView& f, const float* const* sums, int parts, size_t at, size_t place,
                          int out_block, int in_block, float* gradient);
  // values: places * 16 of each tile and block, in an order that product() knows.
  void (*input)(const TileRow& r, int tiles_in_strip, const TilePositions& at, void* values);
  // weights: [block of outputs][j][block of inputs][8 pairs][i][16 outputs][2].
  void (*product)(const ProductShape& s, const void* values, const void* weights, const TileOutput* out,
                  float* partial);
  // For the gradient of the weights, pairs of tiles: neighbours of a row of an even number of tiles, or, with
  // `other`, the tiles of each of two rows of the same shape (one of each only, where nothing is trimmed).
  void (*input_pairs)(const TileRow& r, const TileRow* other, const PairLayout& layout,
                      const TilePositions& at, void* values);
  // The same for the gradient of the outputs: `tile` rows are read.
  void (*gradient_pairs)(const TileRow& r, const TileRow* other, const PairLayout& layout,
                         const TilePositions& at, void* values);
  // Makes what the two above wrote of one block at one place ready for multiply_pairs(); null: it is.
  void (*arrange_inputs)(int pairs, void* values) = nullptr;
  void (*arrange_gradients)(int pairs, void* values) = nullptr;
  void (*multiply_pairs)(const PairProduct& p) = nullptr;
};

// Between open() and close().
class ProductScope {
 public:
  explicit ProductScope(const WinogradKernels& kernels) : close_(kernels.close) {
    if (kernels.open) kernels.open();
  }
  ~ProductScope() {
    if (close_) close_();
  }
  ProductScope(const ProductScope&) = delete;
  ProductScope& operator=(const ProductScope&) = delete;

 private:
  void (*close_)();
};

const WinogradKernels& winograd2_bf16();
const WinogradKernels& winograd4_bf16();
const WinogradKernels& winograd4_mixed();   // bf16 images, fp32 products
const WinogradKernels& winograd4_avx512();  // fp32
const WinogradKernels& winograd4_avx2();    // fp32
// By the processor's tile registers, or by their emulation (amx_emulation.h).
const WinogradKernels& winograd2_amx(bool emulated);
const WinogradKernels& winograd4_amx(bool emulated);

}  // namespace radl::engine::own
