// What ran where and when: the attempts of a farm's tasks, and when its nodes took tasks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/farm/table.h"

namespace radl::farm {

// From the events of a journal, in their order.
class Timeline {
 public:
  struct Attempt {
    std::string task, node, how;  // `how`: end_name(), "" while it runs
    int attempt = 0;
    double started = 0, ended = 0;  // wall seconds; 0: it has not ended
  };
  struct Stay {
    std::string node;
    double since = 0, until = 0;  // wall seconds; 0: the farm still has the node
  };

  // An event that the table has taken.
  void observe(const Event& event);
  // In the order of their starts.
  const std::vector<Attempt>& attempts() const { return attempts_; }
  const std::vector<Stay>& stays() const { return stays_; }
  // {"attempts": [{"task", "attempt", "node", "started", "ended", "how"}], "nodes": [{"node", "since",
  // "until"}], "left_out": attempts that are older than the newest `most`}. What has not ended is null.
  Json to_json(size_t most) const;

 private:
  void leave(const std::string& node, double at);

  std::vector<Attempt> attempts_;
  std::vector<Stay> stays_;
  std::map<std::string, size_t> newest_;  // attempt, by task
  std::map<std::string, size_t> open_;    // stay, by node
};

}  // namespace radl::farm
