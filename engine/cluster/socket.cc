#include "engine/cluster/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "common/files.h"

namespace radl::engine::cluster {
namespace {

constexpr int kBacklog = 1024;  // connections that wait to be accepted; a burst of strangers is one, too

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<Addresses> resolve(const Endpoint& endpoint, bool passive) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = (passive ? AI_PASSIVE : 0) | AI_NUMERICSERV;
  int error = ::getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found);
  if (error != 0) {
    return Status(Code::Retry, fmt::format("{}: {}", endpoint.host, ::gai_strerror(error)));
  }
  return Addresses(found, ::freeaddrinfo);
}

std::string text_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                       : fmt::format("{}:{}", host, port);
}

int poll_one(int fd, short events, Milliseconds timeout) {
  pollfd p{fd, events, 0};
  const Patience patience = Patience::until(Clock::now() + timeout);
  for (;;) {
    int n = ::poll(&p, 1, static_cast<int>(patience.now().count()));
    if (n >= 0 || errno != EINTR) return n;
  }
}

Status broken(int error) {
  return {Code::Lost, fmt::format("the connection broke: {}", std::strerror(error))};
}

}  // namespace

Socket::~Socket() { ::close(fd_); }

void Socket::shut() {
  shut_ = true;
  ::shutdown(fd_, SHUT_RDWR);
}

Status Socket::wait(short events, Patience patience) {
  const Milliseconds most = patience.now();
  int n = poll_one(fd_, events, most);
  if (shut_) return {Code::Lost, "the link is closed"};
  if (n == 0)
    return {Code::Timeout, fmt::format("nothing for {:.1f} s", static_cast<double>(most.count()) / 1000)};
  if (n < 0) return errno_status(errno, "poll");
  return {};
}

Result<size_t> Socket::write_some(std::string_view bytes) {
  for (;;) {
    if (shut_) return Status(Code::Lost, "the link is closed");
    ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) return static_cast<size_t>(n);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return size_t{0};
    if (errno != EINTR) return broken(errno);
  }
}

Result<size_t> Socket::read_some(char* out, size_t size) {
  for (;;) {
    if (shut_) return Status(Code::Lost, "the link is closed");
    ssize_t n = ::recv(fd_, out, size, 0);
    if (n > 0) return static_cast<size_t>(n);
    if (n == 0) return Status(Code::Lost, "the connection was closed");
    if (errno == EAGAIN || errno == EWOULDBLOCK) return size_t{0};
    if (errno != EINTR) return broken(errno);
  }
}

Status Socket::write(std::string_view bytes, Patience patience) {
  while (!bytes.empty()) {
    Result<size_t> n = write_some(bytes);
    if (!n) return std::move(n).status();
    bytes.remove_prefix(*n);
    if (*n > 0) continue;
    Status ready = wait(POLLOUT, patience);
    if (ready.code() == Code::Timeout) return {Code::Lost, "takes no data any more: " + ready.message()};
    if (!ready.ok()) return ready;
  }
  return {};
}

Result<size_t> Socket::read_any(char* out, size_t size, Patience patience, bool started) {
  for (;;) {
    Result<size_t> n = read_some(out, size);
    if (n && *n > 0) return n;
    if (!n) {
      if (!started || shut_) return n;
      return Status(Code::Lost, "in the middle of a message: " + n.status().message());
    }
    Status ready = wait(POLLIN, patience);
    if (ready.code() == Code::Timeout && started)
      return Status(Code::Lost, "the connection stalled within a message: " + ready.message());
    if (!ready.ok()) return ready;
  }
}

Status Socket::read(char* out, size_t size, Patience patience, bool started) {
  while (size > 0) {
    Result<size_t> n = read_any(out, size, patience, started);
    if (!n) return std::move(n).status();
    out += *n;
    size -= *n;
    started = true;
  }
  return {};
}

Result<Endpoint> split_address(const std::string& address) {
  size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return invalid(fmt::format("\"{}\" is not an address of the form host:port", address));
  }
  Endpoint out{address.substr(0, colon), address.substr(colon + 1)};
  if (out.host.front() == '[' && out.host.back() == ']') out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

void tune(int fd) {
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

Result<int> connect_once(const Endpoint& endpoint, Milliseconds timeout) {
  Result<Addresses> addresses = resolve(endpoint, false);
  if (!addresses) return std::move(addresses).status();
  Status last{Code::Retry, endpoint.host + ": has no address"};
  for (addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) {
    int fd = ::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return errno_status(errno, "socket");
    tune(fd);
    int error = 0;
    if (::connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
      error = errno;
      if (error == EINPROGRESS) {
        socklen_t size = sizeof error;
        error = ETIMEDOUT;
        if (poll_one(fd, POLLOUT, timeout) > 0) ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error == 0) return fd;
    ::close(fd);
    last = Status(error == ECONNREFUSED ? Code::NotFound : Code::Retry,
                  fmt::format("{}:{}: {}", endpoint.host, endpoint.port, std::strerror(error)));
  }
  return last;
}

Result<int> listen_at(const Endpoint& endpoint) {
  Result<Addresses> addresses = resolve(endpoint, true);
  if (!addresses) return invalid(addresses.status().message());
  const addrinfo* a = addresses->get();
  int fd = ::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno_status(errno, "socket");
  int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd, kBacklog) == 0) return fd;
  int error = errno;
  ::close(fd);
  std::string where = fmt::format("{}:{}", endpoint.host, endpoint.port);
  if (error == EADDRINUSE) {
    return Status(Code::Conflict, fmt::format("cannot listen at {}: the address is in use", where))
        .with_hint("another program, or this job's former run, still holds the port");
  }
  if (error == EADDRNOTAVAIL) {
    return invalid(fmt::format("cannot listen at {}: this machine has no such address", where));
  }
  return errno_status(error, "cannot listen at " + where);
}

std::string own_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "?";
  return text_of(address, size);
}

std::string peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "?";
  return text_of(address, size);
}

}  // namespace radl::engine::cluster
