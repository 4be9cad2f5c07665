// A search over a space: which values the next trial gets, and which trial ends early.
//
// Its decisions depend only on its settings and on the events it has seen, in their order: a search that
// sees a journal's events again decides the same. A trial is a task whose spec has "parameters", and "from"
// if it starts from another trial's output.
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
  // Early stopping, always with asha. A trial that reaches report `first_rung` * reduction^k goes on if its
  // value is among the best 1/reduction of those that reached it.
  bool stops_early = false;
  int first_rung = 1, reduction = 3;
  size_t population = 8;              // of a generation, with pbt
  std::string sampler;                // of Optuna: the name of its class
  Json sampler_options;               // its arguments
  std::vector<Earlier> earlier = {};  // best first
};
// From a JSON object: space, strategy, trials, metric, goal ("min" or "max"), seed, first_rung, reduction,
// population, sampler, sampler_options, and `from`: texts of table.json of earlier searches.
Result<SearchSettings> parse_search(const Json& json);

// The name of the task of a trial; no other task of a search has such a name.
inline constexpr std::string_view kTrialPrefix = "trial-";
std::string trial_name(size_t number);

// Trials of a search that are not tasks yet.
struct TrialsLeft {
  size_t count = 0;
  size_t first = 0;       // the number of the first
  size_t population = 0;  // of a generation, which starts when the one before is over; 0: there are none
  // The first may be added now.
  bool may_begin(const Table& table) const;
};

// An external searcher (docs/search.md, Optuna): from a request, {"parameters": ..}. Its answer must depend
// on the request alone.
using Suggest = std::function<Result<Json>(const Json& request)>;

class Search {
 public:
  explicit Search(SearchSettings settings, Suggest external = {});
  // An event that the table has taken.
  void observe(const Event& event);
  // The trial is no longer among the best of a rung that it reached.
  bool should_stop(const std::string& task) const;
  // Running trials that should stop, and were not asked to yet.
  std::vector<std::string> to_stop(const Table& table) const;
  // A trial may be added now. With pbt, none may while the generation before is not over.
  bool has_next(const Table& table) const;
  // The next trial, if has_next(). The caller adds it as the task next_name(). Only an external searcher
  // fails.
  Result<Suggestion> next(const Table& table) const;
  std::string next_name() const { return trial_name(trials_.size()); }
  TrialsLeft left() const;
  const SearchSettings& settings() const { return settings_; }
  // The best trial's task, by its last value of the metric; "" if none has reported it.
  std::string best() const;
  // The value of the metric that counts for a trial.
  std::optional<double> value(const std::string& task) const;

 private:
  struct Trial {
    Json parameters;
    std::optional<double> value;  // newest
    int reached = 0;              // the highest rung, as a number of reports
    bool over = false;            // finished or stopped: its value counts
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
      rungs_;  // by report: values of the trials that reached it, lower is better
};

// Points of a Sobol sequence with a random shift; in up to 8 dimensions; further ones are random.
std::vector<double> sobol_point(size_t number, size_t dimensions, uint64_t seed);

}  // namespace radl::farm
