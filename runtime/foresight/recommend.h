// Which cluster to take: every type, size, exchange and server, with time and money, and the one that the
// objective prefers (frontier.h).
//
// In: what is trained, what is on offer, a model of the work, and limits. Out: candidates in a fixed order,
// with a verdict each. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/base/money.h"
#include "runtime/foresight/forecast.h"
#include "runtime/foresight/frontier.h"

namespace radl::foresight {

// What one machine takes of a quota of the account, and how much of it can be had.
struct Quota {
  std::string name;
  double each = 0, room = 0;
  bool operator==(const Quota&) const = default;
};

struct OfferedType {
  std::string name;  // "m5.xlarge"
  MachineFacts machine;
  std::optional<Money> per_hour;  // nullopt: not known
  std::string as_of;              // of the price
  std::vector<Quota> quotas;      // empty: none is known
  double gpus = 0;
};

struct RecommendInput {
  TrainingFacts facts;  // its exchange, workers and servers are those of the file
  std::vector<OfferedType> workers;
  std::vector<OfferedType> servers;  // empty: a server is of the workers' type
  std::vector<int> sizes;            // numbers of workers
  std::vector<Exchange> exchanges;   // beside Alone
  bool alone = true;                 // one worker without any exchange is a candidate
  std::optional<double> round_trip_seconds;
  Objective objective;
  Bounds bounds;
  double confidence = 0.8;
  // A machine that computes by CPU credits is taken only where no sustained one is within the bounds.
  bool prefer_sustained = true;
  Banded startup;  // until the training begins, and after it until all is taken down
  // On the spot market: how often one machine is taken back an hour; 0: on demand.
  double interruptions_per_hour = 0;
  Billing billing;
};

struct Option {
  uint32_t worker = 0;  // of RecommendInput::workers
  int32_t server = -1;  // of RecommendInput::servers; -1: none; -2: of the workers' type
  uint16_t workers = 1;
  Exchange exchange = Exchange::Alone;
};

struct Recommendation {
  std::vector<Option> options;
  std::vector<Candidate> candidates;  // of options, by index; in their order
  Choice choice;
  std::string currency;
};

// The first quota that so many workers and a server (null: none) are above, and what they need of it.
struct AboveQuota {
  const Quota* quota = nullptr;  // null: they are within all
  double need = 0;
};
AboveQuota above_quota(const OfferedType& worker, int workers, const OfferedType* server);

// Invalid: nothing is on offer, no sizes, prices in several currencies, what choose() refuses.
Result<Recommendation> recommend(const RecommendInput& input, const WorkModel& model);

}  // namespace radl::foresight
