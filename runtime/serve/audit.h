// Who asked the service for what: FOLDER/audit.jsonl, a line for each request that changes something or was
// refused. It is never larger than 16 MiB: the older half is in audit.jsonl.1.
//
//   {"time": "2026-01-31T09:00:00Z", "user": "ana", "token": "t-3f9c01ab", "peer": "127.0.0.1",
//    "method": "POST", "path": "/infrastructures", "status": 200}
//
// No line has a secret: neither headers nor queries nor bodies are in it.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/fd.h"
#include "common/http_server/head.h"
#include "runtime/base/world.h"
#include "runtime/serve/caller.h"

namespace radl::serve {

class Audit {
 public:
  Audit(std::string folder, Clock& clock) : path_(std::move(folder) + "/audit.jsonl"), clock_(clock) {}
  // `caller`: nullptr for a request that was not admitted. What cannot be written is dropped: a full disk
  // stops no request.
  void note(const httpd::RequestHead& head, const Caller* caller, int status);
  // The last lines, at most `bytes` of them.
  std::string last(size_t bytes);

 private:
  const std::string path_;
  Clock& clock_;
  std::mutex mutex_;
  std::optional<Fd> file_;
  size_t size_ = 0;
};

}  // namespace radl::serve
