#include "runtime/state/key_migration.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/files.h"
#include "runtime/net/ssh/keys.h"

namespace radl {

namespace {

using Json = nlohmann::json;

constexpr const char* kPath = "private_key_path";

struct Row {
  long long id;  // of the journal
  std::string address;
  Json json;  // attributes of a resource; all of one in the journal
};

// Unreadable rows stay unchanged; later readers report them.
Result<std::vector<Row>> rows_of(Database& db, const char* sql) {
  Result<Statement> rows = db.prepare(sql);
  if (!rows.ok()) return rows.status();
  std::vector<Row> all;
  while (true) {
    Result<bool> row = rows->step();
    if (!row.ok()) return row.status();
    if (!*row) return all;
    Json json = Json::parse(rows->text(2), nullptr, false);
    if (json.is_object()) all.push_back({rows->integer(0), rows->text(1), std::move(json)});
  }
}

using Lines = std::map<std::string, std::string>;  // the file of a private key -> its public line

void note_line(const Json& attributes, Lines& lines) {
  auto path = attributes.find(kPath), line = attributes.find("public_key");
  if (path != attributes.end() && path->is_string() && line != attributes.end() && line->is_string())
    lines[*path] = *line;
}

// True when there was a path.
bool name_key(Json& attributes, const Lines& lines) {
  auto path = attributes.find(kPath);
  if (path == attributes.end()) return false;
  const std::string file = path->is_string() ? path->get<std::string>() : "";
  attributes.erase(path);
  auto known = lines.find(file);
  Result<std::string> line =
      known != lines.end() ? Result<std::string>(known->second) : read_file(file + ".pub", size_t{1} << 14);
  Result<std::string> print = line.ok() ? ssh::fingerprint_of_line(*line) : line;
  if (print.ok()) attributes["key"] = *print;
  return true;
}

Status write(Database& db, const char* sql, const Row& row, bool by_address) {
  Result<Statement> update = db.prepare(sql);
  if (!update.ok()) return update.status();
  update->bind(1, row.json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return by_address ? update->bind(2, row.address).run() : update->bind(2, row.id).run();
}

}  // namespace

Status name_keys_by_fingerprint(Database& db) {
  Result<std::vector<Row>> resources = rows_of(db, "SELECT 0, address, attributes FROM resources");
  if (!resources.ok()) return resources.status();
  Result<std::vector<Row>> journal =
      rows_of(db, "SELECT id, address, resource FROM journal WHERE kind != 'run' AND json_valid(resource)");
  if (!journal.ok()) return journal.status();
  Lines lines;
  for (const Row& row : *resources) note_line(row.json, lines);
  for (Row& row : *resources) {
    if (!name_key(row.json, lines)) continue;
    Status put = write(db, "UPDATE resources SET attributes = ? WHERE address = ?", row, true);
    if (!put.ok()) return put;
  }
  for (Row& row : *journal) {
    auto attributes = row.json.find("attributes");
    if (attributes == row.json.end() || !attributes->is_object() || !name_key(*attributes, lines)) continue;
    Status put = write(db, "UPDATE journal SET resource = ? WHERE id = ?", row, false);
    if (!put.ok()) return put;
  }
  return {};
}

}  // namespace radl
