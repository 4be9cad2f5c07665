// Picks up after a run that was killed: each open intent is looked up and brought to an end.
#include "runtime/exec/actions.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/retry.h"

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
    Status asked = ask(intent, [&]() -> Status {
      Result<std::optional<Made>> answer =
          (*provider)->find(context(intent), intent.resource.kind, intent.token);
      if (!answer.ok()) return answer.status();
      found = std::move(*answer);
      return {};
    });
    if (!asked.ok()) return asked;
    if (!found) return close(intent, nullptr, "never made", recovery.closed);
    if (found->complete) {
      // It may have been whole and then have gone: the machine was restarted, or somebody took it away.
      Result<Made> now = (*provider)->read(context(intent), intent.resource.kind, found->id);
      if (now.ok()) return adopt(intent, std::move(*now));
      if (now.status().code() != Code::NotFound) return now.status();
    }
    Status gone =
        ask(intent, [&] { return (*provider)->destroy(context(intent), intent.resource.kind, found->id); });
    if (!gone.ok()) return gone;
    return close(intent, nullptr, "removed", recovery.removed);
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
