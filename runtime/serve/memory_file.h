// A text as a file that only this process can open. Never on disk; deleted with this object.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "common/fd.h"
#include "common/files.h"

namespace radl::serve {

class MemoryFile {
 public:
  // `what` is named in errors. Empty text: no file.
  MemoryFile(const std::string& text, const std::string& what)
      : file_(text.empty() ? -1 : ::memfd_create("radlc", MFD_CLOEXEC)) {
    if (text.empty()) return;
    status_ = file_.open() ? write_all(file_.get(), text, what) : errno_status(errno, "holding " + what);
  }
  const Status& status() const { return status_; }
  // "": no file.
  std::string path() const {
    return file_.open() ? "/proc/self/fd/" + std::to_string(file_.get()) : std::string();
  }

 private:
  Fd file_;
  Status status_;
};

}  // namespace radl::serve
