// file, directory.
#include <fmt/format.h>

#include "common/digest.h"
#include "common/files.h"
#include "common/shell_quote.h"
#include "common/text_diff.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

constexpr size_t kInScript = 512 * 1024;  // larger content is staged over SFTP

std::string shown_diff(const std::string& before, const std::string& after) {
  if ((before + after).find('\0') == std::string::npos) return diff_hunks(before, after);
  return fmt::format("(binary content differs: {} -> {} bytes)\n", before.size(), after.size());
}

class FileKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }
  bool batches() const override { return true; }

  Result<std::optional<PathLook>> path_look(const Item& item) const override {
    PathLook look{shell_path(item.resource->name), ""};
    if (item.text("state", "present") == "present" && (item.has("content") || item.has("source"))) {
      auto wanted = wanted_digest(item);
      if (!wanted) return wanted.status();
      look.wanted = *wanted;
    }
    return std::optional<PathLook>(std::move(look));
  }
  Result<std::string> look(const Item& item) const override {
    auto look = path_look(item);
    if (!look) return look.status();
    return fmt::format("say_path {0}\nif [ -f {0} ]; then say_content {0} {1}; fi\n", (*look)->path,
                       shell_quote((*look)->wanted));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string path = shell_path(item.resource->name), kind = said(seen, "kind");
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
      write |= *digest != said(seen, "sha256");
    }
    if (!write) {
      plan_access(item, seen, item.text("mode", "0644"), path, work);
      if (work.changes.empty()) work.script.clear();
      return work;
    }
    if (Status s = plan_content(item, seen, path, work); !s.ok()) return s;
    Work access;
    plan_access(item, seen, item.text("mode", "0644"), "\"$t\"", access, kind == "file" && facts.root());
    work.changes.insert(work.changes.end(), access.changes.begin(), access.changes.end());
    work.script += access.script + replace_file(item.resource->name);
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
    auto before = base64_decode(said(seen, "content"));
    bool known = seen.count("content") > 0 || said(seen, "kind") != "file";
    std::string diff = known && before ? shown_diff(*before, after)
                                       : fmt::format("(content differs: {} -> {} bytes)\n",
                                                     said(seen, "size"), after.size());
    std::string digest = sha256_hex(after);
    Json was = said(seen, "sha256").empty() ? Json() : Json(short_digest(said(seen, "sha256")));
    work.changes.push_back(change(item, "content", was, short_digest(digest), diff));
    work.script += make_parent(item.resource->name) + fmt::format("begin_file {}\n", path);
    if (after.size() <= kInScript) {
      work.script += write_bytes(after, "\"$t\"");
    } else {
      std::string stage = "~/.radl/stage/" + digest;
      work.staged.push_back({"", after, stage});
      work.script += fmt::format("take_staged {} {}\n", shell_path(stage), digest);
    }
    return {};
  }
};

class DirectoryKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {item.resource->name}; }
  bool batches() const override { return true; }
  Result<std::optional<PathLook>> path_look(const Item& item) const override {
    return std::optional<PathLook>({shell_path(item.resource->name), "-"});
  }
  Result<std::string> look(const Item& item) const override {
    return fmt::format("say_path {}\n", shell_path(item.resource->name));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string path = shell_path(item.resource->name), kind = said(seen, "kind");
    if (kind == "hidden") return hidden(item, facts);
    bool absent = item.text("state", "present") == "absent";
    if (absent) {
      if (kind == "absent") return work;
      work.changes.push_back(change(item, "state", "present", "absent"));
      work.script = kind == "directory" ? fmt::format("rm -rf {}\n", path) : fmt::format("rm -f {}\n", path);
      return work;
    }
    if (kind != "absent" && kind != "directory")
      return invalid(fmt::format("{}: there is a {} of this name on the node", item.label(), kind));
    if (kind == "absent") {
      work.changes.push_back(change(item, "state", "absent", "present"));
      work.script = fmt::format("mkdir -p {}\n", path);
    }
    const std::string mode = item.text("mode", "0755");
    plan_access(item, seen, mode, path, work);
    // A single program creates it with its mode, unless another owner is requested.
    if (kind == "absent" && !mode.empty() && !item.has("owner") && !item.has("group"))
      work.script = fmt::format("mkdir -p -m {} {}\n", mode, path);
    if (work.changes.empty()) work.script.clear();
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_file_kind() { return std::make_unique<FileKind>(); }
std::unique_ptr<Kind> make_directory_kind() { return std::make_unique<DirectoryKind>(); }

}  // namespace radl::native
