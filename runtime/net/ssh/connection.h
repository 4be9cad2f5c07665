// An authenticated SSH connection over libssh2, shared by several threads.
//
// libssh2 allows one call at a time, and a partly sent packet must be completed by the same call before any
// other. `drive` ensures both: it repeats a call until it is done, and waits in poll between attempts without
// the lock, unless the call is in the middle of sending.
#pragma once

#include <libssh2.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

class Connection {
 public:
  // Connects, verifies the host key, authenticates. Errors: see make_remote.
  static Result<std::shared_ptr<Connection>> open(const Target& target, const Stop& stop);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // As Remote::exec(). The command runs under /bin/sh whatever the login shell.
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options);

  bool lost() const { return lost_; }

 private:
  friend class Channel;
  // The result of a libssh2 call, and libssh2's error, read before another call could change it.
  struct Outcome {
    int code = 0;
    std::string detail;
    bool ok() const { return code >= 0; }
  };
  // Repeats the call until it returns something other than LIBSSH2_ERROR_EAGAIN.
  Result<Outcome> drive(const Stop& stop, const std::function<int()>& call);
  Status failure(const Outcome& outcome, std::string_view what) const;
  explicit Connection(Target target) : target_(std::move(target)) {}
  static ssize_t receive(int socket, void* bytes, size_t size, int flags, void** session);
  Status connect_socket(const Stop& stop);
  Status handshake(const Stop& stop);
  Status handshake_failure(const Outcome& outcome, const std::string& host_key_type);
  Status check_host_key();
  Status authenticate(const Stop& stop);
  Status try_key(const Stop& stop);
  Status try_agent(const Stop& stop);
  Status try_password(const Stop& stop);
  Outcome outcome_of(int code);  // call with the lock held
  Status wait_inbound(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds at_most);
  Status wait_outbound();
  Status give_up(const std::string& why);  // call with the lock held
  bool is_silent();                        // call with the lock held
  std::chrono::seconds ask_every() const;
  void keep_alive();
  void progress();
  // False: it may still run there.
  bool end_remote_tree(const std::string& pid, const std::string& start);

  Target target_;
  int socket_ = -1;
  int wake_ = -1;  // eventfd: wakes the polling thread after another one has read from the socket
  LIBSSH2_SESSION* session_ = nullptr;
  std::mutex mutex_;      // held for every libssh2 call
  std::mutex open_turn_;  // serializes opening a channel and starting its command
  std::condition_variable news_;
  bool polling_ = false;
  std::string first_bytes_;  // of the handshake, to explain a failure
  bool greeting_ = true;     // they are being recorded
  using TimePoint = std::chrono::steady_clock::time_point;
  TimePoint next_keepalive_{}, heard_{};
  // Start of the current uninterrupted wait for the server; time without a waiter does not count as silence.
  TimePoint listening_since_{}, listened_{};
  TimePoint blocked_since_ = TimePoint::max();  // since then a packet cannot be sent
  std::string lost_why_;
  std::atomic<bool> lost_{false};
};

}  // namespace radl::ssh
