// FC2's Scala-Opt: the type of which the fewest fill the server's network, and Scala-Opt-M: how many of one
// type.
#include <algorithm>
#include <cmath>

#include "runtime/foresight/fc2_parts.h"

namespace radl::foresight {
namespace {

struct Count {
  Fraction real;  // before rounding and before the limit
  int64_t workers = 0;
  Bound bound = Bound::Bandwidth;
};

// Bits a second times millionths of p stay below 2^63 up to a thousand Gbit/s.
constexpr double kMostMbps = 1e6;

Fraction by_bandwidth(const MachineType& server, const MachineType& worker, double share) {
  const auto bits = [](double mbps) { return std::llround(std::min(mbps, kMostMbps) * 1e6); };
  return {bits(server.mbps) * std::llround(share * 1e6), bits(worker.mbps) * 1000000};
}

// nullopt: not even one can be paid.
std::optional<Count> count_of(const MachineType& server, const MachineType& worker, const Limits& limits,
                              double share) {
  Count count{by_bandwidth(server, worker, share), 0, Bound::Bandwidth};
  if (compare(count.real, {1, 1}) < 0) count.real = {1, 1}, count.bound = Bound::FullServer;
  const auto afforded = affordable(server, worker, limits);
  if (afforded && compare(*afforded, count.real) < 0) count.real = *afforded, count.bound = Bound::Budget;
  count.workers = whole(count.real);
  if (limits.most_workers && compare(count.real, {*limits.most_workers, 1}) > 0)
    count.workers = *limits.most_workers, count.bound = Bound::Limit;
  if (count.workers < 1) return std::nullopt;
  return count;
}

// Whether the cheaper type `next` takes the place of `best`. As published: final counts, and only a smaller
// one replaces. Then all that reach the limit are alike and the dearest stays, which section 8.4 contradicts;
// so ours compares before rounding and limit, and an equal count goes to the cheaper.
bool replaces(const Count& next, const Count& best, Reading reading) {
  if (reading == Reading::AsPublished) return next.workers < best.workers;
  return compare(next.real, best.real) <= 0;
}

}  // namespace

Result<Cluster> scala_opt(const MachineType& server, const std::vector<MachineType>& workers,
                          const Limits& limits, const ScalaOptions& options) {
  if (!(options.share > 0 && options.share <= 1))
    return Status(Code::Invalid, "the share of the server's network must be above 0 and at most 1");
  if (workers.empty()) return Status(Code::Invalid, "there is no type to choose from");
  if (limits.budget || limits.most_workers) {
    if (Status right = check_limits(workers, limits); !right.ok()) return right;
  }
  if (!server.per_hour)
    return Status(Code::Invalid, "the price of the server " + server.name + " is not known");
  if (!(server.mbps > 0))
    return Status(Code::Invalid, "the network capacity of the server " + server.name + " is not known");
  Cluster cluster;
  std::vector<const MachineType*> types = priced(workers, cluster.left_out);
  std::sort(types.begin(), types.end(), [](const MachineType* a, const MachineType* b) {
    return std::pair(-a->per_hour->micros, a->name) < std::pair(-b->per_hour->micros, b->name);
  });
  std::optional<Count> best;
  for (const MachineType* type : types) {
    if (!(type->mbps > 0)) {
      cluster.left_out.push_back(type->name + ": the bandwidth that one of them uses was not measured");
      continue;
    }
    const auto count = count_of(server, *type, limits, options.share);
    if (!count) {
      cluster.left_out.push_back(type->name + ": the budget does not pay for one");
      continue;
    }
    if (best && !replaces(*count, *best, options.reading)) continue;
    best = count;
    cluster.type = type->name;
  }
  if (!best) {
    const bool unmeasured =
        std::none_of(types.begin(), types.end(), [](const auto* type) { return type->mbps > 0; });
    if (unmeasured)
      return Status(Code::NotFound, "of no type is it known what bandwidth a worker uses")
          .with_hint("measure it: radlc profile FILE");
    return nothing_fits({server}, workers, limits);
  }
  cluster.workers = static_cast<int>(std::min<int64_t>(best->workers, 1000000));
  cluster.bound = best->bound;
  return cluster;
}

Result<Cluster> scala_opt_m(const MachineType& server, const std::vector<MachineType>& workers,
                            const std::string& type, const Limits& limits, const ScalaOptions& options) {
  auto named =
      std::find_if(workers.begin(), workers.end(), [&](const MachineType& one) { return one.name == type; });
  if (named == workers.end()) return Status(Code::NotFound, "'" + type + "' is not one of the worker types");
  return scala_opt(server, {*named}, limits, options);
}

}  // namespace radl::foresight
