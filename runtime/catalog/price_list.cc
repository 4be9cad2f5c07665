#include "runtime/catalog/price_list.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "common/text.h"
#include "runtime/catalog/document.h"

namespace radl::catalog {
namespace {

std::string type_line(const InstanceType& type) {
  return fmt::format("{} {} {} {} - 0 {}/{} - {} {}\n", type.name, type.cpu, type.memory_bytes / 1048576,
                     type.gpu, type.network_sustained / 1e6, type.network_peak / 1e6, type.architectures,
                     type.ecu);
}

std::string price_line(const InstanceType& type) {
  const size_t point = type.name.find('.');
  const std::string price = type.on_demand ? fmt::format("{}", type.on_demand->per_hour.units()) : "-";
  if (point == std::string::npos) return fmt::format("- {} {}\n", type.name, price);
  return fmt::format("{} {} {}\n", type.name.substr(0, point), type.name.substr(point + 1), price);
}

// A catalogue under construction: types by name, prices by their section.
struct Parts {
  std::set<std::string> sources;
  std::map<std::string, std::string> types;  // name -> line
  struct Prices {
    std::string as_of, body;
  };
  std::map<std::pair<std::string, std::string>, Prices> prices;  // {market, region} -> the latest

  void take(const Document& document) {
    sources.insert(document.sources.begin(), document.sources.end());
    for (const Section& section : document.sections) {
      if (section.types) {
        for (std::string_view line : split(section.body, '\n')) {
          line = trim(line);
          if (line.empty() || line.front() == '#') continue;
          types.insert_or_assign(std::string(line.substr(0, line.find(' '))), std::string(line));
        }
        continue;
      }
      Prices& there = prices[{std::string(market_name(section.market)), std::string(section.region)}];
      if (there.as_of <= section.as_of) there = {std::string(section.as_of), std::string(trim(section.body))};
    }
  }

  std::string text(const Document& like) const {
    std::string out = fmt::format("radl-catalog 2\ncloud {}\ncurrency {}\n", like.cloud, like.currency);
    for (const std::string& source : sources) out += "source " + source + "\n";
    out += "\n[types]\n";
    for (const auto& [name, line] : types) out += line + "\n";
    for (const auto& [place, section] : prices)
      out += fmt::format("\n[{} {} {}]\n{}\n", place.first, place.second, section.as_of, section.body);
    return out;
  }
};

}  // namespace

Result<std::string> merged(const std::string& kept, const std::string& newer, const std::string& name,
                           const std::string& today) {
  auto added = read_document(newer, name);
  if (!added.ok()) return std::move(added).status();
  Parts parts;
  if (!kept.empty()) {
    auto before = read_document(kept, "the user's catalogue of " + added->cloud);
    if (!before.ok()) return std::move(before).status();
    if (before->cloud != added->cloud || before->currency != added->currency)
      return invalid(fmt::format("{}: of {} in {}, and the user's catalogue is of {} in {}", name,
                                 added->cloud, added->currency, before->cloud, before->currency));
    parts.take(*before);
  }
  for (const Section& section : added->sections)
    if (section.as_of > today)
      return invalid(fmt::format("{}: prices of {}, a day that is still to come", name, section.as_of));
  parts.take(*added);
  return parts.text(*added);
}

Result<std::string> with_prices(const std::string& file, const PriceList& list, const Catalog& known) {
  auto names = known.type_names(list.cloud);
  if (!names.ok()) return std::move(names).status();
  const std::set<std::string> listed(names->begin(), names->end());
  std::string types, prices;
  for (const auto& [name, type] : list.types) {
    if (!listed.count(name)) types += type_line(type);
    prices += price_line(type);
  }
  const std::string own =
      fmt::format("radl-catalog 2\ncloud {}\ncurrency {}\nsource {}\n\n[types]\n{}\n[on-demand {} {}]\n{}",
                  list.cloud, list.currency, list.source, types, list.region, list.as_of, prices);
  return merged(file, own, "the price list", list.as_of);
}

}  // namespace radl::catalog
