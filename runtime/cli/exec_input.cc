#include "runtime/cli/exec_input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>

#include "common/files.h"

namespace radl::cli {
namespace {

constexpr size_t kPiece = size_t{64} << 10;       // bytes
constexpr long long kMostBehind = 64LL << 20;     // bytes
constexpr long long kReleasedAtOnce = 1LL << 20;  // bytes
constexpr int kTick = 100;                        // ms

// What can be read within `wait` ms; "" if there is nothing yet, nullopt at the end. Sets `error` (errno) and
// gives "" if it cannot be read.
std::optional<std::string> read_input(int wait, std::atomic<int>& error) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, wait) <= 0) return "";
  std::string piece(kPiece, '\0');
  const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
  if (n == 0 || (n < 0 && errno == EBADF)) return std::nullopt;  // EBADF: the shell has closed it (<&-)
  if (n < 0) {
    if (errno != EINTR && errno != EAGAIN) error = errno;
    return "";
  }
  piece.resize(static_cast<size_t>(n));
  return piece;
}

}  // namespace

struct ExecInput::Kept {
  int file = -1;                   // of several commands
  bool all_at_once = false;        // no command starts after others have ended
  std::atomic<long long> size{0};  // bytes
  std::atomic<int> error{0};       // errno
  std::atomic<bool> ended{false}, stop{false};

  std::mutex mutex;  // of what follows
  size_t to_start = 0;
  std::set<const Reader*> readers;

  ~Kept() {
    if (file >= 0) ::close(file);
  }
  // Up to where every command has read.
  long long read_by_all();
};

// One command's place in what is kept.
class ExecInput::Reader {
 public:
  explicit Reader(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {
    std::lock_guard guard(kept_->mutex);
    kept_->readers.insert(this);
    if (kept_->to_start > 0) --kept_->to_start;
  }
  ~Reader() {
    std::lock_guard guard(kept_->mutex);
    kept_->readers.erase(this);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  long long at() const { return at_; }

  std::optional<std::string> next() {
    const bool ended = kept_->ended;
    if (at_ == kept_->size) return ended ? std::nullopt : std::optional<std::string>("");
    std::string piece(kPiece, '\0');
    const ssize_t n = ::pread(kept_->file, piece.data(), piece.size(), at_);
    if (n <= 0) {
      if (n == 0 || errno != EINTR) kept_->error = n == 0 ? EIO : errno;
      return "";
    }
    piece.resize(static_cast<size_t>(n));
    at_ += n;
    return piece;
  }

 private:
  const std::shared_ptr<Kept> kept_;
  std::atomic<long long> at_{0};
};

long long ExecInput::Kept::read_by_all() {
  std::lock_guard guard(mutex);
  long long least = to_start > 0 ? 0 : size.load();
  for (const Reader* reader : readers) least = std::min(least, reader->at());
  return least;
}

ExecInput::~ExecInput() {
  if (kept_) kept_->stop = true;
  if (reader_.joinable()) reader_.join();
}

Status ExecInput::open(size_t commands, size_t at_once) {
  kept_ = std::make_shared<Kept>();
  if (commands < 2) return {};
  kept_->all_at_once = commands <= at_once;
  kept_->to_start = commands;
  std::string path = (std::filesystem::temp_directory_path() / "radl-input-XXXXXX").string();
  kept_->file = ::mkostemp(path.data(), O_CLOEXEC);
  if (kept_->file < 0) return errno_status(errno, path);
  ::unlink(path.c_str());
  reader_ = std::thread([kept = kept_] { keep(*kept); });
  return {};
}

void ExecInput::keep(Kept& kept) {
  long long released = 0;
  while (!kept.stop && kept.error == 0) {
    const long long read = kept.all_at_once ? kept.read_by_all() : 0;
    if (read - released >= kReleasedAtOnce) {
      // A file system that cannot give the room back keeps it until the end.
      (void)::fallocate(kept.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, released, read - released);
      released = read;
    }
    if (kept.all_at_once && kept.size - read > kMostBehind) {
      ::poll(nullptr, 0, kTick);
      continue;
    }
    const std::optional<std::string> piece = read_input(kTick, kept.error);
    if (!piece) {
      kept.ended = true;
      return;
    }
    for (size_t done = 0; done < piece->size();) {
      const ssize_t n = ::pwrite(kept.file, piece->data() + done, piece->size() - done,
                                 kept.size + static_cast<long long>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        kept.error = errno;
        return;
      }
      done += static_cast<size_t>(n);
    }
    kept.size += static_cast<long long>(piece->size());
  }
}

ExecInput::Source ExecInput::source() const {
  if (!kept_) return {};
  if (kept_->file < 0) return [kept = kept_] { return read_input(0, kept->error); };
  return [reader = std::make_shared<Reader>(kept_)] { return reader->next(); };
}

std::optional<Status> ExecInput::failure() const {
  if (!kept_ || kept_->error == 0) return std::nullopt;
  return errno_status(kept_->error, "standard input could not be read or kept");
}

}  // namespace radl::cli
