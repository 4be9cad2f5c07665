#include "runtime/steps/program/short_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "runtime/net/node_path.h"

namespace radl::program {
namespace {

// Its known arguments, as text.
std::vector<std::string> words_of(const Json& program) {
  std::vector<std::string> words;
  for (const Json& word : program.value("arguments", Json::array()))
    words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
  return words;
}

double most_seconds(const Json& program) { return program.value("probe_seconds", 0.0); }

}  // namespace

bool ShortRun::is_wanted(const Json& program) { return most_seconds(program) > 0; }

ShortRun::ShortRun(const Json& program, size_t nodes)
    : most_(most_seconds(program)), progress_(nodes, ProgressReader(words_of(program))), last_lines_(nodes) {}

void ShortRun::take(size_t node, double seconds, const std::string& line) {
  if (most_ <= 0) return;
  progress_[node].take(seconds, line);
  last_lines_[node] = line;
}

// A bar that is drawn in one line has not ended it yet. It comes as a line if its program has ended
// meanwhile.
void ShortRun::take_unended_line(size_t node, jobs::Member& member, const std::string& process) {
  constexpr size_t kTail = 65536, kSame = 200;  // bytes
  auto tail = member.exec(fmt::format("tail -c {} {}/{}.log", kTail, shell_path(member.folder()), process));
  if (!tail || tail->exit_status != 0) return;
  const std::string_view text = tail->out, last = last_lines_[node];
  const size_t line = text.find_last_of('\n');
  const std::string_view rest = line == text.npos ? text : text.substr(line + 1);
  const bool has_come =
      !last.empty() && rest.find(last.substr(last.size() - std::min(last.size(), kSame))) != rest.npos;
  if (!has_come) progress_[node].take(*watched_, rest);
}

Json ShortRun::output(int exit_status, double seconds, size_t running,
                      const std::vector<std::unique_ptr<jobs::Member>>& members,
                      const std::vector<jobs::Process>& processes, const jobs::Following& following) {
  Json output = {{"exit_status", exit_status},
                 {"seconds", watched_.value_or(seconds)},
                 {"ended", !watched_.has_value()}};
  // A launcher may have put what prints on any node.
  for (size_t node = 0; watched_ && node < progress_.size(); ++node) {
    if (node < running && !following.is_lost(node))
      take_unended_line(node, *members[node], processes[node].name);
    const auto estimate = progress_[node].estimate(*watched_);
    if (!estimate) continue;
    output["progress"] = {{"seconds", estimate->seconds},
                          {"low", estimate->low},
                          {"high", estimate->high},
                          {"what", estimate->what}};
    break;
  }
  return output;
}

}  // namespace radl::program
