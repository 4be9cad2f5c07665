// A step's full log on this computer, and its output events: secrets masked in both.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/lines.h"
#include "common/shorten.h"
#include "runtime/base/redact.h"
#include "runtime/steps/output_budget.h"
#include "runtime/steps/step_runner.h"

namespace radl {

// A step's log in the state's folder of logs: "worker[0]/tools" -> "worker[0].tools.log"; what no file name
// may hold becomes '_'.
inline std::string log_file_name(const std::string& step) {
  std::string name;
  for (char c : step) name += c == '/' ? '.' : static_cast<unsigned char>(c) < 32 ? '_' : c;
  return std::string(beginning_of(name, 200)) + ".log";
}

class StepLog {
 public:
  StepLog(const StepContext& context, const ir::Step& step, std::string node);
  // Of output beyond an OutputBudget the lines are counted, not kept, but for the last ones: somebody else
  // keeps the whole log.
  void limit_output() { budget_.emplace(); }
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;
  // One line of ours.
  void line(const std::string& text);
  // A piece of a command's output; whole lines become "output" events. Lines that contain `hidden` are left
  // out, and of a line longer than 64 KiB what is beyond.
  void output(std::string_view piece, std::string_view hidden = {});
  void end_output();
  std::string mask(const std::string& text) const { return redactor_.mask(text); }
  const Redactor& redactor() const { return redactor_; }
  // The last lines of a text, masked, without empty ones at the end.
  std::string last_lines(std::string_view text, int count) const;

 private:
  void write(const std::string& text);
  void take_line(std::string_view line, bool cut, std::string_view hidden);
  void emit_line(std::string_view line, bool cut);
  void end_gap();

  const StepContext& context_;
  std::string step_, node_;
  Redactor redactor_;
  // More than is shown of a line, so that a secret across the end of that is known as one.
  static constexpr size_t kShown = 64 * 1024, kHeld = kShown + 4096;
  Lines lines_{kHeld};
  std::optional<OutputBudget> budget_;
  static constexpr size_t kLastLines = 20;
  std::deque<std::pair<std::string, bool>> passed_over_;  // the last lines beyond the budget, with `cut`
  size_t dropped_ = 0;                                    // lines before these
  int file_ = -1;
  std::mutex mutex_;
};

}  // namespace radl
