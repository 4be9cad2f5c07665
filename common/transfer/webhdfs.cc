#include "common/transfer/webhdfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "common/http/retry.h"
#include "common/transfer/answers.h"
#include "common/transfer/part_file.h"

namespace radl::transfer {
std::string WebHdfs::url(const std::string& path, const std::string& op, const http::Headers& more) const {
  http::Headers query = {{"op", op}};
  if (!user_.empty()) query.emplace_back("user.name", user_);
  query.insert(query.end(), more.begin(), more.end());
  return base_ + "/webhdfs/v1" + http::percent_encode(path, true) + "?" + http::query_string(query);
}

Result<http::Response> WebHdfs::call(const std::string& method, const std::string& path,
                                     const std::string& op, const http::Headers& more) {
  auto r = http_.send({.method = method, .url = url(path, op, more)}, http::Retries{});
  if (r.ok() && !r->ok()) return hdfs_error(*r, "hdfs " + path);
  return r;
}

Result<HdfsEntry> WebHdfs::status(const std::string& path) {
  auto r = call("GET", path, "GETFILESTATUS");
  if (!r.ok()) return r.status();
  return parse_hdfs_status(r->body);
}

Result<std::vector<HdfsEntry>> WebHdfs::list(const std::string& path) {
  auto r = call("GET", path, "LISTSTATUS");
  if (!r.ok()) return r.status();
  return parse_hdfs_list(r->body);
}

Result<std::string> WebHdfs::read(const std::string& path, uint64_t first, uint64_t count) {
  http::Headers more;
  if (first > 0) more.emplace_back("offset", std::to_string(first));
  if (count > 0) more.emplace_back("length", std::to_string(count));
  auto r = call("GET", path, "OPEN", more);
  if (!r.ok()) return r.status();
  return std::move(r->body);
}

Status WebHdfs::get_file(const std::string& path, const Download& what) {
  auto info = status(path);
  if (!info.ok()) return info.status();
  if (info->folder) return invalid("hdfs " + path + " is a folder");
  if (info->size > what.largest)
    return {Code::Quota, "hdfs " + path + " is larger than " + std::to_string(what.largest) + " bytes"};
  if (Status made = make_directories(std::filesystem::path(what.path).parent_path().string()); !made.ok())
    return made;
  const std::string part = what.part_path(), note = part + ".json";
  const std::string identity =
      nlohmann::json{{"url", base_ + path}, {"size", info->size}, {"modified", info->modified}}.dump();
  auto opened = open_part(part);
  if (!opened.ok()) return opened.status();
  const int fd = *opened;
  auto noted = read_file(note, 1 << 16);
  Status result = write_file_atomic(note, identity);
  if (result.ok() && (!noted.ok() || *noted != identity) && ::ftruncate(fd, 0) != 0)
    result = errno_status(errno, part);
  uint64_t have = uint64_t(::lseek(fd, 0, SEEK_END));
  http::Backoff backoff(what.retries, what.stop);
  while (have < info->size && result.ok()) {
    http::Request r{.url = url(path, "OPEN", {{"offset", std::to_string(have)}})};
    r.stop = what.stop;
    const uint64_t before = have;
    r.sink = [&](std::string_view piece) -> Status {
      if (have + piece.size() > info->size)
        return {Code::Conflict, "hdfs " + path + " grew while it was read"};
      if (Status s = write_all(fd, piece, part); !s.ok()) return s;
      have += piece.size();
      if (what.progress) what.progress(have, info->size);
      return {};
    };
    auto answer = http_.send(r);
    Status s = !answer.ok() ? answer.status() : answer->ok() ? Status() : hdfs_error(*answer, "hdfs " + path);
    if (have >= info->size) break;
    if (have > before) backoff.reset();
    const bool passing = s.ok() || s.code() == Code::Retry || s.code() == Code::Timeout;
    if (!passing || !backoff.again())
      result = s.ok() ? Status(Code::Retry, "hdfs " + path + " ended early") : s;
    else
      result = backoff.wait();
  }
  if (result.ok() && ::fsync(fd) != 0) result = errno_status(errno, part);
  ::close(fd);
  if (!result.ok()) return result;
  if (!what.sha256.empty()) {
    auto sum = sha256_file(part);
    if (!sum.ok()) return sum.status();
    if (*sum != what.sha256) {
      ::unlink(part.c_str());
      ::unlink(note.c_str());
      return {Code::Corrupt, "hdfs " + path + ": its SHA-256 is " + *sum + ", expected " + what.sha256};
    }
  }
  if (::rename(part.c_str(), what.path.c_str()) != 0) return errno_status(errno, what.path);
  ::unlink(note.c_str());
  return {};
}

Status WebHdfs::put_file(const std::string& local, const std::string& path) {
  std::error_code e;
  const uint64_t size = std::filesystem::file_size(local, e);
  if (e) return not_found(local + ": " + e.message());
  const std::string temporary = path + ".tmp-" + to_hex(random_bytes(4));
  // The namenode names a datanode; only that one gets the bytes.
  auto where = http_.send(
      {.method = "PUT", .url = url(temporary, "CREATE", {{"overwrite", "true"}}), .follow_redirects = false},
      http::Retries{});
  if (!where.ok()) return where.status();
  if (where->status != 307 || where->header("location").empty()) return hdfs_error(*where, "hdfs " + path);
  http::Request r{.method = "PUT", .url = std::string(where->header("location"))};
  r.upload_file = local;
  r.upload_length = size;
  r.follow_redirects = false;
  auto put = http_.send(r);
  if (!put.ok()) return put.status();
  if (put->status != 201) return hdfs_error(*put, "hdfs " + path);
  // Its answer has no body; without the option RENAME refuses a name that is taken.
  auto replaced = call("PUT", temporary, "RENAME", {{"destination", path}, {"renameoptions", "OVERWRITE"}});
  if (!replaced.ok()) (void)remove(temporary);
  return replaced.status();
}

namespace {

// WebHDFS returns {"boolean": false} for an operation that did nothing.
Status expect_true(const Result<http::Response>& r, const std::string& what) {
  if (!r.ok()) return r.status();
  return parse_hdfs_boolean(r->body) ? Status() : Status(Code::NotFound, what);
}

}  // namespace

Status WebHdfs::make_folders(const std::string& path) {
  return expect_true(call("PUT", path, "MKDIRS"), "hdfs " + path + " was not created");
}
Status WebHdfs::remove(const std::string& path, bool recursive) {
  return expect_true(call("DELETE", path, "DELETE", {{"recursive", recursive ? "true" : "false"}}),
                     "hdfs " + path + " does not exist");
}
Status WebHdfs::rename(const std::string& from, const std::string& to) {
  return expect_true(call("PUT", from, "RENAME", {{"destination", to}}),
                     "hdfs " + from + " was not renamed to " + to);
}

}  // namespace radl::transfer
