// Metrics of a running member for Prometheus: GET /metrics at job.metrics, in its text format
// (prometheus.io/docs/instrumenting/exposition_formats).
//
// They equal the figures of the member's progress lines (docs/progress-lines.md). There is no authentication:
// anyone who can reach the address can read them, and nothing else.
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
  // Serves until destroyed. Conflict: the address is in use.
  static Result<std::unique_ptr<MemberMetrics>> start(const Job& job);
  ~MemberMetrics() override;

  // Records a progress line of this member. Thread-safe.
  void note(const char* kind, const nlohmann::ordered_json& line);
  std::string text() const;

 private:
  explicit MemberMetrics(std::string task) : task_(std::move(task)) {}
  std::variant<httpd::Answer, std::unique_ptr<httpd::Exchange>> begin(
      const httpd::RequestHead& head) override;
  httpd::Answer refuse(int status, const std::string& why) override;

  const std::string task_;
  mutable std::mutex mutex_;
  std::map<std::string, double> gauges_;    // last value of each field of a line
  std::map<std::string, uint64_t> events_;  // event count by kind
  std::unique_ptr<httpd::Server> server_;   // last member: its threads use those above
};

}  // namespace radl::engine
