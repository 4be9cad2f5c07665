#include "engine/train/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/clock.h"

namespace radl::engine {

Result<Supplies> make_supplies(const Setup& setup, const Job& job) {
  Supplies out;
  Result<std::unique_ptr<Optimizer>> optimizer =
      Optimizer::make(optimizer_config(job), setup.network->parameter_layout());
  if (!optimizer) return std::move(optimizer).status().at("optimizer");
  out.optimizer = std::move(*optimizer);
  Result<std::unique_ptr<data::Loader>> batches = make_loader(setup, job);
  if (!batches) return std::move(batches).status();
  out.batches = std::move(*batches);
  return out;
}

Checkpoint capture(const Trainee& from, const cluster::TicketState& tickets) {
  const auto begin = SteadyClock::now();
  Checkpoint c;
  c.next = tickets.next;
  c.again = tickets.again;
  c.step = c.next - c.again.size();
  c.version = c.optimizer_steps = from.optimizer.steps();
  c.weights.assign(from.network.parameters().begin(), from.network.parameters().end());
  c.statistics.assign(from.network.statistics().begin(), from.network.statistics().end());
  c.average.assign(from.average.values().begin(), from.average.values().end());
  c.averaged = from.average.count();
  std::span<float> state = from.optimizer.state();
  for (size_t at = 0; at + c.weights.size() <= state.size(); at += c.weights.size()) {
    c.optimizer.emplace_back(state.begin() + static_cast<long>(at),
                             state.begin() + static_cast<long>(at + c.weights.size()));
  }
  c.capture_seconds = seconds_since(begin);
  return c;
}

Status restore(const Checkpoint& from, const Trainee& to) {
  std::span<float> state = to.optimizer.state();
  bool fits = from.weights.size() == to.network.parameters().size() &&
              from.statistics.size() == to.network.statistics().size() &&
              from.optimizer.size() * from.weights.size() == state.size() &&
              from.average.size() == (from.averaged > 0 ? from.weights.size() : 0);
  for (const std::vector<float>& v : from.optimizer) fits = fits && v.size() == from.weights.size();
  if (!fits) return {Code::Corrupt, "the checkpoint's numbers do not fit the model and its optimizer"};
  std::copy(from.weights.begin(), from.weights.end(), to.network.parameters().begin());
  std::copy(from.statistics.begin(), from.statistics.end(), to.network.statistics().begin());
  for (size_t i = 0; i < from.optimizer.size(); ++i) {
    std::copy(from.optimizer[i].begin(), from.optimizer[i].end(),
              state.begin() + static_cast<long>(i * from.weights.size()));
  }
  to.optimizer.set_steps(from.optimizer_steps);
  to.average.restore(from.average, from.averaged);
  to.network.parameters_changed();
  return {};
}

Status check_fits(const Checkpoint& c, const Job& job, const Setup& setup) {
  if (c.model != setup.network->description() || c.weights.size() != setup.network->parameters().size() ||
      c.statistics.size() != setup.network->statistics().size()) {
    return invalid("the checkpoint is of another model; give another directory, or \"resume\": \"never\"");
  }
  if (std::string other = differing_settings(c.settings, resume_settings(job)); !other.empty()) {
    return invalid("the checkpoint is of a job with other settings: " + other +
                   "; give another directory, or \"resume\": \"never\"");
  }
  if (c.step > setup.length.total) {
    return invalid(fmt::format(
        "the checkpoint is at epoch {:g}, beyond the {:g} of this job; give another directory, or "
        "\"resume\": \"never\"",
        setup.length.epoch_of(c.step), job.epochs));
  }
  return {};
}

cluster::Init to_init(Checkpoint from) {
  cluster::Init out;
  out.parameters = out.count = from.weights.size();
  out.version = from.version;
  out.tickets.next = from.next;
  out.tickets.again = std::move(from.again);
  out.weights = std::move(from.weights);
  out.statistics = std::move(from.statistics);
  out.state = {from.optimizer_steps, std::move(from.optimizer)};
  out.average.count = from.averaged;
  out.average.values = std::move(from.average);
  return out;
}

Checkpoint from_init(cluster::Init from) {
  Checkpoint out;
  out.version = from.version;
  out.next = from.tickets.next;
  out.again = std::move(from.tickets.again);
  out.step = out.next - std::min<uint64_t>(out.next, out.again.size());
  out.weights = std::move(from.weights);
  out.statistics = std::move(from.statistics);
  out.optimizer_steps = from.state.steps;
  out.optimizer = std::move(from.state.vectors);
  out.averaged = from.average.count;
  out.average = std::move(from.average.values);
  return out;
}

}  // namespace radl::engine
