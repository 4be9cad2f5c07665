// A file that appears under its name only when it is complete.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// Until commit() the file has no name where the file system can do that (O_TMPFILE), so that a killed process
// leaves nothing; elsewhere it is PATH.tmp-XXXXXXXX.
class NewFile {
 public:
  NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  // Permissions are `mode` less the user's umask.
  Status create(const std::string& path, unsigned mode = 0666);
  Status write(std::string_view bytes);
  // Exactly these permissions, whatever the umask.
  Status set_mode(unsigned mode);
  // Under which this process, and others of the same user, reach the content before it has its name.
  std::string content_path() const;
  int descriptor() const { return fd_; }
  // Syncs the content, gives it its name in place of what has it, and syncs the folder.
  Status commit();

 private:
  Status give_name();

  std::string path_, temporary_;  // temporary_: "" while it has no name
  int fd_ = -1;
};

// What a user gets to see: a whole file with the permissions that the user's umask leaves.
Status write_user_file(const std::string& path, std::string_view content);

}  // namespace radl
