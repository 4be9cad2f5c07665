#include "tests/unit/tools/lsp_client.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <unistd.h>

#include <algorithm>

namespace radl::lsp {

ServerOptions TestClient::quick() {
  ServerOptions options;
  options.version = "test";
  options.diagnostics_delay = std::chrono::milliseconds(0);
  return options;
}

TestClient::TestClient(ServerOptions options) {
  if (pipe(to_server_) != 0 || pipe(from_server_) != 0) throw std::runtime_error("pipe");
  server_ = std::thread([this, options] {
    exit_code_ = serve(to_server_[0], from_server_[1], options);
    close(from_server_[1]);
  });
}

TestClient::~TestClient() {
  close_input();
  if (server_.joinable()) server_.join();
  close(to_server_[0]);
  close(from_server_[0]);
}

void TestClient::close_input() {
  if (to_server_[1] >= 0) close(to_server_[1]);
  to_server_[1] = -1;
}

void TestClient::send_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = write(to_server_[1], bytes.data(), bytes.size());
    if (put <= 0) throw std::runtime_error("the server is gone");
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

int TestClient::send_request(const std::string& method, Json params) {
  int id = next_id_++;
  send_raw(encode_frame(
      Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}.dump()));
  return id;
}

void TestClient::send_notification(const std::string& method, Json params) {
  send_raw(encode_frame(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}.dump()));
}

Json TestClient::next_message() {
  std::string body;
  while (true) {
    auto event = decoder_.next(body);
    if (event == FrameDecoder::Event::Message) return Json::parse(body);
    if (event == FrameDecoder::Event::Bad) throw std::runtime_error("the server wrote a bad frame: " + body);
    pollfd fd{from_server_[0], POLLIN, 0};
    if (poll(&fd, 1, 30'000) <= 0) throw std::runtime_error("the server is silent");
    char chunk[65536];
    ssize_t got = read(from_server_[0], chunk, sizeof chunk);
    if (got <= 0) throw std::runtime_error("the server is gone");
    decoder_.feed({chunk, static_cast<size_t>(got)});
  }
}

Json TestClient::answer_to(int id) {
  while (true) {
    Json message = next_message();
    if (message.contains("id") && message["id"] == id) return message;
    kept_.push_back(std::move(message));
  }
}

Json TestClient::result(const std::string& method, Json params) {
  Json answer = request(method, std::move(params));
  EXPECT_TRUE(answer.contains("result")) << method << ": " << answer.dump();
  return answer.value("result", Json());
}

Json TestClient::wait_for(const std::string& method) {
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->value("method", "") != method) continue;
    Json message = std::move(*it);
    kept_.erase(it);
    return message;
  }
  while (true) {
    Json message = next_message();
    if (message.value("method", "") == method) return message;
    kept_.push_back(std::move(message));
  }
}

Json TestClient::start(Json capabilities, const std::string& root) {
  Json params = {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", std::move(capabilities)}};
  if (!root.empty()) params["workspaceFolders"] = {{{"uri", root}, {"name", "root"}}};
  Json answer = result("initialize", std::move(params));
  send_notification("initialized", Json::object());
  return answer;
}

void TestClient::open(const std::string& uri, const std::string& text) {
  Json item = {{"uri", uri}, {"languageId", "radl"}, {"version", 1}, {"text", text}};
  send_notification("textDocument/didOpen", {{"textDocument", std::move(item)}});
}

void TestClient::change(const std::string& uri, int version, Json range, const std::string& text) {
  Json edit = {{"text", text}};
  if (!range.is_null()) edit["range"] = std::move(range);
  send_notification("textDocument/didChange", {{"textDocument", {{"uri", uri}, {"version", version}}},
                                               {"contentChanges", Json::array({edit})}});
}

Json TestClient::diagnostics() { return wait_for("textDocument/publishDiagnostics").at("params"); }

int TestClient::wait_for_end() {
  if (server_.joinable()) server_.join();
  return exit_code_;
}

int TestClient::finish() {
  result("shutdown", nullptr);
  send_notification("exit", nullptr);
  return wait_for_end();
}

Json at(const std::string& text, const std::string& mark, int plus, int n) {
  size_t offset = text.find(mark);
  for (; n > 0 && offset != std::string::npos; --n) offset = text.find(mark, offset + 1);
  EXPECT_NE(offset, std::string::npos) << mark;
  if (offset == std::string::npos) return {};
  offset += static_cast<size_t>(plus);
  size_t line =
      static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  size_t start = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  return {{"line", line}, {"character", offset - (start == std::string::npos ? 0 : start + 1)}};
}

Json document(const std::string& uri) { return {{"textDocument", {{"uri", uri}}}}; }

Json document_at(const std::string& uri, Json position) {
  return {{"textDocument", {{"uri", uri}}}, {"position", std::move(position)}};
}

}  // namespace radl::lsp
