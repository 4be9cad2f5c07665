// Datasets on their way to a node.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "common/clock.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/guarded.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/dataset_direct.h"
#include "runtime/steps/dataset_spread.h"
#include "runtime/steps/native/stage.h"
#include "runtime/steps/place.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kArchive = uintmax_t{512} << 20;    // bytes of files in one archive
constexpr uintmax_t kWorthGiving = uintmax_t{1} << 20;  // less is here sooner than two nodes have met
constexpr uintmax_t kTrial = uintmax_t{8} << 20;        // on each of two ways, to see which is faster
constexpr size_t kNamedFiles = 3;

// Name -> SHA-256, of lines "SHA256  ./NAME".
std::map<std::string, std::string> parse_list(std::string_view text) {
  std::map<std::string, std::string> files;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    if (line.size() > 68 && line.substr(64, 4) == "  ./")
      files[std::string(line.substr(68))] = line.substr(0, 64);
  }
  return files;
}

bool hidden(const std::string& name) { return name.starts_with('.') || name.find("/.") != std::string::npos; }

class Placing {
 public:
  Placing(const NodeHandle& node, const Context& context, const LocalDataset& data,
          const std::string& directory)
      : node_(node), context_(context), data_(data), directory_(directory), note_(dataset_note(directory)) {}

  Result<bool> run(bool alone) {
    auto remote = node_.connect();
    if (!remote) return remote.status();
    remote_ = *remote;
    if (Status looked = look(); !looked.ok()) return looked;
    wanted_ = parse_list(data_.list);
    std::vector<std::string> missing, stale, strange;
    for (const auto& [name, sha256] : wanted_) {
      auto found = there_.find(name);
      if (found == there_.end() || found->second != sha256) missing.push_back(name);
    }
    for (const auto& [name, sha256] : there_) {
      if (wanted_.contains(name) || hidden(name)) continue;
      auto ours = brought_.find(name);
      (ours != brought_.end() && ours->second.contains(sha256) ? stale : strange).push_back(name);
    }
    if (alone && !strange.empty()) return refuse(strange);
    if (missing.empty() && stale.empty() && noted_) return false;
    if (Status s = remote_->put_bytes(data_.list, note_ + ".new", 0600, context_.stop).status(); !s.ok())
      return s;
    if (Status s = send(missing); !s.ok()) return s;
    if (Status s = remove(stale); !s.ok()) return s;
    if (Status s = remote_->put_bytes(data_.list, note_, 0600, context_.stop).status(); !s.ok()) return s;
    if (auto done = exec(fmt::format("rm -f {}", shell_path(note_ + ".new"))); !done) return done.status();
    return true;
  }

 private:
  // What is there, and what earlier calls brought or were about to bring. The output may be long: it is not
  // taken from the result, which keeps its end only.
  Status look() {
    std::string text;
    ExecOptions options;
    options.deadline = std::chrono::hours(2);
    options.stop = context_.stop;
    options.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr) text += piece;
    };
    auto ran = remote_->exec(
        fmt::format(
            "mkdir -p {2} {3} || exit 1; cat {0} 2>/dev/null; echo =; cat {0}.new 2>/dev/null; echo =; "
            "cd {1} && find -L . -type f -exec sha256sum {{}} +",
            shell_path(note_), shell_path(directory_), shell_path(parent_path(note_)),
            shell_path(directory_)),
        options);
    if (!ran) return ran.status();
    if (ran->exit_status != 0) return ssh::command_failure(*ran, directory_);
    const size_t first = text.starts_with("=\n") ? 0 : text.find("\n=\n") + 1;
    const size_t second =
        text.compare(first + 2, 2, "=\n") == 0 ? first + 2 : text.find("\n=\n", first + 2) + 1;
    noted_ = std::string_view(text).substr(0, first) == data_.list;
    there_ = parse_list(std::string_view(text).substr(second + 2));
    for (std::string_view list : {std::string_view(text).substr(0, first),
                                  std::string_view(text).substr(first + 2, second - first - 2)})
      for (const auto& [name, sha256] : parse_list(list)) brought_[name].insert(sha256);
    return {};
  }

  Status refuse(const std::vector<std::string>& strange) const {
    std::vector<std::string> names(strange.begin(),
                                   strange.begin() + long(std::min(strange.size(), kNamedFiles)));
    return Status(Code::Conflict,
                  fmt::format("{}: {} holds {} files that are not the dataset's: {}{}", node_.address,
                              directory_, strange.size(), fmt::join(names, ", "),
                              strange.size() > kNamedFiles ? ", ..." : ""))
        .with_hint("remove them, or give the dataset another directory");
  }

  Status send(const std::vector<std::string>& names) {
    if (!node_.attributes.value("local_directory", "").empty()) {
      for (const auto& name : names) {
        if (Status s = context_.stop.check(); !s.ok()) return s;
        auto placed = place_file(node_, context_, data_.folder + "/" + name, directory_ + "/" + name, 0444);
        if (!placed) return placed.status();
      }
      return {};
    }
    const std::string group = spread_group(node_);
    auto bytes = bytes_of(names);
    if (!bytes) return bytes.status();
    if (group.empty() || *bytes < kWorthGiving) return send_first(names);
    DatasetSpread& spread = context_.shared->of<DatasetSpread>();
    auto turn = spread.begin(data_.digest + directory_, group, context_.stop);
    if (!turn) return turn.status();
    Status done = guarded([&] { return turn->giver ? take_from(*turn->giver, names) : send_first(names); });
    spread.end(*turn, done.ok() ? &node_ : nullptr);
    return done;
  }

  Result<uintmax_t> bytes_of(const std::vector<std::string>& names) const {
    uintmax_t bytes = 0;
    for (const auto& name : names) {
      std::error_code error;
      bytes += fs::file_size(data_.folder + "/" + name, error);
      if (error) return errno_status(error.value(), data_.folder + "/" + name);
    }
    return bytes;
  }

  std::string list_of(const std::vector<std::string>& names) const {
    std::string list;
    for (const auto& name : names) list += wanted_.at(name) + "  ./" + name + "\n";
    return list;
  }

  // To a node that no other can give it to: the first files from the object store by itself, if that is where
  // they are from, as many from here, and the rest on the faster way.
  Status send_first(const std::vector<std::string>& names) {
    auto bytes = bytes_of(names);
    if (!bytes) return bytes.status();
    if (names.size() < 3 || *bytes < 3 * kTrial) return send_from_here(names);
    auto first = bytes_of({names.front()});
    if (!first) return first.status();
    auto store =
        DatasetStore::open(context_.environment, data_.address, names.front(), *first, context_.stop);
    if (!store) return send_from_here(names);
    std::vector<std::string> rest = names;
    auto direct = timed(rest, [&](const auto& some) {
      return store->fetch(node_, {directory_, list_of(some)}, context_.stop);
    });
    if (!direct) return from_here_after_all(names, *store, direct.status());
    auto from_here = timed(rest, [&](const auto& some) { return send_from_here(some); });
    if (!from_here) return from_here.status();
    const bool near = *direct > *from_here;
    context_.log(fmt::format(
        "{}: {:.1f} MB/s from {}, {:.1f} MB/s from this computer: the rest of the dataset comes from {}",
        node_.address, *direct / 1e6, store->address(), *from_here / 1e6, near ? "there" : "here"));
    if (!near) return send_from_here(rest);
    while (!rest.empty()) {
      auto done = part(rest, kArchive);
      if (!done) return done.status();
      if (Status s = store->fetch(node_, {directory_, list_of(*done)}, context_.stop); !s.ok()) {
        done->insert(done->end(), rest.begin(), rest.end());
        return from_here_after_all(*done, *store, s);
      }
    }
    return {};
  }

  Status from_here_after_all(const std::vector<std::string>& names, const DatasetStore& store,
                             const Status& why) {
    if (Status s = context_.stop.check(); !s.ok()) return s;
    context_.log(fmt::format("{}: the dataset comes from this computer, as it cannot be had from {}: {}",
                             node_.address, store.address(), why.text()));
    return send_from_here(names);
  }

  // Takes the first files out of `names`, `bytes` of them and one at least.
  Result<std::vector<std::string>> part(std::vector<std::string>& names, uintmax_t bytes) const {
    std::vector<std::string> taken;
    for (uintmax_t so_far = 0; taken.size() < names.size() && (taken.empty() || so_far < bytes);) {
      taken.push_back(names[taken.size()]);
      auto more = bytes_of({taken.back()});
      if (!more) return more.status();
      so_far += *more;
    }
    names.erase(names.begin(), names.begin() + long(taken.size()));
    return taken;
  }

  // The first files of `rest` on one way: bytes a second.
  template <class Way>
  Result<double> timed(std::vector<std::string>& rest, Way way) const {
    auto some = part(rest, kTrial);
    if (!some) return some.status();
    auto bytes = bytes_of(*some);
    if (!bytes) return bytes.status();
    const auto begun = SteadyClock::now();
    if (Status s = way(*some); !s.ok()) return s;
    return double(*bytes) / std::max(1e-6, seconds_since(begun));
  }

  // From another node that has it; if that fails, from this computer.
  Status take_from(const NodeHandle& giver, const std::vector<std::string>& names) {
    const Status fetched = fetch_from_node(node_, giver, {directory_, list_of(names)}, context_);
    if (fetched.ok()) {
      context_.log(fmt::format("{}: the dataset comes from {}", node_.address, giver.address));
      return {};
    }
    if (Status s = context_.stop.check(); !s.ok()) return s;
    context_.log(fmt::format("{}: the dataset comes from this computer, as it cannot be had from {}: {}",
                             node_.address, giver.address, fetched.text()));
    return send_from_here(names);
  }

  Status send_from_here(const std::vector<std::string>& names) {
    for (size_t next = 0; next < names.size();) {
      std::string list;
      uintmax_t bytes = 0;
      for (; next < names.size() && bytes < kArchive; ++next) {
        std::error_code error;
        const uintmax_t size = fs::file_size(data_.folder + "/" + names[next], error);
        if (error) return errno_status(error.value(), data_.folder + "/" + names[next]);
        bytes += size;
        list += names[next] + '\0';
      }
      if (Status sent = send_archive(list); !sent.ok()) return sent;
    }
    return {};
  }

  Status send_archive(const std::string& list) {
    if (Status s = context_.stop.check(); !s.ok()) return s;
    const std::string archive = "~/.radl/stage/" + to_hex(random_bytes(8)) + ".tar";
    if (Status s = native::stage(*remote_, {data_.folder, list, archive}, context_.stop); !s.ok()) return s;
    auto done = exec(fmt::format("tar -C {0} -xf {1}; r=$?; rm -f {1}; exit $r", shell_path(directory_),
                                 shell_path(archive)));
    if (!done) return done.status();
    return done->exit_status == 0 ? Status() : ssh::command_failure(*done, directory_);
  }

  Status remove(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    std::string script = fmt::format("cd {} || exit 1\n", shell_path(directory_));
    for (const auto& name : names) script += "rm -f " + shell_quote("./" + name) + "\n";
    script += "find . -mindepth 1 -type d -empty -delete\n";
    ExecOptions options;
    options.stdin_bytes = std::move(script);
    auto done = remote_->exec("/bin/sh -s", options);
    if (!done) return done.status();
    return done->exit_status == 0 ? Status() : ssh::command_failure(*done, directory_);
  }

  Result<ExecResult> exec(const std::string& command) {
    ExecOptions options;
    options.deadline = std::chrono::hours(1);
    options.stop = context_.stop;
    return remote_->exec(command, options);
  }

  const NodeHandle& node_;
  const Context& context_;
  const LocalDataset& data_;
  const std::string directory_, note_;
  Remote* remote_ = nullptr;
  bool noted_ = false;  // the node's list is the one that is wanted
  std::map<std::string, std::string> there_, wanted_;
  std::map<std::string, std::set<std::string>> brought_;
};

}  // namespace

std::string dataset_note(const std::string& directory) {
  return "~/.radl/datasets/" + sha256_hex(directory).substr(0, 16);
}

std::string look_at_dataset(const std::string& directory) {
  return fmt::format(
      "say_path {0}\n"
      "if [ -d {0} ]; then\n"
      "n=$(cd {0} && find -L . -type f ! -path '*/.*' | wc -l)\n"
      "say files \"$n\"\n"
      "if [ -f {1} ] && ( cd {0} && sha256sum -c {1} ) >/dev/null 2>&1; then\n"
      "d=$(sha256sum < {1})\n"
      "say list \"${{d%% *}}\"\n"
      "fi\nfi\n",
      shell_path(directory), shell_path(dataset_note(directory)));
}

Result<bool> place_dataset(const NodeHandle& node, const Context& context, const LocalDataset& data,
                           const std::string& directory, bool alone) {
  return Placing(node, context, data, directory).run(alone);
}

}  // namespace radl
