#include "engine/train/step.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace radl::engine {

int piece_size(const Job& job) { return (job.batch_size + job.accumulate - 1) / job.accumulate; }

std::chrono::duration<double> paced_step(const PaceSpec& pace, int images, uint64_t seed, uint64_t ticket) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + ticket);
  std::normal_distribution<double> normal(1, std::max(pace.spread, 1e-12));
  return std::chrono::duration<double>((pace.fixed_seconds + pace.seconds_per_image * images) *
                                       std::max(normal(random), 0.0));
}

// A third of a step is the forward pass. Then the layers' gradients become final, one after the other.
StepResult BatchStep::wait(const Batch& batch, uint64_t ticket, const GradientsReady& ready) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> step = paced_step(pace_, batch.size, seed_, ticket);
  std::fill(network_.gradients().begin(), network_.gradients().end(), 0.0f);
  const std::vector<ParameterInfo>& layers = network_.parameter_layout();
  const auto count = static_cast<double>(layers.size());
  for (size_t i = layers.size(); i-- > 0;) {
    const double done = 1.0 / 3 + 2.0 / 3 * (count - static_cast<double>(i)) / count;
    std::this_thread::sleep_until(
        begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(done * step));
    if (ready) ready(layers[i].offset, layers[i].offset + layers[i].size);
  }
  return {};
}

StepResult BatchStep::run(const Batch& batch, uint64_t ticket, const GradientsReady& ready) {
  if (pace_.given()) return wait(batch, ticket, ready);
  sum_.clear();
  pieces_ = 1;
  if (batch.size <= piece_) {
    network_.set_step(ticket);
    return network_.forward_backward(batch, ready);
  }
  const size_t pixels = batch.images.size() / static_cast<size_t>(batch.size);
  const uint64_t pieces = static_cast<uint64_t>((batch.size + piece_ - 1) / piece_);
  pieces_ = static_cast<uint32_t>(pieces);
  sum_.assign(network_.gradients().size(), 0.0f);
  StepResult total{};
  double loss = 0;
  for (uint64_t p = 0; p < pieces; ++p) {
    const size_t first = static_cast<size_t>(p) * static_cast<size_t>(piece_);
    const int size = std::min(piece_, batch.size - static_cast<int>(first));
    const size_t count = static_cast<size_t>(size);
    network_.set_step(ticket * pieces + p);  // each piece has its own random numbers
    StepResult part = network_.forward_backward(
        {batch.images.subspan(first * pixels, count * pixels), batch.labels.subspan(first, count), size});
    const float share = static_cast<float>(size) / static_cast<float>(batch.size);
    std::span<const float> gradients = network_.gradients();
    for (size_t i = 0; i < sum_.size(); ++i) sum_[i] += share * gradients[i];
    loss += static_cast<double>(part.loss) * size;
    total.correct += part.correct;
  }
  total.loss = static_cast<decltype(total.loss)>(loss / batch.size);
  if (ready) ready(0, sum_.size());
  return total;
}

std::span<float> BatchStep::gradients() {
  return sum_.empty() ? network_.gradients() : std::span<float>(sum_);
}

}  // namespace radl::engine
