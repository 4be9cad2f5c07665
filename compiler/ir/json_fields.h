// The JSON form of the IR (docs/ir.md). Lists each field once, for the reader (json_read.cc) and the writer
// (json_write.cc).
//
// must: required, always written. always: has a default, still always written. given: omitted if it has its
// default.
#pragma once

#include <concepts>
#include <type_traits>

#include "compiler/ir/ir.h"

namespace radl::ir {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class A>
void fields(A& all, Is<Origin> auto& origin) {
  all.always("path", origin.path);
  all.always("line", origin.line);
  all.always("column", origin.column);
}

template <class A>
void fields(A& all, Is<Source> auto& source) {
  all.must("path", source.path);
  all.must("sha256", source.sha256);
}

template <class A>
void fields(A& all, Is<PortRule> auto& port) {
  all.must("protocol", port.protocol);
  all.must("cidr", port.cidr);
  all.must("remote", port.remote);
  all.must("remote_end", port.remote_end);
  all.must("local", port.local);
  all.must("local_end", port.local_end);
}

template <class A>
void fields(A& all, Is<Network> auto& network) {
  all.must("address", network.address);
  all.must("name", network.name);
  all.always("public", network.is_public);
  all.given("reference", network.reference);
  all.given("ports", network.ports);
  all.object("features", network.features);
  all.given("origin", network.origin);
}

template <class A>
void fields(A& all, Is<Requirement> auto& requirement) {
  all.given("min", requirement.min);
  all.given("max", requirement.max);
  all.given("min_strict", requirement.min_strict);
  all.given("max_strict", requirement.max_strict);
  all.given("equals", requirement.equals);
  all.given("versions", requirement.versions);
  all.given("unit", requirement.unit);
}

template <class A>
void fields(A& all, Is<Soft> auto& soft) {
  all.always("weight", soft.weight);
  all.always("requirements", soft.requirements);
}

template <class A>
void fields(A& all, Is<Interface> auto& interface) {
  all.must("index", interface.index);
  all.must("network", interface.network);
  all.given("host_name", interface.host_name);
  all.always("domain", interface.domain);
  all.given("fixed_ip", interface.fixed_ip);
  all.given("wireguard_ip", interface.wireguard_ip);
}

template <class A>
void fields(A& all, Is<Disk> auto& disk) {
  all.must("index", disk.index);
  all.given("size_bytes", disk.size_bytes);
  all.given("device", disk.device);
  all.given("mount_path", disk.mount_path);
  all.given("fstype", disk.fstype);
  all.given("type", disk.type);
  all.given("image_urls", disk.image_urls);
}

template <class A>
void fields(A& all, Is<Application> auto& application) {
  all.must("name", application.name);
  all.given("version", application.version);
  all.given("path", application.path);
  all.given("preinstalled", application.preinstalled);
}

template <class A>
void fields(A& all, Is<Node> auto& node) {
  all.must("address", node.address);
  all.must("system", node.system);
  all.must("ordinal", node.ordinal);
  all.must("number", node.number);
  all.given("cloud", node.cloud);
  all.given("requirements", node.requirements);
  all.given("softs", node.softs);
  all.given("interfaces", node.interfaces);
  all.given("disks", node.disks);
  all.given("applications", node.applications);
  all.given("user", node.user);
  all.given("secrets", node.secrets);
  all.given("configured", node.configured, true);
  all.given("origin", node.origin);
}

template <class A>
void fields(A& all, Is<Edge> auto& edge) {
  all.must("to", edge.to);
  all.always("reason", edge.reason);
}

template <class A>
void fields(A& all, Is<Resource> auto& resource) {
  all.must("type", resource.type);
  all.must("name", resource.name);
  all.object("properties", resource.properties);
  all.given("origin", resource.origin);
}

template <class A>
void fields(A& all, Is<Step> auto& step) {
  all.must("id", step.id);
  all.must("kind", step.kind);
  all.given("recipe", step.recipe);
  all.given("nodes", step.nodes);
  all.given("group", step.group);
  all.given("after", step.after);
  all.given("resources", step.resources);
  all.given("body", step.body);
  all.given("needs_success", step.needs_success);
  all.object("training", step.training);
  all.object("program", step.program);
  all.given("digest", step.digest);
  all.given("origin", step.origin);
}

template <class A>
void fields(A& all, Is<Output> auto& output) {
  all.must("name", output.name);
  all.must("value", output.value);
  all.given("description", output.description);
  all.given("sensitive", output.sensitive);
  all.given("origin", output.origin);
}

template <class A>
void fields(A& all, Is<AnsibleHost> auto& host) {
  all.must("name", host.name);
  all.must("host", host.host);
  all.must("user", host.user);
  all.given("secrets", host.secrets);
  all.given("origin", host.origin);
}

template <class A>
void fields(A& all, Is<Move> auto& move) {
  all.must("from", move.from);
  all.must("to", move.to);
  all.given("origin", move.origin);
}

// All fields but the version, which is read first.
template <class A>
void fields(A& all, Is<Program> auto& program) {
  all.must("name", program.name);
  all.must("sources", program.sources);
  all.must("source_digest", program.source_digest);
  all.always("inputs", program.inputs);
  all.must("networks", program.networks);
  all.given("ansible_hosts", program.ansible_hosts);
  all.must("nodes", program.nodes);
  all.must("steps", program.steps);
  all.always("outputs", program.outputs);
  all.given("moves", program.moves);
  all.always("contextualize", program.contextualize);
  all.always("max_time_seconds", program.max_time_seconds);
  all.given("options", program.options);
}

}  // namespace radl::ir
