// Numbers of a running member for Prometheus: GET /metrics at job.metrics, in its text format
// (prometheus.io/docs/instrumenting/exposition_formats).
//
// They are those of the member's progress lines (docs/job.md). There is no password: whoever reaches the
// address can read them, and nothing else.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/http_server/server.h"
#include "common/status.h"
#include "engine/train/job.h"

namespace radl::engine {

class MemberMetrics : private httpd::Handler {
 public:
  // Answers until it is destroyed. Conflict: the address is in use.
  static Result<std::unique_ptr<MemberMetrics>> start(const Job& job);
  ~MemberMetrics() override;

  // A progress line of this member. From any thread.
  void note(const char* kind, const nlohmann::ordered_json& line);
  std::string text() const;

 private:
  explicit MemberMetrics(std::string task) : task_(std::move(task)) {}
  std::variant<httpd::Answer, std::unique_ptr<httpd::Exchange>> begin(
      const httpd::RequestHead& head) override;
  httpd::Answer refuse(int status, const std::string& why) override;

  const std::string task_;
  mutable std::mutex mutex_;
  std::map<std::string, double> gauges_;    // the last of each, by field of a line
  std::map<std::string, uint64_t> events_;  // how many, by kind
  std::unique_ptr<httpd::Server> server_;   // last: its threads use what is above
};

}  // namespace radl::engine
