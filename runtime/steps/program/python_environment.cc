#include "runtime/steps/program/python_environment.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/dataset_digest.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "common/shorten.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/jobs/tree.h"
#include "runtime/steps/manifest.h"

namespace radl::program {
namespace {

namespace fs = std::filesystem;

constexpr int kNoInstaller = 44;

// Makes $d/env.tar.gz from $r (and $w) with Python $p. Scripts that pip makes begin with the path of the
// Python that installed them, which another node may not have.
constexpr const char* kInstall = R"sh(set -e
rm -rf "$d"
mkdir -p "$d/env"
run="$p"
if ! "$p" -m pip --version > /dev/null 2>&1; then
  "$p" -m venv "$d/venv" > "$d/log" 2>&1 || { cat "$d/log" >&2; exit 44; }
  run="$d/venv/bin/python"
fi
set --
if [ -n "$w" ]; then set -- --no-index --find-links "$w"; fi
"$run" -m pip install --quiet --no-input --disable-pip-version-check --no-warn-script-location \
  --require-hashes "$@" --target "$d/env" -r "$r" >&2
for f in "$d"/env/bin/*; do
  [ -f "$f" ] || continue
  first=$(head -c 2 "$f" | tr -d '\0')
  [ "$first" != '#!' ] || sed -i "1s|^#!.*python.*|#!/usr/bin/env $p|" "$f"
done
tar -C "$d/env" -czf "$d/env.tar.gz" .
)sh";

std::string with_variables(const std::string& python, const std::string& requirements,
                           const std::string& wheelhouse, const std::string& folder) {
  return fmt::format("p={}\nr={}\nw={}\nd={}\n{}", shell_quote(python), requirements, wheelhouse, folder,
                     kInstall);
}

Status failure_of(int exit_status, const std::string& err, const std::string& where) {
  std::string said(end_of(err, 1500));
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (exit_status == kNoInstaller)
    return Status(Code::Unsupported, fmt::format("{}: its Python has neither pip nor venv: {}", where, said))
        .with_hint("install the package python3-venv there");
  return {Code::Invalid, fmt::format("{}: pip could not install the requirements:\n{}", where, said)};
}

// Of this computer; empty where it has none.
std::string kind_here(const Environment& environment, const std::string& python) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", python_kind_script(python)};
  request.deadline = std::chrono::seconds(20);
  auto asked = run_process(environment, request);
  if (!asked || asked->exit_status != 0) return "";
  return asked->out.substr(0, asked->out.find('\n'));
}

}  // namespace

std::string PythonEnvironment::key(const NodeFacts& facts) const {
  return "env-" +
         sha256_hex(python_.value("requirements_sha256", "") + "\n" + python_.value("wheelhouse_sha256", "") +
                    "\n" + python_.value("program", "") + "\n" + facts.python)
             .substr(0, 40);
}

std::string PythonEnvironment::folder(const NodeFacts& facts) const {
  return wanted() ? "~/.radl/trees/" + key(facts) : "";
}

Status PythonEnvironment::check_unchanged() const {
  for (const char* name : {"requirements", "wheelhouse"}) {
    if (!python_.contains(name)) continue;
    const std::string path = python_[name];
    auto digest = path_digest(path);
    if (!digest) return digest.status();
    if (*digest != python_.value(std::string(name) + "_sha256", ""))
      return Status(Code::Conflict, path + ": is not what it was when the plan was made")
          .with_hint("plan again");
  }
  return {};
}

Result<bool> PythonEnvironment::bring(const NodeHandle& node, jobs::Member& member, const NodeFacts& facts) {
  if (!wanted()) return false;
  auto there = jobs::has_tree(node, context_, key(facts));
  if (!there) return there.status();
  if (*there) return false;
  std::string made;
  {
    std::lock_guard lock(mutex_);
    auto archive = this->archive(node, member, facts);
    if (!archive) return archive.status();
    made = *archive;
  }
  auto placed = jobs::place_archive(node, context_, made, key(facts));
  return placed ? Result<bool>(*placed > 0) : placed.status();
}

Result<std::string> PythonEnvironment::archive(const NodeHandle& node, jobs::Member& member,
                                               const NodeFacts& facts) {
  const std::string name = key(facts), cache = user_cache(context_.environment);
  const std::string folder = (cache.empty() ? context_.work_directory : cache) + "/environments";
  const std::string archive = folder + "/" + name + ".tar.gz";
  std::error_code error;
  if (fs::exists(archive, error)) return archive;
  if (auto failed = failed_.find(name); failed != failed_.end()) return failed->second;
  Status made = check_unchanged();
  if (made.ok()) made = make_directories(folder, 0700);
  if (made.ok()) {
    const bool here = kind_here(context_.environment, python_.value("program", "python3")) == facts.python;
    say_(fmt::format("installing Python packages for {} {}", facts.python,
                     here ? "on this computer" : "on " + node.address));
    made = here ? make_here(archive) : make_on(node, member, name, archive);
  }
  if (made.ok()) return archive;
  failed_[name] = made;
  return made;
}

Status PythonEnvironment::make_here(const std::string& archive) {
  const std::string folder = archive + ".making-" + to_hex(random_bytes(4));
  ProcessRequest request;
  request.argv = {"/bin/sh"};
  request.stdin_bytes = with_variables(
      python_.value("program", "python3"), shell_quote(python_.value("requirements", "")),
      python_.contains("wheelhouse") ? shell_quote(python_["wheelhouse"].get<std::string>()) : "''",
      shell_quote(folder));
  request.environment = {{"PIP_REQUIRE_VIRTUALENV", std::nullopt}};
  request.inherited = {"PIP_*", "UV_*"};
  request.deadline = std::chrono::hours(1);
  request.stop = context_.stop;
  auto done = run_process(context_.environment, request);
  Status status = !done                    ? done.status()
                  : done->exit_status != 0 ? failure_of(done->exit_status, done->err, "this computer")
                                           : Status();
  std::error_code error;
  if (status.ok()) {
    fs::rename(folder + "/env.tar.gz", archive, error);
    if (error) status = {Code::Retry, archive + ": " + error.message()};
  }
  fs::remove_all(folder, error);
  return status;
}

Status PythonEnvironment::make_on(const NodeHandle& node, jobs::Member& member, const std::string& key,
                                  const std::string& archive) {
  const std::string folder = "~/.radl/trees/" + key + ".making";
  auto remote = node.connect();
  if (!remote) return std::move(remote).status().at(node.address);
  const Stop stop = context_.stop;
  auto made = member.exec("mkdir -p " + shell_path("~/.radl/trees"));
  if (!made) return made.status();
  auto put = (*remote)->put_file(python_.value("requirements", ""), folder + ".txt", 0600, stop);
  if (!put) return std::move(put).status().at(node.address);
  std::string wheels = "''";
  if (python_.contains("wheelhouse")) {
    const jobs::Tree tree{jobs::Tree::Kind::Folder, python_["wheelhouse"], python_["wheelhouse_sha256"]};
    auto placed = jobs::place_tree(node, context_, tree);
    if (!placed) return placed.status();
    wheels = shell_path(jobs::tree_folder(tree));
  }
  ExecOptions options;
  options.deadline = std::chrono::hours(1);
  options.stop = stop;
  options.stdin_bytes = with_variables(python_.value("program", "python3"), shell_path(folder + ".txt"),
                                       wheels, shell_path(folder));
  auto done = (*remote)->exec("/bin/sh", options);
  if (!done) return std::move(done).status().at(node.address);
  if (done->exit_status != 0) return failure_of(done->exit_status, done->err, node.address);
  const std::string part = archive + ".part-" + to_hex(random_bytes(4));
  Status fetched = (*remote)->get_file(folder + "/env.tar.gz", part, stop);
  if (!fetched.ok()) return std::move(fetched).at(node.address);
  std::error_code error;
  fs::rename(part, archive, error);
  if (error) return {Code::Retry, archive + ": " + error.message()};
  auto removed = member.exec("rm -rf " + shell_path(folder) + " " + shell_path(folder + ".txt"));
  return removed ? Status() : removed.status();
}

}  // namespace radl::program
