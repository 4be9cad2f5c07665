// Events as lines of text: what happens in a run, for whoever reads it as it happens or afterwards.
#pragma once

#include <map>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/exec/progress.h"

namespace radl::cli {

// What a step says that whoever looks on should not miss; else empty.
std::string notice_text(const Event& event);

class EventLines {
 public:
  // `alone`: the reader sees nothing else of the run, neither its plan nor its report.
  EventLines(const Plan& plan, bool color, bool alone)
      : progress_(plan), style_(color), color_(color), alone_(alone) {}
  // For a terminal (shown.h), without newline; empty where there is nothing to say.
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
