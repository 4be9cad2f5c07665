#include <cmath>

#include "engine/optim/matrix_panel.h"

namespace radl::engine {
namespace {

constexpr size_t kLanes = 4, kVectors = 2, kRows = 4;
typedef float Lanes __attribute__((vector_size(kLanes * 4)));
inline void add_product(Lanes& sum, float left, Lanes right) {
  for (size_t i = 0; i < kLanes; ++i) sum[i] = std::fma(left, right[i], sum[i]);
}
#include "engine/optim/matrix_panel.inc"

}  // namespace

void panel_baseline(const Panel& p) { whole_panel(p); }

}  // namespace radl::engine
