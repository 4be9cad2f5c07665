// A patient user of one cloud, for one infrastructure: asks again where it may, looks until things are ready,
// and believes an empty look only when the cloud has settled. Keeps to the rules of runtime/clouds/cloud.h
// and to nothing else, so that what it can do, any caller can.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/world.h"
#include "runtime/clouds/cloud.h"

namespace radl::test {

class CloudUser {
 public:
  CloudUser(Cloud& cloud, Clock& clock, Context context)
      : cloud_(cloud), clock_(clock), context_(std::move(context)) {}

  std::map<std::string, Seen> made;  // by address, as they were when they became ready
  std::map<std::string, Wanted> wanted;

  const Context& context() const { return context_; }
  std::string token() { return random_token(real_world().random); }

  Result<Design> design(const ir::Program& program, const Survey& survey = {}) const {
    return cloud_.design(input(program, survey));
  }
  DesignInput input(const ir::Program& program, const Survey& survey) const {
    static const Catalog catalog = built_in_catalog();
    DesignInput input{program, {}, survey, catalog};
    for (const ir::Node& node : program.nodes) input.nodes.push_back(&node);
    return input;
  }

  Order order(const Wanted& resource, size_t offer, const std::string& token) const {
    Order order;
    order.address = resource.address;
    order.type = resource.type;
    order.spec = resource.spec;
    if (offer < resource.offers.size()) order.spec.update(resource.offers[offer].spec);
    order.token = token;
    for (const std::string& address : resource.references) {
      auto used = made.find(address);
      if (used != made.end())
        order.references[address] = {used->second.type, used->second.id, used->second.attributes};
    }
    return order;
  }

  Status make_all(const Design& design) {
    for (const Wanted& resource : design.resources) {
      if (made.count(resource.address)) continue;
      if (Result<Seen> seen = make(resource); !seen.ok()) return Status(seen.status()).at(resource.address);
    }
    return {};
  }

  // Asks until it is ready: the offers in turn, anew where it breaks.
  Result<Seen> make(const Wanted& resource) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Order now = order(resource, resource.chosen, token());
      Result<std::string> id = create(resource, now);
      if (!id.ok()) return id.status();
      Result<Seen> ready = await_ready(*id);
      if (ready.ok() && unfinished_.count(*id)) {
        Order rest = now;
        rest.id = *id;
        if (Status asked = change(rest); !asked.ok()) return asked;
        unfinished_.erase(*id);
        ready = await_ready(*id);
      }
      if (ready.ok()) {
        made[resource.address] = *ready;
        wanted[resource.address] = resource;
        wanted[resource.address].spec = now.spec;
        return ready;
      }
      if (ready.status().code() != Code::Corrupt && ready.status().code() != Code::NotFound) return ready;
      if (Status gone = destroy(resource.address, resource.type, *id); !gone.ok()) return gone;
    }
    return Status(Code::Timeout, "it broke again and again");
  }

  // Until the cloud has said yes; `order` is then as it was accepted.
  Result<std::string> create(const Wanted& resource, Order& order) {
    size_t offer = resource.chosen;
    auto wait = cloud_.pace().first;  // until there may be room again
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      order = this->order(resource, offer, order.token);
      Asked asked = cloud_.ask_create(context_, order);
      auto settled_at = clock_.now() + cloud_.settles_after();
      if (asked.again) unfinished_.insert(asked.id);
      if (asked.answer == Asked::Answer::Accepted && !asked.id.empty()) return asked.id;
      if (asked.answer == Asked::Answer::Refused) {
        if (asked.status.code() != Code::Retry && asked.status.code() != Code::Quota) return asked.status;
        if (asked.status.code() == Code::Quota && offer + 1 < resource.offers.size()) {
          ++offer;
        } else {
          offer = resource.chosen;
          clock_.sleep(wait);
          wait = std::min<std::chrono::milliseconds>(wait * 2, std::chrono::minutes(1));
        }
        continue;
      }
      Result<std::optional<Seen>> found = find(order.token, settled_at);
      if (!found.ok()) return found.status();
      if (*found) return (*found)->id;
    }
    return Status(Code::Timeout, "the cloud never said yes");
  }

  // By a token, until it shows or the cloud has settled: then nullopt is proof.
  Result<std::optional<Seen>> find(const std::string& token,
                                   std::chrono::steady_clock::time_point settled_at) {
    while (true) {
      auto asked_at = clock_.now();
      Result<std::vector<Seen>> seen = look({.tokens = {token}});
      if (!seen.ok()) return seen.status();
      if (!seen->empty()) return std::optional<Seen>(seen->front());
      if (asked_at >= settled_at) return std::optional<Seen>();
      clock_.sleep(cloud_.pace().first);
    }
  }

  // Corrupt: it is broken; NotFound: it is gone again.
  Result<Seen> await_ready(const std::string& id) {
    auto settled_at = clock_.now() + cloud_.settles_after();
    for (int attempt = 0; attempt < kAttempts * 10; ++attempt) {
      auto asked_at = clock_.now();
      Result<std::vector<Seen>> seen = look({.ids = {id}});
      if (!seen.ok()) return seen.status();
      if (seen->empty() && asked_at >= settled_at) return not_found(id + " is gone");
      if (!seen->empty()) {
        if (seen->front().phase == ResourcePhase::Ready) return seen->front();
        if (seen->front().phase == ResourcePhase::Broken) return Status(Code::Corrupt, seen->front().detail);
        if (seen->front().phase == ResourcePhase::Leaving) return not_found(id + " is being destroyed");
        if (seen->front().phase == ResourcePhase::Stopped && asked_at >= settled_at)
          return not_found(id + " was stopped");
      }
      clock_.sleep(cloud_.pace().first);
    }
    return Status(Code::Timeout, id + " never became ready");
  }

  // `resource.spec` is the whole of it: the offer that was taken stays.
  Status update(const std::string& address, const Wanted& resource) {
    Order change = order(resource, resource.offers.size(), "");
    change.id = made.at(address).id;
    if (Status asked = this->change(change); !asked.ok()) return asked;
    settle();
    Result<Seen> ready = await_ready(change.id);
    if (!ready.ok()) return ready.status();
    made[address] = *ready;
    wanted[address] = resource;
    wanted[address].spec = change.spec;
    return {};
  }

  // Until lists show it no more.
  Status destroy(const std::string& address, const std::string& type, const std::string& id) {
    Order order;
    order.address = address;
    order.type = type;
    order.id = id;
    Status asked = repeat([&] { return cloud_.ask_destroy(context_, order); });
    if (asked.code() == Code::NotFound) {  // believed when it would have shown
      settle();
      asked = repeat([&] { return cloud_.ask_destroy(context_, order); });
    }
    if (!asked.ok() && asked.code() != Code::NotFound) return asked;
    for (int attempt = 0; attempt < kAttempts * 10; ++attempt) {
      Result<std::vector<Seen>> seen = look({.ids = {id}});
      if (!seen.ok()) return seen.status();
      if (seen->empty()) return {};
      clock_.sleep(cloud_.pace().first);
    }
    return {Code::Timeout, id + " does not go"};
  }

  // All that carries the infrastructure's tag, whoever remembers it.
  Status sweep() {
    for (int round = 0; round < kAttempts; ++round) {
      settle();
      Result<std::vector<Seen>> seen = look({.everything = true});
      if (!seen.ok()) return seen.status();
      if (seen->empty()) return {};
      for (const Seen& one : *seen) {
        Order order;
        order.address = one.address;
        order.type = one.type;
        order.id = one.id;
        // What is still in use has its turn in a later round.
        Asked asked = cloud_.ask_destroy(context_, order);
        bool hopeless = asked.answer == Asked::Answer::Refused && asked.status.code() != Code::Retry &&
                        asked.status.code() != Code::NotFound;
        if (hopeless) return asked.status;
      }
      clock_.sleep(cloud_.pace().first);
    }
    return {Code::Timeout, "something does not go"};
  }

  Result<std::vector<Seen>> look(const Query& query) {
    for (int attempt = 0; attempt < kAttempts * 10; ++attempt) {
      Result<std::vector<Seen>> seen = cloud_.look(context_, query);
      bool again = seen.status().code() == Code::Retry || seen.status().code() == Code::Lost;
      if (!again) return seen;
      clock_.sleep(cloud_.pace().first);
    }
    return Status(Code::Timeout, "the cloud cannot be looked at");
  }

  void settle() { clock_.sleep(cloud_.settles_after()); }

 private:
  static constexpr int kAttempts = 200;

  // In as many requests as the cloud takes for it.
  Status change(const Order& order) {
    for (int part = 0; part < kAttempts; ++part) {
      bool again = false;
      Status asked = repeat([&] {
        Asked asked = cloud_.ask_update(context_, order);
        again = asked.again;
        return asked;
      });
      if (!asked.ok() || !again) return asked;
      clock_.sleep(cloud_.pace().first);
    }
    return {Code::Timeout, "a change that has no end"};
  }

  // update and destroy may be asked for again and again.
  template <class Ask>
  Status repeat(Ask ask) {
    auto wait = cloud_.pace().first;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Asked asked = ask();
      if (asked.answer == Asked::Answer::Accepted) return {};
      bool again = asked.answer == Asked::Answer::Unknown || asked.status.code() == Code::Retry ||
                   asked.status.code() == Code::Quota;
      if (!again) return asked.status;
      clock_.sleep(wait);
      wait = std::min<std::chrono::milliseconds>(wait * 2, std::chrono::minutes(1));
    }
    return {Code::Timeout, "the cloud never said yes"};
  }

  Cloud& cloud_;
  Clock& clock_;
  Context context_{.environment = environment_of_process()};
  std::set<std::string> unfinished_;  // ids: made, and another request is to follow
};

}  // namespace radl::test
