#include "engine/cluster/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace radl::engine::cluster {

Result<std::unique_ptr<Shard>> Shard::make(const Init& init, const ShardOptions& options) {
  const TrainingState& state = init.state;
  if (state.weights.size() != init.count || init.optimizer.size != init.count ||
      init.first + init.count > init.parameters || init.shard >= init.shards) {
    return Status(Code::Corrupt, "the chief's description of this shard contradicts itself");
  }
  const auto within = [](float keep) { return keep >= 0 && keep <= 1; };
  if (init.keep.size() != state.statistics.size() ||
      !std::all_of(init.keep.begin(), init.keep.end(), within) || !all_finite(state.weights) ||
      !all_finite(state.statistics)) {
    return Status(Code::Corrupt, "the chief's weights or statistics cannot be trained");
  }
  if (Status wrong = init.optimizer.check(); !wrong.ok())
    return Status(Code::Corrupt, "the chief's description of the optimizer: " + wrong.message());
  auto shard = std::unique_ptr<Shard>(new Shard(init, options));
  OptimizerPlan plan = init.optimizer;
  plan.config.threads = options.threads;
  if (shard->welcome_.norms != Norms::None) shard->clip_ = std::exchange(plan.config.clip, 0);
  Result<std::unique_ptr<Optimizer>> optimizer = Optimizer::make(plan);
  if (!optimizer) return std::move(optimizer).status();
  shard->optimizer_ = std::move(*optimizer);
  // The state of a run that begins has nothing of the optimizer's.
  if (state.optimizer.empty() && !shard->optimizer_->state().empty()) {
    if (state.averaged > 0 || !state.average.empty())
      return Status(Code::Corrupt, "averages without the optimizer's state");
    return shard;
  }
  if (Status fits = shard->trainee().restore(state); !fits.ok()) return fits;
  return shard;
}

static std::string_view bytes_of_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

static Norms norms_of(const Init& init, Mode mode) {
  if (init.shards < 2 || init.optimizer.config.clip <= 0) return Norms::None;
  return mode == Mode::Sync ? Norms::OfRound : Norms::InPush;
}

Shard::Shard(const Init& init, const ShardOptions& options)
    : options_(options),
      welcome_{init.shard,
               init.shards,
               init.first,
               init.count,
               init.parameters,
               init.state.statistics.size(),
               norms_of(init, options.mode)},
      weights_(init.state.weights),
      statistics_(init.state.statistics),
      keep_(init.keep),
      average_(init.average),
      tickets_(init.batches, init.state),
      version_(init.state.version),
      plan_(init.optimizer),
      average_config_(init.average) {}

uint64_t Shard::join(uint32_t worker, uint64_t incarnation) {
  std::lock_guard lock(mutex_);
  const uint64_t clock = slowest();
  const bool known = members_.contains(worker);
  Member& member = members_[worker];
  const Member former = member;
  const bool same = known && former.incarnation == incarnation;
  if (!same || !former.awaited) {
    tickets_.give_back(worker);
    member = Member();
    member.clock = clock;
    if (same) member.sequence = former.sequence;
  }
  member.pass = next_pass_++;
  member.incarnation = incarnation;
  member.present = true;
  member.awaited = false;
  member.resumed = same;
  member.report = {};
  member.report.index = worker;
  member.report.steps = former.report.steps;
  close_rounds();
  changed_.notify_all();
  return member.pass;
}

void Shard::leave(uint32_t worker, uint64_t pass, uint8_t state, double silent, const std::string& text) {
  std::lock_guard lock(mutex_);
  auto found = members_.find(worker);
  if (found == members_.end() || found->second.pass != pass || !found->second.present) return;
  found->second.report.seconds_silent = silent;
  drop(worker, found->second, state, text);
  go_on();
}

// go_on() follows.
void Shard::drop(uint32_t worker, Member& member, uint8_t state, const std::string& text) {
  member.present = member.waiting = member.asked = member.assigned = member.holds = member.awaited = false;
  member.report.state = state;
  member.report.text = text;
  tickets_.give_back(worker);
}

// Without those who were dropped.
void Shard::go_on() {
  close_rounds();
  form_round();
  changed_.notify_all();
}

Status Shard::check(uint32_t worker, uint64_t pass) const {
  if (!stopped_.ok()) return stopped_;
  auto found = members_.find(worker);
  if (found == members_.end() || found->second.pass != pass || !found->second.present) {
    return {Code::Lost, fmt::format("worker/{} is no longer a member", worker)};
  }
  return {};
}

Status Shard::check_push(const Push& push) const {
  if (push.gradients.size() != bytes_of(push.encoding, weights_.size())) {
    return {Code::Corrupt,
            fmt::format("a gradient of {} bytes for {} parameters", push.gradients.size(), weights_.size())};
  }
  if (!push.statistics.empty() && push.statistics.size() != statistics_.size() * 4) {
    return {Code::Corrupt, fmt::format("statistics of {} bytes, {} numbers are kept", push.statistics.size(),
                                       statistics_.size())};
  }
  if (push.squares < 0) return {Code::Corrupt, "a gradient of a negative norm"};
  if (push.version > version_ && !promoted_)
    return {Code::Corrupt, "a gradient for weights that do not exist yet"};
  return {};
}

Shard::Part Shard::unpack(const Push& push) {
  Part out;
  if (!spare_.empty()) {
    out = std::move(spare_.back());
    spare_.pop_back();
  }
  out.gradients.resize(weights_.size());
  unpack_numbers(push.encoding, push.gradients.data(), out.gradients);
  out.statistics.resize(push.statistics.empty() ? 0 : statistics_.size());
  unpack_numbers(Numbers::Fp32, push.statistics.data(), out.statistics);
  out.ticket = push.ticket;
  out.updates = push.updates;
  out.images = push.images;
  out.rate = push.rate;
  out.sequence = push.sequence;
  out.correct = push.correct;
  out.loss = push.loss;
  return out;
}

// Nothing more is applied; the chief ends the run.
void Shard::fail(const std::string& what, uint64_t ticket) {
  if (sums_.failure.empty()) sums_.failure = fmt::format("{} at batch {}", what, ticket);
  changed_.notify_all();
}

// `version`: of the weights that it was computed with; those of a lost primary may have been ahead of these.
void Shard::account(Member& member, Part& part, uint64_t version) {
  ++member.report.steps;
  ++member.clock;
  if (welcome_.shard != 0) return;
  part.staleness = version_ > version ? version_ - version : 0;
  ++sums_.steps;
  sums_.loss_sum += part.loss;
  sums_.correct += part.correct;
  sums_.images += part.images;
  sums_.staleness_sum += part.staleness;
}

bool Shard::is_repeated(const Part& part) const {
  return welcome_.shard != 0 && tickets_.is_done(part.ticket);
}

void Shard::complete(uint64_t ticket) {
  if (welcome_.shard == 0)
    tickets_.complete(ticket);
  else
    tickets_.count(ticket);
}

// The worker's part is in the weights.
void Shard::settle(Member& member, const Part& part) {
  if (part.sequence > 0) member.sequence = part.sequence;
  member.holds = false;
}

Result<std::optional<double>> Shard::push(uint32_t worker, uint64_t pass, const Push& push) {
  static constexpr std::optional<double> kDone;
  Lock lock(mutex_);
  if (Status gone = check(worker, pass); !gone.ok()) return gone;
  if (Status wrong = check_push(push); !wrong.ok()) return wrong;
  if (!std::isfinite(push.loss) || !std::isfinite(push.rate)) {
    fail(fmt::format("the loss became {}", std::fabs(push.loss)), push.ticket);
    return kDone;
  }
  Part part = unpack(push);
  if (!all_finite(part.gradients) || !all_finite(part.statistics) || !std::isfinite(push.squares)) {
    fail("a gradient became infinite or not a number", push.ticket);
    return kDone;
  }
  if (!sums_.failure.empty()) return kDone;
  Member& member = members_[worker];
  const bool sync = options_.mode == Mode::Sync;
  if (push.sequence > 0 &&
      push.sequence <= member.sequence)  // it is in the weights, only the answer was lost
    return norm_of_applied();
  if (sync && has_unapplied(worker, member.incarnation))
    return push_round(lock, worker, pass, push, std::move(part));
  if (sync && options_.backups > 0 && push.round <= rounds_applied_) {  // it was too slow
    spare_.push_back(std::move(part));
    return kDone;
  }
  if (welcome_.shard == 0 && !tickets_.hand_in(worker, push.ticket)) {
    if (member.resumed) return kDone;  // it was lost for a while, and the batch is another worker's
    return Status(Code::Corrupt, fmt::format("a gradient for batch {}, which it was not given", push.ticket));
  }
  account(member, part, push.version);
  if (sync) return push_round(lock, worker, pass, push, std::move(part));
  if (is_repeated(part)) {
    settle(member, part);
    record({});
    return kDone;
  }
  compensate(member, part.gradients);
  apply_now(part, push);
  settle(member, part);
  record({.applies = true,
          .rate = push.rate,
          .scale = clipped(clip_, std::sqrt(push.squares), 1),
          .newest = part.ticket,
          .numbers = bytes_of_floats(part.gradients)},
         weights_.size());
  spare_.push_back(std::move(part));
  changed_.notify_all();
  return kDone;
}

// Approximates the gradient at the current weights: the squared gradient estimates how it changes with them.
void Shard::compensate(const Member& member, std::span<float> gradient) const {
  if (options_.compensation <= 0 || member.read.size() != weights_.size()) return;
  for (size_t i = 0; i < gradient.size(); ++i)
    gradient[i] += options_.compensation * gradient[i] * gradient[i] * (weights_[i] - member.read[i]);
}

void Shard::apply_now(const Part& part, const Push& push) {
  optimizer_->step(weights_, part.gradients, push.rate, clipped(clip_, std::sqrt(push.squares), 1));
  average_.update(weights_, part.ticket);
  ++version_;
  complete(part.ticket);
  // A running mean of the batches' own statistics: whatever was read, and however long ago, is not in `part`.
  for (size_t i = 0; i < part.statistics.size(); ++i)
    statistics_[i] = kept(keep_[i], part.updates) * statistics_[i] + part.statistics[i];
}

// What so many updates leave of a running mean.
float Shard::kept(float keep, uint32_t updates) {
  return updates == 1 ? keep : static_cast<float>(std::pow(keep, updates));
}

uint64_t Shard::slowest() const {
  uint64_t least = UINT64_MAX, most = 0;
  for (const auto& [worker, member] : members_) {
    if (!member.present) continue;
    least = std::min(least, member.clock);
    most = std::max(most, member.clock);
  }
  return least == UINT64_MAX ? most : least;
}

bool Shard::try_next(uint32_t worker, Member& member, Assignment& out) {
  out = Assignment();
  if (tickets_.finished()) {
    out.finished = true;
    return true;
  }
  if (options_.mode == Mode::Sync) {
    if (!member.assigned) {
      member.waiting = true;
      form_round();
    }
    if (!member.assigned) return false;
    member.assigned = false;
    out = member.assignment;
    hand_out(member, out);
    return true;
  }
  if (options_.mode == Mode::Stale && member.clock > slowest() + static_cast<uint64_t>(options_.staleness))
    return false;
  std::optional<uint64_t> ticket = tickets_.take(worker);
  if (!ticket) return false;
  out.ticket = *ticket;
  out.then = tickets_.reserve(worker).value_or(*ticket);
  hand_out(member, out);
  return true;
}

void Shard::hand_out(Member& member, const Assignment& assignment) {
  member.assignment = assignment;
  member.holds = true;
  record({});
}

Result<Assignment> Shard::next(uint32_t worker, uint64_t pass) {
  Lock lock(mutex_);
  Assignment out;
  if (welcome_.shard != 0) return out;
  for (;;) {
    if (Status gone = check(worker, pass); !gone.ok()) return gone;
    Member& member = members_[worker];
    member.asked = true;
    drop_missing();
    if (std::exchange(member.resumed, false) && member.holds && !member.assigned) return member.assignment;
    if (!gather_until_) gather_until_ = Clock::now() + options_.gather;
    if (sums_.failure.empty() && try_next(worker, member, out)) {
      if (out.finished) changed_.notify_all();
      return out;
    }
    changed_.wait_for(lock, kSlice);
  }
}

uint64_t Shard::read(const Assignment& assignment, Numbers encoding, Message& out, bool averaged,
                     std::optional<uint32_t> worker) {
  std::lock_guard lock(mutex_);
  if (worker && options_.compensation > 0) members_[*worker].read = weights_;
  Update update;
  update.version = version_;
  update.assignment = assignment;
  update.encoding = encoding;
  std::span<const float> mean = average_.values();
  encode(update, averaged && !mean.empty() ? mean : std::span<const float>(weights_), statistics_, out);
  return number_;
}

TrainingState Shard::snapshot() {
  std::lock_guard lock(mutex_);
  TrainingState out = trainee().capture();
  out.version = version_;
  tickets_.store(out);
  return out;
}

Report Shard::report() {
  std::lock_guard lock(mutex_);
  drop_missing();
  Report out = sums_;
  out.replica = replica_;
  out.version = version_;
  out.tickets = tickets_.total();
  out.tickets_done = tickets_.done();
  for (const auto& [worker, member] : members_) out.members.push_back(member.report);
  return out;
}

void Shard::stop(Status status) {
  std::lock_guard lock(mutex_);
  if (stopped_.ok()) stopped_ = std::move(status);
  changed_.notify_all();
}

bool Shard::finished() {
  std::lock_guard lock(mutex_);
  return tickets_.finished();
}

}  // namespace radl::engine::cluster
