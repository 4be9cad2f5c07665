#include "runtime/steps/training/result_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "common/new_file.h"
#include "common/own_folders.h"
#include "common/turn.h"
#include "runtime/base/local_digest.h"

namespace radl::training {

namespace fs = std::filesystem;

namespace {

// Of this process: runs of other processes are kept away by the state's lock.
Result<KeyTurn> record_turn(const std::string& path) { return KeyTurn::take("results " + path); }

std::string mark_of(const std::string& path) { return fmt::format("{}/{}", path, kResultsMark); }

ResultRecord read_record(const std::string& path) {
  auto text = read_file(mark_of(path));
  return ResultRecord::parse(text ? *text : "");
}

Status write_record(const std::string& path, const ResultRecord& record) {
  return write_user_file(mark_of(path), record.text());
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// As a training or a program of an earlier version has left it: without a record of its files.
bool is_without_record(const std::string& path) {
  std::error_code error;
  if (fs::exists(mark_of(path), error)) return fs::is_empty(mark_of(path), error);
  auto report = read_file(path + "/report.json");
  if (!report) return false;
  const auto json = nlohmann::json::parse(*report, nullptr, false);
  return json.is_object() &&
         (json.contains("apply") || (json.contains("program") && json.contains("metrics")));
}

// A link that stays within the folder is harmless.
bool is_inner_link(const fs::path& folder, const fs::path& name) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(folder / name, error))) return false;
  const fs::path target = fs::read_symlink(folder / name, error);
  return !error && target.is_relative() &&
         !(name.parent_path() / target).lexically_normal().string().starts_with("..");
}

bool is_ours(const ResultRecord& record, const std::string& folder, const std::string& name) {
  std::error_code error;
  const fs::path path = fs::path(folder) / name;
  if (is_inner_link(folder, name)) return true;
  auto found = record.entries.find(name);
  if (found == record.entries.end() || !fs::is_regular_file(fs::symlink_status(path, error))) return false;
  auto digest = local_digest(path.string());
  return digest && found->second.digests.contains(*digest);
}

}  // namespace

Status check_result_folder(const std::string& path) {
  auto wrong = [&](const fs::path& at, const std::string& what) {
    const std::string which = at == path ? ", and" : fmt::format(": '{}'", at.string());
    return invalid(fmt::format("'{}' is to get the results{} {}", path, which, what))
        .with_hint("name another folder");
  };
  if (path.empty()) return invalid("no folder for the result");
  std::error_code error;
  fs::path at = path;
  while (fs::symlink_status(at, error).type() == fs::file_type::not_found && at.has_relative_path())
    at = at.parent_path();
  // Nothing can be made in a link's place.
  const bool link = fs::is_symlink(fs::symlink_status(at, error));
  const fs::file_status status = fs::status(at, error);
  if (!fs::exists(status)) return wrong(at, link ? "is a link that leads nowhere" : error.message());
  if (!fs::is_directory(status)) return wrong(at, "is not a folder");
  if (::access(at.c_str(), W_OK | X_OK) != 0)
    return wrong(at, fmt::format("cannot be written to ({})", std::strerror(errno)));
  return {};
}

Status check_training_folder(const std::string& path) {
  if (Status usable = check_result_folder(path); !usable.ok()) return usable;
  if (is_result_folder(path)) return {};
  for (const char* name : {"model", "events", "report.json"}) {
    if (!is_there(fs::path(path) / name)) continue;
    return Status(Code::Conflict,
                  fmt::format("'{}' is to get the results, and holds '{}', which no training has put there",
                              path, name))
        .with_hint("name an empty or a new folder with `result`");
  }
  return {};
}

bool is_result_folder(const std::string& path) {
  std::error_code error;
  return fs::exists(mark_of(path), error) || is_without_record(path);
}

std::vector<std::string> users_files(const std::string& path, const std::vector<std::string>& names) {
  if (!is_result_folder(path) || is_without_record(path)) return {};
  const ResultRecord record = read_record(path);
  std::set<std::string> asked(names.begin(), names.end());
  for (const auto& [name, entry] : record.entries) asked.insert(name);
  std::vector<std::string> found;
  for (const std::string& name : asked) {
    if (is_there(fs::path(path) / name) && !is_ours(record, path, name)) found.push_back(name);
  }
  return found;
}

Result<ResultFolder> ResultFolder::open(const std::string& path, ResultOwner owner) {
  if (Status made = make_directories(path); !made.ok()) return made;
  auto turn = record_turn(path);
  if (!turn.ok()) return turn.status();
  ResultFolder folder(path, true, std::move(owner));
  folder.all_ours_ = is_without_record(path);
  // So that it is known for what it is from now on, by what sends folders to nodes too.
  Status written = write_record(path, read_record(path));
  return written.ok() ? Result<ResultFolder>(std::move(folder)) : written;
}

// As `cp --backup=numbered` names it.
Status ResultFolder::move_aside(const std::string& name) {
  std::error_code error;
  for (int number = 1;; ++number) {
    const std::string aside = fmt::format("{}.~{}~", name, number);
    if (is_there(fs::path(path_) / aside)) continue;
    fs::rename(fs::path(path_) / name, fs::path(path_) / aside, error);
    if (error) return errno_status(error.value(), path_ + "/" + name);
    moved_.push_back(fmt::format("'{}/{}' was not radlc's: it is called '{}' now", path_, name, aside));
    return {};
  }
}

Status ResultFolder::make_way(const Files& files) {
  if (!shared_) return {};
  auto turn = record_turn(path_);
  if (!turn.ok()) return turn.status();
  ResultRecord record = read_record(path_);
  std::error_code error;
  for (const auto& [name, digest] : files) {
    // A file in the place of a folder.
    for (fs::path above = fs::path(name).parent_path(); !above.empty(); above = above.parent_path()) {
      const fs::path place = fs::path(path_) / above;
      if (!is_there(place) || fs::is_directory(place, error)) continue;
      if (all_ours_ || is_ours(record, path_, above.string()))
        fs::remove(place, error);
      else if (Status moved = move_aside(above.string()); !moved.ok())
        return moved;
    }
    const fs::path place = fs::path(path_) / name;
    if (is_there(place)) {
      const bool folder = fs::is_directory(fs::symlink_status(place, error));
      auto there = folder ? Result<std::string>(std::string()) : local_digest(place.string());
      const bool same = there && !digest.empty() && *there == digest;
      if (!same && (folder || !(all_ours_ || is_ours(record, path_, name)))) {
        if (Status moved = move_aside(name); !moved.ok()) return moved;
      }
    }
    ResultRecord::Entry& entry = record.entries[name];
    entry.owner = owner_;
    entry.link = digest.empty();
    if (!digest.empty()) entry.digests.insert(digest);
    put_[name] = digest;
  }
  return write_record(path_, record);
}

Status ResultFolder::write(const std::string& name, const std::string& content) {
  if (Status free = make_way({{name, sha256_hex(content)}}); !free.ok()) return free;
  const std::string path = path_ + "/" + name;
  if (Status made = make_directories(fs::path(path).parent_path().string()); !made.ok()) return made;
  return write_user_file(path, content);
}

Result<jobs::Fetched> ResultFolder::take(jobs::Member& member, const std::string& from,
                                         const std::string& below, const jobs::Beforehand& first) {
  const std::string prefix = below.empty() ? "" : below + "/";
  const std::string place = below.empty() ? path_ : path_ + "/" + below;
  const auto before = [&](const std::vector<jobs::Arrival>& arrivals) {
    Files files;
    for (const jobs::Arrival& each : arrivals) files[prefix + each.name] = each.digest;
    return make_way(files);
  };
  return member.fetch(from, place, before, first);
}

// Removes files of an earlier run of the same job unless they were changed, and folders that become empty.
void ResultFolder::remove_stale(const ResultRecord& record, const std::string& name) {
  std::error_code error;
  if (!is_there(fs::path(path_) / name) || !is_ours(record, path_, name)) return;
  fs::remove(fs::path(path_) / name, error);
  for (fs::path above = fs::path(name).parent_path(); !above.empty() && !error; above = above.parent_path())
    fs::remove(fs::path(path_) / above, error);
}

Status ResultFolder::close(const std::string& kept) {
  if (!shared_) return {};
  auto turn = record_turn(path_);
  if (!turn.ok()) return turn.status();
  ResultRecord record = read_record(path_);
  const ResultRecord before = record;
  std::set<std::string> brought;
  for (const auto& [name, digest] : put_) {
    brought.insert(name);
    if (!digest.empty()) record.entries[name].digests = {digest};
  }
  for (const std::string& name : record.take_stale(owner_, brought, kept)) remove_stale(before, name);
  std::erase_if(record.entries, [&](const auto& each) { return !is_there(fs::path(path_) / each.first); });
  return write_record(path_, record);
}

}  // namespace radl::training
