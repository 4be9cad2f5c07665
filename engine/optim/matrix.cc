#include "engine/optim/matrix.h"

#include <algorithm>
#include <vector>

#include "engine/kernels/cpu.h"
#include "engine/kernels/parallel.h"
#include "engine/optim/matrix_panel.h"

namespace radl::engine {

namespace {

PanelProduct panel_product() {
  if (cpu().avx512) return panel_avx512;
  return cpu().avx2 ? panel_avx2 : panel_baseline;
}

// Columns [first, first + width) of a matrix, as a panel has them.
struct Slice {
  size_t first, width;
};

// product(p) for each panel of c; `pack(slice, packed)` brings the panel's columns of the right factor, and
// rows below `rows_of(p)` are computed.
template <class Pack, class Rows>
void by_panels(ProductShape s, const float* a, float* c, int threads, Pack&& pack, Rows&& rows_of) {
  const size_t panels = (s.columns + kPanel - 1) / kPanel;
  const PanelProduct product = panel_product();
  parallel_for(std::max(1, threads), panels, 1, [&](size_t from, size_t to, int) {
    thread_local std::vector<float> packed;
    packed.assign(s.inner * kPanel, 0.0f);
    for (size_t i = from; i < to; ++i) {
      // In turns from both ends, so that a thread's share of a triangle's panels is as long as another's.
      const size_t p = i % 2 == 0 ? i / 2 : panels - 1 - i / 2;
      const Slice slice{p * kPanel, std::min(kPanel, s.columns - p * kPanel)};
      pack(slice, packed.data());
      product({a, rows_of(p), s.inner, packed.data(), c + slice.first, s.columns, slice.width});
    }
  });
}

void pack_columns(const float* b, size_t rows, size_t columns, Slice slice, float* packed) {
  for (size_t k = 0; k < rows; ++k)
    std::copy_n(b + k * columns + slice.first, slice.width, packed + k * kPanel);
}

// The rows of `b` as columns.
void pack_rows(const float* b, size_t columns, Slice slice, float* packed) {
  constexpr size_t kBlock = 16;
  for (size_t k = 0; k < columns; k += kBlock)
    for (size_t j = 0; j < slice.width; ++j) {
      const float* row = b + (slice.first + j) * columns;
      for (size_t i = k; i < std::min(columns, k + kBlock); ++i) packed[i * kPanel + j] = row[i];
    }
}

// Of a symmetric n x n product, the rows that its panel p must have itself.
auto upper_part(size_t n) {
  return [n](size_t p) { return std::min(n, (p + 1) * kPanel); };
}

void mirror(size_t n, float* c) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j) c[j * n + i] = c[i * n + j];
}

}  // namespace

void multiply(ProductShape s, const float* a, const float* b, float* c, int threads) {
  by_panels(
      s, a, c, threads,
      [&](Slice slice, float* packed) { pack_columns(b, s.inner, s.columns, slice, packed); },
      [&](size_t) { return s.rows; });
}

void square_symmetric(size_t n, const float* a, float* c, int threads) {
  by_panels(
      {n, n, n}, a, c, threads, [&](Slice slice, float* packed) { pack_columns(a, n, n, slice, packed); },
      upper_part(n));
  mirror(n, c);
}

void multiply_by_own_transpose(size_t rows, size_t columns, const float* a, float* c, int threads) {
  by_panels(
      {rows, columns, rows}, a, c, threads,
      [&](Slice slice, float* packed) { pack_rows(a, columns, slice, packed); }, upper_part(rows));
  mirror(rows, c);
}

void transpose(const float* in, size_t rows, size_t columns, float* out) {
  constexpr size_t kBlock = 16;
  for (size_t r = 0; r < rows; r += kBlock)
    for (size_t c = 0; c < columns; c += kBlock)
      for (size_t i = r; i < std::min(rows, r + kBlock); ++i)
        for (size_t j = c; j < std::min(columns, c + kBlock); ++j) out[j * rows + i] = in[i * columns + j];
}

}  // namespace radl::engine
