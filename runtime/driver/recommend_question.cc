#include "runtime/driver/recommend_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "common/human.h"
#include "common/text.h"
#include "runtime/base/world.h"
#include "runtime/clouds/fitting.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/figures/calibration_store.h"
#include "runtime/figures/runs_file.h"
#include "runtime/foresight/epoch_model.h"

namespace radl::driver {
namespace {

constexpr double kLocalStart = 1, kCloudStart = 60, kStartRatio = 2, kMeasuredStartRatio = 1.5;
constexpr long kNewestStarts = 10;  // runs: clouds get quicker, recipes longer
// A spot machine is taken back about once in so many hours, where nobody says how often.
constexpr double kSpotInterruptions = 0.01;
constexpr int kStaleDays = 180;
constexpr double kMostImages = 1e12;
// What the engine of this build runs on: it is brought to nodes as it is.
#if defined(__aarch64__)
constexpr const char* kArchitecture = "arm64";
#else
constexpr const char* kArchitecture = "x86_64";
#endif

const ir::Node* find_node(const ir::Program& program, const std::vector<std::string>& addresses) {
  if (addresses.empty()) return nullptr;
  for (const ir::Node& node : program.nodes)
    if (node.address == addresses.front()) return &node;
  return nullptr;
}

foresight::OfferedType local_offer() {
  foresight::OfferedType offer;
  offer.name = "local";
  offer.machine = this_computer();
  offer.per_hour = Money{};
  return offer;
}

// Where offers come from: the catalogue, and what clouds said of the account.
struct Offering {
  const ir::Program& program;
  const Machinery& machinery;
  const Surveys& surveys;
  std::set<std::string>&
      idle_gpus;       // excluded types: their GPUs were not requested, and the engine does not use them
  bool native = true;  // the native engine trains, and not a program of the user's own
};

bool asks_for_gpus(const ir::Node& node) {
  return std::any_of(node.requirements.begin(), node.requirements.end(),
                     [](const auto& one) { return one.first.starts_with("gpu."); });
}

// Types with GPUs cost what their GPUs cost, and the native engine trains on their cores.
void leave_out_gpus(const ir::Node& node, const std::string& types, const Offering& from,
                    std::vector<const InstanceType*>& fitting) {
  const auto has_gpu = [](const InstanceType* type) { return type->gpu > 0; };
  if (!from.native || !types.empty() || asks_for_gpus(node) ||
      std::all_of(fitting.begin(), fitting.end(), has_gpu))
    return;
  for (const InstanceType* type : fitting)
    if (has_gpu(type)) from.idle_gpus.insert(type->name);
  std::erase_if(fitting, has_gpu);
}

void take_quotas(const Offering& from, const std::string& id, const InstanceType& type, Market market,
                 foresight::OfferedType& offer) {
  const auto survey = from.surveys.find(id);
  const Cloud* cloud = survey == from.surveys.end() ? nullptr : from.machinery.clouds().find(id);
  if (cloud == nullptr) return;
  for (const QuotaUse& use : cloud->quota_uses(type, market, survey->second, from.machinery.catalog()))
    offer.quotas.push_back({use.name, use.each, use.room});
}

// The types of the node's region that have what its system asks for; `types` takes the place of an
// instance_type that the file names.
Result<std::vector<foresight::OfferedType>> offers_of(ir::Node node, const std::string& types, bool spot,
                                                      const Offering& from) {
  const Machinery& machinery = from.machinery;
  const std::string id = machinery.clouds().id_for(node);
  auto cloud = CloudId::parse(id);
  if (!cloud.ok()) return std::move(cloud).status();
  if (cloud->type == "local") return std::vector{local_offer()};
  if (machinery.clouds().find(id) == nullptr) {
    if (Status why = machinery.clouds().why_not(id); !why.ok()) return why;
  }
  auto all = machinery.catalog().types(cloud->type, cloud->region);
  if (!all.ok()) return std::move(all).status();
  if (all->empty())
    return Status(
        Code::NotFound,
        fmt::format("the catalog has no types of {}; only the file's own machines are candidates", id));
  if (!types.empty()) node.requirements.erase("instance_type");
  if (spot) node.requirements["spot"].equals = "yes";
  std::vector<std::string_view> patterns =
      types.empty() ? std::vector<std::string_view>{"*"} : split(types, ',');
  std::vector<const InstanceType*> wanted;
  for (const InstanceType* type : *all) {
    if (!type->runs(kArchitecture)) continue;
    if (std::any_of(patterns.begin(), patterns.end(),
                    [&](std::string_view pattern) { return matches_pattern(type->name, trim(pattern)); }))
      wanted.push_back(type);
  }
  if (wanted.empty()) return Status(Code::NotFound, fmt::format("{} has no type like {}", id, types));
  Fitting asked{node, wanted, cloud->type + " in " + cloud->region};
  asked.sustained = trains(from.program, node);
  auto fitting = fitting_types(asked);
  if (!fitting.ok()) return std::move(fitting).status();
  leave_out_gpus(node, types, from, *fitting);
  const Market market = market_wanted(node);
  std::vector<foresight::OfferedType> offers;
  for (const InstanceType* type : *fitting) {
    foresight::OfferedType offer;
    offer.name = type->name;
    offer.machine = machine_facts(*type);
    offer.gpus = type->gpu;
    if (const auto& price = type->price(market)) offer.per_hour = price->per_hour, offer.as_of = price->as_of;
    take_quotas(from, id, *type, market, offer);
    offers.push_back(std::move(offer));
  }
  return offers;
}

// Of all that a server may be, the cheapest, and the one with the widest network among those not dearer than
// four times it.
std::vector<foresight::OfferedType> usual_servers(const std::vector<foresight::OfferedType>& all) {
  std::vector<foresight::OfferedType> priced;
  for (const auto& one : all)
    if (one.per_hour) priced.push_back(one);
  if (priced.empty()) return all;
  // A server works as long as the workers do: without CPU credits it would hold them up.
  const auto sustained = [](const foresight::OfferedType& one) { return !one.machine.credits.burstable(); };
  if (std::any_of(priced.begin(), priced.end(), sustained)) std::erase_if(priced, std::not_fn(sustained));
  const foresight::OfferedType cheapest = priced.front();
  const foresight::OfferedType* widest = &cheapest;
  for (const auto& one : priced) {
    if (one.per_hour->micros <= 4 * cheapest.per_hour->micros &&
        one.machine.bits_per_second > widest->machine.bits_per_second)
      widest = &one;
  }
  if (widest == &cheapest) return std::vector{cheapest};
  return std::vector{cheapest, *widest};
}

// The type that a plan selects on its own: the first that fits.
Status usual_type(const ir::Node& node, bool spot, const Offering& from, std::string& name) {
  auto offers = offers_of(node, "", spot, from);
  if (!offers.ok()) return std::move(offers).status();
  name = offers->front().name;
  return {};
}

// Until the training begins: what the newest runs on such a cloud took, else a guess.
foresight::Banded startup(const Host& host, const std::string& cloud_type) {
  std::vector<double> made;
  for (const RunFigures& run : newest_runs(host.runs_file())) {
    const bool there = std::any_of(run.measured.begin(), run.measured.end(), [&](const auto& one) {
      return one.first.starts_with("create " + cloud_type + ":") ||
             one.first.starts_with("create " + cloud_type + " ");
    });
    if (there && run.actual.create) made.push_back(*run.actual.create + run.actual.configure.value_or(0));
  }
  const bool local = cloud_type == "local";
  if (made.empty())
    return foresight::banded(local ? kLocalStart : kCloudStart, kStartRatio, foresight::Source::Guessed,
                             "guessed");
  if (made.size() > kNewestStarts) made.erase(made.begin(), made.end() - kNewestStarts);
  std::sort(made.begin(), made.end());
  const double middle = made[made.size() / 2];
  const auto seconds = foresight::banded(middle, kMeasuredStartRatio, foresight::Source::Measured,
                                         counted(made.size(), "run") + " here");
  if (made.size() < PhaseBands::kFewest || middle <= 0) return seconds;
  std::vector<double> errors;
  for (double one : made) errors.push_back(std::fabs(std::log(std::max(one, 1e-3) / middle)));
  std::sort(errors.begin(), errors.end());
  return learnt_band(seconds, std::exp(foresight::conformal_quantile(errors, 0.8)), made.size());
}

// What is known of quotas, in a line; a cloud that was asked and did not say is named with why.
void note_quotas(const RecommendRequest& request, const std::string& id, const Surveys& surveys,
                 RecommendQuestion& question) {
  const auto survey = surveys.find(id);
  if (survey == surveys.end()) {
    if (!request.refresh)
      question.notes.push_back("the account's quotas are unknown; --refresh queries them");
    return;
  }
  const Json& facts = survey->second.facts;
  if (auto why = facts.find("quotas_unknown"); why != facts.end() && why->is_string())
    question.notes.push_back("the account's quotas are unknown: " + why->get<std::string>());
}

void note_stale(const Host& host, const std::vector<foresight::OfferedType>& offers,
                RecommendQuestion& question) {
  std::string oldest;
  size_t unknown = 0;
  for (const auto& one : offers) {
    if (!one.per_hour) ++unknown;
    if (!one.as_of.empty() && (oldest.empty() || one.as_of < oldest)) oldest = one.as_of;
  }
  if (unknown > 0)
    question.notes.push_back(
        fmt::format("prices of {} instance types are unknown; they were not considered", unknown));
  if (oldest.empty()) return;
  const std::string limit = utc_time(host.world->clock.wall_seconds() - kStaleDays * 86400.0).substr(0, 10);
  question.notes.push_back(
      oldest < limit ? fmt::format("prices date from {}; `radlc catalog update` imports newer ones", oldest)
                     : fmt::format("prices are of {} and later", oldest));
}

void note_burstable(RecommendQuestion& question) {
  size_t burstable = 0;
  for (const auto& one : question.input.workers) burstable += one.machine.credits.burstable() ? 1 : 0;
  if (burstable == 0 || !question.input.prefer_sustained) return;
  question.notes.push_back(
      fmt::format("{} compute by CPU credits; one is chosen only if nothing else is within the limits, or if "
                  "--types names it",
                  counted(burstable, "type")));
}

void note_gpus(const std::set<std::string>& left_out, RecommendQuestion& question) {
  if (!left_out.empty())
    question.notes.push_back(
        fmt::format("{} with GPUs left out, because the native engine trains on CPUs; name them with --types "
                    "to include them",
                    counted(left_out.size(), "type")));
  const auto& workers = question.input.workers;
  const auto idle =
      std::count_if(workers.begin(), workers.end(), [](const auto& one) { return one.gpus > 0; });
  if (idle > 0)
    question.notes.push_back(fmt::format(
        "{} with GPUs judged by their CPU cores, because the native engine trains on CPUs; for GPUs use "
        "std/training/torch",
        counted(static_cast<size_t>(idle), "type")));
}

void note_bandwidth(RecommendQuestion& question) {
  const auto& workers = question.input.workers;
  const auto unknown = std::count_if(workers.begin(), workers.end(), [](const auto& one) {
    return !one.machine.shared && !(one.machine.bits_per_second > 0);
  });
  if (unknown > 0)
    question.notes.push_back(
        fmt::format("the catalog has no bandwidth of {}; they are candidates only as single machines",
                    counted(static_cast<size_t>(unknown), "type")));
}

}  // namespace

Status take_bounds(const RecommendRequest& request, RecommendQuestion& question) {
  auto take = [&](const std::string& text, bool per_hour, std::optional<int64_t>& into) -> Status {
    if (text.empty()) return {};
    auto amount = parse_amount(text, per_hour);
    if (!amount.ok()) return std::move(amount).status();
    if (!amount->any_currency && !question.currency.empty() && question.currency != amount->money.currency)
      return invalid("limits in " + question.currency + " and " + amount->money.currency +
                     "; radlc does not convert currencies");
    if (!amount->any_currency) question.currency = amount->money.currency;
    into = amount->money.micros;
    return {};
  };
  if (Status taken = take(request.budget, true, question.input.bounds.rate); !taken.ok())
    return std::move(taken).at("--budget");
  if (Status taken = take(request.max_cost, false, question.input.bounds.cost); !taken.ok())
    return std::move(taken).at("--max-cost");
  if (!request.deadline.empty()) {
    auto seconds = parse_duration(request.deadline);
    if (!seconds.ok()) return std::move(seconds).status().at("--deadline");
    question.input.bounds.deadline = *seconds;
  }
  auto objective = parse_objective(request.objective);
  if (!objective.ok()) return std::move(objective).status().at("--objective");
  question.input.objective = *objective;
  auto sizes = parse_sizes(request.workers, request.max_workers);
  if (!sizes.ok()) return std::move(sizes).status().at("--workers");
  question.input.sizes = *sizes;
  question.default_sizes = request.workers.empty() && !request.max_workers;
  auto exchanges = parse_exchanges(request.exchanges);
  if (!exchanges.ok()) return std::move(exchanges).status().at("--exchange");
  question.input.exchanges = exchanges->exchanges;
  question.input.alone = exchanges->alone;
  if (!(request.confidence > 0 && request.confidence < 1))
    return invalid("--confidence: above 0 and below 1");
  question.input.confidence = request.confidence;
  return {};
}

namespace {

// Without a limit, the least time would select the most expensive cluster.
void take_default_budget(RecommendQuestion& question) {
  const auto& bounds = question.input.bounds;
  if (bounds.rate || bounds.cost || bounds.deadline || question.input.objective.money != 0) return;
  question.input.bounds.rate = kUsualBudgetMicros;
  question.default_budget = true;
}

// What an answer on a cloud should be read with, and how long it takes to create its nodes.
void take_place(const RecommendRequest& request, const Machinery& machinery, const Surveys& surveys,
                const ir::Node& worker, RecommendQuestion& question) {
  const std::string id = machinery.clouds().id_for(worker);
  question.input.startup = startup(machinery.host(), id.substr(0, id.find(':')));
  if (!question.input.workers.front().machine.shared) note_quotas(request, id, surveys, question);
  if (request.spot)
    question.input.interruptions_per_hour = request.interruptions.value_or(kSpotInterruptions);
  note_stale(machinery.host(), question.input.workers, question);
}

}  // namespace

Result<RecommendQuestion> question_of_program(const RecommendRequest& request, const Project& project,
                                              const Machinery& machinery, const Surveys& surveys,
                                              const ir::Step& program) {
  std::set<std::string> left_out;
  const Offering from{project.compiled.program, machinery, surveys, left_out, false};
  RecommendQuestion question;
  if (Status taken = take_bounds(request, question); !taken.ok()) return taken;
  const ir::Node* node = find_node(project.compiled.program, program.nodes);
  if (node == nullptr) return internal_error("the program has no node");
  auto offers = offers_of(*node, request.types, request.spot, from);
  if (!offers.ok()) return std::move(offers).status();
  question.input.workers = std::move(*offers);
  if (!question.input.workers.front().machine.shared) {
    if (Status usual = usual_type(*node, request.spot, from, question.usual_worker); !usual.ok())
      return usual;
    take_default_budget(question);
  }
  question.input.prefer_sustained = request.types.empty();
  note_burstable(question);
  take_place(request, machinery, surveys, *node, question);
  return question;
}

Result<RecommendQuestion> recommend_question(const RecommendRequest& request, const Project& project,
                                             const Machinery& machinery, const Surveys& surveys) {
  std::set<std::string> idle_gpus;
  const Offering from{project.compiled.program, machinery, surveys, idle_gpus};
  RecommendQuestion question;
  if (Status taken = take_bounds(request, question); !taken.ok()) return taken;
  const ir::Program& program = project.compiled.program;
  auto training = find_training(program, request.training);
  if (!training.ok()) return std::move(training).status();
  foresight::TrainingFacts& facts = question.input.facts;
  facts = training_facts(machinery.host().environment(), **training);
  if (request.batch) facts.batch = *request.batch;
  if (request.images) facts.images = *request.images;
  for (const auto& [name, given] : {std::pair("--batch", request.batch), {"--images", request.images}}) {
    if (given && !(*given >= 1 && *given <= kMostImages && *given == std::floor(*given)))
      return invalid(fmt::format("{}: an integer from 1 to {:.0e}", name, kMostImages));
  }
  if (facts.images <= 0)
    return invalid("the number of images of " +
                   dataset_facts(machinery.host().environment(), **training).name + " is unknown")
        .with_hint("pass --images N");
  if (request.latency_ms) {
    if (!(*request.latency_ms >= 0) || !std::isfinite(*request.latency_ms))
      return invalid("--latency: milliseconds, at least 0");
    question.input.round_trip_seconds = *request.latency_ms / 1000;
  }
  const ir::Node* worker = find_node(program, worker_nodes(**training));
  const ir::Node* server = find_node(program, server_nodes(**training));
  if (worker == nullptr) return internal_error("the training has no worker");
  auto workers = offers_of(*worker, request.types, request.spot, from);
  if (!workers.ok()) return std::move(workers).status();
  question.input.workers = std::move(*workers);
  const bool local = question.input.workers.front().machine.shared;
  if (server != nullptr && !local) {
    auto servers = offers_of(*server, request.server == "auto" ? "" : request.server, false, from);
    if (!servers.ok()) return std::move(servers).status();
    question.input.servers = request.server == "auto" ? usual_servers(*servers) : *servers;
    question.eligible_servers = std::move(*servers);
    if (Status usual = usual_type(*server, false, from, question.usual_server); !usual.ok()) return usual;
  }
  if (question.eligible_servers.empty()) question.eligible_servers = question.input.workers;
  if (!local)
    if (Status usual = usual_type(*worker, request.spot, from, question.usual_worker); !usual.ok())
      return usual;
  if (!local && request.algorithm == "model") take_default_budget(question);
  question.input.prefer_sustained = request.types.empty();
  note_burstable(question);
  note_gpus(idle_gpus, question);
  note_bandwidth(question);
  take_place(request, machinery, surveys, *worker, question);
  if (!request.latency_ms && !local)
    question.notes.push_back(fmt::format("the round-trip time is assumed to be {:g} ms; --latency sets it",
                                         foresight::kGuessedRoundTrip * 1000));
  auto known = load_calibration(machinery.host().calibration_file(), {facts.work.digest, 10000});
  if (!known.ok()) return std::move(known).status();
  question.known = std::move(*known);
  question.calibration = digest_of(question.known);
  return question;
}

}  // namespace radl::driver
