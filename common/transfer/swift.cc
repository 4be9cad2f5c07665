// Swift's operations on objects.
#include "common/transfer/swift.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "common/digest.h"
#include "common/json_values.h"
#include "common/transfer/answers.h"
#include "common/transfer/side_by_side.h"
#include "common/utc.h"

namespace radl::transfer {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::parse_json;
using json::text_of;

constexpr const char* kPage = "1000";

std::string md5_hex(std::string_view bytes) { return to_hex(base64_decode(md5_base64(bytes)).value()); }

// Converts hexadecimal to base64; nothing if it is not an MD5.
StoredChecksum md5_of(const std::string& hex) {
  auto bytes = from_hex(hex);
  if (!bytes.ok() || bytes->size() != 16) return {};
  return {StoredChecksum::Kind::Md5, Crc::Crc32c, base64_encode(*bytes), 0};
}

bool is_large(const http::Response& answer) {
  const std::string_view large = answer.header("x-static-large-object");
  return large == "True" || large == "true";
}

}  // namespace

Swift::Swift(http::Client& http, SwiftOptions options, std::string container)
    : RestStore(http, options.attempts, options.ca_file),
      options_(std::move(options)),
      container_(std::move(container)) {}

std::string Swift::address(const std::string& key) const {
  return "swift://" + container_ + (key.empty() ? "" : "/" + key);
}

Result<std::string> Swift::url(const std::string& container, const std::string& key, const Stop& stop) {
  auto account = options_.access->account(stop);
  if (!account.ok()) return account.status();
  std::string base = account->url;
  while (base.ends_with('/')) base.pop_back();
  return base + "/" + http::percent_encode(container) +
         (key.empty() ? "" : "/" + http::percent_encode(key, true));
}

Result<std::string> Swift::object_url(const std::string& key, const Stop& stop) {
  return url(container_, key, stop);
}
Result<std::string> Swift::bytes_url(const std::string& key, const Stop& stop) {
  return url(container_, key, stop);
}

Result<http::Headers> Swift::authorization(const http::Request&, uint64_t, const Stop& stop) {
  auto account = options_.access->account(stop);
  if (!account.ok()) return account.status();
  std::lock_guard lock(mutex_);
  token_ = account->token;
  return http::Headers{{"X-Auth-Token", account->token}};
}

bool Swift::put_right(const http::Response& answer) {
  if (answer.status != 401) return false;
  std::string used;
  {
    std::lock_guard lock(mutex_);
    used = token_;
  }
  options_.access->refused(used);
  return true;
}

Described Swift::described(const http::Response& answer) const {
  Described found{unquote_etag(answer.header("etag")), content_length(answer), {}, 0};
  if (auto total = parse_content_range(answer.header("content-range")).total) found.size = *total;
  // For a large object, it is the MD5 of its segments' MD5s.
  const bool of_segments = is_large(answer) || !answer.header("x-object-manifest").empty();
  if (!of_segments) found.checksum = md5_of(found.etag);
  return found;
}

Status Swift::look_at_parts(const std::string& key, Described& object, const Stop& stop) {
  if (object.checksum.kind != StoredChecksum::Kind::None) return {};
  auto all = segments_of(key, stop);
  if (!all.ok()) return all.status();
  if (all->empty()) return {};
  const uint64_t bytes = all->front().bytes;
  for (size_t i = 0; i < all->size(); ++i) {
    const Segment& one = (*all)[i];
    if (one.nested || (i + 1 < all->size() ? one.bytes != bytes : one.bytes > bytes)) return {};
  }
  object.checksum = md5_of(object.etag);
  object.checksum.parts = int(all->size());
  object.part_bytes = bytes;
  return {};
}

void Swift::only_if(const std::string& etag, std::string&, http::Headers& headers) const {
  headers.emplace_back("If-Match", "\"" + etag + "\"");
}

Status Swift::error(const http::Response& answer, const std::string& key) const {
  if (answer.status == 404 && key.empty()) return no_container(address(""));
  Code code = http::status_of(answer, "").code();
  if (answer.status == 413 || answer.status == 507) code = Code::Quota;
  if (answer.status == 422) code = Code::Corrupt;
  if (answer.status == 498 || answer.status == 408) code = Code::Retry;
  Status failed(code, fmt::format("{}: HTTP status {}", address(key), answer.status));
  if (answer.status == 401) return std::move(failed).with_hint("The object store does not accept the token.");
  if (answer.status == 403)
    return std::move(failed).with_hint(
        "The user needs the cloud's role for object storage (often `member` or `swiftoperator`) "
        "in this project, or access to the container: `swift post --read-acl`, `--write-acl`.");
  if (answer.status == 413)
    return std::move(failed).with_hint("The object is too large, or the quota is exhausted.");
  if (answer.status == 422) return std::move(failed).with_hint("The data changed on its way.");
  return failed;
}

Result<Object> Swift::put(const std::string& key, std::string bytes, const PutCondition& condition,
                          const Stop& stop) {
  if (!condition.if_match.empty())
    return Status(Code::Unsupported, address(key) + ": Swift does not support conditional writes")
        .with_hint("Use s3://, gs:// or az:// instead.");
  auto where = object_url(key, stop);
  if (!where.ok()) return where.status();
  const std::string md5 = md5_hex(bytes);
  Call what{.method = "PUT", .url = *where, .once = condition.if_absent, .stop = stop};
  what.headers = {{"ETag", md5}, {"Content-Type", "application/octet-stream"}};
  if (condition.if_absent) what.headers.emplace_back("If-None-Match", "*");
  const uint64_t size = bytes.size();
  http::Request request;
  request.body = std::move(bytes);
  auto answer = call(what, std::move(request));
  if (!answer.ok()) return answer.status();
  if (answer->status == 404) return no_container(address(""));
  if (auto refused = condition_answer(*answer, condition, address(key))) return *refused;
  if (!answer->ok()) return error(*answer, key);
  return Object{key, md5, size, http_time(answer->header("last-modified"))};
}

Result<std::vector<Swift::Segment>> Swift::segments_of(const std::string& key, const Stop& stop) {
  std::vector<Segment> all;
  auto where = object_url(key, stop);
  if (!where.ok()) return where.status();
  auto head = call({.method = "HEAD", .url = *where, .stop = stop});
  if (!head.ok()) return head.status();
  if (head->status == 404 || !is_large(*head)) return all;
  auto manifest = call({.url = with_query(*where, {{"multipart-manifest", "get"}}), .stop = stop});
  if (!manifest.ok()) return manifest.status();
  if (!manifest->ok()) return error(*manifest, key);
  const Json list = parse_json(manifest->body);
  if (!list.is_array())
    return Status(Code::Corrupt, address(key) + ": its manifest is not a list of segments");
  for (const Json& one : list) {
    const std::string path = text_of(one, "name");  // "/container/name"
    const size_t slash = path.find('/', 1);
    if (!path.starts_with('/') || slash == path.npos) continue;  // bytes within the manifest
    all.push_back({path.substr(1, slash - 1), path.substr(slash + 1), text_of(one, "hash"),
                   static_cast<uint64_t>(json::number_of(one, "bytes")), json::flag_of(one, "sub_slo")});
  }
  return all;
}

Result<Object> Swift::put_segments(const std::string& key, const std::vector<Segment>& all,
                                   const Stop& stop) {
  auto where = object_url(key, stop);
  if (!where.ok()) return where.status();
  Json manifest = Json::array();
  uint64_t size = 0;
  for (const Segment& one : all) {
    manifest.push_back(
        {{"path", "/" + one.container + "/" + one.name}, {"etag", one.md5}, {"size_bytes", one.bytes}});
    size += one.bytes;
  }
  http::Request request;
  request.body = manifest.dump(-1, ' ', false, Json::error_handler_t::replace);
  request.stall_seconds = 120;  // it looks at each segment before it answers
  auto answer = call({.method = "PUT",
                      .url = with_query(*where, {{"multipart-manifest", "put"}}),
                      .headers = {{"Content-Type", "application/octet-stream"}},
                      .stop = stop},
                     std::move(request));
  if (!answer.ok()) return answer.status();
  if (answer->status == 404) return no_container(address(""));
  if (!answer->ok()) return error(*answer, key);
  return Object{key, unquote_etag(answer->header("etag")), size, http_time(answer->header("last-modified"))};
}

Status Swift::make_segment_container(const Stop& stop) {
  auto where = url(segments(), "", stop);
  if (!where.ok()) return where.status();
  auto answer = call({.method = "PUT", .url = *where, .stop = stop});
  if (!answer.ok()) return answer.status();
  return answer->ok() ? Status() : error(*answer, "").at("the container " + segments());
}

Status Swift::remove_segments(const std::vector<Segment>& all, const Stop& stop) {
  constexpr size_t kAtOnce = 16;
  return side_by_side(all.size(), kAtOnce, stop, [&](size_t i, const Stop& either) -> Status {
    auto where = url(all[i].container, all[i].name, either);
    if (!where.ok()) return where.status();
    auto gone = call({.method = "DELETE", .url = *where, .stop = either});
    if (!gone.ok()) return gone.status();
    return gone->ok() || gone->status == 404 ? Status() : error(*gone, all[i].name);
  });
}

Status Swift::remove(const std::string& key, const Stop& stop) {
  auto all = segments_of(key, stop);
  if (!all.ok()) return all.status();
  if (Status gone = RestStore::remove(key, stop); !gone.ok()) return gone;
  return remove_segments(*all, stop);
}

// Copies each segment of a large object: objects that share segments would lose them with the first.
Result<Object> Swift::copy(const std::string& from, const std::string& to, const Stop& stop) {
  auto all = segments_of(from, stop);
  if (!all.ok()) return all.status();
  auto copy_one = [&](const std::string& source, const std::string& container, const std::string& name,
                      const Stop& either) -> Status {
    auto where = url(container, name, either);
    if (!where.ok()) return where.status();
    auto answer = call({.method = "PUT",
                        .url = *where,
                        .headers = {{"X-Copy-From", "/" + http::percent_encode(source, true)}},
                        .stop = either});
    if (!answer.ok()) return answer.status();
    return answer->ok() ? Status() : error(*answer, from);
  };
  if (all->empty()) {
    Status copied = copy_one(container_ + "/" + from, container_, to, stop);
    return copied.ok() ? head(to, stop) : Result<Object>(copied);
  }
  if (Status made = make_segment_container(stop); !made.ok()) return made;
  std::vector<Segment> own = *all;
  const std::string folder = to + "/radl-" + to_hex(random_bytes(8)) + "/";
  for (size_t i = 0; i < own.size(); ++i) {
    own[i].container = segments();
    own[i].name = folder + fmt::format("{:08}", i + 1);
  }
  constexpr size_t kAtOnce = 4;
  Status copied = side_by_side(own.size(), kAtOnce, stop, [&](size_t i, const Stop& either) {
    return copy_one((*all)[i].container + "/" + (*all)[i].name, own[i].container, own[i].name, either);
  });
  if (!copied.ok()) {
    (void)remove_segments(own, Stop().within(std::chrono::seconds(10)));
    return copied;
  }
  return put_segments(to, own, stop);
}

Result<std::vector<Object>> Swift::list_in(const std::string& container, const std::string& prefix,
                                           const Stop& stop) {
  std::vector<Object> all;
  auto where = url(container, "", stop);
  if (!where.ok()) return where.status();
  for (std::string marker;;) {
    http::Headers query{{"format", "json"}, {"limit", kPage}, {"prefix", prefix}};
    if (!marker.empty()) query.emplace_back("marker", marker);
    auto answer = call({.url = with_query(*where, query), .stop = stop});
    if (!answer.ok()) return answer.status();
    if (answer->status == 204) break;
    if (!answer->ok()) return error(*answer, "");
    const Json page = parse_json(answer->body);
    if (!page.is_array()) return Status(Code::Corrupt, address("") + ": the response is not a list");
    if (page.empty()) break;
    for (const Json& item : page) {
      const std::string large = text_of(item, "slo_etag");
      Object object{text_of(item, "name"), unquote_etag(large.empty() ? text_of(item, "hash") : large),
                    static_cast<uint64_t>(json::number_of(item, "bytes")),
                    parse_utc(text_of(item, "last_modified")).value_or(0)};
      if (object.key.empty() || !object.key.starts_with(prefix) || object.key <= marker)
        return Status(Code::Corrupt, address("") + ": invalid entry \"" + object.key + "\" in the list");
      marker = object.key;
      all.push_back(std::move(object));
    }
  }
  return all;
}

Result<std::vector<Object>> Swift::list(const std::string& prefix, const Stop& stop) {
  return list_in(container_, prefix, stop);
}

}  // namespace radl::transfer
