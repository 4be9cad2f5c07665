// Plots a search: parallel coordinates of its trials, and their curves.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/farm/table.h"

namespace radl::farm {

// Values of each trial's metric over its reports, from the events of a journal.
class Curves {
 public:
  // `metric`: if empty, the search's, from the farm's settings at the time of each event.
  explicit Curves(std::string metric = {}) : metric_(metric), given_(!metric.empty()) {}
  void observe(const Event& event);
  const std::vector<std::pair<int, double>>& of(const std::string& task) const;

 private:
  std::string metric_;
  bool given_;
  std::map<std::string, std::vector<std::pair<int, double>>> curves_;  // of the newest attempt
};

// {"farm", "metric", "goal", "trials": [{"task", "state", "parameters", "value", "curve": [[report,
// value]]}]}. With a `metric` other than that of a search, all tasks are trials, without parameters if they
// have none. Invalid: the farm has no search, and no metric is given.
Result<Json> plot_of(const std::string& farm, const Table& table, const Curves& curves,
                     const std::string& metric = {});
// Returns a self-contained page. Escapes foreign text.
std::string plot_page(const Json& plot);

}  // namespace radl::farm
