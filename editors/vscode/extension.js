// The editor's side: starts `radlc lsp` and leaves everything else to it.
const os = require("node:os");
const path = require("node:path");
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function serverOptions() {
  const settings = workspace.getConfiguration("radl");
  let command = settings.get("server.path") || "radlc";
  if (command.startsWith("~/")) command = path.join(os.homedir(), command.slice(2));
  return { command, args: ["lsp", ...(settings.get("server.arguments") || [])] };
}

async function start() {
  const options = serverOptions();
  client = new LanguageClient("radl", "RADL", options, {
    documentSelector: [
      { scheme: "file", language: "radl" },
      { scheme: "untitled", language: "radl" },
    ],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.radl") },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showWarningMessage(
      `RADL: "${options.command}" could not be started (${error.message}). ` +
        "Highlighting works without it; set radl.server.path for the rest."
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("radl.restartServer", async () => {
      await stop();
      await start();
    }),
    workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("radl.server")) return;
      await stop();
      await start();
    })
  );
  await start();
}

module.exports = { activate, deactivate: stop };
