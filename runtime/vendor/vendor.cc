#include "runtime/vendor/vendor.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "common/modules/content.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "common/utc.h"
#include "runtime/vendor/fetch.h"
#include "runtime/vendor/place.h"

namespace radl::vendored {
namespace {

bool named(const std::string& package, const std::string& name) {
  return name == package || name == short_name(package);
}

std::string version_text(const Package& package) {
  return package.commit.empty() ? "digest " + package.sha256.substr(0, 12)
                                : "commit " + package.commit.substr(0, 12);
}

std::string update_words(const std::string& package) {
  return "radlc vendor --update " + short_name(package);
}

class Vendoring {
 public:
  Vendoring(const Request& request, http::Client& http, Place& place, LockFile lock)
      : request_(request), http_(http), place_(place), lock_(std::move(lock)) {}

  Result<Summary> run() {
    std::set<std::string> done;
    for (bool first = true;; first = false) {
      auto used = request_.used();
      if (!used.ok()) return std::move(used).status();
      if (first) {
        if (Status known = check_names(*used); !known.ok()) return known;
      }
      auto next = std::find_if(used->begin(), used->end(),
                               [&](const Address& address) { return !done.contains(address.package); });
      if (next == used->end()) break;
      done.insert(next->package);
      if (Status going = request_.stop.check(); !going.ok()) return going;
      if (Status brought = bring(*next); !brought.ok()) return std::move(brought).at(next->package);
    }
    if (Status tidied = tidy(done); !tidied.ok()) return tidied;
    summary_.packages = done.size();
    return summary_;
  }

 private:
  Status check_names(const std::vector<Address>& used) const {
    for (const std::string& name : request_.names) {
      bool found = std::any_of(used.begin(), used.end(),
                               [&](const Address& address) { return named(address.package, name); });
      if (found) continue;
      std::vector<std::string> names;
      for (const Address& address : used) names.push_back(short_name(address.package));
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      return invalid(fmt::format("no module is used from '{}'", name))
          .with_hint(names.empty() ? "no module from elsewhere is used" : "there are: " + join(names, ", "));
    }
    return {};
  }

  bool moves(const Address& address) const {
    if (!request_.update) return false;
    return request_.names.empty() ||
           std::any_of(request_.names.begin(), request_.names.end(),
                       [&](const std::string& name) { return named(address.package, name); });
  }

  Result<Fetched> fetch(const Address& address, const std::string& commit) {
    auto temporary = place_.temporary();
    if (!temporary.ok()) return std::move(temporary).status();
    Source source{address, request_.project, *temporary, request_.stop, http_.environment()};
    return address.git ? fetch_git(source, commit) : fetch_archive(source, http_);
  }

  Status bring(const Address& address) {
    const Package* found = lock_.find(address.package);
    const bool pinned = found != nullptr && !moves(address);
    const Package locked = found ? *found : Package();
    if (pinned && place_.holds(locked)) return {};
    auto fetched = fetch(address, pinned ? locked.commit : "");
    if (!fetched.ok() && pinned && fetched.status().code() == Code::NotFound)
      return Status(fetched.status())
          .with_hint(fmt::format("to use the current content: {}", update_words(address.package)));
    if (!fetched.ok()) return std::move(fetched).status();
    Package package{address.package, fetched->commit, content_digest(fetched->content),
                    utc_text(std::time(nullptr))};
    if (pinned && package.sha256 != locked.sha256) {
      return Status(Code::Conflict, fmt::format("the current content is not what {} pins", kLockFile))
          .with_hint(fmt::format("if that is as it should be: radlc vendor --update {}",
                                 short_name(package.address)));
    }
    const bool same = found && package.sha256 == locked.sha256 && package.commit == locked.commit;
    if (same) package.fetched = locked.fetched;
    if (!place_.holds(package)) {
      if (Status installed = place_.install(package, fetched->content); !installed.ok()) return installed;
    } else if (same) {
      request_.say(fmt::format("{} is as it was: {}", package.address, version_text(package)));
      return {};
    }
    lock_.put(package);
    if (Status written = place_.write(lock_); !written.ok()) return written;
    summary_.brought++;
    request_.say(fmt::format("{}: {} into {}", package.address, version_text(package), package.folder()));
    for (const std::string& note : fetched->notes) request_.say("  " + note);
    return {};
  }

  // What nothing uses any more leaves the lock file, and then the folder.
  Status tidy(const std::set<std::string>& used) {
    summary_.removed = std::erase_if(lock_.packages, [&](const Package& package) {
      if (used.contains(package.address)) return false;
      request_.say(fmt::format("{} is not used any more: removed", package.address));
      return true;
    });
    if (summary_.removed > 0) {
      if (Status written = place_.write(lock_); !written.ok()) return written;
    }
    place_.remove_others(lock_);
    return {};
  }

  const Request& request_;
  http::Client& http_;
  Place& place_;
  LockFile lock_;
  Summary summary_;
};

}  // namespace

Result<Summary> vendor(const Request& request, http::Client& http) {
  auto place = Place::open(request.project, request.stop);
  if (!place.ok()) return std::move(place).status();
  auto lock = read_lock_file(request.project);
  if (!lock.ok()) return std::move(lock).status();
  return Vendoring(request, http, **place, std::move(*lock)).run();
}

Result<std::vector<std::string>> find_missing(const std::string& project, const std::vector<Address>& used) {
  auto lock = read_lock_file(project);
  if (!lock.ok()) return std::move(lock).status();
  std::vector<std::string> missing;
  std::set<std::string> seen;
  for (const Address& address : used) {
    if (!seen.insert(address.package).second) continue;
    const Package* package = lock->find(address.package);
    if (package == nullptr) {
      missing.push_back(address.package + " is not vendored");
      continue;
    }
    const std::string folder = tidy_path((project.empty() ? "." : project) + "/" + package->folder());
    auto content = read_content(folder);
    if (!content.ok())
      missing.push_back(address.package + ": " + content.status().text());
    else if (content_digest(*content) != package->sha256)
      missing.push_back(fmt::format("{}: {} is not what {} pins", address.package, folder, kLockFile));
  }
  return missing;
}

}  // namespace radl::vendored
