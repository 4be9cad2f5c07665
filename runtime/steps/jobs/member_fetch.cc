// A folder of a job, brought to this computer whole.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
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
#include "common/new_file.h"
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

constexpr size_t kFewFiles = 8;  // come with the list if they are small, else one by one
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

// Of fewer than {1} files those of up to 64 KiB: name and size, each ended by NUL, and the bytes. Whatever
// fails here is fetched after the list.
constexpr const char* kSmallContents = R"sh([ -d {0} ] && cd {0} && [ "$(find . -type f | wc -l)" -lt {1} ] &&
find . -type f -size -129 -exec sh -c 'for f do
  s=$(wc -c < "$f") || exit 1
  printf "%s\0%s\0" "$f" "$((s))"
  head -c "$((s))" "$f"
done' sh {{}} +)sh";

// Output in sections: the first is passed on as it comes, the others are kept. A marker ends each but the
// last.
class Sections {
 public:
  Sections(std::string marker, const std::function<void(std::string_view)>& take)
      : marker_(std::move(marker)), take_(take) {}
  void add(std::string_view piece) {
    held_ += piece;
    if (first_is_over_) return;
    const size_t end = held_.find(marker_);
    // The marker may have begun at the end of what is held.
    const size_t known = end != held_.npos                ? end
                         : held_.size() >= marker_.size() ? held_.size() - marker_.size() + 1
                                                          : 0;
    if (take_) take_(std::string_view(held_).substr(0, known));
    first_is_over_ = end != held_.npos;
    held_.erase(0, known + (first_is_over_ ? marker_.size() : 0));
  }
  // The next one after the first; nullopt: its end has not come.
  std::optional<std::string> next() {
    const size_t end = first_is_over_ ? held_.find(marker_) : held_.npos;
    if (end == held_.npos) return std::nullopt;
    std::string section = held_.substr(0, end);
    held_.erase(0, end + marker_.size());
    return section;
  }
  const std::string& last() const { return held_; }

 private:
  const std::string marker_;
  const std::function<void(std::string_view)>& take_;
  std::string held_;
  bool first_is_over_ = false;
};

std::map<std::string, std::string> contents_in(std::string_view text) {
  std::map<std::string, std::string> contents;
  while (true) {
    const size_t name_end = text.find('\0');
    const size_t size_end = name_end == text.npos ? name_end : text.find('\0', name_end + 1);
    if (size_end == text.npos || !text.starts_with("./")) return contents;
    const std::string_view size_text = text.substr(name_end + 1, size_end - name_end - 1);
    size_t size = 0;
    const auto [end, error] = std::from_chars(size_text.data(), size_text.data() + size_text.size(), size);
    if (error != std::errc() || end != size_text.data() + size_text.size() ||
        size > text.size() - size_end - 1)
      return contents;
    contents[std::string(text.substr(2, name_end - 2))] = text.substr(size_end + 1, size);
    text.remove_prefix(size_end + 1 + size);
  }
}

Status put_content(const std::string& content, const std::string& local) {
  NewFile file;
  Status done = file.create(local);
  if (done.ok()) done = file.write(content);
  return done.ok() ? file.commit() : done;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '/');) {
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
  }
  return parts;
}

// The target of a link as a relative path that cannot leave the folder, whatever other links it contains:
// '..' occurs only at its beginning. nullopt: it leads elsewhere.
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
    auto done = run_process({}, request);
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

Result<Member::Listed> Member::list(const std::string& below, const Beforehand& first) {
  // What a file holds cannot hold it.
  const std::string marker = to_hex(random_bytes(16)) + "\n", mark = "printf '%s\\n' " + marker;
  const std::string path = shell_path(folder() + "/" + below);
  std::string script;
  if (!first.file.empty())
    script +=
        fmt::format("if [ -e {0} ]; then cat {0} || exit 1; fi\n", shell_path(folder() + "/" + first.file));
  script += fmt::format("{0}(\n{1}\n) || exit 1\n{0}(\n{2}\n) 2> /dev/null\n{0}{3}", mark,
                        first.script.empty() ? ":" : first.script,
                        fmt::format(fmt::runtime(kSmallContents), path, kFewFiles),
                        fmt::format(fmt::runtime(kList), path));
  Sections sections(marker, first.take);
  auto output = output_of(script, below, [&](std::string_view piece) { sections.add(piece); });
  if (!output) return output.status();
  const auto said = sections.next(), contents = said ? sections.next() : std::nullopt;
  Listed listed;
  listed.said = said.value_or("");
  listed.contents = contents_in(contents.value_or(""));
  const std::string& all = sections.last();
  if (contents && all == "lacks\n") return listed;
  if (!contents || !all.ends_with("whole"))
    return Status(Code::Retry, fmt::format("{}: the list of its files ends too early", address()));
  auto wrong = [&](const std::string& what) {
    return Status(Code::Corrupt, fmt::format("{}: cannot read the list of its files: {}", address(), what));
  };
  std::vector<Arrival>& arrivals = listed.arrivals;
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
  return listed;
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

Result<Fetched> Member::fetch(const std::string& below, const std::string& local_folder, const Before& before,
                              const Beforehand& first) {
  auto listed = list(below, first);
  if (!listed) return listed.status();
  Fetched fetched;
  fetched.said = std::move(listed->said);
  std::vector<Arrival> arrivals;
  for (Arrival& each : listed->arrivals) {
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
    auto content = listed->contents.find(each.name);
    if (content != listed->contents.end() && sha256_hex(content->second) == each.digest) {
      if (Status s = put_content(content->second, local); !s.ok()) return s;
      continue;
    }
    if (Status s = fetch_file(below + "/" + each.name, local, context_.stop); !s.ok()) return s;
    auto digest = sha256_file(local);
    if (!digest || *digest != each.digest)
      return Status(Code::Corrupt, fmt::format("{}: {} arrived with other bytes", address(), each.name));
  }
  return fetched;
}

}  // namespace radl::jobs
