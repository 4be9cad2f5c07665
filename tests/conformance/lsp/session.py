"""A session with `radlc lsp` through pygls' client: what an editor does in the first minutes.

lsprotocol's types check the shape of every answer: a field of the wrong type fails here although the server's own
tests, which read plain JSON, would not notice.
"""
import asyncio
import os
import pathlib

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

RADLC = os.path.join(os.environ["RADL_BUILD"], "bin", "radlc")
TEXT = """network pub (outbound = 'yes')
system node (
  cpu.count >= 1 and
  memory.size >= 2g and
  net_interface.0.connection = 'pub'
)
configure node (
@begin
- tasks: "{{ groups['node'] }}"
@end
)
deploy node 3
"""
URI = "file:///nowhere/main.radl"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[RADLC, "lsp"]))
async def client(lsp_client: LanguageClient):
    params = types.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    await lsp_client.initialize_session(params)
    yield lsp_client
    await lsp_client.shutdown_session()


def open_text(client, text, uri=URI):
    item = types.TextDocumentItem(uri=uri, language_id="radl", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))


def position(text, mark, plus=0):
    before = text[: text.index(mark) + plus]
    return types.Position(line=before.count("\n"), character=len(before) - (before.rfind("\n") + 1))


def at(text, mark, plus=0):
    return {"text_document": types.TextDocumentIdentifier(uri=URI), "position": position(text, mark, plus)}


def document():
    return types.TextDocumentIdentifier(uri=URI)


def apply(text, edits):
    lines = text.splitlines(keepends=True)

    def offset(p):
        return sum(len(line) for line in lines[: p.line]) + p.character

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end):]
    return text


async def wait_for(client, wanted, seconds=20.0):
    for _ in range(int(seconds / 0.05)):
        if wanted(client.diagnostics.get(URI)):
            return client.diagnostics[URI]
        await asyncio.sleep(0.05)
    raise AssertionError(f"no such diagnostics: {client.diagnostics.get(URI)}")


@pytest.mark.asyncio
async def test_diagnostics_while_typing(client):
    open_text(client, TEXT)
    await wait_for(client, lambda found: found is not None and not found)
    start, end = position(TEXT, "'pub'", 1), position(TEXT, "'pub'", 4)
    change = types.TextDocumentContentChangePartial(range=types.Range(start=start, end=end), text="bup")
    client.text_document_did_change(types.DidChangeTextDocumentParams(
        text_document=types.VersionedTextDocumentIdentifier(uri=URI, version=2), content_changes=[change]))
    found = await wait_for(client, lambda found: bool(found))
    errors = [each for each in found if each.severity == types.DiagnosticSeverity.Error]
    assert errors and errors[0].range.start.line == 4 and str(errors[0].code).startswith("E")


@pytest.mark.asyncio
async def test_completion(client):
    open_text(client, TEXT)
    found = await client.text_document_completion_async(types.CompletionParams(**at(TEXT, "'pub'", 1)))
    assert [item.label for item in found.items] == ["pub"]
    found = await client.text_document_completion_async(types.CompletionParams(**at(TEXT, "memory.size")))
    assert "disk.0.image.url" in [item.label for item in found.items]


@pytest.mark.asyncio
async def test_hover_definition_references_rename(client):
    open_text(client, TEXT)
    hover = await client.text_document_hover_async(types.HoverParams(**at(TEXT, "memory.size", 2)))
    assert "memory.size" in hover.contents.value
    found = await client.text_document_definition_async(types.DefinitionParams(**at(TEXT, "'pub'", 2)))
    assert found[0].range.start == position(TEXT, "pub")
    found = await client.text_document_references_async(types.ReferenceParams(
        context=types.ReferenceContext(include_declaration=True), **at(TEXT, "deploy node", 8)))
    assert len(found) == 3
    edit = await client.text_document_rename_async(types.RenameParams(new_name="worker", **at(TEXT, "deploy node", 8)))
    renamed = apply(TEXT, edit.changes[URI])
    assert renamed == TEXT.replace("system node", "system worker").replace("'node'", "'worker'").replace(
        "configure node", "configure worker").replace("deploy node", "deploy worker")
    prepared = await client.text_document_prepare_rename_async(types.PrepareRenameParams(**at(TEXT, "deploy node", 8)))
    assert prepared.placeholder == "node"


@pytest.mark.asyncio
async def test_symbols_folds_highlights_tokens_selections(client):
    open_text(client, TEXT)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document()))
    assert [each.name for each in symbols] == ["pub", "node", "node", "node"]
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(text_document=document()))
    assert any(each.start_line == 1 for each in folds)
    marks = await client.text_document_document_highlight_async(types.DocumentHighlightParams(**at(TEXT, "pub")))
    assert len(marks) == 2
    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(text_document=document()))
    assert len(tokens.data) % 5 == 0 and len(tokens.data) > 30
    chains = await client.text_document_selection_range_async(types.SelectionRangeParams(
        text_document=document(), positions=[position(TEXT, "2g")]))
    assert chains[0].parent is not None
    found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="pub"))
    assert [each.name for each in found] == ["pub"]
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(
        text_document=document(), range=types.Range(types.Position(0, 0), types.Position(99, 0))))
    assert hints[0].label == "#0 to #2"


@pytest.mark.asyncio
async def test_formatting(client):
    text = "system   a(cpu.count>=1)\nsystem b (\nmemory.size>=1g and cpu.count>=1)\n"
    open_text(client, text)
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(types.DocumentFormattingParams(text_document=document(), options=options))
    assert apply(text, edits) == "system a (cpu.count >= 1)\n\nsystem b (\n  memory.size >= 1g and\n  cpu.count >= 1\n)\n"


@pytest.mark.asyncio
async def test_quick_fix(client):
    text = "system a (memory.sise >= 1g)\ndeploy a 1\n"
    open_text(client, text)
    found = await wait_for(client, lambda found: bool(found))
    place = position(text, "memory.sise")
    actions = await client.text_document_code_action_async(types.CodeActionParams(
        text_document=document(), range=types.Range(place, place), context=types.CodeActionContext(diagnostics=list(found))))
    assert "memory.size >= 1g" in apply(text, actions[0].edit.changes[URI])


@pytest.mark.asyncio
async def test_modules(client, tmp_path: pathlib.Path):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "web.radl").write_text("radl 2\ninput pages (type = 'integer', default = 1)\n")
    uri = (tmp_path / "main.radl").as_uri()
    text = "radl 2\nuse 'web' as w (pages = 2)\n"
    open_text(client, text, uri)
    found = await client.text_document_definition_async(types.DefinitionParams(
        text_document=types.TextDocumentIdentifier(uri=uri), position=position(text, "pages")))
    assert found[0].uri == (tmp_path / "modules" / "web.radl").as_uri()
    links = await client.text_document_document_link_async(types.DocumentLinkParams(
        text_document=types.TextDocumentIdentifier(uri=uri)))
    assert links[0].target == found[0].uri
