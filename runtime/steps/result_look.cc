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
  return step.kind == ir::StepKind::Program ? step.program->value("results", "")
                                            : step.training->value("result", "");
}

Status look(const ir::Step& step) {
  if (step.kind == ir::StepKind::Program) return program::check_results_folder(step.program);
  const std::string place = place_of(step);
  return place.empty() || training::is_bucket(place) ? Status() : training::check_training_folder(place);
}

// The user's files in the way of results.
std::vector<std::string> in_the_way(const ir::Step& step) {
  if (step.kind == ir::StepKind::Program) return program::users_results(step.program);
  const std::string place = place_of(step);
  if (place.empty() || training::is_bucket(place)) return {};
  return training::users_files(place, {"report.json"});
}

constexpr size_t kMostNamed = 3;

std::string note_of(const ir::Step& step, std::vector<std::string> files) {
  const size_t more = files.size() > kMostNamed ? files.size() - kMostNamed : 0;
  files.resize(files.size() - more);
  return fmt::format(
      "{}: in '{}', radlc did not write the current content of '{}'{}: if results have the same name, it "
      "is renamed to '{}.~1~'",
      step.id, place_of(step), fmt::join(files, "', '"), more > 0 ? fmt::format(" and {} more", more) : "",
      files.front());
}

}  // namespace

Result<std::vector<std::string>> look_at_result_folders(const ir::Program& program,
                                                        const std::set<std::string>& steps) {
  std::map<std::string, std::vector<std::string>> by_place;
  std::vector<Status> wrong;
  std::vector<std::string> notes;
  std::set<std::string> used;
  for (const ir::Step& step : program.steps) {
    if (!ir::is_job(step.kind)) continue;
    if (const std::string place = place_of(step); !place.empty()) by_place[place].push_back(step.id);
    if (!steps.contains(step.id)) continue;
    used.insert(place_of(step));
    if (Status fits = look(step); !fits.ok())
      wrong.push_back(std::move(fits).at(step.id));
    else if (std::vector<std::string> files = in_the_way(step); !files.empty())
      notes.push_back(note_of(step, std::move(files)));
  }
  if (!wrong.empty()) {
    std::string text;
    for (const Status& each : wrong) text += (text.empty() ? "" : "\n") + each.message();
    return invalid(text).with_hint(wrong.front().hint());
  }
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
