// File access on a node by commands only (cat, sha256sum, mv), over any transport that runs commands. SFTP
// would require a silent login shell, and libssh2's SFTP waits for each packet's response
// (docs/decisions/0020-ssh-client.md).
#pragma once

#include <string>
#include <string_view>

#include "runtime/net/remote.h"

namespace radl::ssh {

// Implements a Remote's file operations with its exec().
class RemoteByCommands : public Remote {
 public:
  Result<bool> put_file(const std::string& local_path, const std::string& remote_path, unsigned mode,
                        const Stop& stop) override;
  Result<bool> put_bytes(std::string_view content, const std::string& remote_path, unsigned mode,
                         const Stop& stop) override;
  Status get_file(const std::string& remote_path, const std::string& local_path, const Stop& stop) override;
  Result<RemoteFile> stat(const std::string& remote_path, const Stop& stop) override;

 private:
  class Source;
  Result<bool> put(Source& source, const std::string& sha256, const std::string& remote_path, unsigned mode,
                   const Stop& stop);
  Status send_rest(Source& source, unsigned long long offset, const std::string& part,
                   const std::string& remote_path, const std::string& commit, const Stop& stop);
};

// Prints stat()'s data for a path on one line, or "absent".
std::string stat_script(const std::string& path);
Result<RemoteFile> parse_stat(const std::string& path, const ExecResult& result);

// Name of the file that holds an incomplete transfer. It depends on the content, so that an interrupted
// transfer resumes.
std::string part_path(const std::string& path, const std::string& sha256);

// Explains a failed command by its last line on standard error. Quota: the node's disk or a quota is full.
// NotFound: a file or folder is missing.
Status command_failure(const ExecResult& result, const std::string& what);

}  // namespace radl::ssh
