// Webhooks: the service POSTs an event to an address of a user when one of the user's runs is queued, starts
// or ends (docs/service-webhooks.md). Format and signature follow Standard Webhooks
// (www.standardwebhooks.com).
//
//   FOLDER/webhooks.sealed        the hooks of all users, encrypted like credentials (vault.h)
//   FOLDER/deliveries/ID.json     a pending delivery; written before the run's own record
//
// A delivery is sent at least once and keeps its ID. A failed delivery is retried for a day with increasing
// intervals, also by the next service. Deliveries of one user are sent one after another, those of different
// users concurrently. None goes to a closed address
// (common/http/closed_address.h), except from the service's own user to loopback.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/guarded.h"
#include "common/stop.h"
#include "runtime/serve/caller.h"
#include "runtime/serve/hidden_paths.h"
#include "runtime/serve/users.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// An attempt to deliver, of this service.
struct WebhookAttempt {
  std::string delivery;  // "RUN-finished"
  double time = 0;
  int number = 1;     // of the delivery
  std::string error;  // "": it arrived
};

struct Webhook {
  std::string id, user, url;
  std::string secret;                    // "whsec_" and base64
  std::vector<std::string> events;       // "run.queued", "run.started", "run.finished"
  double created = 0;                    // wall-clock seconds, like all times here
  size_t pending = 0;                    // pending deliveries
  size_t given_up = 0;                   // failed deliveries
  double last = 0;                       // last attempt of this service; 0: none
  std::string last_error;                // of that attempt; "": delivered
  std::vector<WebhookAttempt> attempts;  // newest first
};
// Without its secret. `with_url`: with its URL and with errors, which may name it. The URLs of many receivers
// are secrets themselves.
Json to_json(const Webhook& hook, bool with_url);

class Webhooks {
 public:
  static constexpr size_t kMostOfUser = 20;     // webhooks
  static constexpr size_t kMostPending = 1000;  // deliveries of one user; a new one displaces the oldest

  // Continues the deliveries of an earlier service. `notes` lists unreadable deliveries. `users` must outlive
  // the result.
  static Result<std::unique_ptr<Webhooks>> open(Users& users, const std::string& folder,
                                                std::vector<std::string>& notes);
  ~Webhooks();

  // Creates a hook with a new secret. Empty `events`: all. Invalid: not a URL, or http to another computer.
  // Auth: a closed address. Quota.
  Result<Webhook> add(const std::string& user, const std::string& url,
                      const std::vector<std::string>& events);
  std::vector<Webhook> list(const Caller& caller) const;       // those visible to the caller
  Status remove(const Caller& caller, const std::string& id);  // NotFound

  // Queues an event for each hook of `user` that requests it. `subject`: the run's ID; equal events of a run
  // have equal IDs. Returns when the deliveries are on disk, or cannot be written.
  void tell(const std::string& user, const std::string& event, const std::string& subject, const Json& data);

 private:
  struct Delivery {
    std::string id, hook, user, body;
    int attempts = 0;
    double made = 0, next = 0;
  };
  Webhooks(Users& users, const std::string& folder);
  Status load(std::vector<std::string>& notes);
  Status save_locked() const;
  std::string path(const Delivery& delivery) const;
  Status keep(const Delivery& delivery) const;
  void forget(const Delivery& delivery) const;
  void add_locked(Delivery delivery);
  Webhook* find_locked(const std::string& id);
  void give_up_locked(const Delivery& delivery);
  void attempted_locked(Delivery delivery, const Status& sent);
  void work();
  Status send(const Webhook& hook, const Delivery& delivery) const;
  double now() const { return users_.own().host->world->clock.wall_seconds(); }

  Users& users_;
  const std::string folder_;
  const HiddenPaths paths_;
  StopSource stop_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Webhook> hooks_;
  std::vector<Delivery> deliveries_;        // except those being sent
  std::set<std::string> sending_;           // users with a delivery in progress
  std::map<std::string, uint64_t> served_;  // user -> number of its last turn
  uint64_t turns_ = 0;
  bool stopping_ = false;
  Threads threads_;
};

// Returns "v1,BASE64": HMAC-SHA256 of "ID.SECONDS.BODY". `secret`: like Webhook::secret. Corrupt: not base64.
Result<std::string> webhook_signature(const std::string& secret, const std::string& id,
                                      const std::string& seconds, const std::string& body);

}  // namespace radl::serve
