// Files over one Session.
#pragma once

#include <string>
#include <string_view>

#include "runtime/net/ssh/session.h"

namespace radl::ssh {

// Where a transfer's bytes come from: a local file or memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual unsigned long long size() const = 0;
  // Up to `room` bytes from `offset`; 0 at the end.
  virtual Result<size_t> read_at(unsigned long long offset, char* out, size_t room) = 0;
};

// Writes the source to `path` (made with 0600), going on at what is there already if `resume`. The number of
// bytes sent. NotFound when the folder is not there, Quota when the node's disk is full.
Result<unsigned long long> sftp_write(Session& session, ByteSource& source, const std::string& path,
                                      bool resume, const Stop& stop);

// Copies a file of the node to `local_path` (temporary file + rename). Corrupt when what came has another
// SHA-256, if one is given: it was changed meanwhile.
Status sftp_read(Session& session, const std::string& path, const std::string& local_path,
                 const std::string& sha256, const Stop& stop);

}  // namespace radl::ssh
