// fork, exec, and one poll loop over three pipes and a clock.
#include "common/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/fd.h"
#include "common/files.h"
#include "common/no_pipe_signal.h"
#include "common/process/guard.h"
#include "common/process/more_input.h"

namespace radl {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
  Status make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno_status(errno, "pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
    return {};
  }
};

Result<std::unique_ptr<ProcessImage>> make_image(const Environment& environment,
                                                 const ProcessRequest& request) {
  if (request.argv.empty()) return invalid("no program to run");
  std::string path = find_program(environment, request.argv[0]);
  if (path.empty()) return not_found("no program '" + request.argv[0] + "' can be run here");
  std::vector<std::string> allowed = kBasicVariables;
  allowed.insert(allowed.end(), request.inherited.begin(), request.inherited.end());
  EnvironmentChanges changes = request.environment;
  changes.try_emplace("LC_ALL", "C.UTF-8");
  return std::make_unique<ProcessImage>(std::move(path), request.argv,
                                        environment_of(environment, allowed, changes));
}

struct Pipes {
  Pipe in, out, err, failure;  // `failure` carries errno of a failed exec
  Pipe lifeline;               // closed when we end: see become_guarded
  Status make() {
    for (Pipe* pipe : {&in, &out, &err, &failure, &lifeline}) {
      if (Status made = pipe->make(); !made.ok()) return made;
    }
    return {};
  }
};

[[noreturn]] void child(const ProcessImage& image, const ProcessRequest& request, Pipes& pipes) {
  ::setpgid(0, 0);
  // If this process is killed, the program must not continue next to the one that the next run starts. A
  // signal alone is not enough: a program may handle TERM slowly, and its children do not receive it.
  pipes.lifeline.write.reset();  // or its other end would never see it closed
  become_guarded(pipes.lifeline.read.get());
  ::dup2(pipes.in.read.get(), STDIN_FILENO);
  ::dup2(pipes.out.write.get(), STDOUT_FILENO);
  ::dup2(pipes.err.write.get(), STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (request.directory.empty() || ::chdir(request.directory.c_str()) == 0) {
    ::execve(image.file.c_str(), image.argv.data(), image.environment.data());
  }
  int error = errno;
  [[maybe_unused]] ssize_t told = ::write(pipes.failure.write.get(), &error, sizeof error);
  ::_exit(127);
}

void trim(std::string& kept, size_t limit, bool& cut) {
  if (kept.size() <= limit) return;
  kept.erase(0, kept.size() - limit);
  cut = true;
}

// Appends, keeping the last `limit` bytes (and a little more, so that trimming is rare).
void keep(std::string& kept, std::string_view piece, size_t limit, bool& cut) {
  kept.append(piece);
  if (kept.size() > limit + limit / 4) trim(kept, limit, cut);
}

class Talk {
 public:
  Talk(const ProcessRequest& request, Pipes& pipes, pid_t pid)
      : request_(request), pipes_(pipes), pid_(pid), end_(Stop().within(request.deadline).deadline()) {}

  Result<ProcessResult> run() {
    for (int fd : {pipes_.in.write.get(), pipes_.out.read.get(), pipes_.err.read.get()}) {
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    while (true) {
      poll_once();
      if (Status stop = stop_reason(); !stop.ok()) {
        end_group();
        return stop;
      }
      // The program's own end counts: a background process of its may hold the pipes open.
      if (reap(false)) break;
    }
    drain();
    trim(result_.out, request_.keep_bytes, result_.out_cut);
    trim(result_.err, request_.keep_bytes, result_.err_cut);
    return std::move(result_);
  }

 private:
  void poll_once() {
    const std::string_view input = next_input();
    // Without input to write, POLLERR alone: the program has closed its end.
    const short writing = input.empty() ? short{0} : short{POLLOUT};
    pollfd fds[3] = {{pipes_.out.read.get(), POLLIN, 0},
                     {pipes_.err.read.get(), POLLIN, 0},
                     {pipes_.in.write.get(), writing, 0}};
    bool any = pipes_.out.read.open() || pipes_.err.read.open() || pipes_.in.write.open();
    // Once the pipes are closed only the exit is waited for, so look often.
    int wait = any ? 20 : 2;
    ::poll(fds, 3, wait);
    if (fds[0].revents) read(pipes_.out.read, result_.out, false);
    if (fds[1].revents) read(pipes_.err.read, result_.err, true);
    if (fds[2].revents) write(input);
  }

  bool read(Fd& fd, std::string& kept, bool is_stderr) {
    char buffer[65536];
    ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count > 0) {
      std::string_view piece(buffer, static_cast<size_t>(count));
      keep(kept, piece, request_.keep_bytes, is_stderr ? result_.err_cut : result_.out_cut);
      if (request_.on_output) request_.on_output(piece, is_stderr);
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) fd.reset();
    return false;
  }

  // The bytes to write now. Closes the program's input at its end.
  std::string_view next_input() {
    if (!pipes_.in.write.open()) return {};
    if (sent_ < request_.stdin_bytes.size()) return std::string_view(request_.stdin_bytes).substr(sent_);
    const std::string_view piece = more_.next();
    if (piece.empty() && more_.over()) pipes_.in.write.reset();
    return piece;
  }

  void write(std::string_view input) {
    if (input.empty()) return pipes_.in.write.reset();  // it reads no more
    const ssize_t count = ::write(pipes_.in.write.get(), input.data(), input.size());
    if (count > 0) {
      if (sent_ < request_.stdin_bytes.size())
        sent_ += static_cast<size_t>(count);
      else
        more_.took(static_cast<size_t>(count));
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) pipes_.in.write.reset();
  }

  Status stop_reason() const {
    if (Status stop = request_.stop.check(); !stop.ok()) {
      const bool cancelled = stop.code() == Code::Cancelled;
      return {stop.code(),
              request_.argv[0] + (cancelled ? " was cancelled" : " did not end in the time allowed")};
    }
    if (Clock::now() >= end_) {
      return {Code::Timeout, request_.argv[0] + " did not end within " +
                                 std::to_string(request_.deadline.count() / 1000) + " s"};
    }
    return {};
  }

  bool reap(bool wait) {
    int status = 0;
    pid_t ended;
    do ended = ::waitpid(pid_, &status, wait ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended != pid_) return ended < 0;
    result_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }

  void drain() {
    while (pipes_.out.read.open() && read(pipes_.out.read, result_.out, false)) {
    }
    while (pipes_.err.read.open() && read(pipes_.err.read, result_.err, true)) {
    }
  }

  void end_group() {
    pipes_.lifeline.write.reset();
    reap(true);  // its guard sees to it, and ends when all is over
  }

  const ProcessRequest& request_;
  Pipes& pipes_;
  pid_t pid_;
  Clock::time_point end_;
  size_t sent_ = 0;  // of stdin_bytes
  MoreInput more_{request_.more_stdin};
  ProcessResult result_;
};

}  // namespace

Result<ProcessResult> run_process(const Environment& environment, const ProcessRequest& request) {
  auto image = make_image(environment, request);
  if (!image.ok()) return image.status();
  Pipes pipes;
  if (Status made = pipes.make(); !made.ok()) return made;
  NoPipeSignal guard;
  const pid_t pid = ::fork();
  if (pid < 0) return errno_status(errno, "starting " + request.argv[0]);
  if (pid == 0) child(**image, request, pipes);
  ::setpgid(pid, pid);  // whoever is first
  pipes.in.read.reset();
  pipes.out.write.reset();
  pipes.err.write.reset();
  pipes.failure.write.reset();
  pipes.lifeline.read.reset();
  int error = 0;
  ssize_t told;
  do told = ::read(pipes.failure.read.get(), &error, sizeof error);
  while (told < 0 && errno == EINTR);
  if (told == sizeof error) {
    int status;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return errno_status(error, "running " + request.argv[0]);
  }
  return Talk(request, pipes, pid).run();
}

void forbid_core_dumps() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = 0;
    (void)::setrlimit(RLIMIT_CORE, &limit);
  }
  set_core_filter("0");
}

void forbid_inspection() { (void)::prctl(PR_SET_DUMPABLE, 0); }

std::string find_program(const Environment& environment, const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const std::string all = program_path(environment);
  for (size_t begin = 0; begin <= all.size();) {
    size_t end = std::min(all.find(':', begin), all.size());
    std::string candidate = all.substr(begin, end - begin) + "/" + name;
    if (candidate.size() > name.size() + 1 && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return "";
}

Result<std::unique_ptr<KeptProcess>> KeptProcess::start(const Environment& environment,
                                                        const std::vector<std::string>& argv) {
  ProcessRequest request;
  request.argv = argv;
  request.environment = {
      {"LC_ALL", std::nullopt}};  // nobody reads its words, and ssh may hand it on to a node
  auto image = make_image(environment, request);
  if (!image.ok()) return image.status();
  Pipe lifeline, failure;
  for (Pipe* pipe : {&lifeline, &failure}) {
    if (Status made = pipe->make(); !made.ok()) return made;
  }
  Fd null;
  null.reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.open()) return errno_status(errno, "/dev/null");
  pid_t pid = ::fork();
  if (pid < 0) return errno_status(errno, "starting " + argv[0]);
  if (pid == 0) {
    ::setpgid(0, 0);
    lifeline.write.reset();
    become_guarded(lifeline.read.get());
    for (int fd : {0, 1, 2}) ::dup2(null.get(), fd);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve((*image)->file.c_str(), (*image)->argv.data(), (*image)->environment.data());
    int error = errno;
    [[maybe_unused]] ssize_t told = ::write(failure.write.get(), &error, sizeof error);
    ::_exit(127);
  }
  failure.write.reset();
  std::unique_ptr<KeptProcess> kept(new KeptProcess(pid, ::fcntl(lifeline.write.get(), F_DUPFD_CLOEXEC, 3)));
  int error = 0;
  if (::read(failure.read.get(), &error, sizeof error) == sizeof error)
    return errno_status(error, "running " + argv[0]);
  return kept;
}

bool KeptProcess::runs() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = -1;
  return pid_ > 0;
}

KeptProcess::~KeptProcess() {
  if (lifeline_ >= 0) ::close(lifeline_);
  while (pid_ > 0 && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace radl
