#include "runtime/catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

#include "catalog/built_in.h"
#include "common/files.h"
#include "common/text.h"
#include "runtime/catalog/document.h"

namespace radl {
namespace {

using catalog::Document;
using catalog::Section;

constexpr size_t kManyTypes = 2048;  // more than a region has

using TypesByName = std::map<std::string, InstanceType, std::less<>>;

// A text, and what of it was read so far.
struct File {
  std::string name, cloud, path;  // path: still to be read from there
  std::string held;
  std::string_view text;  // into `held`, or built in
  std::optional<Document> document;
};

Status open_file(File& file) {
  if (file.document) return {};
  if (!file.path.empty()) {
    auto bytes = read_file(file.path);
    if (!bytes.ok()) return std::move(bytes).status();
    file.held = std::move(*bytes);
    file.text = file.held;
  }
  auto document = catalog::read_document(file.text, file.name);
  if (!document.ok()) return std::move(document).status();
  if (!file.cloud.empty() && document->cloud != file.cloud) {
    return invalid(
        fmt::format("{}: it is a catalogue of {}, not of {}", file.name, document->cloud, file.cloud));
  }
  file.document = std::move(*document);
  return {};
}

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using Prices = std::unordered_map<std::string, std::optional<Price>, TextHash, std::equal_to<>>;

// What all files say of a region.
struct Found {
  Prices prices[2];  // by market
};

// The newer price of a type wins; of the same day the one that comes later.
Status take_prices(const Document& document, const Section& section, Found& found) {
  Prices& prices = found.prices[section.market == Market::Spot];
  return read_prices(document, section, [&](std::string&& name, int64_t micros) {
    std::optional<Price>& price = prices[std::move(name)];
    if (micros < 0 || (price && price->as_of > section.as_of)) return;
    price = Price{{micros, document.currency}, std::string(section.as_of)};
  });
}

Result<TypesByName> read_region(const std::vector<const Document*>& documents, const std::string& region) {
  Found found;
  for (Prices& prices : found.prices) prices.reserve(kManyTypes);
  for (const Document* document : documents) {
    for (const Section& section : document->sections) {
      if (section.types || section.region != region) continue;
      if (Status read = take_prices(*document, section, found); !read.ok()) return read;
    }
  }
  TypesByName types;
  const Prices &on_demand = found.prices[0], &spot = found.prices[1];
  auto wanted = [&](std::string_view name) {
    return on_demand.find(name) != on_demand.end() || spot.find(name) != spot.end();
  };
  auto price_of = [](const Prices& prices, const std::string& name) {
    auto price = prices.find(name);
    return price == prices.end() ? std::nullopt : price->second;
  };
  auto take = [&](InstanceType&& type) {
    type.region = region;
    type.on_demand = price_of(on_demand, type.name);
    type.spot = price_of(spot, type.name);
    std::string name = type.name;
    types.insert_or_assign(std::move(name), std::move(type));
  };
  for (const Document* document : documents) {
    for (const Section& section : document->sections) {
      if (!section.types) continue;
      if (Status read = catalog::read_types(*document, section, wanted, take); !read.ok()) return read;
    }
  }
  return types;
}

}  // namespace

std::string_view market_name(Market market) { return market == Market::Spot ? "spot" : "on-demand"; }

bool InstanceType::runs(std::string_view architecture) const {
  for (std::string_view one : split(architectures, ','))
    if (equal_ignoring_case(one, architecture)) return true;
  return false;
}

bool cheaper(const InstanceType& a, const InstanceType& b, Market market) {
  const std::optional<Price>&one = a.price(market), &other = b.price(market);
  if (one.has_value() != other.has_value()) return one.has_value();
  if (one && one->per_hour.micros != other->per_hour.micros)
    return one->per_hour.micros < other->per_hour.micros;
  return a.name < b.name;
}

// Shared by all copies of a catalogue, from all threads.
struct Catalog::Files {
  std::mutex mutex;
  std::vector<std::unique_ptr<File>> files;
  std::map<std::string, TypesByName> regions;  // "ec2/eu-west-1" -> types loaded so far

  Result<std::vector<const Document*>> of(const std::string& cloud) {
    std::vector<const Document*> documents;
    for (const std::unique_ptr<File>& file : files) {
      if (!file->cloud.empty() && file->cloud != cloud) continue;
      if (Status opened = open_file(*file); !opened.ok()) {
        if (opened.code() == Code::NotFound && !file->path.empty()) continue;
        return opened;
      }
      documents.push_back(&*file->document);
    }
    return documents;
  }

  Result<const TypesByName*> region(const std::string& cloud, const std::string& name) {
    std::scoped_lock hold(mutex);
    auto known = regions.find(cloud + "/" + name);
    if (known != regions.end()) return &known->second;
    auto documents = of(cloud);
    if (!documents.ok()) return std::move(documents).status();
    auto types = read_region(*documents, name);
    if (!types.ok()) return std::move(types).status();
    return &regions.emplace(cloud + "/" + name, std::move(*types)).first->second;
  }
};

Catalog::Catalog() : files_(std::make_shared<Files>()) {}

Status Catalog::add(std::string text, std::string name) {
  auto file = std::make_unique<File>();
  file->name = std::move(name);
  file->held = std::move(text);
  file->text = file->held;
  if (Status opened = open_file(*file); !opened.ok()) return opened;
  file->cloud = file->document->cloud;
  std::scoped_lock hold(files_->mutex);
  files_->files.push_back(std::move(file));
  return {};
}

void Catalog::add_file(std::string path, std::string cloud) {
  auto file = std::make_unique<File>();
  file->name = file->path = std::move(path);
  file->cloud = std::move(cloud);
  std::scoped_lock hold(files_->mutex);
  files_->files.push_back(std::move(file));
}

void Catalog::add_built_in(std::string_view text, std::string cloud) {
  auto file = std::make_unique<File>();
  file->name = "built-in catalogue of " + cloud;
  file->text = text;
  file->cloud = std::move(cloud);
  std::scoped_lock hold(files_->mutex);
  files_->files.push_back(std::move(file));
}

Result<std::string> Catalog::as_of(const std::string& cloud) const {
  std::scoped_lock hold(files_->mutex);
  auto documents = files_->of(cloud);
  if (!documents.ok()) return std::move(documents).status();
  std::string_view newest;
  for (const Document* document : *documents)
    for (const Section& section : document->sections) newest = std::max(newest, section.as_of);
  return std::string(newest);
}

std::vector<std::string> Catalog::clouds() const {
  std::scoped_lock hold(files_->mutex);
  std::set<std::string> clouds;
  for (const std::unique_ptr<File>& file : files_->files) clouds.insert(file->cloud);
  return {clouds.begin(), clouds.end()};
}

Result<std::vector<std::string>> Catalog::regions(const std::string& cloud) const {
  std::scoped_lock hold(files_->mutex);
  auto documents = files_->of(cloud);
  if (!documents.ok()) return std::move(documents).status();
  std::set<std::string_view> regions;
  for (const Document* document : *documents)
    for (const Section& section : document->sections)
      if (!section.types) regions.insert(section.region);
  return std::vector<std::string>(regions.begin(), regions.end());
}

Result<std::vector<std::string>> Catalog::sources(const std::string& cloud) const {
  std::scoped_lock hold(files_->mutex);
  auto documents = files_->of(cloud);
  if (!documents.ok()) return std::move(documents).status();
  std::vector<std::string> sources;
  for (const Document* document : *documents)
    for (const std::string& source : document->sources) sources.push_back(document->name + ": " + source);
  return sources;
}

Result<std::set<std::string>> Catalog::type_names(const std::string& cloud) const {
  std::scoped_lock hold(files_->mutex);
  auto documents = files_->of(cloud);
  if (!documents.ok()) return std::move(documents).status();
  std::set<std::string> names;
  for (const Document* document : *documents) {
    for (const Section& section : document->sections) {
      if (!section.types) continue;
      Status read = catalog::read_types(
          *document, section,
          [&](std::string_view name) {
            names.emplace(name);
            return false;
          },
          [](InstanceType&&) {});
      if (!read.ok()) return read;
    }
  }
  return names;
}

Result<std::vector<const InstanceType*>> Catalog::types(const std::string& cloud,
                                                        const std::string& region) const {
  auto types = files_->region(cloud, region);
  if (!types.ok()) return std::move(types).status();
  std::vector<const InstanceType*> all;
  all.reserve((*types)->size());
  for (const auto& [name, type] : **types) all.push_back(&type);
  return all;
}

Result<const InstanceType*> Catalog::find(const std::string& cloud, const std::string& region,
                                          std::string_view name) const {
  auto types = files_->region(cloud, region);
  if (!types.ok()) return std::move(types).status();
  auto found = (*types)->find(name);
  return found == (*types)->end() ? nullptr : &found->second;
}

Result<std::vector<const InstanceType*>> Catalog::candidates(
    const std::string& cloud, const std::string& region, Market market,
    const std::function<bool(const InstanceType&)>& fits) const {
  auto all = types(cloud, region);
  if (!all.ok()) return all;
  std::erase_if(*all, [&](const InstanceType* type) { return !fits(*type); });
  std::sort(all->begin(), all->end(),
            [&](const InstanceType* a, const InstanceType* b) { return cheaper(*a, *b, market); });
  return all;
}

Status check_catalog(std::string_view text, const std::string& name, const std::set<std::string>& known) {
  auto document = catalog::read_document(text, name);
  if (!document.ok()) return std::move(document).status();
  std::set<std::string> types, sections;
  std::string twice, unknown;
  Found found;
  for (const Section& section : document->sections) {
    if (!section.types) continue;
    Status read = catalog::read_types(
        *document, section, [](std::string_view) { return true; },
        [&](InstanceType&& type) {
          if (!types.insert(type.name).second) twice = type.name;
        });
    if (!read.ok()) return read;
  }
  if (!twice.empty()) return invalid(fmt::format("{}: it lists {} twice", name, twice));
  for (const Section& section : document->sections) {
    if (section.types) continue;
    std::string head = fmt::format("{} {} {}", market_name(section.market), section.region, section.as_of);
    if (!sections.insert(head).second)
      return invalid(fmt::format("{}: it has two sections [{}]", name, head));
    if (Status read = take_prices(*document, section, found); !read.ok()) return read;
  }
  for (const auto& prices : found.prices)
    for (const auto& [type, price] : prices)
      if (types.count(type) == 0 && known.count(type) == 0)
        return invalid(fmt::format("{}: {} has a price and is not under [types]", name, type));
  return {};
}

Catalog built_in_catalog() {
  Catalog all;
  for (const auto& [cloud, text] : catalog::kBuiltIn) all.add_built_in(text, cloud);
  return all;
}

}  // namespace radl
