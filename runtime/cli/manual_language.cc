// radl(5): prose, and between it the tables of the grammar, the features, the resources and the functions.
#include "common/command_line/manual.h"
#include "compiler/check/features.h"
#include "compiler/eval/evaluate.h"
#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/words.h"
#include "runtime/cli/outline.h"

namespace radl::cli {
namespace {

constexpr char kLanguageHead[] = R"man(.TH RADL 5 "" "radlc" "File Formats"
.SH NAME
radl \- Resource and Application Description Language
.SH DESCRIPTION
A RADL file describes nodes, their number, the networks that connect them, and their configuration.
.BR radlc (1)
reads it.
The file is UTF\-8 text: a sequence of blocks.
A block may span several lines, and several blocks may share a line.
.PP
.nf
network public (outbound = 'yes' and outports = '22/tcp')
system node (
  cpu.count >= 2 and
  memory.size >= 4G and
  net_interface.0.connection = 'public'
)
configure node (
@begin
\-\-\-
\- tasks:
    \- package: name=htop
@end
)
deploy node 3
contextualize (
  system node configure node step 1
)
.fi
.SH WORDS
.TP
.B Comment
From
.B #
to the end of the line, outside of strings and recipes.
.TP
.B Number
Digits, optionally with a decimal point and a unit:
.BR "4" ", " "1.5TB" ", " "512 MiB" .
K, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024. A trailing B and the case are ignored.
Numbers have no sign.
.TP
.B Text
In single quotes. It may span several lines. A quote inside is written
.BR \e' .
.TP
.B List
.BR "['a', 'b']" .
.TP
.B Name
A letter,
.B _
or
.BR . ,
then letters, digits,
.BR _ ", " . " and " \- .
.PP
)man";

constexpr char kLanguageBlocks[] = R"man(.SH BLOCKS
.TP
.BI "description " "NAME " ( features )
The first block, at most once. The feature
.B name
names the infrastructure.
.TP
.BI "network " "NAME " [( features )]
A network. Without parentheses, it refers to an existing one of the infrastructure.
.TP
.BI "system " "NAME " [( features )]
A kind of node: the minimum that it must have.
.TP
.BI "ansible " "NAME " ( features )
An existing node that configures the others:
.BR host ", " credentials.username ", and " credentials.password " or " credentials.private_key .
.TP
.BI "configure " "NAME " [( "recipe" )]
A recipe: an Ansible playbook between
.B @begin
and
.BR @end ,
which must begin its line.
.TP
.BI "deploy " "SYSTEM NUMBER " [ CREDENTIAL ]
Number of nodes of the system. May be repeated.
.TP
.BI "contextualize " [ SECONDS ] " (" items )
Which recipe runs on which system:
.BI "system " S " configure " C " " [ "step \fIN\fB " "| " "with \fITOOL\fB" ]\fR.
Steps run in ascending order; each ends on all nodes before the next starts. Without a
.B contextualize
block, each system gets the recipe of its own name. An empty block configures nothing.
.SH FEATURES
Joined by
.BR and :
.TP
.IB "NAME " "= " VALUE
also with
.BR < ", " <= ", " > ", " >= .
Several bounds on one name make a range.
.TP
.IB "NAME " "contains (" features )
such as
.BR "disk.0.applications contains (name = 'nfs\-common')" .
.TP
.BI "soft " WEIGHT " (" features )
A preference: used if it is available.
)man";

constexpr char kLanguageRadl2[] = R"man(.SH INPUTS IN STRINGS
.BI @input. NAME @
is replaced by the value of NAME, given with
.BR "radlc \-\-input" ,
before the file is read.
.SH RADL 2
A first block
.B radl 2
enables the extensions. They look like RADL: a keyword, a name, features. A feature ends with its line or a comma;
.B and
is only the logical operator.
.PP
.nf
radl 2
input workers (type = integer, default = 2, min = 1)
system worker (cpu.count >= 2, memory.size >= 4G)
configure tools (
  package 'htop'
  file '/etc/motd' (content = '${input.workers} workers', mode = '0644')
)
use 'std/training/parameter_server' as cifar (
  workers = system.worker, model = 'resnet20', dataset = 'cifar10'
)
deploy worker input.workers
output model (value = cifar.model_path, description = 'trained weights')
.fi
.PP
Inputs are typed parameters. Expressions have arithmetic, comparison,
.BR "if c then a else b" ,
functions, and references to inputs, modules and nodes
.RB ( worker[0].ip ", " worker[*].ip );
.B ${...}
inserts one into a string.
.B use
creates an instance of a module: from beside the file
.RB ( './name' ),
from
.IR modules/ ,
or from the standard library
.RB ( 'std/...' ).
Resources in a
.B configure
are typed: the plan shows what they would change, and a second apply changes nothing.
)man";

constexpr char kLanguageTail[] = R"man(.SH EC3
radlc also accepts EC3's templates. Several files on one command line are one document, in which later files add to
earlier ones.
.B radlc doc
.I FILE
shows what a template is for.
.SH FINDINGS
.B radlc check
reports errors and warnings with codes, and
.B radlc explain
.I CODE
explains one. A comment
.B # radl: allow W0307
silences a warning on its line, or on the line below.
.SH SEE ALSO
.BR radlc (1),
.BR radl\-train (1)
)man";

// Plain text for roff: without the backticks of Markdown.
std::string plain_roff(std::string_view markdown) {
  std::string text(markdown);
  std::erase(text, '`');
  return roff(text);
}

std::string man_entry(std::string_view name, std::string_view text) {
  return ".TP\n.B " + plain_roff(name) + "\n" + (text.empty() ? "\\&" : plain_roff(text)) + "\n";
}

template <class Words>
std::string man_words(const Words& words) {
  std::string out;
  for (std::string_view word : words) out += (out.empty() ? "" : ", ") + ("\\fB" + plain_roff(word) + "\\fR");
  return out + ".\n";
}

std::string man_features_of(sema::Scope scope, const std::string& title) {
  std::string out = ".SS Features of " + roff(title) + "\n";
  for (const sema::FeatureSpec& spec : sema::all_features())
    if (spec.scope == scope) out += man_entry(spec.name, spec.documentation);
  return out;
}

std::string reserved_words() {
  std::vector<std::string_view> words;
  for (const GrammarWord& word : radl1_words()) words.push_back(word.text);
  return man_words(words);
}

std::string resources_and_functions() {
  std::string out =
      ".SS Resources\nA configure block of radl 2 contains these resources. Their properties: radlc doc "
      "\\-\\-resources.\n";
  for (const ir::ResourceType& type : ir::resource_types()) out += man_entry(type.name, type.doc);
  out += ".SS Functions\n";
  for (const expr::FunctionInfo& function : expr::functions())
    out += man_entry(std::string(function.name) + "(" + std::string(function.parameters) + ")", function.doc);
  return out;
}

}  // namespace

std::string language_manual() {
  std::string out = kLanguageHead;
  out += "These words are reserved in RADL 1:\n" + reserved_words();
  out += kLanguageBlocks;
  out += "Unknown features are kept, with a warning.\n";
  out += man_features_of(sema::Scope::System, "system") + man_features_of(sema::Scope::Network, "network");
  out += man_features_of(sema::Scope::Radl2System, "system, radl 2 only");
  out += kLanguageRadl2;
  out += ".PP\nThese words begin a block:\n" + man_words(radl2_blocks());
  out += resources_and_functions();
  return out + kLanguageTail;
}

}  // namespace radl::cli
