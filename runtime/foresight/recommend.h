// Recommends a cluster: evaluates every type, size, exchange and server by time and money, and chooses by the
// objective (frontier.h).
//
// In: the training, the offers, a model of the work, and limits. Out: candidates in a fixed order, each with
// a verdict. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/base/money.h"
#include "runtime/foresight/forecast.h"
#include "runtime/foresight/frontier.h"

namespace radl::foresight {

// How much of an account quota one machine uses, and how much is available.
struct Quota {
  std::string name;
  double each = 0, room = 0;
  bool operator==(const Quota&) const = default;
};

struct OfferedType {
  std::string name;  // "m5.xlarge"
  MachineFacts machine;
  std::optional<Money> per_hour;  // nullopt: unknown
  std::string as_of;              // date of the price
  std::vector<Quota> quotas;      // empty: none known
  double gpus = 0;
};

struct RecommendInput {
  TrainingFacts facts;  // exchange, workers and servers are the file's
  std::vector<OfferedType> workers;
  std::vector<OfferedType> servers;  // empty: servers have the workers' type
  std::vector<int> sizes;            // numbers of workers
  std::vector<Exchange> exchanges;   // in addition to Alone
  bool alone = true;                 // include a single worker without exchange
  std::optional<double> round_trip_seconds;
  Objective objective;
  Bounds bounds;
  double confidence = 0.8;
  // Chooses machines with CPU credits only if no sustained one is within the bounds.
  bool prefer_sustained = true;
  Banded startup;  // before the training begins, and after it until everything is destroyed
  // Spot market: preemptions per machine and hour; 0: on demand.
  double interruptions_per_hour = 0;
  Billing billing;
};

struct Option {
  uint32_t worker = 0;  // index into RecommendInput::workers
  int32_t server = -1;  // index into RecommendInput::servers; -1: none; -2: of the workers' type
  uint16_t workers = 1;
  Exchange exchange = Exchange::Alone;
};

struct Recommendation {
  std::vector<Option> options;
  std::vector<Candidate> candidates;  // for `options`, by index; same order
  Choice choice;
  std::string currency;
};

// The first quota that this many workers and a server (null: none) exceed, and their need.
struct AboveQuota {
  const Quota* quota = nullptr;  // null: all are sufficient
  double need = 0;
};
AboveQuota above_quota(const OfferedType& worker, int workers, const OfferedType* server);

// Invalid: no offers, no sizes, prices in several currencies, or what choose() rejects.
Result<Recommendation> recommend(const RecommendInput& input, const WorkModel& model);

}  // namespace radl::foresight
