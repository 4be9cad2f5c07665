#include "runtime/serve/im_clouds.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "runtime/auth/auth_file.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr double kGiga = 1e9, kMega = 1e6;

// The accounts of a request were read when it came: a service reads no files for its clients.
AuthFile accounts_of(const ImCall& call) {
  AuthReading reading;
  auto file = parse_auth(call.accounts.empty() ? "[]" : call.accounts, reading);
  return file.ok() ? std::move(*file) : AuthFile();
}

double least(const ir::Node& node, const std::string& feature, double otherwise) {
  const auto found = node.requirements.find(feature);
  return found != node.requirements.end() && found->second.min ? *found->second.min : otherwise;
}

Json compute_of(const ir::Node& node, const ir::Program& program) {
  constexpr double kDefaultMemory = 512e6;
  Json compute = {
      {"cpuCores", int64_t(least(node, "cpu.count", 1))},
      {"memoryInMegabytes", int64_t(std::round(least(node, "memory.size", kDefaultMemory) / kMega))}};
  const double disk = least(node, "disk.0.size", 0) + least(node, "disk.0.free_size", 0);
  if (disk > 0) compute["diskSizeInGigabytes"] = int64_t(std::round(disk / kGiga));
  const bool is_public = std::ranges::any_of(node.interfaces, [&](const ir::Interface& interface) {
    const auto found = std::ranges::find(program.networks, interface.network, &ir::Network::name);
    return found != program.networks.end() && found->is_public;
  });
  if (is_public) compute["publicIP"] = 1;
  if (const double gpus = least(node, "gpu.count", 0); gpus > 0) compute["GPU"] = int64_t(gpus);
  return compute;
}

Json storage_of(const ir::Node& node) {
  Json storage = Json::array();
  for (const ir::Disk& disk : node.disks) {
    if (!disk.size_bytes) continue;
    Json one = {{"sizeInGigabytes", int64_t(std::round(*disk.size_bytes / kGiga))}};
    if (!disk.type.empty()) one["type"] = disk.type;
    storage.push_back(std::move(one));
  }
  return storage;
}

}  // namespace

Answer dry_run(const ImCall& call, const Document& document, const Registry& registry) {
  auto program = registry.compiled(document, call.caller.user);
  if (!program.ok()) return call.failed(program.status());
  const AuthFile accounts = accounts_of(call);
  Json clouds = Json::object();
  for (const ir::Node& node : program->nodes) {
    const AuthLine* line = node.cloud.empty() ? (accounts.lines.empty() ? nullptr : &accounts.lines.front())
                                              : accounts.find(node.cloud);
    const std::string id = line ? line->id : registry.default_cloud();
    if (!line && !node.cloud.empty() && node.cloud != id)
      return call.failed(400, "No auth data for cloud with ID: " + node.cloud);
    Json& cloud = clouds[id];
    if (cloud.is_null()) {
      const auto host =
          line ? line->values.find("host") : std::map<std::string, std::string>::const_iterator();
      cloud = {{"cloudType", line ? line->type : id},
               {"cloudEndpoint", line && host != line->values.end() ? host->second : ""},
               {"compute", Json::array()},
               {"storage", Json::array()}};
    }
    cloud["compute"].push_back(compute_of(node, *program));
    for (Json& one : storage_of(node)) cloud["storage"].push_back(std::move(one));
  }
  return call.answer("application/json", {}, clouds);
}

// Clouds list thousands of images and quotas in forms of their own; radlc asks for neither when it plans.
Answer with_cloud(ImCall& call) {
  const std::string &id = call.path[1], &what = call.path[2];
  call.doing = what == "images" ? "Getting Cloud Images" : "Getting Cloud Quotas";
  if (call.method != "GET") return call.not_allowed("GET, HEAD");
  if (what != "images" && what != "quotas") return call.unprocessable("images and quotas can be asked for");
  const AuthFile accounts = accounts_of(call);
  const bool is_local = id == "local" && !accounts.find(id);
  if (!is_local && !accounts.find(id)) return call.failed(404, "Cloud id " + id + " not found in auth data.");
  if (!is_local)
    return call.failed(400, "this service lists no " + what + " of a cloud; use the cloud's own tools");
  if (what == "images") return call.json({{"images", Json::array()}});
  const auto cores = std::thread::hardware_concurrency();
  return call.json({{"quotas", {{"cores", {{"used", 0}, {"limit", cores}}}}}});
}

}  // namespace radl::serve
