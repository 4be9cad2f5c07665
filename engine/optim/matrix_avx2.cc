#include "engine/optim/matrix_panel.h"

namespace radl::engine {
namespace {

constexpr size_t kLanes = 8, kVectors = 2, kRows = 6;
#include "engine/optim/matrix_panel.inc"

}  // namespace

void panel_avx2(const Panel& p) { whole_panel(p); }

}  // namespace radl::engine
