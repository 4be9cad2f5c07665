// Large files over HTTP: resumable, checked, and there either whole or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/http/http.h"
#include "common/status.h"

namespace radl::transfer {

struct Download {
  std::string url, path;
  std::string part;                      // what it is until it is whole; "": path.part
  std::string sha256;                    // lower-case hex; "": whatever comes
  uint64_t largest = uint64_t{1} << 40;  // more bytes are Quota
  std::string
      identity;  // what the note beside a part calls the source; "": the URL (a presigned one is no good)
  http::Headers headers;
  std::function<Result<http::Headers>()>
      signing;  // headers of the moment, asked for at each attempt: signatures run out
  http::Retries retries{6, 0.5, 15};
  double connect_seconds = 10, stall_seconds = 30;
  std::function<void(uint64_t done, uint64_t total)> progress;
  std::string ca_file, user_agent = "radl";  // as Request's
  // Status and headers of an answer with the beginning of the file or its rest; an error ends it.
  std::function<Status(const http::Response& head)> on_answer;
  // Looks at the whole file before it gets its name; Corrupt: nothing is kept.
  std::function<Status(const std::string& path)> check;
  Stop stop;

  std::string part_path() const { return part.empty() ? path + ".part" : part; }
};

// Fetches `url` to `path`. What came before a break is kept beside it (`part`, and `part`.json with the
// server's validator) and continued by the next attempt or the next call, with If-Range so that a file that
// has changed starts anew. The file appears under its name only whole and with the right checksum. Corrupt:
// wrong checksum, nothing is kept. Conflict: another process is downloading to the same path. A path that is
// there already with the right checksum is left alone (no request); without a checksum it is fetched anew.
Status download(http::Client& http, const Download& what);

}  // namespace radl::transfer
