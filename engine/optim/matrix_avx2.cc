#include <immintrin.h>

#include "engine/optim/matrix_panel.h"

namespace radl::engine {
namespace {

constexpr size_t kLanes = 8, kVectors = 2, kRows = 6;
typedef float Lanes __attribute__((vector_size(kLanes * 4)));
inline void add_product(Lanes& sum, float left, Lanes right) {
  sum = _mm256_fmadd_ps(_mm256_set1_ps(left), right, sum);
}
#include "engine/optim/matrix_panel.inc"

}  // namespace

void panel_avx2(const Panel& p) { whole_panel(p); }

}  // namespace radl::engine
