// What ran where and when: attempts of a farm's tasks, and periods in which nodes accepted tasks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/farm/table.h"

namespace radl::farm {

// Built from a journal's events in order.
class Timeline {
 public:
  struct Attempt {
    std::string task, node, how;  // `how`: end_name(), "" while running
    int attempt = 0;
    double started = 0, ended = 0;  // wall-clock seconds; 0: still running
  };
  struct Stay {
    std::string node;
    double since = 0, until = 0;  // wall-clock seconds; 0: the farm still has the node
  };

  // Processes an event that the table has accepted.
  void observe(const Event& event);
  const std::vector<Stay>& stays() const { return stays_; }
  // {"attempts": [{"task", "attempt", "node", "started", "ended", "how"}], "nodes": [{"node", "since",
  // "until"}], "left_out": number of attempts older than the newest `most`}. Unfinished times are null.
  Json to_json(size_t most) const;

 private:
  void leave(const std::string& node, double at);

  std::vector<Attempt> attempts_;
  std::vector<Stay> stays_;
  std::map<std::string, size_t> newest_;  // task -> index of its attempt
  std::map<std::string, size_t> open_;    // node -> index of its stay
};

}  // namespace radl::farm
