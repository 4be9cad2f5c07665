#include "runtime/steps/native/stage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/digest.h"
#include "runtime/base/process.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/remote.h"

namespace radl::native {

Status stage(Remote& remote, const Staged& staged) {
  auto made = remote.exec("umask 077; mkdir -p " + shell_path(parent_path(staged.remote_path)));
  if (!made) return made.status();
  if (made->exit_status != 0) return ssh::command_failure(*made, staged.remote_path);
  if (staged.local_path.empty()) return remote.put_bytes(staged.content, staged.remote_path, 0600).status();
  std::error_code error;
  if (!std::filesystem::is_directory(staged.local_path, error))
    return remote.put_file(staged.local_path, staged.remote_path, 0600).status();
  std::string archive =
      (std::filesystem::temp_directory_path(error) / ("radl-" + to_hex(random_bytes(8)) + ".tar")).string();
  auto packed = run_process({.argv = {"tar", "-C", staged.local_path, "--null", "--no-recursion", "--owner=0",
                                      "--group=0", "-T", "-", "-cf", archive},
                             .stdin_bytes = staged.content,
                             .deadline = std::chrono::hours(1)});
  Status done = packed ? Status() : packed.status();
  if (packed && packed->exit_status != 0)
    done = {Code::Invalid, fmt::format("{}: tar: {}", staged.local_path, packed->err)};
  if (done.ok()) done = remote.put_file(archive, staged.remote_path, 0600).status();
  ::unlink(archive.c_str());
  return done;
}

}  // namespace radl::native
