// The RADL document of an infrastructure that grows by requests: what clients have sent, put together.
//
// In:  RADL text, or RADL-JSON turned into it (rooms: compiler/syntax, compiler/compat).
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

// The errors among the findings, for a client: without warnings, and without `folder` in the names of files.
std::string errors_text(const Diagnostics& findings, const SourceMap& sources, std::string_view folder = {});

class Document {
 public:
  struct Deploy {
    std::string system;
    int count = 0;
    std::string cloud;  // id of the account; empty: the service chooses
  };

  // Invalid: the findings of the parser, a line each.
  static Result<Document> parse(std::string_view radl);
  // RADL-JSON. Invalid: as above.
  static Result<Document> from_json(std::string_view json);

  // TOSCA (tosca.h). Invalid, Unsupported: as there.
  static Result<Document> from_tosca(std::string_view tosca);

  // The definitions of `more` are added: a system or a configure replaces that of the same name, a network or
  // an ansible host of the same name stays as it is, what contextualize says is added. Returns the deploys of
  // `more`, which this document does not get. Invalid: one of the two is of `radl 2`, or `more` deploys a
  // system on another account than this document.
  Result<std::vector<Deploy>> add(const Document& more);
  // What a reconfigure may redefine: configures, and lines of contextualize; the rest of `more` is ignored.
  Status reconfigure(const Document& more);
  // The features of the first system of `more` replace those of the same names of `system`. Invalid: `more`
  // has no system with features, or this document is of `radl 2`.
  Status alter(const std::string& system, const Document& more);
  // A system that is new here gets a deploy of its own.
  void deploy(const Deploy& one);

  const std::vector<Deploy>& deploys() const { return deploys_; }
  bool has_deploy(std::string_view system) const;
  bool is_radl2() const { return radl2_; }
  std::string text() const;
  std::string tosca() const { return tosca_; }  // as it was sent, if it came as TOSCA
  void set_tosca(std::string tosca) { tosca_ = std::move(tosca); }

 private:
  struct Part {
    std::string kind, name, text;  // kind: its keyword
  };
  const Part* find(std::string_view kind, std::string_view name) const;
  void put(const Part& part, bool replace);

  bool radl2_ = false;
  std::string whole_;  // of radl 2: the document as it was sent
  std::vector<Part> parts_;
  std::vector<std::string> options_, items_;  // of contextualize
  std::string max_time_;
  std::vector<Deploy> deploys_;
  std::string tosca_;
};

}  // namespace radl::serve
