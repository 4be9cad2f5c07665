#include "runtime/cli/recommend_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "runtime/cli/recommend_write.h"
#include "runtime/cli/shown.h"
#include "runtime/driver/program_facts.h"
#include "runtime/figures/calibration_store.h"
#include "runtime/foresight/anwar.h"

namespace radl::cli {
namespace {

using foresight::Candidate;
using foresight::ProgramModel;
using foresight::ProgramRun;
using foresight::Verdict;

constexpr int kNoTypeFits = 3;
constexpr double kConfidence = 0.8;  // of a program's bands

// Options that have no part in the answer.
Status check_options(const RecommendFlags& flags) {
  const std::pair<const char*, bool> others[] = {{"--algorithm", flags.algorithm != "model"},
                                                 {"--compare", flags.compare},
                                                 {"--batch", flags.batch.has_value()},
                                                 {"--images", flags.images.has_value()},
                                                 {"--latency", flags.latency_ms.has_value()},
                                                 {"--exchange", !flags.exchanges.empty()},
                                                 {"--server", flags.server != "auto"},
                                                 {"--interruptions", flags.interruptions.has_value()},
                                                 {"--confidence", flags.confidence != kConfidence}};
  for (const auto& [name, given] : others)
    if (given)
      return invalid(std::string(name) +
                     " applies only to trainings; for programs, radlc uses only their runs")
          .with_hint("its arguments are in the file; ask with --types, --workers, limits and --objective");
  return {};
}

// Whether its nodes can be of another number: they are all of one system.
bool of_one_system(const ir::Program& program, const ir::Step& step) {
  std::string system;
  for (const ir::Node& node : program.nodes) {
    if (std::find(step.nodes.begin(), step.nodes.end(), node.address) == step.nodes.end()) continue;
    if (!system.empty() && node.system != system) return false;
    system = node.system;
  }
  return true;
}

// Without --workers: the file's number, and those that were measured.
std::vector<int> sizes_of(const RecommendQuestion& question, const ProgramModel& model, const ir::Step& step,
                          bool one_system) {
  if (!question.default_sizes) return question.input.sizes;
  std::vector<int> sizes = {static_cast<int>(step.nodes.size())};
  const std::string work = step.program->value("identity", "");
  if (one_system)
    for (const auto& type : question.input.workers) {
      const std::vector<int> known = model.sizes(work, type.machine.kind);
      sizes.insert(sizes.end(), known.begin(), known.end());
    }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

void weigh(const foresight::OfferedType& offer, int nodes, const foresight::ProgramForecast& forecast,
           ProgramAnswer& answer) {
  Candidate one;
  one.index = static_cast<uint32_t>(answer.candidates.size());
  one.machines = static_cast<uint16_t>(nodes);
  one.burstable = answer.question.input.prefer_sustained && offer.machine.credits.burstable();
  const foresight::AboveQuota above = foresight::above_quota(offer, nodes, nullptr);
  std::string why;
  if (above.quota != nullptr) {
    one.verdict = Verdict::Quota;
    why = fmt::format("quota {}: {} needed, {} left", above.quota->name, plain_number(above.need),
                      plain_number(above.quota->room));
  } else if (!forecast.run.known() || !offer.per_hour) {
    one.verdict = Verdict::Unknown;
    why = !offer.per_hour ? "its price is unknown" : "its run time is unknown: " + forecast.unknown;
  } else {
    const foresight::Banded whole = foresight::sum_of({answer.question.input.startup, forecast.run});
    one.seconds = whole.value, one.low = whole.low, one.high = whole.high;
    one.rate = offer.per_hour->micros * nodes;
    const int64_t rate = one.rate + offer.machine.credits.surplus_micros_per_hour * nodes;
    one.cost = foresight::run_cost_micros(rate, one.seconds);
    one.cost_low = foresight::run_cost_micros(rate, one.low);
    one.cost_high = foresight::run_cost_micros(rate, one.high);
    if (!offer.per_hour->zero()) answer.currency = offer.per_hour->currency;
  }
  answer.why.push_back(std::move(why));
  answer.candidates.push_back(one);
}

// If nothing is within the default budget, the least that does takes its place: nobody asked for a limit.
Status choose_cluster(ProgramAnswer& answer) {
  const std::vector<Candidate> weighed = answer.candidates;
  auto& input = answer.question.input;
  auto choice = choose(answer.candidates, input.objective, input.bounds);
  if (choice.ok() && !choice->chosen && answer.question.default_budget && choice->least_rate) {
    input.bounds.rate = *choice->least_rate;
    answer.candidates = weighed;
    choice = choose(answer.candidates, input.objective, input.bounds);
  }
  if (!choice.ok()) return std::move(choice).status();
  answer.choice = std::move(*choice);
  return {};
}

void inputs_of(const ProgramAnswer& answer, size_t nodes_of_file, ChoiceInputs& made) {
  const auto& cluster = answer.clusters[*answer.choice.chosen];
  const auto& type = answer.question.input.workers[cluster.type];
  made.put("the number of nodes", {"workers", "worker_count", "nodes", "node_count"}, cluster.nodes,
           static_cast<size_t>(cluster.nodes) != nodes_of_file);
  if (!type.machine.shared)
    made.put("the type " + type.name, {"worker_type", "instance_type", "node_type"}, type.name,
             type.name != answer.question.usual_worker);
  if (answer.question.input.interruptions_per_hour > 0) made.put("the spot market", {"spot"}, true, true);
}

// No run has its time; one may have a lower bound.
Status not_known(const std::vector<ProgramRun>& runs, const ir::Step& step, const std::string& command) {
  double longest = 0;
  for (const ProgramRun& run : runs)
    if (run.work == step.program->value("identity", "")) longest = std::max(longest, run.seconds);
  if (longest <= 0)
    return not_found("no measured run of " + step.id + " in its current form")
        .with_hint("measure it with a short run: " + command);
  return not_found(fmt::format("{} takes longer than {}, and how long is unknown: it printed no progress",
                               step.id, duration_text(longest)))
      .with_hint(
          fmt::format("print progress, such as `Epoch 3/10`, or watch it for longer: {} --seconds {:.0f}",
                      command, 10 * longest));
}

int show(const Session& session, const RecommendFlags& flags, const Project& project,
         const ProgramAnswer& answer, const ir::Step& step) {
  if (!flags.explain.empty()) {
    auto text = explain_program(answer, flags.explain);
    if (!text.ok()) return report(session, text.status());
    std::fputs(shown(*text).c_str(), stdout);
    return kDone;
  }
  if (flags.json)
    std::printf("%s\n", program_json(answer).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    std::fputs(shown(program_text(answer, flags.all)).c_str(), stdout);
  if (!answer.choice.chosen) {
    std::fprintf(stderr, "error: nothing is within the limits\n  %s\n",
                 shown(least_of_program(answer)).c_str());
    return kNoTypeFits;
  }
  if (flags.write.path.empty()) return kDone;
  ChoiceInputs made(project.compiled.program);
  inputs_of(answer, step.nodes.size(), made);
  return write_inputs(session, flags, project,
                      made.take(answer.name(*answer.choice.chosen), "--types and --workers"));
}

}  // namespace

std::string ProgramAnswer::name(size_t candidate) const {
  const Cluster& cluster = clusters[candidate];
  const std::string& type = question.input.workers[cluster.type].name;
  return cluster.nodes > 1 ? fmt::format("{}x{}", cluster.nodes, type) : type;
}

int run_program(const Session& session, const RecommendFlags& flags, const Project& project,
                const Machinery& machinery, const Surveys& surveys, const ir::Step& step) {
  if (Status known = check_options(flags); !known.ok()) return report(session, known);
  auto question = question_of_program(flags, project, machinery, surveys, step);
  if (!question.ok()) return report(session, question.status());
  ProgramAnswer answer;
  answer.question = std::move(*question);
  answer.id = step.id;
  const auto& types = answer.question.input.workers;
  answer.profile = driver::profile_command(project, step, types.front().machine.shared);
  const std::string work = step.program->value("identity", "");
  auto runs = load_program_runs(machinery.host().calibration_file(), work, "");
  if (!runs.ok()) return report(session, runs.status());
  const ProgramModel model(*runs);
  if (!model.knows(work)) return report(session, not_known(*runs, step, answer.profile));
  const bool one_system = of_one_system(project.compiled.program, step);
  if (!one_system && !answer.question.default_sizes)
    return report(session, invalid("--workers: the nodes of " + step.id +
                                   " are of several systems, so their number is the file's"));
  for (int nodes : sizes_of(answer.question, model, step, one_system)) {
    for (size_t type = 0; type < types.size(); ++type) {
      const auto forecast =
          model.forecast(program_question(step, types[type].machine, static_cast<size_t>(nodes)));
      weigh(types[type], nodes, forecast, answer);
      answer.clusters.push_back({type, nodes});
      answer.forecasts.push_back(forecast);
    }
  }
  if (flags.spot)
    answer.question.notes.push_back(
        "preemptions are not part of the time: what the program repeats is unknown");
  if (answer.question.default_sizes && one_system && step.nodes.size() > 1)
    answer.question.notes.push_back(
        "candidates have as many nodes as the file, or as were measured; --workers names others");
  if (Status chosen = choose_cluster(answer); !chosen.ok()) return report(session, chosen);
  if (!answer.question.currency.empty() && answer.question.currency != answer.currency &&
      answer.choice.least_rate)
    return report(session, invalid(fmt::format(
                               "limits are in {} but prices are in {}; radlc does not convert currencies",
                               answer.question.currency, answer.currency)));
  return show(session, flags, project, answer, step);
}

}  // namespace radl::cli
