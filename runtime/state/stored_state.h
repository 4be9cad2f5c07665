// How a state lies in a bucket, and what a write of it sends. Internal to runtime/state;
// docs/decisions/0013-state-in-a-bucket.md gives the reasons.
//
//   NAME/state.db.gz   a small state: the database, compressed (document.h). A larger one: its head, which
//                      names the parts and has the newest changes in it
//   NAME/parts/GENERATION-SERIAL-DIGEST
//                      the whole database as it was then, or the changes of rows since the part before it
//
// Every write ends with one conditional PUT of state.db.gz, which makes it count. A part is written before
// the head that names it, never changed, and removed after the first head that no longer names it.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/state/bucket.h"
#include "runtime/state/row_changes.h"

namespace radl {

// A part as the head names it.
struct StatePart {
  std::string name;    // of the object
  size_t bytes = 0;    // of its content, compressed
  std::string sha256;  // of its content
};

// What the head of a larger state names.
struct StateParts {
  std::optional<StatePart> base;   // the whole database; none: the state is small, and all in one object
  std::vector<StatePart> changes;  // since the base, in their order
};

class StoredState {
 public:
  // What is small enough for one object; what the head has in it, before it is compressed; how many parts a
  // reader has to fetch at most, beside the base.
  static constexpr size_t kSmall = size_t{32} << 10, kInHead = size_t{16} << 10, kMostChanges = 8;

  // `key`: of state.db.gz. Not longer than the bucket.
  StoredState(Bucket& bucket, std::string key);

  // Reads the state into `db`; false: there is none, and `db` stays as it is. Corrupt: it is damaged, or a
  // part of it was removed; the message names it. Invalid: of a newer radlc.
  Result<bool> read(Database& db, const Stop& stop);
  // Makes `db`, which read() has filled, the stored state, unless somebody else has written since: then
  // Conflict. Sends what has changed since the last read() or write(), or all of it now and then. `turn`:
  // held while `db` is read. After any error but Conflict the next write sends what this one could not.
  Status write(Database& db, std::mutex& turn, std::chrono::milliseconds patience, const Stop& stop);
  // After a Conflict: whether what is stored was written under this lock, by a write that was given up and
  // that the server has done after all. The next write is then on top of it.
  bool is_late_write_of(const std::string& lock_id, const Stop& stop);
  // `db` will be another database: the next write sends all of it.
  void start_over();
  // The state was removed.
  void forget();
  bool is_stored() const { return !etag_.empty(); }  // as far as this has read or written

  // Where its parts are: "NAME/parts/".
  const std::string& folder() const { return folder_; }

 private:
  struct Opened {
    std::optional<Database> db;  // none: there is no such object
    std::string etag;
    StateParts parts;
    std::optional<RowChanges> changes;  // of `db` since its last part
  };
  // What a write sends: a part or none, then the object that makes it count.
  struct Write {
    std::string object;
    StateParts parts;
    std::optional<StatePart> part;
    std::string part_bytes;
    std::string number;      // parts of lower ones that the head does not name are useless
    bool compacted = false;  // there may be such parts
  };
  Result<Opened> open(const Stop& stop);
  Status open_head(Database head, Opened& opened, const Stop& stop);
  // Nothing if the object is gone.
  Result<std::optional<std::string>> fetch(const StatePart& part, const Stop& stop);
  Result<Write> next_write(Database& db);
  Result<Write> whole(Database& db, std::string number);
  void remove_useless(const Write& written, const Stop& stop);

  Bucket& bucket_;
  const std::string key_, folder_;
  std::string etag_;  // of what was read or written last; empty: there is none
  StateParts parts_;
  std::map<std::string, std::string> fetched_;  // content of the parts in use, by name: read once
  std::optional<RowChanges> changes_;           // since the last part; none: the next write sends all of it
};

}  // namespace radl
