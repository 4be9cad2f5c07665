// Any bytes as what S3, WebHDFS and HTTP servers answer, and as a URL.
#include <cstdint>

#include "common/transfer/answers.h"
#include "common/transfer/checksum.h"

using namespace radl;
using namespace radl::transfer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto page = parse_s3_list(text, "data/");
  if (page.ok()) {
    for (const auto& object : page->objects) {
      if (!object.key.starts_with("data/")) __builtin_trap();
    }
  }
  http::Response response;
  response.status = size > 0 ? 400 + data[0] : 404;
  response.body = text;
  if (s3_error(response, "s3").ok() || hdfs_error(response, "hdfs").ok()) __builtin_trap();
  (void)is_s3_error(text);
  (void)s3_field(text, "UploadId");
  (void)unquote_etag(text);
  (void)parse_s3_uploads(text);
  (void)parse_s3_deleted(text);
  auto parts = parse_s3_parts(text);
  if (parts.ok()) {
    for (const auto& part : parts->parts) {
      if (part.number < 1 || part.number > 10000) __builtin_trap();
    }
  }
  (void)check_bytes(checksum_of({{"x-amz-checksum-crc32c", text}}), text);
  (void)parse_hdfs_status(text);
  (void)parse_hdfs_list(text);
  (void)parse_hdfs_boolean(text);
  (void)parse_content_range(text);
  auto url = http::parse_url(text);
  if (url.ok() && url->scheme.empty()) __builtin_trap();
  (void)http::printable_url(text);
  auto decoded = http::percent_decode(text);
  if (decoded.ok() && http::percent_decode(http::percent_encode(*decoded)).value() != *decoded)
    __builtin_trap();
  return 0;
}
