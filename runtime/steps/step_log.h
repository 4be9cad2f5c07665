// A step's full log on this computer, and its output events, both with masked secrets.
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

// The file name of a step's log in the state's log folder: "worker[0]/tools" -> "worker[0].tools.log";
// characters not allowed in file names become '_'.
inline std::string log_file_name(const std::string& step) {
  std::string name;
  for (char c : step) name += c == '/' ? '.' : static_cast<unsigned char>(c) < 32 ? '_' : c;
  return std::string(beginning_of(name, 200)) + ".log";
}

class StepLog {
 public:
  StepLog(const StepContext& context, const ir::Step& step, std::string node);
  // Counts lines beyond an OutputBudget instead of storing them, except the last ones. For output whose full
  // log is stored elsewhere.
  void limit_output() { budget_.emplace(); }
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;
  // Logs a line of radlc itself.
  void line(const std::string& text);
  // Adds a piece of a command's output; complete lines become "output" events. Omits lines that contain
  // `hidden`, and cuts lines at 64 KiB.
  void output(std::string_view piece, std::string_view hidden = {});
  void end_output();
  std::string mask(const std::string& text) const { return redactor_.mask(text); }
  const Redactor& redactor() const { return redactor_; }
  // The last lines of a text, masked, without trailing empty lines.
  std::string last_lines(std::string_view text, int count) const;

 private:
  void write(const std::string& text);
  void take_line(std::string_view line, bool cut, std::string_view hidden);
  void emit_line(std::string_view line, bool cut);
  void end_gap();

  const StepContext& context_;
  std::string step_, node_;
  Redactor redactor_;
  // Keeps more of a line than is shown, so that a secret across that boundary is recognized.
  static constexpr size_t kShown = 64 * 1024, kHeld = kShown + 4096;
  Lines lines_{kHeld};
  std::optional<OutputBudget> budget_;
  static constexpr size_t kLastLines = 20;
  std::deque<std::pair<std::string, bool>> passed_over_;  // the last lines beyond the budget, with `cut`
  size_t dropped_ = 0;                                    // number of lines before these
  int file_ = -1;
  std::mutex mutex_;
};

}  // namespace radl
