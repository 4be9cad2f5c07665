// The server's answers, one function per request. Each reads LSP params and returns the result as JSON.
// Malformed params throw nlohmann's exception, which the server maps to InvalidParams.
#pragma once

#include <nlohmann/json.hpp>

#include "common/stop.h"
#include "tools/lsp/workspace.h"

namespace radl::lsp {

using Json = nlohmann::json;

struct Query {
  Workspace& workspace;
  OpenDocument& document;
  AnalysisPtr analysis;  // of the current document
  Stop stop;             // set when the client cancels the request

  Json range(Span span) const;
  Json range(const Analysis& in, Span span) const;
  Json location(const Analysis& in, Span span) const;
  uint32_t offset(const Json& position) const;
};

Json position_json(Position position);
Json range_json(Range range);
Position position_from(const Json& json);
Range range_from(const Json& json);

// A failed request with a message for the user (rename to an invalid name, ...).
struct Refused {
  std::string why;
};

Json completion(const Query& query, const Json& params);
Json hover(const Query& query, const Json& params);
Json signature_help(const Query& query, const Json& params);
Json definition(const Query& query, const Json& params);
Json references(const Query& query, const Json& params);
Json document_highlight(const Query& query, const Json& params);
Json prepare_rename(const Query& query, const Json& params);  // throws Refused
Json rename(const Query& query, const Json& params);          // throws Refused
Json document_symbols(const Query& query);
Json folding_ranges(const Query& query);
Json selection_ranges(const Query& query, const Json& params);
Json document_links(const Query& query);
Json formatting(const Query& query);                            // throws Refused
Json range_formatting(const Query& query, const Json& params);  // throws Refused
Json code_actions(const Query& query, const Json& params);
Json semantic_tokens(const Query& query, const Json* range);
Json inlay_hints(const Query& query, const Json& params);
Json workspace_symbols(Workspace& workspace, const std::string& wanted, const Stop& stop);

// Names of semantic token types and modifiers, in the order of their numbers.
Json semantic_legend();

}  // namespace radl::lsp
