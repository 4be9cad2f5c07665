// Running one command: Connection::exec.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/process/more_input.h"
#include "runtime/net/lease.h"
#include "runtime/net/ssh/connection.h"
#include "runtime/net/ssh/held_stop.h"
#include "runtime/net/ssh/output.h"

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
  Channel(Connection& connection, const ExecOptions& options)
      : connection_(connection),
        options_(options),
        stop_(options.stop.within(options.deadline)),
        buffer_(1 << 16, '\0'),
        out_(options.keep_bytes),
        err_(options.keep_bytes),
        more_(options.more_stdin) {}
  ~Channel() {
    if (!channel_) return;
    (void)connection_.drive(Stop().within(std::chrono::seconds(2)),
                            [&] { return libssh2_channel_free(channel_); });
  }

  Status open() {
    auto code = connection_.drive(stop_, [&] {
      channel_ =
          libssh2_channel_open_ex(connection_.session_, "session", 7, 2 * 1024 * 1024, 32768, nullptr, 0);
      return channel_ ? 0 : libssh2_session_last_errno(connection_.session_);
    });
    return settle(code, "cannot open a channel");
  }

  // From here on it may run, and must be ended on a stop. The script is sent before the server responds,
  // which saves a round trip: `half` is a partly sent packet of it, which the same call must complete.
  Status start(const std::string& command) {
    head_ = first_line_of(marked_script(mark_, options_.login_locale, command));
    const std::string_view line = kRunFirstLine;
    bool half = false;
    auto code = connection_.drive(held_stop_, [&]() -> int {
      for (;;) {
        if (!half) {
          const int started = libssh2_channel_process_startup(channel_, "exec", 4, line.data(),
                                                              static_cast<unsigned>(line.size()));
          if (started != LIBSSH2_ERROR_EAGAIN || is_sending() || written_ == head_.size()) return started;
        }
        const std::string_view rest = std::string_view(head_).substr(written_);
        const ssize_t n = libssh2_channel_write_ex(channel_, 0, rest.data(), rest.size());
        half = n == LIBSSH2_ERROR_EAGAIN && is_sending();
        if (n <= 0) return LIBSSH2_ERROR_EAGAIN;  // the server's answer tells why
        written_ += static_cast<size_t>(n);       // the write may have read that answer
      }
    });
    Status started = settle(code, "cannot start the command");
    return held_.caused(started) ? end() : started;
  }

  Result<ExecResult> finish() {
    Status moved = pump();
    if (!moved.ok()) return held_.caused(moved) ? end() : moved;
    auto closed = connection_.drive(stop_, [&] { return libssh2_channel_close(channel_); });
    if (!closed) return closed.status();
    for (bool is_stderr : {false, true}) (is_stderr ? err_ : out_).add(framing(is_stderr).rest());
    ExecResult result;
    result.exit_status = exit_status();
    if (!output_.begun() && !errors_.begun())
      return runs_no_commands(connection_.target_.name(), fmt::format("with status {}", result.exit_status),
                              output_, errors_);
    std::tie(result.out, result.out_cut) = out_.take();
    std::tie(result.err, result.err_cut) = err_.take();
    return result;
  }

 private:
  Framing& framing(bool is_stderr) { return is_stderr ? errors_ : output_; }
  // With the lock: a packet is half out.
  bool is_sending() const {
    return (libssh2_session_block_directions(connection_.session_) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
  }

  Status settle(const Result<Connection::Outcome>& outcome, std::string_view what) {
    if (!outcome) return outcome.status();
    return outcome->ok() ? Status() : connection_.failure(*outcome, what);
  }

  // Called with the lock.
  Status failed(ssize_t code, std::string_view what) {
    return connection_.failure(connection_.outcome_of(static_cast<int>(code)), what);
  }

  Status end() {
    if (!connection_.end_remote_tree(errors_.pid(), errors_.start())) return held_.not_ended();
    const Status& why = held_.why();
    if (why.code() != Code::Timeout) return why;
    bool own =
        options_.deadline < std::chrono::hours(24 * 365) && stop_.deadline() < options_.stop.deadline();
    return {Code::Timeout, own ? fmt::format("the command was not done within {:g} s and was ended",
                                             static_cast<double>(options_.deadline.count()) / 1000.0)
                               : "the time allowed is over and the command was ended"};
  }

  void give(std::string_view piece, bool is_stderr) {
    std::string own = framing(is_stderr).take(piece);
    if (own.empty()) return;
    (is_stderr ? err_ : out_).add(own);
    if (options_.on_output) pieces_.emplace_back(std::move(own), is_stderr);
  }

  // Callbacks run without the connection's lock.
  void hand_over() {
    for (auto& [piece, is_stderr] : pieces_) options_.on_output(piece, is_stderr);
    pieces_.clear();
  }

  // libssh2's call, repeated under the lock while its packet is half out. Bytes moved, EAGAIN, or an error.
  template <class Call>
  ssize_t whole(Call call) {
    for (;;) {
      ssize_t n = call();
      if (n != LIBSSH2_ERROR_EAGAIN || !is_sending()) return n;
      if (!connection_.wait_outbound().ok() || !held_stop_.check().ok()) return n;
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

  // The bytes to write now.
  std::string_view input() {
    if (written_ < head_.size()) return std::string_view(head_).substr(written_);
    const size_t given = written_ - head_.size();
    if (given < options_.stdin_bytes.size()) return std::string_view(options_.stdin_bytes).substr(given);
    return more_.next();
  }

  Status write_some(bool& moved) {
    const size_t all = head_.size() + options_.stdin_bytes.size();
    const std::string_view rest = eof_sent_ ? std::string_view() : input();
    if (!rest.empty()) {
      ssize_t n = whole([&] {
        return libssh2_channel_write_ex(channel_, 0, rest.data(), std::min<size_t>(rest.size(), 1 << 18));
      });
      if (n == LIBSSH2_ERROR_CHANNEL_CLOSED || n == LIBSSH2_ERROR_CHANNEL_EOF_SENT)
        written_ = all, more_.stop();  // it does not want more
      else if (n < 0 && n != LIBSSH2_ERROR_EAGAIN)
        return failed(n, "writing the command's input");
      else if (n > 0)
        took(static_cast<size_t>(n), all), moved = true;
    }
    if (written_ == all && more_.over() && !eof_sent_) {
      ssize_t n = whole([&] { return libssh2_channel_send_eof(channel_); });
      if (n == LIBSSH2_ERROR_EAGAIN) return {};
      eof_sent_ = true;
      moved = true;
    }
    return {};
  }

  void took(size_t bytes, size_t all) {
    if (written_ < all)
      written_ += bytes;
    else
      more_.took(bytes);
  }

  Status pump() {
    std::unique_lock lock(connection_.mutex_);
    for (bool first = true;; first = false) {
      bool moved = false;
      if (Status s = write_some(moved); !s.ok()) return s;
      if (Status s = read_some(false, moved); !s.ok()) return s;
      if (Status s = read_some(true, moved); !s.ok()) return s;
      bool over = libssh2_channel_eof(channel_) != 0 && !moved;
      // Others are woken for news only: two that wake each other for none would never rest.
      if (moved || over || first) connection_.progress();
      if (!pieces_.empty()) {
        lock.unlock();
        hand_over();
        lock.lock();
      }
      if (over) return {};
      if (Status s = held_stop_.check(); !s.ok()) return s;
      if (!moved) {
        if (Status s = connection_.wait_inbound(lock, std::chrono::milliseconds(100)); !s.ok()) return s;
      }
    }
  }

  int exit_status() {
    std::unique_lock lock(connection_.mutex_);
    char* name = nullptr;
    size_t length = 0;
    libssh2_channel_get_exit_signal(channel_, &name, &length, nullptr, nullptr, nullptr, nullptr);
    if (name) {
      int number = signal_number({name, length});
      libssh2_free(connection_.session_, name);
      return 128 + number;
    }
    return libssh2_channel_get_exit_status(channel_);
  }

  Connection& connection_;
  const ExecOptions& options_;
  Stop stop_;
  LIBSSH2_CHANNEL* channel_ = nullptr;
  std::string buffer_;
  bool eof_sent_ = false;
  const std::string mark_ = new_mark();
  std::string head_;    // before the command's input: its script
  size_t written_ = 0;  // of both
  Framing output_{mark_}, errors_{mark_};
  HeldStop held_{stop_, errors_};
  const Stop held_stop_ = held_.token();
  Tail out_, err_;
  MoreInput more_;
  std::vector<std::pair<std::string, bool>> pieces_;
};

Result<ExecResult> Connection::exec(const std::string& command, const ExecOptions& options) {
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

bool Connection::end_remote_tree(const std::string& pid, const std::string& start) {
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
