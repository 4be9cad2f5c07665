// What an upload in parts is known by at the next call, beside the file and held by one process at a time.
#pragma once

#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"

namespace radl::transfer {

class UploadNote {
 public:
  // Of the file `path` on its way to `address` at `endpoint`, in parts of so many bytes.
  UploadNote(const std::string& path, const struct stat& info, const std::string& address,
             const std::string& endpoint, uint64_t part_bytes);
  ~UploadNote();
  UploadNote(const UploadNote&) = delete;
  UploadNote& operator=(const UploadNote&) = delete;

  // Conflict: another process sends this file there. In a folder that cannot be written there is no note, and
  // an upload that is killed begins anew.
  Status open();
  void begun(const std::string& upload);
  void remove();
  const std::string& upload() const { return upload_; }  // of this file as it is now; ""
  const std::string& stale() const { return stale_; }    // of what the file was; ""

 private:
  const std::string path_;
  const nlohmann::json identity_;
  int fd_ = -1;
  std::string upload_, stale_;
};

// Ok, or Conflict: the file is not as long as it was when it began to be sent.
Status still_as_long(const std::string& path, uint64_t size);

}  // namespace radl::transfer
