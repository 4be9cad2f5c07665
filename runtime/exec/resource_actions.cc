#include <algorithm>

#include "runtime/exec/actions.h"
#include "runtime/exec/retry.h"
#include "runtime/exec/settle.h"

namespace radl {

namespace {

constexpr std::chrono::milliseconds kDestroyDeadline = std::chrono::minutes(5);

Result<Provider*> provider_of(Session& session, const std::string& name) {
  if (Provider* provider = session.run.providers->find(name)) return provider;
  return Status(Code::Unsupported, "there is no provider '" + name + "' in this run");
}

void phase(Session& session, const ResourceRecord& record, const char* name) {
  if (record.kind != ResourceKind::Node) return;
  Event event;
  event.kind = EventKind::NodePhase;
  event.id = record.address;
  event.node = record.address;
  event.data = {{"phase", name}};
  session.events.emit(std::move(event));
}

ResourceRecord wanted_record(Session& session, const Action& action) {
  ResourceRecord record;
  record.address = action.id;
  record.kind = action.kind;
  record.provider = action.provider;
  record.spec = action.spec;
  record.price_per_hour = action.price_per_hour;
  // Its key and networks, present or about to be: what must outlive it.
  if (const ir::Node* node = session.node(action.id)) {
    record.system = node->system;
    record.ordinal = node->ordinal;
    record.number = node->number;
  }
  record.needs = action.uses;
  return record;
}

// After a failed create: is there something all the same? A whole thing is taken, a part is removed.
// nullopt: nothing is left of it.
Result<std::optional<Made>> look_for(Session& session, Provider& provider, const Intent& intent, Code error) {
  auto settled_at = session.in(is_refusal(error) ? std::chrono::milliseconds(0) : provider.settles_after());
  Result<std::optional<Made>> found = find_settled(session, provider, intent, settled_at);
  if (!found.ok() || !found->has_value() || (*found)->complete) return found;
  Context context = session.context(intent.address, session.in(kDestroyDeadline));
  if (Status gone = provider.destroy(context, intent.resource.kind, (*found)->id); !gone.ok()) return gone;
  return std::optional<Made>();
}

struct CreateResult {
  Status status;
  Made made;
  bool nothing_left = true;  // of a failure: nothing of it exists
};

CreateResult create(Session& session, Provider& provider, const Action& action, const Intent& intent) {
  CreateResult result;
  result.status = with_retries(session.options(), session.world(), retry_hooks(session, action.id), [&](int) {
    Context context = session.context(action.id, session.in(session.options().create_deadline));
    for (const std::string& need : intent.resource.needs) {
      if (std::optional<ResourceRecord> record = session.resource(need))
        context.made[need] = record->attributes;
    }
    Result<Made> made = provider.create(context, action.kind, action.id, action.spec, intent.token);
    if (made.ok()) {
      result.made = std::move(*made);
      return Status();
    }
    // The answer may have been lost, or a part been made: look before anything is asked for again.
    Result<std::optional<Made>> found = look_for(session, provider, intent, made.status().code());
    result.nothing_left = found.ok() && !found->has_value();
    if (found.ok() && found->has_value()) {
      result.made = std::move(**found);
      return Status();
    }
    if (!found.ok()) {
      Code code = found.status().code() == Code::Cancelled ? Code::Cancelled : Code::Internal;
      return Status(code, made.status().message() +
                              "; and what is left of it is not known: " + found.status().message());
    }
    return Status(made.status());
  });
  return result;
}

// From made to reachable. A machine that never answers is marked, and replaced by the next run.
Status wait_until_reachable(Session& session, ResourceRecord record) {
  const ir::Node* node = session.node(record.address);
  bool wanted = node && node->configured && session.run.program->contextualize && session.run.connect;
  if (record.kind != ResourceKind::Node || !wanted) return {};
  phase(session, record, "waiting");
  Result<Remote*> remote = session.connect(record.address, session.options().boot_deadline);
  if (!remote.ok() && remote.status().code() == Code::Cancelled) return remote.status();
  record.reachable = remote.ok();
  if (!remote.ok()) record.status = ResourceStatus::Tainted;
  if (Status put = session.store().put_resource(record); !put.ok()) return put;
  session.put(record);
  if (remote.ok()) phase(session, record, "reachable");
  return remote.ok() ? Status() : remote.status();
}

Status record_made(Session& session, const Intent& intent, Made made) {
  ResourceRecord record = intent.resource;
  record.id = std::move(made.id);
  record.attributes = std::move(made.attributes);
  record.created_at = session.world().clock.wall_seconds();
  if (Status recorded = session.store().finish(intent, &record); !recorded.ok()) {
    return std::move(recorded).at(intent.address +
                                  " was made, and the journal knows of it, but it could not be recorded");
  }
  (void)session.take_unresolved(intent.address);
  session.put(record);
  return wait_until_reachable(session, std::move(record));
}

}  // namespace

RetryHooks retry_hooks(Session& session, const std::string& id) {
  RetryHooks hooks;
  hooks.stop = [&session] { return session.stop_starting(); };
  hooks.on_retry = [&session, id](const Status& error, int attempt, std::chrono::milliseconds wait) {
    Event event;
    event.kind = EventKind::ActionRetry;
    event.id = id;
    event.message = error.message();
    event.data = {{"attempt", attempt},
                  {"wait_seconds", static_cast<double>(wait.count()) / 1000},
                  {"code", code_name(error.code())}};
    session.events.emit(std::move(event));
  };
  return hooks;
}

Status make_resource(Session& session, const Action& action) {
  Result<Provider*> provider = provider_of(session, action.provider);
  if (!provider.ok()) return provider.status();
  if (session.resource(action.id)) {
    if (Status gone = remove_resource(session, action.id, true); !gone.ok()) return gone;
  }
  // Of an earlier round of this run: what it asked for may be there.
  if (std::optional<Intent> left = session.take_unresolved(action.id)) {
    Result<std::optional<Made>> found = look_for(session, **provider, *left, Code::Lost);
    session.put_unresolved(*left);
    if (!found.ok()) return found.status();
    if (found->has_value()) return record_made(session, *left, std::move(**found));
    if (Status closed = session.store().finish(*left, nullptr); !closed.ok()) return closed;
  }
  Intent intent;
  intent.kind = Intent::Kind::Create;
  intent.address = action.id;
  intent.token = random_token(session.world().random);
  intent.resource = wanted_record(session, action);
  intent.resource.token = intent.token;
  phase(session, intent.resource, "creating");
  Result<Intent> begun = session.store().begin(std::move(intent));
  if (!begun.ok()) return begun.status();
  session.put_unresolved(*begun);
  CreateResult result = create(session, **provider, action, *begun);
  if (result.status.ok()) return record_made(session, *begun, std::move(result.made));
  // It stays open: whoever makes this address next, in this run or the next one, looks it up first.
  if (!result.nothing_left) return result.status;
  (void)session.take_unresolved(action.id);
  Status closed = session.store().finish(*begun, nullptr);
  return closed.ok() ? result.status : closed;
}

Status update_resource(Session& session, const Action& action) {
  Result<Provider*> provider = provider_of(session, action.provider);
  if (!provider.ok()) return provider.status();
  std::optional<ResourceRecord> before = session.resource(action.id);
  if (!before) return {Code::NotFound, action.id + " is not in the state"};
  Intent intent;
  intent.kind = Intent::Kind::Update;
  intent.address = action.id;
  intent.resource = *before;
  Result<Intent> begun = session.store().begin(std::move(intent));
  if (!begun.ok()) return begun.status();
  ResourceRecord record = *before;
  Status status = with_retries(session.options(), session.world(), retry_hooks(session, action.id), [&](int) {
    Context context = session.context(action.id, session.in(session.options().create_deadline));
    for (const std::string& need : action.uses) {
      if (std::optional<ResourceRecord> needed = session.resource(need))
        context.made[need] = needed->attributes;
    }
    Result<Made> made = (*provider)->update(context, action.kind, before->id, action.spec);
    if (!made.ok()) return Status(made.status());
    record.id = made->id;
    record.attributes = made->attributes;
    return Status();
  });
  if (status.ok()) {
    record.spec = action.spec;
    record.price_per_hour = action.price_per_hour;
    record.needs = action.uses;
  }
  Status closed = session.store().finish(*begun, status.ok() ? &record : nullptr);
  if (!closed.ok()) return closed;
  if (!status.ok()) return status;
  session.put(record);
  bool was_stopped = std::any_of(action.changes.begin(), action.changes.end(),
                                 [](const FieldChange& change) { return change.field == "state"; });
  if (!was_stopped) return {};
  session.drop_connection(action.id);
  return wait_until_reachable(session, std::move(record));
}

Status remove_resource(Session& session, const std::string& address, bool keep_steps) {
  std::optional<ResourceRecord> record = session.resource(address);
  if (!record) return {};
  Result<Provider*> provider = provider_of(session, record->provider);
  if (!provider.ok()) return provider.status();
  session.drop_connection(address);
  Intent intent;
  intent.kind = Intent::Kind::Destroy;
  intent.address = address;
  intent.resource = *record;
  phase(session, *record, "destroying");
  Result<Intent> begun = session.store().begin(std::move(intent));
  if (!begun.ok()) return begun.status();
  record->status = ResourceStatus::Deleting;
  session.put(*record);
  Status status = with_retries(session.options(), session.world(), retry_hooks(session, address), [&](int) {
    return (*provider)->destroy(session.context(address, session.in(kDestroyDeadline)), record->kind,
                                record->id);
  });
  if (!status.ok()) {
    // The record says that its removal was begun: the next plan goes on with it.
    Status closed = session.store().finish(*begun, nullptr);
    return closed.ok() ? status : closed;
  }
  if (Status done = session.store().finish_destroy(*begun, keep_steps); !done.ok()) return done;
  session.remove_resource(address, keep_steps);
  return {};
}

}  // namespace radl
