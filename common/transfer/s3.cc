// S3's operations on whole objects of small and known size.
#include "common/transfer/s3.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>

#include "common/digest.h"
#include "common/http/retry.h"
#include "common/transfer/answers.h"
#include "common/transfer/checksum.h"

namespace radl::transfer {
namespace {

std::time_t time_of(std::string_view header) {
  return header.empty() ? 0 : std::max<std::time_t>(0, ::curl_getdate(std::string(header).c_str(), nullptr));
}

Object object_of(const std::string& key, const http::Response& answer) {
  const std::string length(answer.header("content-length"));
  return {key, unquote_etag(answer.header("etag")),
          length.empty() ? 0 : std::strtoull(length.c_str(), nullptr, 10),
          time_of(answer.header("last-modified"))};
}

std::string quoted(const std::string& etag) { return "\"" + etag + "\""; }

// Whether XML can say it at all. Source: Extensible Markup Language 1.0, section 2.2.
bool is_xml_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\n' || c == '\r';
  });
}

// Keys as XML text.
std::string xml_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace

Result<Object> S3::head(const std::string& key, const Stop& stop) {
  auto r = call({.method = "HEAD", .key = key, .stop = stop});
  if (!r.ok()) return r.status();
  if (!r->ok()) return s3_error(*r, address(key));
  return object_of(key, *r);
}

Result<Fetched> S3::get(const std::string& key, const Range& range, const Stop& stop) {
  Call what{.method = "GET", .key = key, .stop = stop};
  const bool whole = range.first == 0 && range.count == 0;
  if (whole) {
    what.headers.emplace_back("x-amz-checksum-mode", "ENABLED");
  } else {
    what.headers.emplace_back("Range",
                              "bytes=" + std::to_string(range.first) + "-" +
                                  (range.count > 0 ? std::to_string(range.first + range.count - 1) : ""));
  }
  auto r = call(what);
  if (!r.ok()) return r.status();
  if (!r->ok()) return s3_error(*r, address(key));
  if (whole) {
    if (Status sum = check_bytes(checksum_of(r->headers), r->body); !sum.ok())
      return std::move(sum).at(address(key));
  }
  Fetched got{object_of(key, *r), {}, time_of(r->header("date"))};
  if (auto total = parse_content_range(r->header("content-range")).total) got.object.size = *total;
  auto bytes = bytes_of_range(std::move(*r), range, address(key));
  if (!bytes.ok()) return bytes.status();
  got.bytes = std::move(*bytes);
  return got;
}

Result<Object> S3::put(const std::string& key, std::string bytes, const PutCondition& condition,
                       const Stop& stop) {
  Call what{.method = "PUT", .key = key, .stop = stop};
  if (condition.if_absent) what.headers.emplace_back("If-None-Match", "*");
  if (!condition.if_match.empty()) what.headers.emplace_back("If-Match", quoted(condition.if_match));
  what.once = !what.headers.empty();
  for (auto& header : checksum_headers(crc32c(bytes))) what.headers.push_back(std::move(header));
  const uint64_t size = bytes.size();
  http::Request request;
  request.body = std::move(bytes);
  auto answer = call(what, std::move(request));
  if (!answer.ok()) return answer.status();
  if (answer->status == 412 && condition.if_absent)
    return Status(Code::Exists, address(key) + " already exists");
  if (!answer->ok()) {
    Status error = s3_error(*answer, address(key));
    const std::string code = s3_field(answer->body, "Code");
    // Two conditional writes at the same moment: neither has failed its condition yet.
    if (code == "ConditionalRequestConflict") return Status(Code::Retry, error.message());
    if (what.once && answer->status >= 500 && code != "SlowDown") return Status(Code::Lost, error.message());
    return error;
  }
  Object made{key, unquote_etag(answer->header("etag")), size, time_of(answer->header("date"))};
  if (!made.etag.empty()) return made;
  const Status none = not_a_store(address(key));
  return what.once ? Status(Code::Lost, none.message()) : none;
}

Result<Object> S3::copy(const std::string& from, const std::string& to, const Stop& stop) {
  Call what{.method = "PUT", .key = to, .stop = stop};
  what.headers.emplace_back("x-amz-copy-source", http::percent_encode("/" + bucket_ + "/" + from, true));
  auto answer = call_late(what);
  if (!answer.ok()) return answer.status();
  if (!answer->ok() || is_s3_error(answer->body)) return s3_error(*answer, address(from));
  auto made = head(to, stop);
  if (made.ok() && made->etag.empty()) made->etag = unquote_etag(s3_field(answer->body, "ETag"));
  return made;
}

Result<std::vector<Object>> S3::list(const std::string& prefix, const Stop& stop) {
  std::vector<Object> all;
  std::string token;
  std::set<std::string> pages;
  for (;;) {
    // Encoded: a key may have characters that no XML has.
    Call what{.method = "GET",
              .query = {{"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}},
              .stop = stop};
    if (!token.empty()) what.query.emplace_back("continuation-token", token);
    auto r = call(what);
    if (!r.ok()) return r.status();
    if (!r->ok() || is_s3_error(r->body)) return s3_error(*r, address(""));
    auto page = parse_s3_list(r->body, prefix);
    if (!page.ok()) return Status(page.status()).at(address(""));
    std::move(page->objects.begin(), page->objects.end(), std::back_inserter(all));
    if (page->next.empty()) break;
    if (!pages.insert(page->next).second)
      return Status(Code::Corrupt, address("") + ": the pages of the list repeat");
    token = page->next;
  }
  std::sort(all.begin(), all.end(), [](const Object& a, const Object& b) { return a.key < b.key; });
  return all;
}

Status S3::remove(const std::string& key, const Stop& stop) {
  auto r = call({.method = "DELETE", .key = key, .stop = stop});
  if (!r.ok()) return r.status();
  if (r->ok() || (r->status == 404 && s3_field(r->body, "Code") != "NoSuchBucket")) return {};
  return s3_error(*r, address(key));
}

// Some keys may fail temporarily; repeating the request does no harm to the others.
Status S3::remove_listed(const Call& what, const http::Request& request) {
  http::Backoff backoff({options_.attempts, 0.25, 20}, what.stop);
  for (;;) {
    auto r = call_late(what, request);
    if (!r.ok()) return r.status();
    if (!r->ok() || is_s3_error(r->body)) return s3_error(*r, "DeleteObjects");
    Status removed = parse_s3_deleted(r->body);
    if (removed.code() != Code::Retry || !backoff.again() || !backoff.wait().ok()) return removed;
  }
}

Status S3::remove_many(const std::vector<std::string>& all, const Stop& stop) {
  constexpr size_t kMost = 1000;  // DeleteObjects takes no more at a time
  std::vector<std::string> keys;
  for (const std::string& key : all) {
    if (is_xml_text(key)) {
      keys.push_back(key);
    } else if (Status s = remove(key, stop); !s.ok()) {
      return s;
    }
  }
  for (size_t at = 0; at < keys.size(); at += kMost) {
    std::string list = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
    for (size_t i = at; i < std::min(keys.size(), at + kMost); ++i)
      list += "<Object><Key>" + xml_text(keys[i]) + "</Key></Object>";
    list += "</Delete>";
    Call what{.method = "POST", .query = {{"delete", ""}}, .stop = stop};
    what.headers = checksum_headers(crc32c(list));
    // Servers from before the checksums want this one.
    what.headers.emplace_back("Content-MD5", md5_base64(list));
    http::Request request;
    request.idempotent = true;
    request.body = std::move(list);
    if (Status s = remove_listed(what, request); !s.ok()) return std::move(s).at(address(""));
  }
  return {};
}

Result<std::string> S3::presign(const std::string& method, const std::string& key, int seconds,
                                const Stop& stop) {
  if (seconds < 1 || seconds > 7 * 24 * 3600)
    return invalid("a presigned URL must be valid for 1 second to 7 days, not " + std::to_string(seconds) +
                   " s");
  if (!options_.credentials) return Status(Code::Auth, address(key) + ": without keys no URL can be signed");
  auto keys = options_.credentials->get(stop);
  if (!keys.ok()) return keys.status();
  if (keys->anonymous()) return Status(Code::Auth, address(key) + ": without keys no URL can be signed");
  const std::string region = this->region();
  const Place where = place(key, region);
  aws::ToSign to_sign{method, where.host, where.path, {}, {}, "UNSIGNED-PAYLOAD"};
  const auto query = aws::presign_v4(
      to_sign, *keys, {region, "s3", std::time(nullptr) + std::time_t(clock_offset_.load())}, seconds);
  return where.base + http::percent_encode(where.path, true) + "?" + http::query_string(query);
}

Result<int> S3::abort_uploads(const std::string& prefix, std::time_t begun_before, const Stop& stop) {
  int aborted = 0;
  std::string key_marker, id_marker;
  std::set<std::pair<std::string, std::string>> pages;
  for (;;) {
    Call what{.method = "GET",
              .query = {{"uploads", ""}, {"prefix", prefix}, {"encoding-type", "url"}},
              .stop = stop};
    if (!key_marker.empty()) {
      what.query.emplace_back("key-marker", key_marker);
      what.query.emplace_back("upload-id-marker", id_marker);
    }
    auto r = call(what);
    if (!r.ok()) return r.status();
    if (!r->ok()) return s3_error(*r, address(""));
    auto page = parse_s3_uploads(r->body);
    if (!page.ok()) return Status(page.status()).at(address(""));
    for (const auto& upload : page->uploads) {
      if (upload.begun >= begun_before || !upload.key.starts_with(prefix)) continue;
      auto gone =
          call({.method = "DELETE", .key = upload.key, .query = {{"uploadId", upload.id}}, .stop = stop});
      if (!gone.ok()) return gone.status();
      if (!gone->ok() && gone->status != 404) return s3_error(*gone, address(upload.key));
      ++aborted;
    }
    if (page->next_key.empty() || !pages.emplace(page->next_key, page->next_id).second) return aborted;
    key_marker = page->next_key;
    id_marker = page->next_id;
  }
}

}  // namespace radl::transfer
