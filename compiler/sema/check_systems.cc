#include <algorithm>
#include <map>

#include "compiler/diag/in_parts.h"
#include "compiler/sema/check.h"
#include "compiler/sema/features_in_turn.h"
#include "compiler/sema/passing_systems.h"

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
    if (known_.size() < features.items.size()) known_.resize(features.items.size());
    for (uint32_t i = 0; i < features.items.size(); ++i) feature(features.items[i], known_[i]);
    check_indices("disk", disks_, whole);
    check_indices("net_interface", interfaces_, whole);
    check_connections();
    for (const Soft& soft : features.softs)
      if (depth < kMaxSoftDepth) run(*soft.features, soft.from->span, depth + 1);
  }

 private:
  // What a name means. Systems of one file mostly have the same names in the same order: what was found for
  // one holds for the next.
  struct Known {
    std::string_view text;
    IndexedName name;
    const FeatureSpec* spec = nullptr;
    bool connects = false;
  };

  void feature(const Merged& item, Known& known) {
    if (known.text != item.name()) {
      known.text = item.name();
      known.name = split_index(known.text);
      known.spec = find_feature(Scope::System, known.text, known.name);
      known.connects = options_.names != nullptr && known.text.ends_with(".connection");
    }
    if (known.connects)
      if (auto network = item.text()) options_.names->connection(*network);
    const IndexedName& name = known.name;
    if (!name.kind.empty() && !name.valid) {
      Span at = item.first->name_span;
      at.begin += static_cast<uint32_t>(name.kind.size()) + 1;
      diagnostics_.report(DiagCode::IndexExpected, at,
                          "a number was expected behind `" + std::string(name.kind) + ".`, as in `" +
                              std::string(name.kind) + ".0`");
      return;
    }
    const FeatureSpec* spec = known.spec;
    warn_feature(Scope::System, spec, item, diagnostics_);
    check_secrecy(Scope::System, spec, item, diagnostics_);
    if (!spec || !spec->checked) return;
    check_feature(*spec, item, document_, diagnostics_, options_);
    // A new password does not make a disk for the reference.
    if (name.kind.empty() || name.rest == "os.credentials.new.password") return;
    Numbered& kind = name.kind == "disk" ? disks_ : interfaces_;
    kind.uses.push_back({name.number, item.first});
    if (name.rest == "connection") kind.connected.push_back(name.number);
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
  std::vector<Known> known_;
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

bool NamesUsed::Names::add(std::string_view name) {
  for (std::string_view known : last_)
    if (known.data() != nullptr && known == name) return true;
  auto [at, fresh] = all_.emplace(name);
  last_[next_++ % std::size(last_)] = *at;
  return true;
}

bool NamesUsed::defined_in(const Document& document) const {
  auto in = [](const auto& named) { return [&](const std::string& name) { return named.find(name); }; };
  return std::all_of(networks_.all().begin(), networks_.all().end(), in(document.networks)) &&
         std::all_of(hosts_.all().begin(), hosts_.all().end(), in(document.ansibles));
}

struct PassingSystems::Part {
  explicit Part(CheckOptions options) : options(options), check(none, found, this->options), features(found) {
    this->options.names = &names;
  }
  Document none;  // no feature of a system is looked up but by its name
  Diagnostics found;
  NamesUsed names;
  CheckOptions options;
  SystemCheck check;
  FeaturesInTurn features;
  size_t taken = 0;
  bool sound = true;
};

PassingSystems::PassingSystems(const CheckOptions& options) : options_(options) {}
PassingSystems::~PassingSystems() = default;

void PassingSystems::begin(size_t parts) {
  parts_.clear();
  for (size_t i = 0; i < parts; ++i) parts_.push_back(std::make_unique<Part>(options_));
}

void PassingSystems::take(const ast::FeatureBlock& system, size_t part) {
  Part& here = *parts_[part];
  const size_t before = here.found.errors();
  const FeatureSet& merged = here.features.of(system.body);
  here.sound = here.sound && here.found.errors() == before;
  here.check.run(merged, system.name.span);
  warn_disks(merged, here.found);
  ++here.taken;
}

void PassingSystems::withdraw() { parts_.clear(); }

bool PassingSystems::holds(const Document& document) const {
  size_t taken = 0;
  for (const auto& part : parts_) {
    taken += part->taken;
    if (!part->names.defined_in(document)) return false;
  }
  // Of two systems of one name only the first counts.
  return taken != 0 && taken == document.systems.list.size() && document.dialect == ast::Dialect::Radl1 &&
         !document.partial && document.broken.empty();
}

bool PassingSystems::report(Diagnostics& diagnostics) const {
  std::vector<const Diagnostics*> found;
  for (const auto& part : parts_) found.push_back(&part->found);
  return hand_over(found, diagnostics);
}

bool PassingSystems::sound() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->sound; });
}

bool PassingSystems::connects(std::string_view network) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const auto& part) { return part->names.connects(network); });
}

bool check_systems(const Document& document, Diagnostics& diagnostics, const CheckOptions& options) {
  if (options.passed != nullptr && options.passed->holds(document) && options.passed->report(diagnostics))
    return options.passed->sound();
  const std::vector<Definition>& systems = document.systems.list;
  auto range = [&](size_t begin, size_t end, Diagnostics& found) {
    SystemCheck check(document, found, options);
    FeaturesInTurn features(found);
    bool sound = true;
    for (size_t i = begin; i < end; ++i) {
      if (i + 2 < end && systems[i + 1].block->written && systems[i + 2].block->written)
        hir::fetch(*systems[i + 2].block, *systems[i + 1].block);
      const size_t before = found.errors();
      const FeatureSet& merged = features.of(systems[i]);
      sound = sound && found.errors() == before;
      check.run(merged, systems[i].block->name.span);
      warn_disks(merged, found);
    }
    return sound;
  };
  // RADL 1: of each system alone. What `radl 2` says depends on what was found before it.
  Parts parts(systems.size());
  if (parts.size() > 1 && document.dialect == ast::Dialect::Radl1) {
    std::vector<Diagnostics> found(parts.size());
    std::vector<char> sound(parts.size());
    bool done = parts.run(
        [&](size_t begin, size_t end, size_t part) { sound[part] = range(begin, end, found[part]); });
    std::vector<const Diagnostics*> each;
    for (const Diagnostics& part_found : found) each.push_back(&part_found);
    if (done && hand_over(each, diagnostics))
      return std::all_of(sound.begin(), sound.end(), [](char each) { return each != 0; });
  }
  return range(0, systems.size(), diagnostics);
}

}  // namespace radl::sema
