// How long what a plan does will take and what it will cost, if it trains or runs a program: phases with
// their bands, beside the plan and made of it alone and of a frozen calibration. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/farm/rehearsal.h"
#include "runtime/foresight/forecast.h"
#include "runtime/foresight/program_model.h"
#include "runtime/plan/phase_bands.h"
#include "runtime/plan/plan.h"

namespace radl {

struct ForecastInput {
  const Plan& plan;
  const foresight::WorkModel& model;
  foresight::TrainingFacts facts;  // of the training; `name` is its step's id
  foresight::MachineFacts machine;
  double dataset_bytes = 0;                       // 0: not known
  bool dataset_remote = false;                    // it is fetched to this computer first
  std::set<std::string> staging;                  // ids of the program's steps that bring datasets to nodes
  const std::map<std::string, double>& measured;  // seconds by MeasureKeys::of()
  const PhaseBands& bands;
  std::string calibration;    // digest
  std::string project_words;  // for a command line in a hint
};

// To how many nodes an elastic farm may grow, and what all of them would cost an hour; nothing: the price is
// not known.
struct FarmGrowth {
  size_t nodes = 0;
  std::optional<Money> per_hour;
};

// Of a program of the user's own.
struct ProgramForecastInput {
  const Plan& plan;
  std::string id;  // of its step
  foresight::ProgramForecast program;
  foresight::MachineFacts machine;
  std::set<std::string> staging;
  const std::map<std::string, double>& measured;
  const PhaseBands& bands;
  std::string calibration;
  std::string profile;  // the command that measures it; empty: no run of it tells
  // Of an elastic farm: its nodes over the seconds of its run, and the node-seconds that are paid for.
  std::vector<farm::NodeCount> nodes = {};
  foresight::Banded paid = {};
  std::optional<FarmGrowth> growth = {};
};

struct PlanForecast {
  std::string training;  // the step's id, also of a program
  bool program = false;  // of the user's own: it has no epochs
  double at_least = 0;   // seconds: the program runs longer than that; 0: no bound is known
  std::vector<std::pair<std::string, foresight::Banded>> phases;  // in their order
  foresight::Banded epoch, total;
  std::optional<Money> cost, cost_low, cost_high;  // of the run; nullopt: a price or the time is not known
  // The cost if every node that has both prices were of one market; nullopt: not known, or there is one
  // market.
  std::optional<Money> cost_on_demand, cost_spot;
  std::vector<farm::NodeCount> nodes;  // of an elastic farm, over the seconds of its run
  foresight::Banded paid;              // node-seconds of these nodes, if its run is known
  std::optional<FarmGrowth> growth;    // of an elastic farm that may get more nodes than the plan creates
  std::string bound, change_most;      // of the step
  std::string outside;                 // why a probe would be worth it, and how; empty: it is not
  std::string unknown;                 // why the job's time is not known, and what to do
  std::string calibration;
  int64_t surplus_per_hour = 0;  // micros: charged beside the price while the job computes above CPU credits
};

PlanForecast forecast_plan(const ForecastInput& input);
PlanForecast forecast_program(const ProgramForecastInput& input);
// Adds the phase "wait" to each job that comes after other jobs of the plan: the longest chain of them, each
// with what is done around it. If the time of one of them is not known, neither is the total.
void add_waits(const Plan& plan, std::vector<PlanForecast>& forecasts);

Json to_json(const PlanForecast& forecast);
std::string forecast_text(const PlanForecast& forecast);
std::string forecast_markdown(const PlanForecast& forecast);
std::string forecast_html(const PlanForecast& forecast);

}  // namespace radl
