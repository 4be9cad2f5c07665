// An HTTP server on loopback that answers what a test says, byte for byte, and may break the connection
// anywhere.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace radl::test {

class ScriptedServer {
 public:
  // Gets the request (line, headers, body) and gives the raw answer; "" closes without one. After the answer
  // the connection is closed, unless it is to be kept open for the next request.
  using Answer = std::function<std::string(const std::string& request)>;

  explicit ScriptedServer(Answer answer, bool keep_open = false)
      : answer_(std::move(answer)), keep_open_(keep_open) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listener_, 128) != 0)
      std::abort();
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  int port() const { return port_; }
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::vector<std::string> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    while (!stopping_) {
      int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      while (answer_one(client) && keep_open_) {
      }
      ::close(client);
    }
  }
  // False when the connection has ended.
  bool answer_one(int client) {
    std::string request = receive(client);
    if (keep_open_ && request.empty()) return false;
    {
      std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    std::string answer = request.empty() ? "" : answer_(request);
    for (size_t done = 0; done < answer.size();) {
      ssize_t n = ::send(client, answer.data() + done, answer.size() - done, MSG_NOSIGNAL);
      if (n <= 0) return false;
      done += size_t(n);
    }
    return !answer.empty();
  }
  static std::string receive(int client) {
    std::string text;
    char buffer[65536];
    for (;;) {
      size_t end = text.find("\r\n\r\n");
      if (end != std::string::npos) {
        size_t at = text.find("Content-Length: "), body = at < end ? std::stoul(text.substr(at + 16)) : 0;
        if (text.size() >= end + 4 + body) return text;
      }
      ssize_t n = ::recv(client, buffer, sizeof buffer, 0);
      if (n <= 0) return text;
      text.append(buffer, size_t(n));
    }
  }

  Answer answer_;
  const bool keep_open_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

// The value of a request's header, "" when it is absent.
inline std::string header_of(const std::string& request, const std::string& name) {
  size_t at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  at += name.size() + 4;
  return request.substr(at, request.find("\r\n", at) - at);
}

inline std::string http_answer(int status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " X\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}

}  // namespace radl::test
