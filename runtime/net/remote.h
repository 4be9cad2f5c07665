// A machine on which commands run and to which files are copied: the interface between steps and SSH.
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
  // Supplies standard input after these bytes: the next piece, "" if there is none yet, nullopt at the end.
  // Polled on the call's thread; must not block. Empty: the input ends.
  std::function<std::optional<std::string>()> more_stdin;
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};  // counted from the call
  Stop stop;                                                     // checked in addition to the deadline
  // Called with each piece as it arrives; `is_stderr` tells the stream.
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  size_t keep_bytes = size_t{1} << 20;  // the result keeps this many last bytes of each stream
  // For a user's command, which runs in the login's locale. radlc's own commands run in the C locale, so that
  // their output can be parsed.
  bool login_locale = false;
};

// Shell text for a script in the C locale: switches the rest of it to the login's locale.
inline constexpr const char* kLoginLocale =
    "case ${RADL_LOCALE-} in =*) LC_ALL=${RADL_LOCALE#=};; *) unset LC_ALL;; esac; unset RADL_LOCALE\n";

struct ExecResult {
  int exit_status = 0;  // 128+n if ended by a signal
  std::string out, err;
  bool out_cut = false, err_cut = false;  // earlier output was dropped: not data, only a tail to show
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
  // A command that ran is a success whatever its exit status. Timeout and Cancelled: it has been ended with
  // everything in its session or below it. Lost: the connection broke during the command, which may still
  // run. Any other error: it has not started.
  virtual Result<ExecResult> exec(const std::string& shell_command, const ExecOptions& options = {}) = 0;
  // Sends a local file unless an equal one exists; true if bytes were sent. Atomic (temporary +
  // rename).
  virtual Result<bool> put_file(const std::string& local_path, const std::string& remote_path, unsigned mode,
                                const Stop& stop = {}) = 0;
  virtual Result<bool> put_bytes(std::string_view content, const std::string& remote_path, unsigned mode,
                                 const Stop& stop = {}) = 0;
  virtual Status get_file(const std::string& remote_path, const std::string& local_path,
                          const Stop& stop = {}) = 0;
  // NotFound if it does not exist.
  virtual Result<RemoteFile> stat(const std::string& remote_path, const Stop& stop = {}) = 0;
  // Gives up the connection because its machine restarts or its key is being removed: later users of a shared
  // connection get a new one.
  virtual void abandon() {}
};

// exec() for a command whose output is data: Invalid if it exceeds `keep_bytes`.
Result<ExecResult> exec_for_data(Remote& remote, const std::string& shell_command,
                                 const ExecOptions& options = {});

}  // namespace radl
