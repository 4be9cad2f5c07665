#include "common/transfer/places.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/dataset_files.h"
#include "common/files.h"
#include "common/store_address.h"
#include "common/transfer/object_store.h"
#include "common/transfer/webhdfs.h"

namespace radl::transfer {
namespace {

namespace fs = std::filesystem;

std::string scheme_of(const std::string& uri) {
  const size_t at = uri.find("://");
  return at == std::string::npos ? "file" : uri.substr(0, at);
}

// "a" and "b" as "a/b"; "a" alone for "".
std::string below(const std::string& folder, const std::string& name) {
  if (name.empty()) return folder;
  return folder.empty() || folder.ends_with("/") ? folder + name : folder + "/" + name;
}

Status cannot_send(const std::string& uri) {
  return {Code::Unsupported, http::printable_url(uri) + " is read-only"};
}

class LocalPlace : public SourcePlace {
 public:
  explicit LocalPlace(std::string path) : path_(std::move(path)) {}

  Result<std::vector<SourceFile>> list(const Stop& stop) override {
    std::vector<SourceFile> all;
    std::error_code e;
    for (fs::recursive_directory_iterator it(path_, e), end; !e && it != end; it.increment(e)) {
      if (Status s = stop.check(); !s.ok()) return s;
      std::error_code ignored;
      if (it->is_regular_file(ignored))
        all.push_back({fs::relative(it->path(), path_, ignored).string(), it->file_size(ignored), ""});
    }
    if (e) return errno_status(e.value(), path_);
    return all;
  }
  Result<std::optional<SourceFile>> describe(const std::string& name, const Stop&) override {
    std::error_code e;
    const uint64_t size = fs::file_size(below(path_, name), e);
    if (e) return std::optional<SourceFile>();
    return std::optional<SourceFile>({name, size, ""});
  }
  Status fetch(const std::string& name, Download what) override {
    auto bytes = read_file(below(path_, name));
    if (!bytes.ok()) return bytes.status();
    if (Status made = make_directories(fs::path(what.path).parent_path().string()); !made.ok()) return made;
    return write_file_atomic(what.path, *bytes);
  }
  Status send(const std::string& path, const std::string& name, const Stop&) override {
    auto bytes = read_file(path);
    if (!bytes.ok()) return bytes.status();
    const std::string to = below(path_, name);
    if (Status made = make_directories(fs::path(to).parent_path().string()); !made.ok()) return made;
    return write_file_atomic(to, *bytes);
  }

 private:
  const std::string path_;
};

class HttpPlace : public SourcePlace {
 public:
  HttpPlace(http::Client& http, std::string url) : http_(http), url_(std::move(url)) {}

  Result<std::vector<SourceFile>> list(const Stop&) override {
    return Status(Code::Unsupported, http::printable_url(url_) + ": HTTP cannot list the files of a folder");
  }
  bool listed() const override { return false; }
  Result<std::optional<SourceFile>> describe(const std::string& name, const Stop& stop) override {
    const std::string url = url_of(name);
    auto head = http_.send({.method = "HEAD", .url = url, .stop = stop}, http::Retries{});
    if (!head.ok()) return head.status();
    if (head->status == 404 || head->status == 410) return std::optional<SourceFile>();
    if (head->status == 401 || head->status == 403) return http::status_of(*head, http::printable_url(url));
    SourceFile file{name, 0, std::string(head->header("etag"))};
    if (file.version.empty()) file.version = head->header("last-modified");
    file.size = std::strtoull(std::string(head->header("content-length")).c_str(), nullptr, 10);
    if (!head->ok()) file.version.clear();  // a server without HEAD: fetched each time
    return std::optional<SourceFile>(std::move(file));
  }
  Status fetch(const std::string& name, Download what) override {
    what.url = url_of(name);
    return download(http_, what);
  }
  Status send(const std::string&, const std::string&, const Stop&) override { return cannot_send(url_); }

 private:
  std::string url_of(const std::string& name) const {
    return name.empty() ? url_ : below(url_, http::percent_encode(name, true));
  }
  http::Client& http_;
  const std::string url_;
};

class HdfsPlace : public SourcePlace {
 public:
  HdfsPlace(http::Client& http, const std::string& base, const std::string& user, std::string path)
      : hdfs_(http, base, user), path_(std::move(path)) {}

  Result<std::vector<SourceFile>> list(const Stop& stop) override {
    std::vector<SourceFile> all;
    if (Status s = walk(path_, "", 0, stop, all); !s.ok()) return s;
    return all;
  }
  Result<std::optional<SourceFile>> describe(const std::string& name, const Stop&) override {
    auto entry = hdfs_.status(below(path_, name));
    if (!entry.ok() && entry.status().code() == Code::NotFound) return std::optional<SourceFile>();
    if (!entry.ok()) return entry.status();
    return std::optional<SourceFile>({name, entry->size, std::to_string(entry->modified)});
  }
  Status fetch(const std::string& name, Download what) override {
    return hdfs_.get_file(below(path_, name), what);
  }
  Status send(const std::string& path, const std::string& name, const Stop&) override {
    return hdfs_.put_file(path, below(path_, name));
  }

 private:
  Status walk(const std::string& path, const std::string& prefix, int depth, const Stop& stop,
              std::vector<SourceFile>& all) {
    if (depth > 32) return invalid("hdfs " + path + " is nested too deeply");
    if (Status s = stop.check(); !s.ok()) return s;
    auto entries = hdfs_.list(path);
    if (!entries.ok()) return entries.status();
    for (const auto& e : *entries) {
      if (e.name.empty()) continue;
      if (!e.folder) {
        all.push_back({prefix + e.name, e.size, std::to_string(e.modified)});
      } else if (Status s = walk(path + "/" + e.name, prefix + e.name + "/", depth + 1, stop, all); !s.ok()) {
        return s;
      }
    }
    return {};
  }
  WebHdfs hdfs_;
  const std::string path_;
};

class StorePlace : public SourcePlace {
 public:
  explicit StorePlace(OpenedStore opened) : store_(std::move(opened.store)), key_(std::move(opened.key)) {}

  Result<std::vector<SourceFile>> list(const Stop& stop) override {
    const std::string prefix = key_.empty() || key_.ends_with("/") ? key_ : key_ + "/";
    auto objects = store_->list(prefix, stop);
    if (!objects.ok()) return objects.status();
    std::vector<SourceFile> all;
    for (const auto& o : *objects) {
      if (!o.key.ends_with("/")) all.push_back({o.key.substr(prefix.size()), o.size, o.etag});
    }
    return all;
  }
  Result<std::optional<SourceFile>> describe(const std::string& name, const Stop& stop) override {
    auto object = store_->head(below(key_, name), stop);
    if (!object.ok() && object.status().code() == Code::NotFound) return std::optional<SourceFile>();
    if (!object.ok()) return object.status();
    return std::optional<SourceFile>({name, object->size, object->etag});
  }
  Status fetch(const std::string& name, Download what) override {
    return store_->get_file(below(key_, name), std::move(what));
  }
  Status send(const std::string& path, const std::string& name, const Stop& stop) override {
    return store_->put_file(below(key_, name), path, {.stop = stop}).status();
  }

 private:
  const std::unique_ptr<ObjectStore> store_;
  const std::string key_;
};

Result<std::unique_ptr<SourcePlace>> open_hdfs(http::Client& http, const std::string& uri) {
  auto url = http::parse_url(uri);
  if (!url.ok()) return url.status();
  auto path = http::percent_decode(url->path);
  if (!path.ok()) return path.status();
  const bool secure = url->scheme == "swebhdfs";
  if (url->port.empty()) url->port = secure ? "9871" : "9870";
  return std::unique_ptr<SourcePlace>(std::make_unique<HdfsPlace>(
      http, (secure ? "https://" : "http://") + url->authority(), url->user, *path));
}

}  // namespace

Result<std::unique_ptr<SourcePlace>> open_place(http::Client& http, const std::string& uri) {
  const std::string scheme = scheme_of(uri);
  using Opened = std::unique_ptr<SourcePlace>;
  if (is_store_address(uri)) {
    auto store = open_object_store(http, uri);
    if (!store.ok()) return store.status();
    return Opened(std::make_unique<StorePlace>(std::move(*store)));
  }
  if (scheme == "file") return Opened(std::make_unique<LocalPlace>(path_of_place(uri)));
  if (scheme == "http" || scheme == "https") return Opened(std::make_unique<HttpPlace>(http, uri));
  if (scheme == "webhdfs" || scheme == "swebhdfs") return open_hdfs(http, uri);
  return Status(Code::Invalid, scheme + ":// is not supported")
      .with_hint("Use a path, or a URL of file, http, https, s3, gs, az, swift, webhdfs or swebhdfs.");
}

}  // namespace radl::transfer
