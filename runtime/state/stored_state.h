// The layout of a state in a bucket, and what a write sends. Internal to runtime/state;
// docs/decisions/0013-state-in-a-bucket.md explains the design.
//
//   NAME/state.db.gz   a small state: the database, compressed (document.h). A larger one: its head, which
//                      names the parts and contains the newest changes
//   NAME/parts/GENERATION-SERIAL-DIGEST
//                      the whole database at that time, or row changes since the previous part
//
// Every write ends with one conditional PUT of state.db.gz, which makes it effective. A part is written
// before the head that names it, never changed, and removed after the first head that no longer names it.
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

// A part as named in the head.
struct StatePart {
  std::string name;    // of the object
  size_t bytes = 0;    // of its compressed content
  std::string sha256;  // of its content
};

// The parts named by the head of a larger state.
struct StateParts {
  std::optional<StatePart> base;   // the whole database; nullopt: the state is small and in one object
  std::vector<StatePart> changes;  // since the base, in order
};

class StoredState {
 public:
  // Size limit for a single object; limit for uncompressed changes in the head; maximum number of parts that
  // a reader must fetch besides the base.
  static constexpr size_t kSmall = size_t{32} << 10, kInHead = size_t{16} << 10, kMostChanges = 8;

  // `key`: of state.db.gz. Must not outlive the bucket.
  StoredState(Bucket& bucket, std::string key);

  // Reads the state into `db`; false if there is none, and `db` is unchanged. Corrupt: it is damaged or a
  // part is missing; names it. Invalid: of a newer radlc.
  Result<bool> read(Database& db, const Stop& stop);
  // Stores `db`, which read() has filled, or returns Conflict if another writer has written since. Sends the
  // changes since the last read() or write(), and occasionally everything. `turn`: held while `db` is read.
  // After any error but Conflict, the next write also sends what this one could not.
  Status write(Database& db, std::mutex& turn, std::chrono::milliseconds patience, const Stop& stop);
  // After a Conflict: true if the stored version was written under this lock by an abandoned write that the
  // server executed after all. The next write then builds on it.
  bool is_late_write_of(const std::string& lock_id, const Stop& stop);
  // `db` will be another database: the next write sends everything.
  void start_over();
  // The state was removed.
  void forget();
  bool is_stored() const { return !etag_.empty(); }  // as far as this object has read or written

  // The folder of its parts: "NAME/parts/".
  const std::string& folder() const { return folder_; }

 private:
  struct Opened {
    std::optional<Database> db;  // nullopt: no such object
    std::string etag;
    StateParts parts;
    std::optional<RowChanges> changes;  // of `db` since its last part
  };
  // What a write sends: possibly a part, then the object that makes it effective.
  struct Write {
    std::string object;
    StateParts parts;
    std::optional<StatePart> part;
    std::string part_bytes;
    std::string number;      // lower-numbered parts that the head does not name are garbage
    bool compacted = false;  // there may be such parts
  };
  Result<Opened> open(const Stop& stop);
  Status open_head(Database head, Opened& opened, const Stop& stop);
  // nullopt if the object does not exist.
  Result<std::optional<std::string>> fetch(const StatePart& part, const Stop& stop);
  Result<Write> next_write(Database& db);
  Result<Write> whole(Database& db, std::string number);
  void remove_useless(const Write& written, const Stop& stop);

  Bucket& bucket_;
  const std::string key_, folder_;
  std::string etag_;  // of the version last read or written; empty: none
  StateParts parts_;
  std::map<std::string, std::string> fetched_;  // content of used parts by name, each read once
  std::optional<RowChanges> changes_;           // since the last part; none: the next write sends all of it
};

}  // namespace radl
