// Picks up after a run that was killed: each open intent is looked up and brought to an end.
#include <algorithm>

#include "runtime/exec/actions.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/retry.h"
#include "runtime/exec/settle.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kLookDeadline = std::chrono::minutes(5);

class Recoverer {
 public:
  explicit Recoverer(Session& session) : session_(session) {}

  Status bring_to_an_end(const Intent& intent) {
    switch (intent.kind) {
      case Intent::Kind::Create:
        return create(intent);
      case Intent::Kind::Update:
        return update(intent);
      case Intent::Kind::Destroy:
        return destroy(intent);
      // The step stands in the state as interrupted since it began; it runs again.
      case Intent::Kind::Run:
        return close(intent, nullptr, "interrupted", recovery.closed);
    }
    return internal_error("unknown kind of intent");
  }

  Recovery recovery;

 private:
  Context context(const Intent& intent) {
    return session_.context(intent.address, session_.in(kLookDeadline));
  }

  Result<Provider*> provider_of(const Intent& intent) {
    if (Provider* provider = session_.run.providers->find(intent.resource.provider)) return provider;
    return Status(Code::Unsupported, "there is no provider '" + intent.resource.provider + "' in this run");
  }

  // Calls until it answers.
  template <class Call>
  Status ask(const Intent& intent, Call call) {
    return with_retries(session_.options(), session_.world(), retry_hooks(session_, intent.address),
                        [&](int) { return call(); });
  }

  Status create(const Intent& intent) {
    Result<Provider*> provider = provider_of(intent);
    if (!provider.ok()) return provider.status();
    std::optional<Made> found;
    auto settled_at = settles_at(intent, **provider);
    Status asked = ask(intent, [&]() -> Status {
      Result<std::optional<Made>> answer = find_settled(session_, **provider, intent, settled_at);
      if (!answer.ok()) return answer.status();
      found = std::move(*answer);
      return {};
    });
    if (!asked.ok()) return asked;
    if (!found) return close(intent, nullptr, "never made", recovery.closed);
    if (found->complete) {
      // It may have been whole and then have gone: the machine was restarted, or somebody took it away.
      Result<Made> now = read_settled(intent, **provider, found->id, settled_at);
      if (now.ok()) return adopt(intent, std::move(*now));
      if (now.status().code() != Code::NotFound) return now.status();
    }
    Status gone =
        ask(intent, [&] { return (*provider)->destroy(context(intent), intent.resource.kind, found->id); });
    if (!gone.ok()) return gone;
    return close(intent, nullptr, "removed", recovery.removed);
  }

  // When the intent was asked for last is not known: by its end at the latest, that is before now, and before
  // the time by which all attempts of a run are over.
  std::chrono::steady_clock::time_point settles_at(const Intent& intent, const Provider& provider) {
    using Seconds = std::chrono::duration<double>;
    const ApplyOptions& options = session_.options();
    Seconds settle = provider.settles_after();
    Seconds attempts = (options.create_deadline + options.longest_wait + settle) * options.attempts;
    Seconds since(session_.world().clock.wall_seconds() - intent.opened_at - attempts.count());
    Seconds left = std::max(settle - std::max(since, Seconds(0)), Seconds(0));
    return session_.in(std::chrono::ceil<std::chrono::milliseconds>(left));
  }

  // What find() shows may not be known to read() yet.
  Result<Made> read_settled(const Intent& intent, Provider& provider, const std::string& id,
                            std::chrono::steady_clock::time_point settled_at) {
    while (true) {
      auto asked_at = session_.world().clock.now();
      Result<Made> now = provider.read(context(intent), intent.resource.kind, id);
      if (now.ok() || now.status().code() != Code::NotFound || asked_at >= settled_at) return now;
      if (!sleep_unless(session_.world().clock, std::chrono::seconds(1),
                        [&] { return session_.stop_starting(); }))
        return Status(Code::Cancelled, "stopped while looking for " + intent.address);
    }
  }

  Status adopt(const Intent& intent, Made made) {
    ResourceRecord record = intent.resource;
    record.id = made.id;
    record.attributes = std::move(made.attributes);
    record.created_at = intent.opened_at;
    if (Status closed = close(intent, &record, "adopted", recovery.adopted); !closed.ok()) return closed;
    session_.put(record);
    return {};
  }

  Status update(const Intent& intent) {
    Result<Provider*> provider = provider_of(intent);
    if (!provider.ok()) return provider.status();
    ResourceRecord record = intent.resource;
    // Recorded no more, or as another thing: what was to be changed is not ours to put back.
    std::optional<ResourceRecord> recorded = session_.resource(record.address);
    if (!recorded || recorded->id != record.id) return close(intent, nullptr, "forgotten", recovery.closed);
    Status read = ask(intent, [&]() -> Status {
      Result<Made> now = (*provider)->read(context(intent), record.kind, record.id);
      if (now.ok()) record.attributes = now->attributes;
      return now.ok() || now.status().code() == Code::NotFound ? Status() : now.status();
    });
    if (!read.ok()) return read;
    // Whether the change took place is not known; as the recorded spec is the old one, the plan asks for it
    // again.
    return close(intent, &record, "looked up", recovery.closed);
  }

  Status destroy(const Intent& intent) {
    Result<Provider*> provider = provider_of(intent);
    if (!provider.ok()) return provider.status();
    Status gone = ask(intent, [&] {
      return (*provider)->destroy(context(intent), intent.resource.kind, intent.resource.id);
    });
    if (!gone.ok()) {
      // It stays recorded as being removed: the plan goes on with it, and tells why it cannot be done.
      return close(intent, nullptr, "still there: " + gone.message(), recovery.closed);
    }
    // Its steps are known until they have run again or the resource is not wanted any more.
    if (Status done = session_.store().finish_destroy(intent, true); !done.ok()) return done;
    session_.remove_resource(intent.address, true);
    tell(intent, "destroyed");
    ++recovery.repeated;
    return {};
  }

  Status close(const Intent& intent, const ResourceRecord* record, const std::string& outcome,
               size_t& counter) {
    if (Status closed = session_.store().finish(intent, record); !closed.ok()) return closed;
    tell(intent, outcome);
    ++counter;
    return {};
  }

  void tell(const Intent& intent, const std::string& outcome) {
    Event event;
    event.kind = EventKind::Recovered;
    event.id = intent.address;
    event.verb = intent_kind_name(intent.kind);
    event.data = {{"outcome", outcome}};
    session_.events.emit(std::move(event));
  }

  Session& session_;
};

}  // namespace

Result<Recovery> recover(const Run& run) {
  Result<std::vector<Intent>> intents = run.store->open_intents();
  if (!intents.ok()) return intents.status();
  if (intents->empty()) return Recovery();
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Session session(run, std::move(*snapshot));
  Recoverer recoverer(session);
  for (const Intent& intent : *intents) {
    if (Status ended = recoverer.bring_to_an_end(intent); !ended.ok()) {
      return session.events.mask(
          std::move(ended).at("looking up what an interrupted run had begun: " + intent.address));
    }
  }
  return recoverer.recovery;
}

}  // namespace radl
