#include "runtime/cli/recommend_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "runtime/cli/recommend_view.h"
#include "runtime/cli/shown.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/foresight/anwar.h"
#include "runtime/plan/measured.h"
#include "runtime/runs/runs_file.h"

namespace radl::cli {
namespace {

using foresight::Candidate;
using foresight::Source;
using foresight::Verdict;

constexpr int kNoTypeFits = 3;
constexpr size_t kMostTypesShown = 11;
constexpr double kSameTypeRatio = 1.3;  // of the band of a time that was measured on the same kind of machine

struct TimedType {
  std::string kind;  // "ec2 m5.xlarge"
  double cores = 0, gpus = 0, seconds = 0;
};

struct TypeChoice {
  std::vector<foresight::OfferedType> offers;
  std::vector<Candidate> candidates;  // of offers, by index
  std::vector<Source> sources;
  std::vector<std::string> why;  // it is rejected
  foresight::Choice choice;
  std::string currency = "USD";
};

// Types of which runs have kept the program's time. `local` and offers of the region: of others the cores are
// not known.
std::vector<TimedType> timed_types(const Host& host, const ir::Step& step,
                                   const std::vector<foresight::OfferedType>& offers) {
  const auto measured = measured_by(newest_runs(host.runs_file()));
  const std::string work = step.program.value("identity", "");
  std::vector<TimedType> timed;
  auto take = [&](const std::string& kind, double cores, double gpus) {
    const auto known = measured.find(program_key(work, step.nodes.size(), kind));
    if (known != measured.end()) timed.push_back({kind, cores, gpus, known->second});
  };
  for (const auto& offer : offers) take(offer.machine.kind, offer.machine.cores, offer.gpus);
  const foresight::MachineFacts here = this_computer();
  if (std::none_of(timed.begin(), timed.end(), [&](const TimedType& one) { return one.kind == here.kind; }))
    take(here.kind, here.cores, 0);
  return timed;
}

// nullopt: it ran on nothing alike.
std::optional<foresight::Banded> time_on_type(const foresight::OfferedType& offer,
                                              const std::vector<TimedType>& timed) {
  const TimedType* nearest = nullptr;
  for (const TimedType& one : timed) {
    if (one.kind == offer.machine.kind)
      return foresight::banded(one.seconds, kSameTypeRatio, Source::Measured, "runs on it");
    if (one.gpus > 0 || offer.gpus > 0 || !(one.cores > 0) || !(offer.machine.cores > 0)) continue;
    const auto away = [&](const TimedType& of) {
      return std::fabs(std::log(of.cores / offer.machine.cores));
    };
    if (nearest == nullptr || away(one) < away(*nearest)) nearest = &one;
  }
  if (nearest == nullptr) return std::nullopt;
  const double scaled = nearest->seconds * nearest->cores / offer.machine.cores;
  const double low = std::min(scaled, nearest->seconds), high = std::max(scaled, nearest->seconds);
  foresight::Banded time = foresight::banded(std::sqrt(low * high), kSameTypeRatio, Source::Scaled,
                                             "runs on " + nearest->kind + ", by cores");
  time.low = low / kSameTypeRatio;
  time.high = high * kSameTypeRatio;
  return time;
}

Status weigh_types(const RecommendQuestion& question, const std::vector<TimedType>& timed, size_t nodes,
                   TypeChoice& made) {
  for (size_t i = 0; i < made.offers.size(); ++i) {
    const foresight::OfferedType& offer = made.offers[i];
    Candidate one;
    one.index = static_cast<uint32_t>(i);
    one.machines = static_cast<uint16_t>(nodes);
    one.burstable = question.input.prefer_sustained && offer.machine.credits.burstable();
    const auto time = time_on_type(offer, timed);
    made.sources.push_back(time ? time->source : Source::Unknown);
    made.why.push_back(!time             ? "its run time on this type is unknown"
                       : !offer.per_hour ? "its price is unknown"
                                         : "");
    one.verdict = made.why.back().empty() ? Verdict::Fits : Verdict::Unknown;
    if (one.verdict == Verdict::Fits) {
      one.seconds = time->value, one.low = time->low, one.high = time->high;
      one.rate = offer.per_hour->micros * static_cast<int64_t>(nodes);
      one.cost = foresight::run_cost_micros(one.rate, one.seconds);
      one.cost_low = foresight::run_cost_micros(one.rate, one.low);
      one.cost_high = foresight::run_cost_micros(one.rate, one.high);
      if (!offer.per_hour->zero()) made.currency = offer.per_hour->currency;
    }
    made.candidates.push_back(one);
  }
  auto choice = choose(made.candidates, question.input.objective, question.input.bounds);
  if (!choice.ok()) return std::move(choice).status();
  made.choice = std::move(*choice);
  return {};
}

std::string nodes_name(const TypeChoice& made, size_t at, size_t nodes) {
  const std::string& type = made.offers[made.candidates[at].index].name;
  return nodes > 1 ? fmt::format("{}x{}", nodes, type) : type;
}

// The chosen one, then the others that fit by the objective.
std::vector<size_t> by_objective(const TypeChoice& made, const foresight::Objective& objective, bool all) {
  std::vector<size_t> order;
  for (size_t i = 0; i < made.candidates.size(); ++i)
    if (made.candidates[i].verdict == Verdict::Fits && made.choice.chosen != i) order.push_back(i);
  const auto value = [&](size_t at) {
    const Candidate& one = made.candidates[at];
    return objective.time * one.seconds / 3600 + objective.money * static_cast<double>(one.cost) / 1e6;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return value(a) < value(b); });
  if (made.choice.chosen) order.insert(order.begin(), *made.choice.chosen);
  if (!all && order.size() > kMostTypesShown) order.resize(kMostTypesShown);
  return order;
}

std::string program_text(const TypeChoice& made, const RecommendQuestion& question, size_t nodes, bool all) {
  const auto line = [&](size_t at) {
    const Candidate& one = made.candidates[at];
    return fmt::format("{}, {}, {}/h, {}", banded_text(one.seconds, one.low, one.high),
                       cost_text(one.cost, made.currency), Money{one.rate, made.currency}.text(),
                       source_name(made.sources[at]));
  };
  std::string text;
  if (made.choice.chosen)
    text = "Take " + nodes_name(made, *made.choice.chosen, nodes) + ": " + line(*made.choice.chosen) + "\n\n";
  const std::vector<size_t> shown = by_objective(made, question.input.objective, all);
  for (size_t at : shown)
    text += fmt::format("  {} {:<24}  {}\n", made.choice.chosen == at ? "*" : " ",
                        nodes_name(made, at, nodes), line(at));
  std::map<std::string, size_t> rejected;
  size_t fits = 0;
  for (size_t i = 0; i < made.candidates.size(); ++i) {
    const Verdict verdict = made.candidates[i].verdict;
    if (verdict == Verdict::Fits)
      ++fits;
    else
      ++rejected[made.why[i].empty() ? " by the " + std::string(verdict_name(verdict)) : ": " + made.why[i]];
  }
  if (fits > shown.size()) text += fmt::format("  {} more fit; --all lists them\n", fits - shown.size());
  for (const auto& [why, count] : rejected) text += fmt::format("  rejected  {}{}\n", count, why);
  return text;
}

Json program_json(const TypeChoice& made, size_t nodes) {
  Json candidates = Json::array();
  for (size_t i = 0; i < made.candidates.size(); ++i) {
    const Candidate& one = made.candidates[i];
    Json json = {{"name", nodes_name(made, i, nodes)},
                 {"type", made.offers[one.index].name},
                 {"verdict", verdict_name(one.verdict)},
                 {"source", source_name(made.sources[i])}};
    if (!made.why[i].empty()) {
      json["why"] = made.why[i];
    } else {
      json["seconds"] = {{"value", one.seconds}, {"low", one.low}, {"high", one.high}};
      json["cost"] = {{"micros", one.cost}, {"low_micros", one.cost_low}, {"high_micros", one.cost_high}};
      json["per_hour"] = Money{one.rate, made.currency};
    }
    candidates.push_back(std::move(json));
  }
  return {{"recommendation", 1},
          {"chosen", made.choice.chosen ? Json(nodes_name(made, *made.choice.chosen, nodes)) : Json()},
          {"candidates", candidates}};
}

}  // namespace

int run_program(const Session& session, const RecommendFlags& flags, const Project& project,
                const Machinery& machinery, const ir::Step& step) {
  if (flags.algorithm != "model" || flags.compare || !flags.explain.empty() || !flags.write.path.empty() ||
      flags.batch || flags.images || flags.latency_ms || !flags.workers.empty() || flags.max_workers)
    return report(session, invalid("of a program only types, limits and the objective can be asked about")
                               .with_hint("its nodes and arguments are the file's"));
  RecommendQuestion question;
  if (Status taken = take_bounds(flags, question); !taken.ok()) return report(session, taken);
  question.input.prefer_sustained = flags.types.empty();
  const ir::Node* node = nullptr;
  for (const ir::Node& one : project.compiled.program.nodes)
    if (!step.nodes.empty() && one.address == step.nodes.front()) node = &one;
  if (node == nullptr) return report(session, internal_error("the program has no node"));
  auto offers = program_offers(flags, project, machinery, *node);
  if (!offers.ok()) return report(session, offers.status());
  const std::vector<TimedType> timed = timed_types(machinery.host(), step, *offers);
  if (timed.empty())
    return report(session,
                  not_found("no run of " + step.id + " as it is now is known")
                      .with_hint("a short real run tells: radlc profile" + project.words + " --on cluster"));
  TypeChoice made;
  made.offers = std::move(*offers);
  if (Status weighed = weigh_types(question, timed, step.nodes.size(), made); !weighed.ok())
    return report(session, weighed);
  if (flags.json)
    std::printf(
        "%s\n",
        program_json(made, step.nodes.size()).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  else
    std::fputs(shown(program_text(made, question, step.nodes.size(), flags.all)).c_str(), stdout);
  if (made.choice.chosen) return kDone;
  std::fputs("error: nothing is within the limits\n", stderr);
  return kNoTypeFits;
}

}  // namespace radl::cli
