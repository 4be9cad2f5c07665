#include "engine/train/statistics.h"

#include <algorithm>

#include "engine/model/graph.h"

namespace radl::engine {
namespace {

constexpr uint64_t kImages = 8192;

}  // namespace

std::vector<float> statistics_keep(const Network& network) {
  const Graph& graph = network.graph();
  std::vector<float> out(graph.statistics_count, 1.0f);
  for (const Layer& layer : graph.layers) {
    if (layer.frozen) continue;
    for (int at : {layer.running_mean, layer.running_var}) {
      if (at < 0) continue;
      const ParameterInfo& p = graph.statistics[static_cast<size_t>(at)];
      std::fill_n(out.begin() + static_cast<long>(p.offset), p.size, 1 - layer.momentum);
    }
  }
  return out;
}

Status recompute_statistics(Setup& setup, const Job& job, const Stop& stop) {
  Network& network = *setup.network;
  const std::span<float> statistics = network.statistics();
  if (statistics.empty()) return {};
  Result<std::unique_ptr<data::Loader>> batches = make_loader(setup, job);
  if (!batches) return std::move(batches).status();
  const std::vector<float> keep = statistics_keep(network);
  const uint64_t count = std::clamp<uint64_t>(kImages / static_cast<uint64_t>(job.batch_size), 1,
                                              std::min(setup.length.batches_per_epoch, setup.length.total));
  const std::vector<float> before(statistics.begin(), statistics.end());
  std::vector<double> sums(statistics.size(), 0.0);
  double images = 0;
  for (uint64_t at = setup.length.total - count; at < setup.length.total; ++at) {
    if (stop.asked()) return {Code::Cancelled, "interrupted"};
    Result<Batch> batch = (*batches)->get(at);
    if (!batch) return std::move(batch).status();
    if (at + 1 < setup.length.total) (*batches)->hint(at + 1);
    const size_t pixels = batch->images.size() / static_cast<size_t>(batch->size);
    for (int first = 0; first < batch->size; first += setup.batch) {
      const int size = std::min(setup.batch, batch->size - first);
      const auto begin = static_cast<size_t>(first), n = static_cast<size_t>(size);
      for (size_t i = 0; i < sums.size(); ++i)
        if (keep[i] < 1) statistics[i] = 0;  // so that the step leaves what it adds
      (void)network.forward_backward(
          {batch->images.subspan(begin * pixels, n * pixels), batch->labels.subspan(begin, n), size});
      for (size_t i = 0; i < sums.size(); ++i)
        if (keep[i] < 1) sums[i] += size * static_cast<double>(statistics[i]) / (1 - keep[i]);
      images += size;
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    statistics[i] = keep[i] < 1 ? static_cast<float>(sums[i] / images) : before[i];
  return {};
}

}  // namespace radl::engine
