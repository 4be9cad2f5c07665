#include "runtime/cli/recommend_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

constexpr size_t kMostAlternatives = 10;

std::string word_of(Exchange exchange) {
  std::string word(foresight::exchange_name(exchange));
  std::replace(word.begin(), word.end(), ' ', '-');
  return word;
}

std::string quota_why(const RecommendAnswer& answer, const Option& option) {
  const auto& input = answer.question.input;
  const auto& worker = input.workers[option.worker];
  const auto* server = option.server >= 0    ? &input.servers[static_cast<size_t>(option.server)]
                       : option.server == -2 ? &worker
                                             : nullptr;
  const foresight::AboveQuota above = foresight::above_quota(worker, option.workers, server);
  if (above.quota == nullptr) return "";
  return fmt::format("{2} are needed, and the quota of {1} has {0} left",
                     plain_number(std::max(above.quota->room, 0.0)), above.quota->name,
                     plain_number(above.need));
}

// Properties of a type missing in the catalogue or never measured.
std::string unknown_why(const RecommendAnswer& answer, size_t at) {
  const auto& input = answer.question.input;
  const Option& option = answer.made.options[answer.made.candidates[at].index];
  const auto& worker = input.workers[option.worker];
  const auto* server = option.server >= 0 ? &input.servers[static_cast<size_t>(option.server)] : nullptr;
  if (!worker.per_hour || (server != nullptr && !server->per_hour)) return "unknown price";
  const bool exchanges = option.exchange != Exchange::Alone && !worker.machine.shared;
  if (exchanges && (!(worker.machine.bits_per_second > 0) ||
                    (server != nullptr && !(server->machine.bits_per_second > 0))))
    return "unknown bandwidth";
  return "unknown duration";
}

std::string rejected_why(const RecommendAnswer& answer, size_t at) {
  const Candidate& one = answer.made.candidates[at];
  switch (one.verdict) {
    case Verdict::Memory:
      return fmt::format("memory: a batch of {:g} does not fit", answer.question.input.facts.batch);
    case Verdict::Quota:
      return quota_why(answer, answer.made.options[one.index]);
    case Verdict::Budget:
      return "above the budget";
    case Verdict::Deadline:
      return "after the deadline: " + duration_text(one.high) + " at the upper end";
    case Verdict::Unknown:
      return unknown_why(answer, at);
    case Verdict::Fits:
      return "";
  }
  return "";
}

bool on_frontier(const RecommendAnswer& answer, size_t at) {
  const auto& frontier = answer.made.choice.frontier;
  return std::find(frontier.begin(), frontier.end(), at) != frontier.end();
}

double objective_value(const RecommendAnswer& answer, size_t at) {
  const auto& objective = answer.question.input.objective;
  const double larger = std::max(objective.time, objective.money);
  const Candidate& one = answer.made.candidates[at];
  return objective.time / larger * one.seconds / 3600 +
         objective.money / larger * static_cast<double>(one.cost) / 1e6;
}

// So many of `sorted`, evenly: the first and the last are among them.
std::vector<size_t> evenly(const std::vector<size_t>& sorted, size_t most) {
  if (sorted.size() <= most) return sorted;
  std::vector<size_t> taken;
  for (size_t i = 0; i < most; ++i) taken.push_back(sorted[i * (sorted.size() - 1) / (most - 1)]);
  return taken;
}

// Best by the objective first: the chosen one and up to ten alternatives, preferably from the frontier;
// `all`: all that fit.
std::vector<size_t> shown_candidates(const RecommendAnswer& answer, bool all) {
  const auto& made = answer.made;
  std::vector<size_t> frontier = made.choice.frontier, rest;
  std::vector<bool> is_on(made.candidates.size());
  for (size_t at : frontier) is_on[at] = true;
  for (size_t i = 0; i < made.candidates.size(); ++i)
    if (made.candidates[i].verdict == Verdict::Fits && !is_on[i]) rest.push_back(i);
  const auto better = [&](size_t a, size_t b) {
    return objective_value(answer, a) < objective_value(answer, b);
  };
  std::stable_sort(frontier.begin(), frontier.end(), better);
  std::stable_sort(rest.begin(), rest.end(), better);
  std::vector<size_t> shown;
  if (made.choice.chosen) {
    shown.push_back(*made.choice.chosen);
    std::erase(frontier, *made.choice.chosen);
  }
  const std::vector<size_t> others = all ? frontier : evenly(frontier, kMostAlternatives);
  shown.insert(shown.end(), others.begin(), others.end());
  for (size_t at : rest)
    if (all || shown.size() <= kMostAlternatives) shown.push_back(at);
  return shown;
}

// Why, without the figures of one candidate: rejected ones are counted by it.
std::string rejected_kind(const RecommendAnswer& answer, size_t at) {
  switch (answer.made.candidates[at].verdict) {
    case Verdict::Quota:
      return "the account's quotas";
    case Verdict::Deadline:
      return "the deadline";
    case Verdict::Budget:
      return answer.question.default_budget ? "the default budget" : "the budget";
    default:
      return rejected_why(answer, at);
  }
}

std::string rejected_lines(const RecommendAnswer& answer, bool all) {
  std::map<std::string, std::vector<size_t>> by_why;
  for (size_t i = 0; i < answer.made.candidates.size(); ++i)
    if (answer.made.candidates[i].verdict != Verdict::Fits)
      by_why[all ? rejected_why(answer, i) : rejected_kind(answer, i)].push_back(i);
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

size_t count_fitting(const RecommendAnswer& answer) {
  return static_cast<size_t>(
      std::count_if(answer.made.candidates.begin(), answer.made.candidates.end(),
                    [](const Candidate& one) { return one.verdict == Verdict::Fits; }));
}

// The default limits, each with the option that changes it.
std::string defaults_text(const RecommendAnswer& answer) {
  const auto& question = answer.question;
  std::vector<std::string> all;
  if (question.default_budget)
    all.push_back("at most " + Money{*question.input.bounds.rate, answer.made.currency}.text() +
                  "/h (--budget, --max-cost, --deadline)");
  if (question.default_sizes)
    all.push_back(fmt::format("{} to {} workers (--workers)", question.input.sizes.front(),
                              question.input.sizes.back()));
  return join(all, ", ");
}

// The default limits in effect: {"per_hour": money, "workers": [1, 16]}.
Json defaults_of(const RecommendAnswer& answer) {
  Json defaults = Json::object();
  if (answer.question.default_budget)
    defaults["per_hour"] = Money{*answer.question.input.bounds.rate, answer.made.currency};
  if (answer.question.default_sizes)
    defaults["workers"] = {answer.question.input.sizes.front(), answer.question.input.sizes.back()};
  return defaults;
}

// The answer in a line, then why, what was assumed, and whether it is outside of what was measured.
std::string answer_lines(const RecommendAnswer& answer, const foresight::WorkModel& model, size_t at) {
  const Candidate& one = answer.made.candidates[at];
  std::string text =
      fmt::format("Take {}: {} at {:.0f}%, {}, {}/h\n",
                  candidate_name(answer.question.input, answer.made.options[one.index]),
                  banded_text(one.seconds, one.low, one.high), 100 * answer.question.input.confidence,
                  cost_text(one.cost, answer.made.currency), Money{one.rate, answer.made.currency}.text());
  text += "  Why: " + reason_text(answer) + "\n";
  if (const std::string defaults = defaults_text(answer); !defaults.empty())
    text += "  Defaults: " + defaults + "\n";
  if (const std::string why = outside_of(answer, model, at); !why.empty())
    text += "  Outside the measurements, " + why +
            ". Measure it with a short run: " + probe_of(answer, model, at) + ".\n";
  return text;
}

}  // namespace

foresight::TrainingFacts facts_of(const foresight::RecommendInput& input, const Option& option) {
  foresight::TrainingFacts facts = input.facts;
  facts.workers = option.workers;
  facts.exchange = option.exchange;
  facts.servers = option.server == -1 ? 0 : 1;
  return facts;
}

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
  return fmt::format("{}; {} of {} candidates fit", what, count_fitting(answer),
                     answer.made.candidates.size());
}

std::string least_text(const RecommendAnswer& answer) {
  const auto& choice = answer.made.choice;
  if (!choice.least_rate) return "no candidate has a known duration and price";
  return fmt::format("smallest budget that works: {}/h, {} for the run; earliest deadline: {}{}",
                     Money{*choice.least_rate, answer.made.currency}.text(),
                     cost_text(*choice.least_cost, answer.made.currency), duration_text(*choice.earliest),
                     choice.alone ? "" : "; relax at least two limits, one alone is not enough");
}

std::string recommend_text(const RecommendAnswer& answer, const foresight::WorkModel& model, bool all) {
  const auto& made = answer.made;
  std::string text;
  if (made.choice.chosen) text += answer_lines(answer, model, *made.choice.chosen) + "\n";
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
  if (const size_t fits = count_fitting(answer); fits > shown.size())
    text += fmt::format("  {} more fit; --all lists them\n", fits - shown.size());
  text += rejected_lines(answer, all);
  for (const std::string& note : answer.question.notes) text += "note: " + note + "\n";
  if (made.choice.chosen) text += "+ nothing beats it in both time and cost\n";
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
               {"notes", answer.question.notes},
               {"defaults", defaults_of(answer)}};
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

}  // namespace radl::cli
