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

// Of the columns of panel p, the rows below `rows_of(p)`.
template <class Rows>
void by_panels(ProductShape s, const float* a, const float* b, float* c, int threads, Rows&& rows_of) {
  const size_t panels = (s.columns + kPanel - 1) / kPanel;
  const PanelProduct product = panel_product();
  parallel_for(std::max(1, threads), panels, 1, [&](size_t from, size_t to, int) {
    thread_local std::vector<float> packed;
    packed.resize(s.inner * kPanel);
    for (size_t p = from; p < to; ++p) {
      const size_t first = p * kPanel, width = std::min(kPanel, s.columns - first);
      for (size_t k = 0; k < s.inner; ++k) {
        float* row = packed.data() + k * kPanel;
        std::copy_n(b + k * s.columns + first, width, row);
        std::fill(row + width, row + kPanel, 0.0f);
      }
      product({a, rows_of(p), s.inner, packed.data(), c + first, s.columns, width});
    }
  });
}

}  // namespace

void multiply(ProductShape s, const float* a, const float* b, float* c, int threads) {
  by_panels(s, a, b, c, threads, [&](size_t) { return s.rows; });
}

void multiply_symmetric(ProductShape s, const float* a, const float* b, float* c, int threads) {
  by_panels(s, a, b, c, threads, [&](size_t p) { return std::min(s.rows, (p + 1) * kPanel); });
  for (size_t i = 0; i < s.rows; ++i)
    for (size_t j = i + 1; j < s.columns; ++j) c[j * s.columns + i] = c[i * s.columns + j];
}

void transpose(const float* in, size_t rows, size_t columns, float* out) {
  constexpr size_t kBlock = 16;
  for (size_t r = 0; r < rows; r += kBlock)
    for (size_t c = 0; c < columns; c += kBlock)
      for (size_t i = r; i < std::min(rows, r + kBlock); ++i)
        for (size_t j = c; j < std::min(columns, c + kBlock); ++j) out[j * rows + i] = in[i * columns + j];
}

}  // namespace radl::engine
