// HDFS over its REST interface (hadoop.apache.org, "WebHDFS REST API").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/status.h"
#include "common/transfer/download.h"

namespace radl::transfer {

struct HdfsEntry {
  std::string name;  // last component of the path
  bool folder = false;
  uint64_t size = 0;
  int64_t modified = 0;  // milliseconds since 1970
};

// Errors carry HDFS's exception and message: FileNotFoundException is NotFound, AccessControlException Auth,
// SafeModeException and StandbyException Retry, and so on. The name node redirects to data nodes.
class WebHdfs {
 public:
  // `base`: "http://namenode:9870" or https; `user`: user.name of the requests, "" for none.
  WebHdfs(http::Client& http, std::string base, std::string user)
      : http_(http), base_(std::move(base)), user_(std::move(user)) {}

  Result<HdfsEntry> status(const std::string& path);
  Result<std::vector<HdfsEntry>> list(const std::string& path);
  // Reads `count` bytes (0: to the end) from offset `first`.
  Result<std::string> read(const std::string& path, uint64_t first = 0, uint64_t count = 0);
  // Resumable like download(): keeps a partial file until the source changes.
  Status get_file(const std::string& path, const Download& what);
  // Writes a temporary file and renames it, so readers see the old file or the new one.
  Status put_file(const std::string& local, const std::string& path);
  Status make_folders(const std::string& path);
  Status remove(const std::string& path, bool recursive = false);
  Status rename(const std::string& from, const std::string& to);

 private:
  std::string url(const std::string& path, const std::string& op, const http::Headers& more = {}) const;
  Result<http::Response> call(const std::string& method, const std::string& path, const std::string& op,
                              const http::Headers& more = {});

  http::Client& http_;
  std::string base_, user_;
};

}  // namespace radl::transfer
