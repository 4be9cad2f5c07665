#include "engine/train/member_metrics.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/cluster/socket.h"

namespace radl::engine {
namespace {

struct Gauge {
  const char* field;  // of a progress line
  const char* help;
};
constexpr std::array kGauges = {
    Gauge{"step", "Batches done, of the run or, of a worker with servers, its last one."},
    Gauge{"steps", "Batches of the run."},
    Gauge{"epoch", "Epochs done."},
    Gauge{"loss", "Mean loss of the last training batches."},
    Gauge{"accuracy", "Accuracy of the last training batches."},
    Gauge{"test_loss", "Loss of the last evaluation."},
    Gauge{"test_accuracy", "Accuracy of the last evaluation."},
    Gauge{"rate", "Learning rate."},
    Gauge{"images_per_second", "Training images a second, of the whole job at its chief."},
    Gauge{"waiting_share", "Share of the time in which the member waits for an exchange."},
    Gauge{"cores", "Processor seconds a second."},
    Gauge{"memory_bytes", "Resident memory."},
    Gauge{"sent_bytes_per_step", "Bytes that the member sends in a step."},
    Gauge{"received_bytes_per_step", "Bytes that the member receives in a step."},
    Gauge{"round_trip_seconds", "Round-trip time of the longest link."},
    Gauge{"link_bytes_per_second", "What the narrowest link lets through, as TCP measures it."},
    Gauge{"eta_seconds", "Time that the rest of the run takes."},
};

std::string shortest(double value) {
  char out[32];
  return {out, std::to_chars(out, out + sizeof out, value).ptr};
}

}  // namespace

Result<std::unique_ptr<MemberMetrics>> MemberMetrics::start(const Job& job) {
  Result<cluster::Endpoint> at = cluster::split_address(job.metrics);
  if (!at) return std::move(at).status();
  unsigned port = 0;
  const char* end = at->port.data() + at->port.size();
  if (const auto read = std::from_chars(at->port.data(), end, port); read.ptr != end || port > UINT16_MAX)
    return invalid(fmt::format("\"{}\" has no port", job.metrics));
  std::unique_ptr<MemberMetrics> out(new MemberMetrics(job.task.name()));
  httpd::ServerOptions options;
  options.address = at->host == "localhost" ? "127.0.0.1" : at->host;
  options.port = static_cast<uint16_t>(port);
  options.threads = options.workers = 1;
  Result<std::unique_ptr<httpd::Server>> server = httpd::Server::start(*out, options);
  if (!server) return std::move(server).status();
  out->server_ = std::move(*server);
  return out;
}

MemberMetrics::~MemberMetrics() { server_.reset(); }

void MemberMetrics::note(const char* kind, const nlohmann::ordered_json& line) {
  std::lock_guard lock(mutex_);
  ++events_[kind];
  for (const Gauge& gauge : kGauges)
    if (line.contains(gauge.field) && line[gauge.field].is_number()) gauges_[gauge.field] = line[gauge.field];
}

std::string MemberMetrics::text() const {
  std::lock_guard lock(mutex_);
  std::string out;
  for (const Gauge& gauge : kGauges) {
    const auto found = gauges_.find(gauge.field);
    if (found == gauges_.end()) continue;
    out += fmt::format(
        "# HELP radl_train_{0} {1}\n# TYPE radl_train_{0} gauge\nradl_train_{0}{{task=\"{2}\"}} {3}\n",
        gauge.field, gauge.help, task_, shortest(found->second));
  }
  out += "# HELP radl_train_events_total Progress lines.\n# TYPE radl_train_events_total counter\n";
  for (const auto& [kind, count] : events_)
    out += fmt::format("radl_train_events_total{{task=\"{}\",event=\"{}\"}} {}\n", task_, kind, count);
  return out;
}

std::variant<httpd::Answer, std::unique_ptr<httpd::Exchange>> MemberMetrics::begin(
    const httpd::RequestHead& head) {
  if (head.path != "/metrics") return refuse(404, "there is only /metrics here");
  if (head.method != "GET" && head.method != "HEAD") {
    httpd::Answer refused = refuse(405, "/metrics takes GET");
    refused.headers = {{"Allow", "GET"}};
    return refused;
  }
  return httpd::Answer{.body = text(), .type = "text/plain; version=0.0.4"};
}

httpd::Answer MemberMetrics::refuse(int status, const std::string& why) {
  return {.status = status, .body = why + "\n", .type = "text/plain"};
}

}  // namespace radl::engine
