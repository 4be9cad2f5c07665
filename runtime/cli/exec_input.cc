#include "runtime/cli/exec_input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/files.h"

namespace radl::cli {
namespace {

constexpr size_t kPiece = size_t{64} << 10;  // bytes
constexpr int kTick = 100;                   // ms

// What can be read within `wait` ms; "" if there is nothing yet, nullopt at the end.
std::optional<std::string> read_input(int wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, wait) <= 0) return "";
  std::string piece(kPiece, '\0');
  const ssize_t n = ::read(STDIN_FILENO, piece.data(), piece.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return "";
  if (n <= 0) return std::nullopt;
  piece.resize(static_cast<size_t>(n));
  return piece;
}

}  // namespace

ExecInput::Kept::~Kept() {
  if (file >= 0) ::close(file);
}

ExecInput::~ExecInput() {
  if (kept_) kept_->stop = true;
  if (reader_.joinable()) reader_.join();
}

Status ExecInput::open(size_t commands) {
  open_ = true;
  if (commands < 2) return {};
  kept_ = std::make_shared<Kept>();
  std::string path = (std::filesystem::temp_directory_path() / "radl-input-XXXXXX").string();
  kept_->file = ::mkostemp(path.data(), O_CLOEXEC);
  if (kept_->file < 0) return errno_status(errno, path);
  ::unlink(path.c_str());
  reader_ = std::thread([kept = kept_] { keep(*kept); });
  return {};
}

void ExecInput::keep(Kept& kept) {
  while (!kept.stop) {
    const std::optional<std::string> piece = read_input(kTick);
    if (!piece) {
      kept.ended = true;
      return;
    }
    for (size_t done = 0; done < piece->size();) {
      const ssize_t n = ::pwrite(kept.file, piece->data() + done, piece->size() - done,
                                 kept.size + static_cast<long>(done));
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
  if (!open_) return {};
  if (!kept_) return [] { return read_input(0); };
  return [kept = kept_, at = 0LL]() mutable -> std::optional<std::string> {
    const bool ended = kept->ended;
    std::string piece(kPiece, '\0');
    const ssize_t n = at < kept->size ? ::pread(kept->file, piece.data(), piece.size(), at) : 0;
    if (n <= 0) return ended && at == kept->size ? std::nullopt : std::optional<std::string>("");
    piece.resize(static_cast<size_t>(n));
    at += n;
    return piece;
  };
}

std::optional<Status> ExecInput::failure() const {
  if (!kept_ || kept_->error == 0) return std::nullopt;
  return errno_status(kept_->error, "standard input could not be kept");
}

}  // namespace radl::cli
