// Renders a run's progress lines (docs/progress-lines.md) for people: a progress bar, and a permanent line
// for each event.
#pragma once

#include <string_view>

#include "engine/cli/command.h"

namespace radl::engine::cli {

class ProgressView {
 public:
  explicit ProgressView(bool terminal) : meter_(terminal), terminal_(terminal) {}
  void line(std::string_view json);
  void done() { meter_.clear(); }

 private:
  Meter meter_;
  bool terminal_;
  SteadyClock::time_point last_plain_{};
};

}  // namespace radl::engine::cli
