#include "engine/optim/matrix_panel.h"

namespace radl::engine {
namespace {

constexpr size_t kLanes = 4, kVectors = 2, kRows = 4;
#include "engine/optim/matrix_panel.inc"

}  // namespace

void panel_baseline(const Panel& p) { whole_panel(p); }

}  // namespace radl::engine
