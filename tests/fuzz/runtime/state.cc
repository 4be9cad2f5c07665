// Any bytes as the texts that a state keeps in its database, and as the database itself: read, or refused in
// an error, and a state that was read is written as JSON.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/files.h"
#include "runtime/base/world.h"
#include "runtime/state/rows.h"

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

void read_database(const std::string& bytes) {
  using namespace radl;
  std::string path = folder() + "/fuzzed/state.db";
  for (const char* log : {"-wal", "-shm", "-journal"}) ::unlink((path + log).c_str());
  if (!write_file_atomic(path, bytes, 0600).ok()) return;
  Result<std::unique_ptr<Store>> store = Store::open(folder(), "fuzzed", OpenMode::Read, real_world());
  if (!store.ok()) return;
  Result<Snapshot> snapshot = (*store)->snapshot();
  if (snapshot.ok()) (void)to_json(*snapshot).dump(-1, ' ', false, Json::error_handler_t::replace);
  (void)(*store)->open_intents();
  (void)(*store)->history(10);
  (void)(*store)->lock_holder();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl;
  std::string text(reinterpret_cast<const char*>(data), size);
  if (Result<ResourceRecord> record = resource_from_row_json(text); record.ok()) {
    std::string written = resource_to_row_json(*record).dump(-1, ' ', false, Json::error_handler_t::replace);
    Result<ResourceRecord> again = resource_from_row_json(written);
    if (!again.ok() ||
        resource_to_row_json(*again).dump(-1, ' ', false, Json::error_handler_t::replace) != written)
      __builtin_trap();
  }
  if (text.starts_with("SQLite format 3")) read_database(text);
  return 0;
}
