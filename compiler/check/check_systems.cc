#include <algorithm>
#include <map>
#include <string>

#include "compiler/check/check.h"

namespace radl::sema {
namespace {

constexpr int kMaxSoftDepth = 50;

// The numbered parts of one kind that features name: disk.0, disk.1, ... One object serves all systems.
struct Numbered {
  struct Use {
    int64_t number;
    const hir::Feature* first;
  };
  std::vector<Use> uses;
  std::vector<int64_t> connected;

  void clear() {
    uses.clear();
    connected.clear();
  }
  // In order, each number once: at its first feature. Mostly they stand so already.
  void sort() {
    auto less = [](const Use& a, const Use& b) { return a.number < b.number; };
    if (!std::is_sorted(uses.begin(), uses.end(), less)) std::stable_sort(uses.begin(), uses.end(), less);
    auto same = [](const Use& a, const Use& b) { return a.number == b.number; };
    uses.erase(std::unique(uses.begin(), uses.end(), same), uses.end());
    std::sort(connected.begin(), connected.end());
  }
};

class SystemCheck {
 public:
  SystemCheck(const Document& document, Diagnostics& diagnostics, const CheckOptions& options)
      : document_(document), diagnostics_(diagnostics), options_(options) {}

  void run(const FeatureSet& features, Span whole, int depth = 0) {
    disks_.clear();
    interfaces_.clear();
    features_ = &features;
    for (const Merged& item : features.items) feature(item);
    check_indices("disk", disks_, whole);
    check_indices("net_interface", interfaces_, whole);
    check_connections();
    for (const Soft& soft : features.softs)
      if (depth < kMaxSoftDepth) run(soft.features, soft.from->span, depth + 1);
  }

 private:
  void feature(const Merged& item) {
    const IndexedName name = split_index(item.name());
    if (!name.kind.empty() && !name.valid) {
      const bool of_map = item.first->unwritten != 0;  // `disk = { size = 100G }`
      Span at = item.first->name_span;
      if (!of_map) at.begin += static_cast<uint32_t>(name.kind.size()) + 1;
      const std::string kind(name.kind), first = "0." + std::string(item.name().substr(kind.size() + 1));
      Diagnostic& d = diagnostics_.report(
          DiagCode::IndexExpected, at, "a number was expected after `" + kind + ".`, as in `" + kind + ".0`");
      if (of_map)
        d.with_help(kind == "disk"
                        ? "data disks are a list: `disks = [{ size = 100G }]`; the first is `disk.0.size`"
                        : "networks are a list: `networks = [lan]`");
      // `disk.size`: whoever names no disk means the first, unless the system says that of it as well.
      else if (find_feature(Scope::System, kind + "." + first) != nullptr && !is_said(kind + "." + first))
        d.fix("write `" + kind + "." + first + "`", at, first);
      return;
    }
    const FeatureSpec* spec = find_feature(Scope::System, item.name(), name);
    warn_feature(Scope::System, spec, item, diagnostics_, options_);
    check_secrecy(Scope::System, spec, item, diagnostics_);
    if (!spec) return;
    if (is_checked(*spec, options_)) check_feature(*spec, item, document_, diagnostics_, options_);
    if (!spec->checked) return;
    // A new password does not make a disk for the reference.
    if (name.kind.empty() || name.rest == "os.credentials.new.password") return;
    Numbered& kind = name.kind == "disk" ? disks_ : interfaces_;
    kind.uses.push_back({name.number, item.first});
    if (name.rest == "connection") kind.connected.push_back(name.number);
  }

  bool is_said(std::string_view name) const {
    return std::any_of(features_->items.begin(), features_->items.end(),
                       [&](const Merged& item) { return item.name() == name; });
  }

  void check_indices(std::string_view kind, Numbered& parts, Span whole) {
    parts.sort();
    if (document_.partial) return;  // the other files of the cluster may have the first ones
    int64_t expected = 0;
    for (const Numbered::Use& use : parts.uses) {
      if (use.number == expected) {
        ++expected;
        continue;
      }
      Diagnostic& d = diagnostics_.report(DiagCode::IndexGap, use.first->name_span,
                                          "there is no `" + std::string(kind) + "." +
                                              std::to_string(expected) + "`: numbers go from 0 without gaps");
      d.note(whole, "in this system");
      if (kind == "disk" && expected == 0)
        d.with_help(
            "`disk.0` is the disk that the system starts from: say something of it too, such as "
            "`disk.0.os.name = 'linux'`");
      return;
    }
  }

  void check_connections() {
    const std::vector<int64_t>& connected = interfaces_.connected;
    for (const Numbered::Use& use : interfaces_.uses)
      if (!std::binary_search(connected.begin(), connected.end(), use.number))
        diagnostics_.report(DiagCode::MissingConnection, use.first->name_span,
                            "`net_interface." + std::to_string(use.number) + "` has no `connection`");
  }

  const Document& document_;
  Diagnostics& diagnostics_;
  const CheckOptions& options_;
  Numbered disks_, interfaces_;
  const FeatureSet* features_ = nullptr;  // that run() is at
};

// A disk is mounted only if device, fstype and mount_path are all there.
void warn_disks(const FeatureSet& features, Diagnostics& diagnostics) {
  struct Parts {
    const hir::Feature *device = nullptr, *fstype = nullptr, *mount_path = nullptr;
  };
  std::map<int64_t, Parts> disks;
  for (const Merged& item : features.items) {
    const char last = item.name().empty() ? '\0' : item.name().back();  // most names end otherwise
    if (last != 'e' && last != 'h') continue;
    IndexedName name = split_index(item.name());
    if (name.kind != "disk" || !name.valid) continue;
    if (name.rest == "device") disks[name.number].device = item.first;
    if (name.rest == "fstype") disks[name.number].fstype = item.first;
    if (name.rest == "mount_path") disks[name.number].mount_path = item.first;
  }
  for (const auto& [index, disk] : disks) {
    if (!disk.mount_path || !disk.fstype || disk.device) continue;
    diagnostics.report(DiagCode::DiskNotMounted, disk.mount_path->name_span,
                       "disk " + std::to_string(index) + " will not be mounted: `disk." +
                           std::to_string(index) + ".device` is missing");
  }
}

}  // namespace

void check_systems(const Document& document, Diagnostics& diagnostics, const CheckOptions& options) {
  SystemCheck check(document, diagnostics, options);
  for (const Definition& system : document.systems.list) {
    check.run(system.features, system.block->name.span);
    warn_disks(system.features, diagnostics);
  }
}

}  // namespace radl::sema
