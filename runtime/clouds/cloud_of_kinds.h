// The part that clouds share whose resource types are described by one class each (`Kind`, in the cloud's own
// kind.h): requests find the kind of an order's type, and a look asks each kind in turn.
#pragma once

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/clouds/caller.h"
#include "runtime/clouds/impact.h"
#include "runtime/clouds/memory.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/clouds/timing.h"

namespace radl {

// `Asking` is what a kind's functions take: the context of a request, and how to call the cloud's API.
template <class Kind, class Asking>
class CloudOfKinds : public Cloud, public TakesOver {
 public:
  const CloudId& id() const override { return id_; }
  bool trusts_on_first_use() const override { return true; }
  bool resolves_names() const override { return false; }
  std::chrono::milliseconds settles_after() const override { return timing_.settles_after; }
  Pace pace() const override { return timing_.pace; }

  Result<Survey> survey(const Context& context, const ir::Program& program) override {
    auto call = asking(context);
    if (!call.ok()) return call.status();
    auto facts = facts_for(**call, program);
    if (!facts.ok()) return facts.status();
    Survey survey;
    survey.taken_at = static_cast<double>(std::time(nullptr));
    survey.facts = std::move(*facts);
    return survey;
  }

  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    if (before == after) return {Impact::Kind::InPlace, ""};
    const Kind* kind = kind_of(type);
    return kind ? kind->impact(before, after) : replace(title_ + " has no resources of that type");
  }

  Asked ask_create(const Context& context, const Order& order) override {
    memory().note_token(order.token, order.type);
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.create(call, order); });
  }
  Asked ask_update(const Context& context, const Order& order) override {
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.update(call, order); });
  }
  Asked ask_power(const Context& context, const Order& order, Power power) override {
    return ask(context, order,
               [&](const Kind& kind, Asking& call) { return kind.power(call, order, power); });
  }
  Asked ask_destroy(const Context& context, const Order& order) override {
    return ask(context, order, [&](const Kind& kind, Asking& call) { return kind.destroy(call, order); });
  }

 protected:
  // `title` names the cloud in messages: "Azure".
  CloudOfKinds(CloudId id, const char* title, const Timing& timing)
      : id_(std::move(id)), title_(title), timing_(timing) {}

  // Not ok: there are no credentials, or they do not tell the account.
  virtual Result<std::unique_ptr<Asking>> asking(const Context& context) = 0;
  virtual Result<Json> facts_for(Asking& call, const ir::Program& program) = 0;
  virtual CloudMemory& memory() = 0;
  // Records the names of what an order references.
  virtual void note_references(const Order& order) = 0;

  const Kind* kind_of(const std::string& type) const {
    for (const auto& kind : kinds_)
      if (type == kind->type()) return kind.get();
    return nullptr;
  }
  Status no_kind(const std::string& type) const {
    return invalid(fmt::format("{} has no resources of type '{}'", title_, type));
  }

  // Calls `how` for the order's kind. An error names the order's address.
  template <class How>
  Asked ask(const Context& context, const Order& order, How how) {
    auto call = asking(context);
    if (!call.ok()) return Asked::refused(call.status());
    const Kind* kind = kind_of(order.type);
    if (!kind) return Asked::refused(no_kind(order.type));
    note_references(order);
    Asked asked = how(*kind, **call);
    if (asked.status.ok() || asked.status.message().starts_with(order.address)) return asked;
    asked.status = std::move(asked.status).at(order.address);
    return asked;
  }

  // The part of a query that a kind may find. `may_have` tells whether an ID may be of its type.
  template <class Wish, class MayHave>
  Wish wish_for(const Kind& kind, const Query& query, MayHave may_have) {
    Wish wish{{}, {}, query.everything};
    for (const std::string& id : query.ids)
      if (may_have(id)) wish.ids.insert(id);
    for (const std::string& token : query.tokens)
      if (memory().type_of_token(token).value_or(kind.type()) == kind.type()) wish.tokens.insert(token);
    return wish;
  }

  static std::vector<Seen> values_of(std::map<std::string, Seen> found) {
    std::vector<Seen> all;
    for (auto& [id, seen] : found) all.push_back(std::move(seen));
    return all;
  }

  const CloudId id_;
  const std::string title_;
  const Timing timing_;
  // In the order of a look: kinds that name others come last.
  std::vector<std::unique_ptr<Kind>> kinds_;
};

}  // namespace radl
