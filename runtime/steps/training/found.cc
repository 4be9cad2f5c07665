#include "runtime/steps/training/found.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "runtime/base/job_members.h"

namespace radl::training {
namespace {

using jobs::ProcessState;
using Look = jobs::Member::Look;

// The number of a process "worker-3".
std::optional<int> worker_number(const std::string& process) {
  constexpr std::string_view kBefore = "worker-";
  int number = 0;
  if (!process.starts_with(kBefore)) return std::nullopt;
  const char* end = process.data() + process.size();
  const auto [at, error] = std::from_chars(process.data() + kBefore.size(), end, number);
  return error == std::errc() && at == end && number >= 0 ? std::optional(number) : std::nullopt;
}

// The workers of this run by their nodes. Those that run come first: a worker that has left may have had the
// number that another one has now.
std::map<size_t, int> numbers_of(const std::vector<Look>& looks, const std::string& run) {
  std::map<size_t, int> numbers;
  std::set<int> taken;
  for (const auto phase : {ProcessState::Phase::Running, ProcessState::Phase::Ended}) {
    for (size_t i = 0; i < looks.size(); ++i) {
      const bool has_left = looks[i].cancelled && phase == ProcessState::Phase::Ended;
      if (looks[i].run != run || has_left) continue;
      for (const auto& [name, state] : looks[i].processes) {
        const std::optional<int> number = worker_number(name);
        if (!number || state.phase != phase || numbers.contains(i)) continue;
        if (taken.insert(*number).second) numbers[i] = *number;
      }
    }
  }
  return numbers;
}

}  // namespace

Found find_training(const Json& training, const std::vector<NodeHandle>& nodes,
                    const std::vector<Look>& looks, const std::string& run, Layout& layout) {
  Found found;
  const std::map<size_t, int> numbers = numbers_of(looks, run);
  std::vector<std::string> missed;
  found.same = true;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!numbers.contains(i) && has_workers_only(training, nodes[i].address)) {
      found.without.insert(i);
      missed.push_back(nodes[i].address);
    } else {
      found.same &= looks[i].run == run;
    }
  }
  found.same &= missed.empty() || continues_without(training, missed);
  if (!found.same) return found;
  number_workers(layout, numbers);
  found.whole = true;
  bool well = false, led = false, runs_chief = false;  // led: by a task that runs or has finished
  for (const Task& task : layout.tasks) {
    if (found.without.contains(task.node)) continue;
    const ProcessState state = looks[task.node].of(task.file());
    const bool runs = state.phase == ProcessState::Phase::Running;
    const bool ended = state.phase == ProcessState::Phase::Ended;
    found.running |= runs;
    well |= runs || (ended && state.exit == 0);
    led |= layout.may_lead(task) && (runs || (ended && state.exit == 0));
    found.whole &= runs || (ended && (state.exit == 0 || layout.may_lose(task)));
    if (layout.succession && layout.may_lead(task) &&
        (runs ? !std::exchange(runs_chief, true) : !runs_chief && state.exit == 0))
      layout.chief = static_cast<size_t>(&task - layout.tasks.data());
  }
  found.whole &= well && led;
  return found;
}

}  // namespace radl::training
