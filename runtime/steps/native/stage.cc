#include "runtime/steps/native/stage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "common/process/process.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"

namespace radl::native {

namespace {

// A file of this computer without a name: it is gone when it is closed, however this process ends.
class NamelessFile {
 public:
  NamelessFile() = default;
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  ~NamelessFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  Status make() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "radl-XXXXXX").string();
    if (error) return errno_status(error.value(), "folder for temporary files");
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) return errno_status(errno, name);
    ::unlink(name.c_str());
    return {};
  }
  // Valid in this process only.
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
};

Status stage_archive(Remote& remote, const Staged& staged, const Stop& stop) {
  NamelessFile archive;
  if (Status s = archive.make(); !s.ok()) return s;
  Status written;
  auto packed = run_process({}, {.argv = {"tar", "-C", staged.local_path, "--null", "--no-recursion",
                                          "--owner=0", "--group=0", "-T", "-", "-cf", "-"},
                                 .stdin_bytes = staged.content,
                                 .deadline = std::chrono::hours(1),
                                 .stop = stop.or_when(Stop::when([&] { return !written.ok(); })),
                                 .on_output =
                                     [&](std::string_view piece, bool is_stderr) {
                                       if (!is_stderr && written.ok())
                                         written = write_all(archive.descriptor(), piece, "a temporary file");
                                     },
                                 .keep_bytes = 4096});
  if (!written.ok()) return written;
  if (!packed) return packed.status();
  if (packed->exit_status != 0)
    return {Code::Invalid, fmt::format("{}: tar: {}", staged.local_path, packed->err)};
  return remote.put_file(archive.path(), staged.remote_path, 0600, stop).status();
}

}  // namespace

Status stage(Remote& remote, const Staged& staged, const Stop& stop) {
  ExecOptions options;
  options.stop = stop;
  std::string folder = shell_path(parent_path(staged.remote_path));
  auto made = remote.exec(fmt::format("umask 077; mkdir -p {0} && chmod 0700 {0}", folder), options);
  if (!made) return made.status();
  if (made->exit_status != 0) return ssh::command_failure(*made, staged.remote_path);
  if (staged.local_path.empty())
    return remote.put_bytes(staged.content, staged.remote_path, 0600, stop).status();
  std::error_code error;
  if (!std::filesystem::is_directory(staged.local_path, error))
    return remote.put_file(staged.local_path, staged.remote_path, 0600, stop).status();
  return stage_archive(remote, staged, stop);
}

}  // namespace radl::native
