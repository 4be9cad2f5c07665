// Any bytes as a state: the database on the disk, and the document in a bucket that others write to as well.
// Read, or refused in an error; what was read is written as JSON, and as a document that says the same.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/files.h"
#include "runtime/base/world.h"
#include "runtime/state/document.h"
#include "runtime/state/rows.h"

using namespace radl;

namespace {

// One folder for the whole run, in memory where there is such a place. Never destroyed: it is removed at the
// very end.
const std::string& folder() {
  static const std::string& path = *new std::string([] {
    std::string name =
        std::filesystem::exists("/dev/shm") ? "/dev/shm/radl-fuzz-XXXXXX" : "/tmp/radl-fuzz-XXXXXX";
    if (!mkdtemp(name.data())) std::abort();
    std::filesystem::create_directory(name + "/fuzzed");
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(folder(), ignored);
    });
    return name;
  }());
  return path;
}

std::string text_of(const Snapshot& snapshot) {
  return to_json(snapshot).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_database(const std::string& bytes) {
  std::string path = folder() + "/fuzzed/state.db";
  for (const char* log : {"-wal", "-shm", "-journal"}) ::unlink((path + log).c_str());
  if (!write_file_atomic(path, bytes, 0600).ok()) return;
  Result<std::unique_ptr<Store>> store = Store::open(folder(), "fuzzed", OpenMode::Read, real_world());
  if (!store.ok()) return;
  Result<Snapshot> snapshot = (*store)->snapshot();
  if (snapshot.ok()) (void)text_of(*snapshot);
  (void)(*store)->open_intents();
  (void)(*store)->history(10);
  (void)(*store)->lock_holder();
}

// What it says; "": it was refused.
std::string read_document(const std::string& bytes, std::string* again = nullptr) {
  Result<Database> db = from_document(bytes, "fuzzed");
  if (!db.ok()) return "";
  Result<Snapshot> snapshot = read_snapshot(*db);
  (void)read_open_intents(*db);
  (void)read_history(*db, 10);
  if (!snapshot.ok()) return "";
  if (again) {
    Result<std::string> written = to_document(*db);
    if (!written.ok()) __builtin_trap();
    *again = *written;
  }
  return text_of(*snapshot);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string again;
  const std::string said = read_document(text, &again);
  if (!again.empty() && read_document(again) != said) __builtin_trap();
  if (text.starts_with("SQLite format 3")) read_database(text);
  return 0;
}
