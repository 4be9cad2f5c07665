// What profiles and runs of one kind of work say (forecast.h, WorkModel), learnt once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/foresight/alike.h"
#include "runtime/foresight/epoch_model.h"
#include "runtime/foresight/forecast.h"
#include "runtime/foresight/shipped_profiles.h"

namespace radl::foresight {
namespace {

constexpr size_t kFewestResiduals = 4;
constexpr size_t kNewestWays = 5;  // runs whose links count
constexpr size_t kNewestRuns = 5;  // of one cluster
// Bands at 80% of what one, two, .. runs of the same cluster say of the next.
constexpr double kRunRatios[] = {1.3, 1.25, 1.2, 1.15};
constexpr double kSpread = 1.28;  // of a normal band of 80%
// Round trips of one distance, as they are measured: times, and seconds for the shortest.
constexpr double kSameDistance = 1.25, kSameInSeconds = 5e-4;

Question question_of(int workers, double batch, double latency_ms, Exchange exchange) {
  return {{std::log2(workers + 1.0), std::log(std::max(batch, 1.0)) / 2, std::log1p(latency_ms),
           has_server(exchange) ? 1.0 : 0.0, exchange == Exchange::AsyncServer ? 1.0 : 0.0},
          0.5,
          0.5};
}

std::string cluster_of(const std::string& kind, std::string_view exchange, int workers, int servers,
                       double batch) {
  return fmt::format("{}|{}|{}|{}|{:g}", kind, exchange, workers, servers, batch);
}

double middle_of(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of.empty() ? 0 : of[of.size() / 2];
}

}  // namespace

bool same_distance(double one, double other) {
  const double near = std::min(one, other), far = std::max(one, other);
  return far <= std::max(kSameDistance * near, near + kSameInSeconds);
}

WorkModel::WorkModel(const Calibration& calibration, const TrainingFacts& facts)
    : WorkModel(calibration, facts, shipped_profiles()) {}

WorkModel::WorkModel(const Calibration& calibration, const TrainingFacts& facts,
                     std::vector<MeasuredProfile> shipped)
    : work_(facts.work), family_(facts.family), profiles_(std::move(shipped)) {
  profiles_.insert(profiles_.end(), calibration.profiles.begin(), calibration.profiles.end());
  for (const TrainingRun& run : calibration.runs)
    if (!work_.digest.empty() && run.work == work_.digest) runs_.push_back(run);
  learn_direct();
  learn_ways();
  std::vector<Learned> learned;
  for (const TrainingRun& run : runs_)
    if (run.analytic_seconds > 0 && run.seconds > 0) learned.push_back({&run, as_measured(run)});
  learn_factors(learned);
  learn_rest(learned);
}

bool WorkModel::same_work(const MeasuredProfile& profile) const {
  return !work_.digest.empty() && profile.work == work_.digest;
}

void WorkModel::learn_direct() {
  for (const TrainingRun& run : runs_) {
    if (run.epochs <= 0 || run.images <= 0 || run.seconds <= 0) continue;
    ran_on_.insert(run.machine);
    direct_[cluster_of(run.machine, run.exchange, run.workers, run.servers, run.batch)].push_back(
        {run.seconds / run.epochs / run.images, round_trip_of(run)});
  }
}

std::optional<WorkModel::Direct> WorkModel::direct(const TrainingFacts& facts, const MachineFacts& machine,
                                                   std::optional<double> round_trip_seconds) const {
  const auto found = direct_.find(
      cluster_of(machine.kind, exchange_name(facts.exchange), facts.workers, facts.servers, facts.batch));
  if (found == direct_.end() || facts.images <= 0) return std::nullopt;
  const double asked = asked_round_trip(machine, round_trip_seconds);
  std::vector<double> seconds;
  for (auto took = found->second.rbegin(); took != found->second.rend() && seconds.size() < kNewestRuns;
       ++took)
    if (facts.exchange == Exchange::Alone || same_distance(asked, took->round_trip_seconds))
      seconds.push_back(took->seconds_per_image);
  if (seconds.empty()) return std::nullopt;
  const double middle = middle_of(seconds);
  double squares = 0;
  for (double one : seconds) squares += std::pow(std::log(one / middle), 2);
  const double spread = seconds.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(seconds.size() - 1));
  const double least = kRunRatios[std::min(seconds.size(), std::size(kRunRatios)) - 1];
  return Direct{middle * facts.images, std::max(least, std::exp(kSpread * spread)), seconds.size()};
}

MeasuredRun WorkModel::as_measured(const TrainingRun& run) const {
  TrainingFacts facts;
  facts.exchange = exchange_of(run);
  facts.workers = run.workers;
  facts.servers = run.servers;
  facts.batch = run.batch;
  facts.images = 1;
  MachineFacts machine;
  machine.kind = run.machine;
  machine.bits_per_second = run.bits_per_second;
  machine.shared = run.bits_per_second <= 0;
  const auto round_trip = run.latency_ms > 0 ? std::optional(run.latency_ms / 1000) : std::nullopt;
  const Fabric fabric = fabric_of(facts, machine, round_trip);
  // Cores were not kept with the run, and its profile's parts are as good at any number of them.
  machine.cores = 1;
  const MeasuredProfile* best = nearest(machine, 0, run.batch);
  const bool same = best != nullptr && same_work(*best) && best->machine == run.machine;
  NodeProfile node = best == nullptr ? NodeProfile() : best->node;
  if (best != nullptr && !same_work(*best)) node = scaled_to(work_, *best);
  const auto plain = analytic_run(facts, node, fabric);
  const double kept = run.analytic_seconds;
  if (!plain) return {[kept](const ExchangeFactors& by) { return kept * by.compute; }, run.seconds, false};
  const double scale = kept / plain->train;
  return {[=](const ExchangeFactors& by) {
            return scale * analytic_run(facts, adjusted(node, by), adjusted(fabric, by))->train;
          },
          run.seconds, same && !machine.shared};  // nodes on one computer share it
}

void WorkModel::learn_factors(const std::vector<Learned>& runs) {
  std::array<std::vector<MeasuredRun>, kExchanges> by_exchange;
  for (const Learned& one : runs)
    by_exchange[static_cast<size_t>(exchange_of(*one.run))].push_back(one.measured);
  for (size_t i = 0; i < by_exchange.size(); ++i) factors_[i] = fit_factors(by_exchange[i]);
}

// What the factors leave.
void WorkModel::learn_rest(const std::vector<Learned>& runs) {
  std::vector<Sample> samples;
  for (const auto& [run, measured] : runs) {
    const Exchange exchange = exchange_of(*run);
    samples.push_back({question_of(run->workers, run->batch, run->latency_ms, exchange),
                       std::log(run->seconds / measured.predicted(factors(exchange))), 0});
  }
  correction_ = Correction::fit(samples);
  const auto count = static_cast<double>(samples.size());
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.log_ratio;
  if (correction_.empty() && !samples.empty()) few_ = sum / (count + 1);
  // The factors have seen the runs that they are judged by.
  const double seen = std::sqrt(count / std::max(count - 3, 1.0));
  for (size_t i = 0; i < samples.size(); ++i)
    residuals_.push_back(
        seen * std::fabs(correction_.empty() ? samples[i].log_ratio - few_ : correction_.residuals()[i]));
  std::sort(residuals_.begin(), residuals_.end());
}

DataRates WorkModel::data_rates(const std::string& kind) const {
  DataRates rates;
  std::string disk_at, source_at;
  for (const MeasuredProfile& one : profiles_) {
    if (one.machine == kind && one.rates.disk_write > 0 && one.taken_at >= disk_at) {
      rates.disk_write = one.rates.disk_write;
      rates.disk_read = one.rates.disk_read;
      disk_at = one.taken_at;
    }
    // How fast the dataset comes is the dataset's, which the family names.
    if (one.family == family_ && one.rates.source > 0 && one.taken_at >= source_at) {
      rates.source = one.rates.source;
      rates.dataset_bytes = one.rates.dataset_bytes;
      source_at = one.taken_at;
    }
  }
  return rates;
}

void WorkModel::learn_ways() {
  struct Newest {
    std::vector<double> round_trips, rates;
  };
  std::map<std::string, Newest> newest;
  std::vector<double> sent, received;
  auto take = [](std::vector<double>& into, double value) {
    if (value > 0 && into.size() < kNewestWays) into.push_back(value);
  };
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    Newest& its = newest[run->machine];
    take(its.round_trips, run->latency_ms / 1000);
    take(its.rates, run->measured_bits_per_second);
    if (!has_server(exchange_of(*run))) continue;
    take(sent, run->sent_bytes);
    take(received, run->received_bytes);
  }
  for (const auto& [kind, its] : newest) ways_[kind] = {middle_of(its.round_trips), middle_of(its.rates)};
  if (!sent.empty() && !received.empty()) counted_ = {middle_of(sent), middle_of(received)};
}

WorkModel::Way WorkModel::way_between(const std::string& kind) const {
  const auto found = ways_.find(kind);
  return found == ways_.end() ? Way() : found->second;
}

MachineFacts WorkModel::with_network(MachineFacts machine) const {
  if (machine.bits_per_second <= 0 && !machine.shared)
    machine.bits_per_second = way_between(machine.kind).bits_per_second;
  return machine;
}

std::optional<double> WorkModel::round_trip_between(const std::string& kind) const {
  const double measured = way_between(kind).round_trip_seconds;
  return measured > 0 ? std::optional(measured) : std::nullopt;
}

WorkModel::Learnt WorkModel::learnt(const TrainingFacts& facts, double round_trip_seconds,
                                    double confidence) const {
  if (correction_.empty() && residuals_.size() < kFewestResiduals) return {std::exp(few_), {}};
  const Question question =
      question_of(facts.workers, facts.batch, round_trip_seconds * 1000, facts.exchange);
  Learnt learnt{std::exp(correction_.empty() ? few_ : correction_.log_factor(question)), {}};
  if (residuals_.size() >= kFewestResiduals)
    learnt.ratio = std::exp(conformal_quantile(residuals_, confidence) * (1 + correction_.novelty(question)));
  return learnt;
}

double WorkModel::ratio(const Scaled& profile, double base, const Learnt& learnt) {
  if (!learnt.ratio) return base;
  return profile.source == Source::Measured ? *learnt.ratio : std::max(base, *learnt.ratio);
}

}  // namespace radl::foresight
