// Shows the progress of a run from its events: a live region on a terminal, otherwise plain lines.
#pragma once

#include <memory>

#include "common/human.h"
#include "runtime/cli/command.h"
#include "runtime/exec/events.h"
#include "runtime/exec/progress.h"

namespace radl::cli {

class Display : public EventSink {
 public:
  // Draws pending output and releases the terminal. The destructor also calls it.
  virtual void close() = 0;
};

// For a terminal: finished actions scroll up, running ones are redrawn below them, with one bar for the whole
// run.
std::unique_ptr<Display> live_display(const Plan& plan, const Terminal& terminal);
// Prints a line at every start, end, failure and retry, and every few seconds during a training.
std::unique_ptr<Display> plain_display(const Plan& plan, const Terminal& terminal);

// "[######------]", `width` cells between the brackets.
std::string bar_text(double fraction, int width);
// "epoch 3.2/10  2,310 images/s  loss 0.82  accuracy 71.3%  ETA 0:41".
std::string training_text(const TrainingProgress& training);
// "1.9 CPUs, 512 MiB, in 1.2 MiB/s, out 0.3 MiB/s  the last line of its output".
std::string member_text(const MemberProgress& member);

}  // namespace radl::cli
