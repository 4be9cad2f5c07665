#include "common/http/json_call.h"

#include "common/json_values.h"

namespace radl::http {
namespace {

constexpr int kAttempts = 5;  // of a call, and to get an answer in one piece
constexpr int kRefused = 401, kUnderWay = 202;

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

Retries json_retries() {
  Retries retries;
  retries.attempts = kAttempts;
  retries.largest_seconds = 15;
  return retries;
}

Answer call_json(Client& http, const JsonCall& call, const Stop& stop, Response* last) {
  Response own;
  Response& response = last ? *last : own;
  bool renewed = false;
  for (int unclear = 0;;) {
    auto token = call.token();
    if (!token.ok()) return no_answer(token.status(), false);
    Request request = call.request;
    request.headers.push_back(std::move(*token));
    request.stop = stop;
    auto answer = http.send(request, call.retries);
    if (!answer.ok()) return no_answer(Status(answer.status()).at(call.what), call.may_have_arrived);
    response = std::move(*answer);
    if (response.status == kRefused && !renewed) {
      renewed = true;
      call.refused();
      continue;
    }
    if (response.status >= 400) return call.refusal(response);
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
