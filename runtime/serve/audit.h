// The audit log: FOLDER/audit.jsonl has two lines per request that changes something, at its begin (status
// null) and response, and one per rejected request. Requests without a valid token go to
// FOLDER/refused.jsonl, so that a flood of them does not displace other lines. Each file is limited to 16
// MiB; the older half is in NAME.1.
//
//   {"time": "2026-01-31T09:00:00Z", "user": "ana", "token": "t-3f9c01ab", "peer": "127.0.0.1",
//    "method": "POST", "path": "/infrastructures", "status": 200}
//
// Lines contain no secrets: no headers, queries or bodies.
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
  Audit(const std::string& folder, Clock& clock)
      : admitted_{folder + "/audit.jsonl"}, refused_{folder + "/refused.jsonl"}, clock_(clock) {}
  // `caller`: nullptr for a rejected request. `status`: nullopt when a request begins. Failed writes are
  // dropped, so a full disk stops no request.
  void note(const httpd::RequestHead& head, const Caller* caller, std::optional<int> status);
  // The last lines, up to `bytes`; `refused`: of requests without a valid token.
  std::string last(size_t bytes, bool refused = false);

 private:
  struct Log {
    void add(const std::string& text);
    std::string path;
    std::optional<Fd> file = {};
    size_t size = 0;
  };

  std::mutex mutex_;
  Log admitted_, refused_;
  Clock& clock_;
};

}  // namespace radl::serve
