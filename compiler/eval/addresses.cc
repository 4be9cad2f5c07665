#include "compiler/eval/addresses.h"

#include <deque>
#include <set>

#include "compiler/syntax/parser.h"

namespace radl {
namespace {

class Walk {
 public:
  explicit Walk(const SearchPath& search) : search_(search), vendored_(search.project, false) {}

  UsedAddresses run(const std::vector<std::string>& files) {
    for (const std::string& file : files) follow(file);
    for (; !waiting_.empty(); waiting_.pop_front()) read(waiting_.front());
    return std::move(found_);
  }

 private:
  void follow(const std::string& file) {
    if (seen_.insert(file).second) waiting_.push_back(file);
  }

  void read(const std::string& file) {
    auto source = sources_.load(file);
    if (!source.ok()) {
      found_.wrong.push_back(source.status());
      return;
    }
    Diagnostics ignored;  // a tree is given in any case
    auto tree = parse(**source, ignored);
    blocks(tree->blocks, **source);
  }

  void blocks(const List<ast::Block*>& blocks, const SourceFile& source) {
    for (const ast::Block* block : blocks) {
      if (auto* each = ast::as<ast::EachBlock>(block)) this->blocks(each->blocks, source);
      if (auto* use = ast::as<ast::Use>(block); use && use->module && use->module->parts.empty())
        module(*use->module, source);
    }
  }

  void module(const ast::String& name, const SourceFile& source) {
    if (!vendored::is_address(name.text)) {
      if (auto path = find_module(name.text, source.path(), search_); path.ok()) follow(*path);
      return;
    }
    const std::string where = sources_.where(name.span);
    auto address = vendored_.address(name.text, source.path());
    if (!address.ok()) {
      found_.wrong.push_back(std::move(address).status().at(where));
      return;
    }
    auto path = vendored_.find(*address);
    if (path.ok()) follow(*path);
    const bool missing = path.status().code() == Code::NotFound;
    if (seen_.insert(vendored::address_of(address->package, address->module) + " ").second)
      found_.all.push_back({std::move(*address), where, missing});
  }

  const SearchPath& search_;
  VendoredModules vendored_;
  SourceMap sources_;
  std::deque<std::string> waiting_;
  std::set<std::string> seen_;  // files, and addresses with a space behind them
  UsedAddresses found_;
};

}  // namespace

UsedAddresses used_addresses(const std::vector<std::string>& files, const SearchPath& search) {
  return Walk(search).run(files);
}

}  // namespace radl
