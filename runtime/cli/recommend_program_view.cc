// What `radlc recommend` answers about a program, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "runtime/cli/recommend_program.h"
#include "runtime/cli/recommend_view.h"

namespace radl::cli {
namespace {

using foresight::Candidate;
using foresight::Verdict;

constexpr size_t kMostShown = 11;

// The chosen one, then the others that fit, the best by the objective first.
std::vector<size_t> by_objective(const ProgramAnswer& answer, bool all) {
  std::vector<size_t> order;
  for (size_t i = 0; i < answer.candidates.size(); ++i)
    if (answer.candidates[i].verdict == Verdict::Fits && answer.choice.chosen != i) order.push_back(i);
  const auto& objective = answer.question.input.objective;
  const auto value = [&](size_t at) {
    const Candidate& one = answer.candidates[at];
    return objective.time * one.seconds / 3600 + objective.money * static_cast<double>(one.cost) / 1e6;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return value(a) < value(b); });
  if (answer.choice.chosen) order.insert(order.begin(), *answer.choice.chosen);
  if (!all && order.size() > kMostShown) order.resize(kMostShown);
  return order;
}

size_t count_fitting(const ProgramAnswer& answer) {
  return static_cast<size_t>(
      std::count_if(answer.candidates.begin(), answer.candidates.end(),
                    [](const Candidate& one) { return one.verdict == Verdict::Fits; }));
}

std::string figures(const ProgramAnswer& answer, size_t at) {
  const Candidate& one = answer.candidates[at];
  return fmt::format("{}, {}, {}/h, {}", banded_text(one.seconds, one.low, one.high),
                     cost_text(one.cost, answer.currency), Money{one.rate, answer.currency}.text(),
                     source_name(answer.forecasts[at].run.source));
}

std::string reason(const ProgramAnswer& answer) {
  const auto& objective = answer.question.input.objective;
  const auto& bounds = answer.question.input.bounds;
  std::string what = objective.money == 0 ? "least time"
                     : objective.time == 0
                         ? "least cost"
                         : fmt::format("least {:g} x hours + {:g} x cost", objective.time, objective.money);
  if (bounds.rate) what += " within " + Money{*bounds.rate, answer.currency}.text() + "/h";
  if (bounds.cost) what += " for at most " + Money{*bounds.cost, answer.currency}.text();
  if (bounds.deadline) what += fmt::format(", done in {} at 80%", duration_text(*bounds.deadline));
  return fmt::format("{}; {} of {} candidates fit", what, count_fitting(answer), answer.candidates.size());
}

std::string rejected_lines(const ProgramAnswer& answer) {
  std::map<std::string, size_t> rejected;
  for (size_t i = 0; i < answer.candidates.size(); ++i) {
    const Verdict verdict = answer.candidates[i].verdict;
    if (verdict != Verdict::Fits)
      ++rejected[answer.why[i].empty() ? " by the " + std::string(verdict_name(verdict))
                                       : ": " + answer.why[i]];
  }
  std::string text;
  for (const auto& [why, count] : rejected) text += fmt::format("  rejected  {}{}\n", count, why);
  return text;
}

}  // namespace

std::string least_of_program(const ProgramAnswer& answer) {
  const auto& choice = answer.choice;
  if (!choice.least_rate) return "no candidate has a known duration and price";
  return fmt::format("smallest budget that works: {}/h, {} for the run; earliest deadline: {}{}",
                     Money{*choice.least_rate, answer.currency}.text(),
                     cost_text(*choice.least_cost, answer.currency), duration_text(*choice.earliest),
                     choice.alone ? "" : "; relax at least two limits, one alone is not enough");
}

std::string program_text(const ProgramAnswer& answer, bool all) {
  std::string text;
  if (const auto chosen = answer.choice.chosen) {
    text = fmt::format("Take {}: {}\n  Why: {}\n", answer.name(*chosen), figures(answer, *chosen),
                       reason(answer));
    if (answer.question.default_budget)
      text += "  Defaults: at most " + Money{*answer.question.input.bounds.rate, answer.currency}.text() +
              "/h (--budget, --max-cost, --deadline)\n";
    if (const std::string& outside = answer.forecasts[*chosen].outside; !outside.empty())
      text += fmt::format("  Outside the measurements, {}. Measure it with a short run: {}.\n", outside,
                          answer.profile);
    text += "\n";
  }
  const std::vector<size_t> shown = by_objective(answer, all);
  size_t widest = 9;
  for (size_t at : shown) widest = std::max(widest, answer.name(at).size());
  for (size_t at : shown)
    text += fmt::format("  {} {:<{}}  {}{}\n", answer.choice.chosen == at ? "*" : " ", answer.name(at),
                        widest, figures(answer, at), answer.forecasts[at].outside.empty() ? "" : ", outside");
  if (const size_t fits = count_fitting(answer); fits > shown.size())
    text += fmt::format("  {} more fit; --all lists them\n", fits - shown.size());
  text += rejected_lines(answer);
  for (const std::string& note : answer.question.notes) text += "note: " + note + "\n";
  return text;
}

Json program_json(const ProgramAnswer& answer) {
  Json candidates = Json::array();
  for (size_t i = 0; i < answer.candidates.size(); ++i) {
    const Candidate& one = answer.candidates[i];
    Json json = {{"name", answer.name(i)},
                 {"type", answer.question.input.workers[answer.clusters[i].type].name},
                 {"workers", answer.clusters[i].nodes},
                 {"verdict", verdict_name(one.verdict)},
                 {"source", source_name(answer.forecasts[i].run.source)},
                 {"outside", answer.forecasts[i].outside}};
    if (!answer.why[i].empty()) {
      json["why"] = answer.why[i];
    } else {
      json["seconds"] = {{"value", one.seconds}, {"low", one.low}, {"high", one.high}};
      json["cost"] = {{"micros", one.cost}, {"low_micros", one.cost_low}, {"high_micros", one.cost_high}};
      json["per_hour"] = Money{one.rate, answer.currency};
    }
    candidates.push_back(std::move(json));
  }
  Json defaults = Json::object();
  if (answer.question.default_budget)
    defaults["per_hour"] = Money{*answer.question.input.bounds.rate, answer.currency};
  const auto chosen = answer.choice.chosen;
  return {{"recommendation", 1},
          {"program", answer.id},
          {"chosen", chosen ? Json(answer.name(*chosen)) : Json()},
          {"reason", chosen ? reason(answer) : least_of_program(answer)},
          {"outside", chosen ? answer.forecasts[*chosen].outside : ""},
          {"candidates", candidates},
          {"notes", answer.question.notes},
          {"defaults", defaults}};
}

Result<std::string> explain_program(const ProgramAnswer& answer, const std::string& name) {
  size_t at = 0;
  while (at < answer.candidates.size() && answer.name(at) != name) ++at;
  if (at == answer.candidates.size())
    return not_found("unknown candidate " + name).with_hint("for example " + answer.name(0));
  const Candidate& one = answer.candidates[at];
  const auto& type = answer.question.input.workers[answer.clusters[at].type];
  const foresight::ProgramForecast& forecast = answer.forecasts[at];
  std::string text = name + "\n";
  const auto line = [&](const char* what, const std::string& value, const std::string& from) {
    text += fmt::format("  {:<12}  {:<36}  {}\n", what, value, from);
    while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
  };
  const auto banded = [](const foresight::Banded& figure) {
    return banded_text(figure.value, figure.low, figure.high);
  };
  if (forecast.run.known())
    line("run", banded(forecast.run),
         fmt::format("{}: {}", source_name(forecast.run.source), forecast.run.from));
  else
    line("run", forecast.at_least > 0 ? "longer than " + duration_text(forecast.at_least) : "unknown",
         forecast.unknown);
  const foresight::Banded& startup = answer.question.input.startup;
  line("start", banded(startup), fmt::format("{}: {}", source_name(startup.source), startup.from));
  if (one.verdict != Verdict::Unknown && one.verdict != Verdict::Quota) {
    line("total", banded_text(one.seconds, one.low, one.high), "");
    line("price", Money{one.rate, answer.currency}.text() + "/h",
         type.as_of.empty() ? "" : "of " + type.as_of);
    line("cost", cost_text(one.cost, answer.currency),
         fmt::format("{} to {}", cost_text(one.cost_low, answer.currency),
                     cost_text(one.cost_high, answer.currency)));
  }
  if (!answer.why[at].empty()) line("rejected", answer.why[at], "");
  if (answer.why[at].empty() && one.verdict != Verdict::Fits)
    line("rejected", "by the " + std::string(verdict_name(one.verdict)), "");
  if (!forecast.outside.empty())
    line("outside", forecast.outside, "measure it with a short run: " + answer.profile);
  return text;
}

}  // namespace radl::cli
