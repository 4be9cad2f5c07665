// A file that appears under its name only after it is complete.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// Until commit(), the file has no name if the file system supports that (O_TMPFILE), so a killed process
// leaves nothing behind. Otherwise it is PATH.tmp-XXXXXXXX.
class NewFile {
 public:
  NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  // The permissions are `mode` less the umask.
  Status create(const std::string& path, unsigned mode = 0666);
  Status write(std::string_view bytes);
  // Sets exactly these permissions, ignoring the umask.
  Status set_mode(unsigned mode);
  // A path by which processes of the same user can read the content before commit().
  std::string content_path() const;
  int descriptor() const { return fd_; }
  // Syncs the content, moves it to its name, replacing any existing file, and syncs the folder.
  Status commit();

 private:
  Status give_name();

  std::string path_, temporary_;  // temporary_: "" for an unnamed file
  int fd_ = -1;
};

// Writes a complete file for a user, with the permissions that the umask allows.
Status write_user_file(const std::string& path, std::string_view content);

}  // namespace radl
