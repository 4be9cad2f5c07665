#include "runtime/cli/recommend_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "common/text.h"

namespace radl::cli {
namespace {

using foresight::Candidate;
using foresight::Exchange;
using foresight::Option;
using foresight::Verdict;

constexpr size_t kMostShown = 24;

std::string word_of(Exchange exchange) {
  std::string word(foresight::exchange_name(exchange));
  std::replace(word.begin(), word.end(), ' ', '-');
  return word;
}

foresight::TrainingFacts facts_of(const foresight::RecommendInput& input, const Option& option) {
  foresight::TrainingFacts facts = input.facts;
  facts.workers = option.workers;
  facts.exchange = option.exchange;
  facts.servers = option.server == -1 ? 0 : 1;
  return facts;
}

std::string quota_why(const RecommendAnswer& answer, const Option& option) {
  const auto& input = answer.question.input;
  const auto& worker = input.workers[option.worker];
  const auto* server = option.server >= 0    ? &input.servers[static_cast<size_t>(option.server)]
                       : option.server == -2 ? &worker
                                             : nullptr;
  const foresight::AboveQuota above = foresight::above_quota(worker, option.workers, server);
  if (above.quota == nullptr) return "";
  return fmt::format("{} can be had of the quota {}, {} are needed",
                     plain_number(std::max(above.quota->room, 0.0)), above.quota->name,
                     plain_number(above.need));
}

std::string rejected_why(const RecommendAnswer& answer, size_t at) {
  const Candidate& one = answer.made.candidates[at];
  const auto& offer = answer.question.input.workers[answer.made.options[one.index].worker];
  switch (one.verdict) {
    case Verdict::Memory:
      return fmt::format("a batch of {:g} does not fit into its memory", answer.question.input.facts.batch);
    case Verdict::Quota:
      return quota_why(answer, answer.made.options[one.index]);
    case Verdict::Budget:
      return "above the budget";
    case Verdict::Deadline:
      return "after the deadline: " + duration_text(one.high) + " at the upper end";
    case Verdict::Unknown:
      return offer.per_hour ? "its time is not known" : "its price is not known";
    case Verdict::Fits:
      return "";
  }
  return "";
}

bool on_frontier(const RecommendAnswer& answer, size_t at) {
  const auto& frontier = answer.made.choice.frontier;
  return std::find(frontier.begin(), frontier.end(), at) != frontier.end();
}

// The frontier first, then what fits by time.
std::vector<size_t> shown_candidates(const RecommendAnswer& answer, bool all) {
  const auto& candidates = answer.made.candidates;
  std::vector<size_t> shown = answer.made.choice.frontier, rest;
  for (size_t i = 0; i < candidates.size(); ++i)
    if ((candidates[i].verdict == Verdict::Fits) && !on_frontier(answer, i)) rest.push_back(i);
  std::stable_sort(rest.begin(), rest.end(),
                   [&](size_t a, size_t b) { return candidates[a].seconds < candidates[b].seconds; });
  shown.insert(shown.end(), rest.begin(), rest.end());
  if (!all && shown.size() > kMostShown)
    shown.resize(std::max(kMostShown, answer.made.choice.frontier.size()));
  return shown;
}

std::string rejected_lines(const RecommendAnswer& answer, bool all) {
  std::map<std::string, std::vector<size_t>> by_why;
  for (size_t i = 0; i < answer.made.candidates.size(); ++i) {
    const Verdict verdict = answer.made.candidates[i].verdict;
    if (verdict != Verdict::Fits)
      by_why[all ? rejected_why(answer, i) : std::string(verdict_name(verdict))].push_back(i);
  }
  std::string text;
  for (const auto& [why, which] : by_why) {
    const Option& first = answer.made.options[answer.made.candidates[which.front()].index];
    text += fmt::format("  rejected  {} by {}: {}{}\n", which.size(), why,
                        candidate_name(answer.question.input, first), which.size() > 1 ? ", .." : "");
    if (!all) continue;
    for (size_t at : which)
      text += "    " +
              candidate_name(answer.question.input, answer.made.options[answer.made.candidates[at].index]) +
              "\n";
  }
  return text;
}

std::string outside_of(const RecommendAnswer& answer, const foresight::WorkModel& model, size_t at) {
  const auto& input = answer.question.input;
  const Option& option = answer.made.options[answer.made.candidates[at].index];
  return model.outside(facts_of(input, option), input.workers[option.worker].machine,
                       input.round_trip_seconds);
}

// The command that measures what the forecast lacks: a step of this work first, then a cluster.
std::string probe_of(const RecommendAnswer& answer, const foresight::WorkModel& model, size_t at) {
  const auto& input = answer.question.input;
  const Option& option = answer.made.options[answer.made.candidates[at].index];
  const auto profile =
      model.profile_for(input.workers[option.worker].machine, input.facts.batch, option.workers);
  const bool measured = profile && profile->source != foresight::Source::Guessed;
  return "radlc profile" + answer.words + (measured ? " --on cluster, with inputs for this choice" : "");
}

using LineOf = std::function<void(const char* what, const std::string& value, const std::string& from)>;

// The parts of a step, each with where it is from.
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

std::string candidate_name(const foresight::RecommendInput& input, const Option& option) {
  std::string name =
      fmt::format("{}x{}/{}", option.workers, input.workers[option.worker].name, word_of(option.exchange));
  if (option.server >= 0) name += "+" + input.servers[static_cast<size_t>(option.server)].name;
  return name;
}

std::string banded_text(double value, double low, double high) {
  return fmt::format("{} ({} to {})", duration_text(value), duration_text(low), duration_text(high));
}

std::string cost_text(int64_t micros, const std::string& currency) {
  // To the ten thousandth: what is predicted is not known to the millionth.
  return Money{(micros + 50) / 100 * 100, currency}.text();
}

std::string reason_text(const RecommendAnswer& answer) {
  const auto& objective = answer.question.input.objective;
  const auto& bounds = answer.question.input.bounds;
  std::string what = objective.money == 0 ? "least time"
                     : objective.time == 0
                         ? "least cost"
                         : fmt::format("least {:g} x hours + {:g} x cost", objective.time, objective.money);
  if (bounds.rate) what += " within " + Money{*bounds.rate, answer.made.currency}.text() + "/h";
  if (bounds.cost) what += " for at most " + Money{*bounds.cost, answer.made.currency}.text();
  if (bounds.deadline)
    what += fmt::format(", done in {} at {:.0f}%", duration_text(*bounds.deadline),
                        100 * answer.question.input.confidence);
  const auto fits = std::count_if(answer.made.candidates.begin(), answer.made.candidates.end(),
                                  [](const Candidate& one) { return one.verdict == Verdict::Fits; });
  return fmt::format("{}; {} of {} candidates fit", what, fits, answer.made.candidates.size());
}

std::string least_text(const RecommendAnswer& answer) {
  const auto& choice = answer.made.choice;
  if (!choice.least_rate) return "of no candidate are time and price known";
  return fmt::format("the least budget that would do: {}/h, {} for the run; the earliest deadline: {}{}",
                     Money{*choice.least_rate, answer.made.currency}.text(),
                     cost_text(*choice.least_cost, answer.made.currency), duration_text(*choice.earliest),
                     choice.alone ? "" : "; not one of them by itself: the other limits stand against it");
}

std::string recommend_text(const RecommendAnswer& answer, const foresight::WorkModel& model, bool all) {
  const auto& made = answer.made;
  std::string text;
  const std::vector<size_t> shown = shown_candidates(answer, all);
  size_t widest = 9;
  for (size_t at : shown)
    widest = std::max(widest,
                      candidate_name(answer.question.input, made.options[made.candidates[at].index]).size());
  if (!shown.empty())
    text += fmt::format("    {:<{}}  {:<36}  {:<16}  {}\n", "candidate", widest, "time", "cost", "an hour");
  for (size_t at : shown) {
    const Candidate& one = made.candidates[at];
    const bool chosen = made.choice.chosen == at;
    text += fmt::format("  {} {:<{}}  {:<36}  {:<16}  {}\n",
                        chosen                    ? "*"
                        : on_frontier(answer, at) ? "+"
                                                  : " ",
                        candidate_name(answer.question.input, made.options[one.index]), widest,
                        banded_text(one.seconds, one.low, one.high), cost_text(one.cost, made.currency),
                        Money{one.rate, made.currency}.text());
  }
  text += rejected_lines(answer, all);
  for (const std::string& note : answer.question.notes) text += "note: " + note + "\n";
  if (made.choice.chosen) {
    text += fmt::format(
        "\n* {}: {}\n",
        candidate_name(answer.question.input, made.options[made.candidates[*made.choice.chosen].index]),
        reason_text(answer));
    if (const std::string why = outside_of(answer, model, *made.choice.chosen); !why.empty())
      text += "  Outside of what was measured, " + why +
              ". A short run tells more: " + probe_of(answer, model, *made.choice.chosen) + ".\n";
    text +=
        "+ nothing beats it in both time and cost. Bands are of 80%, unless --confidence says otherwise.\n";
  }
  return text;
}

Json recommend_json(const RecommendAnswer& answer, const foresight::WorkModel& model) {
  const auto& made = answer.made;
  Json candidates = Json::array();
  for (size_t i = 0; i < made.candidates.size(); ++i) {
    const Candidate& one = made.candidates[i];
    const Option& option = made.options[one.index];
    Json json = {{"name", candidate_name(answer.question.input, option)},
                 {"type", answer.question.input.workers[option.worker].name},
                 {"workers", option.workers},
                 {"exchange", foresight::exchange_name(option.exchange)},
                 {"server", option.server >= 0
                                ? Json(answer.question.input.servers[static_cast<size_t>(option.server)].name)
                                : Json()},
                 {"verdict", verdict_name(one.verdict)}};
    if (one.verdict == Verdict::Unknown || one.verdict == Verdict::Memory || one.verdict == Verdict::Quota) {
      json["why"] = rejected_why(answer, i);
    } else {
      if (one.verdict != Verdict::Fits) json["why"] = rejected_why(answer, i);
      json["seconds"] = {{"value", one.seconds}, {"low", one.low}, {"high", one.high}};
      json["cost"] = {{"micros", one.cost},
                      {"low_micros", one.cost_low},
                      {"high_micros", one.cost_high},
                      {"currency", made.currency}};
      json["per_hour"] = Money{one.rate, made.currency};
      json["frontier"] = on_frontier(answer, i);
    }
    candidates.push_back(std::move(json));
  }
  Json json = {{"recommendation", 1},
               {"family", answer.question.input.facts.family},
               {"confidence", answer.question.input.confidence},
               {"calibration", answer.question.calibration},
               {"candidates", candidates},
               {"notes", answer.question.notes}};
  if (made.choice.chosen) {
    json["chosen"] = candidates[*made.choice.chosen]["name"];
    json["reason"] = reason_text(answer);
    json["outside"] = outside_of(answer, model, *made.choice.chosen);
  } else {
    json["chosen"] = nullptr;
    json["reason"] = least_text(answer);
    if (made.choice.least_rate) {
      json["least_per_hour"] = Money{*made.choice.least_rate, made.currency};
      json["least_cost"] = Money{*made.choice.least_cost, made.currency};
      json["earliest_seconds"] = *made.choice.earliest;
    }
  }
  return json;
}

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
