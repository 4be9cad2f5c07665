#include <map>
#include <set>

#include "compiler/sema/check.h"

namespace radl::sema {
namespace {

constexpr int kMaxSoftDepth = 50;

class SystemCheck {
 public:
  SystemCheck(const Document& document, const Definition& system, Diagnostics& diagnostics,
              const CheckOptions& options)
      : document_(document), system_(system), diagnostics_(diagnostics), options_(options) {}

  void run(const FeatureSet& features, Span whole, int depth = 0) {
    std::map<std::string_view, std::map<int64_t, const ast::Feature*>> used;
    std::set<int64_t> connected;
    for (const Merged& item : features.items) {
      IndexedName name = split_index(item.name());
      if (!name.kind.empty() && !name.valid) {
        Span at = item.first->name.span;
        at.begin += static_cast<uint32_t>(name.kind.size()) + 1;
        diagnostics_.report(DiagCode::IndexExpected, at,
                            "a number was expected behind `" + std::string(name.kind) + ".`, as in `" +
                                std::string(name.kind) + ".0`");
        continue;
      }
      const FeatureSpec* spec = find_feature(Scope::System, item.name());
      warn_feature(Scope::System, spec, item, document_, diagnostics_);
      if (!spec || !spec->checked) continue;
      bool right = check_feature(*spec, item, document_, diagnostics_, options_);
      // A new password does not make a disk for the reference.
      if (name.kind.empty() || name.rest == "os.credentials.new.password") continue;
      used[name.kind].emplace(name.number, item.first);
      if (name.rest == "connection") connected.insert(name.number);
      wrong_ |= !right;
    }
    check_indices(used, connected, whole);
    for (const Soft& soft : features.softs)
      if (depth < kMaxSoftDepth) run(*soft.features, soft.from->span, depth + 1);
  }

 private:
  using Used = std::map<std::string_view, std::map<int64_t, const ast::Feature*>>;

  void check_indices(const Used& used, const std::set<int64_t>& connected, Span whole) {
    for (const auto& [kind, indices] : used) {
      int64_t expected = 0;
      for (const auto& [index, feature] : indices) {
        if (index == expected) {
          ++expected;
          continue;
        }
        diagnostics_
            .report(DiagCode::IndexGap, feature->name.span,
                    "there is no `" + std::string(kind) + "." + std::to_string(expected) +
                        "`: numbers go from 0 without gaps")
            .note(whole, "in this system");
        break;
      }
    }
    auto interfaces = used.find("net_interface");
    if (interfaces == used.end()) return;
    for (const auto& [index, feature] : interfaces->second)
      if (!connected.contains(index))
        diagnostics_.report(DiagCode::MissingConnection, feature->name.span,
                            "`net_interface." + std::to_string(index) + "` has no `connection`");
  }

  const Document& document_;
  const Definition& system_;
  Diagnostics& diagnostics_;
  const CheckOptions& options_;
  bool wrong_ = false;
};

// A disk is mounted only if device, fstype and mount_path are all there.
void warn_disks(const Definition& system, Diagnostics& diagnostics) {
  struct Parts {
    const ast::Feature *device = nullptr, *fstype = nullptr, *mount_path = nullptr;
  };
  std::map<int64_t, Parts> disks;
  for (const Merged& item : system.features.items) {
    IndexedName name = split_index(item.name());
    if (name.kind != "disk" || !name.valid) continue;
    if (name.rest == "device") disks[name.number].device = item.first;
    if (name.rest == "fstype") disks[name.number].fstype = item.first;
    if (name.rest == "mount_path") disks[name.number].mount_path = item.first;
  }
  for (const auto& [index, disk] : disks) {
    if (!disk.mount_path || !disk.fstype || disk.device) continue;
    diagnostics.report(DiagCode::DiskNotMounted, disk.mount_path->name.span,
                       "disk " + std::to_string(index) + " will not be mounted: `disk." +
                           std::to_string(index) + ".device` is missing");
  }
}

}  // namespace

void check_systems(const Document& document, Diagnostics& diagnostics, const CheckOptions& options) {
  for (const Definition& system : document.systems.list) {
    SystemCheck(document, system, diagnostics, options).run(system.features, system.sentence->name.span);
    warn_disks(system, diagnostics);
  }
}

}  // namespace radl::sema
