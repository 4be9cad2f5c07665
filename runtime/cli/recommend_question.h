// What `radlc recommend` is asked, from flags to what runtime/foresight takes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/project.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/run_options.h"
#include "runtime/foresight/fc2.h"
#include "runtime/foresight/recommend.h"

namespace radl::cli {

struct RecommendFlags {
  ProjectOptions project;
  RunOptions run;
  std::string training, budget, max_cost, deadline, objective = "time", algorithm = "model", workers, types,
                                                    server = "auto";
  std::string explain, study, exchanges, program;
  ResultFile write;
  std::optional<int> max_workers;
  std::optional<double> batch, latency_ms, images, interruptions;
  double confidence = 0.8;
  double share = 0.95;  // p of Scala-Opt
  bool spot = false, json = false, compare = false, as_published = false, all = false, refresh = false;
};

// "90", "90s", "45m", "3h", "2d" -> seconds. Invalid: anything else, or not above 0.
Result<double> parse_duration(const std::string& text);
// "2", "2/h", "2 EUR/h", "20 USD". Invalid: anything else, or not above 0.
struct Amount {
  Money money;
  bool any_currency = false;  // written without one
};
Result<Amount> parse_amount(const std::string& text, bool per_hour);
// "time", "cost", "weights:A,B".
Result<foresight::Objective> parse_objective(const std::string& text);
// "ring,sync-server": names as in a candidate's. Empty: all. `alone`: whether one worker by itself is meant.
struct Exchanges {
  std::vector<foresight::Exchange> exchanges;
  bool alone = true;
};
Result<Exchanges> parse_exchanges(const std::string& text);
// "1..16", "1,2,4", "8"; empty: 1 to 16.
Result<std::vector<int>> parse_sizes(const std::string& text, std::optional<int> most);

// An hour, in the currency of the prices, if no limit at all is given and the least time is asked for.
inline constexpr int64_t kUsualBudgetMicros = 10'000'000;

struct RecommendQuestion {
  foresight::RecommendInput input;
  std::vector<foresight::OfferedType> eligible_servers;  // all that a server may be, for FC2's server choice
  std::string usual_worker, usual_server;  // the types that a plan takes without an input for them; "": none
  bool default_budget = false;             // bounds.rate is kUsualBudgetMicros, which nobody asked for
  bool default_sizes = false;
  std::vector<std::string> notes;  // what the answer should be read with
  std::string currency;            // of the amounts that were given with one
  std::string calibration;         // digest
  foresight::Calibration known;
};

// --budget, --max-cost, --deadline, --objective, --workers, --exchange and --confidence.
Status take_bounds(const RecommendFlags& flags, RecommendQuestion& question);

// What the clouds said of the account (RecommendFlags::refresh), by CloudId::text().
using Surveys = std::map<std::string, Survey>;

// Offers of the catalogue that fit the training's nodes; local ones are this computer alone.
Result<RecommendQuestion> recommend_question(const RecommendFlags& flags, const Project& project,
                                             const Machinery& machinery, const Surveys& surveys = {});

// The same of the nodes of a program of the user's own, also with types that have GPUs. `input.facts` say
// nothing of it, and with `default_sizes` the sizes are the caller's to choose.
Result<RecommendQuestion> question_of_program(const RecommendFlags& flags, const Project& project,
                                              const Machinery& machinery, const Surveys& surveys,
                                              const ir::Step& program);

}  // namespace radl::cli
