// Changes several consecutive resources in one round trip.
//
// A plan for a resource relies on the last look. If something that may change anything (a command, a package)
// runs before it in the same batch, the node checks it again right before its turn and stops the batch if it
// has changed: then it must be planned again.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/steps/native/resource.h"

namespace radl::native {

struct Part {
  size_t item = 0;  // index within the step
  Work work;
  bool checked = false;  // checked again before its turn: `look` must print `expected`
  std::string look, expected;
};

// Whether `next` may join a batch, and whether later resources must be checked.
bool may_follow(const Work& next);
bool may_change_others(const Kind& kind, const Work& work);

// The complete script. `mark` begins the lines that report progress.
std::string batch_script(const std::vector<Part>& batch, const std::string& mark);

// The progress of a batch, parsed from its script's output.
class Progress {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  Progress(const std::vector<Part>& batch, std::string mark);

  void take(std::string_view output);
  // True if the current part has exceeded its time.
  bool is_late() const;

  enum class End { Done, Failed, Stale, Cut };
  End end() const { return end_; }  // Cut: the script did not finish
  // Number of completed parts; the next one is current, has failed, or must be planned again.
  size_t reached() const { return reached_; }
  int exit_status() const { return status_; }
  double seconds_of(size_t part) const;
  // The current part's output: the text between its mark and the next.
  std::string output_of_last(const std::string& output) const;

 private:
  void take_line(std::string_view line);

  const std::vector<Part>& batch_;
  const std::string mark_;
  std::string held_;  // incomplete line
  size_t reached_ = 0;
  int status_ = 0;
  End end_ = End::Cut;
  std::vector<TimePoint> begun_;  // start of each part, and finally the end
};

}  // namespace radl::native
