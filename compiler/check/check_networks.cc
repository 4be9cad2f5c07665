// The networks of a document: their features, ports that are open to everybody, addresses that WireGuard
// joins.
#include <algorithm>
#include <optional>
#include <span>

#include "common/text.h"
#include "compiler/check/check.h"
#include "compiler/check/outports.h"
#include "compiler/check/wireguard_range.h"

namespace radl::sema {
namespace {

// The first port of a service that is not meant for everybody, from `first` to `last`.
std::optional<int> service_port(std::string_view protocol, int first, int last) {
  static constexpr int kTcp[] = {22,   23,   445,  1433, 2049, 2375, 2379,  3306,
                                 3389, 5432, 5900, 5985, 6379, 9200, 11211, 27017};
  static constexpr int kUdp[] = {69, 161, 2049, 3389, 11211};
  std::span<const int> ports = protocol == "udp" ? std::span<const int>(kUdp) : std::span<const int>(kTcp);
  auto found = std::lower_bound(ports.begin(), ports.end(), first);
  return found != ports.end() && *found <= last ? std::optional(*found) : std::nullopt;
}

void warn_open(const OutportsItem& item, std::string_view text, Span span, Diagnostics& diagnostics) {
  bool world = item.cidr.empty() || item.cidr.ends_with("/0");
  if (!world || item.protocol == "icmp") return;
  auto port = service_port(item.protocol, item.remote, item.remote_end);
  if (!port) port = service_port(item.protocol, item.local, item.local_end);
  if (!port) return;
  std::string message = "port " + std::to_string(*port) + " is open to every address";
  if (item.remote != item.remote_end)
    message += ", within " + std::to_string(item.remote) + ":" + std::to_string(item.remote_end);
  else if (item.remote != *port)
    message += ", as " + std::to_string(item.remote);
  std::string_view ports = text.substr(item.begin, item.end - item.begin);
  if (!item.cidr.empty()) ports.remove_prefix(item.cidr.size() + 1);
  diagnostics.report(DiagCode::OpenToWorld, span, std::move(message))
      .with_help("name who may connect: '192.0.2.0/24-" + std::string(ports) + "'");
}

void warn_ports(const hir::Value* value, bool is_public, Diagnostics& diagnostics) {
  auto text = value->text();
  if (!text || outports_fault(*text, true)) return;
  for (const OutportsItem& item : outports_items(*text)) {
    Span span = value->span();
    if (span.size() == text->size() + 2) {  // nothing was decoded: offsets hold
      span.end = span.begin + 1 + static_cast<uint32_t>(item.end);
      span.begin += 1 + static_cast<uint32_t>(item.begin);
    }
    if (!item.possible())
      diagnostics.report(DiagCode::ImpossiblePorts, span, "invalid ports: nothing is opened")
          .with_help("ports go from 0 to 65535, and a range from its smaller number to its larger one");
    else if (!item.source())
      diagnostics.report(DiagCode::ImpossiblePorts, span, "invalid addresses: nothing is opened")
          .with_help("four numbers from 0 to 255 and a length from 0 to 32, as in 192.0.2.0/24");
    else if (is_public)
      warn_open(item, *text, span, diagnostics);
    if (item.second_range)
      diagnostics.report(DiagCode::PortRangeIgnored, span,
                         "a range cannot be mapped: the part after `-` is ignored");
  }
}

// Networks that WireGuard joins: the features' types say less than this.
class WireguardCheck {
 public:
  explicit WireguardCheck(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void check(const Definition& network) {
    const FeatureSet& features = network.features;
    const std::string_view wanted = features.text("wireguard"), cidr = features.text("wireguard_cidr");
    const auto range = wireguard_range(cidr.empty() ? kUsualWireguardRange : cidr);
    if (!range)
      return wrong(network, "wireguard_cidr",
                   "`wireguard_cidr` is a range of IPv4 addresses with 8 to 29 bits, as '10.213.0.0/16'");
    const Merged* given = features.find("wireguard_port");
    const hir::Number* number = given == nullptr ? nullptr : given->lower.number();
    const double port = number == nullptr ? kUsualWireguardPort : number->real;
    if (!(port >= 1 && port <= 65535))
      return wrong(network, "wireguard_port", "`wireguard_port` is a port, 1 to 65535");
    if (!equal_ignoring_case(wanted, "yes")) return;
    if (network.reference) return wrong(network, "wireguard", "WireGuard cannot join an existing network");
    refuse_twins({std::string(network.block->name.text), *range, port}, network);
  }

 private:
  struct Joined {
    std::string name;
    WireguardRange range;
    double port;
  };

  // A node may be in both.
  void refuse_twins(const Joined& joined, const Definition& network) {
    for (const Joined& other : joined_) {
      const bool ranges = joined.range.overlaps(other.range);
      if (!ranges && joined.port != other.port) continue;
      const std::string feature = ranges ? "wireguard_cidr" : "wireguard_port";
      return wrong(network, feature,
                   "networks '" + other.name + "' and '" + joined.name +
                       "' are both joined by WireGuard and need a `" + feature + "` of their own");
    }
    joined_.push_back(joined);
  }

  void wrong(const Definition& network, std::string_view feature, const std::string& message) {
    const Merged* merged = network.features.find(feature);
    diagnostics_.report(DiagCode::WrongValue,
                        merged == nullptr ? network.block->name.span : merged->first->value.span(), message);
  }

  Diagnostics& diagnostics_;
  std::vector<Joined> joined_;
};

}  // namespace

void check_networks(const Document& document, Diagnostics& diagnostics, const CheckOptions& options) {
  WireguardCheck wireguard(diagnostics);
  for (const Definition& network : document.networks.list) {
    check_set(Scope::Network, network.features, document, diagnostics, options);
    wireguard.check(network);
    std::string_view outbound = network.features.text("outbound");
    if (equal_ignoring_case(outbound, "yes") && outbound != "yes") {
      Span at = network.features.find("outbound")->value->span();
      diagnostics.report(DiagCode::OutboundCase, at, "only 'yes' in lower case makes the network public")
          .fix("write 'yes'", at, "'yes'");
    }
    if (const Merged* ports = network.features.find("outports")) {
      if (ports->kind == Merged::Kind::Value) warn_ports(ports->value, outbound == "yes", diagnostics);
      for (const hir::Feature* one : ports->set) warn_ports(&one->value, outbound == "yes", diagnostics);
    }
  }
}

}  // namespace radl::sema
