#include "runtime/state/home.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

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
  // Addresses of the computer's network hardware: all that differs on a clone of its disk. Empty: unknown, as
  // in a container.
  std::set<std::string> hardware;
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

// For hardware interfaces with their permanent address (net/core: NET_ADDR_PERM is 0).
std::set<std::string> hardware_addresses() {
  std::set<std::string> addresses;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/class/net", error)) {
    const std::string folder = entry.path().string();
    Result<std::string> kind = read_file(folder + "/addr_assign_type", 16);
    Result<std::string> address = read_file(folder + "/address", 256);
    if (!fs::exists(folder + "/device", error) || !kind.ok() || trim(*kind) != "0" || !address.ok()) continue;
    // An adapter or a dock moves from computer to computer.
    if (fs::canonical(folder + "/device", error).string().find("/usb") != std::string::npos) continue;
    const std::string text(trim(*address));
    if (text.find_first_not_of("0:") != text.npos) addresses.insert(text);
  }
  return addresses;
}

// A shared file system is one place for many computers, which may all be clones of one.
bool is_on_own_disk(const std::string& folder) {
  constexpr unsigned long kXfs = 0x58465342, kZfs = 0x2fc12fc1;
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  for (const unsigned long type :
       {static_cast<unsigned long>(EXT4_SUPER_MAGIC), kXfs, kZfs,
        static_cast<unsigned long>(BTRFS_SUPER_MAGIC), static_cast<unsigned long>(F2FS_SUPER_MAGIC),
        static_cast<unsigned long>(OVERLAYFS_SUPER_MAGIC), static_cast<unsigned long>(TMPFS_MAGIC)})
    if (static_cast<unsigned long>(info.f_type) == type) return true;
  return false;
}

Home home_at(const std::string& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  struct stat info {};
  const bool there = ::stat((folder + "/state.db").c_str(), &info) == 0;
  const std::string host = name_of_this_host();
  return {machine_id(host),
          host,
          error ? folder : whole.string(),
          "",
          there ? static_cast<unsigned long long>(info.st_ino) : 0,
          is_on_own_disk(folder) ? hardware_addresses() : std::set<std::string>()};
}

// nullopt: none recorded. An unreadable entry counts as none and is rewritten.
Result<std::optional<Home>> recorded_home(Database& db) {
  Result<std::string> text = read_meta(db, kHome);
  if (!text.ok()) return text.status();
  const Json json = Json::parse(*text, nullptr, false);
  try {
    return std::optional<Home>(Home{
        json.value("machine", ""), json.value("host", ""), json.value("folder", ""), json.value("url", ""),
        json.value("inode", 0ULL), json.value("hardware", std::set<std::string>())});
  } catch (const Json::exception&) {
    return std::optional<Home>();
  }
}

Result<std::string> tag_in(Database& db) {
  Result<std::string> name = read_meta(db, "name"), lineage = read_meta(db, "lineage");
  if (!name.ok()) return name.status();
  if (!lineage.ok()) return lineage.status();
  return infrastructure_tag(*name, *lineage);
}

// The computer's identity is the same but all its network hardware differs: a clone of its disk.
bool is_a_clone(const Home& home, const Home& here) {
  if (home.machine != here.machine || home.hardware.empty() || here.hardware.empty()) return false;
  return std::none_of(home.hardware.begin(), home.hardware.end(),
                      [&](const std::string& address) { return here.hardware.count(address) > 0; });
}

// On a shared file system one file has one number for all computers.
bool is_same_place(const Home& home, const Home& here) {
  if (is_a_clone(home, here)) return false;
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
  std::string where = (*home)->folder + " on " + (*home)->host;
  if (is_a_clone(**home, here))
    return where + ", a computer with the same machine-id and other network hardware";
  // Whether another computer still has it cannot be determined here.
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
  return Status(Code::Exists,
                place + ": this state is a copy of " + original + "; both describe the same resources")
      .with_hint(
          "if you moved the project here, run `radlc state adopt`. For a separate infrastructure, run "
          "`radlc state discard` to remove the copy; apply then creates everything");
}

Status record_home(Database& db, const std::string& folder) {
  const Home here = home_at(folder);
  Result<std::string> before = read_meta(db, kHome);
  Result<std::optional<Home>> recorded = recorded_home(db);
  // A container does not show its computer's hardware: what is known of it stays.
  const bool is_known = here.hardware.empty() && recorded.ok() && *recorded &&
                        (*recorded)->machine == here.machine && (*recorded)->folder == here.folder;
  const Json json = {{"machine", here.machine},
                     {"host", here.host},
                     {"folder", here.folder},
                     {"inode", here.inode},
                     {"hardware", is_known ? (*recorded)->hardware : here.hardware}};
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
