#include "runtime/catalog/price_list.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "common/text.h"
#include "runtime/catalog/document.h"

namespace radl::catalog {
namespace {

using Json = nlohmann::json;
using Attributes = std::map<std::string, std::string>;

constexpr double kGiB = 1073741824.0;

double number_in(const std::string& text) {
  std::string digits;
  for (char c : text) {
    if (c == ',') continue;  // "1,024 GiB"
    if ((c < '0' || c > '9') && c != '.') break;
    digits += c;
  }
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string of(const Attributes& attributes, const char* name) {
  auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

// Linux with nothing on it, bought by the hour, not reserved beforehand.
bool is_plain_machine(const std::string& family, const Attributes& a) {
  const std::string bought = of(a, "marketoption");
  return family.starts_with("Compute Instance") && of(a, "operatingSystem") == "Linux" &&
         of(a, "tenancy") == "Shared" && of(a, "preInstalledSw") == "NA" &&
         of(a, "capacitystatus") == "Used" && (bought.empty() || bought == "OnDemand") &&
         !of(a, "instanceType").empty();
}

InstanceType shape_of(const Attributes& a) {
  InstanceType type;
  type.cloud = "ec2";
  type.name = of(a, "instanceType");
  type.cpu = number_in(of(a, "vcpu"));
  type.memory_bytes = number_in(of(a, "memory")) * kGiB;
  type.gpu = number_in(of(a, "gpu"));
  type.ecu = number_in(of(a, "ecu"));  // "NA" and "Variable" are 0
  const bool arm = of(a, "physicalProcessor").find("Graviton") != std::string::npos;
  type.architectures = arm ? "arm64" : "x86_64";
  const std::string network = of(a, "networkPerformance");
  const size_t at = network.find_first_of("0123456789");
  if (at != std::string::npos) type.network_peak = number_in(network.substr(at)) * 1e9;
  return type;
}

// Follows the file's nesting; what is not looked for is passed over as it comes.
class Reader : public nlohmann::json_sax<Json> {
 public:
  std::string fault, published, region_of_machines, currency = "USD";
  std::map<std::string, InstanceType> machines;  // by SKU
  std::map<std::string, int64_t> prices;         // by SKU, micros an hour

  bool start_object(size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(std::string& name) override {
    if (!path_.empty()) path_.back() = name;
    return true;
  }
  bool string(std::string& text) override {
    if (depth_is(1) && path_[0] == "publicationDate") published = text.substr(0, 10);
    if (path_.size() >= 3 && path_[0] == "products") product_text(text);
    if (path_.size() >= 3 && path_[0] == "terms" && path_[1] == "OnDemand") term_text(text);
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fault = fmt::format("no JSON at byte {}", position);
    return false;
  }

 private:
  static constexpr size_t kDeepest = 32;

  bool depth_is(size_t depth) const { return path_.size() == depth; }
  bool enter() {
    path_.emplace_back();
    if (path_.size() <= kDeepest) return true;
    fault = "nested too deep";
    return false;
  }
  bool leave() {
    // products / SKU / { ... }: the object of one product has ended.
    if (path_.size() == 3 && path_[0] == "products") end_product();
    path_.pop_back();
    return true;
  }

  // products.SKU.productFamily, products.SKU.attributes.NAME
  void product_text(const std::string& text) {
    if (path_.size() == 3 && path_[2] == "productFamily") family_ = text;
    if (path_.size() == 4 && path_[2] == "attributes") attributes_[path_[3]] = text;
  }
  void end_product() {
    if (is_plain_machine(family_, attributes_)) {
      machines[path_[1]] = shape_of(attributes_);
      if (std::string region = of(attributes_, "regionCode"); !region.empty()) region_of_machines = region;
    }
    family_.clear();
    attributes_.clear();
  }

  // terms.OnDemand.SKU.TERM.priceDimensions.RATE.{unit, pricePerUnit.USD}
  void term_text(const std::string& text) {
    if (path_.size() != 8 || path_[6] != "pricePerUnit") return;
    int64_t micros = 0;
    double units = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), units);
    if (error != std::errc() || !Money::parse(units, micros) || micros <= 0) return;
    currency = path_[7];
    prices[path_[2]] = micros;
  }

  std::vector<std::string> path_;  // the key at each level
  std::string family_;
  Attributes attributes_;
};

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

}  // namespace

Result<PriceList> read_price_list(std::FILE* json, const std::string& name) {
  Reader reader;
  const bool whole = Json::sax_parse(json, &reader);
  if (!whole || !reader.fault.empty())
    return invalid(fmt::format("{}: {}", name, reader.fault.empty() ? "no JSON" : reader.fault));
  PriceList list;
  list.region = reader.region_of_machines;
  list.as_of = reader.published;
  list.currency = reader.currency;
  if (!is_date(list.as_of) || list.region.empty())
    return invalid(name + ": no price list of EC2: it has no publicationDate, or no machine with Linux");
  for (auto& [sku, type] : reader.machines) {
    auto price = reader.prices.find(sku);
    if (price == reader.prices.end()) continue;
    type.region = list.region;
    type.on_demand = Price{{price->second, list.currency}, list.as_of};
    std::string type_name = type.name;
    list.types.insert_or_assign(std::move(type_name), std::move(type));
  }
  if (list.types.empty()) return invalid(name + ": no machine in it has a price by the hour");
  return list;
}

namespace {

// A catalogue as it is put together anew: types by name, prices by their section.
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
  auto names = known.type_names("ec2");
  if (!names.ok()) return std::move(names).status();
  const std::set<std::string> listed(names->begin(), names->end());
  std::string types, prices;
  for (const auto& [name, type] : list.types) {
    if (!listed.count(name)) types += type_line(type);
    prices += price_line(type);
  }
  const std::string own = fmt::format(
      "radl-catalog 2\ncloud ec2\ncurrency {}\nsource the AWS price list, Linux, shared "
      "tenancy\n\n[types]\n{}\n"
      "[on-demand {} {}]\n{}",
      list.currency, types, list.region, list.as_of, prices);
  return merged(file, own, "the price list", list.as_of);
}

}  // namespace radl::catalog
