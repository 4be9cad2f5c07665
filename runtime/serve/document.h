// The RADL document of an infrastructure that grows by requests: the merged documents of its clients.
//
// In:  RADL text, or RADL-JSON converted to it (uses compiler/syntax, compiler/compat).
// Out: one RADL document that compiles to the whole infrastructure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {
class Diagnostics;
class SourceMap;
}  // namespace radl

namespace radl::serve {

// The errors among the findings, for a client: without warnings, and without `folder` in file names.
std::string errors_text(const Diagnostics& findings, const SourceMap& sources, std::string_view folder = {});

class Document {
 public:
  struct Deploy {
    std::string system;
    int count = 0;
    std::string cloud;  // ID of the account; empty: chosen by the service
  };

  // Invalid: the parser's findings, one per line.
  static Result<Document> parse(std::string_view radl);
  // From RADL-JSON. Invalid: as above.
  static Result<Document> from_json(std::string_view json);

  // From TOSCA (tosca.h). Invalid, Unsupported: as there.
  static Result<Document> from_tosca(std::string_view tosca);

  // Adds the definitions of `more`: a system or configure replaces the one with the same name, existing
  // networks and ansible hosts stay, contextualize is merged. Returns the deploys of `more`, which are not
  // added. Invalid: one of the two is `radl 2`, or `more` deploys a system on another account than this
  // document.
  Result<std::vector<Deploy>> add(const Document& more);
  // Adds what a reconfigure may redefine: configures, and lines of contextualize; ignores the rest of `more`.
  Status reconfigure(const Document& more);
  // Replaces features of `system` by those of the first system of `more` with the same names. Invalid: `more`
  // has no system with features, or this document is `radl 2`.
  Status alter(const std::string& system, const Document& more);
  // Adds a deploy for a new system.
  void deploy(const Deploy& one);

  const std::vector<Deploy>& deploys() const { return deploys_; }
  bool has_deploy(std::string_view system) const;
  bool is_radl2() const { return radl2_; }
  std::string text() const;
  std::string tosca() const { return tosca_; }  // as sent, if it came as TOSCA
  void set_tosca(std::string tosca) { tosca_ = std::move(tosca); }

 private:
  struct Part {
    std::string kind, name, text;  // kind: its keyword
  };
  const Part* find(std::string_view kind, std::string_view name) const;
  void put(const Part& part, bool replace);

  bool radl2_ = false;
  std::string whole_;  // for radl 2: the document as sent
  std::vector<Part> parts_;
  std::vector<std::string> options_, items_;  // of contextualize
  std::string max_time_;
  std::vector<Deploy> deploys_;
  std::string tosca_;
};

}  // namespace radl::serve
