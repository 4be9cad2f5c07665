#include "runtime/clouds/ec2/price_list.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/environment.h"
#include "common/files.h"
#include "common/http/http.h"
#include "common/text.h"
#include "runtime/catalog/document.h"

namespace radl::ec2 {
namespace {

using Attributes = std::map<std::string, std::string>;
using catalog::PriceList;

// Half a gigabyte for a large region.
constexpr uint64_t kLargestList = uint64_t{4} << 30;
constexpr const char* kPricing = "https://pricing.us-east-1.amazonaws.com";

constexpr double kBytesOfGib = 1073741824.0;

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
  type.memory_bytes = number_in(of(a, "memory")) * kBytesOfGib;
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
class Reader : public nlohmann::json_sax<nlohmann::json> {
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

// AWS_ENDPOINT_URL_PRICING, as AWS's own tools read it.
std::string pricing_endpoint(const Environment& environment) {
  std::string url = first_set(environment, {"AWS_ENDPOINT_URL_PRICING", "AWS_ENDPOINT_URL"});
  while (url.ends_with('/')) url.pop_back();
  return url.empty() ? kPricing : url;
}

}  // namespace

Result<PriceList> read_price_list(std::FILE* json, const std::string& name) {
  Reader reader;
  const bool whole = nlohmann::json::sax_parse(json, &reader);
  if (!whole || !reader.fault.empty())
    return invalid(fmt::format("{}: {}", name, reader.fault.empty() ? "no JSON" : reader.fault));
  PriceList list;
  list.cloud = "ec2";
  list.source = "the AWS price list, Linux, shared tenancy";
  list.region = reader.region_of_machines;
  list.as_of = reader.published;
  list.currency = reader.currency;
  if (!catalog::is_date(list.as_of) || list.region.empty())
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

Result<PriceList> fetch_price_list(http::Client& client, const std::string& region) {
  const std::string url =
      pricing_endpoint(client.environment()) + "/offers/v1.0/aws/AmazonEC2/current/" + region + "/index.json";
  std::FILE* place = std::tmpfile();
  if (place == nullptr) return Status(Code::Quota, "no temporary file can be made for the price list");
  http::Request request;
  request.url = url;
  request.largest_sunk = kLargestList;
  request.sink = [place](std::string_view piece) {
    return write_all(::fileno(place), piece, "the temporary file for the price list");
  };
  auto read = [&]() -> Result<PriceList> {
    auto answer = client.send(request, http::Retries());
    if (!answer.ok()) return std::move(answer).status();
    if (!answer->ok()) return http::status_of(*answer, "GET " + http::printable_url(url));
    std::rewind(place);
    return read_price_list(place, http::printable_url(url));
  };
  auto list = read();
  std::fclose(place);
  return list;
}

}  // namespace radl::ec2
