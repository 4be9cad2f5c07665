// FC2: which machine is the parameter server; and what its algorithms share.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/foresight/fc2_parts.h"

namespace radl::foresight {

std::string_view bound_name(Bound bound) {
  switch (bound) {
    case Bound::Bandwidth:
      return "bandwidth";
    case Bound::Budget:
      return "budget";
    case Bound::Limit:
      return "limit";
    case Bound::FullServer:
      return "full server";
  }
  return "unknown";
}

Status check_limits(const std::vector<MachineType>& types, const Limits& limits) {
  if (types.empty()) return Status(Code::Invalid, "there is no type to choose from");
  if (!limits.budget && !limits.most_workers)
    return Status(Code::Invalid, "neither a budget nor a number of workers is given");
  if (limits.most_workers && *limits.most_workers < 1)
    return Status(Code::Invalid,
                  fmt::format("at most {} workers: there must be at least 1", *limits.most_workers));
  if (limits.budget && limits.budget->micros < 0)
    return Status(Code::Invalid, "a budget of " + limits.budget->text() + " an hour is below 0");
  for (const MachineType& type : types) {
    if (!type.per_hour || !limits.budget || type.per_hour->currency == limits.budget->currency) continue;
    return Status(Code::Invalid,
                  fmt::format("{} is priced in {}, the budget is in {}: no rate between them is known",
                              type.name, type.per_hour->currency, limits.budget->currency));
  }
  return {};
}

std::vector<const MachineType*> priced(const std::vector<MachineType>& types,
                                       std::vector<std::string>& left_out) {
  std::vector<const MachineType*> known;
  for (const MachineType& type : types) {
    if (type.per_hour && type.per_hour->micros >= 0)
      known.push_back(&type);
    else
      left_out.push_back(type.name + ": its price is not known");
  }
  return known;
}

std::optional<Fraction> affordable(const MachineType& server, const MachineType& worker,
                                   const Limits& limits) {
  if (!limits.budget) return std::nullopt;
  const int64_t room = limits.budget->micros - server.per_hour->micros;
  // A free worker is bounded by no budget, but a server that costs more than it is.
  if (worker.per_hour->zero()) return room < 0 ? std::optional(Fraction{0, 1}) : std::nullopt;
  return Fraction{room, worker.per_hour->micros};
}

std::optional<Money> least_budget(const std::vector<MachineType>& servers,
                                  const std::vector<MachineType>& workers) {
  auto cheapest = [](const std::vector<MachineType>& types) {
    const MachineType* least = nullptr;
    for (const MachineType& type : types) {
      if (type.per_hour && (least == nullptr || type.per_hour->micros < least->per_hour->micros))
        least = &type;
    }
    return least;
  };
  const MachineType *server = cheapest(servers), *worker = cheapest(workers);
  if (server == nullptr || worker == nullptr) return std::nullopt;
  return cluster_price(*server, *worker, 1);
}

Status nothing_fits(const std::vector<MachineType>& servers, const std::vector<MachineType>& workers,
                    const Limits& limits) {
  const std::optional<Money> least = least_budget(servers, workers);
  if (!least) return Status(Code::NotFound, "no price is known of a server and a worker");
  const std::string budget = limits.budget ? limits.budget->text() : Money{0, least->currency}.text();
  return Status(Code::NotFound, fmt::format("{} an hour pays for no server with one worker", budget))
      .with_hint("the least budget that would do: " + least->text() + " an hour");
}

Money cluster_price(const MachineType& server, const MachineType& worker, int workers) {
  MoneySum sum;
  sum.add(*server.per_hour);
  for (int i = 0; i < workers; ++i) sum.add(*worker.per_hour);
  const std::vector<Money> amounts = sum.amounts();
  return amounts.empty() ? Money{0, server.per_hour->currency} : amounts.front();
}

double used_mbps(double bytes_in, double bytes_out, double seconds) {
  return seconds > 0 ? 8 * std::max(bytes_in, bytes_out) / seconds / 1e6 : 0;
}

Result<MachineType> choose_server(const std::vector<MachineType>& servers,
                                  const std::vector<MachineType>& workers, const Limits& limits,
                                  Reading reading) {
  std::vector<std::string> left_out;
  if (servers.empty()) return Status(Code::Invalid, "there is no type to choose a server from");
  if (limits.budget) {
    if (Status right = check_limits(servers, limits); !right.ok()) return right;
  }
  std::optional<Money> cheapest;
  for (const MachineType* worker : priced(workers, left_out)) {
    if (!cheapest || worker->per_hour->micros < cheapest->micros) cheapest = worker->per_hour;
  }
  const MachineType* best = nullptr;
  for (const MachineType* server : priced(servers, left_out)) {
    const int64_t rest = limits.budget ? limits.budget->micros - server->per_hour->micros : 0;
    if (reading == Reading::Ours && limits.budget && rest < (cheapest ? cheapest->micros : 0)) continue;
    auto key = [](const MachineType& type) {
      return std::tuple(-type.mbps, type.per_hour->micros, type.name);
    };
    if (best == nullptr || key(*server) < key(*best)) best = server;
  }
  if (best == nullptr) return nothing_fits(servers, workers, limits);
  return *best;
}

}  // namespace radl::foresight
