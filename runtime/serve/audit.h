// Who asked the service for what: FOLDER/audit.jsonl, two lines for each request that changes something, when
// it begins (status null) and when it is answered, and one for each that was refused. Requests without a
// valid token are in FOLDER/refused.jsonl: whoever sends many of them does not push other lines out. Neither
// is ever larger than 16 MiB: the older half is in NAME.1.
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
  Audit(const std::string& folder, Clock& clock)
      : admitted_{folder + "/audit.jsonl"}, refused_{folder + "/refused.jsonl"}, clock_(clock) {}
  // `caller`: nullptr for a request that was not admitted. `status`: nothing when a request begins. What
  // cannot be written is dropped: a full disk stops no request.
  void note(const httpd::RequestHead& head, const Caller* caller, std::optional<int> status);
  // The last lines, at most `bytes` of them; `refused`: of requests that were not admitted.
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
