// Winograd in AVX-512: sixteen channels a vector, so that nothing is transposed; the transforms are additions
// (which Zen 4 has pipes of their own for), the products VDPBF16PS with a pair of channels broadcast from
// memory.
#include <immintrin.h>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

[[gnu::always_inline]] inline __m512 widen(__m256i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}
[[gnu::always_inline]] inline __mmask16 lanes_of(int channels, int block) {
  const int lanes = channels - 16 * block;
  return lanes >= 16 ? 0xffff : static_cast<__mmask16>((1u << lanes) - 1);
}

constexpr int blocks_of(int channels) { return (channels + 15) / 16; }

// ---- transforms
// -----------------------------------------------------------------------------------------------------

alignas(64) constexpr uint16_t kInterleave[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                  21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                  11, 27, 12, 28, 13, 29, 14, 30, 15, 31};

// Walks along the columns of four (or two) rows, for one block of channels.
template <int kRows>
class Columns {
 public:
  Columns(const TileRow& r, int block)
      : x_(r.first), w_(r.w), ahead_(r.ahead), mask_(lanes_of(r.channels, block)) {
    for (int i = 0; i < kRows; ++i) {
      step_[i] = r.step[i];
      at_[i] = r.row[i] + static_cast<ptrdiff_t>(r.first) * static_cast<ptrdiff_t>(r.step[i]) + 16 * block;
    }
  }
  [[gnu::always_inline]] void next(__m512 (&d)[kRows]) {
    const bool inside = static_cast<unsigned>(x_++) < static_cast<unsigned>(w_);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      d[i] = inside ? widen(_mm256_maskz_loadu_epi16(mask_, at_[i])) : _mm512_setzero_ps();
      if (i >= kRows - 2) _mm_prefetch(reinterpret_cast<const char*>(at_[i] + ahead_), _MM_HINT_T0);
      at_[i] += step_[i];
    }
  }

 private:
  const uint16_t* at_[kRows];
  size_t step_[kRows];
  int x_, w_;
  size_t ahead_;
  __mmask16 mask_;
};

// B^T d of one column: 4 rows to 4 values.
[[gnu::always_inline]] inline void next_column(Columns<4>& columns, __m512 (&out)[4]) {
  __m512 d[4];
  columns.next(d);
  out[0] = _mm512_sub_ps(d[0], d[2]);
  out[1] = _mm512_add_ps(d[1], d[2]);
  out[2] = _mm512_sub_ps(d[2], d[1]);
  out[3] = _mm512_sub_ps(d[1], d[3]);
}

// (B^T d) B, place j of row i.
[[gnu::always_inline]] inline __m512 across(const __m512 (&a)[4], const __m512 (&b)[4], const __m512 (&c)[4],
                                            const __m512 (&d)[4], int i, int j) {
  return j == 0   ? _mm512_sub_ps(a[i], c[i])
         : j == 1 ? _mm512_add_ps(b[i], c[i])
         : j == 2 ? _mm512_sub_ps(c[i], b[i])
                  : _mm512_sub_ps(b[i], d[i]);
}

void input(const TileRow& r, int tiles_in_strip, int at, uint16_t* values) {
  for (int block = 0; block < blocks_of(r.channels); ++block) {
    uint16_t* to = values + (static_cast<size_t>(block) * tiles_in_strip + at) * 256;
    Columns<4> columns(r, block);
    __m512 c[4][4];
    next_column(columns, c[0]);
    next_column(columns, c[1]);
    for (int tile = 0; tile < r.tiles; ++tile, to += 256) {
      next_column(columns, c[2]);
      next_column(columns, c[3]);
#pragma GCC unroll 2
      for (int i = 0; i < 4; i += 2)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          _mm512_store_si512(to + j * 64 + i * 16,
                             (__m512i)_mm512_cvtne2ps_pbh(across(c[0], c[1], c[2], c[3], i + 1, j),
                                                          across(c[0], c[1], c[2], c[3], i, j)));
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) c[0][i] = c[2][i], c[1][i] = c[3][i];
    }
  }
}

// Sixteen channels each of two neighbouring tiles, as pairs.
[[gnu::always_inline]] inline void store_pair(uint16_t* to, int i, int j, __m512i interleave, __m512 a,
                                              __m512 b) {
  _mm512_store_si512(to + (4 * j + i) * kPairPlace,
                     _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(b, a)));
}

// Two tiles at a time: six columns, of which the next two tiles share the last two.
void input_pairs(const TileRow& r, int at, uint16_t* values) {
  const __m512i interleave = _mm512_load_si512(kInterleave);
  for (int block = 0; block < blocks_of(r.channels); ++block) {
    uint16_t* to = values + block * kPlaces * kPairPlace + at * 32;
    Columns<4> columns(r, block);
    __m512 c[6][4];
    next_column(columns, c[0]);
    next_column(columns, c[1]);
    for (int tile = 0; tile < r.tiles; tile += 2, to += 32) {
#pragma GCC unroll 4
      for (int k = 2; k < 6; ++k) next_column(columns, c[k]);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          store_pair(to, i, j, interleave, across(c[0], c[1], c[2], c[3], i, j),
                     across(c[2], c[3], c[4], c[5], i, j));
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) c[0][i] = c[4][i], c[1][i] = c[5][i];
    }
  }
}

// A dy A^T of 2x2 gradients, but for the signs of place 3.
void gradient_pairs(const TileRow& r, int at, uint16_t* values) {
  const __m512i interleave = _mm512_load_si512(kInterleave);
  for (int block = 0; block < blocks_of(r.channels); ++block) {
    uint16_t* to = values + block * kPlaces * kPairPlace + at * 32;
    Columns<2> columns(r, block);
    for (int tile = 0; tile < r.tiles; tile += 2, to += 32) {
      __m512 c[4][4];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        __m512 d[2];
        columns.next(d);
        c[k][0] = d[0], c[k][3] = d[1];
        c[k][1] = _mm512_add_ps(d[0], d[1]);
        c[k][2] = _mm512_sub_ps(d[0], d[1]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        store_pair(to, i, 0, interleave, c[0][i], c[2][i]);
        store_pair(to, i, 1, interleave, _mm512_add_ps(c[0][i], c[1][i]), _mm512_add_ps(c[2][i], c[3][i]));
        store_pair(to, i, 2, interleave, _mm512_sub_ps(c[0][i], c[1][i]), _mm512_sub_ps(c[2][i], c[3][i]));
        store_pair(to, i, 3, interleave, c[1][i], c[3][i]);
      }
    }
  }
}

// ---- products of forward and backward data
// --------------------------------------------------------------------------

// sum += w . pair, the pair broadcast by the instruction itself (GCC 12 would load it first, with an address
// each).
[[gnu::always_inline]] inline void dot(__m512& sum, __m512i w, const uint16_t* pair) {
  typedef uint32_t __attribute__((may_alias)) Pair;
  asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(w), "m"(*reinterpret_cast<const Pair*>(pair)));
}

struct Emit {
  const ProductShape* s;
  int first;  // output channel of lane 0
  __mmask16 mask;
  __m512 bias, sum, square;

  [[gnu::always_inline]] void operator()(const TileOutput& out, int row, int column, __m512 v) {
    if (row >= out.rows || column >= out.columns) return;
    uint16_t* to = out.y + row * s->row_stride + column * s->channels + first;
    v = _mm512_add_ps(v, bias);
    if (s->add) v = _mm512_add_ps(v, widen(_mm256_maskz_loadu_epi16(mask, to)));
    if (s->sums) {
      sum = _mm512_add_ps(sum, v);
      square = _mm512_fmadd_ps(v, v, square);
    }
    const __m256i rounded = (__m256i)_mm512_cvtneps_pbh(v);
    if (mask == 0xffff)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), rounded);
    else
      _mm256_mask_storeu_epi16(to, mask, rounded);
  }
};

// m[i][t] = the products of place (i, j) of T tiles for 16 outputs.
template <int T>
[[gnu::always_inline]] inline void column_products(const uint16_t* values, size_t block_stride, int blocks,
                                                   const uint16_t* weights, __m512 (&m)[4][T]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
#pragma GCC unroll 6
    for (int t = 0; t < T; ++t) m[i][t] = _mm512_setzero_ps();
  for (int block = 0; block < blocks; ++block, weights += 8 * 4 * 32, values += block_stride)
#pragma GCC unroll 8
    for (int pair = 0; pair < 8; ++pair)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const __m512i w = _mm512_load_si512(weights + (pair * 4 + i) * 32);
#pragma GCC unroll 6
        for (int t = 0; t < T; ++t) dot(m[i][t], w, values + t * 256 + i * 16 + pair * 2);
      }
}

// A^T down the column: two values of each tile.
template <int T>
[[gnu::always_inline]] inline void down(const __m512 (&m)[4][T], int t, __m512 (&out)[2]) {
  out[0] = _mm512_add_ps(_mm512_add_ps(m[0][t], m[1][t]), m[2][t]);
  out[1] = _mm512_sub_ps(_mm512_sub_ps(m[1][t], m[2][t]), m[3][t]);
}

struct Strip {
  const uint16_t *values, *weights;
  size_t block_stride;
  int blocks;
  float* partial;
  const TileOutput* out;
};

// T tiles by 16 outputs, whole: for few input channels, whose weights stay in the first-level cache.
template <int T>
[[gnu::noinline]] void whole_tiles(const Strip& s, Emit& total) {
  __m512 y[T][2][2];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    __m512 m[4][T];
    column_products<T>(s.values + j * 64, s.block_stride, s.blocks,
                       s.weights + static_cast<size_t>(j) * s.blocks * 1024, m);
#pragma GCC unroll 3
    for (int t = 0; t < T; ++t) {
      __m512 d[2];
      down<T>(m, t, d);
#pragma GCC unroll 2
      for (int row = 0; row < 2; ++row) {
        y[t][row][0] = j == 0 ? d[row] : j < 3 ? _mm512_add_ps(y[t][row][0], d[row]) : y[t][row][0];
        y[t][row][1] = j == 1 ? d[row] : j > 1 ? _mm512_sub_ps(y[t][row][1], d[row]) : d[row];
      }
    }
  }
  Emit emit = total;  // in registers
#pragma GCC unroll 3
  for (int t = 0; t < T; ++t)
#pragma GCC unroll 2
    for (int row = 0; row < 2; ++row)
#pragma GCC unroll 2
      for (int column = 0; column < 2; ++column) emit(s.out[t], row, column, y[t][row][column]);
  total = emit;
}

// T tiles by the places of column j by 16 outputs; the four columns add their parts up in memory, so that the
// weights of one column serve all tiles of the strip before the next one's come into the cache.
template <int T>
[[gnu::noinline]] void tiles_by_column(const Strip& s, int j, Emit& total) {
  __m512 m[4][T];
  column_products<T>(s.values + j * 64, s.block_stride, s.blocks, s.weights, m);
  Emit emit = total;  // in registers
#pragma GCC unroll 6
  for (int t = 0; t < T; ++t) {
    __m512 d[2];
    down<T>(m, t, d);
    float* p = s.partial + t * 64;
#pragma GCC unroll 2
    for (int row = 0; row < 2; ++row, p += 16) {
      if (j == 0) _mm512_store_ps(p, d[row]);
      if (j == 1) {
        _mm512_store_ps(p, _mm512_add_ps(_mm512_load_ps(p), d[row]));
        _mm512_store_ps(p + 32, d[row]);
      }
      if (j == 2) {
        emit(s.out[t], row, 0, _mm512_add_ps(_mm512_load_ps(p), d[row]));
        _mm512_store_ps(p + 32, _mm512_sub_ps(_mm512_load_ps(p + 32), d[row]));
      }
      if (j == 3) emit(s.out[t], row, 1, _mm512_sub_ps(_mm512_load_ps(p + 32), d[row]));
    }
  }
  total = emit;
}

constexpr void (*kWholeTiles[])(const Strip&, Emit&) = {nullptr, whole_tiles<1>, whole_tiles<2>,
                                                        whole_tiles<3>};
constexpr void (*kTilesByColumn[])(const Strip&, int, Emit&) = {nullptr,
                                                                tiles_by_column<1>,
                                                                tiles_by_column<2>,
                                                                tiles_by_column<3>,
                                                                tiles_by_column<4>,
                                                                tiles_by_column<5>,
                                                                tiles_by_column<6>};

// f(strip part, tiles) over groups of at most `most` tiles of about the same size.
template <class F>
[[gnu::always_inline]] inline void for_groups(const Strip& s, int tiles, int most, F&& f) {
  const int groups = (tiles + most - 1) / most;
  for (int group = 0; group < groups; ++group) {
    const int from = tiles * group / groups;
    Strip part = s;
    part.values += from * 256, part.partial += from * 64, part.out += from;
    f(part, tiles * (group + 1) / groups - from);
  }
}

void product(const ProductShape& s, const uint16_t* values, const uint16_t* weights, const TileOutput* out,
             float* partial) {
  const size_t column = static_cast<size_t>(s.in_blocks) * 1024;
  const int out_blocks = blocks_of(s.channels);
  for (int block = 0; block < out_blocks; ++block, weights += 4 * column) {
    const __mmask16 mask = lanes_of(s.channels, block);
    Emit emit{&s,
              16 * block,
              mask,
              s.bias ? _mm512_maskz_loadu_ps(mask, s.bias + 16 * block) : _mm512_setzero_ps(),
              _mm512_setzero_ps(),
              _mm512_setzero_ps()};
    Strip strip{values, weights, static_cast<size_t>(s.tiles) * 256, s.in_blocks, partial, out};
    if (s.in_blocks <= 2) {
      for_groups(strip, s.tiles, 3, [&](const Strip& part, int t) { kWholeTiles[t](part, emit); });
    } else {
      for (int j = 0; j < 4; ++j, strip.weights += column)
        for_groups(strip, s.tiles, 6, [&](const Strip& part, int t) { kTilesByColumn[t](part, j, emit); });
    }
    if (!s.sums) continue;
    float* sums = s.sums + 16 * block;
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), emit.sum));
    sums += 16 * out_blocks;
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), emit.square));
  }
}

// ---- products of the weights' gradient
// ------------------------------------------------------------------------------

// 16 inputs by 16 outputs of one place, over the pairs of a strip.
[[gnu::noinline]] void weight_block(int pairs, const uint16_t* inputs, const uint16_t* gradients,
                                    float* sums) {
  __m512 acc[16];
#pragma GCC unroll 16
  for (int c = 0; c < 16; ++c) acc[c] = _mm512_load_ps(sums + 16 * c);
  for (int pair = 0; pair < pairs; ++pair, inputs += 32, gradients += 32) {
    const __m512i g = _mm512_load_si512(gradients);
#pragma GCC unroll 16
    for (int c = 0; c < 16; ++c) dot(acc[c], g, inputs + 2 * c);
  }
#pragma GCC unroll 16
  for (int c = 0; c < 16; ++c) _mm512_store_ps(sums + 16 * c, acc[c]);
}

void weights(int pairs, int in_blocks, int out_blocks, const uint16_t* inputs, const uint16_t* gradients,
             float* sums) {
  constexpr size_t kBlock = kPlaces * kPairPlace;
  for (int place = 0; place < kPlaces; ++place, inputs += kPairPlace, gradients += kPairPlace)
    for (int i = 0; i < in_blocks; ++i)
      for (int o = 0; o < out_blocks; ++o, sums += 256)
        weight_block(pairs, inputs + i * kBlock, gradients + o * kBlock, sums);
}

// ---- weights
// --------------------------------------------------------------------------------------------------------

// G v: 3 values to 4.
[[gnu::always_inline]] inline void widen_three(__m512 a, __m512 b, __m512 c, __m512 (&out)[4]) {
  const __m512 half = _mm512_set1_ps(0.5f), outer = _mm512_mul_ps(_mm512_add_ps(a, c), half);
  out[0] = a;
  out[1] = _mm512_fmadd_ps(b, half, outer);
  out[2] = _mm512_fnmadd_ps(b, half, outer);
  out[3] = c;
}

__m512i lane_offsets(size_t stride) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_mullo_epi32(lanes, _mm512_set1_epi32(static_cast<int>(stride)));
}

// G g G^T of 16 outputs' filters for one input.
void filter_places(const FilterView& f, const float* filters, __m512i offsets, __mmask16 mask,
                   __m512 (&out)[4][4]) {
  __m512 g[9], rows[3][4];
  for (int t = 0; t < 9; ++t)
    g[t] = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, offsets, filters + (f.turned ? 8 - t : t), 4);
  for (int k = 0; k < 3; ++k) {
    __m512 down[4];
    widen_three(g[k], g[3 + k], g[6 + k], down);
    for (int i = 0; i < 4; ++i) rows[k][i] = down[i];
  }
  for (int i = 0; i < 4; ++i) widen_three(rows[0][i], rows[1][i], rows[2][i], out[i]);
}

void pack_weights(const FilterView& f, const float* filters, int begin, int end, uint16_t* weights) {
  const __m512i offsets = lane_offsets(f.out_stride), interleave = _mm512_load_si512(kInterleave);
  const int in_blocks = blocks_of(f.inputs);
  const size_t column = static_cast<size_t>(in_blocks) * 8 * 4 * 32;
  for (int block = begin; block < end; ++block)
    for (int pair = 0; pair < in_blocks * 8; ++pair) {
      __m512 places[2][4][4] = {};
      for (int half = 0; half < 2; ++half) {
        if (2 * pair + half >= f.inputs) continue;
        filter_places(f, filters + 16 * block * f.out_stride + (2 * pair + half) * f.in_stride, offsets,
                      lanes_of(f.outputs, block), places[half]);
      }
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          _mm512_store_si512(weights + (static_cast<size_t>(block) * 4 + j) * column +
                                 (static_cast<size_t>(pair) * 4 + i) * 32,
                             _mm512_permutexvar_epi16(
                                 interleave, (__m512i)_mm512_cvtne2ps_pbh(places[1][i][j], places[0][i][j])));
    }
}

// G^T v: 4 values to 3.
[[gnu::always_inline]] inline void narrow_four(const __m512 (&v)[4], __m512 (&out)[3]) {
  const __m512 half = _mm512_set1_ps(0.5f), sum = _mm512_mul_ps(_mm512_add_ps(v[1], v[2]), half);
  out[0] = _mm512_add_ps(v[0], sum);
  out[1] = _mm512_mul_ps(_mm512_sub_ps(v[1], v[2]), half);
  out[2] = _mm512_add_ps(sum, v[3]);
}

void unpack_gradient(const FilterView& f, const float* const* sums, int parts, int begin, int end,
                     float* gradient) {
  const __m512i offsets = lane_offsets(f.out_stride);
  const int in_blocks = blocks_of(f.inputs), out_blocks = blocks_of(f.outputs);
  const size_t place = static_cast<size_t>(in_blocks) * out_blocks * 256;
  for (int block = begin; block < end; ++block)
    for (int c = 0; c < f.inputs; ++c) {
      const size_t at = (static_cast<size_t>(c / 16) * out_blocks + block) * 256 + c % 16 * 16;
      __m512 columns[3][4];
      for (int j = 0; j < 4; ++j) {
        __m512 v[4], down[3];
        for (int i = 0; i < 4; ++i) {
          v[i] = _mm512_setzero_ps();
          for (int p = 0; p < parts; ++p)
            v[i] = _mm512_add_ps(v[i], _mm512_load_ps(sums[p] + (4 * j + i) * place + at));
          // gradient_pairs() left out these signs.
          if ((i == 3) != (j == 3)) v[i] = _mm512_sub_ps(_mm512_setzero_ps(), v[i]);
        }
        narrow_four(v, down);
        for (int k = 0; k < 3; ++k) columns[k][j] = down[k];
      }
      float* to = gradient + 16 * block * f.out_stride + c * f.in_stride;
      for (int k = 0; k < 3; ++k) {
        __m512 taps[3];
        narrow_four(columns[k], taps);
        for (int t = 0; t < 3; ++t)
          _mm512_mask_i32scatter_ps(to + 3 * k + t, lanes_of(f.outputs, block), offsets, taps[t], 4);
      }
    }
}

constexpr WinogradKernels kKernels{pack_weights, unpack_gradient, input,  product,
                                   input_pairs,  gradient_pairs,  weights};

}  // namespace

const WinogradKernels& winograd_bf16() { return kKernels; }

}  // namespace radl::engine::own
