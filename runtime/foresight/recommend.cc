#include "runtime/foresight/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/guarded.h"
#include "common/processors.h"
#include "runtime/foresight/anwar.h"

namespace radl::foresight {
namespace {

constexpr int kMostWorkers = 4096;
constexpr size_t kWorthAThread = 8192;  // candidates

double length(double a, double b) { return std::sqrt(a * a + b * b); }

Result<std::string> currency_of(const RecommendInput& input) {
  std::string currency;
  for (const auto* types : {&input.workers, &input.servers}) {
    for (const OfferedType& type : *types) {
      if (!type.per_hour || type.per_hour->zero()) continue;
      if (!currency.empty() && type.per_hour->currency != currency)
        return Status(Code::Invalid, fmt::format("prices in {} and {}: no rate between them is known",
                                                 currency, type.per_hour->currency));
      currency = type.per_hour->currency;
    }
  }
  return currency.empty() ? "USD" : currency;
}

Status check_input(const RecommendInput& input) {
  if (input.workers.empty()) return Status(Code::Invalid, "there is no type to choose from");
  if (input.sizes.empty()) return Status(Code::Invalid, "there is no number of workers to choose from");
  for (int size : input.sizes) {
    if (size < 1 || size > kMostWorkers)
      return Status(Code::Invalid, fmt::format("{} workers: from 1 to {}", size, kMostWorkers));
  }
  if (!(input.confidence > 0 && input.confidence < 1))
    return Status(Code::Invalid, "the confidence must be above 0 and below 1");
  return {};
}

// One type's figures, looked up once for all of its candidates.
struct Type {
  const OfferedType* offer = nullptr;
  MachineFacts machine;              // with the network that runs have found
  std::optional<double> round_trip;  // between them
  std::optional<WorkModel::Scaled> profile;
  std::array<NodeProfile, kExchanges> nodes;  // as each exchange finds the machine
  double ratio = 1;                           // of its band, before anything was learnt
  bool ran = false;                           // runs on it may answer by themselves
};

// What is asked of every type, in order.
std::vector<Option> shapes_of(const RecommendInput& input) {
  std::vector<Option> shapes;
  for (int size : input.sizes) {
    const auto workers = static_cast<uint16_t>(size);
    if (size == 1 && input.alone) shapes.push_back({0, -1, 1, Exchange::Alone});
    for (Exchange exchange : input.exchanges) {
      if (exchange == Exchange::Alone || (size == 1 && !has_server(exchange))) continue;
      if (!has_server(exchange))
        shapes.push_back({0, -1, workers, exchange});
      else if (input.servers.empty())
        shapes.push_back({0, -2, workers, exchange});
      for (size_t server = 0; has_server(exchange) && server < input.servers.size(); ++server)
        shapes.push_back({0, static_cast<int32_t>(server), workers, exchange});
    }
  }
  return shapes;
}

// Makes the candidates of one type after another.
class Maker {
 public:
  Maker(const RecommendInput& input, const WorkModel& model, const std::vector<Option>& shapes,
        Recommendation& made)
      : input_(input), model_(model), shapes_(shapes), made_(made) {}

  void add_type(size_t worker) {
    const OfferedType& offer = input_.workers[worker];
    Type type;
    type.offer = &offer;
    type.machine = model_.with_network(offer.machine);
    type.round_trip =
        input_.round_trip_seconds ? input_.round_trip_seconds : model_.round_trip_between(offer.machine.kind);
    type.ran = model_.ran_on(offer.machine.kind);
    int machines = 0;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const int wanted = offer.machine.shared ? shapes_[i].workers : 1;
      if (wanted != machines) take_profile(type, wanted);
      machines = wanted;
      Option option = shapes_[i];
      option.worker = static_cast<uint32_t>(worker);
      add(type, option, worker * shapes_.size() + i);
    }
  }

 private:
  // What was learnt is about exchanges and sizes; types differ in their profiles alone.
  const WorkModel::Learnt& learnt(int workers, Exchange exchange, double round_trip) {
    const auto at = static_cast<size_t>(workers * kExchanges) + static_cast<size_t>(exchange);
    if (learnt_.size() <= at) learnt_.resize(at + 1);
    if (!learnt_[at]) learnt_[at] = model_.learnt(facts_, round_trip, input_.confidence);
    return *learnt_[at];
  }

  void take_profile(Type& type, int machines) const {
    type.profile = model_.profile_for(type.offer->machine, input_.facts.batch, machines);
    if (!type.profile) return;
    type.ratio = ratio_at(type.profile->ratio, input_.confidence);
    for (size_t i = 0; i < type.nodes.size(); ++i)
      type.nodes[i] = adjusted(type.profile->node, model_.factors(static_cast<Exchange>(i)));
  }

  void add(const Type& type, const Option& option, size_t at) {
    Candidate& candidate = made_.candidates[at];
    candidate.index = static_cast<uint32_t>(at);
    const OfferedType* server = option.server >= 0    ? &input_.servers[static_cast<size_t>(option.server)]
                                : option.server == -2 ? type.offer
                                                      : nullptr;
    candidate.machines = static_cast<uint16_t>(option.workers + (server != nullptr ? 1 : 0));
    candidate.burstable =
        input_.prefer_sustained &&
        (type.machine.credits.burstable() || (server != nullptr && server->machine.credits.burstable()));
    candidate.verdict = fill(type, server, option, candidate);
    made_.options[at] = option;
  }

  Verdict fill(const Type& type, const OfferedType* server, const Option& option, Candidate& candidate) {
    if (!type.profile || !type.offer->per_hour || (server != nullptr && !server->per_hour))
      return Verdict::Unknown;
    const NodeProfile& node = type.nodes[static_cast<size_t>(option.exchange)];
    TrainingFacts& facts = facts_;
    facts.exchange = option.exchange;
    facts.workers = option.workers;
    facts.servers = server != nullptr ? 1 : 0;
    candidate.rate =
        type.offer->per_hour->micros * option.workers + (server != nullptr ? server->per_hour->micros : 0);
    if (node.largest_batch > 0 && facts.batch > node.largest_batch) return Verdict::Memory;
    if (above_quota(*type.offer, option.workers, server).quota != nullptr) return Verdict::Quota;
    Fabric fabric = fabric_of(facts, type.machine, type.round_trip);
    if (server != nullptr) fabric.server_bits_per_second = server->machine.bits_per_second;
    const Fabric as_found = adjusted(fabric, model_.factors(option.exchange));
    const auto run = analytic_run(facts, node, as_found);
    if (!run || facts.images <= 0) return Verdict::Unknown;
    const WorkModel::Learnt& taught = learnt(option.workers, option.exchange, fabric.round_trip_seconds);
    double ratio = WorkModel::ratio(*type.profile, type.ratio, taught);
    double seconds = with_credits(run->train * taught.factor, facts, node, as_found, type.machine);
    if (type.ran) {
      if (const auto direct = model_.direct(facts, type.machine, type.round_trip)) {
        seconds = direct->epoch_seconds * facts.epochs;
        ratio = ratio_at(direct->ratio, input_.confidence);
      }
    }
    if (input_.interruptions_per_hour > 0) {
      const auto longer = with_interruptions(seconds, {input_.interruptions_per_hour, option.workers,
                                                       facts.checkpoint_seconds, input_.startup.value});
      if (!longer) return Verdict::Unknown;
      seconds = *longer;
    }
    const Banded whole = with_startup(seconds, ratio);
    candidate.seconds = whole.value;
    candidate.low = whole.low;
    candidate.high = whole.high;
    // Credits are spent while it computes: what an hour costs then is what a budget must allow.
    const int64_t surplus = type.machine.credits.surplus_micros_per_hour * option.workers;
    const auto cost = [&](double all, double training) {
      return billed_micros(candidate.rate, all, input_.billing) + run_cost_micros(surplus, training);
    };
    candidate.cost = cost(whole.value, seconds);
    candidate.cost_low = cost(whole.low, seconds / ratio);
    candidate.cost_high = cost(whole.high, seconds * ratio);
    candidate.rate += surplus;
    return Verdict::Fits;
  }

  Banded with_startup(double seconds, double ratio) const {
    const Banded& startup = input_.startup;
    Banded sum;
    sum.value = seconds + startup.value;
    sum.low = sum.value - length(seconds - seconds / ratio, startup.value - startup.low);
    sum.high = sum.value + length(seconds * ratio - seconds, startup.high - startup.value);
    return sum;
  }

  const RecommendInput& input_;
  const WorkModel& model_;
  TrainingFacts facts_ = input_.facts;
  std::vector<std::optional<WorkModel::Learnt>> learnt_;  // by workers and exchange
  const std::vector<Option>& shapes_;
  Recommendation& made_;
};

Result<Recommendation> all_candidates(const RecommendInput& input, const WorkModel& model) {
  const std::vector<Option> shapes = shapes_of(input);
  const size_t types = input.workers.size(), count = types * shapes.size();
  Recommendation made;
  made.options.resize(count);
  made.candidates.resize(count);
  const size_t parts = std::clamp<size_t>(count / kWorthAThread, 1,
                                          std::min<size_t>(types, static_cast<size_t>(usable_cores())));
  Status done = for_each_parallel(parts, parts, [&](size_t part) {
    Maker maker(input, model, shapes, made);
    for (size_t type = types * part / parts; type < types * (part + 1) / parts; ++type) maker.add_type(type);
    return ok_status();
  });
  if (!done.ok()) return done;
  return made;
}

double of_quota(const OfferedType& type, const std::string& name) {
  for (const Quota& one : type.quotas)
    if (one.name == name) return one.each;
  return 0;
}

}  // namespace

AboveQuota above_quota(const OfferedType& worker, int workers, const OfferedType* server) {
  for (const Quota& one : worker.quotas) {
    const double need = one.each * workers + (server == nullptr ? 0 : of_quota(*server, one.name));
    if (need > one.room) return {&one, need};
  }
  if (server == nullptr) return {};
  for (const Quota& one : server->quotas) {
    const double need = one.each + of_quota(worker, one.name) * workers;
    if (need > one.room) return {&one, need};
  }
  return {};
}

Result<Recommendation> recommend(const RecommendInput& input, const WorkModel& model) {
  if (Status right = check_input(input); !right.ok()) return right;
  auto currency = currency_of(input);
  if (!currency.ok()) return std::move(currency).status();
  auto made = all_candidates(input, model);
  if (!made.ok()) return made;
  made->currency = *currency;
  auto choice = choose(made->candidates, input.objective, input.bounds);
  if (!choice.ok()) return std::move(choice).status();
  made->choice = std::move(*choice);
  return made;
}

}  // namespace radl::foresight
