#include "runtime/plan/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/resources/resource_schema.h"
#include "runtime/foresight/run_model.h"
#include "runtime/plan/measured.h"

namespace radl {
namespace {

using foresight::Banded;
using foresight::Source;

// Guesses where nothing was measured: seconds, and the ratio of a band that no run has tested (a prior).
constexpr double kCreateGuess = 60, kStepGuess = 5, kGuessRatio = 3, kAlikeRatio = 2, kMeasuredRatio = 1.3;
constexpr double kStageGuess = 10;
// A training's processes begun, its results looked through and fetched: beside the bytes that go with it.
constexpr double kLocalJobGuess = 1.3, kJobGuess = 2;
constexpr double kLocalBytesPerSecond = 2e8;      // a copy on one disk
constexpr double kLocalBegin = 0.05, kBegin = 1;  // seconds until the first byte

struct Phase {
  double seconds = 0;
  bool guessed = false, alike = false;  // a guess, or by others of its kind, in part
  size_t actions = 0;
};

enum class Known { No, ByItsKind, Yes };

void take(Phase& phase, double seconds, Known known) {
  phase.guessed |= known == Known::No;
  phase.alike |= known == Known::ByItsKind;
  ++phase.actions;
  phase.seconds += seconds;
}

Banded banded_phase(const Phase& phase) {
  if (phase.actions == 0) return foresight::banded(0, 1, Source::Measured, "nothing to do");
  if (phase.guessed) return foresight::banded(phase.seconds, kGuessRatio, Source::Guessed, "guessed");
  if (phase.alike) return foresight::banded(phase.seconds, kAlikeRatio, Source::Scaled, "other steps here");
  return foresight::banded(phase.seconds, kMeasuredRatio, Source::Measured, "runs here");
}

using Measured = std::map<std::string, double>;

std::optional<double> measured_of(const Measured& measured, const std::string& key) {
  const auto found = key.empty() ? measured.end() : measured.find(key);
  return found == measured.end() ? std::nullopt : std::optional(found->second);
}

Phase longest_of(const std::map<std::string, Phase>& nodes) {
  Phase longest;
  for (const auto& [node, phase] : nodes)
    if (longest.actions == 0 || phase.seconds > longest.seconds) longest = phase;
  return longest;
}

struct BeforeJobs {
  Phase create, configure, stage;
};

// What is made, until all of it is there; of each node's steps the sum, and of these the longest.
BeforeJobs before_jobs(const Plan& plan, const Measured& measured_seconds_of,
                       const std::set<std::string>& staging, double stage_guess) {
  const MeasureKeys keys(plan);
  const std::map<std::string, size_t> counts = counts_of(plan, keys);
  Phase create;
  std::map<std::string, Phase> configured, staged;
  for (const Action& action : plan.actions) {
    const std::string key = keys.of(action);
    Known known = Known::No;
    if (!key.empty()) {
      const auto measured = measured_seconds(action, key, counts.at(key), measured_seconds_of);
      if (measured) known = measured->like_it ? Known::ByItsKind : Known::Yes;
    }
    if (!action.is_step && (action.verb == Verb::Create || action.verb == Verb::Replace)) {
      take(create, 0, known);
    } else if (action.is_step && action.verb == Verb::Run && !ir::is_job_type(action.step_kind)) {
      const bool stages = staging.contains(action.id);
      if (stages && known == Known::ByItsKind) known = Known::No;  // the time depends on the dataset's size
      const double guess = stages ? stage_guess : action.seconds.value_or(kStepGuess);
      for (const std::string& node : action.nodes)
        take((stages ? staged : configured)[node],
             known == Known::No ? guess : action.seconds.value_or(guess), known);
    }
  }
  create.seconds =
      create_seconds(plan, [](const Action& action) { return action.seconds.value_or(kCreateGuess); });
  return {create, longest_of(configured), longest_of(staged)};
}

// From this computer to the machines; 0: not known.
double link_rate(const ForecastInput& input) {
  return input.machine.shared ? kLocalBytesPerSecond : input.machine.bits_per_second / 8;
}

Banded transfer(const ForecastInput& input, double bytes, double otherwise) {
  const double rate = link_rate(input);
  if (bytes <= 0 || rate <= 0) return foresight::banded(otherwise, kGuessRatio, Source::Guessed, "guessed");
  const double begin = input.machine.shared ? kLocalBegin : kBegin;
  return foresight::banded(bytes / rate + begin, kGuessRatio, Source::Guessed, "size by bandwidth");
}

// From where the dataset lies to this computer, and from here through the slower of link and disk. What a
// profile has measured takes the place of guesses.
Banded staging(const ForecastInput& input) {
  const foresight::DataRates rates = input.model.data_rates(input.machine.kind);
  const double bytes = input.dataset_bytes > 0 ? input.dataset_bytes : rates.dataset_bytes;
  const bool comes = input.dataset_remote && rates.source > 0;
  if (bytes <= 0 || (!comes && rates.disk_write <= 0)) return transfer(input, bytes, kStageGuess);
  double link = link_rate(input);
  // On one computer a copy is read and written by the same disk.
  if (rates.disk_write > 0 && input.machine.shared) link = 1 / (1 / rates.disk_read + 1 / rates.disk_write);
  if (rates.disk_write > 0 && !input.machine.shared && link > 0) link = std::min(link, rates.disk_write);
  if (link <= 0) return transfer(input, bytes, kStageGuess);
  const double seconds =
      (comes ? bytes / rates.source : 0) + bytes / link + (input.machine.shared ? kLocalBegin : kBegin);
  const bool measured = comes == input.dataset_remote && rates.disk_write > 0 && input.machine.shared;
  return foresight::banded(seconds, kAlikeRatio, measured ? Source::Measured : Source::Scaled,
                           "size by the rates of a profile");
}

// What runs took beside the training itself, of this one or of others; a dataset that comes with the training
// is part of it.
std::optional<Banded> measured_around(const Plan& plan, const std::string& id, const Measured& measured) {
  const Action* job = plan.find(id);
  if (job == nullptr) return std::nullopt;
  const std::string key = MeasureKeys(plan).of(*job);
  if (key.empty()) return std::nullopt;
  if (const auto around = measured_of(measured, around_key(key)))
    return foresight::banded(*around, kMeasuredRatio, Source::Measured, "runs here");
  if (const auto any = measured_of(measured, around_any_key(*job, key)))
    return foresight::banded(*any, kAlikeRatio, Source::Scaled, "other " + job->step_kind + "s here");
  return std::nullopt;
}

// A dataset comes by steps of its own, or with the training.
Banded stage_phase(const ForecastInput& input, const Phase& steps, const Banded& guess, bool with_training) {
  if (input.staging.empty() && with_training)
    return foresight::banded(0, 1, Source::Measured, "with the training");
  if (input.staging.empty() || (steps.actions > 0 && steps.guessed)) return guess;
  return banded_phase(steps);
}

Banded guessed_around(const ForecastInput& input) {
  const auto profile = input.model.profile_for(input.machine, input.facts.batch, input.facts.workers);
  const double bytes = profile ? profile->node.parameter_bytes : 0, rate = link_rate(input);
  const double job = input.machine.shared ? kLocalJobGuess : kJobGuess;
  const bool known = bytes > 0 && rate > 0;
  return foresight::banded(job + (known ? bytes / rate : 0), kGuessRatio, Source::Guessed, "guessed");
}

// What the plan's resources cost an hour if nodes with a choice were of that market; nullopt: not known, or
// there is no such choice.
std::optional<Money> rate_on(const Plan& plan, std::optional<Money> OfferFacts::*market) {
  MoneySum sum;
  bool chosen = false;
  for (const ResourceCost& cost : plan.costs) {
    const bool offered = cost.chosen < cost.candidates.size() && !cost.after.zero();
    const OfferFacts* facts = offered ? &cost.candidates[cost.chosen].facts : nullptr;
    const bool both = facts != nullptr && facts->on_demand && facts->spot;
    sum.add(both ? *(facts->*market) : cost.after);
    chosen |= both;
  }
  auto total = sum.total();
  return chosen && total.ok() ? std::optional(*total) : std::nullopt;
}

// The total as far as all nodes are paid for: nodes of an elastic farm are removed before its run ends.
Banded paid_total(const PlanForecast& forecast, const Banded& run) {
  Banded paid = forecast.total;
  if (!forecast.paid.known() || forecast.nodes.empty() || run.value <= 0) return paid;
  const auto nodes = static_cast<double>(forecast.nodes.front().nodes);
  paid.value -= run.value - forecast.paid.value / nodes;
  paid.low -= run.low - forecast.paid.low / nodes;
  paid.high -= run.high - forecast.paid.high / nodes;
  return paid;
}

// Price by time, and what processors that run above their CPU credits are charged while they compute.
void take_cost(const Plan& plan, const Banded& train, PlanForecast& forecast) {
  const bool priced = std::all_of(plan.costs.begin(), plan.costs.end(), std::mem_fn(&ResourceCost::priced));
  const auto rate = plan.totals.price_per_hour.total();
  if (!priced || !rate.ok() || !forecast.total.known()) return;
  const Money surplus{forecast.surplus_per_hour, rate->currency};
  const auto cost = [&](const Money& per_hour, double all, double training) {
    Money sum = foresight::billed(per_hour, all, {});
    sum.micros += foresight::billed(surplus, training, {1, 0}).micros;
    return sum;
  };
  const Banded total = paid_total(forecast, train);
  forecast.cost = cost(*rate, total.value, train.value);
  forecast.cost_low = cost(*rate, total.low, train.low);
  forecast.cost_high = cost(*rate, total.high, train.high);
  if (const auto per_hour = rate_on(plan, &OfferFacts::on_demand))
    forecast.cost_on_demand = cost(*per_hour, total.value, train.value);
  if (const auto per_hour = rate_on(plan, &OfferFacts::spot))
    forecast.cost_spot = cost(*per_hour, total.value, train.value);
}

}  // namespace

PlanForecast forecast_plan(const ForecastInput& input) {
  PlanForecast forecast;
  forecast.training = input.facts.name;
  forecast.calibration = input.calibration;
  const foresight::TrainingForecast training = input.model.forecast(input.facts, input.machine, {});
  const Banded stage_guess = staging(input);
  const BeforeJobs before = before_jobs(input.plan, input.measured, input.staging, stage_guess.value);
  const std::optional<Banded> around = measured_around(input.plan, input.facts.name, input.measured);
  forecast.phases = {{"create", banded_phase(before.create)},
                     {"configure", banded_phase(before.configure)},
                     {"stage", stage_phase(input, before.stage, stage_guess, around.has_value())},
                     {"train", training.train},
                     {"bring back", around ? *around : guessed_around(input)}};
  const std::string cloud = input.machine.kind.substr(0, input.machine.kind.find(' '));
  std::vector<Banded> parts;
  for (auto& [name, phase] : forecast.phases) {
    if (name != "train") phase = input.bands.of(name, cloud, std::move(phase));
    parts.push_back(phase);
  }
  forecast.epoch = training.epoch;
  if (training.train.known()) {
    forecast.total = foresight::sum_of(parts);
    if (training.step) forecast.bound = foresight::step_bound_name(training.step->bound);
    forecast.change_most = training.change_most;
    // Of other work a step comes first; then what a cluster adds to it.
    const bool step_first = training.train.source == Source::Guessed;
    if (!training.outside.empty())
      forecast.outside = fmt::format("{}; `radlc profile{}{}` measures it", training.outside,
                                     input.project_words, step_first ? "" : " --on cluster");
  } else {
    forecast.unknown = training.unknown;
    if (!training.memory)
      forecast.unknown += "; measure it with a short run: radlc profile" + input.project_words;
  }
  forecast.surplus_per_hour = input.machine.credits.surplus_micros_per_hour * input.facts.workers;
  take_cost(input.plan, training.train, forecast);
  return forecast;
}

PlanForecast forecast_program(const ProgramForecastInput& input) {
  PlanForecast forecast;
  forecast.training = input.id;
  forecast.program = true;
  forecast.calibration = input.calibration;
  forecast.at_least = input.program.run.known() ? 0 : input.program.at_least;
  const BeforeJobs before = before_jobs(input.plan, input.measured, input.staging, kStageGuess);
  const std::optional<Banded> around = measured_around(input.plan, input.id, input.measured);
  const double job = input.machine.shared ? kLocalJobGuess : kJobGuess;
  forecast.phases = {
      {"create", banded_phase(before.create)},
      {"configure", banded_phase(before.configure)},
      {"stage", banded_phase(before.stage)},
      {"run", input.program.run},
      {"bring back", around ? *around : foresight::banded(job, kGuessRatio, Source::Guessed, "guessed")}};
  const std::string cloud = input.machine.kind.substr(0, input.machine.kind.find(' '));
  std::vector<Banded> parts;
  for (auto& [name, phase] : forecast.phases) {
    if (name != "run") phase = input.bands.of(name, cloud, std::move(phase));
    parts.push_back(phase);
  }
  if (input.program.run.known()) {
    forecast.total = foresight::sum_of(parts);
    if (!input.program.outside.empty())
      forecast.outside = fmt::format("{}; `{}` measures it", input.program.outside, input.profile);
  } else if (forecast.at_least > 0) {
    forecast.unknown =
        fmt::format("{}; print progress, such as `Epoch 3/10`, or watch it for longer: {} --seconds {:.0f}",
                    input.program.unknown, input.profile, 10 * forecast.at_least);
  } else {
    forecast.unknown = input.program.unknown;
    if (!input.profile.empty()) forecast.unknown += "; measure it with a short run: " + input.profile;
  }
  forecast.nodes = input.nodes;
  forecast.paid = input.paid;
  const Action* action = input.plan.find(input.id);
  const auto nodes = static_cast<int64_t>(action == nullptr ? 1 : action->nodes.size());
  if (input.growth && input.growth->nodes > static_cast<size_t>(nodes)) forecast.growth = input.growth;
  forecast.surplus_per_hour = input.machine.credits.surplus_micros_per_hour * nodes;
  take_cost(input.plan, input.program.run, forecast);
  return forecast;
}

namespace {

bool is_job_phase(const std::string& name) { return name == "train" || name == "run"; }

// A chain of jobs that come one after the other.
struct Chain {
  std::vector<Banded> parts;
  double seconds = 0;
  std::string last, unknown;  // ids: the job at its end; one whose time is not known
};

class Chains {
 public:
  Chains(const Plan& plan, const std::vector<PlanForecast>& forecasts) {
    for (const PlanForecast& forecast : forecasts) jobs_[forecast.training] = &forecast;
    for (const Barrier& barrier : plan.barriers) needs_[barrier.id] = &barrier.needs;
    for (const Action& action : plan.actions) needs_[action.id] = &action.needs;
  }

  // The longest one that must end before this begins.
  Chain before(const std::string& id) {
    const auto [known, first] = before_.try_emplace(id);
    if (!first) return known->second;
    Chain longest;
    if (const auto needs = needs_.find(id); needs != needs_.end())
      for (const std::string& need : *needs->second) {
        Chain chain = up_to(need);
        if (longest.unknown.empty() && (!chain.unknown.empty() || chain.seconds > longest.seconds))
          longest = std::move(chain);
      }
    return before_[id] = std::move(longest);
  }

 private:
  Chain up_to(const std::string& id) {
    Chain chain = before(id);
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return chain;
    chain.last = id;
    for (const auto& [name, phase] : job->second->phases) {
      if (!is_job_phase(name) && name != "bring back") continue;
      if (!phase.known() && chain.unknown.empty()) chain.unknown = id;
      chain.parts.push_back(phase);
      chain.seconds += phase.value;
    }
    return chain;
  }

  std::map<std::string, const PlanForecast*> jobs_;
  std::map<std::string, const std::vector<std::string>*> needs_;
  std::map<std::string, Chain> before_;
};

void add_wait(const Plan& plan, const Chain& chain, PlanForecast& forecast) {
  Banded wait = chain.unknown.empty() ? foresight::sum_of(chain.parts) : Banded();
  wait.from = "for " + (chain.unknown.empty() ? chain.last : chain.unknown);
  const auto job = std::find_if(forecast.phases.begin(), forecast.phases.end(),
                                [](const auto& phase) { return is_job_phase(phase.first); });
  const Banded run = job == forecast.phases.end() ? Banded() : job->second;
  forecast.phases.insert(job, {"wait", wait});
  if (!forecast.total.known()) return;
  std::vector<Banded> parts;
  for (const auto& [name, phase] : forecast.phases) parts.push_back(phase);
  forecast.total = wait.known() ? foresight::sum_of(parts) : Banded();
  forecast.cost = forecast.cost_low = forecast.cost_high = std::nullopt;
  forecast.cost_on_demand = forecast.cost_spot = std::nullopt;
  if (!wait.known()) forecast.unknown = "it waits for " + chain.unknown + ", whose duration is unknown";
  take_cost(plan, run, forecast);
}

}  // namespace

void add_waits(const Plan& plan, std::vector<PlanForecast>& forecasts) {
  Chains chains(plan, forecasts);
  std::vector<Chain> found;
  for (const PlanForecast& forecast : forecasts) found.push_back(chains.before(forecast.training));
  for (size_t i = 0; i < forecasts.size(); ++i)
    if (!found[i].parts.empty()) add_wait(plan, found[i], forecasts[i]);
}

}  // namespace radl
