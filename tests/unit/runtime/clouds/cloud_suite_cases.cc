// The cases of the conformance suite of clouds (cloud_suite.h), compiled once for all of them.
#include <thread>

#include "runtime/clouds/takes_over.h"
#include "tests/unit/runtime/clouds/cloud_suite.h"

namespace radl::test {

// ---- planning ----

inline Json as_json(const Design& design) {
  Json all = {{"notes", design.notes}};
  for (const Wanted& one : design.resources) {
    Json offers = Json::array();
    for (const Offer& offer : one.offers)
      offers.push_back(
          {offer.name, offer.zone, offer.price_per_hour.micros, offer.price_per_hour.currency, offer.spec});
    all["resources"].push_back({one.address, one.type, one.spec, one.references, one.summary, offers,
                                one.chosen, one.seconds, one.node});
  }
  return all;
}

TEST_P(CloudSuite, DesignIsTheSameWheneverItIsAskedFor) {
  Json first = as_json(design());
  EXPECT_EQ(as_json(design()), first);
  (void)design(subject().changed_program());
  make_all(user());
  EXPECT_EQ(as_json(design()), first) << "what exists must not change what is wanted";
}

TEST_P(CloudSuite, EveryReferenceIsDesignedBeforeItIsUsed) {
  Design all = design();
  std::set<std::string> known;
  for (const Wanted& wanted : all.resources) {
    for (const std::string& reference : wanted.references)
      EXPECT_TRUE(known.count(reference)) << wanted.address << " refers to " << reference;
    EXPECT_TRUE(known.insert(wanted.address).second) << wanted.address << " is designed more than once";
    EXPECT_FALSE(wanted.type.empty());
    EXPECT_FALSE(wanted.summary.empty()) << wanted.address;
    EXPECT_TRUE(wanted.offers.empty() ? wanted.chosen == 0 : wanted.chosen < wanted.offers.size());
  }
  for (const ir::Node& node : program().nodes) {
    auto machines = std::count_if(all.resources.begin(), all.resources.end(),
                                  [&](const Wanted& wanted) { return wanted.node == node.address; });
    EXPECT_EQ(machines, 1) << node.address;
  }
}

TEST_P(CloudSuite, AMachineThatCannotBeHadIsRefusedByItsFeature) {
  ir::Program impossible = subject().impossible_program();
  DesignInput input = user().input(impossible, Survey());
  Status refused = cloud().can_make(impossible.nodes.front(), input);
  EXPECT_EQ(refused.code(), Code::Invalid);
  EXPECT_NE(refused.message().find(subject().impossible_feature()), std::string::npos) << refused.message();
  for (const ir::Node& node : program().nodes)
    EXPECT_TRUE(cloud().can_make(node, user().input(program(), Survey())).ok());
}

TEST_P(CloudSuite, ASurveyCanBePlannedWith) {
  Result<Survey> survey = Status(Code::Retry, "not asked yet");
  for (int attempt = 0; attempt < 100 && !survey.ok(); ++attempt)
    survey = cloud().survey(user().context(), program());
  ASSERT_TRUE(survey.ok()) << survey.status().text();
  Result<Design> with = user().design(program(), *survey);
  ASSERT_TRUE(with.ok()) << with.status().text();
  EXPECT_EQ(with->resources.size(), design().resources.size());
}

// They stand in /etc/hosts, which radlc writes: no machine is replaced for one.
TEST_P(CloudSuite, HostNamesOfFurtherInterfacesChangeInPlace) {
  for (const Wanted& wanted : design().resources) {
    if (wanted.node.empty()) continue;
    Json after = wanted.spec;
    after["names"] = {"other.localdomain"};
    const Impact impact = cloud().impact(wanted.type, wanted.spec, after);
    EXPECT_EQ(impact.kind, Impact::Kind::InPlace) << wanted.address << ": " << impact.why;
  }
}

TEST_P(CloudSuite, WhatDoesNotDifferHasNoImpact) {
  for (const Wanted& wanted : design().resources) {
    Impact impact = cloud().impact(wanted.type, wanted.spec, wanted.spec);
    EXPECT_EQ(impact.kind, Impact::Kind::InPlace) << wanted.address << ": " << impact.why;
  }
}

// ---- making ----

TEST_P(CloudSuite, ACreatedResourceIsShownOnceAndAsRequested) {
  CloudUser& ours = user();
  make_all(ours);
  std::vector<Seen> seen = everything(ours);
  EXPECT_EQ(ids(seen), ids(ours));
  for (const Seen& one : seen) {
    SCOPED_TRACE(one.address);
    ASSERT_TRUE(ours.made.count(one.address));
    const Wanted& wanted = ours.wanted.at(one.address);
    EXPECT_EQ(one.type, wanted.type);
    EXPECT_EQ(one.phase, ResourcePhase::Ready) << one.detail;
    EXPECT_EQ(differing(wanted.spec, one.spec), std::vector<std::string>());
    if (wanted.node.empty()) continue;
    for (const char* attribute : {"host", "port", "user", "private_ip", "public_ip", "vm_id"})
      EXPECT_TRUE(one.attributes.contains(attribute)) << attribute;
    EXPECT_EQ(one.attributes.contains("host_key"), subject().tells_host_keys());
    EXPECT_EQ(one.attributes.value("state", ""), "running");
  }
}

TEST_P(CloudSuite, TheSameTokenGivesTheSameResource) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  Order order = ours.order(machine, machine.chosen, ours.token());
  Result<std::string> first = ours.create(machine, order);
  ASSERT_TRUE(first.ok()) << first.status().text();
  for (int again = 0; again < 3; ++again) {
    Asked asked = cloud().ask_create(ours.context(), order);
    if (asked.answer == Asked::Answer::Accepted && !asked.id.empty()) {
      EXPECT_EQ(asked.id, *first);
    }
  }
  ours.settle();
  Result<std::vector<Seen>> seen = ours.look({.tokens = {order.token}});
  ASSERT_TRUE(seen.ok()) << seen.status().text();
  EXPECT_EQ(ids(*seen), std::multiset<std::string>{*first});
}

TEST_P(CloudSuite, TheSameTokenAskedForAtTheSameTimeGivesOneResource) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  Order order = ours.order(machine, machine.chosen, ours.token());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { (void)cloud().ask_create(ours.context(), order); });
  for (std::thread& thread : threads) thread.join();
  ours.settle();
  std::vector<Seen> all = everything(ours);
  EXPECT_LE(std::count_if(all.begin(), all.end(), [&](const Seen& one) { return one.token == order.token; }),
            1);
  EXPECT_EQ(ids(all).size(), all.size());
  Result<std::string> one = ours.create(machine, order);
  ours.settle();
  if (one.ok()) {
    EXPECT_EQ(ours.look({.tokens = {order.token}})->size(), 1u);
  }
}

TEST_P(CloudSuite, WhenItHasSettledAnEmptyLookIsProof) {
  CloudUser& ours = user();
  Design all = design();
  std::map<std::string, bool> made;  // by token, as the answer said
  Wanted machine = machine_with_its_needs(ours, all);
  for (int i = 0; i < 6; ++i) {
    Order order = ours.order(machine, machine.chosen, ours.token());
    Asked asked = cloud().ask_create(ours.context(), order);
    ours.settle();
    Result<std::vector<Seen>> seen = ours.look({.tokens = {order.token}});
    ASSERT_TRUE(seen.ok()) << seen.status().text();
    if (asked.answer == Asked::Answer::Accepted) {
      EXPECT_EQ(seen->size(), 1u) << "accepted, and not there";
    }
    if (asked.answer == Asked::Answer::Refused) {
      EXPECT_EQ(seen->size(), 0u) << "refused, and there";
    }
    // What an empty look has proven stays so, however long one waits.
    ours.settle();
    Result<std::vector<Seen>> later = ours.look({.tokens = {order.token}});
    ASSERT_TRUE(later.ok()) << later.status().text();
    if (seen->empty()) {
      EXPECT_TRUE(later->empty()) << "it showed up after all";
    }
    if (!seen->empty()) {
      ASSERT_TRUE(ours.destroy(machine.address, machine.type, seen->front().id).ok());
    }
  }
}

TEST_P(CloudSuite, ManyResourcesAreAllSeenOnce) {
  CloudUser& ours = user();
  Result<Design> many = ours.design(subject().many_machines());
  ASSERT_TRUE(many.ok()) << many.status().text();
  Status made = ours.make_all(*many);
  ASSERT_TRUE(made.ok()) << made.text();
  EXPECT_EQ(ids(everything(ours)), ids(ours));
  Query by_id, by_token, both{.everything = true};
  for (const auto& [address, one] : ours.made) {
    by_id.ids.push_back(one.id);
    if (!one.token.empty()) by_token.tokens.push_back(one.token);
  }
  both.ids = by_id.ids;
  both.tokens = by_token.tokens;
  EXPECT_EQ(ids(*ours.look(by_id)), ids(ours));
  EXPECT_EQ(ours.look(by_token)->size(), by_token.tokens.size());
  EXPECT_EQ(ids(*ours.look(both)), ids(ours)) << "named in three ways, shown once";
}

TEST_P(CloudSuite, WhatDoesNotExistIsLeftOut) {
  CloudUser& ours = user();
  Result<std::vector<Seen>> seen =
      ours.look({.tokens = {ours.token()}, .ids = {"no-such-id"}, .everything = true});
  ASSERT_TRUE(seen.ok()) << seen.status().text();
  EXPECT_TRUE(seen->empty());
}

// ---- refusals and failures ----

TEST_P(CloudSuite, NoRoomIsQuotaAndLeavesNothing) {
  if (!subject().exhaust(false)) GTEST_SKIP() << "this cloud cannot be exhausted on purpose";
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  subject().exhaust(true);
  Order order = ours.order(machine, machine.chosen, ours.token());
  Asked asked;
  for (int attempt = 0; attempt < 100; ++attempt) {
    asked = cloud().ask_create(ours.context(), order);
    if (asked.answer == Asked::Answer::Refused && asked.status.code() == Code::Quota) break;
  }
  EXPECT_EQ(asked.status.code(), Code::Quota) << asked.status.text();
  ours.settle();
  EXPECT_TRUE(ours.look({.tokens = {order.token}})->empty());
  subject().exhaust(false);
  EXPECT_TRUE(ours.make(machine).ok()) << "the same machine when there is room again";
}

TEST_P(CloudSuite, WhatBreaksWhileItIsMadeIsShownAsBrokenAndCanBeDestroyed) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  if (!subject().breaks(true)) GTEST_SKIP() << "this cloud cannot be made to fail on purpose";
  Order order = ours.order(machine, machine.chosen, ours.token());
  Result<std::string> id = ours.create(machine, order);
  ASSERT_TRUE(id.ok()) << id.status().text();
  EXPECT_EQ(ours.await_ready(*id).status().code(), Code::Corrupt);
  subject().breaks(false);
  Status gone = ours.destroy(machine.address, machine.type, *id);
  EXPECT_TRUE(gone.ok()) << gone.text();
  EXPECT_TRUE(ours.make(machine).ok());
}

TEST_P(CloudSuite, APartlyCreatedResourceCanBeDestroyed) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  Order order = ours.order(machine, machine.chosen, ours.token());
  Result<std::string> id = ours.create(machine, order);
  ASSERT_TRUE(id.ok()) << id.status().text();
  Status gone = ours.destroy(machine.address, machine.type, *id);
  EXPECT_TRUE(gone.ok()) << gone.text();
  ours.settle();
  EXPECT_TRUE(ours.look({.tokens = {order.token}, .ids = {*id}})->empty());
}

TEST_P(CloudSuite, DestroyingAMissingResourceIsAccepted) {
  CloudUser& ours = user();
  make_all(ours);
  Design all = design();
  for (auto wanted = all.resources.rbegin(); wanted != all.resources.rend(); ++wanted) {
    const std::string& id = ours.made.at(wanted->address).id;
    for (int again = 0; again < 2; ++again) {
      Status gone = ours.destroy(wanted->address, wanted->type, id);
      EXPECT_TRUE(gone.ok()) << wanted->address << ": " << gone.text();
    }
  }
  EXPECT_TRUE(everything(ours).empty());
}

TEST_P(CloudSuite, ARefusedCreateThatWasCancelledLeavesNothing) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  Context stopped = ours.context();
  // Cancelled at once, and then ever later.
  for (int polls = 0; polls < 8; ++polls) {
    int asked_so_far = 0;
    stopped.stop = Stop::when([&] { return asked_so_far++ >= polls; });
    Order order = ours.order(machine, machine.chosen, ours.token());
    Asked asked = cloud().ask_create(stopped, order);
    ours.settle();
    Result<std::vector<Seen>> seen = ours.look({.tokens = {order.token}});
    ASSERT_TRUE(seen.ok()) << seen.status().text();
    if (asked.answer == Asked::Answer::Refused) {
      EXPECT_TRUE(seen->empty()) << polls;
    }
    if (asked.answer == Asked::Answer::Accepted) {
      EXPECT_EQ(seen->size(), 1u) << polls;
    }
    for (const Seen& one : *seen) ASSERT_TRUE(ours.destroy(one.address, one.type, one.id).ok());
  }
}

// ---- changing ----

TEST_P(CloudSuite, WhatChangesInPlaceKeepsItsIdAndShowsTheChange) {
  CloudUser& ours = user();
  make_all(ours);
  Design changed = design(subject().changed_program());
  for (Wanted wanted : changed.resources) {
    if (!ours.made.count(wanted.address)) continue;
    SCOPED_TRACE(wanted.address);
    const Json before = ours.wanted.at(wanted.address).spec;
    // The offer that was taken stays.
    for (const Offer& offer : wanted.offers) {
      for (const auto& [field, value] : offer.spec.items()) wanted.spec[field] = before.at(field);
    }
    if (before == wanted.spec) continue;
    if (cloud().impact(wanted.type, before, wanted.spec).kind == Impact::Kind::Replace) continue;
    std::string id = ours.made.at(wanted.address).id;
    Status updated = ours.update(wanted.address, wanted);
    ASSERT_TRUE(updated.ok()) << updated.text();
    EXPECT_EQ(ours.made.at(wanted.address).id, id);
    EXPECT_EQ(differing(wanted.spec, ours.made.at(wanted.address).spec), std::vector<std::string>());
  }
  EXPECT_EQ(everything(ours).size(), ours.made.size());
}

TEST_P(CloudSuite, AChangeMadeElsewhereIsSeenAndReverted) {
  CloudUser& ours = user();
  make_all(ours);
  std::set<std::string> types;
  for (const auto& [address, one] : std::map(ours.made)) {
    SCOPED_TRACE(address);
    Wanted wanted = ours.wanted.at(address);
    if (!types.insert(wanted.type).second || !subject().tamper(one)) continue;
    ours.settle();
    Result<std::vector<Seen>> seen = ours.look({.ids = {one.id}});
    ASSERT_TRUE(seen.ok() && seen->size() == 1) << seen.status().text();
    EXPECT_FALSE(differing(wanted.spec, seen->front().spec).empty()) << "the drift does not show";
    if (cloud().impact(wanted.type, seen->front().spec, wanted.spec).kind == Impact::Kind::Replace) continue;
    Status updated = ours.update(address, wanted);
    ASSERT_TRUE(updated.ok()) << updated.text();
    EXPECT_EQ(differing(wanted.spec, ours.made.at(address).spec), std::vector<std::string>());
  }
}

TEST_P(CloudSuite, AStoppedMachineIsSeenAndStarted) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  Result<Seen> made = ours.make(machine);
  ASSERT_TRUE(made.ok()) << made.status().text();
  if (!subject().stop(*made)) GTEST_SKIP() << "this cloud's machines cannot be stopped on purpose";
  ours.settle();
  Result<std::vector<Seen>> seen = ours.look({.ids = {made->id}});
  ASSERT_TRUE(seen.ok() && seen->size() == 1) << seen.status().text();
  EXPECT_EQ(seen->front().phase, ResourcePhase::Stopped);
  EXPECT_EQ(seen->front().attributes.value("state", ""), "stopped");
  Json before = machine.spec, after = machine.spec;
  before["state"] = "stopped";
  after["state"] = "running";
  if (cloud().impact(machine.type, before, after).kind == Impact::Kind::Replace) return;
  Status started = ours.update(machine.address, ours.wanted.at(machine.address));
  ASSERT_TRUE(started.ok()) << started.text();
  EXPECT_EQ(ours.made.at(machine.address).attributes.value("state", ""), "running");
  EXPECT_EQ(ours.made.at(machine.address).id, made->id);
}

TEST_P(CloudSuite, AMachineIsStoppedStartedAndRebooted) {
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  Result<Seen> made = ours.make(machine);
  ASSERT_TRUE(made.ok()) << made.status().text();
  const auto asked = [&](Power power) {
    Order order = ours.order(ours.wanted.at(machine.address), machine.chosen, "");
    order.id = made->id;
    return insist([&] { return cloud().ask_power(ours.context(), order, power).status; });
  };
  const auto shows = [&](ResourcePhase phase) {
    for (int look = 0; look < 1000; ++look) {
      Result<std::vector<Seen>> seen = ours.look({.ids = {made->id}});
      if (seen.ok() && seen->size() == 1 && seen->front().phase == phase) return true;
      clock().sleep(cloud().pace().first);
    }
    return false;
  };
  const Status stopped = asked(Power::Stop);
  if (stopped.code() == Code::Unsupported) GTEST_SKIP() << stopped.message();
  ASSERT_TRUE(stopped.ok()) << stopped.text();
  EXPECT_TRUE(shows(ResourcePhase::Stopped));
  EXPECT_TRUE(asked(Power::Stop).ok()) << "it is stopped already";
  Json before = machine.spec, after = machine.spec;
  before["state"] = "stopped";
  after["state"] = "running";
  if (cloud().impact(machine.type, before, after).kind == Impact::Kind::Replace) return;
  Status started = ours.update(machine.address, ours.wanted.at(machine.address));
  ASSERT_TRUE(started.ok()) << started.text();
  EXPECT_TRUE(shows(ResourcePhase::Ready));
  ASSERT_TRUE(asked(Power::Reboot).ok());
  EXPECT_TRUE(shows(ResourcePhase::Ready));
}

// ---- sweeping, and living side by side ----

TEST_P(CloudSuite, ASweepFindsUnrecordedResources) {
  CloudUser& ours = user();
  make_all(ours);
  ours.made.clear();
  Status swept = ours.sweep();
  EXPECT_TRUE(swept.ok()) << swept.text();
  EXPECT_TRUE(everything(ours).empty());
}

// A plan refuses such tags; what reaches the cloud all the same does not take the place of radlc's own.
TEST_P(CloudSuite, TagsOfTheFileNeverReplaceRadlcsOwn) {
  const std::vector<std::string> tags = subject().own_tags();
  if (tags.empty()) GTEST_SKIP() << "no such tags";
  CloudUser& ours = user();
  Wanted machine = machine_with_its_needs(ours, design());
  for (const std::string& tag : tags) machine.spec["tags"][tag] = "mine";
  Result<Seen> made = ours.make(machine);
  ASSERT_TRUE(made.ok()) << made.status().text();
  const std::vector<Seen> all = everything(ours);
  auto found = std::find_if(all.begin(), all.end(), [&](const Seen& one) { return one.id == made->id; });
  ASSERT_NE(found, all.end()) << "the infrastructure's tag is another one";
  EXPECT_EQ(found->address, machine.address);
  EXPECT_EQ(found->token, ours.made.at(machine.address).token);
}

// `radlc state rm`: it goes on existing, and no look for the infrastructure shows it.
TEST_P(CloudSuite, AReleasedResourceIsShownOnlyByItsId) {
  auto* marking = dynamic_cast<TakesOver*>(&cloud());
  if (!marking || !subject().can_release()) GTEST_SKIP() << "the cloud has no marks that can be released";
  CloudUser& ours = user();
  const Wanted machine = machine_with_its_needs(ours, design());
  Result<Seen> made = ours.make(machine);
  ASSERT_TRUE(made.ok()) << made.status().text();
  Order order;
  order.address = machine.address;
  order.type = machine.type;
  order.spec = machine.spec;
  order.id = made->id;
  order.token = made->token;
  Status released = insist([&] { return marking->release(ours.context(), order); });
  ASSERT_TRUE(released.ok()) << released.text();
  EXPECT_EQ(ids(everything(ours)).count(made->id), 0u);
  auto by_id = ours.look({.tokens = {}, .ids = {made->id}});
  ASSERT_TRUE(by_id.ok()) << by_id.status().text();
  ASSERT_EQ(by_id->size(), 1u) << "it goes on existing";
  EXPECT_EQ(by_id->front().token, "");
  Status taken = insist([&] { return marking->take_over(ours.context(), order); });
  ASSERT_TRUE(taken.ok()) << taken.text();
  EXPECT_EQ(ids(everything(ours)).count(made->id), 1u) << "`radlc import` takes it back";
}

TEST_P(CloudSuite, TwoInfrastructuresDoNotSeeEachOther) {
  CloudUser &one = user("demo-1"), &two = user("demo-2");
  make_all(one);
  Status made = two.make_all(design(subject().program_beside()));
  ASSERT_TRUE(made.ok()) << made.text();
  std::vector<Seen> first = everything(one), second = everything(two);
  EXPECT_EQ(first.size(), one.made.size());
  EXPECT_EQ(second.size(), two.made.size());
  for (const auto& [address, other] : two.made) {
    // A token of somebody else means nothing here.
    if (other.token.empty()) continue;
    EXPECT_TRUE(one.look({.tokens = {other.token}})->empty()) << address;
  }
  Status swept = one.sweep();
  EXPECT_TRUE(swept.ok()) << swept.text();
  EXPECT_TRUE(everything(one).empty());
  EXPECT_EQ(ids(everything(two)), ids(second)) << "the other infrastructure";
}

}  // namespace radl::test
