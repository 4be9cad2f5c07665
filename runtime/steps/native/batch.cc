#include "runtime/steps/native/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/looking.h"

namespace radl::native {
namespace {

constexpr size_t kLongestLine = 4096;  // of those with a mark; what a program prints may be longer

// Not `( ... ) || ...`: a shell ignores errexit in a list's first part. And what runs must not read the rest
// of this script as its input.
std::string part_script(const Part& part, size_t number, const std::string& mark) {
  std::string text;
  if (part.checked) {
    text += fmt::format(
        "now=$(\n{}exit $r\n)\n[ $? = 0 ] && [ \"$now\" = {} ] || {{ echo '{} {} stale'; exit 0; }}\n",
        look_text(part.item, part.look), shell_quote(part.expected), mark, number);
  }
  text += fmt::format("echo '{} {} begin'\n", mark, number);
  if (part.work.changes.empty()) return text;
  return text + fmt::format(
                    "( set -e\n{}) </dev/null\nr=$?\n[ $r = 0 ] || {{ echo \"{} {} failed $r\"; exit 0; }}\n",
                    part.work.script, mark, number);
}

}  // namespace

bool may_follow(const Work& next) { return !next.once && next.retries == 0 && !next.before; }

bool may_change_others(const Kind& kind, const Work& work) {
  return !work.changes.empty() && !kind.batches();
}

std::string batch_script(const std::vector<Part>& batch, const std::string& mark) {
  const bool looks = std::any_of(batch.begin(), batch.end(), [](const Part& part) { return part.checked; });
  std::string staged, script;
  for (const Part& part : batch) {
    if (part.work.changes.empty()) continue;
    for (const Staged& one : part.work.staged) staged += " " + shell_path(one.remote_path);
  }
  // What was sent goes away with the shell that was to use it.
  if (!staged.empty())
    script = fmt::format("trap {} EXIT\ntrap 'exit 143' HUP INT TERM\n", shell_quote("rm -f" + staged));
  if (looks) script += kLookPrelude;
  script += kChangePrelude;
  script += fmt::format("N={}\n", to_hex(random_bytes(8)));
  for (size_t k = 0; k < batch.size(); ++k) script += part_script(batch[k], k, mark);
  return script + fmt::format("echo '{} {} done'\n", mark, batch.size());
}

Progress::Progress(const std::vector<Part>& batch, std::string mark)
    : batch_(batch), mark_(std::move(mark)), begun_{std::chrono::steady_clock::now()} {
  begun_.resize(batch.size() + 1, begun_.front());
}

void Progress::take(std::string_view output) {
  for (size_t end; (end = output.find('\n')) != std::string_view::npos; output.remove_prefix(end + 1)) {
    held_.append(output.substr(0, end));
    take_line(held_);
    held_.clear();
  }
  held_.append(output);
  if (held_.size() > kLongestLine) held_.erase(0, held_.size() - kLongestLine);
}

void Progress::take_line(std::string_view line) {
  // What runs may have left its last line open before.
  const size_t at = line.rfind(mark_);
  if (at == std::string_view::npos) return;
  size_t part = 0;
  char word[8] = {};
  int status = 0;
  if (std::sscanf(std::string(line.substr(at + mark_.size())).c_str(), " %zu %7s %d", &part, word, &status) <
      2)
    return;
  if (part > batch_.size()) return;
  const std::string_view what = word;
  reached_ = part;
  status_ = status;
  const size_t over = std::min(what == "failed" ? part + 1 : part, batch_.size());
  std::fill(begun_.begin() + static_cast<long>(over), begun_.end(), std::chrono::steady_clock::now());
  if (what == "done") end_ = End::Done;
  if (what == "failed") end_ = End::Failed;
  if (what == "stale") end_ = End::Stale;
}

bool Progress::is_late() const {
  if (reached_ >= batch_.size()) return false;
  return std::chrono::steady_clock::now() >= begun_[reached_] + batch_[reached_].work.deadline;
}

double Progress::seconds_of(size_t part) const {
  return std::chrono::duration<double>(begun_[part + 1] - begun_[part]).count();
}

std::string Progress::output_of_last(const std::string& output) const {
  const size_t end = end_ == End::Cut ? output.size() : std::min(output.rfind(mark_), output.size());
  const size_t before = end == 0 ? std::string::npos : output.rfind(mark_, end - 1);
  if (before == std::string::npos || before >= end) return output.substr(0, end);
  const size_t begin = std::min(output.find('\n', before), end);
  return output.substr(std::min(begin + 1, end), end - std::min(begin + 1, end));
}

}  // namespace radl::native
