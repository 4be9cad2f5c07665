// A search over a space: chooses the next trial's parameters, and which trials end early.
//
// Decisions depend only on the settings and the sequence of observed events, so replaying a journal gives the
// same decisions. A trial is a task whose spec has "parameters", and "from" if it continues another trial's
// output.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/farm/evolve.h"
#include "runtime/farm/space.h"
#include "runtime/farm/table.h"

namespace radl::farm {

enum class Strategy { Grid, Random, Sobol, Asha, Tpe, Pbt, Optuna };
std::optional<Strategy> find_strategy(std::string_view name);  // "grid", "random", "sobol", "asha", ..

// A finished trial of an earlier search.
struct Earlier {
  Json parameters;
  double value = 0;
};

struct SearchSettings {
  Space space;
  Strategy strategy = Strategy::Random;
  size_t trials = 16;
  std::string metric = "loss";
  bool maximize = false;
  uint64_t seed = 0;
  // Early stopping, always on with asha. A trial at report `first_rung` * reduction^k continues if its value
  // is among the best 1/reduction of those that reached that report.
  bool stops_early = false;
  int first_rung = 1, reduction = 3;
  size_t population = 8;              // of a generation; for pbt
  std::string sampler;                // Optuna: class name of the sampler
  Json sampler_options;               // Optuna: its arguments
  std::vector<Earlier> earlier = {};  // best first
};
// Parses a JSON object: space, strategy, trials, metric, goal ("min" or "max"), seed, first_rung, reduction,
// population, sampler, sampler_options, and `from`: texts of table.json of earlier searches.
Result<SearchSettings> parse_search(const Json& json);

// Name of a trial's task; reserved for trials.
inline constexpr std::string_view kTrialPrefix = "trial-";
std::string trial_name(size_t number);

// Trials of a search that are not tasks yet.
struct TrialsLeft {
  size_t count = 0;
  size_t first = 0;       // number of the first
  size_t population = 0;  // of a generation, which starts after the previous one; 0: no generations
  // True if the first may be added now.
  bool may_begin(const Table& table) const;
};

// An external searcher (docs/search.md, Optuna): maps a request to {"parameters": ..}. The result must depend
// only on the request.
using Suggest = std::function<Result<Json>(const Json& request)>;

class Search {
 public:
  explicit Search(SearchSettings settings, Suggest external = {});
  // Processes an event that the table has accepted.
  void observe(const Event& event);
  // True if the trial has dropped out of the best of a rung that it reached.
  bool should_stop(const std::string& task) const;
  // Running trials that should stop and have not been told to.
  std::vector<std::string> to_stop(const Table& table) const;
  // True if a trial may be added now. With pbt, not before the previous generation has ended.
  bool has_next(const Table& table) const;
  // The next trial, if has_next(). The caller adds it as the task next_name(). Can fail only with an external
  // searcher.
  Result<Suggestion> next(const Table& table) const;
  std::string next_name() const { return trial_name(trials_.size()); }
  TrialsLeft left() const;
  const SearchSettings& settings() const { return settings_; }
  // Task of the best trial by its latest metric value; "" if none has reported it.
  std::string best() const;
  // The metric value that counts for a trial.
  std::optional<double> value(const std::string& task) const;

 private:
  struct Trial {
    Json parameters;
    std::optional<double> value;  // latest
    int reached = 0;              // highest rung, as a number of reports
    bool over = false;            // finished or stopped: its value is final
    bool stops = false;
  };
  Json learned(size_t number) const;
  std::vector<double> drawn(size_t number) const;
  Json started(size_t number) const;
  Suggestion evolved(size_t number, const Table& table) const;
  Json request(size_t number, const Table& table) const;
  Result<Suggestion> taken(const Json& answer, size_t number) const;
  double cost(double value) const { return settings_.maximize ? -value : value; }
  void reach(Trial& trial, int report);

  SearchSettings settings_;
  Suggest external_;
  std::vector<Json> grid_;
  std::map<std::string, Trial> trials_;
  std::map<int, std::vector<double>>
      rungs_;  // number of reports -> values of the trials that reached it; lower is better
};

// Points of a randomly shifted Sobol sequence, in up to 8 dimensions; further dimensions are random.
std::vector<double> sobol_point(size_t number, size_t dimensions, uint64_t seed);

}  // namespace radl::farm
