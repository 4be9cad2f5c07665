// Winograd in AVX-512: sixteen channels a vector, so that nothing is transposed; the transforms are additions
// (for which Zen 4 has pipes of their own), the products VDPBF16PS with a pair of channels broadcast from
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

#include "engine/kernels/own/winograd_tiles.inc"

// ---- products of forward and backward data ----

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

// ---- products of the weights' gradient ----

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

#include "engine/kernels/own/winograd_weights.inc"

constexpr WinogradKernels kKernels{pack_weights, unpack_gradient, input,  product,
                                   input_pairs,  gradient_pairs,  weights};

}  // namespace

const WinogradKernels& winograd_bf16() { return kKernels; }

}  // namespace radl::engine::own
