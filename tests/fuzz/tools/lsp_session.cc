// Whole sessions with the server: bodies, separated by zero bytes, are framed and sent as a client would send
// them, behind an orderly start. Whatever they say, the server answers each request once and ends when it is
// told to.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tools/lsp/connection.h"
#include "tools/lsp/framing.h"
#include "tools/lsp/server.h"

using namespace radl::lsp;

namespace {

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;  // the fuzzer's alarm clock
    if (put <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

std::string request(int id, const char* method, Json params) {
  return encode_frame(
      Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}.dump());
}

// The answers of a session that was sent these bytes.
std::map<std::string, int> answers_to(const std::string& bytes) {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) std::abort();
  ServerOptions options;
  options.diagnostics_delay = std::chrono::milliseconds(0);
  std::thread server([&] {
    serve(to[0], from[1], options);
    close(to[0]);
    close(from[1]);
  });
  std::thread client([&] {
    write_all(to[1], bytes);
    close(to[1]);
  });
  FrameDecoder decoder;
  std::map<std::string, int> answers;
  std::string chunk(1 << 16, '\0'), body;
  while (true) {
    ssize_t got = read(from[0], chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    decoder.feed({chunk.data(), static_cast<size_t>(got)});
    for (auto event = decoder.next(body); event != FrameDecoder::Event::NeedMore;
         event = decoder.next(body)) {
      if (event == FrameDecoder::Event::Bad) std::abort();
      Json message = Json::parse(body);
      if (message.contains("id") && !message["id"].is_null()) ++answers[message["id"].dump()];
    }
  }
  server.join();
  client.join();
  close(from[0]);
  return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 8000) return 0;
  std::string bytes = request(900001, "initialize", {{"capabilities", Json::object()}});
  std::map<std::string, int> asked = {{"900001", 1}};
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  bool over = false;
  for (int bodies = 0; bodies < 30 && !rest.empty() && !over; ++bodies) {
    std::string_view body = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), body.size() + 1));
    Incoming message = parse_message(body);
    if (message.method == "exit") continue;
    if (message.method == "workspace/didChangeWorkspaceFolders") continue;  // whole disks would be searched
    over = message.method == "shutdown";
    if (message.kind == Incoming::Kind::Request) ++asked[message.id.dump()];
    if (message.kind == Incoming::Kind::Bad && !message.id.is_null()) ++asked[message.id.dump()];
    bytes += encode_frame(body);
  }
  bytes += request(900002, "shutdown", nullptr);
  ++asked["900002"];
  bytes += encode_frame(R"({"jsonrpc":"2.0","method":"exit"})");
  std::map<std::string, int> answered = answers_to(bytes);
  if (answered == asked) return 0;
  for (const auto& [id, times] : asked) std::fprintf(stderr, "asked %s %d times\n", id.c_str(), times);
  for (const auto& [id, times] : answered) std::fprintf(stderr, "answered %s %d times\n", id.c_str(), times);
  std::abort();
}
