#include "runtime/net/ssh/sftp.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/new_file.h"

namespace radl::ssh {
namespace {

constexpr size_t kPiece =
    size_t{1} << 20;  // libssh2 keeps as many requests under way as fit in one call's bytes

// An open file of the node, closed at the end.
class Handle {
 public:
  Handle(Session& session, LIBSSH2_SFTP* sftp) : session_(session), sftp_(sftp) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { (void)close(); }

  Status open(const std::string& path, unsigned long flags, long mode, const Stop& stop) {
    auto code = session_.drive(stop, [&] {
      raw_ = libssh2_sftp_open_ex(sftp_, path.data(), static_cast<unsigned>(path.size()), flags, mode,
                                  LIBSSH2_SFTP_OPENFILE);
      return raw_ ? 0 : libssh2_session_last_errno(session_.raw());
    });
    if (!code) return code.status();
    return code->ok() ? Status() : sftp_failure(*code, path);
  }

  Status sftp_failure(const Session::Outcome& outcome, const std::string& path) {
    if (outcome.code != LIBSSH2_ERROR_SFTP_PROTOCOL) return session_.failure(outcome, path);
    switch (libssh2_sftp_last_error(sftp_)) {
      case LIBSSH2_FX_NO_SUCH_FILE:
      case LIBSSH2_FX_NO_SUCH_PATH:
        return not_found(path + ": no such file or folder on the node");
      case LIBSSH2_FX_PERMISSION_DENIED:
      case LIBSSH2_FX_WRITE_PROTECT:
        return {Code::Invalid, path + ": the login user may not do this on the node"};
      case LIBSSH2_FX_NO_SPACE_ON_FILESYSTEM:
      case LIBSSH2_FX_QUOTA_EXCEEDED:
        return {Code::Quota, path + ": the node's disk is full"};
      default:
        return {Code::Retry, fmt::format("{}: the node's file server says error {}", path,
                                         libssh2_sftp_last_error(sftp_))};
    }
  }

  // Errors of writes that the server had still to make show here.
  Status close() {
    if (!raw_) return {};
    auto code = session_.drive(Stop().within(std::chrono::seconds(10)),
                               [&] { return libssh2_sftp_close_handle(raw_); });
    raw_ = nullptr;
    if (!code) return code.status();
    return code->ok() ? Status() : sftp_failure(*code, "closing the file");
  }

  LIBSSH2_SFTP_HANDLE* raw() { return raw_; }

 private:
  Session& session_;
  LIBSSH2_SFTP* sftp_;
  LIBSSH2_SFTP_HANDLE* raw_ = nullptr;
};

}  // namespace

Result<LIBSSH2_SFTP*> Session::sftp(const Stop& stop) {
  if (sftp_) return sftp_;
  std::lock_guard turn(open_turn_);
  auto code = drive(stop, [&] {
    sftp_ = libssh2_sftp_init(session_);
    return sftp_ ? 0 : libssh2_session_last_errno(session_);
  });
  if (!code) return code.status();
  if (!code->ok()) return failure(*code, "the node offers no SFTP");
  return sftp_;
}

Result<unsigned long long> sftp_write(Session& session, ByteSource& source, const std::string& path,
                                      bool resume, const Stop& stop) {
  std::lock_guard turn(session.sftp_turn());
  auto sftp = session.sftp(stop);
  if (!sftp) return sftp.status();
  Handle file(session, *sftp);
  unsigned long flags = LIBSSH2_FXF_WRITE | LIBSSH2_FXF_CREAT | (resume ? 0 : LIBSSH2_FXF_TRUNC);
  if (Status s = file.open(path, flags, 0600, stop); !s.ok()) return s;
  unsigned long long offset = 0;
  if (resume) {
    LIBSSH2_SFTP_ATTRIBUTES there{};
    auto code = session.drive(stop, [&] { return libssh2_sftp_fstat_ex(file.raw(), &there, 0); });
    if (!code) return code.status();
    if (code->ok() && (there.flags & LIBSSH2_SFTP_ATTR_SIZE) && there.filesize <= source.size())
      offset = there.filesize;
    libssh2_sftp_seek64(file.raw(), offset);
  }
  unsigned long long begin = offset;
  std::string piece(kPiece, '\0');
  for (;;) {
    auto n = source.read_at(offset, piece.data(), piece.size());
    if (!n) return n.status();
    if (*n == 0) break;
    for (size_t sent = 0; sent < *n;) {
      auto code = session.drive(stop, [&] {
        return static_cast<int>(libssh2_sftp_write(file.raw(), piece.data() + sent, *n - sent));
      });
      if (!code) return code.status();
      if (!code->ok()) return file.sftp_failure(*code, path);
      sent += static_cast<size_t>(code->code);
    }
    offset += *n;
  }
  if (Status s = file.close(); !s.ok()) return s;
  return offset - begin;
}

Status sftp_read(Session& session, const std::string& path, const std::string& local_path,
                 const std::string& sha256, const Stop& stop) {
  std::lock_guard turn(session.sftp_turn());
  auto sftp = session.sftp(stop);
  if (!sftp) return sftp.status();
  Handle file(session, *sftp);
  if (Status s = file.open(path, LIBSSH2_FXF_READ, 0, stop); !s.ok()) return s;
  NewFile local;
  if (Status s = local.create(local_path); !s.ok()) return s;
  std::string piece(kPiece, '\0');
  for (;;) {
    auto code = session.drive(
        stop, [&] { return static_cast<int>(libssh2_sftp_read(file.raw(), piece.data(), piece.size())); });
    if (!code) return code.status();
    if (!code->ok()) return file.sftp_failure(*code, path);
    if (code->code == 0) break;
    if (Status s = local.write({piece.data(), static_cast<size_t>(code->code)}); !s.ok()) return s;
  }
  auto digest = sha256_file(local.content_path());
  if (!digest) return digest.status();
  if (!sha256.empty() && *digest != sha256)
    return {Code::Corrupt, path + ": was changed while it was fetched"};
  return local.commit();
}

}  // namespace radl::ssh
