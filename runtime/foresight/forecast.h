// Predicts the duration of a training on a cluster: the analytic step (step_model.h) corrected by earlier
// runs of the same work, each figure with its band and source.
//
// In: the training, the machines, and a frozen calibration. Out: epoch and training time, the breakdown of a
// step, the most effective change; or why no prediction is possible. Pure.
//
// Measurements of the same work (facts.h) have priority. Without any, the most similar profile of other work,
// the user's or one shipped with radlc (shipped_profiles.h), is scaled by the arithmetic, and the forecast
// says that it is outside of the measurements.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/foresight/calibration.h"
#include "runtime/foresight/correction.h"
#include "runtime/foresight/exchange_factors.h"
#include "runtime/foresight/facts.h"
#include "runtime/foresight/run_model.h"
#include "runtime/foresight/step_model.h"

namespace radl::foresight {

// Round trips. Nodes of one region are within the first; nodes of one computer far below it.
inline constexpr double kGuessedRoundTrip = 0.0005, kLoopbackRoundTrip = 0.00005, kLoopbackBits = 2e10;

// True if two measured round trips, in seconds, belong to the same distance.
bool same_distance(double one, double other);

struct TrainingForecast {
  std::optional<StepAnatomy> step;  // corrected; nullopt: no profile is available
  ExchangeFactors factors;
  Banded epoch, train;          // seconds; train: all epochs with their evaluations
  double analytic_seconds = 0;  // of `train`, uncorrected
  bool same_work = false;       // the analytic time uses a profile of exactly this work
  std::string profile;          // source of the step's computing time, for display
  std::string change_most;      // "twice the bandwidth: 31% less"
  std::string outside;          // WorkModel::outside()
  std::string unknown;          // why `train` is unknown, and what to do
  bool memory = false;          // because the batch does not fit
};

struct AnalyticRun {
  StepAnatomy step;
  double epoch = 0, train = 0;  // seconds, with evaluations
};
// Uncorrected; nullopt as for step_anatomy().
std::optional<AnalyticRun> analytic_run(const TrainingFacts& facts, const NodeProfile& node,
                                        const Fabric& fabric);
// The network between such machines; unknown values are guessed if possible.
Fabric fabric_of(const TrainingFacts& facts, const MachineFacts& machine,
                 std::optional<double> round_trip_seconds);

// The duration if the machines run out of CPU credits, for a training of `seconds` at full speed.
double with_credits(double seconds, const TrainingFacts& facts, const NodeProfile& node, const Fabric& fabric,
                    const MachineFacts& machine);

// Profiles and runs of one kind of work, fitted once for many questions.
class WorkModel {
 public:
  // Uses the work and family of `facts`. `shipped`: profiles to start from if nothing was measured.
  WorkModel(const Calibration& calibration, const TrainingFacts& facts);
  WorkModel(const Calibration& calibration, const TrainingFacts& facts, std::vector<MeasuredProfile> shipped);
  // `round_trip_seconds` nullopt: guessed.
  TrainingForecast forecast(const TrainingFacts& facts, const MachineFacts& machine,
                            std::optional<double> round_trip_seconds, double confidence = 0.8) const;
  // The profile used for a machine, scaled to the machine and to the work if they differ; nullopt:
  // none.
  struct Scaled {
    NodeProfile node;
    Source source = Source::Unknown;
    std::string from;
    double ratio = 1;     // of the band
    std::string outside;  // why it is outside of the measurements; empty: inside
  };
  std::optional<Scaled> profile_for(const MachineFacts& machine, double batch, int machines_on_it = 1) const;
  // Measured times of exactly this cluster: the same work, machine type, exchange, numbers, batch and
  // distance.
  struct Direct {
    double epoch_seconds = 0;
    double ratio = 1;  // of the 80% band
    size_t runs = 0;
  };
  std::optional<Direct> direct(const TrainingFacts& facts, const MachineFacts& machine,
                               std::optional<double> round_trip_seconds) const;
  // True if direct() may find a run on such machines.
  bool ran_on(const std::string& kind) const { return ran_on_.contains(kind); }
  // The network between such machines, from the newest runs; 0: unknown.
  struct Way {
    double round_trip_seconds = 0, bits_per_second = 0;
  };
  Way way_between(const std::string& kind) const;
  // Bytes that a worker sends and receives per step with a server, as counted by its links; nullopt:
  // unknown.
  std::optional<std::pair<double, double>> counted_bytes() const { return counted_; }
  // Disk rates of the newest profile on such a machine, and the newest known rate of the dataset's source.
  DataRates data_rates(const std::string& kind) const;
  // Adds the measured network to a machine without one.
  MachineFacts with_network(MachineFacts machine) const;
  // Default for a question without a round trip.
  std::optional<double> round_trip_between(const std::string& kind) const;

  // Why the question is outside of all runs and profiles, so that a probe would help; empty:
  // inside.
  std::string outside(const TrainingFacts& facts, const MachineFacts& machine,
                      std::optional<double> round_trip_seconds) const;

  // Learned factors for the parts of a step with that exchange.
  const ExchangeFactors& factors(Exchange exchange) const { return factors_[static_cast<size_t>(exchange)]; }
  // The size-dependent rest: a factor for the analytic time, and the band's ratio if there is enough
  // data.
  struct Learnt {
    double factor = 1;
    std::optional<double> ratio;
  };
  Learnt learnt(const TrainingFacts& facts, double round_trip_seconds, double confidence) const;
  // The ratio of a band; `base` is the profile's own at that confidence.
  static double ratio(const Scaled& profile, double base, const Learnt& learnt);
  const std::vector<TrainingRun>& runs() const { return runs_; }

 private:
  // The analytic time of a run as a function of the factors, scaled to the recorded value.
  MeasuredRun as_measured(const TrainingRun& run) const;
  struct Learned {
    const TrainingRun* run;
    MeasuredRun measured;
  };
  const MeasuredProfile* nearest(const MachineFacts& machine, double cores, double batch) const;
  bool same_work(const MeasuredProfile& profile) const;
  double asked_round_trip(const MachineFacts& machine, std::optional<double> round_trip_seconds) const;
  void predict(const Scaled& profile, const TrainingFacts& facts, const MachineFacts& machine,
               std::optional<double> round_trip_seconds, double confidence, TrainingForecast& forecast) const;
  void learn_direct();
  void learn_ways();
  void learn_factors(const std::vector<Learned>& runs);
  void learn_rest(const std::vector<Learned>& runs);

  Work work_;
  std::string family_;
  std::vector<MeasuredProfile> profiles_;  // of all work; shipped ones first
  std::vector<TrainingRun> runs_;          // of this work
  struct Took {
    double seconds_per_image = 0, round_trip_seconds = 0;
  };
  std::map<std::string, std::vector<Took>> direct_;  // by cluster, oldest first
  std::set<std::string> ran_on_;                     // machine types
  std::map<std::string, Way> ways_;                  // by machine type
  std::optional<std::pair<double, double>> counted_;
  std::array<ExchangeFactors, kExchanges> factors_;
  Correction correction_;
  std::vector<double> residuals_;  // absolute, ascending
  double few_ = 0;                 // mean of a few runs, regularized towards 0
};

// Combines two independent bands.
double both_ratios(double a, double b);
// Standard normal quantile of a two-sided band: 1.28 for 0.8.
double band_width(double confidence);
// Converts a band's ratio to another confidence.
double ratio_at(double ratio_at_80, double confidence);

}  // namespace radl::foresight
