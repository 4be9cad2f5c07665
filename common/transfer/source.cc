#include "common/transfer/source.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/dataset_files.h"
#include "common/files.h"
#include "common/transfer/s3.h"
#include "common/transfer/webhdfs.h"

namespace radl::transfer {
namespace {

namespace fs = std::filesystem;

std::string scheme_of(const std::string& uri) {
  const size_t at = uri.find("://");
  return at == std::string::npos ? "file" : uri.substr(0, at);
}

struct S3Place {
  std::string bucket, key;
};
S3Place s3_place(const std::string& uri) {
  const std::string rest = uri.substr(5);
  const size_t slash = rest.find('/');
  return {rest.substr(0, slash), slash == std::string::npos ? "" : rest.substr(slash + 1)};
}

struct HdfsPlace {
  std::string base, user, path;
};
Result<HdfsPlace> hdfs_place(const std::string& uri) {
  auto url = http::parse_url(uri);
  if (!url.ok()) return url.status();
  auto path = http::percent_decode(url->path);
  if (!path.ok()) return path.status();
  const std::string host = url->host.find(':') != std::string::npos ? "[" + url->host + "]" : url->host;
  const bool secure = url->scheme == "swebhdfs";
  return HdfsPlace{(secure ? "https://" : "http://") + host + ":" +
                       (url->port.empty() ? (secure ? "9871" : "9870") : url->port),
                   url->user, *path};
}

Status list_hdfs(WebHdfs& hdfs, const std::string& path, const std::string& prefix, int depth,
                 std::vector<SourceFile>& all) {
  if (depth > 32) return invalid("hdfs " + path + ": too deep");
  auto entries = hdfs.list(path);
  if (!entries.ok()) return entries.status();
  for (const auto& e : *entries) {
    if (e.name.empty()) continue;
    if (!e.folder) {
      all.push_back({prefix + e.name, e.size, std::to_string(e.modified)});
    } else if (Status s = list_hdfs(hdfs, path + "/" + e.name, prefix + e.name + "/", depth + 1, all);
               !s.ok()) {
      return s;
    }
  }
  return {};
}

Status list_local(const std::string& folder, std::vector<SourceFile>& all) {
  std::error_code e;
  for (fs::recursive_directory_iterator it(folder, e), end; !e && it != end; it.increment(e)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored))
      all.push_back({fs::relative(it->path(), folder, ignored).string(), it->file_size(ignored)});
  }
  return e ? errno_status(e.value(), folder) : Status();
}

}  // namespace

bool is_remote(const std::string& uri) { return scheme_of(uri) != "file"; }

Result<std::vector<SourceFile>> list_files(http::Client& http, const std::string& uri) {
  std::vector<SourceFile> all;
  const std::string scheme = scheme_of(uri);
  Status status;
  if (scheme == "file") {
    status = list_local(path_of_place(uri), all);
  } else if (scheme == "s3") {
    auto options = s3_options_from_environment();
    if (!options.ok()) return options.status();
    S3Place place = s3_place(uri);
    if (!place.key.empty() && !place.key.ends_with("/")) place.key += "/";
    auto objects = S3(http, *options).list(place.bucket, place.key);
    if (!objects.ok()) return objects.status();
    for (const auto& o : *objects) {
      if (!o.key.ends_with("/")) all.push_back({o.key.substr(place.key.size()), o.size, o.etag});
    }
  } else if (scheme == "webhdfs" || scheme == "swebhdfs") {
    auto place = hdfs_place(uri);
    if (!place.ok()) return place.status();
    WebHdfs hdfs(http, place->base, place->user);
    status = list_hdfs(hdfs, place->path, "", 0, all);
  } else if (scheme == "http" || scheme == "https") {
    return Status(Code::Unsupported, http::printable_url(uri) + ": HTTP has no list of a folder's files");
  } else {
    return Status(Code::Invalid, scheme + "://: is not known")
        .with_hint("a path, file, http, https, s3, webhdfs or swebhdfs");
  }
  if (!status.ok()) return status;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

Status fetch_file(http::Client& http, const std::string& uri, Download what) {
  const std::string scheme = scheme_of(uri);
  if (scheme == "http" || scheme == "https") {
    what.url = uri;
    return download(http, what);
  }
  if (scheme == "s3") {
    auto options = s3_options_from_environment();
    if (!options.ok()) return options.status();
    const S3Place place = s3_place(uri);
    return S3(http, *options).get_file(place.bucket, place.key, what);
  }
  if (scheme == "webhdfs" || scheme == "swebhdfs") {
    auto place = hdfs_place(uri);
    if (!place.ok()) return place.status();
    return WebHdfs(http, place->base, place->user).get_file(place->path, what);
  }
  if (scheme != "file")
    return Status(Code::Invalid, scheme + "://: is not known")
        .with_hint("a path, file, http, https, s3, webhdfs or swebhdfs");
  auto bytes = read_file(path_of_place(uri));
  return bytes.ok() ? write_file_atomic(what.path, *bytes) : bytes.status();
}

namespace {

// What fetch_folder() brought before: version by name.
class Notes {
 public:
  explicit Notes(const std::string& folder) : folder_(folder), path_(folder + "/.radl-source.json") {
    auto text = read_file(path_, size_t{256} << 20);
    auto json = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    if (!json.is_object()) return;
    for (const auto& [name, version] : json.items()) {
      if (version.is_string()) versions_[name] = version.get<std::string>();
    }
  }
  bool current(const SourceFile& file) const {
    const auto at = versions_.find(file.name);
    std::error_code e;
    return at != versions_.end() && !file.version.empty() && at->second == file.version &&
           fs::file_size(folder_ + "/" + file.name, e) == file.size && !e;
  }
  Status brought(const SourceFile& file) {
    versions_[file.name] = file.version;
    return write();
  }
  // Removes what was brought once and is not among these.
  Status keep_only(const std::vector<SourceFile>& files) {
    std::map<std::string, std::string> kept;
    for (const auto& file : files) {
      if (auto node = versions_.extract(file.name)) kept.insert(std::move(node));
    }
    std::error_code ignored;
    for (const auto& [name, version] : versions_) {
      if (stays_below(name)) fs::remove(folder_ + "/" + name, ignored);
    }
    const bool same = versions_.empty();
    versions_ = std::move(kept);
    return same ? Status() : write();
  }

 private:
  Status write() const {
    return write_file_atomic(
        path_, nlohmann::json(versions_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  std::string folder_, path_;
  std::map<std::string, std::string> versions_;
};

// What an HTTP server tells about a file; nothing when it says that there is none.
Result<std::optional<SourceFile>> describe_http(http::Client& http, const std::string& url,
                                                const std::string& name) {
  auto head = http.send({.method = "HEAD", .url = url}, http::Retries{});
  if (!head.ok()) return head.status();
  if (head->status == 404 || head->status == 410) return std::optional<SourceFile>();
  if (head->status == 401 || head->status == 403) return http::status_of(*head, http::printable_url(url));
  SourceFile file{name, 0, std::string(head->header("etag"))};
  if (file.version.empty()) file.version = head->header("last-modified");
  file.size = std::strtoull(std::string(head->header("content-length")).c_str(), nullptr, 10);
  if (!head->ok()) file.version.clear();  // a server without HEAD: fetched each time
  return std::optional<SourceFile>(std::move(file));
}

// The named files that an HTTP server has.
Result<std::vector<SourceFile>> find_files(http::Client& http, const std::string& base,
                                           const std::vector<std::string>& names) {
  std::vector<SourceFile> files;
  for (const auto& name : names) {
    auto file = describe_http(http, base + http::percent_encode(name, true), name);
    if (!file.ok()) return file.status();
    if (*file) files.push_back(std::move(**file));
  }
  return files;
}

Result<SourceFile> describe(http::Client& http, const std::string& uri, const std::string& name) {
  const std::string scheme = scheme_of(uri);
  if (scheme == "http" || scheme == "https") {
    auto file = describe_http(http, uri, name);
    if (!file.ok()) return file.status();
    if (!*file) return not_found(http::printable_url(uri) + ": is not there");
    return std::move(**file);
  }
  if (scheme == "s3") {
    auto options = s3_options_from_environment();
    if (!options.ok()) return options.status();
    const S3Place place = s3_place(uri);
    auto object = S3(http, *options).head(place.bucket, place.key);
    if (!object.ok()) return object.status();
    return SourceFile{name, object->size, object->etag};
  }
  auto place = hdfs_place(uri);
  if (!place.ok()) return place.status();
  auto entry = WebHdfs(http, place->base, place->user).status(place->path);
  if (!entry.ok()) return entry.status();
  return SourceFile{name, entry->size, std::to_string(entry->modified)};
}

}  // namespace

Status fetch_folder(http::Client& http, const std::string& uri, const std::string& folder,
                    const std::vector<std::string>& names, const Stop& stop) {
  const std::string scheme = scheme_of(uri), base = uri.ends_with("/") ? uri : uri + "/";
  const bool as_url = scheme != "s3" && scheme != "file";  // those two take names as they are
  auto files = scheme == "http" || scheme == "https" ? find_files(http, base, names) : list_files(http, uri);
  if (!files.ok()) return files.status();
  if (!names.empty()) {
    std::erase_if(*files, [&](const SourceFile& f) {
      return std::find(names.begin(), names.end(), f.name) == names.end();
    });
  }
  if (files->empty()) return not_found(http::printable_url(uri) + ": has none of the files looked for");
  Notes notes(folder);
  if (Status s = notes.keep_only(*files); !s.ok()) return s;
  for (const auto& file : *files) {
    if (!stays_below(file.name))
      return {Code::Corrupt,
              http::printable_url(uri) + ": \"" + file.name + "\" is no name of a file below it"};
    if (notes.current(file)) continue;
    Status s = fetch_file(http, base + (as_url ? http::percent_encode(file.name, true) : file.name),
                          {.path = folder + "/" + file.name, .stop = stop});
    if (s.ok()) s = notes.brought(file);
    if (!s.ok()) return s;
  }
  return {};
}

Status fetch_one(http::Client& http, const std::string& uri, const std::string& folder,
                 const std::string& name, const Stop& stop) {
  if (!stays_below(name)) return invalid(http::printable_url(uri) + ": names no file");
  auto file = describe(http, uri, name);
  if (!file.ok()) return file.status();
  Notes notes(folder);
  if (notes.current(*file)) return {};
  Status s = fetch_file(http, uri, {.path = folder + "/" + name, .stop = stop});
  return s.ok() ? notes.brought(*file) : s;
}

}  // namespace radl::transfer
