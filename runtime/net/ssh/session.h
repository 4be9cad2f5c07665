// One authenticated SSH connection over libssh2, shared by several threads.
//
// libssh2 wants one call at a time, and a packet that could only be sent in part must be finished by the very
// same call before any other. `drive` sees to both: it repeats a call until it is done, sleeping in poll
// between tries without holding the lock, unless the call is in the middle of sending.
#pragma once

#include <libssh2.h>
#include <libssh2_sftp.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

class Session {
 public:
  // Connects, checks the host key, authenticates. Errors: see make_remote.
  static Result<std::shared_ptr<Session>> open(const Target& target, const Patience& patience);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The command runs under /bin/sh whatever the login shell. Its process group is ended on deadline or
  // cancellation.
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options);

  bool lost() const { return lost_; }

  // --- for sftp.cc ---
  // Calls until it gives something else than LIBSSH2_ERROR_EAGAIN.
  Result<int> drive(const Patience& patience, const std::function<int()>& call);
  // What the last failed libssh2 call meant. Only for the thread that made it, at once.
  Status failure(int code, std::string_view what);
  LIBSSH2_SESSION* raw() { return session_; }
  // SFTP keeps state in the session while a request is under way: one transfer at a time.
  std::mutex& sftp_turn() { return sftp_turn_; }
  Result<LIBSSH2_SFTP*> sftp(const Patience& patience);

 private:
  friend class Channel;
  explicit Session(Target target) : target_(std::move(target)) {}
  Status connect_socket(const Patience& patience);
  Status handshake(const Patience& patience);
  Status check_host_key();
  Status authenticate(const Patience& patience);
  Status try_key(const Patience& patience);
  Status try_agent(const Patience& patience);
  Status try_password(const Patience& patience);
  Status wait_inbound(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds at_most);
  Status wait_outbound();
  void keep_alive();
  void progress();
  void end_remote_group(const std::string& pid);

  Target target_;
  int socket_ = -1;
  int wake_ = -1;  // eventfd: tells the thread in poll that another one has read from the socket
  LIBSSH2_SESSION* session_ = nullptr;
  LIBSSH2_SFTP* sftp_ = nullptr;
  std::mutex mutex_;      // around every libssh2 call
  std::mutex open_turn_;  // opening a channel and starting what runs on it: one at a time
  std::mutex sftp_turn_;
  std::condition_variable news_;
  bool polling_ = false;
  std::chrono::steady_clock::time_point next_keepalive_{};
  std::atomic<bool> lost_{false};
};

}  // namespace radl::ssh
