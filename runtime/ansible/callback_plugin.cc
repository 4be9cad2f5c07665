#include "runtime/ansible/callback_plugin.h"

namespace radl::recipes {

const char* const kCallbackPlugin = R"py(# Tells radlc what happens, one JSON object a line.
from __future__ import annotations
import json
import time
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: radl
type: stdout
short_description: machine-readable lines for radlc
description: Writes one line of JSON for each result of a task.
"""


def text_of(result, lines=None):
    """What a result has to say; so many lines of each of its parts: the first of a message, the last of an output."""
    parts = []
    for key in ("msg", "module_stdout", "stdout", "module_stderr", "stderr"):
        text = str(result.get(key) or "")
        if lines is not None:
            # Ansible quotes the place below the cause; radlc shows the place itself.
            text = text.partition("\nThe error appears to be in ")[0].strip("\n").splitlines()
            text = "\n".join(text[:lines] if key == "msg" else text[-lines:])
        if text and text not in parts:
            parts.append(text)
    for item in result.get("results") or []:
        if isinstance(item, dict) and (item.get("failed") or item.get("unreachable")):
            parts.append("item %s: %s" % (item.get("item", ""), text_of(item, lines)))
    return "\n".join(parts)


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "radl"

    def __init__(self):
        super().__init__()
        self.begun = {}

    def say(self, **fields):
        self._display.display("@radl " + json.dumps(fields, default=str), log_only=False)

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.begun[task._uuid] = time.time()

    def tell(self, state, result, **more):
        task, data = result._task, result._result
        hidden = data.get("_ansible_no_log") or task.no_log is True
        fields = dict(state=state, host=result._host.get_name(), task=task.get_name().strip(), action=str(task.action),
                      path=task.get_path() or "", seconds=round(time.time() - self.begun.get(task._uuid, time.time()), 3),
                      text="(hidden by no_log)" if hidden else text_of(data), **more)
        if not hidden and state in ("failed", "unreachable"):
            fields["short"] = text_of(data, 20)
        if not hidden and data.get("rc") is not None:
            fields["rc"] = data.get("rc")
        if not hidden and data.get("cmd"):
            fields["command"] = data["cmd"] if isinstance(data["cmd"], str) else " ".join(str(word) for word in data["cmd"])
        diffs = data.get("diff")
        if not hidden and diffs:
            if isinstance(diffs, dict):
                diffs = [diffs]
            try:
                fields["diff"] = self._get_diff([one for one in diffs if one])
            except Exception:
                pass
        self.say(**fields)

    def v2_runner_on_ok(self, result):
        self.tell("changed" if result._result.get("changed") else "ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.tell("ignored" if ignore_errors else "failed", result)

    def v2_runner_on_skipped(self, result):
        self.tell("skipped", result)

    def v2_runner_on_unreachable(self, result):
        self.tell("unreachable", result)

    def v2_playbook_on_no_hosts_matched(self):
        self.say(state="no_hosts", host="", task="", text="no host matches")
)py";

const char* const kShellPlugin =
    R"py(# The home of a node that is a folder of this machine is not the one in the password file.
from __future__ import annotations
from ansible.plugins.shell.sh import ShellModule as Base

DOCUMENTATION = """
name: radl_sh
short_description: POSIX shell whose login has a home of its own
description: Expands the login user's home by $HOME.
extends_documentation_fragment:
  - shell_common
"""


class ShellModule(Base):
    COMPATIBLE_SHELLS = frozenset()
    SHELL_FAMILY = "sh"

    def expand_user(self, user_home_path, username=""):
        if user_home_path == "~@LOGIN@" or (user_home_path == "~" and username in ("", "@LOGIN@")):
            return 'echo "$HOME"'
        return super().expand_user(user_home_path, username)
)py";

}  // namespace radl::recipes
