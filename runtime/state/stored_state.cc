#include "runtime/state/stored_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/digest.h"
#include "runtime/state/document.h"
#include "runtime/state/rows.h"
#include "runtime/state/schema.h"

namespace radl {

namespace {

using std::chrono::milliseconds;
using Json = nlohmann::json;

constexpr milliseconds kFetch{30000}, kRemoveParts{10000};
// Each further look means that a writer has replaced parts while they were fetched.
constexpr int kLooks = 20;

Status part_error(const std::string& url, const std::string& what) {
  return Status(Code::Corrupt, url + " is " + what + ", and the state needs it")
      .with_hint("restore this object from an earlier version of it; radlc never starts over on its own");
}

Json json_of(const StatePart& part) {
  return {{"name", part.name}, {"bytes", part.bytes}, {"sha256", part.sha256}};
}

// Throws Json::exception.
StatePart part_of(const Json& json) {
  return {json.at("name").get<std::string>(), json.at("bytes").get<size_t>(),
          json.at("sha256").get<std::string>()};
}

// A name that others have written: one object of the folder of parts.
bool is_part_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

Status put_in_head(Database& head, const char* name, const std::string& value) {
  Result<Statement> row = head.prepare("INSERT INTO head VALUES (?, CAST(? AS BLOB))");
  if (!row.ok()) return row.status();
  return row->bind(1, name).bind(2, value).run();
}

Result<std::string> from_head(Database& head, const char* name) {
  Result<Statement> row = head.prepare("SELECT value FROM head WHERE name = ?");
  if (!row.ok()) return row.status();
  Result<bool> found = row->bind(1, name).step();
  if (!found.ok()) return found.status();
  if (!*found) return not_found(name);
  return row->text(0);
}

Result<std::string> head_document(const StateParts& parts, const std::string& changes) {
  Result<Database> head = Database::in_memory();
  if (!head.ok()) return head.status();
  const std::string tables = fmt::format(
      "PRAGMA page_size=512; PRAGMA application_id={}; PRAGMA user_version={};"
      "CREATE TABLE head (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;",
      kApplicationId, kHeadVersion);
  if (Status made = head->exec(tables.c_str()); !made.ok()) return made;
  Json json{{"base", json_of(*parts.base)}, {"changes", Json::array()}};
  for (const StatePart& part : parts.changes) json["changes"].push_back(json_of(part));
  if (Status put = put_in_head(*head, "parts", json.dump()); !put.ok()) return put;
  if (Status put = put_in_head(*head, "changes", changes); !put.ok()) return put;
  return to_document(*head);
}

StatePart new_part(const std::string& number, const std::string& bytes) {
  const std::string digest = sha256_hex(bytes);
  return {number + "-" + digest.substr(0, 16), bytes.size(), digest};
}

// "GENERATION-SERIAL", which increases with each write by any writer.
Result<std::string> number_of(Database& db) {
  Result<std::string> generation = read_meta(db, "lock_generation");
  if (!generation.ok()) return generation.status();
  Result<std::string> serial = read_meta(db, "serial");
  if (!serial.ok()) return serial.status();
  return fmt::format("{:010}-{:010}", std::atoll(generation->c_str()), std::atoll(serial->c_str()));
}

}  // namespace

StoredState::StoredState(Bucket& bucket, std::string key)
    : bucket_(bucket), key_(std::move(key)), folder_(key_.substr(0, key_.rfind('/') + 1) + "parts/") {}

Result<std::optional<std::string>> StoredState::fetch(const StatePart& part, const Stop& stop) {
  const std::string url = bucket_.url(folder_ + part.name);
  if (!is_part_name(part.name)) return damaged_document(bucket_.url(key_));
  if (auto kept = fetched_.find(part.name); kept != fetched_.end()) return std::optional(kept->second);
  Result<std::optional<BucketObject>> object = bucket_.get(folder_ + part.name, stop.within(kFetch));
  if (!object.ok()) return object.status();
  if (!*object) return std::optional<std::string>();
  if (sha256_hex((*object)->body) != part.sha256) return part_error(url, "damaged");
  fetched_[part.name] = (*object)->body;
  return std::optional(std::move((*object)->body));
}

// NotFound: a part is gone.
Status StoredState::open_head(Database head, Opened& opened, const Stop& stop) {
  const Result<std::string> names = from_head(head, "parts"), newest = from_head(head, "changes");
  if (!names.ok() || !newest.ok()) return damaged_document(bucket_.url(key_));
  try {
    const Json json = Json::parse(*names);
    opened.parts.base = part_of(json.at("base"));
    for (const Json& each : json.at("changes")) opened.parts.changes.push_back(part_of(each));
  } catch (const Json::exception&) {
    return damaged_document(bucket_.url(key_));
  }
  const auto bytes_of = [&](const StatePart& part) -> Result<std::string> {
    Result<std::optional<std::string>> bytes = fetch(part, stop);
    if (!bytes.ok()) return bytes.status();
    const std::string url = bucket_.url(folder_ + part.name);
    if (!*bytes) return Status(Code::NotFound, url);
    return std::move(**bytes);
  };
  Result<std::string> base = bytes_of(*opened.parts.base);
  if (!base.ok()) return base.status();
  Result<Database> db = open_document(*base, bucket_.url(folder_ + opened.parts.base->name));
  if (!db.ok()) return db.status();
  // Changes are of rows in the tables as they were then: they come before an upgrade of these.
  if (Result<int> known = state_version(*db); !known.ok())
    return std::move(known).status().at(bucket_.url(key_));
  for (const StatePart& part : opened.parts.changes) {
    Result<std::string> packed = bytes_of(part);
    if (!packed.ok()) return packed.status();
    const std::string url = bucket_.url(folder_ + part.name);
    Result<std::string> changes = decompressed(*packed, url);
    if (!changes.ok()) return changes.status();
    if (Status applied = apply_row_changes(*db, *changes); !applied.ok()) return std::move(applied).at(url);
  }
  // The next head includes these too.
  Result<RowChanges> recorded = RowChanges::since_now(*db);
  if (!recorded.ok()) return recorded.status();
  opened.changes = std::move(*recorded);
  if (Status applied = apply_row_changes(*db, *newest); !applied.ok())
    return std::move(applied).at(bucket_.url(key_));
  opened.db = std::move(*db);
  return {};
}

Result<StoredState::Opened> StoredState::open(const Stop& stop) {
  std::string missing_of;  // ETag of a head that refers to a missing object
  for (int look = 0; look < kLooks; ++look) {
    Opened opened;
    Result<std::optional<BucketObject>> object = bucket_.get(key_, stop.within(kFetch));
    if (!object.ok()) return object.status();
    if (!*object) return opened;
    const std::string where = bucket_.url(key_);
    opened.etag = (*object)->etag;
    Result<Database> db = open_document((*object)->body, where);
    if (!db.ok()) return db.status();
    const Result<long long> version = db->integer("PRAGMA user_version");
    Status read;
    if (version.ok() && *version == kHeadVersion) {
      read = open_head(std::move(*db), opened, stop);
    } else {
      opened.db = std::move(*db);
    }
    if (read.code() == Code::NotFound && missing_of != opened.etag) {
      missing_of = opened.etag;
      continue;
    }
    if (read.code() == Code::NotFound) return part_error(read.message(), "missing");
    if (!read.ok()) return read;
    bool upgraded = false;
    if (Status ready = bring_up_to_date(*opened.db, where, &upgraded); !ready.ok()) return ready;
    if (upgraded) opened.changes.reset();  // they are of other tables
    return opened;
  }
  return Status(Code::Retry, bucket_.url(key_) + ": changed too often while it was read");
}

Result<bool> StoredState::read(Database& db, const Stop& stop) {
  Result<Opened> opened = open(stop);
  if (!opened.ok()) return opened.status();
  if (!opened->db) {
    forget();
    return false;
  }
  changes_.reset();  // before the database that they are of
  db = std::move(*opened->db);
  changes_ = std::move(opened->changes);
  etag_ = std::move(opened->etag);
  parts_ = std::move(opened->parts);
  std::erase_if(fetched_, [&](const auto& one) {
    const auto same = [&](const StatePart& part) { return part.name == one.first; };
    return !(parts_.base && same(*parts_.base)) && std::ranges::none_of(parts_.changes, same);
  });
  return true;
}

bool StoredState::is_late_write_of(const std::string& lock_id, const Stop& stop) {
  Result<Opened> there = open(stop);
  if (!there.ok() || !there->db) return false;
  const Result<std::string> written_by = read_meta(*there->db, "lock_id");
  if (!written_by.ok() || *written_by != lock_id) return false;
  etag_ = there->etag;
  return true;
}

void StoredState::start_over() { changes_.reset(); }

void StoredState::forget() {
  start_over();
  etag_.clear();
  parts_ = {};
  fetched_.clear();
}

Result<StoredState::Write> StoredState::whole(Database& db, std::string number) {
  // VACUUM also has kept statements prepared again: a DELETE of all rows that was prepared while nothing was
  // recorded would not be recorded either.
  if (Status tidy = db.exec("VACUUM"); !tidy.ok()) return tidy;
  Result<std::string> document = to_document(db);
  if (!document.ok()) return document.status();
  Write write;
  write.number = std::move(number);
  write.compacted = parts_.base.has_value();
  if (document->size() <= kSmall) {
    write.object = std::move(*document);
    return write;
  }
  write.part = write.parts.base = new_part(write.number, *document);
  write.part_bytes = std::move(*document);
  Result<std::string> head = head_document(write.parts, "");
  if (!head.ok()) return head.status();
  write.object = std::move(*head);
  return write;
}

Result<StoredState::Write> StoredState::next_write(Database& db) {
  Result<std::string> number = number_of(db);
  if (!number.ok()) return number.status();
  if (!parts_.base || !changes_) return whole(db, std::move(*number));
  Result<std::string> newest = changes_->all();
  if (!newest.ok()) return newest.status();
  Write write;
  write.parts = parts_;
  if (newest->size() > kInHead) {
    Result<std::string> packed = compressed(*newest);
    if (!packed.ok()) return packed.status();
    size_t bytes = packed->size();
    for (const StatePart& part : parts_.changes) bytes += part.bytes;
    if (parts_.changes.size() >= kMostChanges || bytes > parts_.base->bytes)
      return whole(db, std::move(*number));
    write.part = new_part(*number, *packed);
    write.parts.changes.push_back(*write.part);
    write.part_bytes = std::move(*packed);
    newest->clear();
  }
  Result<std::string> head = head_document(write.parts, *newest);
  if (!head.ok()) return head.status();
  write.object = std::move(*head);
  return write;
}

Status StoredState::write(Database& db, std::mutex& turn, milliseconds patience, const Stop& stop) {
  Result<Write> next = [&] {
    std::lock_guard guard(turn);
    return next_write(db);
  }();
  if (!next.ok()) return next.status();
  if (next->part) {
    const std::string key = folder_ + next->part->name;
    WriteIf absent;
    absent.absent = true;
    const Result<std::string> put = put_certainly(bucket_, key, next->part_bytes, absent, patience, stop);
    // Not a Conflict of two runs: the name has the content's digest in it.
    if (put.status().code() == Code::Conflict) return part_error(bucket_.url(key), "damaged");
    if (!put.ok()) return put.status();
  }
  Result<std::string> etag =
      put_certainly(bucket_, key_, next->object, WriteIf{etag_.empty(), etag_}, patience, stop);
  if (!etag.ok()) return etag.status();
  etag_ = std::move(*etag);
  if (next->part) changes_.reset();  // they are in the part: should anything fail here, all is sent next
  parts_ = next->parts;
  if (next->part) {
    std::lock_guard guard(turn);
    fetched_[next->part->name] = std::move(next->part_bytes);
    Result<RowChanges> fresh = RowChanges::since_now(db);
    if (fresh.ok()) changes_ = std::move(*fresh);
  }
  if (next->compacted) remove_useless(*next, stop);
  return {};
}

// Only what is older than this write. What an interrupted write left is found by the next compaction. Whoever
// has taken the lock meanwhile writes higher numbers, so nothing of theirs is removed here.
void StoredState::remove_useless(const Write& written, const Stop& stop) {
  std::set<std::string> used;
  if (written.parts.base) used.insert(written.parts.base->name);
  for (const StatePart& part : written.parts.changes) used.insert(part.name);
  std::erase_if(fetched_, [&](const auto& one) { return !used.count(one.first); });
  const Stop soon = for_a_write(stop, kRemoveParts);
  const Result<std::vector<std::string>> keys = bucket_.keys(folder_, soon);
  if (!keys.ok()) return;
  for (const std::string& key : *keys) {
    const std::string name = key.substr(folder_.size());
    if (!used.count(name) && name < written.number) (void)bucket_.remove(key, soon);
  }
}

}  // namespace radl
