// Winograd F(4x4, 3x3) in AVX-512: four times fewer products than a plain convolution. The interpolation
// points 0, +-3/4, +-3/2 and infinity keep the error of the bf16 roundings at 1% of a result's deviation (the
// usual 0, +-1, +-2: 2%); docs/engine.md has what that means for training.
#include <immintrin.h>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/winograd_common.inc"

constexpr int kSide = 6, kTile = 4;
constexpr float kA = 0.75f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;

[[gnu::always_inline]] inline __m512 splat(float v) { return _mm512_set1_ps(v); }

struct Transform {
  static constexpr int kSide = 6;

  // B^T d.
  [[gnu::always_inline]] static void input(const __m512 (&d)[6], __m512 (&out)[6]) {
    const __m512 product = splat(kA2 * kB2), sum = splat(kA2 + kB2);
    out[0] = _mm512_fmadd_ps(product, d[0], _mm512_fnmadd_ps(sum, d[2], d[4]));
    out[5] = _mm512_fmadd_ps(product, d[1], _mm512_fnmadd_ps(sum, d[3], d[5]));
    const __m512 even_a = _mm512_fnmadd_ps(splat(kB2), d[2], d[4]),
                 odd_a = _mm512_fnmadd_ps(splat(kB2), d[1], d[3]);
    out[1] = _mm512_fmadd_ps(splat(kA), odd_a, even_a);
    out[2] = _mm512_fnmadd_ps(splat(kA), odd_a, even_a);
    const __m512 even_b = _mm512_fnmadd_ps(splat(kA2), d[2], d[4]),
                 odd_b = _mm512_fnmadd_ps(splat(kA2), d[1], d[3]);
    out[3] = _mm512_fmadd_ps(splat(kB), odd_b, even_b);
    out[4] = _mm512_fnmadd_ps(splat(kB), odd_b, even_b);
  }

  // A^T m.
  [[gnu::always_inline]] static void output(const __m512 (&m)[6], __m512 (&out)[4]) {
    const __m512 even_a = _mm512_add_ps(m[1], m[2]), odd_a = _mm512_sub_ps(m[1], m[2]);
    const __m512 even_b = _mm512_add_ps(m[3], m[4]), odd_b = _mm512_sub_ps(m[3], m[4]);
    out[0] = _mm512_add_ps(_mm512_add_ps(m[0], even_a), even_b);
    out[1] = _mm512_fmadd_ps(splat(kA), odd_a, _mm512_mul_ps(splat(kB), odd_b));
    out[2] = _mm512_fmadd_ps(splat(kA2), even_a, _mm512_mul_ps(splat(kB2), even_b));
    out[3] = _mm512_fmadd_ps(splat(kA3), odd_a, _mm512_fmadd_ps(splat(kB3), odd_b, m[5]));
  }

  // A v.
  [[gnu::always_inline]] static void output_gradient(const __m512 (&d)[4], __m512 (&out)[6]) {
    out[0] = d[0];
    out[5] = d[3];
    const __m512 even_a = _mm512_fmadd_ps(splat(kA2), d[2], d[0]),
                 odd_a = _mm512_fmadd_ps(splat(kA2), d[3], d[1]);
    out[1] = _mm512_fmadd_ps(splat(kA), odd_a, even_a);
    out[2] = _mm512_fnmadd_ps(splat(kA), odd_a, even_a);
    const __m512 even_b = _mm512_fmadd_ps(splat(kB2), d[2], d[0]),
                 odd_b = _mm512_fmadd_ps(splat(kB2), d[3], d[1]);
    out[3] = _mm512_fmadd_ps(splat(kB), odd_b, even_b);
    out[4] = _mm512_fnmadd_ps(splat(kB), odd_b, even_b);
  }

  // The products of the distances between a point and the others.
  static constexpr float kN0 = 1 / (kA2 * kB2), kNa = 1 / (2 * kA2 * (kA2 - kB2)),
                         kNb = 1 / (2 * kB2 * (kB2 - kA2));

  // G v.
  [[gnu::always_inline]] static void filter(__m512 a, __m512 b, __m512 c, __m512 (&out)[6]) {
    out[0] = _mm512_mul_ps(splat(kN0), a);
    out[5] = c;
    const __m512 even_a = _mm512_mul_ps(splat(kNa), _mm512_fmadd_ps(splat(kA2), c, a));
    out[1] = _mm512_fmadd_ps(splat(kA * kNa), b, even_a);
    out[2] = _mm512_fnmadd_ps(splat(kA * kNa), b, even_a);
    const __m512 even_b = _mm512_mul_ps(splat(kNb), _mm512_fmadd_ps(splat(kB2), c, a));
    out[3] = _mm512_fmadd_ps(splat(kB * kNb), b, even_b);
    out[4] = _mm512_fnmadd_ps(splat(kB * kNb), b, even_b);
  }

  // G^T v.
  [[gnu::always_inline]] static void gradient(const __m512 (&v)[6], __m512 (&out)[3]) {
    const __m512 even_a = _mm512_mul_ps(splat(kNa), _mm512_add_ps(v[1], v[2])),
                 even_b = _mm512_mul_ps(splat(kNb), _mm512_add_ps(v[3], v[4]));
    out[0] = _mm512_fmadd_ps(splat(kN0), v[0], _mm512_add_ps(even_a, even_b));
    out[1] = _mm512_fmadd_ps(splat(kA * kNa), _mm512_sub_ps(v[1], v[2]),
                             _mm512_mul_ps(splat(kB * kNb), _mm512_sub_ps(v[3], v[4])));
    out[2] = _mm512_fmadd_ps(splat(kA2), even_a, _mm512_fmadd_ps(splat(kB2), even_b, v[5]));
  }
};

// ---- inputs ----

// One column after its own transform; it passes through memory, since two tiles' columns exceed the
// registers.
struct Column {
  alignas(64) float v[kSide][16];
};

[[gnu::always_inline]] inline void next_column(Columns<kSide, 2>& columns, Column& to) {
  __m512 d[kSide], out[kSide];
  columns.next(d);
  Transform::input(d, out);
#pragma GCC unroll 6
  for (int i = 0; i < kSide; ++i) _mm512_store_ps(to.v[i], out[i]);
}

// Row i of (B^T d) B of the tile whose columns are at[0..5].
[[gnu::always_inline]] inline void input_row(const Column* const (&at)[kSide], int i, __m512 (&out)[kSide]) {
  __m512 d[kSide];
#pragma GCC unroll 6
  for (int k = 0; k < kSide; ++k) d[k] = _mm512_load_ps(at[k]->v[i]);
  Transform::input(d, out);
}

// values: [j][block][tile][i][16].
void input(const TileRow& r, int tiles_in_strip, int at, uint16_t* values) {
  const int blocks = blocks_of(r.channels);
  const size_t column = static_cast<size_t>(blocks) * tiles_in_strip * kSide * 16;
  for (int block = 0; block < blocks; ++block) {
    uint16_t* to = values + (static_cast<size_t>(block) * tiles_in_strip + at) * kSide * 16;
    Columns<kSide, 2> columns(r, block);
    Column memory[kSide];
    Column* c[kSide] = {memory, memory + 1, memory + 2, memory + 3, memory + 4, memory + 5};
    next_column(columns, *c[0]);
    next_column(columns, *c[1]);
    for (int tile = 0; tile < r.tiles; ++tile, to += kSide * 16) {
#pragma GCC unroll 4
      for (int k = 2; k < kSide; ++k) next_column(columns, *c[k]);
      const Column* const now[kSide] = {c[0], c[1], c[2], c[3], c[4], c[5]};
#pragma GCC unroll 3
      for (int i = 0; i < kSide; i += 2) {
        __m512 low[kSide], high[kSide];
        input_row(now, i, low);
        input_row(now, i + 1, high);
#pragma GCC unroll 6
        for (int j = 0; j < kSide; ++j)
          _mm512_storeu_si512(to + j * column + i * 16, (__m512i)_mm512_cvtne2ps_pbh(high[j], low[j]));
      }
      c[0] = const_cast<Column*>(now[4]), c[1] = const_cast<Column*>(now[5]);
      c[2] = const_cast<Column*>(now[0]), c[3] = const_cast<Column*>(now[1]);
      c[4] = const_cast<Column*>(now[2]), c[5] = const_cast<Column*>(now[3]);
    }
  }
}

// All places of two tiles' inputs, as pairs.
[[gnu::always_inline]] inline void input_pair(const Column* const (&a)[kSide],
                                              const Column* const (&b)[kSide], const PairLayout& layout,
                                              __m512i interleave, uint16_t* to) {
#pragma GCC unroll 6
  for (int i = 0; i < kSide; ++i) {
    __m512 first[kSide], second[kSide];
    input_row(a, i, first);
    input_row(b, i, second);
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j)
      store_pair(to + (kSide * j + i) * layout.place, interleave, first[j], second[j]);
  }
}

void input_pairs(const TileRow& r, const TileRow* other, const PairLayout& layout, int at, uint16_t* values) {
  const __m512i interleave = _mm512_load_si512(kInterleave);
  for (int block = 0; block < blocks_of(r.channels); ++block) {
    uint16_t* to = values + block * layout.block + at * 32;
    Columns<kSide, 2> columns(r, block);
    Column c[12];
    if (other) {
      Columns<kSide, 2> second(*other, block);
      for (int k = 0; k < kSide; ++k) next_column(columns, c[k]), next_column(second, c[kSide + k]);
      input_pair({c, c + 1, c + 2, c + 3, c + 4, c + 5}, {c + 6, c + 7, c + 8, c + 9, c + 10, c + 11}, layout,
                 interleave, to);
      continue;
    }
    next_column(columns, c[0]);
    next_column(columns, c[1]);
    for (int tile = 0; tile < r.tiles; tile += 2, to += 32) {
      for (int k = 2; k < 10; ++k) next_column(columns, c[k]);
      input_pair({c, c + 1, c + 2, c + 3, c + 4, c + 5}, {c + 4, c + 5, c + 6, c + 7, c + 8, c + 9}, layout,
                 interleave, to);
      c[0] = c[8], c[1] = c[9];
    }
  }
}

// ---- gradients of the outputs: A dy A^T ----

[[gnu::always_inline]] inline void next_gradients(Columns<kTile, 0>& columns, Column* to) {
#pragma GCC unroll 4
  for (int k = 0; k < kTile; ++k) {
    __m512 d[kTile], out[kSide];
    columns.next(d);
    Transform::output_gradient(d, out);
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) _mm512_store_ps(to[k].v[i], out[i]);
  }
}

[[gnu::always_inline]] inline void gradient_row(const Column* c, int i, __m512 (&out)[kSide]) {
  __m512 d[kTile];
#pragma GCC unroll 4
  for (int k = 0; k < kTile; ++k) d[k] = _mm512_load_ps(c[k].v[i]);
  Transform::output_gradient(d, out);
}

void gradient_pairs(const TileRow& r, const TileRow* other, const PairLayout& layout, int at,
                    uint16_t* values) {
  const __m512i interleave = _mm512_load_si512(kInterleave);
  for (int block = 0; block < blocks_of(r.channels); ++block) {
    uint16_t* to = values + block * layout.block + at * 32;
    Columns<kTile, 0> columns(r, block);
    Column c[2 * kTile];
    for (int tile = 0; tile < r.tiles; tile += 2, to += 32) {
      next_gradients(columns, c);
      if (other) {
        Columns<kTile, 0> second(*other, block);
        next_gradients(second, c + kTile);
      } else {
        next_gradients(columns, c + kTile);
      }
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) {
        __m512 first[kSide], second[kSide];
        gradient_row(c, i, first);
        gradient_row(c + kTile, i, second);
#pragma GCC unroll 6
        for (int j = 0; j < kSide; ++j)
          store_pair(to + (kSide * j + i) * layout.place, interleave, first[j], second[j]);
      }
    }
  }
}

// ---- products of forward and backward data ----

constexpr int kGroup = 4;                     // tiles whose sums of one column fit into the registers
constexpr int kPartial = kTile * kSide * 16;  // floats a tile: [row][j][16]

// A^T down column j of T tiles, into `partial`.
template <int T>
[[gnu::noinline]] void column_of_tiles(const uint16_t* values, size_t block_stride, int blocks,
                                       const uint16_t* weights, float* partial) {
  __m512 m[kSide][T];
  column_products<kSide, T>(values, kSide * 16, block_stride, blocks, weights, m);
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) {
    const __m512 column[kSide] = {m[0][t], m[1][t], m[2][t], m[3][t], m[4][t], m[5][t]};
    __m512 down[kTile];
    Transform::output(column, down);
#pragma GCC unroll 4
    for (int row = 0; row < kTile; ++row)
      _mm512_store_ps(partial + t * kPartial + row * kSide * 16, down[row]);
  }
}

constexpr void (*kColumnOfTiles[])(const uint16_t*, size_t, int, const uint16_t*, float*) = {
    nullptr, column_of_tiles<1>, column_of_tiles<2>, column_of_tiles<3>, column_of_tiles<4>};

// A^T across the rows of one tile, and out.
[[gnu::always_inline]] inline void finish_tile(const float* partial, const TileOutput& out, Emit& emit) {
#pragma GCC unroll 4
  for (int row = 0; row < kTile; ++row) {
    __m512 m[kSide], y[kTile];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) m[j] = _mm512_load_ps(partial + (row * kSide + j) * 16);
    Transform::output(m, y);
#pragma GCC unroll 4
    for (int column = 0; column < kTile; ++column) emit(out, row, column, y[column]);
  }
}

void product(const ProductShape& s, const uint16_t* values, const uint16_t* weights, const TileOutput* out,
             float* partial) {
  const size_t weight_column = static_cast<size_t>(s.in_blocks) * 8 * kSide * 32;
  const size_t block_stride = static_cast<size_t>(s.tiles) * kSide * 16, column = block_stride * s.in_blocks;
  // Tiles that go through all columns before the next ones: their sums stay in the first-level cache, and the
  // weights of a column serve all of them.
  const int most = s.in_blocks == 1 ? kGroup : 4 * kGroup;
  for (int block = 0; block < blocks_of(s.channels); ++block, weights += kSide * weight_column) {
    Emit total(s, block);
    for (int first = 0; first < s.tiles; first += most) {
      const int tiles = s.tiles - first < most ? s.tiles - first : most;
      for (int j = 0; j < kSide; ++j)
        for (int t = 0; t < tiles; t += kGroup)
          kColumnOfTiles[tiles - t < kGroup ? tiles - t : kGroup](
              values + j * column + (first + t) * kSide * 16, block_stride, s.in_blocks,
              weights + j * weight_column, partial + t * kPartial + j * 16);
      Emit emit = total;  // in registers
      for (int t = 0; t < tiles; ++t) finish_tile(partial + t * kPartial, out[first + t], emit);
      total = emit;
    }
    total.add_up();
  }
}

constexpr WinogradKernels kKernels{"F(4x4)",
                                   kTile,
                                   kSide* kSide,
                                   kPartial,
                                   3e-2f,
                                   pack_weights<Transform>,
                                   unpack_gradient<Transform>,
                                   input,
                                   product,
                                   input_pairs,
                                   gradient_pairs,
                                   multiply_pairs};

}  // namespace

const WinogradKernels& winograd4_bf16() { return kKernels; }

}  // namespace radl::engine::own
