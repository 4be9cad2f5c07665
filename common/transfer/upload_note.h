// Records a multipart upload beside its file, to resume it later. Held by one process at a time.
#pragma once

#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"

namespace radl::transfer {

class UploadNote {
 public:
  // For the upload of file `path` to `address` at `endpoint`, in parts of `part_bytes`.
  UploadNote(const std::string& path, const struct stat& info, const std::string& address,
             const std::string& endpoint, uint64_t part_bytes);
  ~UploadNote();
  UploadNote(const UploadNote&) = delete;
  UploadNote& operator=(const UploadNote&) = delete;

  // Conflict: another process is sending this file there. In a read-only folder there is no note, and a
  // killed upload starts from the beginning.
  Status open();
  void begun(const std::string& upload);
  void remove();
  const std::string& upload() const { return upload_; }  // upload ID of this version of the file; "" if none
  const std::string& stale() const { return stale_; }    // upload ID of an older version; "" if none

 private:
  const std::string path_;
  const nlohmann::json identity_;
  int fd_ = -1;
  std::string upload_, stale_;
};

// Conflict: the file's size has changed since the upload began.
Status still_as_long(const std::string& path, uint64_t size);

}  // namespace radl::transfer
