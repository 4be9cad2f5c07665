#include "tools/lsp/server.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tools/lsp/answers.h"
#include "tools/lsp/checker.h"
#include "tools/lsp/connection.h"
#include "tools/lsp/uri.h"

namespace radl::lsp {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kForever = std::chrono::hours(24);

class Server {
 public:
  Server(int in_fd, int out_fd, const ServerOptions& options)
      : options_(options),
        connection_(in_fd, out_fd),
        workspace_({"", options.module_path, standard_library_folder(options.environment)},
                   options.environment) {
    workspace_.image_schemes = options.image_schemes;
    add_document_requests();
  }

  int run() {
    while (connection_.writable()) {
      publish_finished();
      Incoming message = connection_.receive(until_checking());
      switch (message.kind) {
        case Incoming::Kind::Idle:
          check_due();
          break;
        case Incoming::Kind::End:
          return 1;  // without `exit`
        case Incoming::Kind::Bad:
          connection_.fail(message.id, message.error_code, message.why);
          break;
        case Incoming::Kind::Response:
          break;
        case Incoming::Kind::Request:
          request(message);
          break;
        case Incoming::Kind::Notification:
          if (message.method == "exit") return phase_ == Phase::ShutDown ? 0 : 1;
          notification(message);
          break;
      }
    }
    return 1;
  }

 private:
  enum class Phase { New, Running, ShutDown };
  using DocumentRequest = Json (*)(const Query&, const Json&);

  // ---- requests
  // ----------------------------------------------------------------------------------------------

  void request(const Incoming& message) {
    if (connection_.cancelled(message.id))
      return connection_.fail(message.id, kRequestCancelled, "cancelled");
    if (message.method == "initialize") return initialize(message);
    if (phase_ == Phase::New) return connection_.fail(message.id, kNotInitialized, "initialize comes first");
    if (phase_ == Phase::ShutDown)
      return connection_.fail(message.id, kInvalidRequest, "the server was shut down");
    if (message.method == "shutdown") {
      phase_ = Phase::ShutDown;
      return connection_.reply(message.id, nullptr);
    }
    try {
      std::optional<Json> result = answer(message);
      if (!result) return connection_.fail(message.id, kMethodNotFound, "no such method: " + message.method);
      if (connection_.cancelled(message.id))
        return connection_.fail(message.id, kRequestCancelled, "cancelled");
      connection_.reply(message.id, std::move(*result));
    } catch (const Json::exception& error) {
      connection_.fail(message.id, kInvalidParams, error.what());
    } catch (const Refused& refused) {
      connection_.fail(message.id, kRequestFailed, refused.why);
    }
  }

  std::optional<Json> answer(const Incoming& message) {
    const Stop stop = Stop::when([this, &message] { return connection_.cancelled(message.id); });
    if (message.method == "workspace/symbol") {
      return workspace_symbols(workspace_, message.params.at("query").get<std::string>(), stop);
    }
    auto known = document_requests_.find(message.method);
    if (known == document_requests_.end()) return std::nullopt;
    OpenDocument* document = workspace_.find(message.params.at("textDocument").at("uri").get<std::string>());
    if (!document) throw Refused{"the document is not open"};
    Query query{workspace_, *document, workspace_.analyse(*document), stop};
    return known->second(query, message.params);
  }

  void add_document_requests() {
    document_requests_ = {
        {"textDocument/completion", completion},
        {"textDocument/hover", hover},
        {"textDocument/signatureHelp", signature_help},
        {"textDocument/definition", definition},
        {"textDocument/declaration", definition},
        {"textDocument/references", references},
        {"textDocument/documentHighlight", document_highlight},
        {"textDocument/prepareRename", prepare_rename},
        {"textDocument/rename", rename},
        {"textDocument/documentSymbol",
         [](const Query& query, const Json&) { return document_symbols(query); }},
        {"textDocument/foldingRange", [](const Query& query, const Json&) { return folding_ranges(query); }},
        {"textDocument/selectionRange", selection_ranges},
        {"textDocument/documentLink", [](const Query& query, const Json&) { return document_links(query); }},
        {"textDocument/formatting", [](const Query& query, const Json&) { return formatting(query); }},
        {"textDocument/rangeFormatting", range_formatting},
        {"textDocument/codeAction", code_actions},
        {"textDocument/inlayHint", inlay_hints},
        {"textDocument/semanticTokens/full",
         [](const Query& query, const Json&) { return semantic_tokens(query, nullptr); }},
        {"textDocument/semanticTokens/range",
         [](const Query& query, const Json& params) { return semantic_tokens(query, &params.at("range")); }},
    };
  }

  void initialize(const Incoming& message) {
    if (phase_ != Phase::New) return connection_.fail(message.id, kInvalidRequest, "initialize comes once");
    try {
      read_client(message.params);
    } catch (const Json::exception& error) {
      return connection_.fail(message.id, kInvalidParams, error.what());
    }
    phase_ = Phase::Running;
    Json info = {{"name", "radlc"}, {"version", options_.version}};
    connection_.reply(message.id, {{"capabilities", capabilities()}, {"serverInfo", std::move(info)}});
  }

  void read_client(const Json& params) {
    if (!params.is_object()) return;
    static const Json::json_pointer kEncodings("/capabilities/general/positionEncodings");
    if (params.contains(kEncodings) && params[kEncodings].is_array()) {
      for (const Json& name : params[kEncodings]) {  // in the client's order of preference
        if (name == "utf-16") break;
        if (name == "utf-8" || name == "utf-32") {
          workspace_.encoding = name == "utf-8" ? Encoding::Utf8 : Encoding::Utf32;
          break;
        }
      }
    }
    std::vector<std::string> roots;
    auto add_root = [&roots](const Json& uri) {
      if (!uri.is_string()) return;
      if (auto path = path_of_uri(uri.get<std::string>())) roots.push_back(*path);
    };
    if (auto folders = params.find("workspaceFolders"); folders != params.end() && folders->is_array()) {
      for (const Json& folder : *folders) add_root(folder.value("uri", Json()));
    }
    if (roots.empty()) add_root(params.value("rootUri", Json()));
    workspace_.set_roots(std::move(roots));
  }

  Json capabilities() const {
    const char* encoding = workspace_.encoding == Encoding::Utf8    ? "utf-8"
                           : workspace_.encoding == Encoding::Utf32 ? "utf-32"
                                                                    : "utf-16";
    Json sync = {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}};
    Json completion = {{"triggerCharacters", {".", "'", "=", " ", "{", "@"}}, {"resolveProvider", false}};
    Json tokens = {{"legend", semantic_legend()}, {"full", true}, {"range", true}};
    return {
        {"positionEncoding", encoding},
        {"textDocumentSync", std::move(sync)},
        {"completionProvider", std::move(completion)},
        {"hoverProvider", true},
        {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
        {"definitionProvider", true},
        {"declarationProvider", true},
        {"referencesProvider", true},
        {"documentHighlightProvider", true},
        {"renameProvider", {{"prepareProvider", true}}},
        {"documentSymbolProvider", true},
        {"workspaceSymbolProvider", true},
        {"foldingRangeProvider", true},
        {"selectionRangeProvider", true},
        {"documentLinkProvider", {{"resolveProvider", false}}},
        {"documentFormattingProvider", true},
        {"documentRangeFormattingProvider", true},
        {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
        {"inlayHintProvider", true},
        {"semanticTokensProvider", std::move(tokens)},
        {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}},
    };
  }

  // ---- notifications
  // -----------------------------------------------------------------------------------------

  void notification(const Incoming& message) {
    if (phase_ != Phase::Running) return;  // as the protocol asks: dropped
    try {
      const Json& params = message.params;
      if (message.method == "textDocument/didOpen") did_open(params);
      if (message.method == "textDocument/didChange") did_change(params);
      if (message.method == "textDocument/didClose") did_close(params);
      if (message.method == "textDocument/didSave" || message.method == "workspace/didChangeWatchedFiles")
        recheck();
      if (message.method == "workspace/didChangeWorkspaceFolders") did_change_folders(params);
    } catch (const Json::exception& error) {
      log(2, message.method + ": " + error.what());
    }
  }

  void did_open(const Json& params) {
    const Json& item = params.at("textDocument");
    OpenDocument& open = workspace_.open(item.at("uri").get<std::string>(), item.value("version", 0),
                                         item.at("text").get<std::string>());
    stale_readers(open.document.path());
  }

  void did_change(const Json& params) {
    const Json& item = params.at("textDocument");
    OpenDocument* open = workspace_.find(item.at("uri").get<std::string>());
    if (!open) return;
    for (const Json& change : params.at("contentChanges")) {
      std::optional<Range> range;
      if (change.contains("range")) range = range_from(change["range"]);
      open->document.change(range, change.at("text").get_ref<const std::string&>(), workspace_.encoding);
    }
    if (item.contains("version") && item["version"].is_number_integer())
      open->document.set_version(item["version"]);
    open->current = nullptr;
    stale(*open);
    stale_readers(open->document.path());
    last_change_ = Clock::now();
  }

  void did_close(const Json& params) {
    std::string uri = params.at("textDocument").at("uri").get<std::string>();
    OpenDocument* open = workspace_.find(uri);
    if (!open) return;
    stale_readers(open->document.path());  // from now on they read what is on the disk
    workspace_.close(uri);
    connection_.notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  }

  // Something on the disk changed: what other files say about an open one may be different now.
  void recheck() {
    for (auto& [uri, open] : workspace_.documents()) stale(open);
  }

  void did_change_folders(const Json& params) {
    std::vector<std::string> roots = workspace_.roots();
    for (const Json& folder : params.at("event").at("removed")) {
      auto path = path_of_uri(folder.at("uri").get<std::string>());
      if (path) std::erase(roots, *path);
    }
    for (const Json& folder : params.at("event").at("added")) {
      auto path = path_of_uri(folder.at("uri").get<std::string>());
      if (path) roots.push_back(*path);
    }
    workspace_.set_roots(std::move(roots));
  }

  // ---- diagnostics
  // -------------------------------------------------------------------------------------------

  static void stale(OpenDocument& open) {
    open.findings = nullptr;
    open.unchecked = true;
  }

  // What documents that read this file as a module say may be different now. Where a check is under way, what
  // it reads is not known.
  void stale_readers(const std::string& path) {
    for (auto& [uri, other] : workspace_.documents()) {
      if (!other.findings || other.findings->read(path)) stale(other);
    }
  }

  // How long nothing may arrive before a check is due. Changes push it off, other messages do not.
  std::chrono::milliseconds until_checking() {
    bool due = false;
    for (auto& [uri, open] : workspace_.documents()) due = due || open.unchecked;
    if (!due) return kForever;
    auto left = last_change_ + options_.diagnostics_delay - Clock::now();
    return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left));
  }

  void check_due() {
    if (until_checking() > std::chrono::milliseconds(0)) return;  // something else ended the wait
    for (auto& [uri, open] : workspace_.documents()) {
      if (open.unchecked) checker_.submit(check_job(workspace_, open));
      open.unchecked = false;
    }
  }

  void publish_finished() {
    for (CheckResult& result : checker_.take()) {
      const std::string& uri = result.analysis->uri;
      OpenDocument* open = workspace_.find(uri);
      if (!open || open->current != result.analysis) continue;  // closed or changed meanwhile
      if (!result.findings) {
        log(1, uri + " could not be checked: " + result.broke_off);
        continue;
      }
      if (!open->unchecked) open->findings = result.findings;  // else what it read changed meanwhile
      connection_.notify(
          "textDocument/publishDiagnostics",
          {{"uri", uri}, {"version", open->document.version()}, {"diagnostics", *result.diagnostics}});
    }
  }

  // A notification has no answer, and a check no request: the log is the place to say what went wrong.
  void log(int type, const std::string& text) {
    connection_.notify("window/logMessage", {{"type", type}, {"message", text}});
  }

  const ServerOptions& options_;
  Connection connection_;
  Workspace workspace_;
  Checker checker_{[this] { connection_.interrupt(); }};  // ends before the connection does
  std::map<std::string, DocumentRequest> document_requests_;
  Phase phase_ = Phase::New;
  Clock::time_point last_change_{};
};

}  // namespace

int serve(int in_fd, int out_fd, const ServerOptions& options) {
  return Server(in_fd, out_fd, options).run();
}

}  // namespace radl::lsp
