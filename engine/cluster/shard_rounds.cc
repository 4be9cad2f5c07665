// The rounds of mode `sync`: who takes part, and what is applied when all of them have pushed.
#include <algorithm>
#include <cmath>

#include "engine/cluster/shard.h"

namespace radl::engine::cluster {

bool Shard::may_form() const {
  size_t waiting = 0;
  for (const auto& [worker, member] : members_)
    waiting += member.present && member.asked && member.waiting ? 1 : 0;
  if (waiting < needed()) return false;
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

Result<std::optional<double>> Shard::push_round(Lock& lock, uint32_t worker, uint64_t pass, const Push& push,
                                                Part part) {
  if (push.round <= rounds_applied_) {  // it was decided without this late one
    members_[worker].holds = false;
    return norm_of_applied();
  }
  Round& round = rounds_[push.round];
  round.participants = push.participants;
  part.incarnation = members_[worker].incarnation;
  round.parts[worker] = std::move(part);
  close_rounds();
  changed_.notify_all();
  for (;;) {
    drop_missing();
    if (rounds_applied_ >= push.round) return norm_of_applied();
    if (Status gone = check(worker, pass); !gone.ok()) return gone;
    if (auto own = rounds_.find(push.round); own != rounds_.end() && own->second.squares)
      return own->second.squares;
    changed_.wait_for(lock, kSlice);
  }
}

// What a worker hears whose round is applied: with Norms::OfRound it waits for a norm, whichever.
std::optional<double> Shard::norm_of_applied() const {
  return welcome_.norms == Norms::OfRound ? std::optional(closed_squares_.value_or(0)) : std::nullopt;
}

// Number of members whose pushes complete a round.
size_t Shard::needed() const {
  const auto active = static_cast<size_t>(std::ranges::count_if(
      members_, [](const auto& one) { return one.second.present && one.second.asked; }));
  return active > options_.backups ? active - options_.backups : 1;
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

// Frees the batches of participants that the round no longer waits for.
void Shard::leave_out_slow(const Round& round) {
  for (auto& [worker, member] : members_) {
    const bool takes_part = std::find(round.participants.begin(), round.participants.end(),
                                      member.incarnation) != round.participants.end();
    if (!member.present || !takes_part || round.parts.contains(worker)) continue;
    tickets_.give_back(worker);
    member.holds = false;
  }
}

// Whether a worker whose part is in it is still here and can bring the norm.
bool Shard::has_messenger(const Round& round) const {
  return std::any_of(round.parts.begin(), round.parts.end(), [this](const auto& part) {
    const auto member = members_.find(part.first);
    return member != members_.end() && member->second.present &&
           member->second.incarnation == part.second.incarnation;
  });
}

void Shard::close_rounds() {
  while (!rounds_.empty()) {
    Round& round = rounds_.begin()->second;
    if (!round.summed) {
      if (awaits(round) && (options_.backups == 0 || round.parts.size() < needed())) return;
      leave_out_slow(round);
      sum_up(round);
    }
    if (round.squares && has_messenger(round)) return;
    close_first(!round.squares, round.weight > 0 ? 1 / round.weight : 1);
  }
}

// Ends the first round: applied, or its batches are free again.
void Shard::close_first(bool apply, float scale) {
  const auto first = rounds_.begin();
  closed_squares_ = first->second.squares;
  Entry entry;
  if (apply && first->second.weight > 0) {
    entry = apply_round(first->second, scale);
  } else if (!apply) {
    for (const auto& [worker, part] : first->second.parts) tickets_.reopen(part.ticket);
  }
  for (const auto& [worker, part] : first->second.parts) {
    Member& member = members_[worker];
    if (member.incarnation != part.incarnation) continue;
    if (apply)
      settle(member, part);
    else
      member.holds = false;
  }
  for (auto& [worker, part] : first->second.parts) spare_.push_back(std::move(part));
  rounds_applied_ = first->first;
  rounds_.erase(first);
  if (entry.applies)
    entry.numbers = {reinterpret_cast<const char*>(scratch_.data()), scratch_.size() * sizeof(float)};
  record(entry, entry.applies ? scratch_.size() : 0);
  changed_.notify_all();
}

Status Shard::norm(uint32_t worker, uint64_t pass, const Norm& norm) {
  Lock lock(mutex_);
  if (Status gone = check(worker, pass); !gone.ok()) return gone;
  if (norm.round <= rounds_applied_) return {};
  const auto first = rounds_.begin();
  if (first == rounds_.end() || first->first != norm.round || !first->second.squares)
    return {Code::Corrupt, "a norm of a round that is not summed up"};
  if (!std::isfinite(norm.squares) || norm.squares < *first->second.squares)
    return {Code::Corrupt, "a norm below that of this server's part"};
  const float weight = first->second.weight;
  close_first(true, clipped(clip_, std::sqrt(norm.squares), weight > 0 ? 1 / weight : 1));
  close_rounds();
  return {};
}

// The weight of a part: 1 for a full batch; less for one from which corrupt images were left out; 0 if the
// batch is in the weights already.
template <class Part>
static float weight_of(const Part& part, uint32_t most) {
  if (part.repeated) return 0;
  return most == 0 ? 1.0f : static_cast<float>(part.images) / static_cast<float>(most);
}

template <class Parts>
static uint32_t most_images(const Parts& parts) {
  uint32_t most = 0;
  for (const auto& [worker, part] : parts) most = std::max(most, part.images);
  return most;
}

// The weighted sum of its parts' gradients, in scratch_.
void Shard::sum_up(Round& round) {
  const uint32_t most = most_images(round.parts);
  scratch_.assign(weights_.size(), 0.0f);
  round.summed = true;
  for (auto& [worker, part] : round.parts) {
    part.repeated = is_repeated(part);
    const float weight = weight_of(part, most);
    round.weight += weight;
    for (size_t i = 0; i < part.gradients.size(); ++i) scratch_[i] += weight * part.gradients[i];
  }
  if (welcome_.norms != Norms::OfRound) return;
  const double norm = round.weight > 0 ? norm2(scratch_) / round.weight : 0;
  round.squares = norm * norm;
}

// The entry for the replica; the sum stays in scratch_.
Entry Shard::apply_round(const Round& round, float scale) {
  const auto earlier = [](const auto& a, const auto& b) { return a.second.ticket < b.second.ticket; };
  const auto [first, last] = std::minmax_element(round.parts.begin(), round.parts.end(), earlier);
  optimizer_->step(weights_, scratch_, first->second.rate, scale);
  average_.update(weights_, last->second.ticket);
  ++version_;
  for (const auto& [worker, part] : round.parts) complete(part.ticket);
  const uint32_t most = most_images(round.parts);
  for (size_t i = 0; i < statistics_.size(); ++i) {
    float keep = 0, added = 0;
    for (const auto& [worker, part] : round.parts) {
      const float weight = weight_of(part, most);
      keep += weight * (part.statistics.empty() ? 1 : kept(keep_[i], part.updates));
      added += weight * (part.statistics.empty() ? 0 : part.statistics[i]);
    }
    // Divided, not multiplied by a share: a statistic that every part keeps whole stays the same bits.
    statistics_[i] = keep / round.weight * statistics_[i] + added / round.weight;
  }
  return {.applies = true, .rate = first->second.rate, .scale = scale, .newest = last->second.ticket};
}

}  // namespace radl::engine::cluster
