// The records of a state: one description per kind (table.h). Internal to runtime/state.
#pragma once

#include "runtime/state/change.h"
#include "runtime/state/store.h"
#include "runtime/state/table.h"

namespace radl {

template <>
struct Table<ResourceRecord> {
  static constexpr const char* kName = "resources";
  template <class Record, class Visit>
  static void fields(Record& record, Visit& field) {
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
    field("protected_by", record.protected_by);
  }
};

struct StepRow {
  StepRecord record;
  std::string definition;  // its SHA-256; the text is in `definitions`
  bool wide = false;       // on several nodes
};

template <>
struct Table<StepRow> {
  static constexpr const char* kName = "steps";
  template <class Row, class Visit>
  static void fields(Row& row, Visit& field) {
    auto& record = row.record;
    field("id", record.id);
    field("recipe", record.recipe);
    field("kind", record.kind);
    field("status", record.status);
    field("digest", record.digest);
    field("revision", record.revision);
    field("nodes", record.nodes);
    field("wide", row.wide);
    field("made_on", record.made_on);
    field("definition", row.definition);
    field("inputs", record.inputs);
    field("output", record.output);
    field("jobs", record.jobs);
    field("error", record.error);
    field("seconds", record.seconds);
    field("finished_at", record.finished_at);
  }
};

template <>
struct Table<OutputRecord> {
  static constexpr const char* kName = "outputs";
  template <class Record, class Visit>
  static void fields(Record& record, Visit& field) {
    field("name", record.name);
    field("value", record.value);
    field("description", record.description);
    field("sensitive", record.sensitive);
  }
};

// As in the journal; the row also has the columns id, `closed_at` and `outcome`.
struct IntentRow {
  std::string kind, address, token;
  Json resource = Json::object();  // as resource_fields; {} for Run
  double opened_at = 0;
  std::string opened_by;  // the lock's ID
};

template <>
struct Table<IntentRow> {
  static constexpr const char* kName = "journal";
  template <class Row, class Visit>
  static void fields(Row& row, Visit& field) {
    field("kind", row.kind);
    field("address", row.address);
    field("token", row.token);
    field("resource", row.resource);
    field("opened_at", row.opened_at);
    field("opened_by", row.opened_by);
  }
};

template <>
struct Table<HistoryEntry> {
  static constexpr const char* kName = "history";
  template <class Record, class Visit>
  static void fields(Record& record, Visit& field) {
    field("serial", record.serial);
    field("time", record.time);
    field("command", record.command);
    field("summary", record.summary);
    field("source_digest", record.source_digest);
    field("principal", record.principal);
  }
};

template <>
struct Table<LockInfo> {
  static constexpr const char* kName = "lock";
  template <class Record, class Visit>
  static void fields(Record& record, Visit& field) {
    field("id", record.id);
    field("owner", record.owner);
    field("host", record.host);
    field("pid", record.pid);
    field("pid_start", record.pid_start);
    field("boot_id", record.boot_id);
    field("command", record.command);
    field("since", record.since);
    field("principal", record.principal);
  }
};

// A name and a text: rows of `meta`, `secrets`, `owners` and `definitions`.
struct MetaRow {
  std::string key, value;
};
struct SecretRow {
  std::string name, fingerprint;
};
struct OwnerRow {
  std::string cloud, owner;
};
struct DefinitionRow {
  std::string sha256, definition;
};

template <>
struct Table<MetaRow> {
  static constexpr const char* kName = "meta";
  template <class Row, class Visit>
  static void fields(Row& row, Visit& field) {
    field("key", row.key);
    field("value", row.value);
  }
};

template <>
struct Table<SecretRow> {
  static constexpr const char* kName = "secrets";
  template <class Row, class Visit>
  static void fields(Row& row, Visit& field) {
    field("name", row.name);
    field("fingerprint", row.fingerprint);
  }
};

template <>
struct Table<OwnerRow> {
  static constexpr const char* kName = "owners";
  template <class Row, class Visit>
  static void fields(Row& row, Visit& field) {
    field("cloud", row.cloud);
    field("owner", row.owner);
  }
};

template <>
struct Table<DefinitionRow> {
  static constexpr const char* kName = "definitions";
  template <class Row, class Visit>
  static void fields(Row& row, Visit& field) {
    field("sha256", row.sha256);
    field("definition", row.definition);
  }
};

}  // namespace radl
