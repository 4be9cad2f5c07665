// FC2's recommendations (2018, sections 5 and 8): one parameter server, and workers of one type, by price and
// by bandwidth. docs/algorithms.md has each formula and each place where ours differs from the print.
//
// In: the types that may be had, with prices, and a budget an hour or a limit of workers. Out: a type and how
// many. Pure; prices are integers, so that a count is exact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/money.h"

namespace radl::foresight {

struct MachineType {
  std::string name;
  std::optional<Money> per_hour;  // nullopt: not known
  // Of a server: what its network carries. Of a worker: what one of them uses, the fuller direction.
  // Mbit/s; 0: not known.
  double mbps = 0;
};

struct Limits {
  std::optional<Money> budget;      // an hour, of the whole cluster
  std::optional<int> most_workers;  // both given: the smaller count
};

// Where the print is ambiguous or leads nowhere, `Ours` is what docs/algorithms.md gives reasons for.
enum class Reading { Ours, AsPublished };

enum class Bound { Bandwidth, Budget, Limit, FullServer };
std::string_view bound_name(Bound bound);  // "bandwidth", ..; FullServer: one worker alone fills the server

struct Cluster {
  std::string type;
  int workers = 0;
  Bound bound = Bound::Limit;
  std::vector<std::string>
      left_out;  // types that could not be considered, and why: "m5.large: its price is not known"
};

// In all calls: Invalid for an empty list, a limit below 1, a budget in another currency than the prices;
// NotFound where nothing fits: names the least budget that would do (least_budget()).

// The type with the largest network, ties to the cheaper; ours: among those that leave room for the cheapest
// worker.
Result<MachineType> choose_server(const std::vector<MachineType>& servers,
                                  const std::vector<MachineType>& workers, const Limits& limits,
                                  Reading reading = Reading::Ours);
// The cheapest type (Cost-Opt) or the dearest (Time-Opt), as many as the budget or the limit allow.
Result<Cluster> cost_opt(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading = Reading::Ours);
Result<Cluster> time_opt(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading = Reading::Ours);

// The type of which the fewest fill the server's network: min(B p / b, (C - c_server) / c_worker).
struct ScalaOptions {
  double share = 0.95;  // p, of the server's network that workers may use; above 0, at most 1
  Reading reading = Reading::Ours;
};
Result<Cluster> scala_opt(const MachineType& server, const std::vector<MachineType>& workers,
                          const Limits& limits, const ScalaOptions& options = {});
// The same for the one type that somebody names. NotFound: it is none of them.
Result<Cluster> scala_opt_m(const MachineType& server, const std::vector<MachineType>& workers,
                            const std::string& type, const Limits& limits, const ScalaOptions& options = {});

// Of one server and one worker, the cheapest pair; nullopt: no price is known.
std::optional<Money> least_budget(const std::vector<MachineType>& servers,
                                  const std::vector<MachineType>& workers);
// An hour, of the server and so many workers. Both prices must be known.
Money cluster_price(const MachineType& server, const MachineType& worker, int workers);
// 8 max(in, out) / seconds: links carry both directions at once, so the fuller one counts. Mbit/s.
double used_mbps(double bytes_in, double bytes_out, double seconds);

}  // namespace radl::foresight
