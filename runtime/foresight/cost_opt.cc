// FC2's Cost-Opt and Time-Opt: one type by its price alone, then as many as the limits allow.
#include <algorithm>

#include "runtime/foresight/fc2_parts.h"

namespace radl::foresight {
namespace {

Result<Cluster> by_price(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading, bool dearest) {
  if (Status right = check_limits(workers, limits); !right.ok()) return right;
  Cluster cluster;
  if (!server.per_hour)
    return Status(Code::Invalid, "the price of the server " + server.name + " is not known");
  const MachineType* best = nullptr;
  auto key = [&](const MachineType& type) {
    return std::pair(dearest ? -type.per_hour->micros : type.per_hour->micros, type.name);
  };
  for (const MachineType* type : priced(workers, cluster.left_out)) {
    const auto count = affordable(server, *type, limits);
    if (reading == Reading::Ours && count && whole(*count) < 1) {
      cluster.left_out.push_back(type->name + ": the budget does not pay for one");
      continue;
    }
    if (best == nullptr || key(*type) < key(*best)) best = type;
  }
  if (best == nullptr) return nothing_fits({server}, workers, limits);
  const auto count = affordable(server, *best, limits);
  if (!count && !limits.most_workers)
    return Status(Code::Invalid, best->name + " costs nothing, so that a budget does not say how many")
        .with_hint("give a number of workers");
  const int64_t afforded = count ? whole(*count) : *limits.most_workers;
  const bool limited = !count || (limits.most_workers && afforded > *limits.most_workers);
  const int64_t workers_in_all = limited ? *limits.most_workers : afforded;
  if (workers_in_all < 1) return nothing_fits({server}, workers, limits);
  cluster.type = best->name;
  cluster.workers = static_cast<int>(std::min<int64_t>(workers_in_all, 1000000));
  cluster.bound = limited ? Bound::Limit : Bound::Budget;
  return cluster;
}

}  // namespace

Result<Cluster> cost_opt(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading) {
  return by_price(server, workers, limits, reading, false);
}

Result<Cluster> time_opt(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading) {
  return by_price(server, workers, limits, reading, true);
}

}  // namespace radl::foresight
