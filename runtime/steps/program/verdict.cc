#include "runtime/steps/program/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace radl::program {

EndRules end_rules(const nlohmann::json& program) {
  EndRules rules;
  rules.alone = program.value("lost", "all") == "alone";
  rules.chief = program.value("ends", "all") == "chief" || program.value("runs_on", "each") == "first";
  rules.may_fail = program.value("may_fail", false);
  rules.least = program.value("least", size_t{1});
  return rules;
}

Verdict judge(const EndRules& rules, const std::vector<jobs::Process>& processes, const jobs::Ends& ends) {
  const auto chief = ends.find(processes[0].name);
  const bool chief_ended = chief != ends.end();
  const size_t working = processes.size() - ends.size();
  const auto well = static_cast<size_t>(
      std::count_if(ends.begin(), ends.end(), [](const auto& end) { return end.second == 0; }));
  const bool over = rules.chief ? chief_ended : working == 0;
  if (rules.chief && chief_ended && chief->second == 0) return Verdict::Well;
  if (well == processes.size()) return Verdict::Well;
  if (rules.may_fail) {
    // Exit statuses of its own are no failure, and the others may still be at work.
    if (over && chief_ended && chief->second >= 0) return Verdict::Well;
    if (std::all_of(ends.begin(), ends.end(), [](const auto& end) { return end.second >= 0; }))
      return Verdict::GoesOn;
  }
  if (!rules.alone) return well + working == processes.size() ? Verdict::GoesOn : Verdict::Failed;
  if (std::any_of(ends.begin(), ends.end(),
                  [](const auto& end) { return end.second != 0 && !was_killed(end.second); }))
    return Verdict::Failed;
  if (chief_ended && chief->second != 0) return Verdict::Failed;
  if (working == 0) return Verdict::Well;
  return working + well < rules.least ? Verdict::Failed : Verdict::GoesOn;
}

Left what_is_left(const EndRules& rules, const std::vector<jobs::Process>& processes,
                  const std::vector<jobs::Member::Look>& looks, const std::string& run) {
  using Phase = jobs::ProcessState::Phase;
  Left left;
  bool cancelled = false;
  for (size_t node = 0; node < looks.size(); ++node) {
    const bool may_miss = rules.alone && node > 0 && looks[node].run.empty();
    left.same &= may_miss || looks[node].run == run;
    cancelled |= looks[node].cancelled;
  }
  const jobs::ProcessState chief = looks[0].of(processes[0].name);
  const bool chief_is_done = rules.chief && chief.phase == Phase::Ended && chief.exit == 0;
  for (const jobs::Process& process : processes) {
    const jobs::ProcessState state = looks[process.node].of(process.name);
    const bool ended = state.phase == Phase::Ended, running = state.phase == Phase::Running;
    left.running |= running;
    if (rules.alone && process.node > 0 && state.phase == Phase::Absent) {
      left.without.insert(process.node);
      continue;
    }
    left.whole &= running || (ended && state.exit >= 0 && (state.exit == 0 || rules.may_fail)) ||
                  (ended && process.node > 0 && (rules.alone || chief_is_done));
  }
  // However what was cancelled has ended, that was not its own end. What still ends is followed to there.
  if (cancelled && !left.running) left.whole = false;
  return left;
}

std::string start_hint(const nlohmann::json& program, int exit, std::string_view said) {
  const std::string main = program.value("main", "");
  if (exit == 127 && said.ends_with(fmt::format(" {}: not found", main))) {
    if (main.find('/') == main.npos)
      return fmt::format("'{0}' is looked for in PATH on the node; a file of the source is called './{0}'",
                         main);
    return "the source holds no such file (an archive keeps its top folder, as in './top/run'), or its first "
           "line "
           "names a program that the node lacks";
  }
  if (exit == 126 && said.ends_with("Permission denied"))
    return fmt::format("make it executable: `chmod +x {}`", main);
  return "";
}

}  // namespace radl::program
