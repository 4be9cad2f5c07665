// A TCP port of 127.0.0.1 that stays the test's own until a server of the test listens at it, and after that.
//
// A port that was merely free a moment ago is not: the kernel gives it to the next socket that asks for any
// port, of this test or of one that runs beside it. The socket here is bound and does not listen, so that the
// kernel gives the port to nobody, refuses connections to it, and lets a server with SO_REUSEADDR have it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/fd.h"

namespace radl::test {

class ReservedPort {
 public:
  // Throws std::runtime_error if the system has no port left.
  ReservedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    auto* address = reinterpret_cast<sockaddr*>(&own);
    if (!socket_.open() || ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(socket_.get(), address, size) != 0 || ::getsockname(socket_.get(), address, &size) != 0)
      throw std::runtime_error(std::string("cannot reserve a port: ") + std::strerror(errno));
    port_ = ntohs(own.sin_port);
  }

  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  Fd socket_;
  uint16_t port_ = 0;
};

}  // namespace radl::test
