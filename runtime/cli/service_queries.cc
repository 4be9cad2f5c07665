// list, show, output, runs, wait, logs and cancel on a service.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "common/utc.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/service_session.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/state_view.h"
#include "runtime/plan/render.h"

namespace radl::cli {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};

void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

std::string price_of(const Json& row) {
  MoneySum price;
  for (const Json& amount : row.value("price_per_hour", Json::array())) price.add(amount.get<Money>());
  return price_text(price, "USD");
}

class Queries : public OnService {
 public:
  using OnService::OnService;

  int list() {
    if (Status connected = connect(); !connected.ok()) return report(session_, connected);
    auto all = client_->call("GET", "/infrastructures");
    if (!all.ok()) return report(session_, all.status());
    const Json rows = all->value("infrastructures", Json::array());
    if (request_.run.json) {
      print_json(rows);
      return kDone;
    }
    for (const Json& row : rows)
      std::printf("%s\n",
                  shown(fmt::format("{:<24} {:<14} {:<10} {:>3} nodes  {}", json::text_of(row, "name"),
                                    json::text_of(row, "id"), json::text_of(row, "state"),
                                    row.value("nodes", 0), price_of(row)))
                      .c_str());
    if (rows.empty()) std::fprintf(stderr, "No infrastructures on %s.\n", shown(client_->url()).c_str());
    return kDone;
  }

  int show() {
    Json snapshot;
    std::set<std::string> running;
    std::string going_on;
    if (Status got = get_state(snapshot, running, going_on); !got.ok()) return report(session_, got);
    if (request_.run.json)
      print_json(with_running(std::move(snapshot), running));
    else
      print_state(session_, snapshot, client_->url() + ", " + id_, going_on, running);
    return kDone;
  }

  int output() {
    Json snapshot;
    std::set<std::string> running;
    std::string going_on;
    if (Status got = get_state(snapshot, running, going_on); !got.ok()) return report(session_, got);
    return print_outputs(session_, snapshot, {request_.word, request_.run.json, request_.raw});
  }

  int runs() {
    if (Status found = find_named(); !found.ok()) return report(session_, found);
    if (!request_.word.empty() || request_.follow || request_.from != 1) {
      auto run = named_run();
      return run.ok() ? follow(*run, request_.from) : report(session_, run.status());
    }
    auto runs = client_->call("GET", "/runs?infrastructure=" + id_);
    if (!runs.ok()) return report(session_, runs.status());
    const Json rows = runs->value("runs", Json::array());
    if (request_.run.json) {
      print_json(rows);
      return kDone;
    }
    for (const Json& one : rows)
      std::printf("%s\n", shown(fmt::format("{:<40} {:<8} {:<8} {}", json::text_of(one, "id"),
                                            json::text_of(one, "command"), json::text_of(one, "state"),
                                            json::text_of(one, "why")))
                              .c_str());
    return kDone;
  }

  int wait() {
    if (Status found = find_named(); !found.ok()) return report(session_, found);
    auto run = named_run();
    return run.ok() ? follow(*run, 1) : report(session_, run.status());
  }

  int cancel() {
    if (Status found = find_named(); !found.ok()) return report(session_, found);
    if (request_.word.starts_with(id_ + "-")) {
      auto stopped =
          client_->call("POST", "/runs/" + http::percent_encode(request_.word) + "/stop", Json::object());
      if (!stopped.ok()) return report(session_, stopped.status());
      std::printf("%s is ending: trainings write a checkpoint first. Cancel it again to end it at once.\n",
                  shown(request_.word).c_str());
      return kDone;
    }
    auto done = client_->call("POST", path("/cancel"), {{"job", request_.word}});
    if (!done.ok()) return report(session_, done.status());
    std::printf("%s\n", shown(json::text_of(*done, "message")).c_str());
    return kDone;
  }

  int logs() {
    if (Status found = find_named(); !found.ok()) return report(session_, found);
    std::map<std::string, Place> places;
    if (Status got = print_new(places, request_.lines); !got.ok()) return report(session_, got);
    if (places.empty() && !(request_.follow && may_come()))
      return report(session_,
                    not_found(request_.word.empty() ? "no step or training of " + name_ + " has run yet"
                                                    : "no logs of '" + request_.word + "'"));
    std::string run;
    unsigned long long next = 1;
    while (request_.follow && cancellation_.finishing().sleep(kLookEvery)) {
      Status got = request_.word.empty() ? print_events(run, next) : Status();
      if (got.ok()) got = print_new(places, 0);
      if (!got.ok() && got.code() != Code::Cancelled && got.code() != Code::Retry && got.code() != Code::Lost)
        return report(session_, got);
    }
    return kDone;
  }

 private:
  struct Place {
    std::string file;  // a step that runs again begins a new one
    unsigned long long next = 0;
  };

  Status get_state(Json& snapshot, std::set<std::string>& running, std::string& going_on) {
    if (Status found = find_named(); !found.ok()) return found;
    auto one = client_->call("GET", path());
    if (!one.ok()) return one.status();
    snapshot = one->value("snapshot", Json::object());
    if (!snapshot.contains("resources") || !snapshot.contains("steps") || !snapshot.contains("outputs"))
      return Status(Code::Corrupt, client_->url() + ": the answer has no state");
    for (const Json& step : one->value("running", Json::array()))
      if (step.is_string()) running.insert(step.get<std::string>());
    const std::string state = json::text_of(*one, "state");
    if (state == "working" || state == "deleting")
      going_on = json::text_of(*one, "last_run") + " runs; follow it: " + command_line("wait");
    return {};
  }

  // What has not run yet may be followed; a name that nothing has, and no run can bring, is a mistake.
  bool may_come() {
    if (request_.word.empty()) return true;
    auto one = client_->call("GET", path());
    if (!one.ok()) return false;
    const std::string state = json::text_of(*one, "state");
    if (state == "working" || state == "deleting") return true;
    const Json snapshot = one->value("snapshot", Json::object());
    const auto is_named = [&](const Json& record) {
      return json::text_of(record, "address") == request_.word ||
             json::text_of(record, "system") == request_.word || json::text_of(record, "id") == request_.word;
    };
    const Json resources = snapshot.value("resources", Json::array());
    const Json steps = snapshot.value("steps", Json::array());
    return std::ranges::any_of(resources, is_named) || std::ranges::any_of(steps, is_named);
  }

  // What was added to the logs since the last call.
  Status print_new(std::map<std::string, Place>& places, int lines) {
    const std::string of = request_.word.empty() ? "" : "?of=" + http::percent_encode(request_.word);
    auto logs = client_->call("GET", path("/logs" + of));
    if (!logs.ok()) return logs.status();
    for (const Json& log : logs->value("logs", Json::array())) {
      const std::string label = json::text_of(log, "log");
      Place& place = places[label];
      const auto bytes = log.value("bytes", 0ULL);
      if (place.file != json::text_of(log, "file") || bytes < place.next)
        place = {json::text_of(log, "file"), 0};
      while (place.next < bytes) {
        std::string query = "?from=" + std::to_string(place.next);
        if (lines > 0 && place.next == 0) query += "&lines=" + std::to_string(lines);
        auto piece = client_->call("GET", path("/logs/" + encoded(label) + query));
        if (!piece.ok()) return piece.status();
        const auto next = piece->value("next", place.next);
        print_lines(label, json::text_of(*piece, "text"));
        if (next <= place.next) break;  // the last line is not whole yet
        place.next = next;
      }
    }
    std::fflush(stdout);
    return {};
  }

  void print_lines(const std::string& label, const std::string& text) const {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::printf("%s | %s\n", shown(label).c_str(),
                  shown(text.substr(at, end - at), session_.terminal.color).c_str());
      at = end + 1;
    }
  }

  // For the newest run.
  Status print_events(std::string& run, unsigned long long& next) {
    auto runs = client_->call("GET", "/runs?infrastructure=" + id_);
    if (!runs.ok()) return runs.status();
    const Json rows = runs->value("runs", Json::array());
    if (rows.empty()) return {};
    if (run != json::text_of(rows.front(), "id")) {
      run = json::text_of(rows.front(), "id");
      next = 1;
    }
    auto events =
        client_->call("GET", "/runs/" + http::percent_encode(run) + "/events?from=" + std::to_string(next));
    if (!events.ok()) return events.status();
    for (const Json& one : events->value("events", Json::array())) {
      auto event = event_from_json(one);
      if (!event.ok()) continue;
      next = event->sequence + 1;
      if (const std::string line = lines_.line(*event); !line.empty())
        std::printf("run | %s\n", line.c_str());
    }
    return {};
  }
};

}  // namespace

int list_on_service(const Session& session, bool json) {
  const ServiceRequest request{.project = {}, .run = json_run(json)};
  return Queries(session, request).list();
}
int show_on_service(const Session& session, const ServiceRequest& request) {
  return Queries(session, request).show();
}
int output_on_service(const Session& session, const ServiceRequest& request) {
  return Queries(session, request).output();
}
int runs_on_service(const Session& session, const ServiceRequest& request) {
  return Queries(session, request).runs();
}
int wait_on_service(const Session& session, const ServiceRequest& request) {
  return Queries(session, request).wait();
}
int cancel_on_service(const Session& session, const ServiceRequest& request) {
  return Queries(session, request).cancel();
}
int logs_on_service(const Session& session, const ServiceRequest& request) {
  return Queries(session, request).logs();
}

}  // namespace radl::cli
