// Downloads large files over HTTP: resumable, verified and atomic.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/http/http.h"
#include "common/status.h"

namespace radl::transfer {

struct Download {
  std::string url, path;
  std::string part;                      // its name until complete; "": path.part
  std::string sha256;                    // lower-case hex; "": not verified
  uint64_t largest = uint64_t{1} << 40;  // Quota above this
  std::string
      identity;  // names the source in the note beside a part; "": the URL (unsuitable if that is presigned)
  http::Headers headers;
  std::function<Result<http::Headers>()>
      signing;  // computes headers for each attempt, since signatures expire
  http::Retries retries{6, 0.5, 15};
  double connect_seconds = 10, stall_seconds = 30;
  std::function<void(uint64_t done, uint64_t total)> progress;
  std::string ca_file, user_agent = "radl";  // as in Request
  // Called with status and headers of a response with the file or its rest. An error aborts.
  std::function<Status(const http::Response& head)> on_answer;
  // Checks the complete file before it gets its name. Corrupt: the file is deleted.
  std::function<Status(const std::string& path)> check;
  Stop stop;

  std::string part_path() const { return part.empty() ? path + ".part" : part; }
};

// Fetches `url` to `path`. An interrupted download is kept beside it (`part`, and `part`.json with the
// server's validator). The next attempt or call resumes it with If-Range, so that a changed file is fetched
// from the start. The file gets its name only when complete and verified. Corrupt: wrong checksum; nothing is
// kept. Conflict: another process is downloading to the same path. If `path` already exists with the right
// checksum, sends no request; without a checksum, fetches it again.
Status download(http::Client& http, const Download& what);

}  // namespace radl::transfer
