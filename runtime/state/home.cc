#include "runtime/state/home.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/text.h"
#include "runtime/state/apply_change.h"
#include "runtime/state/rows.h"
#include "runtime/state/trace.h"

namespace radl {

namespace {

namespace fs = std::filesystem;

constexpr const char* kHome = "home";  // of `meta`

struct Home {
  std::string machine, host, folder;
  std::string url;               // of a state in a bucket, which has none of the others
  unsigned long long inode = 0;  // of state.db: a copy has another one, on whatever computer
};

std::string name_of_this_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string machine_id(const std::string& host) {
  for (const char* path : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
    Result<std::string> text = read_file(path, 256);
    if (text.ok() && !trim(*text).empty()) return std::string(trim(*text));
  }
  return host;
}

Home home_at(const std::string& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  struct stat info {};
  const bool there = ::stat((folder + "/state.db").c_str(), &info) == 0;
  const std::string host = name_of_this_host();
  return {machine_id(host), host, error ? folder : whole.string(), "",
          there ? static_cast<unsigned long long>(info.st_ino) : 0};
}

// nullopt: it says nothing. What cannot be read is as good as nothing: it is written anew.
Result<std::optional<Home>> recorded_home(Database& db) {
  Result<std::string> text = read_meta(db, kHome);
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return std::optional<Home>();
  return std::optional<Home>(Home{json.value("machine", ""), json.value("host", ""), json.value("folder", ""),
                                  json.value("url", ""), json.value("inode", 0ULL)});
}

Result<std::string> tag_in(Database& db) {
  Result<std::string> name = read_meta(db, "name"), lineage = read_meta(db, "lineage");
  if (!name.ok()) return name.status();
  if (!lineage.ok()) return lineage.status();
  return infrastructure_tag(*name, *lineage);
}

// On a shared file system one file has one number for all computers.
bool is_same_place(const Home& home, const Home& here) {
  const bool same_machine = home.machine == here.machine, same_folder = home.folder == here.folder;
  if (same_machine && same_folder) return true;
  return home.inode != 0 && home.inode == here.inode && (same_machine || same_folder);
}

}  // namespace

Result<std::string> original_of(Database& db, const std::string& folder) {
  Result<std::optional<Home>> home = recorded_home(db);
  if (!home.ok()) return home.status();
  if (!*home) return std::string();
  const Home here = home_at(folder);
  if (is_same_place(**home, here)) return std::string();
  if (!(*home)->url.empty()) return (*home)->url;
  const std::string where = (*home)->folder + " on " + (*home)->host;
  // Of another computer nobody here can say whether it still has it.
  if ((*home)->machine != here.machine) return where;
  Result<std::string> tag = tag_in(db);
  if (!tag.ok()) return tag.status();
  return has_id((*home)->folder, *tag) ? where : std::string();
}

Status settle_in(Database& db, const std::string& folder) {
  Result<std::string> original = original_of(db, folder);
  if (!original.ok()) return original.status();
  if (original->empty()) return record_home(db, folder);
  return is_a_copy(folder, *original);
}

Status is_a_copy(const std::string& place, const std::string& original) {
  return Status(Code::Exists, place + ": this state is a copy of " + original +
                                  ": both are the state of the same resources")
      .with_hint(
          "if the project was moved here: `radlc state adopt`; if this is to be an infrastructure of its "
          "own: "
          "`radlc state discard` removes the copy, and apply creates everything anew");
}

Status record_home(Database& db, const std::string& folder) {
  const Home here = home_at(folder);
  const Json json = {
      {"machine", here.machine}, {"host", here.host}, {"folder", here.folder}, {"inode", here.inode}};
  Result<std::string> before = read_meta(db, kHome);
  if (before.ok() && *before == json.dump()) return {};
  return write_meta(db, kHome, json.dump());
}

Result<std::string> recorded_url(Database& db) {
  Result<std::optional<Home>> home = recorded_home(db);
  if (!home.ok()) return home.status();
  return *home ? (*home)->url : std::string();
}

Status record_url(Database& db, const std::string& url) {
  return write_meta(db, kHome, Json{{"url", url}}.dump());
}

}  // namespace radl
