#include "engine/kernels/peak.h"

#include <algorithm>
#include <vector>

#include "common/clock.h"
#include "engine/kernels/conv.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {

namespace {

// The fastest of some calls, after one that warms up.
template <class F>
double fastest(int calls, F&& f) {
  double best = 1e30;
  for (int i = 0; i <= calls; ++i) {
    const auto begin = SteadyClock::now();
    f();
    const double seconds = seconds_since(begin);
    if (i > 0) best = std::min(best, seconds);
  }
  return best;
}

double gemm(Type type, int threads) {
  constexpr int kRows = 4096, kDepth = 1024;
  const ConvGeometry g{kRows, 1, 1, kDepth, 1, 1, kDepth};
  Buffer x(static_cast<size_t>(kRows) * kDepth * size_of(type)), y(x.size());
  const std::vector<float> weights(static_cast<size_t>(kDepth) * kDepth, 0.5f);
  double best = 0;
  for (const char* kernels : {"onednn", "direct", "eigen"}) {
    const ConvRequest request{g, type, threads, false, false, std::make_shared<Workspace>(threads)};
    Result<ChosenConv> made = make_conv(request, kernels);
    if (!made || (best > 0 && std::string_view(kernels) == "eigen")) continue;
    made->kernel->set_weights(weights.data(), false);
    const double seconds =
        fastest(4, [&] { made->kernel->forward(kRows, x.data(), nullptr, y.data(), nullptr); });
    best = std::max(best, g.flop(kRows) / seconds);
  }
  return best;
}

double bandwidth(int threads) {
  constexpr size_t kCount = size_t{16} << 20;  // of floats: 64 MiB
  constexpr int kChannels = 64;
  Buffer x(kCount * 4), y(kCount * 4), z(kCount * 4);
  const ElementwiseKernels& kernels = elementwise(Type::F32);
  const PointwiseArgs args{Act::None, 0, kChannels};
  const double seconds = fastest(4, [&] {
    parallel_for(threads, kCount / kChannels, 64, [&](size_t begin, size_t end, int) {
      const size_t at = begin * kChannels;
      kernels.pointwise(args, end - begin, x.as<float>() + at, y.as<float>() + at, z.as<float>() + at);
    });
  });
  return 3.0 * kCount * 4 / seconds;
}

}  // namespace

Peaks measure_peaks(Type type, int threads) { return {gemm(type, threads), bandwidth(threads)}; }

}  // namespace radl::engine
