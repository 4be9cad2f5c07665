// Asks a cloud's own service on this machine whether the machine is taken back, as a NoticeSpec says.
#pragma once

#include <optional>
#include <string>

#include "common/eviction_notice.h"
#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine {

// Not thread-safe. Keeps its session.
class NoticeService {
 public:
  NoticeService(http::Client& http, const NoticeSpec& spec) : http_(http), spec_(spec) {}
  // Retry, Timeout, Lost: nobody answers (yet); Auth: any other answer than asked for; Corrupt; Cancelled.
  Result<std::optional<EvictionNotice>> ask(const Stop& stop);

 private:
  Status open(const Stop& stop);

  http::Client& http_;
  const NoticeSpec& spec_;
  std::string session_;
};

}  // namespace radl::engine
