// The transfer library by hand, for the suites: one operation a call.
//
//   conformance_transfer list URI            NAME SIZE a line
//   conformance_transfer get URI FILE        resumable; a part that is there already goes on
//   conformance_transfer range URI FIRST COUNT      s3 and webhdfs, to standard output
//   conformance_transfer put FILE URI [absent | match=ETAG | part=BYTES]
//   conformance_transfer remove URI ... | mkdir URI | stat URI | copy URI URI
//   conformance_transfer presign METHOD URI SECONDS | abort URI        (uploads that were never finished)
//   conformance_transfer get-folder URI FOLDER | put-folder FOLDER URI
// Exit status: 0, or 10 + the status code's number; the message is on standard error.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "common/files.h"
#include "common/transfer/object_store.h"
#include "common/transfer/source.h"
#include "common/transfer/webhdfs.h"

using namespace radl;
using namespace radl::transfer;

namespace {

using Arguments = std::vector<std::string>;

uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

Result<std::pair<WebHdfs, std::string>> hdfs_of(http::Client& http, const std::string& uri) {
  auto url = http::parse_url(uri);
  if (!url.ok()) return url.status();
  return std::pair{WebHdfs(http, "http://" + url->authority(), url->user),
                   http::percent_decode(url->path).value()};
}

Status print(const Result<std::string>& bytes) {
  if (bytes.ok()) std::fwrite(bytes->data(), 1, bytes->size(), stdout);
  return bytes.status();
}

Status with_hdfs(http::Client& http, const Arguments& a) {
  auto place = hdfs_of(http, a[0] == "put" ? a[2] : a[1]);
  if (!place.ok()) return place.status();
  auto& [hdfs, path] = *place;
  if (a[0] == "put") return hdfs.put_file(a[1], path);
  if (a[0] == "remove") return hdfs.remove(path, true);
  if (a[0] == "mkdir") return hdfs.make_folders(path);
  if (a[0] == "range") return print(hdfs.read(path, number(a[2]), number(a[3])));
  if (a[0] != "stat") return invalid(a[0] + ": unknown");
  auto entry = hdfs.status(path);
  if (entry.ok()) fmt::print("{} {}\n", entry->folder ? "folder" : "file", entry->size);
  return entry.status();
}

Status put(ObjectStore& store, const std::string& key, const Arguments& a) {
  const std::string how = a.size() > 3 ? a[3] : "";
  if (!how.starts_with("absent") && !how.starts_with("match=")) {
    Upload upload;
    if (how.starts_with("part=")) upload.part_bytes = number(how.substr(5));
    auto done = store.put_file(key, a[1], upload);
    if (done.ok()) fmt::print("{}\n", done->etag);
    return done.status();
  }
  auto bytes = read_file(a[1]);
  if (!bytes.ok()) return bytes.status();
  PutCondition condition;
  if (how == "absent") condition.if_absent = true;
  if (how.starts_with("match=")) condition.if_match = how.substr(6);
  auto done = store.put(key, *bytes, condition);
  if (done.ok()) fmt::print("{}\n", done->etag);
  return done.status();
}

Status with_store(http::Client& http, const Arguments& a) {
  const bool second = a[0] == "put" || a[0] == "presign";
  auto opened = open_object_store(http, a[second ? 2 : 1]);
  if (!opened.ok()) return opened.status();
  ObjectStore& store = *opened->store;
  const std::string key = opened->key;
  if (a[0] == "put") return put(store, key, a);
  if (a[0] == "remove" && a.size() == 2) return store.remove(key);
  if (a[0] == "remove") {
    std::vector<std::string> keys;
    for (size_t i = 1; i < a.size(); ++i) keys.push_back(a[i].substr(store.address("").size() + 1));
    return store.remove_many(keys);
  }
  if (a[0] == "copy") return store.copy(key, a[2].substr(store.address("").size() + 1)).status();
  if (a[0] == "presign") {
    auto url = store.presign(a[1], key, int(number(a[3])));
    if (url.ok()) fmt::print("{}\n", *url);
    return url.status();
  }
  if (a[0] == "abort") {
    auto aborted = store.abort_uploads(key, std::time(nullptr) + 60);
    if (aborted.ok()) fmt::print("{}\n", *aborted);
    return aborted.status();
  }
  if (a[0] == "range") {
    auto got = store.get(key, {number(a[2]), number(a[3])});
    return got.ok() ? print(got->bytes) : got.status();
  }
  if (a[0] != "stat") return invalid(a[0] + ": unknown");
  auto object = store.head(key);
  if (object.ok()) fmt::print("{} {}\n", object->etag, object->size);
  return object.status();
}

Status run(const Arguments& a) {
  http::Client http{environment_of_process()};
  if (a[0] == "list") {
    auto files = list_files(http, a[1]);
    if (!files.ok()) return files.status();
    for (const auto& file : *files) fmt::print("{} {}\n", file.name, file.size);
    return {};
  }
  if (a[0] == "get") return fetch_file(http, a[1], {.path = a[2]});
  if (a[0] == "get-folder") return fetch_folder(http, a[1], a[2], {});
  if (a[0] == "put-folder") return send_folder(http, a[1], a[2]);
  const bool hdfs = a.back().starts_with("webhdfs:") || a[1].starts_with("webhdfs:");
  return hdfs ? with_hdfs(http, a) : with_store(http, a);
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
