#include "runtime/steps/jobs/tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "common/turn.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/place.h"

namespace radl::jobs {
namespace {

namespace fs = std::filesystem;

std::string key_of(const Tree& tree) { return tree.digest.substr(0, 40); }

std::string folder_of_key(const std::string& key) { return "~/.radl/trees/" + key; }

Result<ExecResult> on_node(const NodeHandle& node, const Context& context, const std::string& script) {
  auto remote = node.connect();
  if (!remote) return std::move(remote).status().at(node.address);
  ExecOptions options;
  options.deadline = std::chrono::hours(1);
  options.stop = context.stop;
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
  auto done = run_process(request);
  if (!done) return std::move(done).status().at(what);
  if (done->exit_status == 0) return {};
  std::string said = done->err.empty() ? done->out : done->err;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return {Code::Retry, fmt::format("{}: {}", what, said.substr(said.size() > 400 ? said.size() - 400 : 0))};
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

// By names, since what is left out may be more than arguments can hold.
Status archive_of_folder(const Tree& tree, const Context& context, const std::string& archive) {
  auto parts = parts_of(tree.path, tree.contents);
  if (!parts) return parts.status();
  std::string names("./\0", 3);
  for (const std::string& part : *parts) names += "./" + part + '\0';
  const std::string list = archive + ".names";
  if (Status written = write_file_atomic(list, names, 0600); !written.ok()) return written;
  Status done =
      run_here({"tar", "-C", tree.path, "--null", "--no-recursion", "--files-from=" + list, "-czf", archive},
               context, tree.path);
  std::error_code ignored;
  fs::remove(list, ignored);
  return done;
}

Status check_digest(const Tree& tree) {
  auto now = path_digest(tree.path, tree.contents);
  if (!now) return now.status();
  if (*now == tree.digest) return {};
  return Status(Code::Conflict, tree.path + ": is not what it was when the plan was made")
      .with_hint("plan again");
}

// The archive of a tree on this computer, made when it is not there. Of an archive itself.
Result<std::string> archive_of(const Tree& tree, const Context& context) {
  static std::timed_mutex mutex;
  auto turn = take_turn(mutex, context.stop);
  if (!turn) return std::move(turn).status();
  if (tree.kind != Tree::Kind::Git) {
    if (Status same = check_digest(tree); !same.ok()) return same;
  }
  if (tree.kind == Tree::Kind::Archive) return tree.path;
  const std::string archive = fmt::format("{}/trees/{}.tar.gz", context.work_directory, key_of(tree));
  std::error_code error;
  if (fs::exists(archive, error)) return archive;
  if (Status s = make_directories(parent_path(archive), 0700); !s.ok()) return s;
  const std::string made = archive + ".part";
  const fs::path path(tree.path);
  Status done;
  if (tree.kind == Tree::Kind::Git)
    done = archive_of_commit(tree, context, made);
  else if (tree.kind == Tree::Kind::File)
    done = run_here({"tar", "-C", path.parent_path().string(), "-czf", made, "./" + path.filename().string()},
                    context, tree.path);
  else
    done = archive_of_folder(tree, context, made);
  if (!done.ok()) return done;
  fs::rename(made, archive, error);
  if (error) return Status(Code::Retry, archive + ": " + error.message());
  return archive;
}

// With modes and links, which `python3 -m zipfile` forgets. Links come last: nothing is written through one.
constexpr const char* kUnzip = R"py(import os, stat, sys, zipfile
archive, top = sys.argv[1:]
links = []
with zipfile.ZipFile(archive) as members:
    for member in members.infolist():
        mode = member.external_attr >> 16
        if stat.S_ISLNK(mode):
            links.append((member.filename, members.read(member)))
            continue
        path = members.extract(member, top)
        if mode and not member.is_dir():
            os.chmod(path, mode & 0o777)
for name, target in links:
    if name.startswith("/") or ".." in name.split("/"):
        sys.exit(name + ": leaves the archive")
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path.encode())
)py";

std::string unpack_command(const std::string& archive) {
  const bool zip = archive.ends_with(".zip") || archive.ends_with(".whl");
  return zip ? fmt::format("python3 -c {} \"$a\" \"$t\"", shell_quote(kUnzip))
             : "tar -xf \"$a\" --no-same-owner -C \"$t\"";
}

}  // namespace

std::string tree_folder(const Tree& tree) { return folder_of_key(key_of(tree)); }

Result<bool> has_tree(const NodeHandle& node, const Context& context, const std::string& key) {
  auto looked = on_node(node, context,
                        fmt::format("if [ -e {} ]; then echo there; else echo lacks; fi",
                                    shell_path(folder_of_key(key) + ".whole")));
  if (!looked) return looked.status();
  if (looked->out != "there\n" && looked->out != "lacks\n")
    return ssh::command_failure(*looked, node.address);
  return looked->out == "there\n";
}

Result<bool> place_archive(const NodeHandle& node, const Context& context, const std::string& archive,
                           const std::string& key) {
  auto there = has_tree(node, context, key);
  if (!there) return there.status();
  if (*there) return false;
  // Its name ends as the archive's does, by which it is unpacked.
  const std::string name = archive.substr(archive.rfind('/') + 1);
  const std::string sent = folder_of_key(key) + ".sent-" + sha256_hex(name).substr(0, 8);
  auto placed = place_file(node, context, archive, sent, 0600);
  if (!placed) return std::move(placed).status().at(node.address);
  auto unpacked =
      on_node(node, context,
              fmt::format(R"sh(set -e
a={0}
d={1}
t="$d.new-$$"
rm -rf "$d" "$d".new-*
mkdir -p "$t"
{2}
chmod -R u+rwX "$t"
mv -T "$t" "$d"
rm -f "$a"
: > "$d.whole")sh",
                          shell_path(sent), shell_path(folder_of_key(key)), unpack_command(name)));
  if (!unpacked) return unpacked.status();
  if (unpacked->exit_status != 0)
    return std::move(ssh::command_failure(*unpacked, "unpacking " + name)).at(node.address);
  return true;
}

Result<bool> place_tree(const NodeHandle& node, const Context& context, const Tree& tree) {
  auto there = has_tree(node, context, key_of(tree));
  if (!there) return there.status();
  if (*there) return false;
  auto archive = archive_of(tree, context);
  if (!archive) return archive.status();
  return place_archive(node, context, *archive, key_of(tree));
}

}  // namespace radl::jobs
