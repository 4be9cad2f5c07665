// The transfer library by hand, for the suite: one operation a call.
//
//   conformance_transfer list URI            NAME SIZE a line
//   conformance_transfer get URI FILE        resumable; a part that is there already goes on
//   conformance_transfer range URI FIRST COUNT      s3 and webhdfs, to standard output
//   conformance_transfer put FILE URI [absent | match=ETAG | part=BYTES]
//   conformance_transfer remove URI | mkdir URI | stat URI
// Exit status: 0, or 10 + the status code's number; the message is on standard error.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "common/files.h"
#include "common/transfer/s3.h"
#include "common/transfer/source.h"
#include "common/transfer/webhdfs.h"

using namespace radl;
using namespace radl::transfer;

namespace {

using Arguments = std::vector<std::string>;

struct Place {
  std::string bucket, key;      // s3
  std::optional<WebHdfs> hdfs;  // webhdfs
  std::string path;
};

Result<Place> place_of(http::Client& http, const std::string& uri) {
  Place p;
  auto url = http::parse_url(uri);
  if (!url.ok()) return url.status();
  p.path = http::percent_decode(url->path).value();
  if (url->scheme == "s3") {
    p.bucket = url->host;
    p.key = p.path.substr(1);
  } else if (url->scheme == "webhdfs") {
    p.hdfs.emplace(http, "http://" + url->host + ":" + url->port, url->user);
  } else {
    return invalid(uri + ": s3 or webhdfs");
  }
  return p;
}

Status put(S3* s3, Place& p, const Arguments& a) {
  if (p.hdfs) return p.hdfs->put_file(a[1], p.path);
  PutCondition condition;
  uint64_t part = 0;
  if (a.size() > 3 && a[3] == "absent") condition.if_absent = true;
  if (a.size() > 3 && a[3].starts_with("match=")) condition.if_match = a[3].substr(6);
  if (a.size() > 3 && a[3].starts_with("part=")) part = std::strtoull(a[3].c_str() + 5, nullptr, 10);
  Result<S3Object> done = internal_error("");
  if (part > 0) {
    done = s3->put_file(p.bucket, p.key, a[1], part);
  } else {
    auto bytes = read_file(a[1]);
    if (!bytes.ok()) return bytes.status();
    done = s3->put(p.bucket, p.key, *bytes, condition);
  }
  if (done.ok()) fmt::print("{}\n", done->etag);
  return done.status();
}

Status stat(S3* s3, Place& p) {
  if (p.hdfs) {
    auto entry = p.hdfs->status(p.path);
    if (entry.ok()) fmt::print("{} {}\n", entry->folder ? "folder" : "file", entry->size);
    return entry.status();
  }
  auto object = s3->head(p.bucket, p.key);
  if (object.ok()) fmt::print("{} {}\n", object->etag, object->size);
  return object.status();
}

Status run(const Arguments& a) {
  http::Client http;
  if (a[0] == "list") {
    auto files = list_files(http, a[1]);
    if (!files.ok()) return files.status();
    for (const auto& file : *files) fmt::print("{} {}\n", file.name, file.size);
    return {};
  }
  if (a[0] == "get") return fetch_file(http, a[1], {.path = a[2]});
  auto p = place_of(http, a[0] == "put" ? a[2] : a[1]);
  if (!p.ok()) return p.status();
  std::optional<S3> s3;
  if (!p->hdfs) {
    auto options = s3_options_from_environment();
    if (!options.ok()) return options.status();
    s3.emplace(http, *options);
  }
  S3* store = s3 ? &*s3 : nullptr;
  if (a[0] == "put") return put(store, *p, a);
  if (a[0] == "stat") return stat(store, *p);
  if (a[0] == "remove") return p->hdfs ? p->hdfs->remove(p->path, true) : store->remove(p->bucket, p->key);
  if (a[0] == "mkdir" && p->hdfs) return p->hdfs->make_folders(p->path);
  if (a[0] == "range") {
    const uint64_t first = std::strtoull(a[2].c_str(), nullptr, 10),
                   count = std::strtoull(a[3].c_str(), nullptr, 10);
    auto bytes = p->hdfs ? p->hdfs->read(p->path, first, count) : store->get(p->bucket, p->key, first, count);
    if (bytes.ok()) std::fwrite(bytes->data(), 1, bytes->size(), stdout);
    return bytes.status();
  }
  return invalid(a[0] + ": unknown");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argv + 1, argv + argc);
  if (arguments.size() < 2) return fmt::print(stderr, "usage: see the head of transfer_tool.cc\n"), 2;
  const Status done = run(arguments);
  if (done.ok()) return 0;
  fmt::print(stderr, "{}: {}\n", code_name(done.code()), done.text());
  return 10 + int(done.code());
}
