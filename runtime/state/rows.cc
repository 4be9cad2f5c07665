#include "runtime/state/rows.h"

#include "runtime/state/apply_change.h"
#include "runtime/state/records.h"

namespace radl {

namespace {

constexpr const char* kScaled = "scaled";  // of `meta`

// What everybody takes for granted of a record.
Status check_shape(const ResourceRecord& record) {
  if (record.spec.is_object() && record.attributes.is_object()) return {};
  return {Code::Corrupt, "state: the record of '" + record.address + "' is damaged"};
}

Status read_meta_rows(Database& db, Snapshot& snapshot) {
  return for_rows<MetaRow>(db, "", "", [&](MetaRow row, const Statement&) -> Status {
    if (row.key == "name") snapshot.name = row.value;
    if (row.key == "lineage") snapshot.lineage = row.value;
    if (row.key == "salt") snapshot.salt = row.value;
    if (row.key == "serial") snapshot.serial = std::atoll(row.value.c_str());
    if (row.key == "source_digest") snapshot.source_digest = row.value;
    if (row.key != "source_paths") return {};
    Result<Json> paths = stored_json(row.value, "source_paths");
    if (!paths.ok()) return paths.status();
    try {
      snapshot.source_paths = paths->get<std::vector<std::string>>();
    } catch (const Json::exception& error) {
      return {Code::Corrupt, std::string("state: source_paths: ") + error.what()};
    }
    return {};
  });
}

Status read_resources(Database& db, Snapshot& snapshot) {
  return for_rows<ResourceRecord>(db, "", "ORDER BY address", [&](ResourceRecord record, const Statement&) {
    Status shaped = check_shape(record);
    std::string address = record.address;
    if (shaped.ok()) snapshot.resources.emplace(std::move(address), std::move(record));
    return shaped;
  });
}

Status read_steps(Database& db, Snapshot& snapshot) {
  std::map<std::string, std::shared_ptr<const Json>> definitions;
  Status read = for_rows<DefinitionRow>(db, "", "", [&](DefinitionRow row, const Statement&) -> Status {
    Result<Json> json = stored_json(row.definition, "definition");
    if (!json.ok()) return json.status();
    if (json->is_object()) definitions[row.sha256] = std::make_shared<const Json>(std::move(*json));
    return {};
  });
  if (!read.ok()) return read;
  return for_rows<StepRow>(db, "", "ORDER BY id", [&](StepRow row, const Statement&) {
    if (auto found = definitions.find(row.definition); found != definitions.end())
      row.record.definition = found->second;
    std::string id = row.record.id;
    snapshot.steps.emplace(std::move(id), std::move(row.record));
    return Status();
  });
}

Status read_names(Database& db, Snapshot& snapshot) {
  Status read = for_rows<OutputRecord>(db, "", "ORDER BY position", [&](OutputRecord row, const Statement&) {
    snapshot.outputs.push_back(std::move(row));
    return Status();
  });
  if (!read.ok()) return read;
  read = for_rows<SecretRow>(db, "", "", [&](SecretRow row, const Statement&) {
    snapshot.secrets[row.name] = row.fingerprint;
    return Status();
  });
  if (!read.ok()) return read;
  return for_rows<OwnerRow>(db, "", "", [&](OwnerRow row, const Statement&) {
    snapshot.owners[row.cloud] = row.owner;
    return Status();
  });
}

Result<Intent::Kind> intent_kind_from(const std::string& name) {
  for (auto kind : {Intent::Kind::Create, Intent::Kind::Update, Intent::Kind::Destroy, Intent::Kind::Run}) {
    if (name == intent_kind_name(kind)) return kind;
  }
  return Status(Code::Corrupt, "state: journal: unknown kind '" + name + "'");
}

Result<Intent> intent_of(const IntentRow& row) {
  Intent intent;
  Result<Intent::Kind> kind = intent_kind_from(row.kind);
  if (!kind.ok()) return kind.status();
  intent.kind = *kind;
  intent.address = row.address;
  intent.token = row.token;
  intent.opened_at = row.opened_at;
  if (intent.kind == Intent::Kind::Run) return intent;
  try {
    table::JsonReader reader{row.resource};
    Table<ResourceRecord>::fields(intent.resource, reader);
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("state: journal: ") + error.what());
  }
  if (Status shaped = check_shape(intent.resource); !shaped.ok()) return shaped;
  return intent;
}

}  // namespace

std::string_view intent_kind_name(Intent::Kind kind) {
  switch (kind) {
    case Intent::Kind::Create:
      return "create";
    case Intent::Kind::Update:
      return "update";
    case Intent::Kind::Destroy:
      return "destroy";
    case Intent::Kind::Run:
      return "run";
  }
  return "unknown";
}

Result<Json> stored_json(const std::string& text, const char* where) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Status(Code::Corrupt, std::string("state: ") + where + " is damaged");
  return json;
}

std::string stored_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace table {

std::string_view enum_name(ResourceStatus status) { return resource_status_name(status); }
std::string_view enum_name(StepStatus status) { return step_status_name(status); }

void enum_from(const std::string& name, ResourceStatus& status) {
  status = name == "tainted"    ? ResourceStatus::Tainted
           : name == "deleting" ? ResourceStatus::Deleting
                                : ResourceStatus::Ready;
}

void enum_from(const std::string& name, StepStatus& status) {
  status = name == "done"       ? StepStatus::Done
           : name == "failed"   ? StepStatus::Failed
           : name == "detached" ? StepStatus::Detached
                                : StepStatus::Interrupted;
}

}  // namespace table

Result<std::string> read_meta(Database& db, const std::string& key) {
  Result<Statement> row = db.prepare("SELECT value FROM meta WHERE key = ?");
  if (!row.ok()) return row.status();
  Result<bool> found = row->bind(1, key).step();
  if (!found.ok()) return found.status();
  return *found ? row->text(0) : std::string();
}

Result<Scalings> read_scalings(Database& db) {
  Result<std::string> text = read_meta(db, kScaled);
  if (!text.ok()) return text.status();
  Scalings scaled;
  if (text->empty()) return scaled;
  Result<Json> json = stored_json(*text, kScaled);
  if (!json.ok()) return json.status();
  try {
    for (const auto& [system, chosen] : json->items())
      scaled[system] = {chosen.at("of").get<int>(), chosen.at("nodes").get<std::vector<int>>()};
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("state: scaled: ") + error.what());
  }
  return scaled;
}

Status write_scalings(Database& db, const Scalings& scaled) {
  return write_meta(db, kScaled, scalings_json(scaled).dump());
}

Json scalings_json(const Scalings& scaled) {
  Json json = Json::object();
  for (const auto& [system, chosen] : scaled) json[system] = {{"of", chosen.of}, {"nodes", chosen.ordinals}};
  return json;
}

Result<Snapshot> read_snapshot(Database& db) {
  Snapshot snapshot;
  Result<Scalings> scaled = read_scalings(db);
  if (!scaled.ok()) return scaled.status();
  snapshot.scaled = std::move(*scaled);
  Result<std::vector<Released>> released = read_released(db);
  if (!released.ok()) return released.status();
  snapshot.released = std::move(*released);
  for (auto read : {&read_meta_rows, &read_resources, &read_steps, &read_names}) {
    if (Status done = read(db, snapshot); !done.ok()) return done;
  }
  Result<long long> open = db.integer("SELECT count(*) FROM journal WHERE closed_at IS NULL");
  if (!open.ok()) return open.status();
  snapshot.open_intents = static_cast<size_t>(*open);
  return snapshot;
}

Result<std::vector<Intent>> read_open_intents(Database& db) {
  std::vector<Intent> intents;
  constexpr int kId = 6;  // after the fields of a row
  Status read = for_rows<IntentRow>(db, "id", "WHERE closed_at IS NULL ORDER BY id",
                                    [&](IntentRow row, const Statement& at) -> Status {
                                      Result<Intent> intent = intent_of(row);
                                      if (!intent.ok()) return intent.status();
                                      intent->id = at.integer(kId);
                                      intents.push_back(std::move(*intent));
                                      return {};
                                    });
  if (!read.ok()) return read;
  return intents;
}

Result<std::vector<HistoryEntry>> read_history(Database& db, size_t newest) {
  std::vector<HistoryEntry> entries;
  const std::string rest = "ORDER BY id DESC LIMIT " + std::to_string(newest);
  Status read = for_rows<HistoryEntry>(db, "", rest.c_str(), [&](HistoryEntry entry, const Statement&) {
    entries.push_back(std::move(entry));
    return Status();
  });
  if (!read.ok()) return read;
  return entries;
}

}  // namespace radl
