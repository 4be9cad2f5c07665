// The rounds of mode `sync`: who takes part, and what is applied when all of them have pushed.
#include <algorithm>

#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

bool Shard::may_form() const {
  size_t waiting = 0;
  for (const auto& [worker, member] : members_) {
    if (!member.present || !member.asked) continue;
    if (!member.waiting) return false;
    ++waiting;
  }
  if (waiting == 0) return false;
  if (next_round_ > 1 || waiting >= options_.expected_workers) return true;
  return gather_until_ && Clock::now() >= *gather_until_;
}

// Gives every waiting worker its batch of the next round, in the order of their numbers.
void Shard::form_round() {
  if (options_.mode != Mode::Sync || !may_form()) return;
  Assignment assignment{.round = next_round_};
  struct Given {
    uint32_t worker;
    Member* member;
    uint64_t ticket;
  };
  std::vector<Given> given;
  for (auto& [worker, member] : members_) {
    if (!member.present || !member.waiting) continue;
    std::optional<uint64_t> ticket = tickets_.take(worker);
    if (!ticket) break;
    given.push_back({worker, &member, *ticket});
    assignment.participants.push_back(member.incarnation);
  }
  if (given.empty()) return;
  ++next_round_;
  for (auto& [worker, member, ticket] : given) {
    assignment.ticket = ticket;
    assignment.then = tickets_.reserve(worker).value_or(ticket);
    member->assignment = assignment;
    member->waiting = false;
    member->assigned = true;
  }
  changed_.notify_all();
}

Status Shard::push_round(Lock& lock, uint32_t worker, uint64_t pass, const Push& push, Part part) {
  if (push.round <= rounds_applied_) return {};  // it was decided without this late one
  Round& round = rounds_[push.round];
  round.participants = push.participants;
  part.incarnation = members_[worker].incarnation;
  round.parts[worker] = std::move(part);
  close_rounds();
  changed_.notify_all();
  for (;;) {
    if (rounds_applied_ >= push.round) return {};
    if (Status gone = check(worker, pass); !gone.ok()) return gone;
    changed_.wait_for(lock, kSlice);
  }
}

// Whether somebody who takes part and is still here has not pushed.
bool Shard::awaits(const Round& round) const {
  for (const auto& [worker, member] : members_) {
    if (!member.present || std::find(round.participants.begin(), round.participants.end(),
                                     member.incarnation) == round.participants.end())
      continue;
    auto part = round.parts.find(worker);
    if (part == round.parts.end() || part->second.incarnation != member.incarnation) return true;
  }
  return false;
}

void Shard::close_rounds() {
  while (!rounds_.empty()) {
    auto first = rounds_.begin();
    if (awaits(first->second)) return;
    apply_round(first->second);
    for (auto& [worker, part] : first->second.parts) spare_.push_back(std::move(part));
    rounds_applied_ = first->first;
    rounds_.erase(first);
    changed_.notify_all();
  }
}

void Shard::apply_round(const Round& round) {
  const float first_rate =
      std::min_element(round.parts.begin(), round.parts.end(), [](const auto& a, const auto& b) {
        return a.second.ticket < b.second.ticket;
      })->second.rate;
  uint32_t most = 0;
  uint64_t newest = 0;
  for (const auto& [worker, part] : round.parts) {
    most = std::max(most, part.images);
    newest = std::max(newest, part.ticket);
  }
  // 1 for a full batch; less for one from which corrupt images were left out.
  const auto weight_of = [most](const Part& part) {
    return most == 0 ? 1.0f : static_cast<float>(part.images) / static_cast<float>(most);
  };
  scratch_.assign(weights_.size(), 0.0f);
  float total = 0;
  for (const auto& [worker, part] : round.parts) {
    const float weight = weight_of(part);
    total += weight;
    for (size_t i = 0; i < part.gradients.size(); ++i) scratch_[i] += weight * part.gradients[i];
  }
  optimizer_->step(weights_, scratch_, first_rate, 1.0f / total);
  average_.update(weights_, newest);
  ++version_;
  for (const auto& [worker, part] : round.parts) tickets_.complete(part.ticket);
  for (size_t i = 0; i < statistics_.size(); ++i) {
    float keep = 0, added = 0;
    for (const auto& [worker, part] : round.parts) {
      const float weight = weight_of(part);
      keep += weight * (part.statistics.empty() ? 1 : kept(keep_[i], part.updates));
      added += weight * (part.statistics.empty() ? 0 : part.statistics[i]);
    }
    // Divided, not multiplied by a share: a statistic that every part keeps whole stays the same bits.
    statistics_[i] = keep / total * statistics_[i] + added / total;
  }
}

}  // namespace radl::engine::cluster
