// Instance types and prices, as plans use them: look, and bring newer ones.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "common/files.h"
#include "common/http/http.h"
#include "common/human.h"
#include "common/text.h"
#include "runtime/base/world.h"
#include "runtime/catalog/price_list.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/clouds/fitting.h"
#include "runtime/driver/machinery.h"

namespace radl::cli::catalog_command {
namespace {

struct Options {
  std::string cloud, type, file, gpu_model, gpu_vendor, architecture;
  std::vector<std::string> regions;
  double cpu = 0, memory_gib = 0, gpu = 0, gpu_memory_gib = 0, price = 0;
  size_t most = 0;
  bool spot = false, json = false, all = false, from_price_list = false;
};

// The region that plans use for nodes that name none: AWS_REGION, CLOUDSDK_COMPUTE_REGION,
// AZURE_DEFAULTS_LOCATION and what else each cloud reads. "": none is configured.
std::string configured_region(const Host& host, const std::string& cloud) {
  auto machinery = make_machinery(host, {});
  if (!machinery.ok()) return "";
  ir::Node node;
  node.cloud = cloud;
  auto id = CloudId::parse((*machinery)->clouds().id_for(node));
  return id.ok() ? id->region : "";
}

std::string region_of(const Host& host, const Options& options) {
  if (!options.regions.empty()) return options.regions.front();
  if (std::string region = configured_region(host, options.cloud); !region.empty()) return region;
  const CloudProvider* provider = find_provider(*host.providers, options.cloud);
  return provider ? provider->default_region : "";
}

// The cloud and the region are known.
Status check_place(const Catalog& catalog, const Options& options, const std::vector<std::string>& asked) {
  const std::vector<std::string> clouds = catalog.clouds();
  if (std::find(clouds.begin(), clouds.end(), options.cloud) == clouds.end())
    return invalid("the catalogue has no cloud '" + options.cloud + "'; there is " + join(clouds, ", "));
  auto regions = catalog.regions(options.cloud);
  if (!regions.ok()) return std::move(regions).status();
  for (const std::string& region : asked) {
    if (std::find(regions->begin(), regions->end(), region) != regions->end()) continue;
    const std::string near = nearest(region, *regions);
    return invalid("the catalogue has no region '" + region + "' of " + options.cloud)
        .with_hint(near.empty() ? "it has " + join(*regions, ", ") : "did you mean " + near + "?");
  }
  return {};
}

// The flags as what a file would ask of a node: one way to filter.
ir::Node wanted_by(const Options& options) {
  ir::Node node;
  node.address = "radlc catalog list";
  auto at_least = [&](const char* feature, double value) {
    if (value > 0) node.requirements[feature].min = value;
  };
  auto equal = [&](const char* feature, const std::string& text) {
    if (!text.empty()) node.requirements[feature].equals = text;
  };
  at_least("cpu.count", options.cpu);
  at_least("memory.size", options.memory_gib * 1073741824.0);
  at_least("gpu.count", options.gpu);
  at_least("gpu.memory", options.gpu_memory_gib * 1073741824.0);
  if (options.price > 0) node.requirements["price"].max = options.price;
  equal("gpu.model", options.gpu_model);
  equal("gpu.vendor", options.gpu_vendor);
  equal("cpu.arch", options.architecture);
  equal("instance_type", options.type);
  if (options.spot) equal("spot", "yes");
  return node;
}

Json price_json(const std::optional<Price>& price) {
  if (!price) return Json();
  return {{"per_hour", price->per_hour}, {"as_of", price->as_of}};
}

Json json_of(const InstanceType& type) {
  Json disks = Json::array();
  for (const LocalDisks& disk : type.disks)
    disks.push_back({{"count", disk.count}, {"bytes", disk.bytes}, {"kind", disk.kind}});
  return {{"cloud", type.cloud},
          {"region", type.region},
          {"name", type.name},
          {"cpu", type.cpu},
          {"memory_bytes", type.memory_bytes},
          {"gpu", type.gpu},
          {"gpu_vendor", type.gpu_vendor},
          {"gpu_model", type.gpu_model},
          {"gpu_memory_bytes", type.gpu_memory_bytes},
          {"network_bits_per_second", type.network_sustained},
          {"network_peak_bits_per_second", type.network_peak},
          {"disks", std::move(disks)},
          {"architectures", split(type.architectures, ',')},
          {"ecu", type.ecu},
          {"on_demand", price_json(type.on_demand)},
          {"spot", price_json(type.spot)}};
}

std::string price_of(const std::optional<Price>& price) {
  return price ? price->per_hour.text() : "not known";
}

std::string gpu_text(const InstanceType& type) {
  return type.gpu > 0 ? fmt::format("{} {} {}", plain_number(type.gpu), type.gpu_vendor, type.gpu_model) : "";
}

void print_table(const std::vector<const InstanceType*>& types) {
  size_t wide = 18;
  for (const InstanceType* type : types) wide = std::max(wide, type->name.size());
  const int width = static_cast<int>(wide);
  std::printf("%-*s %5s %11s  %-22s %-8s %14s %14s\n", width, "type", "cpu", "memory", "gpu", "arch",
              "on-demand/h", "spot/h");
  for (const InstanceType* type : types) {
    std::printf("%-*s %5s %11s  %-22s %-8s %14s %14s\n", width, shown(type->name).c_str(),
                plain_number(type->cpu).c_str(), size_text(type->memory_bytes).c_str(),
                shown(gpu_text(*type)).c_str(),
                shown(type->runs("x86_64") ? "x86_64" : type->architectures).c_str(),
                shown(price_of(type->on_demand)).c_str(), shown(price_of(type->spot)).c_str());
  }
}

// "; prices of 2025-06-28 to 2025-11-03".
std::string dates_of(const std::vector<const InstanceType*>& types) {
  std::set<std::string> dates;
  for (const InstanceType* type : types)
    for (Market market : {Market::OnDemand, Market::Spot})
      if (type->price(market)) dates.insert(type->price(market)->as_of);
  if (dates.empty()) return "";
  return "; prices of " + *dates.begin() + (dates.size() > 1 ? " to " + *dates.rbegin() : "");
}

int run_list(const Session& session, const Options& options) {
  const Catalog catalog = current_catalog(session.host);
  const std::string region = region_of(session.host, options);
  std::vector<std::string> asked = options.regions;
  if (asked.empty()) asked = {region};
  if (Status known = check_place(catalog, options, asked); !known.ok()) return report(session, known);
  auto all = catalog.types(options.cloud, region);
  if (!all.ok()) return report(session, all.status());
  const ir::Node node = wanted_by(options);
  auto types = fitting_types({node, *all, options.cloud + " in " + region, "", ""});
  if (!types.ok()) return report(session, types.status());
  const size_t fit = types->size();
  const size_t most = options.most > 0 ? options.most : options.all || options.json ? fit : 20;
  types->resize(std::min(fit, most));
  if (options.json) {
    Json list = Json::array();
    for (const InstanceType* type : *types) list.push_back(json_of(*type));
    std::printf("%s\n", list.dump(2).c_str());
    return kDone;
  }
  print_table(*types);
  std::printf("%zu of %zu in %s, by price%s%s\n", types->size(), fit, region.c_str(),
              dates_of(*types).c_str(), types->size() < fit ? "; --all shows the rest" : "");
  return kDone;
}

void print_type(const InstanceType& type) {
  auto line = [](const char* what, const std::string& text) {
    if (!text.empty()) std::printf("%-14s %s\n", what, shown(text).c_str());
  };
  line("type", type.name + " in " + type.region);
  line("cpu", plain_number(type.cpu) + " (" + type.architectures + ")");
  line("memory", size_text(type.memory_bytes));
  line("gpu", gpu_text(type));
  if (type.gpu > 0 && type.gpu_memory_bytes > 0)
    line("gpu memory", size_text(type.gpu_memory_bytes) + " each");
  if (type.network_peak > 0) {
    line("network",
         (type.network_sustained > 0 ? plain_number(type.network_sustained / 1e9) + " Gbit/s, " : "") +
             "at most " + plain_number(type.network_peak / 1e9) + " Gbit/s");
  }
  for (const LocalDisks& disk : type.disks)
    line("disk", fmt::format("{} x {} GB {}", disk.count, plain_number(disk.bytes / 1e9), disk.kind));
  if (type.ecu > 0) line("performance", plain_number(type.ecu) + " ECU");
  for (Market market : {Market::OnDemand, Market::Spot}) {
    const std::optional<Price>& price = type.price(market);
    line(std::string(market_name(market)).c_str(),
         price ? price->per_hour.text() + "/h (" + price->as_of + ")" : "price not known");
  }
}

int run_show(const Session& session, const Options& options) {
  const Catalog catalog = current_catalog(session.host);
  if (Status known = check_place(catalog, options, options.regions); !known.ok())
    return report(session, known);
  std::vector<std::string> regions = options.regions;
  if (regions.empty()) {
    auto all = catalog.regions(options.cloud);
    if (!all.ok()) return report(session, all.status());
    regions = *all;
  }
  Json list = Json::array();
  bool first = true;
  for (const std::string& region : regions) {
    auto type = catalog.find(options.cloud, region, options.type);
    if (!type.ok()) return report(session, type.status());
    if (!*type) continue;
    if (options.json) {
      list.push_back(json_of(**type));
    } else if (first) {
      print_type(**type);
      if (regions.size() > 1) std::printf("\n%-16s %14s %14s\n", "region", "on-demand/h", "spot/h");
    }
    first = false;
    if (!options.json && regions.size() > 1)
      std::printf("%-16s %14s %14s\n", region.c_str(), price_of((*type)->on_demand).c_str(),
                  price_of((*type)->spot).c_str());
  }
  if (first) {
    auto names = catalog.type_names(options.cloud);
    const std::string near =
        names.ok() ? nearest(options.type, std::vector<std::string>(names->begin(), names->end())) : "";
    return report(session,
                  not_found(options.cloud + " has no instance type '" + options.type + "'" +
                            (options.regions.empty() ? "" : " in " + options.regions.front()))
                      .with_hint(near.empty() || near == options.type ? "" : "did you mean " + near + "?"));
  }
  if (options.json) std::printf("%s\n", list.dump(2).c_str());
  return kDone;
}

// ---- update

Status keep(const std::string& path, const std::string& text) {
  if (path.empty()) return not_found("no home folder for the catalog; set HOME");
  if (Status made = make_directories(std::filesystem::path(path).parent_path().string()); !made.ok())
    return made;
  return write_file_atomic(path, text);
}

Status take_file(const Host& host, const Options& options, const std::string& path) {
  auto text = read_file(options.file);
  if (!text.ok()) return std::move(text).status();
  auto known = built_in_catalog().type_names(options.cloud);
  if (!known.ok()) return std::move(known).status();
  if (Status right = check_catalog(*text, options.file, *known); !right.ok()) return right;
  Catalog of_file;
  if (Status added = of_file.add(*text, options.file); !added.ok()) return added;
  if (of_file.clouds().front() != options.cloud)
    return invalid(options.file + ": this is a catalog of " + of_file.clouds().front());
  std::string before;
  if (auto kept = read_file(path); kept.ok()) before = std::move(*kept);
  auto with =
      catalog::merged(before, *text, options.file, utc_time(host.world->clock.wall_seconds()).substr(0, 10));
  if (!with.ok()) return std::move(with).status().with_hint("remove " + path + " to start over");
  return keep(path, *with);
}

Status take_price_list(const Host& host, const Options& options, const std::string& path) {
  const CloudProvider* provider = find_provider(*host.providers, options.cloud);
  if (provider == nullptr || provider->fetch_prices == nullptr)
    return invalid("radlc reads no price list of the cloud '" + options.cloud + "'");
  if (options.regions.empty())
    return invalid("which regions? Say --region " + provider->default_region + "; it may be repeated");
  std::string text;
  if (auto before = read_file(path); before.ok()) text = std::move(*before);
  const Catalog known = built_in_catalog();
  http::Client client(host.environment());
  for (const std::string& region : options.regions) {
    std::fprintf(stderr, "%s: reading the price list...\n", shown(region).c_str());
    auto list = provider->fetch_prices(client, region);
    if (!list.ok()) return std::move(list).status();
    if (list->region != region) return invalid("the price list of " + region + " is of " + list->region);
    auto with = catalog::with_prices(text, *list, known);
    if (!with.ok()) return std::move(with).status();
    text = std::move(*with);
    std::printf("%s: %zu types, prices of %s\n", region.c_str(), list->types.size(), list->as_of.c_str());
  }
  auto names = known.type_names(options.cloud);
  if (!names.ok()) return std::move(names).status();
  if (Status right = check_catalog(text, path, *names); !right.ok()) return right;
  return keep(path, text);
}

int run_update(const Session& session, const Options& options) {
  if (options.from_price_list == !options.file.empty())
    return report(session, invalid("update takes either a FILE or --from-price-list"));
  const std::string path = session.host.catalog_file(options.cloud);
  Status done = options.from_price_list ? take_price_list(session.host, options, path)
                                        : take_file(session.host, options, path);
  if (!done.ok()) return report(session, done);
  std::printf("Kept in %s; plans use what in it is newer than their own.\n", shown(path).c_str());
  return kDone;
}

void add_place(CLI::App& command, Options& options) {
  command.add_option("--cloud", options.cloud, "the type of cloud")
      ->type_name("CLOUD")
      ->capture_default_str();
  command
      .add_option("--region", options.regions,
                  "its name in the cloud; may be repeated (default of list: the configured region)")
      ->type_name("REGION");
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("catalog", "List or update instance types and prices");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  const auto& providers = *session.host.providers;
  if (auto first =
          std::ranges::find_if(providers, [](const auto* one) { return !one->default_region.empty(); });
      first != providers.end())
    options->cloud = (*first)->type;
  auto chosen = std::make_shared<std::function<int()>>();
  CLI::App* list = command->add_subcommand("list", "List the matching types of a region, by price");
  add_place(*list, *options);
  list->add_option("--cpu", options->cpu, "minimum number of virtual cores");
  list->add_option("--memory", options->memory_gib, "minimum memory in GiB");
  list->add_option("--gpu", options->gpu, "minimum number of GPUs");
  list->add_option("--gpu-memory", options->gpu_memory_gib, "minimum memory of each GPU in GiB");
  list->add_option("--gpu-model", options->gpu_model, "part of the GPU's name, such as V100");
  list->add_option("--gpu-vendor", options->gpu_vendor, "vendor of the GPU, such as NVIDIA");
  list->add_option("--arch", options->architecture, "x86_64 or arm64");
  list->add_option("--type", options->type, "a name, or a pattern such as 'm5.*'");
  list->add_option("--max-price", options->price, "maximum price per hour, in the currency of the catalog");
  list->add_option("--most", options->most, "number of types to list");
  list->add_flag("--spot", options->spot, "sort by spot price");
  list->add_flag("--all", options->all, "list all types, not only the first 20");
  list->add_flag("--json", options->json, "as JSON");
  list->callback([=, &session] { *chosen = [=, &session] { return run_list(session, *options); }; });
  CLI::App* show = command->add_subcommand("show", "Show one type and its price in each region");
  add_place(*show, *options);
  show->add_option("TYPE", options->type, "such as p3.2xlarge")->required();
  show->add_flag("--json", options->json, "as JSON");
  show->callback([=, &session] { *chosen = [=, &session] { return run_show(session, *options); }; });
  CLI::App* update =
      command->add_subcommand("update", "Import newer prices from a file or from the AWS price list");
  add_place(*update, *options);
  update->add_option("FILE", options->file, "a catalog (docs/catalog.md)");
  update->add_flag("--from-price-list", options->from_price_list,
                   "download the price lists of the regions from AWS; needs no credentials");
  update->callback([=, &session] { *chosen = [=, &session] { return run_update(session, *options); }; });
  return [chosen] { return (*chosen)(); };
}

}  // namespace radl::cli::catalog_command
