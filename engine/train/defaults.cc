#include "engine/train/defaults.h"

#include <cmath>

#include "common/default_batch.h"

namespace radl::engine {
namespace {

constexpr int kBatch = 128;
constexpr double kWarmup = 0.1;

// How a model takes large learning rates: normalisation bounds what an update changes, attention does not.
enum class Family { Plain, Normalised, Attention };

Family family_of(const Graph& graph) {
  Family family = Family::Plain;
  for (const Layer& layer : graph.layers) {
    if (layer.kind == Kind::Attention) return Family::Attention;
    const bool norm =
        layer.kind == Kind::BatchNorm || layer.kind == Kind::LayerNorm || layer.kind == Kind::GroupNorm;
    if (norm && !(layer.kind == Kind::BatchNorm && layer.frozen)) family = Family::Normalised;
  }
  return family;
}

// Peak learning rates for a batch of kBatch.
struct Peaks {
  const char* optimizer;
  double plain, normalised, attention;
};
constexpr Peaks kPeaks[] = {
    {"sgd", 0.01, 0.05, 0.01},
    {"adamw", 0.001, 0.002, 0.001},
    {"lars", 2, 2, 2},
    {"muon", 0.02, 0.05, 0.02},
};

double peak_of(const std::string& optimizer, Family family) {
  for (const Peaks& peaks : kPeaks) {
    if (optimizer == peaks.optimizer)
      return family == Family::Plain        ? peaks.plain
             : family == Family::Normalised ? peaks.normalised
                                            : peaks.attention;
  }
  return kPeaks[0].plain;
}

}  // namespace

Status choose_defaults(Job& job, const Graph& graph, size_t images) {
  const Family family = family_of(graph);
  if (job.batch_size == kChosenSize) job.batch_size = default_batch(images);
  const bool adaptive = family == Family::Attention && job.sync.gradients != Encoding::TopK;
  if (job.optimizer.name == "auto") job.optimizer.name = adaptive ? "adamw" : "sgd";
  // Gradients of smaller batches vary more: the rate falls with the root of the batch.
  if (job.schedule.peak == kChosen)
    job.schedule.peak = peak_of(job.optimizer.name, family) * std::sqrt(job.batch_size / double{kBatch});
  if (job.schedule.warmup == kChosen) job.schedule.warmup = kWarmup;
  return check_job(job);
}

}  // namespace radl::engine
