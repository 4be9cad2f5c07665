#include "engine/optim/matrix_panel.h"

namespace radl::engine {
namespace {

constexpr size_t kLanes = 16, kVectors = 2, kRows = 12;
#include "engine/optim/matrix_panel.inc"

}  // namespace

void panel_avx512(const Panel& p) { whole_panel(p); }

}  // namespace radl::engine
