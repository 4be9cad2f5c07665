// Files that users upload, in parts. NAME.part holds what has arrived until the file is complete.
//
// One upload of a file is in progress at a time: a newer one takes the file over, and the older one is
// refused with its next bytes. So a client whose connection broke can continue at once.
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
  static constexpr uint64_t kOfOneUser = uint64_t{100} << 30;  // bytes that the files of a user may take

  class Upload;
  static constexpr uint64_t kFilesOfOneUser = 10000;

  // What the files of a user take.
  struct Used {
    uint64_t bytes = 0, files = 0;
  };
  // Adds the regular files below a folder.
  static void add_used(const std::string& folder, Used& used);

  struct Part {
    uint64_t offset = 0, total = 0;  // its first byte, and the bytes of the whole file
    bool executable = false;         // the complete file has the mode 0700, else 0600
  };
  // A part of a file, whose folders are created. `used`: by all files of the user. Offset 0 begins from the
  // start.
  // Conflict: `expected` bytes have arrived, and the upload continues there. Quota: the user's share, or the
  // disk, has no room.
  Result<std::unique_ptr<Upload>> begin(const std::string& path, const std::string& user, const Used& used,
                                        const Part& part, uint64_t& expected);

 private:
  struct File {
    explicit File(std::string its) : user(std::move(its)) {}
    const std::string user;
    std::atomic<uint64_t> remaining = 0;  // bytes that are still to come
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
  // Makes the file complete if all of it has arrived: true. It waits for the disk.
  Result<bool> finish();
  uint64_t bytes() const { return size_; }

 private:
  Status check_whole() const;  // under the mutex
  bool is_newest() const { return file_->turn == turn_; }

  const std::string path_;
  const std::shared_ptr<File> file_;
  const std::unique_ptr<Fd> fd_;
  const uint64_t turn_, total_;
  const bool executable_;
  uint64_t size_;
};

}  // namespace radl::serve
