#include "runtime/net/ssh/openssh.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <tuple>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/more_input.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "runtime/net/lease.h"
#include "runtime/net/ssh/held_stop.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/mux.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/net/ssh/openssh_words.h"
#include "runtime/net/ssh/output.h"
#include "runtime/net/ssh/tried_keys.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::seconds kConnect{30};
constexpr const char* kOtherLogin = "radl-other-login";
constexpr int kClientFailed = 255;  // ssh(1)

// Shell text: continues only as this user of the node, which the connection's path need not show.
std::string as_login(const std::string& user) {
  return fmt::format("[ \"${{LOGNAME:-$(id -un)}}\" = {} ] || {{ echo {} >&2; exit 255; }}; ",
                     shell_quote(user), kOtherLogin);
}

// ssh's own failures end with 255 and a line on standard error; a command may end with 255 too, without one.
Status client_failure(const std::string& err, const std::string& who) {
  auto has = [&](std::string_view text) { return err.find(text) != std::string::npos; };
  if (has("REMOTE HOST IDENTIFICATION HAS CHANGED") || has("Host key verification failed") ||
      has("no matching host key type")) {
    return Status(Code::Auth, who + ": host key mismatch: the server does not show the pinned host key")
        .with_hint(
            "another machine answers at this address, or the node was recreated; nothing was sent to it");
  }
  if (has("Permission denied (") || has("Too many authentication failures")) {
    return refused_login(err, who);
  }
  for (std::string_view passing : {"Connection refused", "Connection timed out", "No route to host",
                                   "Network is unreachable", "Could not resolve"}) {
    if (has(passing)) return {Code::Retry, fmt::format("{}: the port does not answer: {}", who, passing)};
  }
  // What follows tells a server that is not up yet from one that speaks something else.
  constexpr std::string_view kIdentification = "kex_exchange_identification: ";
  if (const size_t at = err.find(kIdentification); at != err.npos) {
    const size_t begin = at + kIdentification.size();
    const std::string why = err.substr(begin, err.find_first_of("\r\n", begin) - begin);
    return {Code::Retry, fmt::format("{}: the port does not answer with SSH: {}", who, why)};
  }
  for (std::string_view cut : {"Connection reset", "Connection closed by"}) {
    if (has(cut)) return {Code::Retry, fmt::format("{}: the port does not answer: {}", who, cut)};
  }
  return {};
}

class OpensshRemote : public RemoteByCommands {
 public:
  OpensshRemote(Target target, const std::string& open)
      : target_(std::move(target)), files_{"", open}, borrowed_(!open.empty()) {}
  ~OpensshRemote() override {
    master_.reset();
    std::error_code ignored;
    if (!files_.folder.empty()) std::filesystem::remove_all(files_.folder, ignored);
  }

  Result<ExecResult> exec(const std::string& shell_command, const ExecOptions& options) override;

 private:
  using Sink = std::function<void(std::string_view piece, bool is_stderr)>;
  // Creates the private folder with known_hosts and the master connection if missing.
  Status prepare(const Stop& stop);
  Status make_folder();  // with the lock
  // `said`: what a client of its own wrote on standard error; it ended with 255 where it is the one that
  // failed.
  // `more`: ExecOptions::more_stdin.
  Status run(const std::string& stdin_bytes, const MoreInput::Source& more, const Stop& stop, HeldStop& held,
             const Sink& sink, std::string& said);
  Status connect(const Stop& stop);
  Status lost(const std::string& said);
  Status other_login() const;
  Target target_;
  std::mutex mutex_;
  ClientFiles files_;
  const bool borrowed_;  // the connection is the user's
  std::unique_ptr<KeptProcess> master_;
};

Status OpensshRemote::make_folder() {
  if (!files_.folder.empty()) return {};
  // A socket's path has room for about 100 bytes, so the folder is a short one of its own.
  std::string base = target_.control_directory.size() > 0 && target_.control_directory.size() < 60
                         ? target_.control_directory
                         : "/tmp";
  std::string name = fmt::format("{}/radl-{}", base, to_hex(random_bytes(8)));
  if (mkdir(name.c_str(), 0700) != 0) return errno_status(errno, name);
  files_.folder = name;
  if (!borrowed_) files_.socket = name + "/m";
  if (target_.host_key.empty()) return {};
  std::string line = fmt::format("{} {}\n", kPinned, target_.host_key);
  return write_file_atomic(files_.folder + "/known_hosts", line, 0600);
}

Status OpensshRemote::prepare(const Stop& stop) {
  if (borrowed_) return {};
  std::lock_guard lock(mutex_);
  if (Status s = make_folder(); !s.ok()) return s;
  if (master_ && master_->runs()) return {};
  return connect(stop);
}

// LogVerbose is in OpenSSH 8.5 and later; another client would take it for a mistake.
bool logs_keys(const Environment& environment) {
  auto ran = run_process(environment, {.argv = {"ssh", "-V"}, .deadline = std::chrono::seconds(10)});
  int major = 0, minor = 0;
  return ran && std::sscanf(ran->err.c_str(), "OpenSSH_%d.%d", &major, &minor) == 2 &&
         (major > 8 || (major == 8 && minor >= 5));
}

// The master ends with this process, even if it is killed. Its socket exists once it has logged in.
Status OpensshRemote::connect(const Stop& stop) {
  const std::string log = files_.folder + "/log", socket = files_.socket;
  ::unlink(log.c_str());
  ::unlink(socket.c_str());
  std::vector<std::string> options{"-M", "-N", "-E", log, "-o", "ControlPersist=no", "-o", "LogLevel=INFO"};
  if (logs_keys(target_.environment)) options.insert(options.end(), {"-o", kLogKeys});
  auto made = KeptProcess::start(target_.environment, client_words(target_, files_, options, ""));
  if (!made) return made.status();
  Stop limited = stop.within(kConnect);
  std::chrono::milliseconds pause{2};
  while (::access(socket.c_str(), F_OK) != 0) {
    if (!(*made)->runs()) {
      auto text = read_file(log, 1 << 20);
      std::string err = text ? *text : "";
      Status why = client_failure(err, target_.name());
      if (!why.ok()) return why;
      while (err.ends_with('\n')) err.pop_back();
      return {Code::Retry, fmt::format("{}: ssh: {}", target_.name(), err.substr(err.rfind('\n') + 1))};
    }
    if (!limited.sleep(pause)) {
      Status why = stop.check();
      return why.ok() ? Status(Code::Retry,
                               fmt::format("{}: no login within {} s", target_.name(), kConnect.count()))
                      : why;
    }
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
  master_ = std::move(*made);
  return {};
}

Status OpensshRemote::other_login() const {
  return Status(Code::Auth, fmt::format("the open connection {} is not of user '{}' of the node",
                                        files_.socket, target_.user))
      .with_hint("put %C or %r into ControlPath, or close it: ssh -O exit " + target_.ssh_name);
}

Status OpensshRemote::lost(const std::string& said) {
  auto log = read_file(files_.folder + "/log", 1 << 20);
  for (const std::string& text : {log ? *log : "", said}) {
    if (text.find("not responding") == std::string::npos) continue;
    return {Code::Lost, fmt::format("{} has not answered for {} s: the server hangs, or the network is cut",
                                    target_.name(), target_.answer_within.count())};
  }
  return {Code::Lost, fmt::format("the connection to {} was lost", target_.name())};
}

// Over the connection that is open; by a client of its own where that takes no further session.
Status OpensshRemote::run(const std::string& stdin_bytes, const MoreInput::Source& more, const Stop& stop,
                          HeldStop& held, const Sink& sink, std::string& said) {
  MuxCommand over;
  over.command = kRunFirstLine;
  over.stdin_bytes = stdin_bytes;
  over.more_stdin = more;
  over.stop = stop;
  over.stop_running = held.token();
  over.on_output = sink;
  if (borrowed_) over.ask_after = target_.answer_within * 2 / 3;  // its user may have set no such time
  Status done = mux_run(files_.socket, over);
  if (done.code() != Code::Unsupported) return done;
  ProcessRequest request{.stdin_bytes = stdin_bytes,
                         .more_stdin = more,
                         .environment = {{"LC_ALL", std::nullopt}},  // SendEnv would hand it on
                         .deadline = std::chrono::milliseconds::max(),
                         .stop = held.token(),
                         .on_output = sink};
  {
    std::lock_guard lock(mutex_);
    if (Status s = make_folder(); !s.ok()) return s;
    request.argv = client_words(target_, files_, {"-T"}, kRunFirstLine);
  }
  request.keep_bytes = 64 * 1024;
  auto ran = run_process(target_.environment, request);
  if (!ran) return ran.status();
  if (ran->exit_status != kClientFailed) return {};
  said = ran->err;
  return {Code::Lost, "the OpenSSH client has failed"};
}

Result<ExecResult> OpensshRemote::exec(const std::string& shell_command, const ExecOptions& options) {
  Stop stop = options.stop.within(options.deadline);
  if (Status s = prepare(stop); !s.ok()) {
    bool own = s.code() == Code::Timeout && options.stop.check().ok();
    return own ? Status(Code::Retry, s.message()) : s;
  }
  // The command's own status comes in a last line, so that ssh's 255 is never taken for it.
  const std::string mark = new_mark();
  Framing output(mark), errors(mark, "radl-end-" + to_hex(random_bytes(8)) + " ");
  std::string script = marked_script(
      mark, options.login_locale,
      fmt::format("/bin/sh -c {}; echo \"{}$?\" >&2", shell_quote(shell_command), errors.end_mark()));
  if (borrowed_) script = as_login(target_.user) + script;
  Tail out(options.keep_bytes), err(options.keep_bytes);
  auto take = [&](std::string_view piece, bool is_stderr) {
    std::string own = (is_stderr ? errors : output).take(piece);
    if (own.empty()) return;
    (is_stderr ? err : out).add(own);
    if (options.on_output) options.on_output(own, is_stderr);
  };
  HeldStop held(stop, errors);
  std::string said;
  Status ran = run(first_line_of(script) + options.stdin_bytes, options.more_stdin, stop, held, take, said);
  if (held.caused(ran)) {
    if (errors.pid().empty()) return held.not_ended();
    ExecOptions patient;
    patient.deadline = std::chrono::seconds(20);
    auto ended = exec(end_process_tree(errors.pid(), errors.start()), patient);
    if (!ended || ended->exit_status != 0) return held.not_ended();
    return held.why().code() == Code::Timeout
               ? Status(Code::Timeout, "the command was not done in time and was ended")
               : held.why();
  }
  if (!ran.ok() && ran.code() != Code::Lost) return ran;
  if (!errors.ended()) {
    (void)output.rest();
    (void)errors.rest();
    if (errors.preface().find(kOtherLogin) != std::string::npos) return other_login();
    Status why = client_failure(said, target_.name());
    if (!errors.begun() && !why.ok()) return why;
    if (!ran.ok()) return lost(said.empty() ? ran.message() : said);
    return errors.begun() ? lost("") : runs_no_commands(target_.name(), "at once", output, errors);
  }
  ExecResult result;
  result.exit_status = std::atoi(errors.after_end().c_str());
  std::tie(result.out, result.out_cut) = out.take();
  std::tie(result.err, result.err_cut) = err.take();
  return result;
}

}  // namespace

std::unique_ptr<Remote> make_openssh_remote(const Target& target, const std::string& open) {
  return std::make_unique<OpensshRemote>(target, open);
}

}  // namespace radl::ssh
