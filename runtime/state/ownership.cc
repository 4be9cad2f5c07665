// What a state owns, as far back as its journal goes, and what it has let go of.
#include "runtime/state/apply_change.h"
#include "runtime/state/rows.h"
#include "runtime/state/table.h"

namespace radl {

namespace {

constexpr const char* kReleased = "released";  // of `meta`

}  // namespace

Json released_json(const std::vector<Released>& released) {
  Json json = Json::array();
  for (const Released& one : released)
    json.push_back({{"address", one.address},
                    {"type", one.type},
                    {"cloud", one.cloud},
                    {"id", one.id},
                    {"needs", one.needs}});
  return json;
}

Result<std::vector<Released>> read_released(Database& db) {
  Result<std::string> text = read_meta(db, kReleased);
  if (!text.ok()) return text.status();
  std::vector<Released> released;
  if (text->empty()) return released;
  Result<Json> json = stored_json(*text, kReleased);
  if (!json.ok()) return json.status();
  try {
    for (const Json& one : *json)
      released.push_back({one.at("address"), one.at("type"), one.at("cloud"), one.at("id"), one.at("needs")});
  } catch (const Json::exception& error) {
    return Status(Code::Corrupt, std::string("state: released: ") + error.what());
  }
  return released;
}

Status write_released(Database& db, const std::vector<Released>& released) {
  return write_meta(db, kReleased, released_json(released).dump());
}

Result<std::vector<Owned>> read_owned(Database& db) {
  Result<Statement> rows = db.prepare(
      "SELECT cloud, token, id FROM resources UNION "
      "SELECT json_extract(resource, '$.cloud'), "
      "  CASE kind WHEN 'create' THEN token ELSE json_extract(resource, '$.token') END, "
      "  coalesce(json_extract(resource, '$.id'), '') "
      "FROM journal WHERE kind != 'run' AND json_valid(resource)");
  if (!rows.ok()) return rows.status();
  std::vector<Owned> owned;
  while (true) {
    Result<bool> row = rows->step();
    if (!row.ok()) return row.status();
    if (!*row) return owned;
    owned.push_back({rows->text(0), rows->text(1), rows->text(2)});
  }
}

Status forget_in_journal(Database& db, const Owned& one) {
  Result<Statement> row = db.prepare(
      "DELETE FROM journal WHERE closed_at IS NOT NULL AND kind != 'run' AND json_valid(resource) "
      "AND json_extract(resource, '$.cloud') = ?1 "
      "AND ((?2 != '' AND (token = ?2 OR json_extract(resource, '$.token') = ?2)) "
      "     OR json_extract(resource, '$.id') = ?3)");
  if (!row.ok()) return row.status();
  return row->bind(1, one.cloud).bind(2, one.token).bind(3, one.id).run();
}

}  // namespace radl
