#include "runtime/cli/test_farms.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/human.h"
#include "compiler/ir/elastic_farm.h"
#include "runtime/driver/farm_facts.h"
#include "runtime/farm/trial.h"
#include "runtime/plan/farm_notes.h"

namespace radl::cli::test_command {
namespace {

constexpr size_t kMostTasks = 60;  // that are played: each decision about nodes plays all of them ahead
constexpr size_t kFailuresKept = 5;

void add_run(const farm::TrialOutcome& one, uint64_t seed, FarmTrials& trials) {
  ++trials.runs;
  if (one.predicted_high > 0) {
    ++trials.predicted;
    trials.within += one.within_band() ? 1 : 0;
  }
  for (const auto& [name, count] : {std::pair("preemptions", one.preemptions),
                                    {"lost tasks", one.lost},
                                    {"refused nodes", one.refused},
                                    {"quarantined nodes", one.quarantined},
                                    {"killed schedulers", one.kills},
                                    {"pauses", one.pauses}})
    trials.happened[name] += count;
  if (one.wrong.empty()) return;
  ++trials.failed;
  if (trials.failures.size() < kFailuresKept) trials.failures.emplace_back(seed, one.wrong);
}

}  // namespace

std::vector<FarmTrials> try_farms(const ir::Program& program, size_t runs, uint64_t seed, bool faults,
                                  const Stop& stop) {
  std::vector<FarmTrials> all;
  for (const ir::Step& step : program.steps) {
    if (!driver::has_farm(step)) continue;
    auto settings = farm::parse_farm(step.program->at("farm").get<std::string>());
    const auto node = std::find_if(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& one) {
      return !step.nodes.empty() && one.address == step.nodes.front();
    });
    if (!settings || node == program.nodes.end()) continue;
    FarmTrials trials;
    trials.step = step.id;
    trials.of = settings->task_count();
    if (settings->tasks.size() > kMostTasks) settings->tasks.resize(kMostTasks);
    if (settings->search) settings->search->trials = std::min(settings->search->trials, kMostTasks);
    trials.tasks = settings->task_count();
    farm::TrialQuestion question{*settings};
    question.offered = offered_by(*node);
    question.most = step.nodes.size();
    question.elastic = ir::has_elastic_farm(step);
    question.faults = faults;
    for (size_t run = 0; run < runs && !stop.asked(); ++run) {
      question.seed = seed + run;
      add_run(farm::try_farm(question), question.seed, trials);
    }
    all.push_back(std::move(trials));
  }
  return all;
}

nlohmann::json to_json(const FarmTrials& trials) {
  nlohmann::json failures = nlohmann::json::array();
  for (const auto& [seed, text] : trials.failures) failures.push_back({{"seed", seed}, {"text", text}});
  return {{"step", trials.step},         {"tasks", trials.tasks},         {"runs", trials.runs},
          {"failed", trials.failed},     {"predicted", trials.predicted}, {"within_band", trials.within},
          {"happened", trials.happened}, {"failures", failures}};
}

std::string text_of(const FarmTrials& trials) {
  std::string text = fmt::format("{}: {}", trials.step, counted(trials.runs, "run"));
  if (trials.tasks < trials.of) text += fmt::format(" of {} of its {} tasks", trials.tasks, trials.of);
  text += trials.failed == 0 ? std::string(": each output was kept once, and no node was left\n")
                             : fmt::format(": {} failed\n", trials.failed);
  if (trials.predicted > 0)
    text += fmt::format("  {:.0f}% of the runs cost as much as the band of the plan says\n",
                        100.0 * static_cast<double>(trials.within) / static_cast<double>(trials.predicted));
  std::string happened;
  for (const auto& [name, count] : trials.happened)
    if (count > 0)
      happened +=
          fmt::format("{}{} {}", happened.empty() ? "" : ", ", grouped(static_cast<double>(count)), name);
  if (!happened.empty()) text += "  " + happened + "\n";
  for (const auto& [seed, why] : trials.failures) text += fmt::format("  seed {}: {}\n", seed, why);
  return text;
}

}  // namespace radl::cli::test_command
