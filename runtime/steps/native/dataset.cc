// dataset: a data set for training, on the node.
#include <fmt/format.h>

#include <filesystem>

#include "common/digest.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/manifest.h"
#include "runtime/steps/native/resource.h"
#include "runtime/steps/place.h"

namespace radl::native {
namespace {

DatasetSource source_of(const Item& item) {
  return {item.resource->name, item.text("source", "auto"), item.text("mirror")};
}

std::string folder_of(const Item& item) { return item.text("directory", "data/" + item.resource->name); }

class DatasetKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {folder_of(item)}; }

  // The folder is right when every file of this machine's copy is there with the same digest.
  Result<std::string> look(const Item& item) const override {
    return fmt::format(
        "if [ -d {0} ]; then say kind directory; say tree \"$(cd {0} && find -L . -type f -exec sha256sum "
        "{{}} + | sort -k 2 | base64 | tr -d '\\n')\"; "
        "else say kind absent; fi\n",
        shell_path(folder_of(item)));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string cache = dataset_cache(source_of(item));
    std::error_code error;
    if (!facts.looking_only) {
      auto fetched = fetch_dataset(source_of(item), *facts.context, facts.context->log);
      if (!fetched) return fetched.status();
    } else if (!std::filesystem::is_directory(cache, error)) {
      if (seen.at("kind") == "absent") work.changes.push_back(change(item, "content", nullptr, "present"));
      return work;
    }
    auto there = seen.find("tree");
    auto decoded = base64_decode(there == seen.end() ? "" : there->second);
    std::string tree = "\n" + (decoded ? *decoded : "");
    auto entries = local_manifest(cache);
    if (!entries) return entries.status();
    size_t missing = 0;
    for (const auto& entry : *entries)
      missing += tree.find(fmt::format("\n{}  ./{}\n", entry.sha256, entry.path)) == std::string::npos;
    if (missing == 0) return work;
    work.changes.push_back(change(item, "content", seen.at("kind") == "absent" ? Json() : Json("other"),
                                  fmt::format("{} files", missing)));
    work.script = ":\n";
    work.before = [cache, folder = folder_of(item), node = facts.node, context = facts.context] {
      return place_folder(*node, *context, cache, folder).status();
    };
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_dataset_kind() { return std::make_unique<DatasetKind>(); }

}  // namespace radl::native
