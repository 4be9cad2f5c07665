#include "runtime/net/ssh/mux.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "common/fd.h"
#include "common/files.h"
#include "common/process/more_input.h"

namespace radl::ssh {
namespace {

// PROTOCOL.mux, sections 1 to 4 and 11.
constexpr uint32_t kHello = 0x00000001, kNewSession = 0x10000002, kAliveCheck = 0x10000004;
constexpr uint32_t kDenied = 0x80000002, kFailure = 0x80000003, kExit = 0x80000004, kIsAlive = 0x80000005,
                   kOpened = 0x80000006;
constexpr uint32_t kVersion = 4, kNoEscape = 0xffffffff;
constexpr size_t kLargestPacket = 256 * 1024;
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::seconds kSetUp{30}, kAnswers{15};

void put_number(std::string& to, uint32_t value) {
  value = htonl(value);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_text(std::string& to, std::string_view text) {
  put_number(to, static_cast<uint32_t>(text.size()));
  to.append(text);
}

// Parses a packet; missing fields are 0 or empty.
class Fields {
 public:
  explicit Fields(std::string_view packet) : rest_(packet) {}
  uint32_t number() {
    uint32_t value = 0;
    if (rest_.size() < sizeof value) return 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return ntohl(value);
  }
  std::string text() {
    const size_t size = std::min<size_t>(number(), rest_.size());
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view rest_;
};

Status not_served(const std::string& why) { return {Code::Unsupported, why}; }

// One conversation with the process that holds the connection.
class Conversation {
 public:
  // Up to the greeting of both sides.
  Status open(const std::string& path, const Stop& stop) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return not_served(path + ": too long for a socket");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    fd_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd_.open()) return errno_status(errno, "socket");
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      return not_served(path + ": " + std::strerror(errno));
    ucred owner{};
    socklen_t size = sizeof owner;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &owner, &size) != 0 || owner.uid != ::geteuid())
      return not_served(path + ": served by another user");
    std::string hello;
    put_number(hello, kHello);
    put_number(hello, kVersion);
    if (Status sent = send(hello, stop); !sent.ok()) return sent;
    Result<std::string> answer = receive(stop);
    if (!answer.ok()) return answer.status();
    Fields fields(*answer);
    if (fields.number() != kHello || fields.number() != kVersion)
      return not_served(path + ": not the socket of an OpenSSH client");
    return {};
  }

  Status send(const std::string& packet, const Stop& stop) {
    std::string bytes;
    put_text(bytes, packet);
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::send(fd_.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (n > 0) at += static_cast<size_t>(n);
      if (n >= 0 || errno == EINTR) continue;
      if (errno != EAGAIN) return not_served(std::strerror(errno));
      if (Status waited = wait(POLLOUT, stop); !waited.ok()) return waited;
    }
    return {};
  }

  Status send_descriptor(int given, const Stop& stop) {
    char byte = 0;
    iovec one{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &one;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &given, sizeof given);
    while (::sendmsg(fd_.get(), &message, MSG_NOSIGNAL) != 1) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return not_served(std::strerror(errno));
      if (Status waited = wait(POLLOUT, stop); !waited.ok()) return waited;
    }
    return {};
  }

  // The next packet. Unsupported: the conversation was ended.
  Result<std::string> receive(const Stop& stop) {
    for (;;) {
      if (std::optional<std::string> packet = take()) return std::move(*packet);
      if (ended_) return not_served("the OpenSSH client has ended the conversation");
      if (Status waited = wait(POLLIN, stop); !waited.ok()) return waited;
      read_some();
    }
  }

  // What has arrived, without waiting.
  std::optional<std::string> take() {
    if (buffer_.size() < 4) return std::nullopt;
    const size_t size = Fields(buffer_).number();
    ended_ |= size > kLargestPacket;
    if (size > kLargestPacket || buffer_.size() < 4 + size) return std::nullopt;
    std::string packet = buffer_.substr(4, size);
    buffer_.erase(0, 4 + size);
    return packet;
  }
  void read_some() {
    char piece[4096];
    const ssize_t n = ::recv(fd_.get(), piece, sizeof piece, 0);
    if (n > 0) buffer_.append(piece, static_cast<size_t>(n));
    ended_ |= n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
  }
  bool ended() const { return ended_; }
  int fd() const { return fd_.get(); }

 private:
  Status wait(short events, const Stop& stop) {
    if (Status stopped = stop.check(); !stopped.ok()) return stopped;
    pollfd one{fd_.get(), events, 0};
    (void)::poll(&one, 1, static_cast<int>(kTick.count()));
    return {};
  }

  Fd fd_;
  std::string buffer_;
  bool ended_ = false;
};

// A stream of the command: our end, and the one that is given away.
struct Stream {
  Fd ours, theirs;
  Status make() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return errno_status(errno, "socketpair");
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {};
  }
};

class MuxRun {
 public:
  MuxRun(const std::string& path, const MuxCommand& command) : path_(path), command_(command) {}

  Status run() {
    Status begun = ask(command_.stop.within(kSetUp));
    if (begun.ok()) begun = begin(command_.stop_running.within(kSetUp));
    const Stop& stop = asked_ ? command_.stop_running : command_.stop;
    if (begun.code() == Code::Timeout && stop.check().ok())
      begun = not_served(path_ + ": the OpenSSH client does not answer");
    if (begun.code() == Code::Unsupported && asked_ && !refused_) return {Code::Lost, begun.message()};
    if (!begun.ok()) return begun;
    heard_ = std::chrono::steady_clock::now();
    while (out_.ours.open() || err_.ours.open() || (!exited_ && !master_.ended())) {
      if (Status stopped = command_.stop_running.check(); !stopped.ok()) return stopped;
      if (Status alive = ask_if_silent(); !alive.ok()) return alive;
      move();
    }
    return exited_ ? Status() : Status(Code::Lost, "the connection that was open went away");
  }

 private:
  Status ask(const Stop& stop) {
    if (Status opened = master_.open(path_, stop); !opened.ok()) return opened;
    for (Stream* stream : {&in_, &out_, &err_}) {
      if (Status made = stream->make(); !made.ok()) return made;
    }
    std::string request;
    for (uint32_t value : {kNewSession, uint32_t{1}}) put_number(request, value);
    put_text(request, "");                               // reserved
    for (int i = 0; i < 4; ++i) put_number(request, 0);  // no tty, X11, agent; no subsystem
    put_number(request, kNoEscape);
    put_text(request, "");  // terminal
    put_text(request, command_.command);
    if (Status sent = master_.send(request, stop); !sent.ok()) return sent;
    asked_ = true;
    return {};
  }

  // From here on it may run.
  Status begin(const Stop& stop) {
    for (Stream* stream : {&in_, &out_, &err_}) {
      if (Status sent = master_.send_descriptor(stream->theirs.get(), stop); !sent.ok()) return sent;
      stream->theirs.reset();
    }
    Result<std::string> answer = master_.receive(stop);
    if (!answer.ok()) return answer.status();
    Fields fields(*answer);
    const uint32_t type = fields.number();
    if (type == kOpened) return {};
    fields.number();  // of the request
    refused_ = type == kDenied || type == kFailure;
    return not_served(path_ + ": " +
                      (refused_ ? fields.text() : fmt::format("an answer of type {:#x}", type)));
  }

  void move() {
    std::vector<pollfd> all;
    auto watch = [&](const Fd& fd, short events) {
      if (fd.open()) all.push_back({fd.get(), events, 0});
    };
    watch(out_.ours, POLLIN);
    watch(err_.ours, POLLIN);
    if (!input().empty()) watch(in_.ours, POLLOUT);
    if (!master_.ended()) all.push_back({master_.fd(), POLLIN, 0});
    (void)::poll(all.data(), all.size(), static_cast<int>(kTick.count()));
    write_input();
    read_output(out_.ours, false);
    read_output(err_.ours, true);
    master_.read_some();
    while (std::optional<std::string> packet = master_.take()) exited_ |= Fields(*packet).number() == kExit;
  }

  // The bytes to write now.
  std::string_view input() {
    return written_ < command_.stdin_bytes.size() ? command_.stdin_bytes.substr(written_) : more_.next();
  }

  void write_input() {
    while (in_.ours.open()) {
      const std::string_view next = input();
      if (next.empty() && more_.over()) return in_.ours.reset();
      if (next.empty()) return;
      const ssize_t n = ::send(in_.ours.get(), next.data(), next.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) return more_.stop(), in_.ours.reset();  // it does not want more
      if (written_ < command_.stdin_bytes.size())
        written_ += static_cast<size_t>(n);
      else
        more_.took(static_cast<size_t>(n));
    }
  }

  void read_output(Fd& from, bool is_stderr) {
    while (from.open()) {
      const ssize_t n = ::read(from.get(), buffer_.data(), buffer_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return from.reset();
      heard_ = std::chrono::steady_clock::now();
      if (command_.on_output) command_.on_output({buffer_.data(), static_cast<size_t>(n)}, is_stderr);
    }
  }

  // The client that holds the connection may wait for a dead one as long as TCP does.
  Status ask_if_silent() {
    if (command_.ask_after.count() == 0) return {};
    if (std::chrono::steady_clock::now() < heard_ + command_.ask_after) return {};
    MuxCommand nothing;
    nothing.command = "exit 0";
    nothing.stop = nothing.stop_running = command_.stop_running.within(kAnswers);
    Status answered = mux_run(path_, nothing);
    heard_ = std::chrono::steady_clock::now();
    // One session more than it allows: it has answered.
    if (answered.ok() || answered.code() == Code::Unsupported) return {};
    if (Status stopped = command_.stop_running.check(); !stopped.ok()) return stopped;
    return {Code::Lost, "the server has not answered: it hangs, or the network is cut"};
  }

  const std::string& path_;
  const MuxCommand& command_;
  Conversation master_;
  Stream in_, out_, err_;
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);
  size_t written_ = 0;
  MoreInput more_{command_.more_stdin};
  bool asked_ = false, refused_ = false, exited_ = false;
  std::chrono::steady_clock::time_point heard_;
};

}  // namespace

Status mux_run(const std::string& socket, const MuxCommand& command) { return MuxRun(socket, command).run(); }

Result<int> mux_master(const std::string& socket, const Stop& stop) {
  const Stop soon = stop.within(kSetUp);
  Conversation master;
  if (Status opened = master.open(socket, soon); !opened.ok()) return opened;
  std::string request;
  for (uint32_t value : {kAliveCheck, uint32_t{1}}) put_number(request, value);
  if (Status sent = master.send(request, soon); !sent.ok()) return sent;
  Result<std::string> answer = master.receive(soon);
  if (!answer.ok()) return answer.status();
  Fields fields(*answer);
  if (fields.number() != kIsAlive) return not_served(socket + ": the OpenSSH client does not answer");
  fields.number();  // of the request
  return static_cast<int>(fields.number());
}

}  // namespace radl::ssh
