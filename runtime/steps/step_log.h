// A step's full log on this machine, and its output events: secrets masked in both.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "runtime/base/redact.h"
#include "runtime/steps/step_runner.h"

namespace radl {

class StepLog {
 public:
  StepLog(const StepContext& context, const ir::Step& step, std::string node);
  // One line of ours.
  void line(const std::string& text);
  // A piece of a command's output; whole lines become "output" events. Lines that contain `hidden` are left
  // out.
  void output(std::string_view piece, std::string_view hidden = {});
  void end_output();
  std::string mask(const std::string& text) const { return redactor_.mask(text); }
  const Redactor& redactor() const { return redactor_; }
  // The last lines of a text, masked, without empty ones at the end.
  std::string last_lines(std::string_view text, int count) const;

 private:
  void write(const std::string& text);
  void emit_line(std::string_view line, std::string_view hidden);

  const StepContext& context_;
  std::string step_, node_;
  Redactor redactor_;
  std::string held_;
  std::mutex mutex_;
};

}  // namespace radl
