#include "tools/doc/doc.h"

#include <algorithm>
#include <vector>

#include "compiler/syntax/walk.h"
#include "tools/doc/markdown.h"

namespace radl {
namespace {

using namespace ast;

const Feature* find_feature(const Features& list, std::string_view name) {
  for (const Feature* feature : list.items) {
    if (feature->name.text == name && feature->value) return feature;
  }
  return nullptr;
}

// Source text on one line, without comments.
std::string one_line(std::string_view text) {
  std::string out;
  char quote = 0;  // that ends the string at hand
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (quote != 0) {
      out += c;
      if (c == '\\' && at + 1 < text.size()) out += text[++at];
      if (c == quote) quote = 0;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (!out.ends_with(' ')) out += ' ';
    } else {
      out += c;
      if (c == '\'' || c == '"') quote = c;
    }
  }
  return out;
}

// The value as a reader wants it: strings without quotes, everything else as written.
std::string value_text(const Tree& tree, const Features& list, std::string_view name) {
  const Feature* feature = find_feature(list, name);
  if (!feature) return "";
  auto* text = as<String>(feature->value);
  if (text && text->parts.empty()) return std::string(text->text);
  return one_line(tree.source->text(feature->value->span));
}

// As written, for `code`: quotes tell a string from a number.
std::string source_text(const Tree& tree, const Features& list, std::string_view name) {
  const Feature* feature = find_feature(list, name);
  return feature ? one_line(tree.source->text(feature->value->span)) : "";
}

std::string code(std::string_view text) {
  if (text.empty()) return "";
  if (text.find('`') == std::string_view::npos) return "`" + cell(text) + "`";
  return "`` " + cell(text) + " ``";
}

std::string row(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& each : cells) out += " " + each + (each.empty() ? "|" : " |");
  return out + "\n";
}

std::string table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows) {
  std::string out = row(heads) + "|";
  for (size_t i = 0; i < heads.size(); ++i) out += "---|";
  out += "\n";
  for (const auto& cells : rows) out += row(cells);
  return out + "\n";
}

// "1 <= value <= 8", "one of a, b".
std::string limits(const Tree& tree, const Features& body) {
  std::string out;
  auto add = [&out](std::string text) { out += (out.empty() ? "" : ", ") + text; };
  std::string least = source_text(tree, body, "min"), most = source_text(tree, body, "max");
  if (!least.empty()) add("at least " + code(least));
  if (!most.empty()) add("at most " + code(most));
  for (const char* name : {"one_of", "values", "allowed"}) {
    if (std::string text = source_text(tree, body, name); !text.empty()) add("one of " + code(text));
  }
  for (const char* name : {"pattern", "matches"}) {
    if (std::string text = source_text(tree, body, name); !text.empty()) add("matches " + code(text));
  }
  if (std::string text = source_text(tree, body, "condition"); !text.empty()) add("such that " + code(text));
  return out;
}

// The comment lines that end at `line`, without their `#`.
std::string comment_lines(const SourceFile& source, int line) {
  std::vector<std::string> lines;
  for (; line >= 1; --line) {
    std::string_view text = source.line_text(line);
    size_t mark = text.find_first_not_of(" \t");
    if (mark == std::string_view::npos || text[mark] != '#') break;
    text.remove_prefix(mark + 1);
    if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
    if (text.starts_with("radl: allow")) continue;  // for the checker, not for readers
    lines.emplace_back(text);
  }
  std::string out;
  for (auto each = lines.rbegin(); each != lines.rend(); ++each) out += (out.empty() ? "" : "\n") + *each;
  return out;
}

class Page {
 public:
  Page(const Tree& tree, std::string module_name) : tree_(tree), module_name_(std::move(module_name)) {
    each_block(tree.blocks, [this](const Block& block) { all_.push_back(&block); });
  }

  std::string run() {
    head();
    if (tree_.dialect == Dialect::Radl2) usage();
    inputs();
    outputs();
    systems();
    networks();
    recipes();
    modules();
    while (out_.size() > 1 && out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  std::vector<const FeatureBlock*> blocks(Kind kind) const {
    std::vector<const FeatureBlock*> found;
    for (const Block* block : all_) {
      if (block->kind == kind && block->name) found.push_back(as<FeatureBlock>(block));
    }
    return found;
  }

  void head() {
    std::string title = module_name_, text;
    for (const FeatureBlock* feature_block : blocks(Kind::Description)) {
      std::string name = value_text(tree_, feature_block->body, "name");
      if (!name.empty()) title = name;
      for (const char* feature : {"short", "content"}) {
        std::string more = value_text(tree_, feature_block->body, feature);
        if (!more.empty()) text += more + "\n\n";
      }
    }
    out_ += "# " + title + "\n\n" + text;
    // The comment at the head of the file, before its first block.
    std::string comment = head_comment();
    if (!comment.empty()) out_ += comment + "\n\n";
  }
  // The file's first comment, at the very top or below `radl 2`: also where no empty line parts it from the
  // first block. One further down that stands right above that block is the block's.
  std::string head_comment() {
    size_t first = !tree_.blocks.empty() && tree_.blocks[0]->kind == Kind::Version ? 1 : 0;
    uint32_t from = first == 1 ? tree_.blocks[0]->span.end : 0;
    uint32_t to = first < tree_.blocks.size() ? tree_.blocks[first]->span.begin : tree_.source->whole().end;
    if (!tree_.trivia.empty() && tree_.trivia[0].span.begin < from) from = 0;
    int begin = 0, line = 0;
    for (const Trivia& each : tree_.trivia) {
      if (each.kind != TriviaKind::Comment || each.span.begin < from) continue;
      int here = tree_.source->line_of(each.span.begin);
      if (each.span.begin >= to || (line != 0 && here != line + 1)) break;
      if (line == 0) begin = here;
      line = here;
    }
    if (line == 0) return "";
    bool touches = first < tree_.blocks.size() && tree_.source->line_of(to) == line + 1;
    bool at_top = begin == 1 || (from != 0 && begin == tree_.source->line_of(from) + 1);
    if (touches && !at_top) return "";
    head_line_ = line;
    return comment_lines(*tree_.source, line);
  }

  // The comment above a block, unless it is the file's own.
  std::string above(const Block& block) const {
    bool is_head = head_line_ != 0 && tree_.source->line_of(block.span.begin) == head_line_ + 1;
    return is_head ? "" : comment_above(tree_, block.span.begin);
  }

  std::string describe(const Block& block, const Features& body) const {
    std::string text = value_text(tree_, body, "description");
    return text.empty() ? above(block) : text;
  }

  void usage() {
    std::string body;
    for (const FeatureBlock* input : blocks(Kind::Input)) {
      if (find_feature(input->body, "default")) continue;
      body += (body.empty() ? "" : "\n") + ("  " + std::string(input->name.text) + " = ...");
    }
    if (blocks(Kind::Input).empty() && blocks(Kind::Output).empty()) return;
    out_ += "```radl\nuse '" + module_name_ + "' as NAME (" + (body.empty() ? "" : "\n" + body + "\n") +
            ")\n```\n\n";
  }

  void inputs() {
    std::vector<std::vector<std::string>> rows;
    for (const FeatureBlock* input : blocks(Kind::Input)) {
      const Features& body = input->body;
      std::string preset = source_text(tree_, body, "default");
      std::string text = describe(*input, body);
      if (source_text(tree_, body, "sensitive").find("yes") != std::string::npos ||
          source_text(tree_, body, "sensitive").find("true") != std::string::npos) {
        text += text.empty() ? "Sensitive." : " (sensitive)";
        if (!preset.empty() && preset != "none" && preset != "''") preset = "(not shown)";
      }
      rows.push_back({code(input->name.text), cell(value_text(tree_, body, "type")),
                      preset.empty()            ? "required"
                      : preset == "(not shown)" ? preset
                                                : code(preset),
                      limits(tree_, body), cell(text)});
    }
    if (!rows.empty())
      out_ += "## Inputs\n\n" + table({"name", "type", "default", "limits", "meaning"}, rows);
  }

  void outputs() {
    std::vector<std::vector<std::string>> rows;
    for (const FeatureBlock* output : blocks(Kind::Output)) {
      rows.push_back({code(output->name.text), code(source_text(tree_, output->body, "value")),
                      cell(describe(*output, output->body))});
    }
    if (!rows.empty()) out_ += "## Outputs\n\n" + table({"name", "value", "meaning"}, rows);
  }

  std::string deployed(std::string_view system) const {
    std::string out;
    auto add = [&](const Expr* count) {
      if (count != nullptr)
        out += (out.empty() ? "" : " + ") + code(one_line(tree_.source->text(count->span)));
    };
    for (const Block* block : all_) {
      if (block->name.text != system) continue;
      if (auto* deploy = as<Deploy>(block)) add(deploy->count);
      if (block->kind != Kind::System || tree_.dialect != Dialect::Radl2) continue;
      if (auto* count = find_feature(as<FeatureBlock>(block)->body, "count")) add(count->value);
    }
    return out;
  }

  void systems() {
    std::vector<std::vector<std::string>> rows;
    for (const FeatureBlock* system : blocks(Kind::System)) {
      std::string asks;
      for (const Feature* feature : system->body.items) {
        bool reported = feature->name.text == "cpu.count" || feature->name.text == "memory.size" ||
                        feature->name.text == "gpu.count" || feature->name.text == "instance_type";
        if (!reported || feature->form != FeatureKind::Simple) continue;
        asks += (asks.empty() ? "" : ", ") + code(one_line(tree_.source->text(feature->span)));
      }
      rows.push_back({code(system->name.text), deployed(system->name.text), asks, cell(above(*system))});
    }
    if (!rows.empty()) out_ += "## Systems\n\n" + table({"name", "nodes", "asks for", "meaning"}, rows);
  }

  void networks() {
    std::vector<std::vector<std::string>> rows;
    for (const FeatureBlock* network : blocks(Kind::Network)) {
      bool is_public = value_text(tree_, network->body, "outbound") == "yes";
      rows.push_back({code(network->name.text), is_public ? "public" : "private",
                      code(value_text(tree_, network->body, "outports")), cell(above(*network))});
    }
    if (!rows.empty()) out_ += "## Networks\n\n" + table({"name", "kind", "open ports", "meaning"}, rows);
  }

  void recipes() {
    std::vector<std::vector<std::string>> rows;
    for (const Block* block : all_) {
      auto* configure = as<Configure>(block);
      if (!configure) continue;
      std::string kind = configure->recipe              ? tool(configure->name.text)
                         : configure->resources.empty() ? "none"
                                                        : "native";
      rows.push_back({code(configure->name.text), kind, runs(configure->name.text), cell(above(*configure))});
    }
    if (!rows.empty()) out_ += "## Recipes\n\n" + table({"name", "kind", "runs on", "meaning"}, rows);
  }
  // Who runs a recipe between @begin and @end: what the first item that names it says.
  std::string tool(std::string_view recipe) const {
    for (const Block* block : all_) {
      auto* context = as<Contextualize>(block);
      if (!context) continue;
      for (const Item* item : context->items)
        if (item->configure.text == recipe && item->tool) return std::string(item->tool.text);
    }
    return "Ansible";
  }
  // Without a `contextualize` a recipe runs on the system that has its name.
  std::string runs(std::string_view recipe) const {
    std::string out;
    bool contextualized = false;
    for (const Block* block : all_) {
      auto* context = as<Contextualize>(block);
      if (!context) continue;
      contextualized = true;
      for (const Item* item : context->items) {
        if (item->configure.text != recipe) continue;
        out += (out.empty() ? "" : ", ") + code(item->system.text);
        if (item->step) out += " (step " + std::string(item->step->digits) + ")";
      }
    }
    for (const FeatureBlock* system : blocks(Kind::System))
      if (!contextualized && system->name.text == recipe) return code(recipe);
    return out;
  }

  void modules() {
    std::vector<std::vector<std::string>> rows;
    for (const Block* block : all_) {
      auto* use = as<Use>(block);
      if (use && use->module) rows.push_back({code(use->name.text), code(use->module->text)});
    }
    if (!rows.empty()) out_ += "## Modules\n\n" + table({"as", "module"}, rows);
  }

  const Tree& tree_;
  std::vector<const Block*> all_;  // those inside `each` as well
  int head_line_ = 0;              // the last one of the comment at the head of the file
  std::string module_name_, out_;
};

}  // namespace

std::string comment_above(const Tree& tree, uint32_t offset) {
  const SourceFile& source = *tree.source;
  return comment_lines(source, source.line_of(std::min(offset, source.whole().end)) - 1);
}

std::vector<DeclaredInput> declared_inputs(const ast::Tree& tree) {
  std::vector<DeclaredInput> inputs;
  each_block(tree.blocks, [&](const Block& block) {
    if (block.kind != Kind::Input || !block.name) return;
    const Features& body = as<FeatureBlock>(&block)->body;
    inputs.push_back({std::string(block.name.text), value_text(tree, body, "type"),
                      value_text(tree, body, "description"), source_text(tree, body, "one_of")});
  });
  return inputs;
}

std::string document_file(const Tree& tree, const std::string& module_name) {
  return Page(tree, module_name).run();
}

}  // namespace radl
