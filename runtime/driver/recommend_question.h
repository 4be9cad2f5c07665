// Converts a request for a recommendation to the input of runtime/foresight.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "runtime/foresight/fc2.h"
#include "runtime/foresight/recommend.h"

namespace radl::driver {

// The options of `radlc recommend` that concern the cluster, as the user wrote them.
struct RecommendRequest {
  std::string training, budget, max_cost, deadline, objective = "time", algorithm = "model", workers, types,
                                                    server = "auto", exchanges;
  std::optional<int> max_workers;
  std::optional<double> batch, latency_ms, images, interruptions;
  double confidence = 0.8;
  bool spot = false, refresh = false;
};

// "90", "90s", "45m", "3h", "2d" -> seconds. Invalid: anything else, or not above 0.
Result<double> parse_duration(const std::string& text);
// "2", "2/h", "2 EUR/h", "20 USD". Invalid: anything else, or not above 0.
struct Amount {
  Money money;
  bool any_currency = false;  // written without a currency
};
Result<Amount> parse_amount(const std::string& text, bool per_hour);
// "time", "cost", "weights:A,B".
Result<foresight::Objective> parse_objective(const std::string& text);
// "ring,sync-server": exchange names as in candidates. Empty: all. `alone`: includes a single worker.
struct Exchanges {
  std::vector<foresight::Exchange> exchanges;
  bool alone = true;
};
Result<Exchanges> parse_exchanges(const std::string& text);
// "1..16", "1,2,4", "8"; empty: 1 to 16.
Result<std::vector<int>> parse_sizes(const std::string& text, std::optional<int> most);

// Default hourly budget in the prices' currency, used if no limit is given and time is minimized.
inline constexpr int64_t kUsualBudgetMicros = 10'000'000;

struct RecommendQuestion {
  foresight::RecommendInput input;
  std::vector<foresight::OfferedType> eligible_servers;  // all that a server may be, for FC2's server choice
  std::string usual_worker, usual_server;  // the types that a plan uses without an input for them; "": none
  bool default_budget = false;             // bounds.rate is kUsualBudgetMicros, by default
  bool default_sizes = false;
  std::vector<std::string> notes;  // caveats of the answer
  std::string currency;            // of the amounts given with one
  std::string calibration;         // digest
  foresight::Calibration known;
};

// --budget, --max-cost, --deadline, --objective, --workers, --exchange and --confidence.
Status take_bounds(const RecommendRequest& request, RecommendQuestion& question);

// Account surveys of the clouds (RecommendRequest::refresh), by CloudId::text().
using Surveys = std::map<std::string, Survey>;

// Catalogue offers that fit the training's nodes. Local nodes have only this computer.
Result<RecommendQuestion> recommend_question(const RecommendRequest& request, const Project& project,
                                             const Machinery& machinery, const Surveys& surveys = {});

// Same for the nodes of a user program; includes types with GPUs. Does not set `input.facts`; with
// `default_sizes` the caller chooses the sizes.
Result<RecommendQuestion> question_of_program(const RecommendRequest& request, const Project& project,
                                              const Machinery& machinery, const Surveys& surveys,
                                              const ir::Step& program);

}  // namespace radl::driver
