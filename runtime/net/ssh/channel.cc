// Running one command: Session::exec.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "common/shell_quote.h"
#include "runtime/net/lease.h"
#include "runtime/net/ssh/held_stop.h"
#include "runtime/net/ssh/output.h"
#include "runtime/net/ssh/session.h"

namespace radl::ssh {
namespace {

int signal_number(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, int>, 12> kSignals{{{"HUP", 1},
                                                                              {"INT", 2},
                                                                              {"QUIT", 3},
                                                                              {"ILL", 4},
                                                                              {"ABRT", 6},
                                                                              {"FPE", 8},
                                                                              {"KILL", 9},
                                                                              {"USR1", 10},
                                                                              {"SEGV", 11},
                                                                              {"PIPE", 13},
                                                                              {"ALRM", 14},
                                                                              {"TERM", 15}}};
  for (auto [known, number] : kSignals) {
    if (known == name) return number;
  }
  return 127;
}

}  // namespace

// One channel and the command on it.
class Channel {
 public:
  Channel(Session& session, const ExecOptions& options)
      : session_(session),
        options_(options),
        stop_(options.stop.within(options.deadline)),
        buffer_(1 << 16, '\0'),
        out_(options.keep_bytes),
        err_(options.keep_bytes) {}
  ~Channel() {
    if (!channel_) return;
    (void)session_.drive(Stop().within(std::chrono::seconds(2)),
                         [&] { return libssh2_channel_free(channel_); });
  }

  Status open() {
    auto code = session_.drive(stop_, [&] {
      channel_ = libssh2_channel_open_ex(session_.session_, "session", 7, 2 * 1024 * 1024, 32768, nullptr, 0);
      return channel_ ? 0 : libssh2_session_last_errno(session_.session_);
    });
    return settle(code, "cannot open a channel");
  }

  // From here on it may run, and is ended where it is stopped.
  Status start(const std::string& command) {
    std::string wrapped = "exec /bin/sh -c " + shell_quote(announced(command));
    auto code = session_.drive(held_stop_, [&] {
      return libssh2_channel_process_startup(channel_, "exec", 4, wrapped.data(),
                                             static_cast<unsigned>(wrapped.size()));
    });
    Status started = settle(code, "cannot start the command");
    return held_.caused(started) ? end() : started;
  }

  Result<ExecResult> finish() {
    Status moved = pump();
    if (!moved.ok()) return held_.caused(moved) ? end() : moved;
    auto closed = session_.drive(stop_, [&] { return libssh2_channel_close(channel_); });
    if (!closed) return closed.status();
    err_.add(errors_.rest());
    ExecResult result;
    result.exit_status = exit_status();
    std::tie(result.out, result.out_cut) = out_.take();
    std::tie(result.err, result.err_cut) = err_.take();
    return result;
  }

 private:
  static constexpr int kNothing = 0;

  Status settle(const Result<Session::Outcome>& outcome, std::string_view what) {
    if (!outcome) return outcome.status();
    return outcome->ok() ? Status() : session_.failure(*outcome, what);
  }

  // Called with the lock.
  Status failed(ssize_t code, std::string_view what) {
    return session_.failure(session_.outcome_of(static_cast<int>(code)), what);
  }

  Status end() {
    if (!session_.end_remote_tree(errors_.pid(), errors_.start())) return held_.not_ended();
    const Status& why = held_.why();
    if (why.code() != Code::Timeout) return why;
    bool own =
        options_.deadline < std::chrono::hours(24 * 365) && stop_.deadline() < options_.stop.deadline();
    return {Code::Timeout, own ? fmt::format("the command was not done within {:g} s and was ended",
                                             static_cast<double>(options_.deadline.count()) / 1000.0)
                               : "the time allowed is over and the command was ended"};
  }

  void give(std::string_view piece, bool is_stderr) {
    std::string own = is_stderr ? errors_.take(piece) : std::string(piece);
    if (own.empty()) return;
    (is_stderr ? err_ : out_).add(own);
    if (options_.on_output) pieces_.emplace_back(std::move(own), is_stderr);
  }

  // Callbacks run without the session's lock.
  void hand_over() {
    for (auto& [piece, is_stderr] : pieces_) options_.on_output(piece, is_stderr);
    pieces_.clear();
  }

  // libssh2's call, repeated under the lock while its packet is half out. Bytes moved, EAGAIN, or an error.
  template <class Call>
  ssize_t whole(Call call) {
    for (;;) {
      ssize_t n = call();
      if (n != LIBSSH2_ERROR_EAGAIN ||
          !(libssh2_session_block_directions(session_.session_) & LIBSSH2_SESSION_BLOCK_OUTBOUND))
        return n;
      if (!session_.wait_outbound().ok() || !held_stop_.check().ok()) return n;
    }
  }

  Status read_some(bool is_stderr, bool& moved) {
    for (int i = 0; i < 16; ++i) {
      ssize_t n = whole([&] {
        return libssh2_channel_read_ex(channel_, is_stderr ? SSH_EXTENDED_DATA_STDERR : 0, buffer_.data(),
                                       buffer_.size());
      });
      if (n == LIBSSH2_ERROR_EAGAIN || n == 0) return {};
      if (n < 0) return failed(n, "reading the command's output");
      give({buffer_.data(), static_cast<size_t>(n)}, is_stderr);
      moved = true;
    }
    return {};
  }

  Status write_some(bool& moved) {
    const std::string& input = options_.stdin_bytes;
    if (written_ < input.size()) {
      ssize_t n = whole([&] {
        return libssh2_channel_write_ex(channel_, 0, input.data() + written_,
                                        std::min<size_t>(input.size() - written_, 1 << 18));
      });
      if (n == LIBSSH2_ERROR_CHANNEL_CLOSED || n == LIBSSH2_ERROR_CHANNEL_EOF_SENT)
        written_ = input.size();  // it does not want more
      else if (n < 0 && n != LIBSSH2_ERROR_EAGAIN)
        return failed(n, "writing the command's input");
      else if (n > 0)
        written_ += static_cast<size_t>(n), moved = true;
    }
    if (written_ == input.size() && !eof_sent_) {
      ssize_t n = whole([&] { return libssh2_channel_send_eof(channel_); });
      if (n == LIBSSH2_ERROR_EAGAIN) return {};
      eof_sent_ = true;
      moved = true;
    }
    return {};
  }

  Status pump() {
    std::unique_lock lock(session_.mutex_);
    for (bool first = true;; first = false) {
      bool moved = false;
      if (Status s = write_some(moved); !s.ok()) return s;
      if (Status s = read_some(false, moved); !s.ok()) return s;
      if (Status s = read_some(true, moved); !s.ok()) return s;
      bool over = libssh2_channel_eof(channel_) != 0 && !moved;
      // Others are woken for news only: two that wake each other for none would never rest.
      if (moved || over || first) session_.progress();
      if (!pieces_.empty()) {
        lock.unlock();
        hand_over();
        lock.lock();
      }
      if (over) return {};
      if (Status s = held_stop_.check(); !s.ok()) return s;
      if (!moved) {
        if (Status s = session_.wait_inbound(lock, std::chrono::milliseconds(100)); !s.ok()) return s;
      }
    }
  }

  int exit_status() {
    std::unique_lock lock(session_.mutex_);
    char* name = nullptr;
    size_t length = 0;
    libssh2_channel_get_exit_signal(channel_, &name, &length, nullptr, nullptr, nullptr, nullptr);
    if (name) {
      int number = signal_number({name, length});
      libssh2_free(session_.session_, name);
      return 128 + number;
    }
    return libssh2_channel_get_exit_status(channel_);
  }

  Session& session_;
  const ExecOptions& options_;
  Stop stop_;
  LIBSSH2_CHANNEL* channel_ = nullptr;
  std::string buffer_;
  bool eof_sent_ = false;
  size_t written_ = 0;
  Framing errors_;
  HeldStop held_{stop_, errors_};
  const Stop held_stop_ = held_.token();
  Tail out_, err_;
  std::vector<std::pair<std::string, bool>> pieces_;
};

Result<ExecResult> Session::exec(const std::string& command, const ExecOptions& options) {
  Channel channel(*this, options);
  {
    // libssh2 1.10 takes the first answer to a request that arrives, of whichever channel: one at a time.
    std::lock_guard turn(open_turn_);
    if (Status s = channel.open(); !s.ok())
      return s.code() == Code::Lost ? Status(Code::Retry, s.message()) : s;
    if (Status s = channel.start(command); !s.ok()) return s;
  }
  return channel.finish();
}

bool Session::end_remote_tree(const std::string& pid, const std::string& start) {
  if (pid.empty() || lost_) return false;
  ExecOptions patient;
  patient.deadline = std::chrono::seconds(20);
  const std::string script = end_process_tree(pid, start);
  auto ended = exec(script, patient);
  // The server may allow one session of a connection alone, and the command has it.
  if (!ended && ended.status().code() != Code::Timeout && !lost_) {
    auto other = open(target_, Stop().within(patient.deadline));
    if (other) ended = (*other)->exec(script, patient);
  }
  return ended && ended->exit_status == 0;
}

}  // namespace radl::ssh
