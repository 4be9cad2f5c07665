// Resolves and fetches a commit.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "common/process/process.h"
#include "common/text.h"
#include "runtime/vendor/fetch.h"

namespace radl::vendored {
namespace {

namespace fs = std::filesystem;

constexpr auto kDeadline = std::chrono::minutes(10);

// Nothing that asks, and nothing of a surrounding repository (a hook that runs radlc sets GIT_DIR).
EnvironmentChanges changes_for(bool local) {
  return {{"GIT_TERMINAL_PROMPT", "0"},
          {"GIT_ASKPASS", "false"},
          {"SSH_ASKPASS", "false"},
          {"SSH_ASKPASS_REQUIRE", "force"},
          {"GIT_ALLOW_PROTOCOL", local ? "file" : "https:ssh"},
          {"GIT_NO_REPLACE_OBJECTS", "1"},
          {"GIT_OPTIONAL_LOCKS", "0"}};
}

uint64_t size_of(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    uint64_t size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

// "https://user:password@host" -> "https://host": a user's configuration may put them into URLs.
std::string without_credentials(std::string text) {
  for (size_t at = 0; (at = text.find("://", at)) != text.npos;) {
    at += 3;
    size_t end = std::min(text.find_first_of("/ '\"\n\t", at), text.size());
    size_t user = text.rfind('@', end);
    if (user != text.npos && user >= at && user < end) text.erase(at, user + 1 - at);
  }
  return text;
}

// The line that says why: git's first that begins with fatal or error; what ssh said where git only says that
// it could not read.
std::string reason(const std::string& err) {
  std::string first, fatal;
  for (std::string_view line : split(err, '\n')) {
    line = radl::trim(line);
    if (first.empty()) first = line;
    if (fatal.empty() && (line.starts_with("fatal: ") || line.starts_with("error: "))) fatal = line.substr(7);
  }
  const bool plain = fatal.empty() || fatal.starts_with("Could not read from remote");
  return without_credentials(plain ? first : fatal);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

Status failure(const std::string& err) {
  const std::string why = reason(err);
  if (has(err, "terminal prompts disabled") || has(err, "Authentication failed") ||
      has(err, "Permission denied") || has(err, "Host key verification failed")) {
    return Status(Code::Auth, "git: " + why)
        .with_hint(
            "radlc does not ask for credentials: set up git's credential helper, or ssh's agent and known "
            "hosts");
  }
  if (has(err, "dubious ownership") || has(err, "does not appear to be a git repository") ||
      has(err, "not found"))
    return not_found("git: " + why);
  return {Code::Retry, "git: " + why};
}

struct Wanted {
  std::string name;    // what is fetched: "refs/tags/v1", "HEAD", a commit
  std::string commit;  // that it is, "" where only the fetch will say (HEAD, names)
};

// A tag before a branch of the same name, as git itself takes it.
Result<Wanted> resolve(const Git& git, const std::string& url, const std::string& ref) {
  if (is_commit(ref)) return Wanted{ref, ref};
  std::vector<std::string> names = ref.empty()
                                       ? std::vector<std::string>{"HEAD"}
                                       : std::vector<std::string>{"refs/tags/" + ref, "refs/heads/" + ref};
  std::vector<std::string> arguments = {"ls-remote", "--quiet", "--", url};
  arguments.insert(arguments.end(), names.begin(), names.end());
  auto listed = git.run(arguments);
  if (!listed.ok()) return std::move(listed).status();
  for (const std::string& name : names) {
    for (std::string_view line : split(*listed, '\n')) {
      size_t tab = line.find('\t');
      if (tab != line.npos && line.substr(tab + 1) == name)
        return Wanted{name, std::string(line.substr(0, tab))};
    }
  }
  if (ref.empty()) return not_found("the repository has no commit");
  return not_found(fmt::format("the repository has no tag or branch '{}'", ref))
      .with_hint("a commit is written with all of its 40 digits");
}

Status init(const Git& git, const std::string& format) {
  return git.run({"init", "--quiet", "--bare", "--template=", "--object-format=" + format}).status();
}

Status fetch(const Git& git, const std::string& url, std::vector<std::string> what, bool shallow) {
  std::vector<std::string> arguments = {"fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
                                        "--no-write-fetch-head"};
  if (shallow) arguments.push_back("--depth=1");
  arguments.insert(arguments.end(), {"--", url});
  arguments.insert(arguments.end(), what.begin(), what.end());
  return git.run(std::move(arguments)).status();
}

}  // namespace

Result<std::string> Git::run(std::vector<std::string> arguments, const std::string& input,
                             size_t largest) const {
  ProcessRequest request;
  request.argv = {"git",
                  "-c",
                  "core.hooksPath=/dev/null",
                  "-c",
                  "core.fsmonitor=false",
                  "-c",
                  "gc.auto=0",
                  "-c",
                  "maintenance.auto=false",
                  "-c",
                  "http.lowSpeedLimit=1000",
                  "-c",
                  "http.lowSpeedTime=30",
                  "-c",
                  "http.followRedirects=initial",
                  "--git-dir=" + repository};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.stdin_bytes = input;
  request.environment = changes_for(local);
  request.inherited = {"GIT_SSH*", "GIT_CONFIG*", "GIT_SSL*", "GIT_TRACE*"};
  request.deadline = kDeadline;
  request.keep_bytes = largest;
  bool large = false;
  request.stop = stop.or_when(Stop::when([&] { return large = large || size_of(repository) > kMostPacked; }));
  auto done = run_process(environment, request);
  if (large)
    return Status(Code::Quota, fmt::format("the repository is larger than {} MiB", kMostPacked >> 20));
  if (!done.ok() && done.status().code() == Code::NotFound) {
    return Status(Code::Unsupported, "git is missing on this computer; it fetches modules from repositories")
        .with_hint("install it (Debian: apt-get install git)");
  }
  if (!done.ok()) return std::move(done).status();
  if (done->exit_status != 0) return failure(done->err);
  if (done->out_cut) return Status(Code::Quota, fmt::format("git gave more than {} MiB", largest >> 20));
  return std::move(done->out);
}

Result<Fetched> fetch_git(const Source& source, const std::string& commit) {
  const Address& address = source.address;
  std::string url = address.location;
  if (address.local && !url.starts_with("file://")) {
    std::error_code error;
    url =
        fs::absolute(fs::path(source.project.empty() ? "." : source.project) / url, error).lexically_normal();
  }
  Git git{source.temporary + "/repository", address.local, source.stop, source.environment};
  if (Status made = init(git, "sha1"); !made.ok()) return made;
  auto wanted = commit.empty() ? resolve(git, url, address.ref) : Wanted{commit, commit};
  if (!wanted.ok()) return std::move(wanted).status();
  if (wanted->commit.size() == 64) {
    git.repository += "-sha256";
    if (Status made = init(git, "sha256"); !made.ok()) return made;
  }
  const std::string kept = "+" + wanted->name + ":refs/radl/wanted";
  Status fetched = fetch(git, url, {kept}, true);
  std::string found = "refs/radl/wanted";
  if (!fetched.ok() && is_commit(wanted->name)) {
    // Servers may refuse a commit that no name points to: it is in the history of one, or gone.
    Status all = fetch(git, url, {"+refs/heads/*:refs/radl/heads/*", "+refs/tags/*:refs/radl/tags/*"}, false);
    if (!all.ok()) return all;
    found = wanted->name;
  } else if (!fetched.ok()) {
    return fetched;
  }
  auto id = git.run({"rev-parse", "--verify", "--quiet", "--end-of-options", found + "^{commit}"});
  if (!id.ok())
    return not_found(
        fmt::format("the repository has no commit {}", found == wanted->name ? found : wanted->name));
  return read_commit(git, std::string(radl::trim(*id)));
}

}  // namespace radl::vendored
