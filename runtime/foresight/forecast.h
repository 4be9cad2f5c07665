// How long a training takes on a cluster: the analytic step (step_model.h) with what earlier runs of the same
// work teach, each figure with its band and where it is from.
//
// In: what is trained, where, and a frozen calibration. Out: epoch and training time, the step's anatomy,
// what would change it most; or why nothing can be said. Pure.
//
// What was measured of the same work (facts.h) counts first. Where nothing was, the profile of other work
// that is most alike, the user's or one that comes with radlc (shipped_profiles.h), is scaled by the
// arithmetic, and the answer says that it is outside of what was measured.
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

// One way round is half of it. Nodes of one region are within this, nodes of one computer far below.
inline constexpr double kGuessedRoundTrip = 0.0005, kLoopbackRoundTrip = 0.00005, kLoopbackBits = 2e10;

// Whether two round trips in seconds, as runs measure them, are of one distance.
bool same_distance(double one, double other);

struct TrainingForecast {
  std::optional<StepAnatomy> step;  // with the factors; nullopt: no profile says
  ExchangeFactors factors;
  Banded epoch, train;          // seconds; train: all epochs with their evaluations
  double analytic_seconds = 0;  // of `train`, before the correction
  bool same_work = false;       // the analytic time is by a profile of this very work
  std::string profile;          // where the step's computing is from, for people
  std::string change_most;      // "twice the bandwidth: 31% less"
  std::string outside;          // WorkModel::outside()
  std::string unknown;          // why `train` is not known, and what to do
  bool memory = false;          // it is the batch that does not fit
};

struct AnalyticRun {
  StepAnatomy step;
  double epoch = 0, train = 0;  // seconds, with evaluations
};
// Before any correction; nullopt as step_anatomy().
std::optional<AnalyticRun> analytic_run(const TrainingFacts& facts, const NodeProfile& node,
                                        const Fabric& fabric);
// What connects such machines; what is not known is guessed where it can be.
Fabric fabric_of(const TrainingFacts& facts, const MachineFacts& machine,
                 std::optional<double> round_trip_seconds);

// The training's seconds when its machines run out of CPU credits on the way, of `seconds` at full speed.
double with_credits(double seconds, const TrainingFacts& facts, const NodeProfile& node, const Fabric& fabric,
                    const MachineFacts& machine);

// What profiles and runs say of one kind of work, fitted once for many questions.
class WorkModel {
 public:
  // Of `facts` the work and the family count. `shipped`: what to start from where nothing was measured.
  WorkModel(const Calibration& calibration, const TrainingFacts& facts);
  WorkModel(const Calibration& calibration, const TrainingFacts& facts, std::vector<MeasuredProfile> shipped);
  // `round_trip_seconds` nullopt: guessed.
  TrainingForecast forecast(const TrainingFacts& facts, const MachineFacts& machine,
                            std::optional<double> round_trip_seconds, double confidence = 0.8) const;
  // The profile that a machine's figures come from, scaled to it where it is another one, and to the work
  // where that is another; nullopt: none.
  struct Scaled {
    NodeProfile node;
    Source source = Source::Unknown;
    std::string from;
    double ratio = 1;     // of the band
    std::string outside;  // why it is outside of what was measured; empty: it is inside
  };
  std::optional<Scaled> profile_for(const MachineFacts& machine, double batch, int machines_on_it = 1) const;
  // What runs of this very cluster took: the same work, kind of machine, exchange, numbers, batch and
  // distance.
  struct Direct {
    double epoch_seconds = 0;
    double ratio = 1;  // of the band at 80%
    size_t runs = 0;
  };
  std::optional<Direct> direct(const TrainingFacts& facts, const MachineFacts& machine,
                               std::optional<double> round_trip_seconds) const;
  // Whether there is any run on such machines for direct() to find.
  bool ran_on(const std::string& kind) const { return ran_on_.contains(kind); }
  // What lies between such machines, as the newest runs found it; 0: no run says.
  struct Way {
    double round_trip_seconds = 0, bits_per_second = 0;
  };
  Way way_between(const std::string& kind) const;
  // Bytes that one worker sends and gets in a step with a server, as its links counted them; nullopt: no run
  // says.
  std::optional<std::pair<double, double>> counted_bytes() const { return counted_; }
  // The disk of the newest profile on such a machine, and the newest that says how fast the dataset comes.
  DataRates data_rates(const std::string& kind) const;
  // The machine with the network that was measured, where it has none of its own.
  MachineFacts with_network(MachineFacts machine) const;
  // Of a question that names none.
  std::optional<double> round_trip_between(const std::string& kind) const;

  // Why the question is outside what runs and profiles have seen, so that a probe would be worth it; empty:
  // it is inside.
  std::string outside(const TrainingFacts& facts, const MachineFacts& machine,
                      std::optional<double> round_trip_seconds) const;

  // What runs teach about the parts of a step with that exchange.
  const ExchangeFactors& factors(Exchange exchange) const { return factors_[static_cast<size_t>(exchange)]; }
  // And about a size beyond that: the factor of the analytic time, and the band's ratio where there are
  // enough of them.
  struct Learnt {
    double factor = 1;
    std::optional<double> ratio;
  };
  Learnt learnt(const TrainingFacts& facts, double round_trip_seconds, double confidence) const;
  // Of a band: `base` is the profile's own at that confidence.
  static double ratio(const Scaled& profile, double base, const Learnt& learnt);
  const std::vector<TrainingRun>& runs() const { return runs_; }

 private:
  // The analytic time of a run by factors, in proportion to what was kept with it.
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
  std::vector<MeasuredProfile> profiles_;  // of all work, those that come with radlc first
  std::vector<TrainingRun> runs_;          // of the work
  struct Took {
    double seconds_per_image = 0, round_trip_seconds = 0;
  };
  std::map<std::string, std::vector<Took>> direct_;  // by cluster, oldest first
  std::set<std::string> ran_on_;                     // kinds of machine
  std::map<std::string, Way> ways_;                  // by kind of machine
  std::optional<std::pair<double, double>> counted_;
  std::array<ExchangeFactors, kExchanges> factors_;
  Correction correction_;
  std::vector<double> residuals_;  // absolute, rising
  double few_ = 0;                 // the mean of few runs, drawn towards 0
};

// Two independent bands together.
double both_ratios(double a, double b);
// Standard normal quantile of a two-sided band: 1.28 for 0.8.
double band_width(double confidence);
// "1.5 h to 2 h" and so on are the views' work; this is the ratio of a band at another confidence.
double ratio_at(double ratio_at_80, double confidence);

}  // namespace radl::foresight
