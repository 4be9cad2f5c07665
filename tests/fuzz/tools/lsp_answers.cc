// Every answer about any text, at a place that the first two bytes choose.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/lsp/answers.h"
#include "tools/lsp/findings.h"

using namespace radl::lsp;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3 || size > 4000) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  size_t offset = (data[0] * 256u + data[1]) % (text.size() + 1);
  Workspace workspace({}, {});
  OpenDocument& open = workspace.open("file:///nowhere/f.radl", 1, text);
  Query query{workspace, open, workspace.analyse(open), {}};
  Json place = position_json(open.document.position(offset, workspace.encoding));
  Json range = {{"start", place}, {"end", {{"line", 1000000}, {"character", 0}}}};
  Json params = {{"position", place},
                 {"range", range},
                 {"positions", {place}},
                 {"context", {{"diagnostics", Json::array()}}},
                 {"newName", "other"}};
  for (auto ask : {completion, hover, signature_help, definition, references, document_highlight,
                   prepare_rename, selection_ranges, inlay_hints, code_actions}) {
    ask(query, params);
  }
  for (auto ask : {document_symbols, folding_ranges, document_links}) ask(query);
  semantic_tokens(query, nullptr);
  semantic_tokens(query, &params["range"]);
  findings_json(*find_all(check_job(workspace, open)));
  for (auto change : {rename, range_formatting}) {
    try {
      change(query, params);
    } catch (const Refused& refused) {
      if (refused.why.find("wrongly") != std::string::npos) std::abort();  // the formatter's own check failed
    }
  }
  return 0;
}
