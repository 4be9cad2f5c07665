// A search over a space: which values the next trial gets, and which trial ends early.
//
// Its decisions depend only on its settings and on the events it has seen, in their order: a search that
// sees a journal's events again decides the same. A trial is a task whose spec has "parameters".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/farm/space.h"
#include "runtime/farm/table.h"

namespace radl::farm {

enum class Strategy { Grid, Random, Sobol, Asha, Tpe };
std::optional<Strategy> find_strategy(std::string_view name);  // "grid", "random", "sobol", "asha", "tpe"

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
};
// From a JSON object: space, strategy, trials, metric, goal ("min" or "max"), seed, first_rung, reduction.
Result<SearchSettings> parse_search(const Json& json);

class Search {
 public:
  explicit Search(SearchSettings settings);
  // An event that the table has taken.
  void observe(const Event& event);
  // The trial is no longer among the best of a rung that it reached.
  bool should_stop(const std::string& task) const;
  // Values of the next trial; nothing once all have been suggested. The caller adds it as a task.
  std::optional<Json> next() const;
  size_t suggested() const { return trials_.size(); }
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
  void reach(Trial& trial, int report);

  SearchSettings settings_;
  std::vector<Json> grid_;
  std::map<std::string, Trial> trials_;
  std::map<int, std::vector<double>>
      rungs_;  // by report: values of the trials that reached it, lower is better
};

// Points of a Sobol sequence with a random shift; in up to 8 dimensions; further ones are random.
std::vector<double> sobol_point(size_t number, size_t dimensions, uint64_t seed);

}  // namespace radl::farm
