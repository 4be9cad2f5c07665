// Parsers for server responses: pure functions of untrusted bytes (tests/fuzz/data).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/http.h"
#include "common/status.h"
#include "common/transfer/object_store.h"
#include "common/transfer/webhdfs.h"

namespace radl::transfer {

// A page of ListObjectsV2. Corrupt: not such a list, a size that is not a number, or a key without the
// prefix.
struct S3Page {
  std::vector<Object> objects;
  std::string next;  // continuation token; "" on the last page
};
Result<S3Page> parse_s3_list(std::string_view xml, std::string_view prefix);

// A page of ListMultipartUploads.
struct S3UploadPage {
  struct Begun {
    std::string key, id;
    std::time_t begun = 0;
  };
  std::vector<Begun> uploads;
  std::string next_key, next_id;  // "" on the last page
};
Result<S3UploadPage> parse_s3_uploads(std::string_view xml);

// A page of ListParts.
struct S3PartPage {
  struct Part {
    int number = 0;
    std::string etag, crc32c;  // crc32c is base64, or "" if the store keeps none
    uint64_t size = 0;
  };
  std::vector<Part> parts;
  std::string next;  // part-number-marker; "" on the last page
};
Result<S3PartPage> parse_s3_parts(std::string_view xml);

// Parses the response to DeleteObjects. The error names the objects that were not removed.
Status parse_s3_deleted(std::string_view xml);

// Text of the root's child of this name, ignoring namespaces; "" if missing.
std::string s3_field(std::string_view xml, std::string_view name);
// True if the root is <Error>. Even a response with status 200 can be one.
bool is_s3_error(std::string_view xml);
// S3's <Error><Code>..</Code><Message>..</Message></Error> as a message that begins with `what`.
Status s3_error(const http::Response& response, const std::string& what);
std::string unquote_etag(std::string_view etag);
// The error for a successful PUT without an ETag: every store sends one, so a proxy answered.
Status not_a_store(const std::string& what);

// The answers to GETFILESTATUS and LISTSTATUS; Corrupt if malformed.
Result<HdfsEntry> parse_hdfs_status(std::string_view json);
Result<std::vector<HdfsEntry>> parse_hdfs_list(std::string_view json);
// Parses {"boolean": true}: true if the operation did what was requested.
bool parse_hdfs_boolean(std::string_view json);
// {"RemoteException": ...} as a message that begins with `what`.
Status hdfs_error(const http::Response& response, const std::string& what);

// "bytes 100-199/200" or "bytes */200".
struct ContentRange {
  std::optional<uint64_t> first, total;
};
ContentRange parse_content_range(std::string_view text);
// Extracts the bytes of `range` from the response to a request for it. If the server ignored the range (200),
// cuts it out of the whole file. Corrupt: a part that begins elsewhere or is longer than requested.
Result<std::string> bytes_of_range(http::Response answer, const Range& range, const std::string& what);

}  // namespace radl::transfer
