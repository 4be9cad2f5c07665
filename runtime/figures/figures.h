// What a run was predicted to take and cost, and what it took. Kept for `radlc history` and for the
// predictions of the next plan.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/exec/events.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/phase_bands.h"
#include "runtime/plan/plan.h"

namespace radl {

// Seconds of wall time; nullopt: it did not occur, or is unknown.
struct PhaseSeconds {
  std::optional<double> create;     // until all that is made is there
  std::optional<double> configure;  // the sum of the steps of the node that takes longest
  std::optional<double> stage;      // the same of the steps that bring datasets
  std::optional<double> train;
  std::optional<double> around;  // of `train`: what is not the job itself
  std::optional<double> whole;
};

struct RunFigures {
  double time = 0;  // wall seconds, of its begin
  std::string infrastructure, lineage, directory;
  std::string command;  // "apply", "destroy"
  std::string cloud;    // type of the one that all of it is in; empty: of several
  bool ok = false;
  PhaseSeconds predicted, actual;
  std::map<std::string, std::string> sources;  // of what was predicted: phase of a forecast -> source_name()
  std::optional<MoneySum> predicted_cost;      // of the run; nullopt: its time was not known
  MoneySum cost;                               // price by time of each resource, while the run went on
  std::optional<MoneySum> life_cost;           // of a destroy: of all that there was, since it was made
  std::map<std::string, double> measured;      // measure_key() -> seconds, of what was done
  bool operator==(const RunFigures&) const;
};

// Hears when things are made, since from then on they cost something.
class RunClock : public EventSink {
 public:
  // `now`: the begin, and the end, of a run that ends before it says so.
  explicit RunClock(double now = 0) : begun_(now), ended_(now) {}
  void emit(const Event& event) override;
  // Wall seconds: of the run, and of the begin or end of an action; 0: it was not heard of.
  double begun() const { return begun_; }
  double ended() const { return ended_; }
  double begun(const std::string& id) const;
  double ended(const std::string& id) const;

 private:
  double begun_, ended_;
  std::map<std::string, double> begun_of_, ended_of_;
};

// `staging`: staging_steps() of the program.
RunFigures figures_of(const Plan& plan, const RunReport& report, const RunClock& clock,
                      const std::set<std::string>& staging);

// Adds what jobs took beside their own time (around_key()), by what the state holds of them after the run.
void measure_jobs(const Plan& plan, const RunReport& report, const Snapshot& after, RunFigures& figures);

// Price by time of every resource since it was made.
MoneySum cost_of_life(const Snapshot& snapshot, double now);

// One line of JSON, without newline; docs/costs.md has every key.
std::string to_line(const RunFigures& figures);
// Invalid: no such line.
Result<RunFigures> from_line(std::string_view line);

// Seconds by measure_key(): the median of the newest five of each. Runs in the order in which they were.
std::map<std::string, double> measured_by(const std::vector<RunFigures>& runs);

// How far the predictions of these runs were off, of those that came to their end.
PhaseBands bands_by(const std::vector<RunFigures>& runs);

}  // namespace radl
