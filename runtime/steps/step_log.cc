#include "runtime/steps/step_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace radl {

StepLog::StepLog(const StepContext& context, const ir::Step& step, std::string node)
    : context_(context), step_(step.id), node_(std::move(node)) {
  if (context.context && context.context->secrets) redactor_ = Redactor(*context.context->secrets);
}

StepLog::~StepLog() {
  if (file_ >= 0) ::close(file_);
}

void StepLog::write(const std::string& text) {
  if (context_.log_path.empty()) return;
  if (file_ < 0) file_ = ::open(context_.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ >= 0)
    (void)!::write(file_, text.data(), text.size());  // a log that cannot be written fails no step
}

void StepLog::line(const std::string& text) {
  std::lock_guard lock(mutex_);
  write(node_ + ": " + redactor_.mask(text) + "\n");
}

void StepLog::take_line(std::string_view line, bool cut, std::string_view hidden) {
  if (!hidden.empty() && line.find(hidden) != std::string_view::npos) return;
  if (budget_ && !budget_->takes(line.size(), std::chrono::steady_clock::now())) {
    passed_over_.emplace_back(line, cut);
    if (passed_over_.size() <= kLastLines) return;
    passed_over_.pop_front();
    ++dropped_;
    return;
  }
  end_gap();
  emit_line(line, cut);
}

// What is known of the lines beyond the budget so far.
void StepLog::end_gap() {
  if (dropped_ > 0)
    emit_line(fmt::format("[radlc: {} lines are not shown here; the program's own log has them]",
                          std::exchange(dropped_, 0)),
              false);
  for (const auto& [line, cut] : std::exchange(passed_over_, {})) emit_line(line, cut);
}

void StepLog::emit_line(std::string_view line, bool cut) {
  std::string clean = redactor_.mask(line);
  if (cut || clean.size() > kShown) {
    clean.resize(std::min(clean.size(), kShown));
    clean += " ... (the line is longer)";
  }
  write(node_ + "  " + clean + "\n");
  context_.emit({step_, node_, "output", {{"line", clean}}});
}

void StepLog::output(std::string_view piece, std::string_view hidden) {
  std::lock_guard lock(mutex_);
  lines_.add(piece, [&](std::string_view line, bool cut) { take_line(line, cut, hidden); });
}

void StepLog::end_output() {
  std::lock_guard lock(mutex_);
  lines_.end([&](std::string_view line, bool cut) { take_line(line, cut, {}); });
  end_gap();
}

std::string StepLog::last_lines(std::string_view text, int count) const {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
    text.remove_suffix(1);
  size_t begin = text.size();
  while (count > 0 && begin > 0) {
    size_t at = text.rfind('\n', begin - 1);
    --count;
    if (at == std::string_view::npos) {
      begin = 0;
      break;
    }
    begin = at;
  }
  if (begin > 0) ++begin;
  return redactor_.mask(text.substr(std::min(begin, text.size())));
}

}  // namespace radl
