// dataset: a data set for training, on the node.
#include <fmt/format.h>

#include <filesystem>

#include "runtime/net/node_path.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/native/tree.h"
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

  Status prepare(const Item& item, const Facts& facts) const override {
    return fetch_dataset(source_of(item), *facts.context, facts.context->log).status();
  }

  // The folder is right when every file of this machine's copy is there with the same digest. Without a copy
  // here, that it is there is all that can be told.
  Result<std::string> look(const Item& item) const override {
    std::string text = fmt::format("say_path {}\n", shell_path(folder_of(item)));
    std::string cache = dataset_cache(source_of(item));
    std::error_code error;
    if (!std::filesystem::is_directory(cache, error)) return text;
    auto entries = local_manifest(cache, Links::Follow);
    if (!entries) return entries.status();
    return text + look_tree(*entries, {.modes = false}, shell_path(folder_of(item)));
  }

  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    std::string cache = dataset_cache(source_of(item)), kind = said(seen, "kind");
    if (kind == "hidden") return hidden(item, facts);
    std::error_code error;
    if (!std::filesystem::is_directory(cache, error)) {
      if (kind == "absent") work.changes.push_back(change(item, "content", nullptr, "present"));
      return work;
    }
    auto entries = local_manifest(cache, Links::Follow);
    if (!entries) return entries.status();
    auto differing = tree_differences(*entries, {.modes = false}, item, seen);
    if (!differing) return differing.status();
    if (differing->empty()) return work;
    work.changes.push_back(change(item, "content", kind == "absent" ? Json() : Json("other"),
                                  fmt::format("{} files", differing->size())));
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
