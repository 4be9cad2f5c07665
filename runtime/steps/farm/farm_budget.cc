// What a farm's run may still take of what was approved, and the pause of one that would take more.

#include <fmt/format.h>

#include <algorithm>

#include "runtime/steps/farm/farm_run_state.h"

namespace radl::farm {
namespace {

constexpr std::chrono::seconds kBetweenForecasts{2};
constexpr int kForecastShare = 100;  // forecasts take at most the hundredth part of the time
// Seconds beyond the approved band: tasks also start and are brought. A mean of finished tasks says less.
constexpr double kSlack = 5, kMeasuredSlack = 60;

// Why a run that would take so much pauses; empty: it does not. `high`: null if nothing was approved.
std::string why_paused(double passed, double left, const Json& high, double slack, const char* of_nodes) {
  if (!high.is_number() || passed + left <= high.get<double>() + slack) return "";
  return fmt::format("it {} {}{}, and at most {} was approved", left > 0 ? "would take" : "has taken",
                     duration_text(passed + left), of_nodes, duration_text(high.get<double>()));
}

}  // namespace

Status FarmRun::paused_status() const {
  return invalid("is paused: " + json::text_of(farm_.table().paused(), "reason"))
      .with_hint(fmt::format("`radlc apply` shows the new forecast, and continues once you approve it; {}",
                             is_elastic() ? "until then it has no nodes, unless --keep was given"
                                          : "`radlc destroy` frees its nodes"));
}

Rehearsal FarmRun::rehearse_what_is_left() const {
  // A node that is not connected now comes back, or is replaced: it is no reason to pause.
  std::map<std::string, Resources> nodes;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (!removing_[i]) nodes[nodes_[i].address] = pool_.capacity(i);
  Comings comings;
  if (is_elastic()) comings.idle_seconds = settings_.elastic.idle_seconds;
  return forecast_rest(farm_, now(), trials_left(), settings_.trial_needs, comings, nodes);
}

void FarmRun::watch_cost() {
  const Table& table = farm_.table();
  const Json& most = json::member(json::member(table.approved(), "seconds"), "high");
  const Json& most_paid = json::member(json::member(table.approved(), "node_seconds"), "high");
  if (is_paused() || !most.is_number() || SteadyClock::now() < next_forecast_) return;
  // The plan knows nothing of farms that begin later on the same nodes.
  if (!scheduler_->is_cluster() && !board_.alone()) return;
  const SteadyClock::time_point begun = SteadyClock::now();
  const double passed = now() - json::number_of(table.approved(), "began", now());
  Rehearsal rest;
  if (table.done() >= kMeasuredTasks) rest = rehearse_what_is_left();
  if (!rest.known) rest = {};
  next_forecast_ = SteadyClock::now() + std::max<SteadyClock::duration>(
                                            kBetweenForecasts, kForecastShare * (SteadyClock::now() - begun));
  const double slack = lengths_are_given() ? kSlack : kMeasuredSlack;
  std::string why = why_paused(passed, rest.seconds, most, slack, "");
  if (why.empty())
    why = why_paused(table.approval().node_seconds(now()), rest.paid_seconds, most_paid,
                     slack * static_cast<double>(nodes_.size()), " of nodes");
  if (!why.empty() && record(pause_event(passed + rest.seconds, why, now())))
    tell("", "paused: " + why + "; running tasks end, and no others start", "failed");
}

}  // namespace radl::farm
