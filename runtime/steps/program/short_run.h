// A short run of a program for its time (docs/ir.md, `probe_seconds`): what it printed by when it was ended.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/steps/jobs/following.h"
#include "runtime/steps/program/progress.h"

namespace radl::program {

class ShortRun {
 public:
  // Whether the program is one.
  static bool is_wanted(const Json& program);
  // `nodes`: how many there are. Seconds are those since the program began.
  ShortRun(const Json& program, size_t nodes);
  explicit operator bool() const { return most_ > 0; }
  // A line of a node, each by the thread that follows it.
  void take(size_t node, double seconds, const std::string& line);
  bool is_over(double seconds) const { return most_ > 0 && seconds > most_; }
  // It was ended at its time, and had not ended by itself.
  void end(double seconds) { watched_ = seconds; }
  bool was_ended() const { return watched_.has_value(); }
  // The step's product; `seconds` of a run that ended by itself. The first `running` nodes may have printed
  // part of a line.
  Json output(int exit_status, double seconds, size_t running,
              const std::vector<std::unique_ptr<jobs::Member>>& members,
              const std::vector<jobs::Process>& processes, const jobs::Following& following);

 private:
  void take_unended_line(size_t node, jobs::Member& member, const std::string& process);

  const double most_;
  std::optional<double> watched_;
  std::vector<ProgressReader> progress_;
  std::vector<std::string> last_lines_;
};

}  // namespace radl::program
