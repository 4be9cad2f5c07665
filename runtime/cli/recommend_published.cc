#include "runtime/cli/recommend_published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "runtime/foresight/anwar.h"

namespace radl::cli {
namespace {

using foresight::Cluster;
using foresight::MachineType;

struct Asked {
  std::vector<MachineType> workers, servers;
  foresight::Limits limits;
  foresight::Reading reading = foresight::Reading::Ours;
};

// What one worker moves while nothing holds it up, in every step: as its links counted it in earlier runs,
// else the parameters each way.
double used_bandwidth(const RecommendAnswer& answer, const foresight::WorkModel& model,
                      const foresight::OfferedType& offer) {
  const auto profile = model.profile_for(offer.machine, answer.question.input.facts.batch);
  if (!profile) return 0;
  const double bytes = profile->node.parameter_bytes * answer.question.input.facts.exchanged_share,
               seconds = profile->node.steps.seconds(answer.question.input.facts.batch);
  const auto counted = model.counted_bytes().value_or(std::pair(bytes, bytes));
  return foresight::used_mbps(counted.first, counted.second, seconds);
}

Asked asked_of(const RecommendFlags& flags, const RecommendAnswer& answer) {
  const auto& input = answer.question.input;
  const foresight::WorkModel model(answer.question.known, input.facts);
  Asked asked;
  for (const auto& offer : input.workers)
    asked.workers.push_back({offer.name, offer.per_hour, used_bandwidth(answer, model, offer)});
  for (const auto& offer : answer.question.eligible_servers)
    asked.servers.push_back({offer.name, offer.per_hour, offer.machine.bits_per_second / 1e6});
  // Uses only limits set by the user: radlc's defaults are not part of a published algorithm.
  if (!flags.budget.empty()) asked.limits.budget = Money{*input.bounds.rate, answer.made.currency};
  if (!flags.workers.empty() || flags.max_workers) asked.limits.most_workers = input.sizes.back();
  if (flags.as_published) asked.reading = foresight::Reading::AsPublished;
  return asked;
}

struct Said {
  Cluster cluster;
  std::string server;
};

Result<Said> ask_fc2(const RecommendFlags& flags, const Asked& asked, const std::string& algorithm) {
  if (!asked.limits.budget && !asked.limits.most_workers)
    return invalid(algorithm + " chooses within a budget or a number of workers, and neither is given")
        .with_hint("say --budget AMOUNT, --max-workers N, or both");
  auto server = choose_server(asked.servers, asked.workers, asked.limits, asked.reading);
  if (!server.ok()) return std::move(server).status();
  const foresight::ScalaOptions options{flags.share, asked.reading};
  auto ask = [&]() -> Result<Cluster> {
    if (algorithm == "cost-opt") return cost_opt(*server, asked.workers, asked.limits, asked.reading);
    if (algorithm == "time-opt") return time_opt(*server, asked.workers, asked.limits, asked.reading);
    if (algorithm == "scala-opt") return scala_opt(*server, asked.workers, asked.limits, options);
    if (flags.types.empty() || asked.workers.size() != 1)
      return invalid(fmt::format("scala-opt-m is about one type, and --types {}",
                                 flags.types.empty() ? "is not given"
                                                     : fmt::format("names {}", asked.workers.size())))
          .with_hint("name one: --types " + asked.workers.front().name);
    return scala_opt_m(*server, asked.workers, asked.workers.front().name, asked.limits, options);
  };
  auto cluster = ask();
  if (!cluster.ok()) return std::move(cluster).status();
  return Said{std::move(*cluster), server->name};
}

// The largest of --workers that is not above what the algorithm chose.
Status keep_sizes(const RecommendFlags& flags, const RecommendAnswer& answer, Cluster& cluster) {
  if (flags.workers.empty()) return {};
  const auto& sizes = answer.question.input.sizes;
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), cluster.workers);
  if (above == sizes.begin())
    return not_found(fmt::format("{} x {} is what it chooses, and --workers begins at {}", cluster.workers,
                                 cluster.type, sizes.front()))
        .with_hint("raise the budget, or let --workers begin lower");
  cluster.workers = *std::prev(above);
  return {};
}

// Runs of the work as rows of epoch times.
std::vector<foresight::StudyRow> rows_of(const RecommendAnswer& answer) {
  std::vector<foresight::StudyRow> rows;
  for (const foresight::TrainingRun& run : answer.question.known.runs) {
    if (run.work != answer.question.input.facts.work.digest || run.epochs <= 0) continue;
    foresight::StudyRow row;
    row.study = run.family;
    row.machine = run.machine;
    row.machines = run.workers;
    row.batch = static_cast<int>(std::lround(run.batch * run.workers));
    row.latency_ms = run.latency_ms;
    row.seconds = run.seconds / run.epochs;
    row.where = "a run here";
    rows.push_back(std::move(row));
  }
  return rows;
}

const foresight::OfferedType* offer_named(const std::vector<foresight::OfferedType>& offers,
                                          const std::string& name) {
  for (const auto& offer : offers)
    if (offer.name == name) return &offer;
  return nullptr;
}

// Fills `choice.input` and `choice.made`: what the model thinks of `workers` machines of a type, with a
// server (null: none).
Status weigh(const RecommendAnswer& answer, const foresight::OfferedType& type, int workers,
             const foresight::OfferedType* server, PublishedChoice& choice) {
  const auto& asked = answer.question.input;
  choice.input = asked;
  choice.input.workers = {type};
  choice.input.servers.clear();
  choice.input.sizes = {workers};
  choice.input.bounds = {};
  choice.input.prefer_sustained = false;
  choice.input.alone = server == nullptr && workers == 1;
  choice.input.exchanges = {foresight::Exchange::Ring};
  if (server != nullptr) {
    choice.input.servers = {*server};
    choice.input.exchanges = {foresight::Exchange::SyncServer, foresight::Exchange::AsyncServer};
  }
  const foresight::WorkModel model(answer.question.known, asked.facts);
  auto made = foresight::recommend(choice.input, model);
  if (!made.ok()) return made.status();
  choice.made = std::move(*made);
  const auto& candidates = choice.made.candidates;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].verdict == foresight::Verdict::Fits &&
        choice.made.options[candidates[i].index].exchange == asked.facts.exchange)
      choice.made.choice.chosen = i;
  return {};
}

std::string model_says(const foresight::Recommendation& made) {
  if (!made.choice.chosen) return "the model knows nothing of it";
  const auto& one = made.candidates[*made.choice.chosen];
  return banded_text(one.seconds, one.low, one.high) + ", " + cost_text(one.cost, made.currency);
}

// The latency for a look-up in runs: --latency, else that of the newest run with this batch. Runs measure
// their round trips, so no two values are equal.
double asked_latency(const RecommendFlags& flags, const std::vector<foresight::StudyRow>& rows, int batch) {
  if (flags.latency_ms) return *flags.latency_ms;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (row->batch == batch && row->machines > 1) return row->latency_ms;
  return 0;
}

// Assigns the requested round trip to runs whose measured one differs only by measurement error.
void snap_latencies(std::vector<foresight::StudyRow>& rows, double latency_ms) {
  for (auto& row : rows)
    if (foresight::same_distance(row.latency_ms / 1000, latency_ms / 1000)) row.latency_ms = latency_ms;
}

std::string shown_latency(double ms) { return fmt::format("{:.3g} ms", ms); }

Result<PublishedChoice> by_lookup(const RecommendFlags& flags, const RecommendAnswer& answer) {
  const auto& input = answer.question.input;
  const int batch = static_cast<int>(std::lround(input.facts.batch * input.facts.workers));
  std::vector<foresight::StudyRow> rows = rows_of(answer);
  const double latency = asked_latency(flags, rows, batch);
  snap_latencies(rows, latency);
  const auto& sizes = input.sizes;
  if (!flags.workers.empty() || flags.max_workers)
    std::erase_if(
        rows, [&](const auto& row) { return !std::binary_search(sizes.begin(), sizes.end(), row.machines); });
  if (!flags.types.empty())
    std::erase_if(rows, [&](const auto& row) {
      return std::none_of(input.workers.begin(), input.workers.end(),
                          [&](const auto& offer) { return offer.machine.kind == row.machine; });
    });
  auto row = look_up(rows, batch, latency,
                     flags.as_published ? foresight::Reading::AsPublished : foresight::Reading::Ours);
  if (!row.ok()) return std::move(row).status();
  PublishedChoice choice;
  choice.text = fmt::format("Take {} of {}: {} an epoch, measured in a run here with a batch of {} at {}\n",
                            counted(row->machines, "worker"), row->machine, duration_text(*row->seconds),
                            batch, shown_latency(latency));
  choice.json = {{"algorithm", "lookup"},
                 {"workers", row->machines},
                 {"machine", row->machine},
                 {"latency_ms", latency},
                 {"epoch_seconds", *row->seconds}};
  for (const auto& offer : input.workers) {
    if (offer.machine.kind != row->machine) continue;
    const bool serves = input.facts.servers > 0;
    const auto* server = !serves ? nullptr : input.servers.empty() ? &offer : &input.servers.front();
    if (Status weighed = weigh(answer, offer, row->machines, server, choice); !weighed.ok()) return weighed;
    break;
  }
  return choice;
}

constexpr size_t kMostLeftOut = 3;

// Types that were left out, as many as one cares to read; the rest with --all.
std::string left_out_text(const std::vector<std::string>& left_out, bool all) {
  std::string text;
  for (size_t i = 0; i < left_out.size() && (all || i < kMostLeftOut); ++i)
    text += "  left out: " + left_out[i] + "\n";
  if (!all && left_out.size() > kMostLeftOut)
    text += fmt::format("  left out: {} more; --all lists them\n", left_out.size() - kMostLeftOut);
  return text;
}

}  // namespace

Result<PublishedChoice> published_choice(const RecommendFlags& flags, const RecommendAnswer& answer,
                                         const std::string& algorithm) {
  if (algorithm == "lookup") return by_lookup(flags, answer);
  auto said = ask_fc2(flags, asked_of(flags, answer), algorithm);
  if (!said.ok()) return std::move(said).status();
  Cluster& cluster = said->cluster;
  if (Status kept = keep_sizes(flags, answer, cluster); !kept.ok()) return kept;
  PublishedChoice choice;
  const auto* type = offer_named(answer.question.input.workers, cluster.type);
  const auto* server = offer_named(answer.question.eligible_servers, said->server);
  if (type == nullptr || server == nullptr) return internal_error(algorithm + " chose what is not on offer");
  if (Status weighed = weigh(answer, *type, cluster.workers, server, choice); !weighed.ok()) return weighed;
  choice.text = fmt::format("Take {} x {} and one server {}, by {}, bound by the {}\n  the model: {}\n",
                            cluster.workers, cluster.type, said->server, algorithm, bound_name(cluster.bound),
                            model_says(choice.made)) +
                left_out_text(cluster.left_out, flags.all);
  choice.json = {{"algorithm", algorithm},
                 {"type", cluster.type},
                 {"workers", cluster.workers},
                 {"server", said->server},
                 {"bound", bound_name(cluster.bound)},
                 {"left_out", cluster.left_out}};
  return choice;
}

std::string compare_text(const RecommendFlags& flags, const RecommendAnswer& answer) {
  std::string text;
  auto line = [&](const std::string& name, const std::string& choice, const std::string& says) {
    text += fmt::format("{:<12}  {:<40}  {}\n", name, choice, says);
  };
  line("algorithm", "chooses", "time and cost, as the model sees it");
  const auto& chosen = answer.made.choice.chosen;
  line("model",
       chosen
           ? candidate_name(answer.question.input, answer.made.options[answer.made.candidates[*chosen].index])
           : "nothing is within the limits",
       chosen ? model_says(answer.made) : "");
  for (const char* algorithm : {"cost-opt", "time-opt", "scala-opt", "scala-opt-m", "lookup"}) {
    auto choice = published_choice(flags, answer, algorithm);
    if (!choice.ok()) {
      line(algorithm, "-", choice.status().message());
    } else if (choice->json.contains("type")) {
      line(algorithm,
           fmt::format("{}x{}+{}", choice->json["workers"].get<int>(),
                       choice->json["type"].get<std::string>(), choice->json["server"].get<std::string>()),
           model_says(choice->made));
    } else {
      line(algorithm, counted(choice->json["workers"].get<int>(), "worker"), "measured");
    }
  }
  return text;
}

}  // namespace radl::cli
