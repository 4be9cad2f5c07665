#include "engine/optim/training_state.h"

#include <algorithm>

namespace radl::engine {
namespace {

using Offset = std::vector<float>::difference_type;

std::vector<float> slice(const std::vector<float>& from, uint64_t first, uint64_t end) {
  if (from.empty()) return {};
  return {from.begin() + static_cast<Offset>(first), from.begin() + static_cast<Offset>(end)};
}

Status place(const std::vector<float>& from, uint64_t first, uint64_t end, size_t size,
             std::vector<float>& to) {
  if (from.size() != end - first || end > size)
    return {Code::Corrupt, "numbers of another part of the model"};
  to.resize(size);
  std::copy(from.begin(), from.end(), to.begin() + static_cast<Offset>(first));
  return {};
}

}  // namespace

TrainingState part_of(const TrainingState& whole, uint64_t first, uint64_t end) {
  TrainingState out;
  if (first == 0) {
    out.next = whole.next;
    out.again = whole.again;
    out.statistics = whole.statistics;
  }
  out.version = whole.version;
  out.weights = slice(whole.weights, first, end);
  if (whole.averaged > 0) out.average = slice(whole.average, first, end);
  out.averaged = whole.averaged;
  out.optimizer_steps = whole.optimizer_steps;
  for (const std::vector<float>& v : whole.optimizer) out.optimizer.push_back(slice(v, first, end));
  return out;
}

Status put_part(TrainingState part, uint64_t first, uint64_t end, TrainingState& whole) {
  const size_t size = whole.weights.size();
  Status placed = place(part.weights, first, end, size, whole.weights);
  whole.optimizer.resize(part.optimizer.size());
  for (size_t i = 0; placed.ok() && i < part.optimizer.size(); ++i)
    placed = place(part.optimizer[i], first, end, size, whole.optimizer[i]);
  const bool averages = first == 0 ? part.averaged > 0 : whole.averaged > 0;
  if (first == 0) whole.average.clear();
  if (placed.ok() && averages)
    placed = place(part.averaged > 0 ? part.average : part.weights, first, end, size, whole.average);
  if (!placed.ok() || first > 0) return placed;
  whole.next = part.next;
  whole.again = std::move(part.again);
  whole.version = part.version;
  whole.statistics = std::move(part.statistics);
  whole.averaged = part.averaged;
  whole.optimizer_steps = part.optimizer_steps;
  return {};
}

TrainingState Trainee::capture() const {
  TrainingState out;
  out.version = out.optimizer_steps = optimizer.steps();
  out.weights.assign(weights.begin(), weights.end());
  out.statistics.assign(statistics.begin(), statistics.end());
  out.average.assign(average.values().begin(), average.values().end());
  out.averaged = average.count();
  std::span<const float> state = optimizer.state();
  for (; !weights.empty() && state.size() >= weights.size(); state = state.subspan(weights.size()))
    out.optimizer.emplace_back(state.begin(), state.begin() + static_cast<Offset>(weights.size()));
  return out;
}

Status Trainee::restore(const TrainingState& from) const {
  const std::span<float> state = optimizer.state();
  bool fits = from.weights.size() == weights.size() && from.statistics.size() == statistics.size() &&
              from.average.size() == (from.averaged > 0 ? weights.size() : 0) &&
              from.optimizer.size() * weights.size() == state.size();
  for (const std::vector<float>& v : from.optimizer) fits = fits && v.size() == weights.size();
  if (!fits) return {Code::Corrupt, "the state's numbers do not fit the model and its optimizer"};
  std::copy(from.weights.begin(), from.weights.end(), weights.begin());
  std::copy(from.statistics.begin(), from.statistics.end(), statistics.begin());
  auto to = state.begin();
  for (const std::vector<float>& v : from.optimizer) to = std::copy(v.begin(), v.end(), to);
  optimizer.set_steps(from.optimizer_steps);
  average.restore(from.average, from.averaged);
  return {};
}

}  // namespace radl::engine
