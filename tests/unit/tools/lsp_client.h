// A language client for tests: a server on a thread of this process, spoken to through pipes.
#pragma once

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tools/lsp/framing.h"
#include "tools/lsp/server.h"

namespace radl::lsp {

// The document of a test that has one.
constexpr char kUri[] = "file:///nowhere/main.radl";

using Json = nlohmann::json;

class TestClient {
 public:
  explicit TestClient(ServerOptions options = quick());
  ~TestClient();  // closes the pipes and waits for the server

  static ServerOptions quick();  // diagnostics without delay

  // Sends initialize and initialized; the result.
  Json start(Json capabilities = Json::object(), const std::string& root = "");
  int send_request(const std::string& method, Json params);  // its id
  void send_notification(const std::string& method, Json params);
  void send_raw(std::string_view bytes);
  // The answer to the request: {"result": ..} or {"error": ..}; notifications that come first are kept.
  Json answer_to(int id);
  Json request(const std::string& method, Json params) {
    return answer_to(send_request(method, std::move(params)));
  }
  Json result(const std::string& method, Json params);  // fails the test on an error
  // The next notification of the method; fails the test after a few seconds.
  Json wait_for(const std::string& method);
  Json next_message();

  void open(const std::string& uri, const std::string& text);
  void change(const std::string& uri, int version, Json range, const std::string& text);
  Json diagnostics();  // params of the next publishDiagnostics

  // shutdown and exit; the server's exit code.
  int finish();
  int wait_for_end();
  void close_input();

 private:
  int to_server_[2], from_server_[2];
  std::thread server_;
  int exit_code_ = -1;
  int next_id_ = 1;
  FrameDecoder decoder_;
  std::deque<Json> kept_;
};

// {line, character} of the n-th occurrence (from 0) of `mark` in the text, plus `plus` characters; ASCII
// texts.
Json at(const std::string& text, const std::string& mark, int plus = 0, int n = 0);
Json document(const std::string& uri);
Json document_at(const std::string& uri, Json position);

}  // namespace radl::lsp
