#include "runtime/steps/result_look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "runtime/steps/program/results.h"
#include "runtime/steps/training/bucket_folder.h"
#include "runtime/steps/training/result_folder.h"

namespace radl {
namespace {

std::string place_of(const ir::Step& step) {
  return step.kind == ir::StepKind::Program ? step.program.value("results", "")
                                            : step.training.value("result", "");
}

Status look(const ir::Step& step) {
  if (step.kind == ir::StepKind::Program) return program::check_results_folder(step.program);
  const std::string place = place_of(step);
  return place.empty() || training::is_bucket(place) ? Status() : training::check_result_folder(place);
}

}  // namespace

Result<std::vector<std::string>> look_at_result_folders(const ir::Program& program,
                                                        const std::set<std::string>& steps) {
  std::map<std::string, std::vector<std::string>> by_place;
  std::vector<Status> wrong;
  std::set<std::string> used;
  for (const ir::Step& step : program.steps) {
    if (!ir::is_job(step.kind)) continue;
    if (const std::string place = place_of(step); !place.empty()) by_place[place].push_back(step.id);
    if (!steps.contains(step.id)) continue;
    used.insert(place_of(step));
    if (Status fits = look(step); !fits.ok()) wrong.push_back(std::move(fits).at(step.id));
  }
  if (!wrong.empty()) {
    std::string text;
    for (const Status& each : wrong) text += (text.empty() ? "" : "\n") + each.message();
    return invalid(text).with_hint(wrong.front().hint());
  }
  std::vector<std::string> notes;
  for (const auto& [place, ids] : by_place) {
    if (ids.size() > 1 && used.contains(place))
      notes.push_back(
          fmt::format("{} have one folder for their results, '{}': of files with one name, such as "
                      "report.json, the last one's "
                      "stay",
                      fmt::join(ids, " and "), place));
  }
  return notes;
}

}  // namespace radl
