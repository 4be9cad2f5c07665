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
  std::string explain, study;
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
// "1..16", "1,2,4", "8"; empty: 1 to 16.
Result<std::vector<int>> parse_sizes(const std::string& text, std::optional<int> most);

struct RecommendQuestion {
  foresight::RecommendInput input;
  std::vector<std::string> notes;  // what the answer should be read with
  std::string currency;            // of the amounts that were given with one
  std::string calibration;         // digest
  foresight::Calibration known;
};

// What the clouds said of the account (RecommendFlags::refresh), by CloudId::text().
using Surveys = std::map<std::string, Survey>;

// Offers of the catalogue that fit the training's nodes; local ones are this computer alone.
Result<RecommendQuestion> recommend_question(const RecommendFlags& flags, const Project& project,
                                             const Machinery& machinery, const Surveys& surveys = {});

}  // namespace radl::cli
