#include "common/http/json_call.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "common/http/retry.h"
#include "common/http/url.h"
#include "common/json_values.h"

namespace radl::http {
namespace {

constexpr int kAttempts = 5;  // of a call, and to get an answer in one piece
constexpr int kRefused = 401, kUnderWay = 202, kBusy = 503;
constexpr double kShort = 1,
                 kLong = 120;  // seconds: what the client waits anyway, and what is left to the caller

// Seconds to wait before repeating a throttled request here; 0: do not repeat here.
double worth_waiting(const JsonCall& call, const Response& response) {
  const bool busy = response.status == kBusy && call.request.idempotent;
  const bool away =
      busy || (call.request.throttled ? call.request.throttled(response) : response.status == 429);
  const double after = away ? retry_after_of(response) : 0;
  return after > kShort && after <= kLong ? after : 0;
}

// False if the deadline comes first, or on a stop request.
bool wait_for(const JsonCall& call, const Waits& waits, double seconds) {
  const auto time = std::chrono::milliseconds(static_cast<long long>(std::ceil(seconds * 1000)));
  if (time >= waits.stop.left()) return false;
  const auto url = parse_url(call.request.url);
  if (waits.tell && url.ok())
    waits.tell(fmt::format("{} has too much to do and asks to wait {:.0f} s", url->authority(), seconds));
  return waits.stop.sleep(time);
}

Failure cut_off(const JsonCall& call, const Response& response, const char* how) {
  Failure cut;
  cut.http_status = response.status;
  cut.status = {call.cut, call.what + how};
  return cut;
}

}  // namespace

Request json_request(const std::string& method, const std::string& url, const nlohmann::json& document) {
  Request request;
  request.method = method;
  request.url = url;
  request.headers = {{"Accept", "application/json"}};
  if (!document.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  request.idempotent = true;
  request.follow_redirects = false;
  request.stall_seconds = 60;
  request.user_agent = "radlc";
  return request;
}

double retry_after_of(const Response& response) {
  return parse_retry_after(response.header("retry-after"), std::time(nullptr)).value_or(0);
}

Retries json_retries() {
  Retries retries;
  retries.attempts = kAttempts;
  retries.largest_seconds = 15;
  return retries;
}

Answer call_json(Client& http, const JsonCall& call, const Waits& waits, Response* last) {
  const Stop& stop = waits.stop;
  Response own;
  Response& response = last ? *last : own;
  Retries retries = call.retries;
  retries.final = [&](const Response& answer) {
    return worth_waiting(call, answer) > 0 || (call.retries.final && call.retries.final(answer));
  };
  bool renewed = false;
  int waited = 0;
  for (int unclear = 0;;) {
    auto token = call.token();
    if (!token.ok()) return no_answer(token.status(), false);
    Request request = call.request;
    request.headers.push_back(std::move(*token));
    request.stop = stop;
    auto answer = http.send(request, retries);
    if (!answer.ok()) return no_answer(Status(answer.status()).at(call.what), call.may_have_arrived);
    response = std::move(*answer);
    if (response.status == kRefused && !renewed) {
      renewed = true;
      call.refused();
      continue;
    }
    const double after = ++waited < kAttempts ? worth_waiting(call, response) : 0;
    if (after > 0 && wait_for(call, waits, after)) continue;
    if (response.status >= 400) {
      if (after > 0 && stop.asked()) return no_answer(stop.check(), false);
      Failure failure = call.refusal(response);
      failure.retry_after = retry_after_of(response);
      return failure;
    }
    if (!response.ok()) return cut_off(call, response, ": redirected");
    if (response.body.empty()) return nlohmann::json();
    nlohmann::json document = json::parse_json(response.body);
    if (document.is_structured()) return document;
    if (response.status == kUnderWay && call.request.method == "GET") return nlohmann::json();
    if (call.again && ++unclear < kAttempts && stop.sleep(std::chrono::milliseconds(100 * unclear))) continue;
    return cut_off(call, response, ": the answer is cut off or no JSON");
  }
}

}  // namespace radl::http
