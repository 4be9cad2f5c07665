// A machine that commands can be run on and files moved to: the seam between steps and SSH.
//
// Implementations: runtime/net/ssh (libssh2), runtime/net/ssh/openssh (the system's client), and scripted
// ones in tests.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/stop.h"

namespace radl {

struct ExecOptions {
  std::string stdin_bytes;
  // What its standard input has after these bytes: the next piece, "" if there is none yet, nullopt at its
  // end. Asked again and again, from the call's thread; it must not wait. Empty: the input ends.
  std::function<std::optional<std::string>()> more_stdin;
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};  // from the call on
  Stop stop;                                                     // besides the deadline
  // Called with each piece as it arrives; `is_stderr` tells the stream.
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  size_t keep_bytes = size_t{1} << 20;  // the last so many of each stream are in the result
  // The command is the user's own and runs in the login's locale. Commands of radlc run in the C locale, so
  // that what they print can be parsed.
  bool login_locale = false;
};

// Shell text for a script that runs in the C locale: the rest of it runs in the login's locale.
inline constexpr const char* kLoginLocale =
    "case ${RADL_LOCALE-} in =*) LC_ALL=${RADL_LOCALE#=};; *) unset LC_ALL;; esac; unset RADL_LOCALE\n";

struct ExecResult {
  int exit_status = 0;  // 128+n when a signal ended it
  std::string out, err;
  bool out_cut = false, err_cut = false;  // there was more before it: no data, only a tail to show
};

struct RemoteFile {
  std::string sha256;  // of a regular file, else empty
  std::string kind;    // file, directory, link, other
  unsigned mode = 0;
  std::string owner, group;
  unsigned long long size = 0;
};

class Remote {
 public:
  virtual ~Remote() = default;
  // A command that ran is a success whatever its exit status. Timeout and Cancelled: it has been ended, with
  // everything that it started in its session or below it. Lost: the connection went away in the midst; it
  // may be running still. Every other error: it has not begun.
  virtual Result<ExecResult> exec(const std::string& shell_command, const ExecOptions& options = {}) = 0;
  // Sends a local file unless one with equal content is there; true: bytes were sent. Atomic (temporary +
  // rename).
  virtual Result<bool> put_file(const std::string& local_path, const std::string& remote_path, unsigned mode,
                                const Stop& stop = {}) = 0;
  virtual Result<bool> put_bytes(std::string_view content, const std::string& remote_path, unsigned mode,
                                 const Stop& stop = {}) = 0;
  virtual Status get_file(const std::string& remote_path, const std::string& local_path,
                          const Stop& stop = {}) = 0;
  // NotFound where there is none.
  virtual Result<RemoteFile> stat(const std::string& remote_path, const Stop& stop = {}) = 0;
  // What is behind it is not to be trusted (the machine restarts, a key goes): where a connection is shared,
  // whoever asks for one next gets a new one.
  virtual void abandon() {}
};

// exec() for a command whose output is data: Invalid when it is more than `keep_bytes`.
Result<ExecResult> exec_for_data(Remote& remote, const std::string& shell_command,
                                 const ExecOptions& options = {});

}  // namespace radl
