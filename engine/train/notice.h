// Asks a cloud's own service on this machine whether the machine is taken back, as the job's NoticeSpec says.
#pragma once

#include <optional>
#include <string>

#include "common/http/http.h"
#include "engine/train/job.h"

namespace radl::engine {

struct Notice {
  std::string action, time;  // as the cloud says them: "terminate", "2026-11-22T15:04:05Z"; "": it does not
};

// What an answer (status 200) says. Nothing: no notice. Corrupt: it is not of the form that is declared.
Result<std::optional<Notice>> notice_in(const NoticeSpec& spec, const std::string& answer);

// Not thread-safe. Keeps its session.
class NoticeService {
 public:
  NoticeService(http::Client& http, const NoticeSpec& spec) : http_(http), spec_(spec) {}
  // Retry, Timeout, Lost: nobody answers (yet); Auth: any other answer than asked for; Corrupt; Cancelled.
  Result<std::optional<Notice>> ask(const Stop& stop);

 private:
  Status open(const Stop& stop);

  http::Client& http_;
  const NoticeSpec& spec_;
  std::string session_;
};

}  // namespace radl::engine
