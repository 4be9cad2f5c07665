#include "runtime/steps/jobs/tree.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "common/shorten.h"
#include "common/turn.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/jobs/tree_manifests.h"
#include "runtime/steps/jobs/unpacking.h"
#include "runtime/steps/place.h"

namespace radl::jobs {
namespace {

namespace fs = std::filesystem;

// An archive up to this size is sent within the command that unpacks it.
constexpr size_t kSentAlong = size_t{1} << 20;

std::string folder_of_key(const std::string& key) { return "~/.radl/trees/" + key; }

// A tree of one file includes the file's name, which its digest does not.
std::string key_of(const Tree& tree) {
  if (tree.kind != Tree::Kind::File) return tree_key(tree.digest);
  return tree_key(sha256_hex(tree.digest + "\n" + fs::path(tree.path).filename().string()));
}

Result<ExecResult> on_node(const NodeHandle& node, const Context& context, const std::string& script,
                           std::string input = "") {
  auto remote = node.connect();
  if (!remote) return std::move(remote).status().at(node.address);
  ExecOptions options;
  options.deadline = std::chrono::hours(1);
  options.stop = context.stop;
  options.stdin_bytes = std::move(input);
  auto result = (*remote)->exec(script, options);
  if (!result) return std::move(result).status().at(node.address);
  return result;
}

// A program of this computer that must end well.
Status run_here(std::vector<std::string> argv, const Context& context, const std::string& what) {
  ProcessRequest request;
  request.argv = std::move(argv);
  request.environment = {{"GIT_TERMINAL_PROMPT", "0"}};
  request.inherited = {"GIT_SSH*", "GIT_CONFIG*"};
  request.deadline = std::chrono::hours(1);
  request.stop = context.stop;
  auto done = run_process(context.environment, request);
  if (!done) return std::move(done).status().at(what);
  if (done->exit_status == 0) return {};
  std::string said = done->err.empty() ? done->out : done->err;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return {Code::Retry, fmt::format("{}: {}", what, end_of(said, 400))};
}

// A commit as an archive. Its objects are fetched once for each commit.
Status archive_of_commit(const Tree& tree, const Context& context, const std::string& archive) {
  const std::string repository = context.work_directory + "/trees/" + tree.digest + ".git";
  const std::string what = "git " + tree.path.substr(0, tree.path.find('?'));
  auto git = [&](std::vector<std::string> rest) {
    std::vector<std::string> argv = {"git", "-C", repository};
    argv.insert(argv.end(), rest.begin(), rest.end());
    return run_here(std::move(argv), context, what);
  };
  if (Status s = make_directories(repository, 0700); !s.ok()) return s;
  Status done = git({"init", "--quiet", "--bare"});
  // Servers that give out named commits alone get the whole repository asked.
  if (done.ok() && !git({"fetch", "--quiet", "--depth", "1", tree.path, tree.digest}).ok())
    done = git({"fetch", "--quiet", tree.path, "+refs/*:refs/radl/*"});
  if (done.ok()) done = git({"archive", "--format=tar.gz", "-1", "-o", archive, tree.digest});
  std::error_code ignored;
  fs::remove_all(repository, ignored);
  return done;
}

// A tree of a node from which another differs little, and what has to be sent to make that one of it.
struct Base {
  std::string key;
  TreeDifference difference;
};

// An archive on this computer that is removed once nobody sends it; another node makes it again. A process
// that sends the same tree replaces the file by its own, which stays.
class OwnArchive {
 public:
  explicit OwnArchive(std::string path) : path_(std::move(path)), inode_(inode()) {}
  OwnArchive(const OwnArchive&) = delete;
  OwnArchive& operator=(const OwnArchive&) = delete;
  ~OwnArchive() {
    std::error_code ignored;
    if (inode() == inode_) fs::remove(path_, ignored);
  }

 private:
  ino_t inode() const {
    struct stat found = {};
    return ::stat(path_.c_str(), &found) == 0 ? found.st_ino : 0;
  }

  const std::string path_;
  const ino_t inode_;
};

// What this computer has of a tree while it is placed.
struct Sending {
  std::string archive;
  std::shared_ptr<const OwnArchive> own;  // empty: the user's
  std::vector<std::string> removed;       // with a base: paths that the new tree does not have
};

// Text compresses well, and large files mostly are compressed already.
bool is_compressed(uint64_t bytes) { return bytes <= uint64_t{16} << 20; }

Status tar_of(const std::string& folder, std::vector<std::string> how, uint64_t bytes, const Context& context,
              const std::string& archive) {
  std::vector<std::string> argv = {"tar", "-C", folder};
  argv.insert(argv.end(), std::make_move_iterator(how.begin()), std::make_move_iterator(how.end()));
  if (is_compressed(bytes)) argv.push_back("--gzip");
  argv.insert(argv.end(), {"-cf", archive});
  return run_here(std::move(argv), context, folder);
}

// By names, since what is left out may be more than arguments can hold. Folders always go: one may be empty.
Status archive_of_folder(const Tree& tree, const Base* base, const Context& context,
                         const std::string& archive) {
  auto parts = parts_of(tree.path, tree.contents);
  if (!parts) return parts.status();
  std::set<std::string> wanted;
  if (base) {
    wanted.insert(base->difference.added.begin(), base->difference.added.end());
    wanted.insert(base->difference.changed.begin(), base->difference.changed.end());
  }
  std::string names("./\0", 3);
  std::vector<std::string> files;
  std::error_code ignored;
  for (const std::string& part : *parts) {
    if (tree.only && !std::binary_search(tree.only->begin(), tree.only->end(), part)) continue;
    const bool folder = fs::is_directory(fs::symlink_status(fs::path(tree.path) / part, ignored));
    if (base && !folder && !wanted.contains(part)) continue;
    names += "./" + part + '\0';
    if (!folder) files.push_back(part);
  }
  const std::string list = archive + ".names";
  if (Status written = write_file_atomic(list, names, 0600); !written.ok()) return written;
  Status done = tar_of(tree.path, {"--null", "--no-recursion", "--files-from=" + list},
                       bytes_of(tree.path, files), context, archive);
  fs::remove(list, ignored);
  return done;
}

Status archive_of_file(const Tree& tree, const Context& context, const std::string& archive) {
  const fs::path path(tree.path);
  const std::string folder = path.parent_path().string(), name = path.filename().string();
  return tar_of(folder, {"--add-file=./" + name}, bytes_of(folder, {name}), context, archive);
}

Status check_digest(const Tree& tree, const std::vector<ManifestEntry>& entries) {
  auto now = tree.kind == Tree::Kind::Folder ? Result<std::string>(sha256_hex(manifest_text(entries)))
                                             : path_digest(tree.path, tree.contents);
  if (!now) return now.status();
  if (*now == tree.digest) return {};
  if (tree.only)
    return Status(Code::Conflict, tree.path + ": its files have changed since they were made")
        .with_hint("to make them again, remove report.json there and apply again");
  return Status(Code::Conflict, tree.path + ": is not what it was when the plan was made")
      .with_hint("plan again");
}

// By path, while they are being sent.
struct SentArchives {
  std::map<std::string, std::weak_ptr<const OwnArchive>> now;
};

// The archive of a tree on this computer, created if missing. An archive is used as it is.
Result<Sending> archive_of(const Tree& tree, const Base* base, const Context& context) {
  if (tree.kind == Tree::Kind::Archive) return Sending{tree.path, {}, {}};
  Sending made{fmt::format("{}/trees/{}{}.tar", context.work_directory, key_of(tree),
                           base ? "-from-" + base->key : ""),
               {},
               base ? base->difference.removed : std::vector<std::string>()};
  auto& sent = context.shared->of<SentArchives>().now;  // the caller has its turn
  made.own = sent[made.archive].lock();
  std::error_code error;
  if (made.own && fs::exists(made.archive, error)) return made;
  if (Status s = make_directories(parent_path(made.archive), 0700); !s.ok()) return s;
  const std::string part = fmt::format("{}.{}.part", made.archive, ::getpid());
  Status done = tree.kind == Tree::Kind::Git    ? archive_of_commit(tree, context, part)
                : tree.kind == Tree::Kind::File ? archive_of_file(tree, context, part)
                                                : archive_of_folder(tree, base, context, part);
  if (!done.ok()) return done;
  fs::rename(part, made.archive, error);
  if (error) return Status(Code::Retry, made.archive + ": " + error.message());
  made.own = std::make_shared<const OwnArchive>(made.archive);
  sent[made.archive] = made.own;
  return made;
}

// Those of these trees that are whole on a node, and as they were when they were made.
Result<std::vector<std::string>> trees_on(const NodeHandle& node, const Context& context,
                                          const std::vector<std::string>& keys, Ahead first = {}) {
  // A program may have modified one of its inputs. If `find` cannot tell (BusyBox), the tree counts as
  // modified. The first tree is the requested one, which is used unchanged.
  auto looked = on_node(node, context,
                        first.script + fmt::format(R"sh(cd {} 2>/dev/null || {{ echo whole; exit; }}
first=yes
for k in {}; do
  if [ -e "$k.whole" ]; then
    if [ $first = yes ] || {{ n=$(find "$k" -cnewer "$k.whole" -print -quit 2>/dev/null) && [ -z "$n" ]; }}; then echo "$k"; fi
  fi
  first=no
done
echo whole)sh",
                                                   shell_path("~/.radl/trees"), fmt::join(keys, " ")),
                        std::move(first.input));
  if (!looked) return looked.status();
  if (looked->exit_status != 0 || !looked->out.ends_with("whole\n"))
    return ssh::command_failure(*looked, node.address);
  std::vector<std::string> found;
  std::istringstream lines(looked->out);
  for (std::string line; std::getline(lines, line) && line != "whole";) found.push_back(line);
  return found;
}

// The tree on the node to which the fewest bytes have to be added. nullopt: all are to be sent.
std::optional<Base> best_base(const Tree& tree, const std::vector<ManifestEntry>& entries,
                              const std::vector<std::string>& there, const std::string& work_directory) {
  std::vector<std::string> all;
  for (const ManifestEntry& entry : entries) all.push_back(entry.path);
  uint64_t least = bytes_of(tree.path, all);
  std::optional<Base> best;
  for (const std::string& key : there) {
    auto known = known_manifest(work_directory, key);
    if (!known) continue;
    Base base{key, difference(*known, entries)};
    const uint64_t bytes =
        bytes_of(tree.path, base.difference.added) + bytes_of(tree.path, base.difference.changed);
    if (bytes >= least) continue;
    least = bytes;
    best = std::move(base);
  }
  return best;
}

// Makes a tree of an archive that is sent, and of another tree (`base`; empty: of none). The archive's size.
Result<uint64_t> unpack_on(const NodeHandle& node, const Context& context, const std::string& key,
                           const std::string& base, const Sending& sending) {
  // Its name ends as the archive's does, by which it is unpacked.
  const std::string name = sending.archive.substr(sending.archive.rfind('/') + 1);
  const std::string sent = folder_of_key(key) + ".sent-" + sha256_hex(name).substr(0, 8);
  std::error_code error;
  const uintmax_t size = fs::file_size(sending.archive, error);
  std::string input;  // the paths to be removed, then the archive if it is small
  for (const std::string& path : sending.removed) input += "./" + path + '\0';
  const size_t removed = input.size();
  const bool along = !error && size <= kSentAlong;
  if (along) {
    auto bytes = read_file(sending.archive, kSentAlong);
    if (!bytes) return bytes.status();
    input += *bytes;
  } else if (Status placed = place_once(node, context, sending.archive, sent); !placed.ok()) {
    return std::move(placed).at(node.address);
  }
  const size_t bytes = input.size();
  std::string begin = "mkdir -p \"$t\"";
  if (!base.empty())
    begin = fmt::format(R"sh(cp -a --reflink=auto {} "$t"
(cd "$t" && xargs -0 -r rm -f --) < "$t.removed"
find "$t" -mindepth 1 -depth -type d -empty -delete)sh",
                        shell_path(folder_of_key(base)));
  auto unpacked = on_node(
      node, context,
      fmt::format(R"sh(set -e
a={0}
d={1}
t="$d.new-$$"
mkdir -p "${{d%/*}}"
rm -rf "$d" "$d".new-*
cat > "$t.sent"
[ "$(($(wc -c < "$t.sent")))" = {5} ] || {{ echo "not all of it has come" >&2; exit 1; }}
head -c {4} "$t.sent" > "$t.removed"
{6}
rm -f "$t.sent"
{3}
{2}
rm -f "$t.removed"
chmod -R u+rwX "$t"
mv -T "$t" "$d"
rm -f "$a"
: > "$d.whole")sh",
                  shell_path(sent), shell_path(folder_of_key(key)), unpack_command(name), begin, removed,
                  bytes, along ? fmt::format("tail -c +{} \"$t.sent\" > \"$a\"", removed + 1) : ""),
      std::move(input));
  if (!unpacked) return unpacked.status();
  if (unpacked->exit_status != 0)
    return std::move(ssh::command_failure(*unpacked, "unpacking " + name)).at(node.address);
  return error ? uint64_t{1} : std::max<uint64_t>(size, 1);
}

}  // namespace

Result<std::vector<ManifestEntry>> manifest_of(const Tree& tree) {
  auto entries = local_manifest(tree.path, tree.contents);
  if (!entries || !tree.only) return entries;
  std::erase_if(*entries, [&](const ManifestEntry& entry) {
    return !std::binary_search(tree.only->begin(), tree.only->end(), entry.path);
  });
  return entries;
}

std::string tree_folder(const Tree& tree) { return folder_of_key(key_of(tree)); }

Result<bool> has_tree(const NodeHandle& node, const Context& context, const std::string& key) {
  auto found = trees_on(node, context, {key});
  if (!found) return found.status();
  return !found->empty();
}

Result<uint64_t> place_archive(const NodeHandle& node, const Context& context, const std::string& archive,
                               const std::string& key) {
  auto there = has_tree(node, context, key);
  if (!there) return there.status();
  if (*there) return uint64_t{0};
  return unpack_on(node, context, key, "", {archive, {}, {}});
}

Result<uint64_t> place_tree(const NodeHandle& node, const Context& context, const Tree& tree, Ahead first) {
  const std::string key = key_of(tree);
  std::vector<std::string> asked = {key};
  if (tree.kind == Tree::Kind::Folder) {
    for (std::string& known : known_trees(context.work_directory)) {
      if (known != key) asked.push_back(std::move(known));
    }
  }
  auto found = trees_on(node, context, asked, std::move(first));
  if (!found) return found.status();
  if (std::find(found->begin(), found->end(), key) != found->end()) return uint64_t{0};
  std::string base_key;
  Sending sending;
  {
    auto turn = KeyTurn::take("trees " + context.work_directory, context.stop);
    if (!turn) return std::move(turn).status();
    std::vector<ManifestEntry> entries;
    if (tree.kind == Tree::Kind::Folder) {
      auto now = manifest_of(tree);
      if (!now) return now.status();
      entries = std::move(*now);
    }
    if (tree.kind != Tree::Kind::Git) {
      if (Status same = check_digest(tree, entries); !same.ok()) return same;
    }
    const std::optional<Base> base = best_base(tree, entries, *found, context.work_directory);
    if (base) base_key = base->key;
    auto made = archive_of(tree, base ? &*base : nullptr, context);
    if (!made) return made.status();
    sending = std::move(*made);
    if (tree.kind == Tree::Kind::Folder) {
      if (Status kept = remember_manifest(context.work_directory, key, entries); !kept.ok()) return kept;
    }
  }
  return unpack_on(node, context, key, base_key, sending);
}

std::string remove_unused_trees_script() {
  // Folders that an earlier version of radlc has made do not name their trees: then all stay.
  return R"sh((
  cd ~/.radl/trees 2>/dev/null || exit 0
  for f in ../jobs/*/; do
    if [ -d "$f/inputs" ] && [ ! -e "$f/uses" ]; then exit 0; fi
  done
  used=" $(cat ../jobs/*/uses 2>/dev/null | tr '\n' ' ') "
  for p in *; do
    k=${p%%.*}
    case $used in *" $k "*) ;; *) rm -rf "$p" ;; esac
  done
)
)sh";
}

}  // namespace radl::jobs
