// The systems of a large RADL 1 file, checked while the file is parsed. What the rest of the document has to
// say (which networks and hosts there are) is asked once it is there.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/check.h"
#include "compiler/syntax/parser.h"

namespace radl::sema {

// Names of what is defined elsewhere. Mostly the same few come again and again.
class NamesUsed {
 public:
  bool network(std::string_view name) { return networks_.add(name); }
  bool host(std::string_view name) { return hosts_.add(name); }
  // What a feature that ends with `.connection` says, whether it is known or not.
  void connection(std::string_view name) { connections_.add(name); }

  bool defined_in(const Document& document) const;
  bool connects(std::string_view name) const { return connections_.has(name); }

 private:
  class Names {
   public:
    bool add(std::string_view name);  // true
    bool has(std::string_view name) const { return all_.contains(name); }
    const std::set<std::string, std::less<>>& all() const { return all_; }

   private:
    std::set<std::string, std::less<>> all_;
    std::string_view last_[4];  // of `all_`: the last that were new
    size_t next_ = 0;
  };
  Names networks_, hosts_, connections_;
};

class PassingSystems final : public SystemTaker {
 public:
  // `options` as they are for the rest of the document.
  explicit PassingSystems(const CheckOptions& options);
  ~PassingSystems() override;

  void begin(size_t parts) override;
  void take(const ast::FeatureBlock& system, size_t part) override;
  void withdraw() override;

  // Whether looking at the document's systems would find just what was found here.
  bool holds(const Document& document) const;
  // Reports it. False, with nothing reported, when some of it was too much to be kept.
  bool report(Diagnostics& diagnostics) const;
  bool sound() const;  // see check_systems
  bool connects(std::string_view network) const;

 private:
  struct Part;
  CheckOptions options_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace radl::sema
