// radlc(1): the commands and options from the parser, around them what only prose can say.
#include "common/command_line/manual.h"
#include "runtime/cli/outline.h"

namespace radl::cli {
namespace {

constexpr char kTail[] = R"(.SH EXIT STATUS
.TP
.B 0
Success, or nothing to do.
.TP
.B 1
The file or the options are invalid, or you did not approve the plan.
\fBcheck\fR found errors; \fBfmt \-\-check\fR found a file that would change.
.TP
.B 2
A cloud, a node, a step or a disk failed. The work so far is saved; the same command continues.
With \fBplan \-\-detailed\-exitcode\fR: there are changes. \fBtest\fR: a run failed.
.TP
.B 3
\fBrecommend\fR: no cluster is within the limits.
.TP
.B 130
Ctrl-C or SIGTERM interrupted the command, and work remains.
.SH ENVIRONMENT
.TP
.BI RADL_INPUT_ name
Value of the input \fIname\fR. \fB\-\-input\fR and \fB\-\-input\-file\fR override it.
.TP
.B RADL_STDLIB
Folder of the standard library, instead of the installed one.
.TP
.BR NO_COLOR ", " CLICOLOR_FORCE
Disable colors; enable colors even if standard output is not a terminal.
.SH FILES
.TP
.I .radl/NAME/
State of the infrastructure NAME, beside the source file, with mode 0700. It contains no secrets.
.TP
.I ~/.local/share/radlc/
Times and costs of runs (\fIruns.jsonl\fR), and measurements for forecasts (\fIforesight.db\fR).
.TP
.I modules/
Modules of the project, for \fBuse\fR.
.SH EXAMPLES
.nf
radlc check .
radlc plan cluster.radl
radlc recommend cluster.radl \-\-budget 2/h \-\-write choice.json
radlc test cluster.radl \-\-runs 1000 \-\-kill
radlc apply cluster.radl \-\-input workers=4
radlc output model
radlc destroy cluster.radl
.fi
.SH SEE ALSO
.BR radl (5),
.BR radl\-train (1),
.BR ansible\-playbook (1),
.BR dot (1)
)";

}  // namespace

std::string manual_page(const CommandOutline& program, const std::string& version) {
  std::string out = ".\\\" Made by `radlc completions man`; do not edit.\n.TH RADLC 1 \"\" \"radlc " +
                    roff(version) + "\" \"User Commands\"\n";
  out += ".SH NAME\nradlc \\- from one RADL file to nodes, configured, and a trained model\n";
  out += ".SH SYNOPSIS\n.B radlc\n.I command\n.RI [ option \" ...] [\" file \" ...]\"\n";
  out +=
      ".SH DESCRIPTION\n.B radlc\nreads a description of nodes, networks, recipes and "
      "trainings\n(see\n.BR radl (5)),\n"
      "shows what it would do\n.RB ( plan ),\ndoes it\n.RB ( apply ),\nand removes everything again\n.RB ( "
      "destroy ).\n"
      "radlc records each operation before it starts it. After an interruption, run the same command "
      "again.\n";
  return out + manual_options(program) + manual_commands(program) + kTail;
}

}  // namespace radl::cli
