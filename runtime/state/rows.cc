#include "runtime/state/rows.h"

#include <type_traits>

#include "common/digest.h"

namespace radl {

namespace {

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string_view name_of(ResourceStatus status) { return resource_status_name(status); }
std::string_view name_of(StepStatus status) { return step_status_name(status); }

void from_name(const std::string& name, ResourceStatus& status) {
  status = name == "tainted"    ? ResourceStatus::Tainted
           : name == "deleting" ? ResourceStatus::Deleting
                                : ResourceStatus::Ready;
}

void from_name(const std::string& name, StepStatus& status) {
  status = name == "done"     ? StepStatus::Done
           : name == "failed" ? StepStatus::Failed
                              : StepStatus::Interrupted;
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

// ---- one description of each record: statements, reading, binding and the journal follow it ----

template <class Record, class Visit>
void resource_fields(Record& record, Visit& field) {
  field("address", record.address);
  field("type", record.type);
  field("cloud", record.cloud);
  field("id", record.id);
  field("token", record.token);
  field("status", record.status);
  field("spec", record.spec);
  field("attributes", record.attributes);
  field("system", record.system);
  field("ordinal", record.ordinal);
  field("number", record.number);
  field("reachable", record.reachable);
  field("price_micros", record.price_per_hour.micros);
  field("currency", record.price_per_hour.currency);
  field("needs", record.needs);
  field("created_at", record.created_at);
}

// What the table keeps of a step that is not in its record.
struct DerivedOfStep {
  std::string definition;  // its SHA-256: the text is in `definitions`
  bool wide = false;       // on several nodes
};

template <class Record, class Derived, class Visit>
void step_fields(Record& record, Derived& derived, Visit& field) {
  field("id", record.id);
  field("recipe", record.recipe);
  field("kind", record.kind);
  field("status", record.status);
  field("digest", record.digest);
  field("revision", record.revision);
  field("nodes", record.nodes);
  field("wide", derived.wide);
  field("made_on", record.made_on);
  field("definition", derived.definition);
  field("inputs", record.inputs);
  field("output", record.output);
  field("error", record.error);
  field("seconds", record.seconds);
  field("finished_at", record.finished_at);
}

struct ColumnNames {
  std::string names, marks;
  template <class T>
  void operator()(const char* name, const T&) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    marks += marks.empty() ? "?" : ",?";
  }
};

struct Binder {
  Statement& row;
  int position = 1;

  template <class T>
  void operator()(const char*, const T& value) {
    const int at = position++;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_same_v<T, double>) {
      row.bind(at, value);
    } else if constexpr (std::is_integral_v<T>) {
      row.bind(at, static_cast<long long>(value));
    } else if constexpr (std::is_enum_v<T>) {
      row.bind(at, name_of(value));
    } else {
      row.bind(at, dump(value));
    }
  }
};

struct ColumnReader {
  const Statement& row;
  int column = 0;
  Status status = {};  // the first that is damaged

  template <class T>
  void operator()(const char* name, T& value) {
    const int at = column++;
    if (!status.ok()) return;
    if constexpr (std::is_same_v<T, std::string>) {
      value = row.text(at);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = row.integer(at) != 0;
    } else if constexpr (std::is_same_v<T, double>) {
      value = row.real(at);
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(row.integer(at));
    } else if constexpr (std::is_enum_v<T>) {
      from_name(row.text(at), value);
    } else {
      status = read_json(row, at, name, value);
    }
  }
};

struct JsonWriter {
  Json json = Json::object();
  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      json[name] = name_of(value);
    } else {
      json[name] = value;
    }
  }
};

// Throws Json::exception.
struct JsonReader {
  const Json& json;
  template <class T>
  void operator()(const char* name, T& value) {
    if constexpr (std::is_enum_v<T>) {
      from_name(json.at(name).get<std::string>(), value);
    } else {
      value = json.at(name).get<T>();
    }
  }
};

ColumnNames resource_columns() {
  ResourceRecord record;
  ColumnNames columns;
  resource_fields(record, columns);
  return columns;
}

ColumnNames step_columns() {
  StepRecord record;
  DerivedOfStep derived;
  ColumnNames columns;
  step_fields(record, derived, columns);
  return columns;
}

Result<ResourceRecord> read_resource(const Statement& row) {
  ResourceRecord record;
  ColumnReader reader{row};
  resource_fields(record, reader);
  if (!reader.status.ok()) return reader.status;
  if (Status shaped = check_shape(record); !shaped.ok()) return shaped;
  return record;
}

using Definitions = std::map<std::string, std::shared_ptr<const Json>>;

Result<StepRecord> read_step(const Statement& row, const Definitions& definitions) {
  StepRecord record;
  DerivedOfStep derived;
  ColumnReader reader{row};
  step_fields(record, derived, reader);
  if (!reader.status.ok()) return reader.status;
  if (auto found = definitions.find(derived.definition); found != definitions.end())
    record.definition = found->second;
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
  return for_rows(db, "SELECT " + step_columns().names + " FROM steps ORDER BY id",
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

Status write_resource(Database& db, const ResourceRecord& record) {
  const ColumnNames columns = resource_columns();
  Result<Statement> row =
      db.prepare("INSERT OR REPLACE INTO resources (" + columns.names + ") VALUES (" + columns.marks + ")");
  if (!row.ok()) return row.status();
  Binder binder{*row};
  resource_fields(record, binder);
  return row->run();
}

Status write_step(Database& db, const StepRecord& record) {
  std::string definition = record.definition ? dump(*record.definition) : "null";
  std::string sha256 = sha256_hex(definition);
  Result<Statement> kept = db.prepare("INSERT OR IGNORE INTO definitions (sha256, definition) VALUES (?, ?)");
  if (!kept.ok()) return kept.status();
  if (Status put = kept->bind(1, sha256).bind(2, definition).run(); !put.ok()) return put;
  const ColumnNames columns = step_columns();
  Result<Statement> row =
      db.prepare("INSERT OR REPLACE INTO steps (" + columns.names + ") VALUES (" + columns.marks + ")");
  if (!row.ok()) return row.status();
  const DerivedOfStep derived{sha256, record.nodes.size() > 1};
  Binder binder{*row};
  step_fields(record, derived, binder);
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
  std::string resources = "SELECT " + resource_columns().names + " FROM resources ORDER BY address";
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
  JsonWriter writer;
  resource_fields(record, writer);
  return std::move(writer.json);
}

Result<ResourceRecord> resource_from_row_json(const std::string& text) {
  Result<Json> json = stored_json(text, "journal");
  if (!json.ok()) return json.status();
  ResourceRecord record;
  try {
    JsonReader reader{*json};
    resource_fields(record, reader);
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("state: journal: ") + error.what());
  }
  if (Status shaped = check_shape(record); !shaped.ok()) return shaped;
  return record;
}

}  // namespace radl
