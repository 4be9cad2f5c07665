// FC2's recommendations (2018, sections 5 and 8): one parameter server and workers of one type, by price and
// bandwidth. docs/algorithms.md has each formula and each deviation from the publication.
//
// In: the available types with prices, and an hourly budget or a limit on workers. Out: a type and a count.
// Pure; prices are integers, so counts are exact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/money.h"

namespace radl::foresight {

struct MachineType {
  std::string name;
  std::optional<Money> per_hour;  // nullopt: unknown
  // Server: network capacity. Worker: bandwidth used, in the busier direction. Mbit/s; 0:
  // unknown.
  double mbps = 0;
};

struct Limits {
  std::optional<Money> budget;      // hourly, for the whole cluster
  std::optional<int> most_workers;  // if both are given, the smaller count applies
};

// Where the publication is ambiguous or leads nowhere, docs/algorithms.md justifies `Ours`.
enum class Reading { Ours, AsPublished };

enum class Bound { Bandwidth, Budget, Limit, FullServer };
std::string_view bound_name(Bound bound);  // "bandwidth", ..; FullServer: one worker fills the server

struct Cluster {
  std::string type;
  int workers = 0;
  Bound bound = Bound::Limit;
  std::vector<std::string>
      left_out;  // types that were not considered, and why: "m5.large: its price is not known"
};

// Errors of all functions: Invalid for an empty list, a limit below 1, or a budget in another currency than
// the prices; NotFound if nothing fits: names the smallest workable budget (least_budget()).

// The type with the fastest network, ties to the cheaper; `Ours`: among those that leave budget for the
// cheapest worker.
Result<MachineType> choose_server(const std::vector<MachineType>& servers,
                                  const std::vector<MachineType>& workers, const Limits& limits,
                                  Reading reading = Reading::Ours);
// The cheapest type (Cost-Opt) or the most expensive (Time-Opt), as many as budget or limit allow.
Result<Cluster> cost_opt(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading = Reading::Ours);
Result<Cluster> time_opt(const MachineType& server, const std::vector<MachineType>& workers,
                         const Limits& limits, Reading reading = Reading::Ours);

// The type that fills the server's network with the fewest machines: min(B p / b, (C - c_server) / c_worker).
struct ScalaOptions {
  double share = 0.95;  // p, usable share of the server's network; above 0, at most 1
  Reading reading = Reading::Ours;
};
Result<Cluster> scala_opt(const MachineType& server, const std::vector<MachineType>& workers,
                          const Limits& limits, const ScalaOptions& options = {});
// Same for one named type. NotFound: it is not in the list.
Result<Cluster> scala_opt_m(const MachineType& server, const std::vector<MachineType>& workers,
                            const std::string& type, const Limits& limits, const ScalaOptions& options = {});

// Price of the cheapest pair of one server and one worker; nullopt: no price is known.
std::optional<Money> least_budget(const std::vector<MachineType>& servers,
                                  const std::vector<MachineType>& workers);
// Hourly price of the server and this many workers. Both prices must be known.
Money cluster_price(const MachineType& server, const MachineType& worker, int workers);
// 8 max(in, out) / seconds, in Mbit/s: links are full duplex, so the busier direction counts.
double used_mbps(double bytes_in, double bytes_out, double seconds);

}  // namespace radl::foresight
