// Reports of metrics by the tasks of one node, as events of the farm.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/farm/table.h"
#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/metric_files.h"

namespace radl::farm {

class Reports {
 public:
  // `metric`: the one that decides. `mask`: hides secrets.
  Reports(std::string metric, std::function<std::string(std::string_view text)> mask)
      : files_(std::move(metric)), mask_(std::move(mask)) {}
  // The agent sends everything again, from the beginning.
  void clear();
  // Of the lines that were taken since clear(): so many bytes the node keeps of them.
  size_t bytes() const { return bytes_; }
  // Of a line, a piece of a file, or an end, which completes the last report. Corrupt: a damaged file.
  Result<std::vector<Event>> take(const AgentLine& line, double now);

 private:
  size_t bytes_ = 0;
  MetricFiles files_;
  std::function<std::string(std::string_view text)> mask_;
  std::map<std::string, int> counts_;  // by attempt
};

}  // namespace radl::farm
