#include "runtime/trial/folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/files.h"

namespace radl {

Result<std::unique_ptr<TrialFolder>> TrialFolder::make() {
  // Each write of a state is synced: on a disk that is most of the time of a trial.
  std::error_code error;
  std::string parent = "/dev/shm";
  if (::access(parent.c_str(), W_OK) != 0) parent = std::filesystem::temp_directory_path(error).string();
  if (error) return errno_status(error.value(), "the folder for temporary files");
  std::string path = parent + "/radl-trial-XXXXXX";
  if (!::mkdtemp(path.data())) return errno_status(errno, path);
  return std::unique_ptr<TrialFolder>(new TrialFolder(path));
}

TrialFolder::~TrialFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace radl
