// How many nodes an elastic farm requests while it runs; its caller creates and removes them.

#include <fmt/format.h>

#include <algorithm>

#include "runtime/farm/sizing.h"
#include "runtime/steps/farm/farm_run_state.h"

namespace radl::farm {
namespace {

constexpr std::chrono::seconds kBetweenSizes{1};
// A change is worth it only if it saves more than so many seconds: meanwhile nobody starts tasks.
constexpr double kChangeSeconds = 10;
// If a node could not be created, no more are requested until then.
constexpr std::chrono::seconds kAfterMissing{120};

}  // namespace

bool FarmRun::is_elastic() const {
  return program_.value("elastic", false) && json::member(farm_.table().approved(), "nodes").is_object();
}

bool FarmRun::lengths_are_given() const {
  return !settings_.search && std::all_of(settings_.tasks.begin(), settings_.tasks.end(),
                                          [](const Task& task) { return task.seconds > 0; });
}

TrialsLeft FarmRun::trials_left() const { return search_ ? search_->left() : TrialsLeft(); }

bool FarmRun::has_waiting() const {
  return farm_.table().count(State::Waiting) > 0 || trials_left().count > 0;
}

SizeQuestion FarmRun::size_question() const {
  const Json& terms = json::member(farm_.table().approved(), "nodes");
  SizeQuestion question{trials_left(), settings_.trial_needs};
  for (const NodeHandle& node : nodes_) question.there.push_back(node.address);
  question.offered = pool_.capacity(0);
  question.most = static_cast<size_t>(json::number_of(terms, "most"));
  question.least = std::min(nodes_.size(), question.most);
  question.create_seconds = json::number_of(terms, "create_seconds") + kChangeSeconds;
  question.idle_seconds = settings_.elastic.idle_seconds;
  question.worth = settings_.elastic.worth;
  if (const auto left = farm_.table().approval().node_seconds_left(now())) question.paid_most = *left;
  return question;
}

void FarmRun::ask_for_nodes(const std::vector<int>& ordinals, const std::string& why) {
  resizes_ = true;
  record(nodes_event(ordinals.size(), now()));
  emit_metric(0, {{"event", "resize"}, {"system", nodes_[0].node->system}, {"nodes", ordinals}});
  tell("", why, "ok");
}

bool FarmRun::is_idle(size_t node) {
  const bool idle = ready_[node] && farm_.running_on(nodes_[node].address).empty();
  if (!idle) idle_since_[node].reset();
  if (idle && !idle_since_[node]) idle_since_[node] = SteadyClock::now();
  return idle && std::chrono::duration<double>(SteadyClock::now() - *idle_since_[node]).count() >=
                     settings_.elastic.idle_seconds;
}

// Nodes that have been idle for long enough, if no task is left for them and others still work.
std::vector<size_t> FarmRun::idle_nodes() {
  std::vector<size_t> idle;
  const bool waits = !is_paused() && has_waiting();
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (is_idle(i) && !waits) idle.push_back(i);
  const size_t least = std::max<size_t>(settings_.elastic.least, 1);
  while (!idle.empty() && nodes_.size() - idle.size() < least) idle.erase(idle.begin());
  return idle;
}

void FarmRun::remove_idle_nodes(const std::vector<size_t>& idle) {
  std::vector<int> left;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (std::find(idle.begin(), idle.end(), i) == idle.end()) {
      left.push_back(nodes_[i].node->ordinal);
      continue;
    }
    removing_[i] = true;
    record(gone_event(nodes_[i].address, "it is idle and is removed", now()));
  }
  std::sort(left.begin(), left.end());
  resizes_ = true;
  auto waits = std::make_shared<size_t>(idle.size());
  const std::string why =
      fmt::format("{} idle node{} removed", idle.size(), idle.size() == 1 ? " is" : "s are");
  for (const size_t node : idle)  // their logs outlive them
    errand(
        node, [this, node] { return keep_logs(pool_.member(node), folder_, log_.redactor()); },
        [this, node, waits, left, why](const Status& kept) {
          tell_logs(node, kept);
          if (--*waits == 0) ask_for_nodes(left, why);
        });
}

void FarmRun::keep_all_logs() {
  if (!is_elastic()) return;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (ready_[i]) tell_logs(i, keep_logs(pool_.member(i), folder_, log_.redactor()));
  }
}

void FarmRun::tell_logs(size_t node, const Status& kept) {
  if (!kept.ok()) tell(nodes_[node].address, "its logs cannot be fetched: " + kept.message(), "failed");
}

// More nodes, once lengths are known and every node takes tasks.
void FarmRun::ask_for_more() {
  const Table& table = farm_.table();
  const bool measured = table.done() >= kMeasuredTasks;
  const bool all_there = std::all_of(ready_.begin(), ready_.end(), [](bool ready) { return ready; });
  const bool refused = nodes_.size() < step_.nodes.size() && SteadyClock::now() - begun_ < kAfterMissing;
  if (refused || is_paused() || !(lengths_are_given() || measured) || !all_there) return;
  const SizeQuestion question = size_question();
  if (nodes_.size() >= question.most) return;
  const Size size = best_size(farm_, now(), question);
  if (size.nodes <= nodes_.size()) return;
  std::set<int> ordinals;
  for (const NodeHandle& node : nodes_) ordinals.insert(node.node->ordinal);
  for (int free = 0; ordinals.size() < size.nodes; ++free) ordinals.insert(free);
  ask_for_nodes({ordinals.begin(), ordinals.end()},
                fmt::format("{} nodes instead of {}: it then ends in about {}", size.nodes, nodes_.size(),
                            duration_text(size.run.seconds)));
}

void FarmRun::watch_size() {
  if (!is_elastic() || resizes_ || nodes_.empty() || SteadyClock::now() < next_size_) return;
  const SteadyClock::time_point begun = SteadyClock::now();
  const Json& terms = json::member(farm_.table().approved(), "nodes");
  if (const std::vector<size_t> idle = idle_nodes(); !idle.empty() && !json::flag_of(terms, "keep"))
    remove_idle_nodes(idle);
  else if (has_waiting())
    ask_for_more();
  next_size_ =
      SteadyClock::now() + std::max<SteadyClock::duration>(kBetweenSizes, 20 * (SteadyClock::now() - begun));
}

}  // namespace radl::farm
