#include "runtime/foresight/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace radl::foresight {
namespace {

constexpr int kMostWorkers = 4096;

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

bool has_server(Exchange exchange) {
  return exchange == Exchange::SyncServer || exchange == Exchange::AsyncServer;
}

// One type's figures, looked up once for all of its candidates.
struct Type {
  const OfferedType* offer = nullptr;
  std::optional<FamilyModel::Scaled> profile;
  double ratio = 1;  // of its band, before anything was learnt
};

class Maker {
 public:
  Maker(const RecommendInput& input, const FamilyModel& model) : input_(input), model_(model) {}

  Recommendation all() {
    const size_t most = input_.workers.size() * input_.sizes.size() *
                        (1 + input_.exchanges.size() * std::max<size_t>(input_.servers.size(), 1));
    made_.options.reserve(most);
    made_.candidates.reserve(most);
    for (uint32_t worker = 0; worker < input_.workers.size(); ++worker) {
      const OfferedType& offer = input_.workers[worker];
      Type type{&offer, {}};
      if (!offer.machine.shared) take_profile(type, 1);
      for (int size : input_.sizes) {
        if (offer.machine.shared) take_profile(type, size);
        if (size == 1 && input_.alone) add(type, {worker, -1, 1, Exchange::Alone});
        for (Exchange exchange : input_.exchanges) {
          if (exchange == Exchange::Alone || (size == 1 && !has_server(exchange))) continue;
          const auto workers = static_cast<uint16_t>(size);
          if (!has_server(exchange)) {
            add(type, {worker, -1, workers, exchange});
          } else if (input_.servers.empty()) {
            add(type, {worker, -2, workers, exchange});
          } else {
            for (size_t server = 0; server < input_.servers.size(); ++server)
              add(type, {worker, static_cast<int32_t>(server), workers, exchange});
          }
        }
      }
    }
    return std::move(made_);
  }

 private:
  // What was learnt is about sizes; types differ in their profiles alone.
  const FamilyModel::Learnt& learnt(int workers, double round_trip) {
    const auto at = static_cast<size_t>(workers);
    if (learnt_.size() <= at) learnt_.resize(at + 1);
    if (!learnt_[at]) learnt_[at] = model_.learnt(facts_, round_trip, input_.confidence);
    return *learnt_[at];
  }

  void take_profile(Type& type, int machines) const {
    type.profile = model_.profile_for(type.offer->machine, machines);
    if (type.profile) type.ratio = ratio_at(type.profile->ratio, input_.confidence);
  }

  void add(const Type& type, const Option& option) {
    Candidate candidate;
    candidate.index = static_cast<uint32_t>(made_.options.size());
    const OfferedType* server = option.server >= 0    ? &input_.servers[static_cast<size_t>(option.server)]
                                : option.server == -2 ? type.offer
                                                      : nullptr;
    candidate.machines = static_cast<uint16_t>(option.workers + (server != nullptr ? 1 : 0));
    candidate.verdict = fill(type, server, option, candidate);
    made_.options.push_back(option);
    made_.candidates.push_back(candidate);
  }

  Verdict fill(const Type& type, const OfferedType* server, const Option& option, Candidate& candidate) {
    if (!type.profile || !type.offer->per_hour || (server != nullptr && !server->per_hour))
      return Verdict::Unknown;
    const NodeProfile& node = type.profile->node;
    TrainingFacts& facts = facts_;
    facts.exchange = option.exchange;
    facts.workers = option.workers;
    facts.servers = server != nullptr ? 1 : 0;
    candidate.rate =
        type.offer->per_hour->micros * option.workers + (server != nullptr ? server->per_hour->micros : 0);
    if (node.largest_batch > 0 && facts.batch > node.largest_batch) return Verdict::Memory;
    if (type.offer->quota && candidate.machines > *type.offer->quota) return Verdict::Quota;
    Fabric fabric = fabric_of(facts, type.offer->machine, input_.round_trip_seconds);
    if (server != nullptr) fabric.server_bits_per_second = server->machine.bits_per_second;
    const auto run = analytic_run(facts, node, fabric);
    if (!run || facts.images <= 0) return Verdict::Unknown;
    const FamilyModel::Learnt& taught = learnt(option.workers, fabric.round_trip_seconds);
    const double ratio = FamilyModel::ratio(*type.profile, type.ratio, taught);
    double seconds = run->train * taught.factor;
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
    const Money rate{candidate.rate, ""};
    candidate.cost = billed(rate, whole.value, input_.billing).micros;
    candidate.cost_low = billed(rate, whole.low, input_.billing).micros;
    candidate.cost_high = billed(rate, whole.high, input_.billing).micros;
    return Verdict::Fits;
  }

  Banded with_startup(double seconds, double ratio) const {
    const Banded& startup = input_.startup;
    Banded sum;
    sum.value = seconds + startup.value;
    sum.low = sum.value - std::hypot(seconds - seconds / ratio, startup.value - startup.low);
    sum.high = sum.value + std::hypot(seconds * ratio - seconds, startup.high - startup.value);
    return sum;
  }

  const RecommendInput& input_;
  const FamilyModel& model_;
  TrainingFacts facts_ = input_.facts;
  std::vector<std::optional<FamilyModel::Learnt>> learnt_;  // by workers
  Recommendation made_;
};

}  // namespace

Result<Recommendation> recommend(const RecommendInput& input, const FamilyModel& model) {
  if (Status right = check_input(input); !right.ok()) return right;
  auto currency = currency_of(input);
  if (!currency.ok()) return std::move(currency).status();
  Recommendation made = Maker(input, model).all();
  made.currency = *currency;
  auto choice = choose(made.candidates, input.objective, input.bounds);
  if (!choice.ok()) return std::move(choice).status();
  made.choice = std::move(*choice);
  return made;
}

}  // namespace radl::foresight
