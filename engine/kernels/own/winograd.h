// Inner kernels of the Winograd convolutions F(2x2, 3x3) and F(4x4, 3x3) (Lavin and Gray 2016): plain
// functions over packed scratch memory. The transforms use AVX-512; the products use AVX-512's bf16 dot
// products (winograd2_bf16.cc, winograd4_bf16.cc) or AMX's tile products (winograd2_amx.cc,
// winograd4_amx.cc). docs/engine-kernels.md has a drawing.
//
// A "tile" is 2x2 (4x4) outputs and the 4x4 (6x6) inputs that they need. Its 16 (36) transformed values
// ("places", row i and column j) are rounded to bf16, multiplied as independent matrix products with fp32
// sums, and transformed back. Channels are in blocks of 16; the last block may be partial.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radl::engine::own {

// Neighboring tiles of a tile row. Rows are given by address; a row outside the image is a row of zeros.
// Columns outside [0, w) are zero.
struct TileRow {
  const void* row[6];
  // For gradients of pooled outputs: `row` is the row of windows that contains the tile's row. A value counts
  // if the same place of `index` names its position in the window, 0 to 3. Null: plain rows.
  const uint8_t* index[6] = {};
  uint8_t lower[6] = {};  // 2 for the second row of a window
  int w = 0;
  int first = 0;  // first column of the first tile; may be negative
  int tiles = 0;
  int channels = 0;
  size_t ahead = 0;     // offset from a row to the row for the next tile row, which is prefetched
  bool low = false;     // the tiles are low: see TileShapes
  bool narrow = false;  // the last tile is narrow
};

// Tiles of 4x4 at the lower and right edge of an image with only three rows ("low") or columns ("narrow")
// inside omit the value at infinity, the last place in that direction, which saves its products. The
// tiles of a strip are ordered by shape, so that each place that some tiles omit has its tiles
// contiguous.
struct TileShapes {
  enum { kLow, kWhole, kNarrow, kLowNarrow };
  static constexpr int kDropped = 5;  // the omitted place, in rows and in columns
  int end[4] = {};                    // end of each shape's tiles
  int tiles() const { return end[kLowNarrow]; }
  // The range of tiles with a value at row i and column j.
  int begin_at(int i) const { return i == kDropped ? end[kLow] : 0; }
  int end_at(int i, int j) const {
    return end[j == kDropped ? kWhole : i == kDropped ? kNarrow : kLowNarrow];
  }
};

// Positions of a row's tiles in their strip; for pairs of tiles, positions of the pairs.
struct TilePositions {
  int first = 0, step = 1;
  int narrow = 0;  // of the last tile, if it is narrow
};

// Destination of one tile's results.
struct TileOutput {
  void* y = nullptr;  // its first position
  int rows = 0, columns = 0;
  uint8_t* index = nullptr;  // pooled: index of the same position; null: not needed
};

struct ProductShape {
  TileShapes tiles;       // of the strip
  int in_blocks = 0;      // of input channels
  int channels = 0;       // output channels
  size_t row_stride = 0;  // of y, in values
  const float* bias = nullptr;
  bool add = false;
  float* sums = nullptr;  // null, or [2][blocks * 16]: sums and sums of squares to add to
  bool pool = false;      // positions are windows of 2x2 outputs; stores their maximum
};

// A 3x3 filter bank in memory: tap t of output o and input i is at o * out_stride + i * in_stride + t, or at
// + 8 - t if `turned`.
struct FilterView {
  int outputs = 0, inputs = 0;
  size_t out_stride = 0, in_stride = 0;
  bool turned = false;
};

// Layout of tile pairs for the weight gradient: distances in values. A pair is [16 channels][2].
struct PairLayout {
  size_t place = 0, block = 0;
};

// Part of the filters' gradient at one place: up to WinogradKernels::group blocks of inputs by as many of
// outputs. The sums of a pair of blocks are [16 inputs][16 outputs].
struct PairProduct {
  int pairs = 0;
  int in_blocks = 1, out_blocks = 1;
  const void* inputs = nullptr;  // of the first block; the next is layout.block further
  const void* gradients = nullptr;
  size_t block = 0;
  bool add = false;  // to the sums
  float* sums = nullptr;
  size_t next_in = 0, next_out = 0;  // distance between sums of successive input, and output, blocks
};

struct WinogradKernels {
  const char* name;
  const char* isa;
  int value_bytes;  // of images. 2: bf16, 4: fp32
  int work_bytes;   // of transformed values and weights
  int tile;         // outputs of a tile in each direction
  bool trims;       // supports low and narrow tiles, and pooling
  int places;       // (tile + 2)^2
  int partial;      // floats of scratch per tile that product() needs
  float rounding;   // expected error, relative to the largest value
  // Scratch memory and weights are rounded up to these: tiles of a strip, blocks of inputs, pairs at a place.
  int tile_multiple = 1, block_multiple = 1, pair_multiple = 1;
  int least_tiles = 8;  // of a strip, regardless of cache size
  int group = 1;        // blocks of inputs and of outputs per call of multiply_pairs()
  int cache_mib = 1;    // second-level cache of the smallest processor with this instruction set
  // Call before and after all product() and multiply_pairs() calls of a thread; null: not needed.
  void (*open)() = nullptr;
  void (*close)() = nullptr;
  // Packs the weights of output blocks [begin, end) for product().
  void (*pack_weights)(const FilterView& f, const float* filters, int begin, int end, void* weights);
  // The filters' gradient of one block of outputs and one of inputs, from the sums of `parts` threads: place
  // p (column-major) begins at sums[part] + at + p * place.
  void (*unpack_gradient)(const FilterView& f, const float* const* sums, int parts, size_t at, size_t place,
                          int out_block, int in_block, float* gradient);
  // values: places * 16 for each tile and block, in product()'s own order.
  void (*input)(const TileRow& r, int tiles_in_strip, const TilePositions& at, void* values);
  // weights: [block of outputs][j][block of inputs][8 pairs][i][16 outputs][2].
  void (*product)(const ProductShape& s, const void* values, const void* weights, const TileOutput* out,
                  float* partial);
  // For the weight gradient: pairs of tiles. Either neighbors in a row with an even number of tiles or, with
  // `other`, the tiles of two rows of the same shape (one of each only, if nothing is trimmed).
  void (*input_pairs)(const TileRow& r, const TileRow* other, const PairLayout& layout,
                      const TilePositions& at, void* values);
  // Same for the gradient of the outputs; reads `tile` rows.
  void (*gradient_pairs)(const TileRow& r, const TileRow* other, const PairLayout& layout,
                         const TilePositions& at, void* values);
  // Arranges the output of the two functions above, of a block and place, for multiply_pairs(). May be null.
  void (*arrange_inputs)(int pairs, void* values) = nullptr;
  void (*arrange_gradients)(int pairs, void* values) = nullptr;
  void (*multiply_pairs)(const PairProduct& p) = nullptr;
};

// Calls open() and close().
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
// With the processor's tile registers, or with their emulation (amx_emulation.h).
const WinogradKernels& winograd2_amx(bool emulated);
const WinogradKernels& winograd4_amx(bool emulated);

}  // namespace radl::engine::own
