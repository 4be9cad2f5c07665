// A folder of a job, brought to this computer whole.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "common/checksum_line.h"
#include "common/digest.h"
#include "common/fd.h"
#include "common/files.h"
#include "common/own_folders.h"
#include "common/process/process.h"
#include "common/tidy_path.h"
#include "runtime/base/arriving_folder.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/jobs/member.h"

namespace radl::jobs {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFewFiles = 8;                                   // come one by one
constexpr uint64_t kSmallFile = 1 << 20, kOneArchive = 64 << 20;  // bytes

// Lines of sha256sum, a line "links" and the folder by both of its names; then of each link its name, where
// it leads and, if that is a file, its digest. "whole" comes last. From the second line on all ends with NUL,
// for names may hold anything.
constexpr const char* kList = R"sh([ -d {0} ] || {{ echo lacks; exit 0; }}
cd {0} && find . -type f -exec sha256sum {{}} + && printf 'links\n%s\0%s\0' "$PWD" "$(pwd -P)" &&
find . -type l -exec sh -c 'for l do
  printf "%s\0" "$l"
  readlink -n -- "$l" || exit 1
  printf "\0"
  if [ -f "$l" ]; then d=$(sha256sum < "$l") || exit 1; printf "%s" "${{d%% *}}"; fi
  printf "\0"
done' sh {{}} + && printf whole)sh";

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '/');) {
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
  }
  return parts;
}

// Where a link leads, as a relative path that cannot leave the folder whatever other links are in it: upwards
// at its beginning alone. nullopt: elsewhere.
std::optional<std::string> inner_target(const std::string& name, std::string target,
                                        const std::vector<std::string>& roots) {
  const size_t depth = parts_of(name).size() - 1;
  if (target.starts_with('/')) {
    auto root = std::find_if(roots.begin(), roots.end(),
                             [&](const std::string& each) { return target.starts_with(each + "/"); });
    if (root == roots.end()) return std::nullopt;
    std::string up;
    for (size_t i = 0; i < depth; ++i) up += "../";
    target = up + target.substr(root->size() + 1);
  }
  const std::vector<std::string> parts = parts_of(target);
  const size_t up = static_cast<size_t>(
      std::find_if(parts.begin(), parts.end(), [](const std::string& part) { return part != ".."; }) -
      parts.begin());
  if (up > depth || parts.empty() ||
      std::find(parts.begin() + static_cast<long>(up), parts.end(), "..") != parts.end())
    return std::nullopt;
  return fmt::format("{}", fmt::join(parts, "/"));
}

std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> fields;
  for (size_t end; (end = text.find('\0')) != text.npos; text.remove_prefix(end + 1))
    fields.emplace_back(text.substr(0, end));
  return fields;
}

// Archives of files, unpacked on their way.
class Arriving {
 public:
  Arriving(const std::string& local_folder, const std::string& work) : local_(local_folder), folder_(work) {}

  Status make() {
    Status made = folder_.open();
    return made.ok() ? make_directories(folder_.path() + "/files", 0700) : made;
  }
  std::string archive() const { return folder_.path() + "/archive.tar"; }
  bool unpack(const Stop& stop) {
    ProcessRequest request;
    request.argv = {"tar", "-C", folder_.path() + "/files", "-xf", archive(), "--no-same-owner"};
    request.deadline = std::chrono::hours(1);
    request.stop = stop;
    auto done = run_process(request);
    return done && done->exit_status == 0;
  }
  // What is not as it should be stays where it is.
  Status put(const std::string& name, const std::string& digest) {
    std::error_code error;
    const std::string from = folder_.path() + "/files/" + name, to = local_ + "/" + name;
    if (!fs::is_regular_file(fs::symlink_status(from, error))) return {};
    auto arrived = sha256_file(from);
    if (!arrived || *arrived != digest) return {};
    if (Status s = make_directories(parent_path(to)); !s.ok()) return s;
    fs::rename(from, to, error);
    if (!error) remember_digest(to, digest);
    return {};
  }
  Status sync() {
    const Fd folder(::open(local_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return !folder.open() || ::syncfs(folder.get()) == 0 ? Status() : errno_status(errno, local_);
  }

 private:
  const std::string local_;
  ArrivingFolder folder_;
};

Status make_link(const std::string& target, const std::string& path) {
  std::error_code error;
  const fs::file_status there = fs::symlink_status(path, error);
  if (fs::is_symlink(there) && fs::read_symlink(path, error) == target) return {};
  if (fs::exists(there) && !fs::remove(path, error)) return errno_status(error.value(), path);
  fs::create_symlink(target, path, error);
  return error ? errno_status(error.value(), path) : Status();
}

}  // namespace

// A node's tar that takes no list leaves an archive that holds less, or none.
Status Member::fetch_archive(const std::string& below, const std::string& names, const std::string& to) {
  auto remote = node_.connect();
  if (!remote) return std::move(remote).status().at(address());
  std::ofstream archive(to, std::ios::binary | std::ios::trunc);
  ExecOptions options;
  options.deadline = std::chrono::hours(1);
  options.stop = context_.stop;
  options.stdin_bytes = names;
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (!is_stderr) archive.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  };
  auto done = (*remote)->exec(fmt::format("cd {} && tar -cf - -h --mode=u+rwX,go+rX,go-w --null -T -",
                                          shell_path(folder() + "/" + below)),
                              options);
  if (!done) return std::move(done).status().at(address());
  archive.close();
  return archive ? Status() : Status(Code::Quota, to + ": cannot be written");
}

Result<std::vector<Arrival>> Member::list(const std::string& below) {
  auto output = output_of(fmt::format(fmt::runtime(kList), shell_path(folder() + "/" + below)), below);
  if (!output) return output.status();
  const std::string& all = *output;
  if (all == "lacks\n") return std::vector<Arrival>();
  if (!all.ends_with("whole"))
    return Status(Code::Retry, fmt::format("{}: the list of its files ends too early", address()));
  auto wrong = [&](const std::string& what) {
    return Status(Code::Corrupt, fmt::format("{}: cannot read the list of its files: {}", address(), what));
  };
  std::vector<Arrival> arrivals;
  std::string_view rest = all;
  while (!rest.starts_with("links\n")) {
    const size_t end = rest.find('\n');
    const auto line = read_checksum_line(rest.substr(0, end));
    if (end == rest.npos || !line || !line->name.starts_with("./"))
      return wrong(std::string(rest.substr(0, end)));
    arrivals.push_back({line->name.substr(2), line->digest, ""});
    rest.remove_prefix(end + 1);
  }
  const std::vector<std::string> fields = fields_of(rest.substr(6));
  if (fields.size() < 2 || fields.size() % 3 != 2) return wrong("its links");
  const std::vector<std::string> roots(fields.begin(), fields.begin() + 2);
  for (size_t i = 2; i < fields.size(); i += 3) {
    if (!fields[i].starts_with("./")) return wrong(fields[i]);
    Arrival link{fields[i].substr(2), "", ""};
    if (auto target = inner_target(link.name, fields[i + 1], roots))
      link.target = *std::move(target);
    else
      link.digest = fields[i + 2];
    arrivals.push_back(std::move(link));
  }
  return arrivals;
}

Status Member::fetch_small(const std::string& below, const std::string& local_folder,
                           const std::vector<Arrival>& arrivals) {
  if (arrivals.size() < kFewFiles || context_.work_directory.empty()) return {};
  auto listed = files(below);
  if (!listed) return listed.status();
  std::map<std::string, uint64_t> sizes;
  for (const NodeFile& file : *listed) sizes[file.name] = file.size;
  std::vector<const Arrival*> wanted;
  for (const Arrival& each : arrivals) {
    auto size = sizes.find(each.name);
    if (each.digest.empty() || size == sizes.end() || size->second > kSmallFile) continue;
    auto there = local_digest(local_folder + "/" + each.name);
    if (!there || *there != each.digest) wanted.push_back(&each);
  }
  Arriving arriving(local_folder, context_.work_directory);
  for (size_t i = 0; i < wanted.size();) {
    std::string names;
    const size_t begin = i;
    for (uint64_t bytes = 0; i < wanted.size() && bytes < kOneArchive; ++i) {
      names += "./" + wanted[i]->name + '\0';
      bytes += sizes[wanted[i]->name];
    }
    if (Status s = arriving.make(); !s.ok()) return s;
    if (Status s = fetch_archive(below, names, arriving.archive()); !s.ok()) return s;
    if (!arriving.unpack(context_.stop)) return {};
    for (size_t k = begin; k < i; ++k) {
      if (Status s = arriving.put(wanted[k]->name, wanted[k]->digest); !s.ok()) return s;
    }
  }
  return arriving.sync();
}

Result<Fetched> Member::fetch(const std::string& below, const std::string& local_folder,
                              const Before& before) {
  auto listed = list(below);
  if (!listed) return listed.status();
  Fetched fetched;
  std::vector<Arrival> arrivals;
  for (Arrival& each : *listed) {
    if (goes_up(each.name)) return Status(Code::Corrupt, address() + ": lists a file outside of its folder");
    if (each.name == kResultsMark) continue;  // this computer's own
    if (each.digest.empty() && each.target.empty())
      fetched.left.push_back(std::move(each.name));
    else
      arrivals.push_back(std::move(each));
  }
  if (Status ready = before(arrivals); !ready.ok()) return ready;
  if (Status small = fetch_small(below, local_folder, arrivals); !small.ok()) return small;
  for (const Arrival& each : arrivals) {
    const std::string local = local_folder + "/" + each.name;
    if (Status s = make_directories(parent_path(local)); !s.ok()) return s;
    if (each.digest.empty()) {
      if (Status s = make_link(each.target, local); !s.ok()) return s;
      continue;
    }
    fetched.names.push_back(each.name);
    auto there = local_digest(local);
    if (there && *there == each.digest) continue;
    if (Status s = fetch_file(below + "/" + each.name, local, context_.stop); !s.ok()) return s;
    auto digest = sha256_file(local);
    if (!digest || *digest != each.digest)
      return Status(Code::Corrupt, fmt::format("{}: {} arrived with other bytes", address(), each.name));
  }
  return fetched;
}

}  // namespace radl::jobs
