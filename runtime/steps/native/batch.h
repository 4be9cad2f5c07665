// Changes of several resources that follow each other, made in one round trip.
//
// What is planned of a resource holds for what the last look showed. Where something that may change anything
// (a command, a package) runs before it in the same batch, the node looks at it once more right before its
// turn, and goes no further where it shows something else: then it is to be planned anew.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/steps/native/resource.h"

namespace radl::native {

struct Part {
  size_t item = 0;  // of the step
  Work work;
  bool checked = false;  // looked at again before its turn: by `look`, which is to print `expected`
  std::string look, expected;
};

// Whether `next` may come into a batch at all, and whether what comes after it must be checked.
bool may_follow(const Work& next);
bool may_change_others(const Kind& kind, const Work& work);

// The whole script. `mark` begins the lines that tell how far it is.
std::string batch_script(const std::vector<Part>& batch, const std::string& mark);

// How far a batch is, by what its script prints.
class Progress {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  Progress(const std::vector<Part>& batch, std::string mark);

  void take(std::string_view output);
  // The part that has its turn took more than its time.
  bool is_late() const;

  enum class End { Done, Failed, Stale, Cut };
  End end() const { return end_; }  // Cut: the script did not come to an end
  // Parts before this one are done: their number, or the one that failed, or that has to be planned anew.
  size_t reached() const { return reached_; }
  int exit_status() const { return status_; }
  double seconds_of(size_t part) const;
  // What the present part has printed, of all that was printed: between its mark and the next.
  std::string output_of_last(const std::string& output) const;

 private:
  void take_line(std::string_view line);

  const std::vector<Part>& batch_;
  const std::string mark_;
  std::string held_;  // of a line that is not whole
  size_t reached_ = 0;
  int status_ = 0;
  End end_ = End::Cut;
  std::vector<TimePoint> begun_;  // of each part, and at last the end
};

}  // namespace radl::native
