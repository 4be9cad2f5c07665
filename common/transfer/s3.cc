#include "common/transfer/s3.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>

#include "common/digest.h"
#include "common/transfer/answers.h"

namespace radl::transfer {

Result<S3::Place> S3::place(const std::string& bucket, const std::string& key) const {
  if (bucket.empty() ||
      bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") !=
          std::string::npos) {
    return invalid("\"" + bucket + "\" is no bucket name");
  }
  Place p;
  if (!options_.endpoint.empty()) {
    auto url = http::parse_url(options_.endpoint);
    if (!url.ok()) return url.status();
    p.host = (url->host.find(':') != std::string::npos ? "[" + url->host + "]" : url->host) +
             (url->port.empty() ? "" : ":" + url->port);
    p.base = url->scheme + "://" + p.host;
    p.path = (url->path == "/" ? "" : url->path) + "/" + bucket + "/" + key;
    return p;
  }
  // A bucket with dots does not fit the certificate: it goes into the path.
  const std::string amazon = "s3." + options_.region + ".amazonaws.com";
  const bool in_path = bucket.find('.') != std::string::npos;
  p.host = in_path ? amazon : bucket + "." + amazon;
  p.base = "https://" + p.host;
  p.path = (in_path ? "/" + bucket : "") + "/" + key;
  return p;
}

Result<http::Response> S3::call(const std::string& method, const std::string& bucket, const std::string& key,
                                const http::Headers& query, const http::Headers& headers,
                                const http::Request& body, bool repeat) {
  auto where = place(bucket, key);
  if (!where.ok()) return where.status();
  http::Request r = body;
  r.method = method;
  r.url = where->base + http::percent_encode(where->path, true) +
          (query.empty() ? "" : "?" + http::query_string(query));
  r.follow_redirects = false;  // the signature names the host
  aws::ToSign to_sign{method,      where->host,
                      where->path, query,
                      headers,     body.upload_file.empty() ? sha256_hex(body.body) : "UNSIGNED-PAYLOAD"};
  r.headers = headers;
  // libcurl's own would be that of a form, which some servers then take the body for.
  if (method == "PUT" || method == "POST")
    r.headers.emplace_back("Content-Type", method == "PUT" ? "application/octet-stream" : "application/xml");
  if (!options_.credentials.access_key.empty()) {
    r.signing = [this, &to_sign]() -> Result<http::Headers> {
      return aws::sign_v4(to_sign, options_.credentials, {options_.region, "s3", std::time(nullptr)});
    };
  }
  auto answer = repeat ? http_.send(r, http::Retries{}) : http_.send(r);
  if (!answer.ok()) return answer;
  if (answer->status == 301 || answer->status == 307) {
    return Status(Code::Invalid, "s3://" + bucket + ": lies in another region" +
                                     (answer->header("x-amz-bucket-region").empty()
                                          ? ""
                                          : " (" + std::string(answer->header("x-amz-bucket-region")) + ")"))
        .with_hint("set AWS_REGION");
  }
  return answer;
}

Result<S3Object> S3::head(const std::string& bucket, const std::string& key) {
  auto r = call("HEAD", bucket, key, {}, {}, {});
  if (!r.ok()) return r.status();
  if (!r->ok()) return s3_error(*r, "s3://" + bucket + "/" + key);
  const std::string length(r->header("content-length"));
  return S3Object{key, unquote_etag(r->header("etag")),
                  length.empty() ? 0 : std::strtoull(length.c_str(), nullptr, 10)};
}

Result<std::string> S3::get(const std::string& bucket, const std::string& key, uint64_t first,
                            uint64_t count) {
  http::Headers headers;
  if (first > 0 || count > 0)
    headers.emplace_back("Range", "bytes=" + std::to_string(first) + "-" +
                                      (count > 0 ? std::to_string(first + count - 1) : ""));
  auto r = call("GET", bucket, key, {}, headers, {});
  if (!r.ok()) return r.status();
  if (!r->ok()) return s3_error(*r, "s3://" + bucket + "/" + key);
  return std::move(r->body);
}

Status S3::get_file(const std::string& bucket, const std::string& key, Download what) {
  auto where = place(bucket, key);
  if (!where.ok()) return where.status();
  what.identity = "s3://" + bucket + "/" + key;
  what.url = where->base + http::percent_encode(where->path, true);
  if (!options_.credentials.access_key.empty()) {
    what.signing = [options = options_, where = *where]() -> Result<http::Headers> {
      return aws::sign_v4(aws::ToSign{"GET", where.host, where.path, {}, {}, sha256_hex("")},
                          options.credentials, {options.region, "s3", std::time(nullptr)});
    };
  }
  Status s = download(http_, what);
  if (s.code() == Code::Auth || s.code() == Code::NotFound)
    return Status(s.code(),
                  what.identity + ": " + (s.code() == Code::Auth ? "access is denied" : "is not there"));
  return s;
}

Result<S3Object> S3::put(const std::string& bucket, const std::string& key, std::string body,
                         const PutCondition& condition) {
  http::Headers headers;
  if (condition.if_absent) headers.emplace_back("If-None-Match", "*");
  if (!condition.if_match.empty()) headers.emplace_back("If-Match", "\"" + condition.if_match + "\"");
  const uint64_t size = body.size();
  http::Request r;
  r.body = std::move(body);
  // A conditional put whose answer was lost must not be repeated: the second would meet the first.
  auto answer = call("PUT", bucket, key, {}, headers, r, headers.empty());
  if (!answer.ok()) {
    const bool unknown = !headers.empty() &&
                         (answer.status().code() == Code::Retry || answer.status().code() == Code::Timeout);
    return unknown ? Status(Code::Lost, answer.status().message()) : answer.status();
  }
  if (answer->status == 412 && condition.if_absent)
    return Status(Code::Exists, "s3://" + bucket + "/" + key + ": is there already");
  if (!answer->ok()) return s3_error(*answer, "s3://" + bucket + "/" + key);
  return S3Object{key, unquote_etag(answer->header("etag")), size};
}

Result<S3Object> S3::put_file(const std::string& bucket, const std::string& key, const std::string& path,
                              uint64_t part_bytes) {
  std::error_code e;
  const uint64_t size = std::filesystem::file_size(path, e);
  if (e) return not_found(path + ": " + e.message());
  if (size <= part_bytes) {
    http::Request r;
    r.upload_file = path;
    r.upload_length = size;
    auto answer = call("PUT", bucket, key, {}, {}, r);
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return s3_error(*answer, "s3://" + bucket + "/" + key);
    return S3Object{key, unquote_etag(answer->header("etag")), size};
  }
  // At most 10,000 parts, each of 5 MiB or more.
  part_bytes = std::max({part_bytes, uint64_t{5} << 20, size / 10000 + 1});
  auto begun = call("POST", bucket, key, {{"uploads", ""}}, {}, {}, false);
  if (!begun.ok()) return begun.status();
  if (!begun->ok()) return s3_error(*begun, "s3://" + bucket + "/" + key);
  const std::string upload = s3_field(begun->body, "UploadId");
  if (upload.empty())
    return Status(Code::Corrupt, "s3://" + bucket + "/" + key + ": the server began no upload");
  auto done = put_parts(bucket, key, path, size, part_bytes, upload);
  if (!done.ok()) (void)call("DELETE", bucket, key, {{"uploadId", upload}}, {}, {});
  return done;
}

Result<S3Object> S3::put_parts(const std::string& bucket, const std::string& key, const std::string& path,
                               uint64_t size, uint64_t part_bytes, const std::string& upload) {
  std::string list = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  int number = 1;
  for (uint64_t at = 0; at < size; at += part_bytes, ++number) {
    http::Request r;
    r.upload_file = path;
    r.upload_offset = at;
    r.upload_length = std::min(part_bytes, size - at);
    auto answer =
        call("PUT", bucket, key, {{"partNumber", std::to_string(number)}, {"uploadId", upload}}, {}, r);
    if (!answer.ok()) return answer.status();
    if (!answer->ok())
      return s3_error(*answer, "s3://" + bucket + "/" + key + " part " + std::to_string(number));
    list += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>\"" +
            unquote_etag(answer->header("etag")) + "\"</ETag></Part>";
  }
  http::Request r;
  r.body = list + "</CompleteMultipartUpload>";
  auto answer = call("POST", bucket, key, {{"uploadId", upload}}, {}, r, false);
  if (!answer.ok()) return answer.status();
  // A 200 may still carry an error: the server had begun to answer before it was done.
  if (!answer->ok() || is_s3_error(answer->body)) return s3_error(*answer, "s3://" + bucket + "/" + key);
  return S3Object{key, unquote_etag(s3_field(answer->body, "ETag")), size};
}

Result<std::vector<S3Object>> S3::list(const std::string& bucket, const std::string& prefix) {
  std::vector<S3Object> all;
  std::string token;
  for (;;) {
    http::Headers query = {{"list-type", "2"}, {"prefix", prefix}};
    if (!token.empty()) query.emplace_back("continuation-token", token);
    auto r = call("GET", bucket, "", query, {}, {});
    if (!r.ok()) return r.status();
    if (!r->ok()) return s3_error(*r, "s3://" + bucket);
    auto page = parse_s3_list(r->body, prefix);
    if (!page.ok()) return Status(page.status()).at("s3://" + bucket);
    std::move(page->objects.begin(), page->objects.end(), std::back_inserter(all));
    if (page->next.empty() || page->next == token) return all;
    token = page->next;
  }
}

Status S3::remove(const std::string& bucket, const std::string& key) {
  auto r = call("DELETE", bucket, key, {}, {}, {});
  if (!r.ok()) return r.status();
  return r->ok() ? Status() : s3_error(*r, "s3://" + bucket + "/" + key);
}

}  // namespace radl::transfer
