// dataset: a dataset for training, on the node.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/steps/dataset.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {
namespace {

DatasetSource source_of(const Item& item) {
  return dataset_source(item.resource->name, item.resource->properties);
}

std::string folder_of(const Item& item) { return item.text("directory", "data/" + item.resource->name); }

class DatasetKind : public Kind {
 public:
  std::vector<std::string> writes(const Item& item) const override { return {folder_of(item)}; }

  bool plans_ahead() const override { return false; }
  Result<std::string> look(const Item& item) const override { return look_at_dataset(folder_of(item)); }

  // The folder is up to date if it has every copied file unchanged, and these files equal this computer's
  // data.
  Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const override {
    Work work;
    const DatasetSource source = source_of(item);
    std::function<void(const std::string&)> say = [](const std::string&) {};
    if (!facts.looking_only) say = facts.context->log;
    auto data = local_dataset(source, facts.looking_only, *facts.context, say);
    if (!data) return data.status();
    const std::string kind = said(seen, "kind");
    if (kind == "hidden") return hidden(item, facts);
    const bool absent = kind == "absent";
    if (!*data) {  // nothing to compare with until it is fetched
      if (absent) work.changes.push_back(change(item, "content", nullptr, "present"));
      return work;
    }
    const auto files = std::count((*data)->list.begin(), (*data)->list.end(), '\n');
    const bool strange = source.own() && said(seen, "files") != std::to_string(files);
    if (said(seen, "list") == (*data)->digest && !strange) return work;
    work.changes.push_back(
        change(item, "content", absent ? Json() : Json("other"), fmt::format("{} files", files)));
    work.script = ":\n";
    work.before = [data = std::move(**data), folder = folder_of(item), alone = source.own(),
                   node = facts.node, context = facts.context] {
      return place_dataset(*node, *context, data, folder, alone).status();
    };
    return work;
  }
};

}  // namespace

std::unique_ptr<Kind> make_dataset_kind() { return std::make_unique<DatasetKind>(); }

}  // namespace radl::native
