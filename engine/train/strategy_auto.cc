// Measures steps and exchanges, and takes the strategy that they call for (choose_sync.h): synchronous
// all-reduce at first and in each new view, then whatever the last exchanges justify.
//
// All members choose alike, because they choose from what an exchange told all of them, and count exchanges
// from the beginning of the view.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "engine/train/hints.h"
#include "engine/train/strategy_ring.h"

namespace radl::engine {
namespace {

constexpr int kFirst = 3;     // exchanges of a view before the first choice: connections start slowly
constexpr int kSmooth = 4;    // exchanges of which the quickest counts, so that a hiccup changes nothing
constexpr double kNew = 0.2;  // weight of a new step in the mean of steps

class Auto : public Strategy {
 public:
  Auto(const StrategyContext& c, std::shared_ptr<cluster::Party> party)
      : context_(c),
        party_(std::move(party)),
        active_(all_reduce_over(context_, party_)),
        hints_(c.progress, c.job.sync.gradients, false) {}

  Status begin(TrainingState& state) override {
    Status begun = active_->begin(state);
    reset();
    return begun;
  }
  Status rejoin(TrainingState& state) override {
    if (choice_.delayed()) {
      activate({});
      state = context_.learner.places().capture();
      active_->store(state);
    }
    Status joined = active_->rejoin(state);
    reset();
    return joined;
  }

  Result<Work> next() override {
    Result<Work> work = active_->next();
    if (work.ok() && work->batch) step_began_ = SteadyClock::now();
    return work;
  }
  Result<Update> finish(const Outcome* own) override {
    if (own != nullptr) {
      const double seconds = seconds_since(step_began_);
      step_seconds_ = step_seconds_ > 0 ? (1 - kNew) * step_seconds_ + kNew * seconds : seconds;
      active_->measure(step_seconds_);
    }
    return active_->finish(own);
  }
  void applied(const Update& update) override {
    active_->applied(update);
    if (!update.border) return;
    holds_mean_ = active_->holds_mean();
    choose();
  }
  bool holds_mean() const override { return holds_mean_; }

  bool broken() const override { return active_->broken(); }
  bool leads() const override { return party_->leads(); }
  bool hands_over() const override { return active_->hands_over(); }
  void share(const SharedDuties& duties) override { active_->share(duties); }
  SharedDuties shared() const override { return active_->shared(); }
  std::vector<cluster::PeerChange> take_changes() override { return active_->take_changes(); }
  void undo() override { active_->undo(); }
  void store(TrainingState& out) const override { active_->store(out); }
  std::span<const float> shared_weights() const override { return active_->shared_weights(); }
  void end(const Status& why) override { active_->end(why); }
  cluster::Traffic traffic() const override { return party_->traffic(); }
  double exchange_seconds() const override { return past_seconds_ + active_->exchange_seconds(); }

 private:
  // A new view begins with synchronous steps, of which a joiner knows everything.
  void reset() {
    exchanges_.clear();
    seen_ = 0;
    hints_.begin_view();
    active_->measure(step_seconds_);
  }

  void choose() {
    const LinkMeasure last = active_->measured();
    // The first exchange of a view or a choice carries no time of one before it.
    if (++seen_ <= 1 || last.exchange_seconds <= 0) return;
    exchanges_.push_back(last.exchange_seconds);
    if (exchanges_.size() > kSmooth) exchanges_.erase(exchanges_.begin());
    hints_.add(last, active_->step_seconds(), party_->view(), leads());
    if (seen_ < kFirst) return;
    LinkMeasure measure = last;
    measure.exchange_seconds = *std::min_element(exchanges_.begin(), exchanges_.end());
    const SyncChoice choice = choose_sync(choice_, measure);
    if (seen_ == kFirst || choice.rule != choice_.rule) tell(choice, measure);
    if (choice.rule != choice_.rule) activate(choice);
  }

  // At a border.
  void activate(const SyncChoice& choice) {
    if (choice.rule == choice_.rule) return;
    if (choice_.delayed()) active_->undo();  // this member's steps since the border are computed again
    if (choice_.delayed() && !choice.delayed()) forget_optimizer();
    past_seconds_ += active_->exchange_seconds();
    std::unique_ptr<RingStrategy> next = choice.delayed() ? local_steps_over(context_, choice.rule, party_)
                                                          : all_reduce_over(context_, party_);
    next->resume_from(*active_);
    next->measure(step_seconds_);
    active_ = std::move(next);
    choice_ = choice;
    exchanges_.clear();
  }

  // A delayed phase leaves each member with momenta of its own. With synchronous steps, they would drive the
  // members' weights apart, so all begin with the same: none.
  void forget_optimizer() {
    std::ranges::fill(context_.learner.optimizer->state(), 0.0f);
    context_.learner.optimizer->set_steps(0);
  }

  void tell(const SyncChoice& choice, const LinkMeasure& measure) {
    if (!leads()) return;
    context_.progress.emit("strategy", {{"choice", choice.delayed() ? "outer_step" : "synchronous"},
                                        {"local_steps", choice.rule.steps},
                                        {"delay", choice.rule.delay},
                                        {"efficiency", predicted_efficiency(choice, measure)},
                                        {"step_seconds", measure.step_seconds},
                                        {"exchange_seconds", measure.exchange_seconds},
                                        {"round_trip_seconds", measure.round_trip_seconds},
                                        {"message", choice_text(choice, measure)}});
  }

  const StrategyContext context_;
  std::shared_ptr<cluster::Party> party_;
  std::unique_ptr<RingStrategy> active_;
  ViewHints hints_;
  SyncChoice choice_;
  bool holds_mean_ = false;        // at the last border
  int seen_ = 0;                   // exchanges of this view
  std::vector<double> exchanges_;  // what the last of them took, under this choice
  SteadyClock::time_point step_began_;
  double step_seconds_ = 0, past_seconds_ = 0;
};

}  // namespace

StrategyResult make_auto(const StrategyContext& context) {
  Result<std::unique_ptr<cluster::Party>> party = join_party(context);
  if (!party) return std::move(party).status();
  return StrategyResult(auto_over(context, std::move(*party)));
}

std::unique_ptr<Strategy> auto_over(const StrategyContext& context, std::shared_ptr<cluster::Party> party) {
  return std::make_unique<Auto>(context, std::move(party));
}

}  // namespace radl::engine
