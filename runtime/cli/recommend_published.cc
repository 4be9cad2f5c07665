#include "runtime/cli/recommend_published.h"

#include <fmt/format.h>

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
  for (const auto& offer : input.servers.empty() ? input.workers : input.servers)
    asked.servers.push_back({offer.name, offer.per_hour, offer.machine.bits_per_second / 1e6});
  if (input.bounds.rate) asked.limits.budget = Money{*input.bounds.rate, answer.made.currency};
  asked.limits.most_workers = input.sizes.back();
  if (flags.as_published) asked.reading = foresight::Reading::AsPublished;
  return asked;
}

struct Said {
  Cluster cluster;
  std::string server;
};

Result<Said> ask_fc2(const RecommendFlags& flags, const Asked& asked, const std::string& algorithm) {
  auto server = choose_server(asked.servers, asked.workers, asked.limits, asked.reading);
  if (!server.ok()) return std::move(server).status();
  const foresight::ScalaOptions options{flags.share, asked.reading};
  auto ask = [&]() -> Result<Cluster> {
    if (algorithm == "cost-opt") return cost_opt(*server, asked.workers, asked.limits, asked.reading);
    if (algorithm == "time-opt") return time_opt(*server, asked.workers, asked.limits, asked.reading);
    if (algorithm == "scala-opt") return scala_opt(*server, asked.workers, asked.limits, options);
    if (flags.types.empty()) return invalid("scala-opt-m is about one type: name it with --types");
    return scala_opt_m(*server, asked.workers, asked.workers.front().name, asked.limits, options);
  };
  auto cluster = ask();
  if (!cluster.ok()) return std::move(cluster).status();
  return Said{std::move(*cluster), server->name};
}

// Runs of the family as rows of epoch times, whatever machine they were on.
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

std::optional<size_t> same_cluster(const RecommendAnswer& answer, const std::string& type, int workers,
                                   const std::string& server) {
  const auto& input = answer.question.input;
  std::optional<size_t> best;
  for (size_t i = 0; i < answer.made.candidates.size(); ++i) {
    const auto& option = answer.made.options[answer.made.candidates[i].index];
    const bool with_server = option.server != -1;
    if (input.workers[option.worker].name != type || option.workers != workers ||
        with_server != !server.empty())
      continue;
    if (option.server >= 0 && input.servers[static_cast<size_t>(option.server)].name != server) continue;
    if (answer.made.candidates[i].high <= 0) continue;
    // The file's own exchange where it is one of them, else the quickest.
    if (!best || option.exchange == input.facts.exchange) best = i;
  }
  return best;
}

std::string model_says(const RecommendAnswer& answer, const std::optional<size_t>& at) {
  if (!at) return "the model knows nothing of it";
  const auto& one = answer.made.candidates[*at];
  return banded_text(one.seconds, one.low, one.high) + ", " + cost_text(one.cost, answer.made.currency);
}

Result<PublishedChoice> by_lookup(const RecommendFlags& flags, const RecommendAnswer& answer) {
  const auto& input = answer.question.input;
  const int batch = static_cast<int>(std::lround(input.facts.batch * input.facts.workers));
  auto row = look_up(rows_of(answer), batch, flags.latency_ms.value_or(0),
                     flags.as_published ? foresight::Reading::AsPublished : foresight::Reading::Ours);
  if (!row.ok()) return std::move(row).status();
  PublishedChoice choice;
  choice.text = fmt::format("lookup: {} nodes, {} an epoch in a run here\n", row->machines,
                            duration_text(*row->seconds));
  choice.json = {{"algorithm", "lookup"}, {"workers", row->machines}, {"epoch_seconds", *row->seconds}};
  return choice;
}

}  // namespace

Result<PublishedChoice> published_choice(const RecommendFlags& flags, const RecommendAnswer& answer,
                                         const std::string& algorithm) {
  if (algorithm == "lookup") return by_lookup(flags, answer);
  auto said = ask_fc2(flags, asked_of(flags, answer), algorithm);
  if (!said.ok()) return std::move(said).status();
  PublishedChoice choice;
  choice.candidate = same_cluster(answer, said->cluster.type, said->cluster.workers, said->server);
  choice.text = fmt::format("{}: {} x {} and one server {}, bound by the {}\n  the model: {}\n", algorithm,
                            said->cluster.workers, said->cluster.type, said->server,
                            bound_name(said->cluster.bound), model_says(answer, choice.candidate));
  for (const std::string& why : said->cluster.left_out) choice.text += "  left out: " + why + "\n";
  choice.json = {{"algorithm", algorithm},
                 {"type", said->cluster.type},
                 {"workers", said->cluster.workers},
                 {"server", said->server},
                 {"bound", bound_name(said->cluster.bound)},
                 {"left_out", said->cluster.left_out}};
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
       chosen ? model_says(answer, chosen) : "");
  for (const char* algorithm : {"cost-opt", "time-opt", "scala-opt", "scala-opt-m", "lookup"}) {
    auto choice = published_choice(flags, answer, algorithm);
    if (!choice.ok()) {
      line(algorithm, "-", choice.status().message());
    } else if (choice->json.contains("type")) {
      line(algorithm,
           fmt::format("{}x{}+{}", choice->json["workers"].get<int>(),
                       choice->json["type"].get<std::string>(), choice->json["server"].get<std::string>()),
           model_says(answer, choice->candidate));
    } else {
      line(algorithm, counted(choice->json["workers"].get<int>(), "node"), "measured");
    }
  }
  return text;
}

}  // namespace radl::cli
