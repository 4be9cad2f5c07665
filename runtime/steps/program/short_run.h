// A short run of a program to measure its duration (docs/ir.md, `probe_seconds`), and its output.
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
  // True if the program requests one.
  static bool is_wanted(const Json& program);
  // `nodes`: their number. Times count from the program's start.
  ShortRun(const Json& program, size_t nodes);
  explicit operator bool() const { return most_ > 0; }
  // A line from a node; call on the thread that follows the node.
  void take(size_t node, double seconds, const std::string& line);
  bool is_over(double seconds) const { return most_ > 0 && seconds > most_; }
  // It was ended at its time limit, before it ended on its own.
  void end(double seconds) { watched_ = seconds; }
  bool was_ended() const { return watched_.has_value(); }
  // The step's product; `seconds` of a run that ended by itself. The first `running` nodes may have printed
  // an incomplete line.
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
