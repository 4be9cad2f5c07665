// upload: a file or a folder of this computer.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "common/digest.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/tree.h"

namespace radl::native {
namespace {

constexpr size_t kNamesInACall = 100;

std::string four_digits(const std::string& mode) {
  return fmt::format("{:04o}", std::strtoul(mode.c_str(), nullptr, 8));
}

TreeAccess access_of(const Item& item) {
  std::string mode = item.text("mode");
  return {true, mode.empty() ? "" : four_digits(mode), item.text("owner"), item.text("group")};
}

// `command NAME...` for all the names, in lines that are not too long.
std::string for_names(const std::string& command, const std::vector<std::string>& names,
                      const std::string& last = "") {
  std::string text;
  for (size_t i = 0; i < names.size();) {
    text += command;
    for (size_t end = std::min(names.size(), i + kNamesInACall); i < end; ++i)
      text += " " + shell_quote("./" + names[i]);
    text += last + "\n";
  }
  return text;
}

// The folders that the files need, those above first.
std::vector<std::string> folders_of(const std::vector<std::string>& files) {
  std::set<std::string> all;
  for (const auto& file : files) {
    for (std::string folder = parent_path(file); folder != "."; folder = parent_path(folder)) {
      if (!all.insert(folder).second) break;
    }
  }
  return {all.begin(), all.end()};
}

class UploadKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }

  Result<std::string> look(const Item& item) const override {
    if (auto digest = local_source(item, "source"); !digest) return digest.status();
    std::string path = shell_path(item.resource->name), source = item.text("source");
    if (!std::filesystem::is_directory(source))
      return fmt::format("say_path {0}\nif [ -f {0} ]; then say_digest {0}; fi\n", path);
    auto entries = local_manifest(source);
    if (!entries) return std::move(entries).status().at(item.label());
    return fmt::format("say_path {}\n", path) + look_tree(*entries, access_of(item), path);
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    if (said(seen, "kind") == "hidden") return hidden(item, facts);
    return std::filesystem::is_directory(item.text("source")) ? plan_tree(item, seen)
                                                              : plan_file(item, seen, facts);
  }

 private:
  static std::string own_mode(const std::string& path) {
    std::error_code error;
    return fmt::format("{:04o}",
                       static_cast<unsigned>(std::filesystem::status(path, error).permissions()) & 07777);
  }

  static Result<Work> plan_file(const Item& item, const Seen& seen, const Facts& facts) {
    Work work;
    std::string path = shell_path(item.resource->name), source = item.text("source");
    std::string kind = said(seen, "kind");
    if (kind == "directory") return invalid(item.label() + ": there is a folder of this name on the node");
    auto digest = local_source(item, "source");
    if (!digest) return digest.status();
    std::string mode = item.text("mode", own_mode(source));
    if (*digest == said(seen, "sha256")) {
      plan_access(item, seen, mode, path, work);
      if (work.changes.empty()) work.script.clear();
      return work;
    }
    Json was = said(seen, "sha256").empty() ? Json() : Json(short_digest(said(seen, "sha256")));
    work.changes.push_back(change(item, "content", was, short_digest(*digest)));
    std::string stage = "~/.radl/stage/" + *digest;
    work.staged.push_back({source, "", stage});
    Work access;
    plan_access(item, seen, mode, "\"$t\"", access, kind == "file" && facts.root());
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    work.script = make_parent(item.resource->name) + fmt::format("begin_file {}\n", path) +
                  fmt::format("take_staged {} {}\n", shell_path(stage), *digest) + access.script +
                  replace_file(item.resource->name);
    return work;
  }

  static Result<Work> plan_tree(const Item& item, const Seen& seen) {
    Work work;
    std::string kind = said(seen, "kind"), source = item.text("source");
    if (kind != "absent" && kind != "directory")
      return invalid(fmt::format("{}: there is a {} of this name on the node", item.label(), kind));
    auto entries = local_manifest(source);
    if (!entries) return std::move(entries).status().at(item.label());
    TreeAccess access = access_of(item);
    auto differing = tree_differences(*entries, access, item, seen);
    if (!differing) return differing.status();
    std::vector<std::string> sent, sent_files;
    std::map<std::string, std::vector<std::string>> new_modes, kept_modes;
    std::vector<std::string> kept;
    for (const auto& one : *differing) {
      const ManifestEntry& entry = *one.entry;
      bool link = entry.mode == "link";
      std::string mode = link ? "" : access.mode.empty() ? entry.mode : access.mode;
      if (one.content) {
        Json was = one.before.empty() ? Json() : Json(short_digest(one.before));
        work.changes.push_back(change(item, entry.path, was, short_digest(entry.sha256)));
        sent.push_back(entry.path);
        if (!link) sent_files.push_back(entry.path), new_modes[mode].push_back(entry.path);
      } else {
        work.changes.push_back(change(item, entry.path + " mode", one.access_before, one.access_expected));
        kept.push_back(entry.path), kept_modes[mode].push_back(entry.path);
      }
    }
    if (kind == "absent" && work.changes.empty())
      work.changes.push_back(change(item, "state", "absent", "present"));
    if (work.changes.empty()) return work;
    std::string path = shell_path(item.resource->name);
    work.script = set_owner(item) + fmt::format("p={}\n", path) + make_parent(item.resource->name) +
                  "make_folder \"$p\"\n";
    if (!sent.empty()) work.script += unpack(item, *entries, sent, new_modes, work);
    work.script += "cd \"$p\"\n" + for_names("own", kept);
    for (const auto& [mode, names] : kept_modes) work.script += for_names("chmod " + mode, names);
    return work;
  }

  // Shell functions that give files and new folders their owner.
  static std::string set_owner(const Item& item) {
    std::string own = "own() {\n:\n";
    for (const char* whose : {"owner", "group"}) {
      if (std::string wanted = item.text(whose); !wanted.empty())
        own += fmt::format("{} -h {} \"$@\"\n", std::string_view(whose) == "owner" ? "chown" : "chgrp",
                           shell_quote(wanted));
    }
    return own + "}\nmake_folder() { if [ ! -d \"$1\" ]; then mkdir \"$1\"; own \"$1\"; fi; }\n";
  }

  // The files arrive as one archive, are completed in a separate folder beside their destinations, and are
  // then moved there.
  static std::string unpack(const Item& item, const std::vector<ManifestEntry>& entries,
                            const std::vector<std::string>& sent,
                            const std::map<std::string, std::vector<std::string>>& modes, Work& work) {
    std::string list;
    for (const auto& name : sent) list += name + '\0';
    std::string stage = "~/.radl/stage/" + sha256_hex(manifest_text(entries) + list) + ".tar";
    work.staged.push_back({item.text("source"), list, stage});
    std::string text = fmt::format(
        "begin_folder \"$p\"\ns={}\ntar -xpf \"$s\" --no-same-owner -C \"$t\"\nrm -f \"$s\"\ncd \"$t\"\n",
        shell_path(stage));
    text += for_names("own", sent);
    for (const auto& [mode, names] : modes) text += for_names("chmod " + mode, names);
    for (const auto& folder : folders_of(sent))
      text += fmt::format("make_folder \"$p\"/{}\n", shell_quote(folder));
    std::map<std::string, std::vector<std::string>> by_folder;
    for (const auto& name : sent) by_folder[parent_path(name)].push_back(name);
    for (const auto& [folder, names] : by_folder)
      text += for_names("mv -f", names, fmt::format(" \"$p\"/{}/", shell_quote(folder)));
    return text;
  }
};

}  // namespace

std::unique_ptr<Kind> make_upload_kind() { return std::make_unique<UploadKind>(); }

}  // namespace radl::native
