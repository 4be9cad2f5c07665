// `radlc recommend --explain`: the parts of one candidate's forecast, each with its source.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "common/human.h"
#include "common/text.h"
#include "runtime/cli/recommend_view.h"

namespace radl::cli {
namespace {

using foresight::Candidate;
using foresight::Exchange;
using foresight::Option;
using foresight::Verdict;

using LineOf = std::function<void(const char* what, const std::string& value, const std::string& from)>;

// The parts of a step, each with its source.
void explain_step(const RecommendAnswer& answer, const foresight::TrainingForecast& forecast,
                  const foresight::TrainingFacts& facts, const foresight::MachineFacts& machine,
                  const LineOf& line) {
  const foresight::StepAnatomy& step = *forecast.step;
  const std::string profile = forecast.profile,
                    link = machine.bits_per_second > 0 ? "the catalogue's network" : "guessed";
  line("compute", duration_text(step.compute), profile);
  line("fixed", duration_text(step.fixed), profile);
  if (step.straggler > 0)
    line("slowest of all", duration_text(step.straggler), "the spread of measured steps");
  if (facts.exchange != Exchange::Alone) {
    line("bandwidth", duration_text(step.bandwidth), link + ", parameters from the graph");
    line("latency", duration_text(step.latency),
         answer.question.input.round_trip_seconds ? "--latency" : "guessed");
    if (step.server > 0) line("full server", duration_text(step.server), link);
  }
  if (step.hidden > 0) line("hidden", "-" + duration_text(step.hidden), "");
  line("step", duration_text(step.seconds),
       fmt::format("bound by {}", foresight::step_bound_name(step.bound)));
  line("images a second", grouped(std::round(step.images_per_second)), "");
  if (!forecast.factors.none())
    line("learned of the parts",
         fmt::format("computing x {:.2f}, bytes x {:.2f}, round trips x {:.2f}", forecast.factors.compute,
                     forecast.factors.bytes, forecast.factors.round_trips),
         "earlier runs");
}

void explain_credits(const RecommendAnswer& answer, const foresight::CpuCredits& credits,
                     const foresight::TrainingFacts& facts, const LineOf& line) {
  if (!credits.burstable()) return;
  constexpr const char* kTable = "the vendor's table of CPU credits";
  line("CPU baseline", fmt::format("{:g}% of each core", 100 * credits.baseline), kTable);
  if (credits.throttled)
    line("CPU credits", fmt::format("{:g} core minutes at the start", credits.launch_seconds / 60),
         "then it computes at the baseline");
  else
    line("CPU surplus",
         Money{credits.surplus_micros_per_hour * facts.workers, answer.made.currency}.text() + "/h",
         "charged while it computes at full speed, part of the cost below");
}

}  // namespace

Result<std::string> explain_text(const RecommendAnswer& answer, const foresight::WorkModel& model,
                                 const std::string& name) {
  const auto& input = answer.question.input;
  std::vector<std::string> names;
  const Candidate* one = nullptr;
  for (const Candidate& candidate : answer.made.candidates) {
    names.push_back(candidate_name(input, answer.made.options[candidate.index]));
    if (names.back() == name) one = &candidate;
  }
  if (one == nullptr) {
    const std::string near = nearest(name, names);
    return Status(Code::NotFound, "there is no candidate '" + name + "'")
        .with_hint(near.empty() ? "such as " + names.front() : "did you mean " + near + "?");
  }
  const Option& option = answer.made.options[one->index];
  const auto& offer = input.workers[option.worker];
  const foresight::TrainingFacts facts = facts_of(input, option);
  foresight::MachineFacts machine = offer.machine;
  if (option.server >= 0)
    machine.server_bits_per_second =
        input.servers[static_cast<size_t>(option.server)].machine.bits_per_second;
  const auto forecast = model.forecast(facts, machine, input.round_trip_seconds, input.confidence);
  std::string text =
      name + (one->verdict == Verdict::Fits ? "" : "  rejected: " + std::string(verdict_name(one->verdict))) +
      "\n";
  if (!forecast.train.known()) return text + "  not known: " + forecast.unknown + "\n";
  const LineOf line = [&](const char* what, const std::string& value, const std::string& from) {
    text += fmt::format("  {:<18} {:<28} {}\n", what, value, from);
  };
  if (forecast.step) explain_step(answer, forecast, facts, machine, line);
  explain_credits(answer, machine.credits, facts, line);
  if (forecast.analytic_seconds > 0)
    line("correction", fmt::format("x {:.3f}", forecast.train.value / forecast.analytic_seconds),
         model.runs().empty() ? "no runs to learn from" : "earlier runs");
  line("epoch", banded_text(forecast.epoch.value, forecast.epoch.low, forecast.epoch.high),
       std::string(source_name(forecast.epoch.source)));
  line("training", banded_text(forecast.train.value, forecast.train.low, forecast.train.high),
       std::string(source_name(forecast.train.source)) + ": " + forecast.train.from);
  line("start-up", banded_text(input.startup.value, input.startup.low, input.startup.high),
       input.startup.from);
  if (one->verdict == Verdict::Fits || one->verdict == Verdict::Budget || one->verdict == Verdict::Deadline)
    line("cost", cost_text(one->cost, answer.made.currency),
         fmt::format("{}/h{}", Money{one->rate, answer.made.currency}.text(),
                     offer.as_of.empty() ? "" : ", prices of " + offer.as_of));
  if (!forecast.outside.empty()) line("outside", forecast.outside, "");
  if (!forecast.change_most.empty()) line("most would change", forecast.change_most, "");
  return text;
}

}  // namespace radl::cli
