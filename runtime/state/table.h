// Describes each kind of record once, and derives its table, SQL statements and JSON form. Internal to
// runtime/state.
//
// A specialization of Table describes a record: the table's name, and fields(), which calls its visitor with
// the name and value of each field. A field's C++ type determines its column: integers and booleans INTEGER,
// double REAL, strings and enumerations TEXT, everything else TEXT with JSON.
#pragma once

#include <string>
#include <type_traits>

#include "runtime/state/database.h"
#include "runtime/state/snapshot.h"

namespace radl {

template <class Record>
struct Table;

// Corrupt: the stored text is not JSON.
Result<Json> stored_json(const std::string& text, const char* where);
std::string stored_text(const Json& json);

namespace table {

std::string_view enum_name(ResourceStatus status);
std::string_view enum_name(StepStatus status);
void enum_from(const std::string& name, ResourceStatus& status);
void enum_from(const std::string& name, StepStatus& status);

template <class T>
constexpr const char* column_type() {
  if constexpr (std::is_integral_v<T>) return "INTEGER NOT NULL";
  if constexpr (std::is_same_v<T, double>) return "REAL NOT NULL";
  return "TEXT NOT NULL";
}

struct Columns {
  std::string names, marks, definitions;
  template <class T>
  void operator()(const char* name, const T&) {
    const char* comma = names.empty() ? "" : ", ";
    names.append(comma).append(name);
    marks.append(comma).append("?");
    definitions.append(comma).append(name).append(" ").append(column_type<T>());
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
      row.bind(at, enum_name(value));
    } else {
      row.bind(at, stored_text(value));
    }
  }
};

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

struct ColumnReader {
  const Statement& row;
  int column = 0;
  Status status = {};  // of the first damaged field

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
      enum_from(row.text(at), value);
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
      json[name] = enum_name(value);
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
      enum_from(json.at(name).get<std::string>(), value);
    } else {
      value = json.at(name).get<T>();
    }
  }
};

template <class Record>
const Columns& columns() {
  static const Columns all = [] {
    Record record;
    Columns made;
    Table<Record>::fields(record, made);
    return made;
  }();
  return all;
}

}  // namespace table

// "address TEXT NOT NULL, ...", for CREATE TABLE.
template <class Record>
std::string column_definitions() {
  return table::columns<Record>().definitions;
}

// " INTO table (fields) VALUES (marks)".
template <class Record>
std::string insert_tail() {
  return std::string(" INTO ") + Table<Record>::kName + " (" + table::columns<Record>().names + ") VALUES (" +
         table::columns<Record>().marks + ")";
}

template <class Record>
Status insert_by(Database& db, const std::string& sql, const Record& record) {
  Result<Statement> row = db.prepare(sql);
  if (!row.ok()) return row.status();
  table::Binder binder{*row};
  Table<Record>::fields(record, binder);
  return row->run();
}

// Replaces a row with the same key.
template <class Record>
Status put_row(Database& db, const Record& record) {
  static const std::string sql = "INSERT OR REPLACE" + insert_tail<Record>();
  return insert_by(db, sql, record);
}

// Keeps an existing row with the same key.
template <class Record>
Status keep_row(Database& db, const Record& record) {
  static const std::string sql = "INSERT OR IGNORE" + insert_tail<Record>();
  return insert_by(db, sql, record);
}

// Reads a record from a statement's first columns.
template <class Record>
Result<Record> row_of(const Statement& row) {
  Record record;
  table::ColumnReader reader{row};
  Table<Record>::fields(record, reader);
  if (!reader.status.ok()) return reader.status;
  return record;
}

// Calls `each` with every row. It returns a Status and may read additional columns, named by `more` ("id").
// `rest`: WHERE, ORDER BY, LIMIT.
template <class Record, class Each>
Status for_rows(Database& db, const char* more, const char* rest, Each each) {
  std::string sql = "SELECT " + table::columns<Record>().names;
  if (*more) sql.append(", ").append(more);
  Result<Statement> rows =
      db.prepare(sql.append(" FROM ").append(Table<Record>::kName).append(" ").append(rest));
  if (!rows.ok()) return rows.status();
  while (true) {
    Result<bool> row = rows->step();
    if (!row.ok()) return row.status();
    if (!*row) return {};
    Result<Record> record = row_of<Record>(*rows);
    if (!record.ok()) return record.status();
    if (Status used = each(std::move(*record), *rows); !used.ok()) return used;
  }
}

template <class Record>
Json row_json(const Record& record) {
  table::JsonWriter writer;
  Table<Record>::fields(record, writer);
  return std::move(writer.json);
}

}  // namespace radl
