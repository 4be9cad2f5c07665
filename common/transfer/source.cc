#include "common/transfer/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/clock.h"
#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/places.h"
#include "common/transfer/side_by_side.h"

namespace radl::transfer {
namespace {

namespace fs = std::filesystem;

// Requests for small files wait for the server most of the time.
constexpr size_t kAtOnce = 16;
// Where a folder keeps what version of each file was brought.
constexpr const char* kNotes = ".radl-source.json";

// What fetch_folder() brought before: version by name. Thread-safe.
class Notes {
 public:
  explicit Notes(const std::string& folder) : folder_(folder), path_(folder + "/" + kNotes) {
    auto text = read_file(path_, size_t{256} << 20);
    auto json = text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    if (!json.is_object()) return;
    for (const auto& [name, version] : json.items()) {
      if (version.is_string()) versions_[name] = version.get<std::string>();
    }
  }
  bool current(const SourceFile& file) const {
    std::lock_guard lock(mutex_);
    const auto at = versions_.find(file.name);
    std::error_code e;
    return at != versions_.end() && !file.version.empty() && at->second == file.version &&
           fs::file_size(folder_ + "/" + file.name, e) == file.size && !e;
  }
  // On the disk after a second at most, or by write(): of ten thousand small files not each.
  Status brought(const SourceFile& file) {
    std::unique_lock lock(mutex_);
    versions_[file.name] = file.version;
    changed_ = true;
    if (seconds_since(written_) < 1) return {};
    return write_now();
  }
  Status write() {
    std::lock_guard lock(mutex_);
    return changed_ ? write_now() : Status();
  }
  // Removes what was brought once and is not among these.
  Status keep_only(const std::vector<SourceFile>& files) {
    std::lock_guard lock(mutex_);
    std::map<std::string, std::string> kept;
    for (const auto& file : files) {
      if (auto node = versions_.extract(file.name)) kept.insert(std::move(node));
    }
    std::error_code ignored;
    for (const auto& [name, version] : versions_) {
      if (!stays_below(name)) continue;
      fs::remove(folder_ + "/" + name, ignored);
      // Its folders, as far as they are empty now: one of their names may be a file's.
      for (fs::path above = fs::path(name).parent_path(); !above.empty(); above = above.parent_path()) {
        if (!fs::remove(fs::path(folder_) / above, ignored)) break;
      }
    }
    const bool same = versions_.empty();
    versions_ = std::move(kept);
    return same ? Status() : write_now();
  }

 private:
  Status write_now() {
    written_ = SteadyClock::now();
    changed_ = false;
    return write_file_atomic(
        path_, nlohmann::json(versions_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  const std::string folder_, path_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> versions_;
  bool changed_ = false;
  SteadyClock::time_point written_ = SteadyClock::now();
};

void sort_by_name(std::vector<SourceFile>& files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
}

// True if a file system returns this name unchanged: "./a" and "a//b" would become "a" and "a/b".
bool stays_as_it_is(std::string_view name) {
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == ".") return false;
    begin = end + 1;
  }
  return true;
}

// `files` are sorted.
bool has_name(const std::vector<SourceFile>& files, std::string_view name) {
  const auto at = std::lower_bound(files.begin(), files.end(), name,
                                   [](const SourceFile& f, std::string_view n) { return f.name < n; });
  return at != files.end() && at->name == name;
}

// What a store can keep and a file system cannot: names of parts that are no files' names, and one that is a
// file's and a folder's as well. `files` are sorted.
Status check_names(const std::vector<SourceFile>& files, const std::string& place) {
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& name = files[i].name;
    if (!stays_below(name))
      return {Code::Corrupt, place + ": \"" + name + "\" is not the name of a file below it"};
    if (!stays_as_it_is(name))
      return Status(Code::Unsupported, place + ": \"" + name +
                                           "\" cannot be a file's path: file systems ignore \".\" and " +
                                           "empty parts")
          .with_hint("Rename or remove it there.");
    if (i > 0 && files[i - 1].name == name)
      return {Code::Corrupt, place + ": the list contains \"" + name + "\" twice"};
    for (size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
      if (has_name(files, name.substr(0, slash)))
        return Status(Code::Unsupported, place + ": \"" + name.substr(0, slash) +
                                             "\" is a file and the folder of \"" + name +
                                             "\"; a file system cannot hold both")
            .with_hint("Rename or remove one of them there.");
    }
  }
  return {};
}

// What a file is called until it is whole: not as another one is that the place has as well.
std::string part_of(const std::vector<SourceFile>& files, const std::string& folder,
                    const std::string& name) {
  if (!has_name(files, name + ".part") && !has_name(files, name + ".part.json")) return "";
  return folder + "/.radl-part-" + sha256_hex(name).substr(0, 32);
}

// What has come of several files together.
class Sum {
 public:
  Sum(const std::vector<SourceFile>& files, const Progress& progress)
      : progress_(progress), of_(files.size()) {
    for (const SourceFile& file : files) total_ += file.size;
  }
  // `done` bytes of file `i`; fewer than before if the file starts again.
  void take(size_t i, uint64_t done) {
    if (!progress_) return;
    std::lock_guard lock(mutex_);
    done_ += done - of_[i];  // modulo 2^64, so that it may be less
    of_[i] = done;
    progress_(done_, total_);
  }

 private:
  const Progress& progress_;
  std::mutex mutex_;
  std::vector<uint64_t> of_;
  uint64_t done_ = 0, total_ = 0;
};

// The named files of a place that cannot be listed.
Result<std::vector<SourceFile>> find_files(SourcePlace& place, const std::vector<std::string>& names,
                                           const Stop& stop) {
  std::vector<SourceFile> files;
  for (const auto& name : names) {
    auto file = place.describe(name, stop);
    if (!file.ok()) return file.status();
    if (*file) files.push_back(std::move(**file));
  }
  return files;
}

}  // namespace

Result<std::vector<SourceFile>> list_files(http::Client& http, const std::string& uri, const Stop& stop) {
  auto place = open_place(http, uri);
  if (!place.ok()) return place.status();
  auto all = (*place)->list(stop);
  if (all.ok()) sort_by_name(*all);
  return all;
}

Status fetch_file(http::Client& http, const std::string& uri, Download what) {
  auto place = open_place(http, uri);
  return place.ok() ? (*place)->fetch("", std::move(what)) : place.status();
}

Status fetch_folder(http::Client& http, const std::string& uri, const std::string& folder,
                    const std::vector<std::string>& names, const Stop& stop, const Progress& progress) {
  auto opened = open_place(http, uri);
  if (!opened.ok()) return opened.status();
  SourcePlace& place = **opened;
  auto files = place.listed() ? place.list(stop) : find_files(place, names, stop);
  if (!files.ok()) return files.status();
  sort_by_name(*files);
  // Skips the note of a folder that was itself sent, which would be mistaken for this folder's.
  std::erase_if(*files, [](const SourceFile& f) { return f.name == kNotes; });
  if (!names.empty()) {
    std::erase_if(*files, [&](const SourceFile& f) {
      return std::find(names.begin(), names.end(), f.name) == names.end();
    });
  }
  if (files->empty()) return not_found(http::printable_url(uri) + " contains none of the expected files");
  if (Status fine = check_names(*files, http::printable_url(uri)); !fine.ok()) return fine;
  Notes notes(folder);
  if (Status s = notes.keep_only(*files); !s.ok()) return s;
  Sum sum(*files, progress);
  Status status = side_by_side(files->size(), kAtOnce, stop, [&](size_t i, const Stop& either) -> Status {
    const SourceFile& file = (*files)[i];
    if (notes.current(file)) return sum.take(i, file.size), Status();
    Status s = place.fetch(file.name, {.path = folder + "/" + file.name,
                                       .part = part_of(*files, folder, file.name),
                                       .progress = [&](uint64_t done, uint64_t) { sum.take(i, done); },
                                       .stop = either});
    return s.ok() ? notes.brought(file) : s;
  });
  Status noted = notes.write();
  return status.ok() ? noted : status;
}

Status fetch_one(http::Client& http, const std::string& uri, const std::string& folder,
                 const std::string& name, const Stop& stop, const Progress& progress) {
  if (!stays_below(name)) return invalid(http::printable_url(uri) + " does not name a file");
  auto place = open_place(http, uri);
  if (!place.ok()) return place.status();
  auto file = (*place)->describe("", stop);
  if (!file.ok()) return file.status();
  if (!*file) return not_found(http::printable_url(uri) + " does not exist");
  (*file)->name = name;
  Notes notes(folder);
  if (notes.current(**file)) return {};
  Status s = (*place)->fetch("", {.path = folder + "/" + name, .progress = progress, .stop = stop});
  if (s.ok()) s = notes.brought(**file);
  return s.ok() ? notes.write() : s;
}

Status send_folder(http::Client& http, const std::string& folder, const std::string& uri, const Stop& stop) {
  auto place = open_place(http, uri);
  if (!place.ok()) return place.status();
  auto files = files_below(folder);
  if (!files.ok()) return files.status();
  return side_by_side(files->size(), kAtOnce, stop, [&](size_t i, const Stop& either) {
    return (*place)->send(folder + "/" + (*files)[i].name, (*files)[i].name, either);
  });
}

}  // namespace radl::transfer
