#include "runtime/state/rows.h"

#include "common/digest.h"

namespace radl {

namespace {

constexpr const char* kResourceColumns =
    "address, kind, provider, id, token, status, spec, attributes, system, ordinal, number, reachable, "
    "price_per_hour, currency, needs, created_at";
constexpr const char* kStepColumns =
    "id, recipe, kind, status, digest, nodes, made_on, definition, inputs, output, error, seconds, "
    "finished_at, wide, revision";

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

ResourceStatus resource_status_from(const std::string& name) {
  if (name == "tainted") return ResourceStatus::Tainted;
  if (name == "deleting") return ResourceStatus::Deleting;
  return ResourceStatus::Ready;
}

StepStatus step_status_from(const std::string& name) {
  if (name == "done") return StepStatus::Done;
  if (name == "failed") return StepStatus::Failed;
  return StepStatus::Interrupted;
}

// Reads a JSON column into a value that nlohmann can convert to.
template <class T>
Status read_json(const Statement& row, int column, const char* where, T& value) {
  Result<Json> json = stored_json(row.text(column), where);
  if (!json.ok()) return json.status();
  try {
    value = json->get<T>();
  } catch (const Json::exception& error) {
    return {Code::Corrupt, std::string("state: ") + where + ": " + error.what()};
  }
  return {};
}

// What everybody takes for granted of a record.
Status check_shape(const ResourceRecord& record) {
  if (record.spec.is_object() && record.attributes.is_object()) return {};
  return {Code::Corrupt, "state: the record of '" + record.address + "' is damaged"};
}

Result<ResourceRecord> read_resource(const Statement& row) {
  ResourceRecord record;
  record.address = row.text(0);
  Result<ResourceKind> kind = resource_kind_from(row.text(1));
  if (!kind.ok()) return kind.status();
  record.kind = *kind;
  record.provider = row.text(2);
  record.id = row.text(3);
  record.token = row.text(4);
  record.status = resource_status_from(row.text(5));
  if (Status read = read_json(row, 6, "spec", record.spec); !read.ok()) return read;
  if (Status read = read_json(row, 7, "attributes", record.attributes); !read.ok()) return read;
  if (Status shaped = check_shape(record); !shaped.ok()) return shaped;
  record.system = row.text(8);
  record.ordinal = static_cast<int>(row.integer(9));
  record.number = static_cast<int>(row.integer(10));
  record.reachable = row.integer(11) != 0;
  record.price_per_hour = row.real(12);
  record.currency = row.text(13);
  if (Status read = read_json(row, 14, "needs", record.needs); !read.ok()) return read;
  record.created_at = row.real(15);
  return record;
}

using Definitions = std::map<std::string, std::shared_ptr<const Json>>;

Result<StepRecord> read_step(const Statement& row, const Definitions& definitions) {
  StepRecord record;
  record.id = row.text(0);
  record.recipe = row.text(1);
  record.kind = row.text(2);
  record.status = step_status_from(row.text(3));
  record.digest = row.text(4);
  if (Status read = read_json(row, 5, "nodes", record.nodes); !read.ok()) return read;
  if (Status read = read_json(row, 6, "made_on", record.made_on); !read.ok()) return read;
  if (auto found = definitions.find(row.text(7)); found != definitions.end())
    record.definition = found->second;
  if (Status read = read_json(row, 8, "inputs", record.inputs); !read.ok()) return read;
  if (Status read = read_json(row, 9, "output", record.output); !read.ok()) return read;
  record.error = row.text(10);
  record.seconds = row.real(11);
  record.finished_at = row.real(12);
  record.revision = row.text(14);
  return record;
}

// Calls `each` for every row; it returns a Status.
template <class Each>
Status for_rows(Database& db, const std::string& sql, Each each) {
  Result<Statement> rows = db.prepare(sql);
  if (!rows.ok()) return rows.status();
  while (true) {
    Result<bool> row = rows->step();
    if (!row.ok()) return row.status();
    if (!*row) return {};
    if (Status read = each(*rows); !read.ok()) return read;
  }
}

Status read_meta_rows(Database& db, Snapshot& snapshot) {
  return for_rows(db, "SELECT key, value FROM meta", [&](const Statement& row) -> Status {
    std::string key = row.text(0), value = row.text(1);
    if (key == "name") snapshot.name = value;
    if (key == "lineage") snapshot.lineage = value;
    if (key == "salt") snapshot.salt = value;
    if (key == "serial") snapshot.serial = std::atoll(value.c_str());
    if (key == "source_digest") snapshot.source_digest = value;
    if (key == "source_paths") return read_json(row, 1, "source_paths", snapshot.source_paths);
    return {};
  });
}

Status read_outputs(Database& db, Snapshot& snapshot) {
  const char* sql = "SELECT name, value, description, sensitive FROM outputs ORDER BY position";
  return for_rows(db, sql, [&](const Statement& row) -> Status {
    OutputRecord output{row.text(0), nullptr, row.text(2), row.integer(3) != 0};
    if (Status read = read_json(row, 1, "output", output.value); !read.ok()) return read;
    snapshot.outputs.push_back(std::move(output));
    return {};
  });
}

Status read_steps(Database& db, Snapshot& snapshot) {
  Definitions definitions;
  Status read =
      for_rows(db, "SELECT sha256, definition FROM definitions", [&](const Statement& row) -> Status {
        Result<Json> json = stored_json(row.text(1), "definition");
        if (!json.ok()) return json.status();
        if (json->is_object()) definitions[row.text(0)] = std::make_shared<const Json>(std::move(*json));
        return {};
      });
  if (!read.ok()) return read;
  return for_rows(db, std::string("SELECT ") + kStepColumns + " FROM steps ORDER BY id",
                  [&](const Statement& row) {
                    Result<StepRecord> record = read_step(row, definitions);
                    if (!record.ok()) return record.status();
                    std::string id = record->id;
                    snapshot.steps.emplace(std::move(id), std::move(*record));
                    return Status();
                  });
}

}  // namespace

Result<Json> stored_json(const std::string& text, const char* where) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Status(Code::Corrupt, std::string("state: ") + where + " is damaged");
  return json;
}

Result<ResourceKind> resource_kind_from(const std::string& name) {
  for (ResourceKind kind : {ResourceKind::Key, ResourceKind::Network, ResourceKind::Node}) {
    if (name == resource_kind_name(kind)) return kind;
  }
  return Status(Code::Corrupt, "state: unknown kind of resource '" + name + "'");
}

Status write_resource(Database& db, const ResourceRecord& record) {
  std::string sql = std::string("INSERT OR REPLACE INTO resources (") + kResourceColumns +
                    ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
  Result<Statement> row = db.prepare(sql);
  if (!row.ok()) return row.status();
  row->bind(1, record.address).bind(2, resource_kind_name(record.kind)).bind(3, record.provider);
  row->bind(4, record.id).bind(5, record.token).bind(6, resource_status_name(record.status));
  row->bind(7, dump(record.spec)).bind(8, dump(record.attributes)).bind(9, record.system);
  row->bind(10, record.ordinal).bind(11, record.number).bind(12, record.reachable);
  row->bind(13, record.price_per_hour).bind(14, record.currency).bind(15, dump(record.needs));
  row->bind(16, record.created_at);
  return row->run();
}

Status write_step(Database& db, const StepRecord& record) {
  std::string definition = record.definition ? dump(*record.definition) : "null";
  std::string sha256 = sha256_hex(definition);
  Result<Statement> kept = db.prepare("INSERT OR IGNORE INTO definitions (sha256, definition) VALUES (?, ?)");
  if (!kept.ok()) return kept.status();
  if (Status put = kept->bind(1, sha256).bind(2, definition).run(); !put.ok()) return put;
  std::string sql = std::string("INSERT OR REPLACE INTO steps (") + kStepColumns +
                    ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
  Result<Statement> row = db.prepare(sql);
  if (!row.ok()) return row.status();
  row->bind(1, record.id)
      .bind(2, record.recipe)
      .bind(3, record.kind)
      .bind(4, step_status_name(record.status));
  row->bind(5, record.digest).bind(6, dump(record.nodes)).bind(7, dump(record.made_on));
  row->bind(8, sha256).bind(9, dump(record.inputs)).bind(10, dump(record.output));
  row->bind(11, record.error).bind(12, record.seconds).bind(13, record.finished_at);
  row->bind(14, record.nodes.size() > 1).bind(15, record.revision);
  return row->run();
}

Status write_meta(Database& db, const std::string& key, const std::string& value) {
  Result<Statement> row = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  if (!row.ok()) return row.status();
  return row->bind(1, key).bind(2, value).run();
}

Result<std::string> read_meta(Database& db, const std::string& key) {
  Result<Statement> row = db.prepare("SELECT value FROM meta WHERE key = ?");
  if (!row.ok()) return row.status();
  Result<bool> found = row->bind(1, key).step();
  if (!found.ok()) return found.status();
  return *found ? row->text(0) : std::string();
}

Result<Snapshot> read_snapshot(Database& db) {
  Snapshot snapshot;
  if (Status read = read_meta_rows(db, snapshot); !read.ok()) return read;
  std::string resources = std::string("SELECT ") + kResourceColumns + " FROM resources ORDER BY address";
  Status read = for_rows(db, resources, [&](const Statement& row) -> Status {
    Result<ResourceRecord> record = read_resource(row);
    if (!record.ok()) return record.status();
    std::string address = record->address;
    snapshot.resources.emplace(std::move(address), std::move(*record));
    return {};
  });
  if (!read.ok()) return read;
  if (read = read_steps(db, snapshot); !read.ok()) return read;
  if (read = read_outputs(db, snapshot); !read.ok()) return read;
  read = for_rows(db, "SELECT name, fingerprint FROM secrets", [&](const Statement& row) {
    snapshot.secrets[row.text(0)] = row.text(1);
    return Status();
  });
  if (!read.ok()) return read;
  Result<long long> open = db.integer("SELECT count(*) FROM journal WHERE closed_at IS NULL");
  if (!open.ok()) return open.status();
  snapshot.open_intents = static_cast<size_t>(*open);
  return snapshot;
}

Json resource_to_row_json(const ResourceRecord& record) {
  return {{"address", record.address},
          {"kind", resource_kind_name(record.kind)},
          {"provider", record.provider},
          {"id", record.id},
          {"token", record.token},
          {"status", resource_status_name(record.status)},
          {"spec", record.spec},
          {"attributes", record.attributes},
          {"system", record.system},
          {"ordinal", record.ordinal},
          {"number", record.number},
          {"reachable", record.reachable},
          {"price_per_hour", record.price_per_hour},
          {"currency", record.currency},
          {"needs", record.needs},
          {"created_at", record.created_at}};
}

Result<ResourceRecord> resource_from_row_json(const std::string& text) {
  Result<Json> json = stored_json(text, "journal");
  if (!json.ok()) return json.status();
  ResourceRecord record;
  try {
    Result<ResourceKind> kind = resource_kind_from(json->at("kind"));
    if (!kind.ok()) return kind.status();
    record.kind = *kind;
    record.address = json->at("address");
    record.provider = json->at("provider");
    record.id = json->at("id");
    record.token = json->at("token");
    record.status = resource_status_from(json->at("status"));
    record.spec = json->at("spec");
    record.attributes = json->at("attributes");
    record.system = json->at("system");
    record.ordinal = json->at("ordinal");
    record.number = json->at("number");
    record.reachable = json->at("reachable");
    record.price_per_hour = json->at("price_per_hour");
    record.currency = json->at("currency");
    record.needs = json->at("needs").get<std::vector<std::string>>();
    record.created_at = json->at("created_at");
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("state: journal: ") + error.what());
  }
  if (Status shaped = check_shape(record); !shaped.ok()) return shaped;
  return record;
}

}  // namespace radl
