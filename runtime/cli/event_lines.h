// Formats a run's events as lines of text, live or afterwards.
#pragma once

#include <map>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/exec/progress.h"

namespace radl::cli {

// The part of a step's message that a viewer must not miss; "" if none.
std::string notice_text(const Event& event);

class EventLines {
 public:
  // `alone`: the reader sees neither the plan nor the report of the run.
  EventLines(const Plan& plan, bool color, bool alone)
      : progress_(plan), style_(color), color_(color), alone_(alone) {}
  // For a terminal (shown.h), without newline; "" if there is nothing to report.
  std::string line(const Event& event);

 private:
  struct Last {
    double time = 0;
    std::string line;
  };
  std::string text_of(const Event& event);
  std::string frame_of(const Event& event) const;
  std::string metric(const Event& event);

  Progress progress_;
  Style style_;
  bool color_, alone_;
  std::map<std::string, Last> last_;  // by training
};

}  // namespace radl::cli
