// Users' file uploads, in parts. NAME.part holds the received data until the file is complete.
//
// One upload per file is active: a newer upload takes over, and the older one is rejected at its next bytes.
// So a client whose connection broke can continue immediately.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "common/fd.h"
#include "common/status.h"

namespace radl::serve {

class Uploads {
 public:
  static constexpr uint64_t kOfOneUser = uint64_t{100} << 30;  // limit for all files of a user, in bytes

  class Upload;
  static constexpr uint64_t kFilesOfOneUser = 10000;

  // The space used by a user's files.
  struct Used {
    uint64_t bytes = 0, files = 0;
  };
  // Adds the regular files below a folder.
  static void add_used(const std::string& folder, Used& used);

  struct Part {
    uint64_t offset = 0, total = 0;  // offset of its first byte; size of the whole file
    bool executable = false;         // mode of the complete file: 0700, else 0600
  };
  // Begins a part of a file, and creates its folders. `used`: by all files of
  // the user. Offset 0 starts over. Conflict: `expected` bytes have arrived,
  // and the upload must continue there. Quota: the user's share or the disk is
  // full.
  Result<std::unique_ptr<Upload>> begin(const std::string& path, const std::string& user, const Used& used,
                                        const Part& part, uint64_t& expected);

 private:
  struct File {
    explicit File(std::string its) : user(std::move(its)) {}
    const std::string user;
    std::atomic<uint64_t> remaining = 0;  // bytes still to come
    std::mutex mutex;                     // never held for long: begin() waits for it
    uint64_t turn = 0;                    // of the upload that may write
  };
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<File>> files_;  // by path
};

class Uploads::Upload {
 public:
  Upload(std::string path, std::shared_ptr<File> file, std::unique_ptr<Fd> fd, uint64_t turn,
         const Part& part);
  ~Upload();
  // Conflict: a newer upload has the file. Invalid: more than `total`.
  Status write(std::string_view part);
  // Completes the file if all of it has arrived, and then returns true. Waits for the disk.
  Result<bool> finish();
  uint64_t bytes() const { return size_; }

 private:
  Status check_whole() const;  // call with the mutex held
  bool is_newest() const { return file_->turn == turn_; }

  const std::string path_;
  const std::shared_ptr<File> file_;
  const std::unique_ptr<Fd> fd_;
  const uint64_t turn_, total_;
  const bool executable_;
  uint64_t size_;
};

}  // namespace radl::serve
