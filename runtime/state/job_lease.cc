#include "runtime/state/job_lease.h"

#include <unistd.h>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/state/lock.h"
#include "runtime/state/records.h"

namespace radl {
namespace {

constexpr size_t kDigits = 16;
constexpr const char* kAsked = ".asked";  // a file beside it: asks the holder to release it
constexpr std::chrono::milliseconds kLookAgain{50};
constexpr std::chrono::seconds kToLetGo{60};  // its holder asks several times a second

std::string path_of(const std::string& folder, const std::string& step) {
  return folder + "/" + lease_name(step);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::optional<LockInfo> info_from(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  LockInfo info;
  try {
    table::JsonReader reader{json};
    Table<LockInfo>::fields(info, reader);
  } catch (const Json::exception&) {
    return std::nullopt;  // it is being written
  }
  return info;
}

class FolderLease : public JobLease {
 public:
  FolderLease(std::unique_ptr<FileLock> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}
  // Removes the name first, while the lock is held: the next holder creates a new file.
  ~FolderLease() override {
    if (file_->is_at_its_path()) ::unlink(path_.c_str());
  }
  Status still_held() override {
    if (file_->is_at_its_path() && !exists(path_ + kAsked)) return {};
    return {Code::Conflict, "another run takes over this job"};
  }

 private:
  std::unique_ptr<FileLock> file_;
  const std::string path_;
};

}  // namespace

std::string lease_name(const std::string& step) { return "leases/" + sha256_hex(step).substr(0, kDigits); }

Status supervised_by_another(const std::string& step, const LockInfo& by) {
  return {Code::Conflict, step + " is supervised by another run: " + by.text()};
}

std::optional<LockInfo> lease_holder(const std::string& folder, const std::string& step) {
  const std::string path = path_of(folder, step);
  FileLock file(path, false);
  const FileLock::Holder holder = file.holder();
  if (holder == FileLock::Holder::Nobody) return std::nullopt;
  Result<std::string> text = read_file(path);
  std::optional<LockInfo> info = text.ok() ? info_from(*text) : std::nullopt;
  // Without such locks the process that it names decides, as for the state's lock.
  if (holder == FileLock::Holder::Unknown && (!info || owner_is_dead(*info, file))) return std::nullopt;
  return info ? info : LockInfo{};
}

Result<std::unique_ptr<JobLease>> take_lease(const std::string& folder, const std::string& step,
                                             const LockInfo& self, bool take_over, Clock& clock,
                                             const Stop& stop) {
  if (Status made = make_directories(folder + "/leases", 0700); !made.ok()) return made;
  const std::string path = path_of(folder, step), asked = path + kAsked;
  const Stop until = stop.within(kToLetGo);
  while (true) {
    auto file = std::make_unique<FileLock>(path, true);
    if (Status opened = file->opened(); !opened.ok()) return opened;
    const bool no_locks = file->holder() == FileLock::Holder::Unknown;
    if (!(no_locks && lease_holder(folder, step)) && file->take()) {
      if (!file->is_at_its_path()) continue;  // its holder has removed it meanwhile
      ::unlink(asked.c_str());
      if (Status written = file->write(row_json(self).dump() + "\n"); !written.ok()) return written;
      return std::unique_ptr<JobLease>(std::make_unique<FolderLease>(std::move(file), path));
    }
    const LockInfo holder = lease_holder(folder, step).value_or(LockInfo{});
    if (!take_over) return supervised_by_another(step, holder);
    if (Status told = write_file_atomic(asked, "", 0600); !told.ok()) return told;
    if (!sleep_unless(clock, kLookAgain, until)) {
      ::unlink(asked.c_str());
      return Status(until.check().code(),
                    supervised_by_another(step, holder).message() + ", which does not let go of it");
    }
  }
}

}  // namespace radl
