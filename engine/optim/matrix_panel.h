// One panel of a matrix product, compiled for each instruction set from matrix_panel.inc.
#pragma once

#include <cstddef>

namespace radl::engine {

inline constexpr size_t kPanel = 32;  // columns

struct Panel {
  const float* a;  // rows x inner
  size_t rows, inner;
  const float* b;  // inner x kPanel
  float* c;        // rows x width, `stride` apart
  size_t stride, width;
};
using PanelProduct = void (*)(const Panel&);

void panel_baseline(const Panel& p);
void panel_avx2(const Panel& p);
void panel_avx512(const Panel& p);

}  // namespace radl::engine
