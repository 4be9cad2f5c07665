// file, directory, download, upload.
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/shell_quote.h"
#include "common/text_diff.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

constexpr size_t kInScript = 512 * 1024;  // larger content is staged over SFTP

std::string get(const Seen& seen, const char* name) {
  auto found = seen.find(name);
  return found == seen.end() ? "" : found->second;
}

Status hidden(const Item& item, const Facts& facts) {
  return {Code::Invalid,
          fmt::format("{}: user '{}' may not look at it on the node, and has no passwordless sudo",
                      item.label(), facts.user)};
}

std::string short_digest(const std::string& sha256) {
  return sha256.empty() ? "" : "sha256:" + sha256.substr(0, 12);
}

std::string shown_diff(const std::string& before, const std::string& after) {
  if ((before + after).find('\0') == std::string::npos) return diff_hunks(before, after);
  return fmt::format("(binary content differs: {} -> {} bytes)\n", before.size(), after.size());
}

std::string make_parent(const std::string& path) {
  return fmt::format("[ -d \"$(dirname {0})\" ] || ( umask 022; mkdir -p \"$(dirname {0})\" )\n", path);
}

// What was staged becomes $t, owned by whoever runs the script.
std::string take_staged(const std::string& stage) {
  return fmt::format("if [ -O {0} ]; then mv -f {0} \"$t\"; else cp {0} \"$t\" && rm -f {0}; fi\n",
                     shell_path(stage));
}

// Puts the shell word `from` in the place of `path` at one blow, with mode and owner set before.
std::string replace_file(const std::string& access, const std::string& path) {
  return access + fmt::format("mv -fT \"$t\" {}\n", path);
}

class FileKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }
  bool batches() const override { return true; }

  Result<std::string> look(const Item& item) const override {
    std::string digest;
    if (item.text("state", "present") == "present" && (item.has("content") || item.has("source"))) {
      auto wanted = wanted_digest(item);
      if (!wanted) return wanted;
      digest = *wanted;
    }
    std::string path = shell_path(item.resource->name);
    return fmt::format("say_path {0} && [ -f {0} ] && say_content {0} {1}\n", path,
                       digest.empty() ? "''" : digest);
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string path = shell_path(item.resource->name), kind = get(seen, "kind");
    if (kind == "hidden") return hidden(item, facts);
    if (kind == "directory" || kind == "other")
      return invalid(fmt::format("{}: there is a {} of this name on the node", item.label(),
                                 kind == "other" ? "special file" : "folder"));
    if (item.text("state", "present") == "absent") {
      if (kind == "absent") return work;
      work.changes.push_back(change(item, "state", "present", "absent"));
      work.script = fmt::format("rm -f {}\n", path);
      return work;
    }
    if (kind == "link") work.changes.push_back(change(item, "kind", "link", "file"));
    bool has_content = item.has("content") || item.has("source");
    bool write = kind != "file";
    if (has_content) {
      auto digest = wanted_digest(item);
      if (!digest) return digest.status();
      write |= *digest != get(seen, "sha256");
    }
    if (!write) {
      plan_access(item, seen, item.text("mode", "0644"), path, work);
      if (work.changes.empty()) work.script.clear();
      return work;
    }
    if (Status s = plan_content(item, seen, path, work); !s.ok()) return s;
    Work access;
    plan_access(item, seen, item.text("mode", "0644"), "\"$t\"", access);
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    work.script += replace_file(access.script, path);
    return work;
  }

 private:
  static Result<std::string> wanted_digest(const Item& item) {
    if (item.has("source")) return local_source(item, "source");
    return sha256_hex(item.text("content"));
  }

  static Status plan_content(const Item& item, const Seen& seen, const std::string& path, Work& work) {
    std::string after = item.text("content");
    if (item.has("source")) {
      auto content = read_file(item.text("source"));
      if (!content) return std::move(content).status().at(item.label());
      after = std::move(*content);
    }
    auto before = base64_decode(get(seen, "content"));
    bool known = seen.count("content") > 0 || get(seen, "kind") != "file";
    std::string diff =
        known && before ? shown_diff(*before, after)
                        : fmt::format("(content differs: {} -> {} bytes)\n", get(seen, "size"), after.size());
    std::string digest = sha256_hex(after);
    Json was = get(seen, "sha256").empty() ? Json() : Json(short_digest(get(seen, "sha256")));
    work.changes.push_back(change(item, "content", was, short_digest(digest), diff));
    work.script += make_parent(path) + fmt::format("t={}.radl-$$\numask 077\n", path);
    if (after.size() <= kInScript) {
      work.script += write_bytes(after, "\"$t\"");
    } else {
      std::string stage = "~/.radl/stage/" + digest;
      work.staged.push_back({"", after, stage});
      work.script += take_staged(stage);
    }
    return {};
  }
};

class DirectoryKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }
  bool batches() const override { return true; }
  Result<std::string> look(const Item& item) const override {
    return fmt::format("say_path {}\n", shell_path(item.resource->name));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string path = shell_path(item.resource->name), kind = get(seen, "kind");
    if (kind == "hidden") return hidden(item, facts);
    bool absent = item.text("state", "present") == "absent";
    if (absent) {
      if (kind == "absent") return work;
      if (item.resource->name == "/" || item.resource->name == "~" || item.resource->name == "~/")
        return invalid(item.label() + ": this folder is not removed");
      work.changes.push_back(change(item, "state", "present", "absent"));
      work.script = kind == "directory" ? fmt::format("rm -rf {}\n", path) : fmt::format("rm -f {}\n", path);
      return work;
    }
    if (kind != "absent" && kind != "directory")
      return invalid(fmt::format("{}: there is a {} of this name on the node", item.label(), kind));
    if (kind == "absent") {
      work.changes.push_back(change(item, "state", "absent", "present"));
      work.script = fmt::format("( umask 022; mkdir -p {} )\n", path);
    }
    plan_access(item, seen, item.text("mode", "0755"), path, work);
    if (work.changes.empty()) work.script.clear();
    return work;
  }
};

// Fetches $u to $t until its SHA-256 is $w, with whatever the node has: goes on where a try broke off as long
// as tries bring something, begins anew when what is there does not go with what comes, and gives up at once
// where the server has no such thing.
constexpr const char* kFetch = R"sh(
fetch() {
if command -v curl >/dev/null; then
  curl -fsSL --connect-timeout 20 --speed-limit 1 --speed-time 60 -C - -o "$t" "$u"
elif command -v wget >/dev/null; then
  wget -nv --timeout=60 --tries=1 -c -O "$t" "$u"
elif command -v python3 >/dev/null; then
  python3 - "$u" "$t" <<'RADL_FETCH'
import os, shutil, sys, urllib.request
url, path = sys.argv[1:]
have = os.path.getsize(path) if os.path.exists(path) else 0
request = urllib.request.Request(url, headers={"Range": "bytes=%d-" % have} if have else {})
try:
    answer = urllib.request.urlopen(request, timeout=60)
    with open(path, "ab" if getattr(answer, "status", 200) == 206 else "wb") as out:
        shutil.copyfileobj(answer, out)
except urllib.error.HTTPError as error:
    print("%s: %s" % (url, error), file=sys.stderr)
    sys.exit(22)
except OSError as error:
    sys.exit("%s: %s" % (url, error))
RADL_FETCH
else
  echo 'the node has neither curl, wget nor python3 to download with' >&2; exit 1
fi
}
size() { if [ -f "$t" ]; then wc -c < "$t"; else echo 0; fi; }
digest() { d=$(sha256sum < "$t"); d=${d%% *}; }
tries=3
while :; do
  had=$(size)
  if [ "$had" -gt 0 ]; then digest; [ "$d" != "$w" ] || break; fi
  r=0; fetch || r=$?
  if [ $r = 0 ]; then
    digest
    [ "$d" != "$w" ] || break
    rm -f "$t"
    [ "$had" -gt 0 ] || { echo "the content has SHA-256 $d, not $w" >&2; exit 1; }
  elif [ "$(size)" -le "$had" ]; then
    tries=$((tries - 1))
    case $r in 8|22|33) [ "$had" -gt 0 ] || exit $r; rm -f "$t";; esac
    [ $tries -gt 0 ] || exit $r
  fi
  sleep 0.5
done
)sh";

class DownloadKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }

  Result<std::string> look(const Item& item) const override {
    std::string path = shell_path(item.resource->name);
    return fmt::format("say_path {0} && [ -f {0} ] && d=$(sha256sum < {0}) && say sha256 ${{d%% *}}\n", path);
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string path = shell_path(item.resource->name), kind = get(seen, "kind"),
                wanted = item.text("sha256");
    if (kind == "hidden") return hidden(item, facts);
    if (kind == "directory") return invalid(item.label() + ": there is a folder of this name on the node");
    work.deadline = std::chrono::milliseconds(static_cast<long long>(item.number("timeout", 1800) * 1000));
    if (get(seen, "sha256") == wanted) {
      plan_access(item, seen, item.text("mode", "0644"), path, work);
      if (work.changes.empty()) work.script.clear();
      return work;
    }
    Json was = get(seen, "sha256").empty() ? Json() : Json(short_digest(get(seen, "sha256")));
    work.changes.push_back(change(item, "content", was, short_digest(wanted) + " from " + item.text("url")));
    work.script = make_parent(path) +
                  fmt::format("t={}.radl-{}.part\nu={}\nw={}\n", path, wanted.substr(0, 16),
                              shell_quote(item.text("url")), wanted) +
                  kFetch;
    Work access;
    plan_access(item, seen, item.text("mode", "0644"), "\"$t\"", access);
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    work.script += replace_file(access.script, path);
    return work;
  }
};

class UploadKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }

  Result<std::string> look(const Item& item) const override {
    if (auto digest = local_source(item, "source"); !digest) return digest.status();
    std::string path = shell_path(item.resource->name);
    if (!std::filesystem::is_directory(item.text("source"))) {
      return fmt::format("say_path {0} && [ -f {0} ] && d=$(sha256sum < {0}) && say sha256 ${{d%% *}}\n",
                         path);
    }
    // One line per file: "f MODE SHA256 PATH" or "l TARGET-SHA256 PATH".
    return fmt::format(
        "say_path {0} && [ -d {0} ] && say tree \"$(cd {0} && {{ find . -type f -exec stat -c 'm %a %n' {{}} "
        "+ ; find . -type f -exec sha256sum {{}} + ; "
        "find . -type l | while read -r l; do d=$(readlink -n \"$l\" | sha256sum); echo \"l ${{d%% *}} $l\"; "
        "done; }} | base64 | tr -d '\\n')\"\n",
        path);
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    if (get(seen, "kind") == "hidden") return hidden(item, facts);
    return std::filesystem::is_directory(item.text("source")) ? plan_tree(item, seen) : plan_file(item, seen);
  }

 private:
  static std::string own_mode(const std::string& path) {
    std::error_code error;
    return fmt::format("{:04o}",
                       static_cast<unsigned>(std::filesystem::status(path, error).permissions()) & 07777);
  }

  static Result<Work> plan_file(const Item& item, const Seen& seen) {
    Work work;
    std::string path = shell_path(item.resource->name), source = item.text("source");
    if (get(seen, "kind") == "directory")
      return invalid(item.label() + ": there is a folder of this name on the node");
    auto digest = local_source(item, "source");
    if (!digest) return digest.status();
    std::string mode = item.text("mode", own_mode(source));
    if (*digest == get(seen, "sha256")) {
      plan_access(item, seen, mode, path, work);
      if (work.changes.empty()) work.script.clear();
      return work;
    }
    Json was = get(seen, "sha256").empty() ? Json() : Json(short_digest(get(seen, "sha256")));
    work.changes.push_back(change(item, "content", was, short_digest(*digest)));
    std::string stage = "~/.radl/stage/" + *digest;
    work.staged.push_back({source, "", stage});
    Work access;
    plan_access(item, seen, mode, "\"$t\"", access);
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    work.script = make_parent(path) + fmt::format("t={}.radl-$$\n", path) + take_staged(stage) +
                  replace_file(access.script, path);
    return work;
  }

  struct RemoteTree {
    std::map<std::string, std::string> digests, modes, links;
  };

  static RemoteTree parse_tree(const std::string& encoded) {
    RemoteTree tree;
    auto text = base64_decode(encoded);
    std::istringstream lines(text ? *text : "");
    for (std::string line; std::getline(lines, line);) {
      auto name = [](const std::string& path) { return path.starts_with("./") ? path.substr(2) : path; };
      size_t blank = line.find(' ', 2);
      if (line.starts_with("m ") && blank != std::string::npos) {
        tree.modes[name(line.substr(blank + 1))] =
            fmt::format("{:04o}", std::strtoul(line.substr(2, blank - 2).c_str(), nullptr, 8));
      } else if (line.starts_with("l ") && blank != std::string::npos) {
        tree.links[name(line.substr(blank + 1))] = line.substr(2, blank - 2);
      } else if (line.size() > 66) {
        tree.digests[name(line.substr(66))] = line.substr(0, 64);
      }
    }
    return tree;
  }

  static Result<Work> plan_tree(const Item& item, const Seen& seen) {
    Work work;
    std::string kind = get(seen, "kind"), path = shell_path(item.resource->name),
                source = item.text("source");
    if (kind != "absent" && kind != "directory")
      return invalid(fmt::format("{}: there is a {} of this name on the node", item.label(), kind));
    auto entries = local_manifest(source);
    if (!entries) return std::move(entries).status().at(item.label());
    RemoteTree there = parse_tree(get(seen, "tree"));
    std::string mode = item.text("mode"), list;
    for (const auto& entry : *entries) {
      bool link = entry.mode == "link";
      auto& known = link ? there.links : there.digests;
      auto found = known.find(entry.path);
      bool same = found != known.end() && found->second == entry.sha256;
      std::string wanted_mode =
          mode.empty() ? entry.mode : fmt::format("{:04o}", std::strtoul(mode.c_str(), nullptr, 8));
      if (!same) {
        work.changes.push_back(change(item, entry.path,
                                      found == known.end() ? Json() : Json(short_digest(found->second)),
                                      short_digest(entry.sha256)));
        list += entry.path + '\0';
      } else if (!link && there.modes[entry.path] != wanted_mode) {
        work.changes.push_back(change(item, entry.path + " mode", there.modes[entry.path], wanted_mode));
      }
      if (!link && (!same || there.modes[entry.path] != wanted_mode)) {
        work.script += fmt::format("chmod {} {}/{}\n", wanted_mode, path, shell_quote(entry.path));
      }
    }
    if (kind == "absent" && work.changes.empty())
      work.changes.push_back(change(item, "state", "absent", "present"));
    if (work.changes.empty()) return work;
    std::string unpack = fmt::format("( umask 022; mkdir -p {} )\n", path);
    if (!list.empty()) {
      // Many small files travel as one archive; the name says what is in it.
      std::string stage = "~/.radl/stage/" + sha256_hex(manifest_text(*entries) + list) + ".tar";
      work.staged.push_back({source, list, stage});
      unpack += fmt::format("tar -xpf {0} --no-same-owner -C {1}\nrm -f {0}\n", shell_path(stage), path);
    }
    work.script = unpack + work.script;
    for (const char* whose : {"owner", "group"}) {
      if (std::string wanted = item.text(whose); !wanted.empty()) {
        work.script += fmt::format("{} -R {} {}\n", std::string_view(whose) == "owner" ? "chown" : "chgrp",
                                   shell_quote(wanted), path);
      }
    }
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_file_kind() { return std::make_unique<FileKind>(); }
std::unique_ptr<Kind> make_directory_kind() { return std::make_unique<DirectoryKind>(); }
std::unique_ptr<Kind> make_download_kind() { return std::make_unique<DownloadKind>(); }
std::unique_ptr<Kind> make_upload_kind() { return std::make_unique<UploadKind>(); }

}  // namespace radl::native
