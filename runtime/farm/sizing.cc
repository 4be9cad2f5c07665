#include "runtime/farm/sizing.h"

#include <fmt/format.h>

#include <algorithm>

namespace radl::farm {
namespace {

constexpr size_t kAllTried = 16;  // up to so many nodes, each number is tried; then an eighth more each time
constexpr size_t kManyTasks = 1000;  // of more, half as many nodes more each time: a rehearsal takes long

Rehearsal run_with(const Farm& farm, double now, const SizeQuestion& question, size_t nodes) {
  std::map<std::string, Resources> there;
  Comings comings{{}, question.create_seconds, question.idle_seconds};
  for (size_t i = 0; i < nodes; ++i) {
    if (i < question.there.size())
      there[question.there[i]] = question.offered;
    else
      comings.late[fmt::format("new {:06}", i)] = question.offered;
  }
  return rehearse_rest(with_nodes(farm, there), now, question.trials, question.trial_needs, comings);
}

}  // namespace

Size best_size(const Farm& farm, double now, const SizeQuestion& question) {
  const Table& table = farm.table();
  size_t left = question.trials.count;
  for (const TaskRecord& task : table.tasks()) left += is_over(task.state) ? 0 : 1;
  Size best;
  if (left == 0 || question.most == 0) return best;
  best.nodes = std::clamp<size_t>(question.least, 1, question.most);
  const size_t most = std::clamp(left, best.nodes, question.most);
  best.run = run_with(farm, now, question, best.nodes);
  if (!best.run.known) {
    best.nodes = std::clamp(question.there.size(), best.nodes, question.most);
    return best;
  }
  const auto price = [&](const Rehearsal& run) { return question.worth * run.seconds + run.paid_seconds; };
  double least = price(best.run);
  const size_t part = left > kManyTasks ? 2 : 8;
  for (size_t nodes = best.nodes + 1; nodes <= most;
       nodes += part == 8 && nodes < kAllTried ? 1 : std::max<size_t>(1, nodes / part)) {
    Rehearsal run = run_with(farm, now, question, nodes);
    if (run.never > 0 || run.paid_seconds > question.paid_most || price(run) >= least) continue;
    least = price(run);
    best = {nodes, std::move(run)};
  }
  return best;
}

}  // namespace radl::farm
