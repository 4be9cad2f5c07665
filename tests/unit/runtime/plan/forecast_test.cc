// What a plan says of time and money before anything is paid for.
#include "runtime/plan/forecast.h"

#include <gtest/gtest.h>

#include "runtime/plan/measured.h"
#include "runtime/plan/render.h"

namespace radl {
namespace {

constexpr const char* kFamily = "resnet20 on cifar10";

struct APlan : testing::Test {
  APlan() {
    foresight::MeasuredProfile profile;
    profile.family = kFamily;
    profile.work = facts.work.digest = "5d1c";
    profile.machine = "ec2 c5.xlarge";
    profile.cores = 4;
    profile.taken_at = "2026-11-22T10:00:00Z";
    profile.node.steps.points = {{32, 0.05}, {128, 0.2}};
    profile.node.parameter_bytes = 1.1e6;
    calibration.profiles = {profile};
    plan.infrastructure = "site";
    plan.actions = {action("worker[0]", Verb::Create, 45), action("worker[1]", Verb::Create, 45),
                    step("worker[0]/tools", "native", {}), step("training/cifar", "training", {})};
    plan.totals.price_per_hour.add(Money::of(0.384));
    facts.name = "training/cifar";
    facts.family = kFamily;
    facts.images = 50000;
    facts.epochs = 10;
    facts.workers = 2;
    facts.exchange = foresight::Exchange::Ring;
    machine = {"ec2 c5.xlarge", 4, 8e9, 1.25e9, 0, false};
  }
  static Action action(const std::string& id, Verb verb, std::optional<double> seconds) {
    Action made;
    made.id = id;
    made.verb = verb;
    made.seconds = seconds;
    made.nodes = {id};
    made.cloud = "ec2:/eu-west-1";
    made.type = "instance";
    return made;
  }
  static Action step(const std::string& id, const std::string& kind, std::optional<double> seconds) {
    Action made;
    made.id = id;
    made.verb = Verb::Run;
    made.is_step = true;
    made.step_kind = kind;
    made.nodes = {"worker[0]"};
    made.seconds = seconds;
    return made;
  }
  PlanForecast forecast() const {
    const foresight::WorkModel model(calibration, facts);
    return forecast_plan({plan, model, facts, machine, bytes, remote, staging, measured, bands,
                          digest_of(calibration), " site.radl"});
  }
  foresight::Banded phase(const std::string& name) const {
    for (const auto& [its, figure] : forecast().phases)
      if (its == name) return figure;
    ADD_FAILURE() << name;
    return {};
  }
  Plan plan;
  foresight::Calibration calibration;
  foresight::TrainingFacts facts;
  foresight::MachineFacts machine;
  std::map<std::string, double> measured;
  std::set<std::string> staging;
  PhaseBands bands;
  double bytes = 1.7e8;
  bool remote = false;
};

TEST_F(APlan, PhasesAddUpAndSayWhereTheyAreFrom) {
  const PlanForecast said = forecast();
  double sum = 0;
  for (const auto& [name, figure] : said.phases) sum += figure.value;
  EXPECT_NEAR(said.total.value, sum, 1e-9);
  EXPECT_LT(said.total.low, said.total.value);
  EXPECT_LT(said.total.value, said.total.high);
  EXPECT_EQ(phase("create").value, 45);
  EXPECT_EQ(phase("create").source, foresight::Source::Guessed);
  EXPECT_EQ(phase("train").source, foresight::Source::Measured);
  EXPECT_EQ(said.bound, "compute");
}

TEST_F(APlan, CreatingLastsAsLongAsWhatWaitsForSomethingElse) {
  plan.actions.push_back(action("network.lan", Verb::Create, 20));
  EXPECT_EQ(phase("create").value, 45) << "side by side";
  plan.actions[1].needs = {"network.lan"};
  EXPECT_EQ(phase("create").value, 65);
}

TEST_F(APlan, WhatRunsTookIsNoGuess) {
  measured[MeasureKeys(plan).of(plan.actions[0])] = 45;
  ASSERT_FALSE(measured.count(""));
  EXPECT_EQ(phase("create").source, foresight::Source::Measured);
}

TEST_F(APlan, ABandIsAPriorUntilRunsOfThatPhaseOnThatCloudHaveTestedIt) {
  const foresight::Banded prior = phase("create");
  EXPECT_EQ(prior.band_runs, 0u);
  for (int i = 0; i < 4; ++i) {
    bands.add("create", "gce", "guessed", 100, 1000);
    bands.add("create", "ec2", "measured", 100, 1000);
    bands.add("configure", "ec2", "guessed", 100, 1000);
    bands.add("create", "ec2", "guessed", 100, i % 2 ? 150 : 90);
    if (i < 3) {
      EXPECT_EQ(phase("create").high, prior.high) << "too few to say";
    }
  }
  const foresight::Banded learnt = phase("create");
  EXPECT_EQ(learnt.band_runs, 4u);
  EXPECT_EQ(learnt.value, prior.value);
  EXPECT_NEAR(learnt.high, 1.5 * learnt.value, 1e-9);
  EXPECT_NEAR(learnt.low, learnt.value / 1.5, 1e-9);
  EXPECT_EQ(forecast().total.band_runs, 0u) << "as its weakest part";
  const std::string text = forecast_text(forecast());
  EXPECT_NE(text.find("band from 4 runs"), std::string::npos) << text;
  EXPECT_NE(text.find("untested band"), std::string::npos) << text;
}

TEST_F(APlan, StepsThatBringADatasetAreStagingAndNotConfiguring) {
  const double configured = phase("configure").value, guessed = phase("stage").value;
  plan.actions.push_back(step("worker[0]/stage", "native", 3));
  staging = {"worker[0]/stage"};
  EXPECT_EQ(phase("configure").value, configured);
  EXPECT_EQ(phase("stage").value, guessed) << "nobody has measured it";
  plan.costs = {{"worker[0]", "ec2:/eu-west-1", "ec2 c5.xlarge", {}, {}, {}, 0}};
  measured[MeasureKeys(plan).of(plan.actions.back())] = 3;
  ASSERT_FALSE(measured.count(""));
  EXPECT_EQ(phase("stage").value, 3);
  EXPECT_EQ(phase("stage").source, foresight::Source::Measured);
  plan.actions.pop_back();  // done already
  EXPECT_EQ(phase("stage").value, 0);
}

TEST_F(APlan, StagingIsByTheRatesThatAProfileFound) {
  EXPECT_EQ(phase("stage").source, foresight::Source::Guessed);
  calibration.profiles[0].rates = {1e7, 1e8, 0, 0};
  EXPECT_NEAR(phase("stage").value, 17 + 1, 0.01) << "the disk is slower than the link";
  EXPECT_EQ(phase("stage").source, foresight::Source::Scaled);
  remote = true;
  EXPECT_NEAR(phase("stage").value, 17 + 1, 0.01) << "nobody knows how fast it comes here";
  foresight::MeasuredProfile here = calibration.profiles[0];
  here.machine = "local";
  here.rates = {2e8, 4e8, 1e6, 3.4e8};
  calibration.profiles.push_back(here);
  EXPECT_NEAR(phase("stage").value, 170 + 17 + 1, 0.01);
  bytes = 0;
  EXPECT_NEAR(phase("stage").value, 340 + 34 + 1, 0.01) << "its size is the one that the profile saw";
  machine = {"local", 4, 8e9, 0, 0, true};
  EXPECT_NEAR(phase("stage").value, 340 + 3.4e8 * (1 / 2e8 + 1 / 4e8) + 0.05, 0.01);
  EXPECT_EQ(phase("stage").source, foresight::Source::Measured);
}

TEST_F(APlan, TheOverheadOfATrainingIsMeasured) {
  EXPECT_EQ(phase("bring back").source, foresight::Source::Guessed);
  plan.costs = {{"worker[0]", "ec2:/eu-west-1", "ec2 c5.xlarge", {}, {}, {}, 0}};
  const std::string key = MeasureKeys(plan).of(*plan.find("training/cifar"));
  ASSERT_NE(key, "");
  measured[around_key(key)] = 4;
  EXPECT_EQ(phase("bring back").value, 4);
  EXPECT_EQ(phase("bring back").source, foresight::Source::Measured);
}

TEST_F(APlan, TheOverheadOfANewTrainingIsThatOfOthers) {
  plan.costs = {{"worker[0]", "ec2:/eu-west-1", "ec2 c5.xlarge", {}, {}, {}, 0}};
  const Action& training = *plan.find("training/cifar");
  measured[around_any_key(training, MeasureKeys(plan).of(training))] = 6;
  EXPECT_EQ(phase("bring back").value, 6);
  EXPECT_EQ(phase("bring back").source, foresight::Source::Scaled);
}

TEST_F(APlan, ADatasetThatComesWithTheTrainingIsNotCountedTwice) {
  EXPECT_GT(phase("stage").value, 0) << "nothing is measured yet";
  plan.costs = {{"worker[0]", "ec2:/eu-west-1", "ec2 c5.xlarge", {}, {}, {}, 0}};
  measured[around_key(MeasureKeys(plan).of(*plan.find("training/cifar")))] = 9;
  EXPECT_EQ(phase("stage").value, 0) << "the nine seconds around the training have it in them";
  plan.actions.push_back(step("worker[0]/stage", "native", 3));
  staging = {"worker[0]/stage"};
  EXPECT_GT(phase("stage").value, 0) << "it comes by a step of its own";
}

TEST_F(APlan, CostIsPriceByTimeAndUnknownWhereAPriceIs) {
  const PlanForecast said = forecast();
  ASSERT_TRUE(said.cost);
  EXPECT_NEAR(said.cost->units(), 0.384 * said.total.value / 3600, 0.384 / 3600) << "whole seconds are paid";
  Offer offer;
  offer.facts.priced = false;
  plan.costs = {{"worker[0]", "ec2:/eu-west-1", "ec2 new.large", {}, {}, {offer}, 0}};
  EXPECT_FALSE(forecast().cost);
}

TEST_F(APlan, CostIsGivenForBothMarketsWhereBothPricesAreKnown) {
  EXPECT_FALSE(forecast().cost_spot) << "there is no choice";
  Offer offer;
  offer.price_per_hour = Money::of(0.1, "USD");
  offer.facts.market = "spot";
  offer.facts.spot = offer.price_per_hour;
  offer.facts.on_demand = Money::of(0.4, "USD");
  plan.costs = {{"worker[0]", "ec2:/eu-west-1", "ec2 c5.xlarge", {}, offer.price_per_hour, {offer}, 0}};
  plan.totals.price_per_hour = MoneySum();
  plan.totals.price_per_hour.add(offer.price_per_hour);
  const PlanForecast said = forecast();
  ASSERT_TRUE(said.cost && said.cost_spot && said.cost_on_demand);
  EXPECT_EQ(said.cost_spot->micros, said.cost->micros);
  EXPECT_NEAR(said.cost_on_demand->units(), 4 * said.cost->units(), 1e-5);
}

TEST_F(APlan, UnknownStaysUnknownAndNamesTheCommand) {
  calibration = {};
  const PlanForecast said = forecast();
  EXPECT_FALSE(said.total.known());
  EXPECT_FALSE(said.cost);
  EXPECT_NE(said.unknown.find("radlc profile site.radl"), std::string::npos) << said.unknown;
  EXPECT_NE(forecast_text(said).find("total       unknown"), std::string::npos) << forecast_text(said);
}

struct AProgram : APlan {
  AProgram() { plan.actions.back() = step("program/p", "program", {}); }
  PlanForecast forecast() const {
    return forecast_program(
        {plan, "program/p", program, machine, staging, measured, bands, "5d1c", "radlc profile site.radl"});
  }
  foresight::ProgramForecast program;
};

TEST_F(AProgram, IsForecastLikeATraining) {
  program.run = foresight::banded(100, 1.3, foresight::Source::Measured, "runs");
  const PlanForecast said = forecast();
  EXPECT_GT(said.total.value, 100 + 45);
  ASSERT_TRUE(said.cost);
  const Json json = to_json(said);
  EXPECT_EQ(json["program"], "program/p");
  EXPECT_FALSE(json.contains("epoch"));
  EXPECT_EQ(json["phases"]["run"]["seconds"], 100);
  EXPECT_EQ(json["at_least_seconds"], Json());
  EXPECT_EQ(forecast_text(said).find("an epoch"), std::string::npos);
}

TEST_F(AProgram, WithoutATimeThereIsABoundOrTheCommandThatMeasuresIt) {
  program.unknown = "it has not run yet";
  EXPECT_NE(forecast().unknown.find("radlc profile site.radl"), std::string::npos);
  program.at_least = 30;
  const PlanForecast said = forecast();
  EXPECT_FALSE(said.total.known());
  EXPECT_FALSE(said.cost);
  EXPECT_EQ(to_json(said)["at_least_seconds"], 30);
  const std::string text = forecast_text(said);
  EXPECT_NE(text.find("run         longer than 30"), std::string::npos) << text;
  EXPECT_NE(text.find("total       longer than 30"), std::string::npos) << text;
}

TEST_F(AProgram, WaitsForTheProgramsBeforeIt) {
  program.run = foresight::banded(100, 1.3, foresight::Source::Measured, "runs");
  const double alone = forecast().total.value, around = forecast().phases.back().second.value;
  const auto named = [&](const std::string& id, double seconds) {
    PlanForecast made = forecast();
    made.training = id;
    for (auto& [name, phase] : made.phases)
      if (name == "run" && seconds > 0)
        phase = foresight::banded(seconds, 1.3, foresight::Source::Measured, "runs");
      else if (name == "run")
        phase = {};
    return made;
  };
  // first, and beside it aside -> a barrier -> p -> last
  plan.actions.push_back(step("program/first", "program", {}));
  plan.actions.push_back(step("program/aside", "program", {}));
  plan.actions.push_back(step("program/last", "program", {}));
  plan.barriers.push_back({"met", {"program/first", "program/aside"}, true});
  for (Action& action : plan.actions) {
    if (action.id == "program/p") action.needs = {"met"};
    if (action.id == "program/last") action.needs = {"program/p"};
  }
  std::vector<PlanForecast> all = {named("program/last", 10), named("program/p", 100),
                                   named("program/aside", 7), named("program/first", 40)};
  add_waits(plan, all);
  const auto wait_of = [](const PlanForecast& one) { return to_json(one)["phases"].value("wait", Json()); };
  EXPECT_EQ(wait_of(all[3]), Json()) << "nothing comes before it";
  EXPECT_NEAR(wait_of(all[1])["seconds"].get<double>(), 40 + around, 1e-6) << "the longer of two";
  EXPECT_NEAR(wait_of(all[0])["seconds"].get<double>(), 40 + 100 + 2 * around, 1e-6);
  EXPECT_NEAR(all[1].total.value, alone + 40 + around, 1e-6);
  ASSERT_TRUE(all[1].cost);
  EXPECT_GT(all[1].cost->micros, forecast().cost->micros) << "the machines wait too";

  all = {named("program/p", 100), named("program/aside", 0), named("program/first", 40)};
  add_waits(plan, all);
  EXPECT_FALSE(all[0].total.known());
  EXPECT_FALSE(all[0].cost);
  EXPECT_NE(all[0].unknown.find("program/aside"), std::string::npos) << all[0].unknown;
}

TEST_F(APlan, OtherJobsAreNoConfiguring) {
  const double before = phase("configure").value;
  plan.actions.push_back(step("program/p", "program", 500));
  EXPECT_EQ(phase("configure").value, before);
}

TEST_F(APlan, EveryViewHasIt) {
  const std::vector<PlanForecast> all = {forecast()};
  PlanTextOptions look;
  look.forecasts = all;
  const std::string text = render_text(plan, look);
  EXPECT_NE(text.find("Forecast of training/cifar:"), std::string::npos);
  EXPECT_EQ(render_text(plan).find("Forecast"), std::string::npos);
  // The sum stays the last line.
  EXPECT_GT(text.rfind("Plan: "), text.find("Forecast of"));
  for (const std::string& view : {render_markdown(plan, all), render_html(plan, all)}) {
    EXPECT_NE(view.find("Forecast of"), std::string::npos);
    EXPECT_NE(view.find("bring back"), std::string::npos);
  }
  const Json json = to_json(all[0]);
  EXPECT_EQ(json["calibration"], digest_of(calibration));
  EXPECT_EQ(json["phases"]["train"]["source"], "measured");
  EXPECT_EQ(forecast_text(all[0]), forecast_text(forecast()));
}

}  // namespace
}  // namespace radl
