#!/usr/bin/env python3
"""The grammar and the words in docs/language/syntax.md and in the editors' files are those that bison reads. Usage: grammar.py SOURCE-FOLDER [--write]

Makes EBNF of grammar/radl2.yy: without actions and recovery, left recursion as repetition, optional parts in brackets. Sorts the words by
the rules that use them. --write puts both where they belong; without it, a file that differs fails.
"""
import pathlib
import re
import sys

SHOWN = {"CALL": ("NAME",), "MEMBER": ('"."', "NAME"), "BODY": ('"("',), "TEXT": ("TEXT",)}
BARE = {"NAME", "NUMBER", "UNIT", "RECIPE", "SEP"}
LEXICAL = {"START_EXPRESSION", "START_TEMPLATE", "TEXT_BEGIN"}  # alternatives that the page says in words


def without_actions(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    out, depth, quote = [], 0, ""
    for at, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[at - 1] != "\\" else quote
        elif depth and c in "\"'":
            quote = c
        depth += (c == "{") - (c == "}" and not quote) if not quote else 0
        if not depth and c != "}":
            out.append(c)
    return re.sub(r"//[^\n]*", "", "".join(out))


def read(path):
    text = path.read_text()
    head, rules = text.split("%%")[:2]
    alias = dict(re.findall(r'([A-Z_0-9]+)(?: 0)? "([^"]+)"', "\n".join(l for l in head.splitlines() if l.startswith("%token"))))
    grammar = {}
    for name, body in re.findall(r"^(\w+):(.*?)\s;\s*$", without_actions(rules), flags=re.S | re.M):
        grammar[name] = []
        for alternative in body.split("|"):
            words = alternative.split()
            if {"error", "unquoted"} & set(words) or LEXICAL & set(words):
                continue
            shown = []
            for word in words:
                if word == "%empty" or word == "START_DOCUMENT":
                    continue
                if word in SHOWN:
                    shown += SHOWN[word]
                elif word in BARE or not word.isupper():
                    shown.append(word)
                else:
                    shown.append('"%s"' % alias[word])
            if tuple(shown) not in grammar[name]:
                grammar[name].append(tuple(shown))
    return {name: found for name, found in grammar.items() if name not in ("text_parts", "unquoted")}


def repeated(name, alternatives):
    """a: b | a c  ->  b { c }"""
    tails = [a[1:] for a in alternatives if a[:1] == (name,)]
    if not tails:
        return alternatives
    starts = [a for a in alternatives if a[:1] != (name,)]
    tails = merged(tails)
    loop = ("{",) + (tails[0] if len(tails) == 1 else choice(tails, False)) + ("}",)
    if starts == [()] or not starts:
        return [loop]
    start = starts[0] if len(starts) == 1 else choice(starts, True)
    return [tuple(start) + loop]


def choice(alternatives, bracketed):
    words = ()
    for a in alternatives:
        words += ("|",) * bool(words) + a
    return ("(",) + words + (")",) if bracketed else words


def merged(alternatives):
    """x y | x s y  ->  x [ s ] y"""
    found = list(alternatives)
    while True:
        pairs = []
        for short in found:
            for long in found:
                extra = len(long) - len(short)
                places = [i for i in range(len(short), -1, -1) if extra > 0 and long[:i] == short[:i] and long[i + extra:] == short[i:]
                          and balanced(long[i:i + extra])]
                if places and short:
                    pairs.append((len(short), places[0], short, long))
        if not pairs:
            return found
        _, at, short, long = max(pairs)
        end = at + len(long) - len(short)
        found[found.index(short)] = long[:at] + ("[",) + long[at:end] + ("]",) + long[end:]
        found.remove(long)


def balanced(words):
    depth = 0
    for word in words:
        depth += (word in "[{(") - (word in "]})") if len(word) == 1 else 0
        if depth < 0:
            return False
    return depth == 0


def ebnf(path):
    grammar = {name: merged(repeated(name, found)) for name, found in read(path).items()}
    # What may be left out, and other names of one thing, stand where they are used.
    for name in list(grammar):
        found = grammar[name]
        optional = () in found
        single = len(found) == 1 and len(found[0]) == 1 and name != "start"
        if not optional and not single:
            continue
        rest = [a for a in found if a]
        inside = rest[0] if len(rest) == 1 else choice(rest, False)
        shown = ("[",) + inside + ("]",) if optional else inside
        if optional and inside[:1] == ("{",):
            shown = inside
        del grammar[name]
        for other in grammar:
            grammar[other] = [tuple(w for word in a for w in (shown if word == name else (word,))) for a in grammar[other]]
    width = max(map(len, grammar))
    lines = []
    for name, found in grammar.items():
        line = "%-*s = " % (width, name)
        for at, alternative in enumerate(map(" ".join, found)):
            piece = " | " + alternative if at else alternative
            if at and len(line + piece) > 126:
                lines.append(line)
                line, piece = " " * width + piece, ""
            line += piece
        lines.append(line + " ;")
    return "\n".join(lines) + "\n"


def first_words(grammar, rule, seen=()):
    """The keywords with which a rule may begin."""
    found = set()
    for alternative in grammar[rule] if rule not in seen else ():
        for word in alternative[:1]:
            if word in grammar:
                found |= first_words(grammar, word, seen + (rule,))
            elif re.fullmatch(r'"[a-z]+"', word):
                found.add(word.strip('"'))
    return found


def words(path):
    """The list of reserved words: what may begin a block, a resource or an item; and all other words."""
    grammar = read(path)
    begin = {place: first_words(grammar, place + "s") for place in ("block", "resource", "item")}
    begin["block"] |= first_words(grammar, "block")
    every = {word.strip('"') for found in grammar.values() for a in found for word in a if re.fullmatch(r'"[a-z]+"', word)}
    lines = [("Reserved where %s %s may begin" % ("an" if place[0] in "aeiou" else "a", place), found) for place, found in begin.items()]
    lines.append(("Not reserved, a keyword where the grammar expects it", every - set().union(*begin.values())))
    return "\n" + "".join("- %s:\n  %s\n" % (what, " ".join("`%s`" % word for word in sorted(found))) for what, found in lines) + "\n"


PARTS = (("```ebnf\n", "```", ebnf), ("<!-- words: made from grammar/radl2.yy by tests/lint/grammar.py -->\n", "<!-- end -->", words))


def in_order(path, found):
    """As the grammar declares them."""
    declared = re.findall(r'"([a-z]+)"', "\n".join(l for l in path.read_text().splitlines() if l.startswith("%token")))
    return [word for word in declared if word in found]


def groups(path):
    """The words by what they are for: what editors show in one colour."""
    grammar = read(path)

    def used_in(*rules):
        return {word.strip('"') for rule in rules for a in grammar.get(rule, ()) for word in a if re.fullmatch(r'"[a-z]+"', word)}
    blocks = first_words(grammar, "block")
    named = {a[0].strip('"') for a in grammar["block"] if a[1:2] in (("id",), ("NAME",)) and a[0].startswith('"')}
    found = {"named blocks": named, "named blocks but let": named - {"let"}, "other blocks": blocks - named,
             "operators": used_in("value", "disjunction", "conjunction", "cmp", "feature"),
             "conditions": used_in("choice", "opt_if", "each_in", "each_head") - blocks}
    known = set().union(*found.values())
    found["operators but contains"] = found["operators"] - {"contains"}
    found["others"] = used_in(*grammar) - known
    return {name: in_order(path, words) for name, words in found.items()}


VIM, EMACS, VSCODE = "editors/vim/syntax/radl.vim", "editors/emacs/radl-mode.el", "editors/vscode/syntaxes/radl.tmLanguage.json"
# File, what stands before and after the words, what separates them, which words.
EDITORS = (
    (VIM, r"syntax match radlName /\%(", r"\)\@<=", r"\|", "named blocks"),
    (VIM, "syntax keyword radlSentence ", " nextgroup=", " ", "named blocks but let"),
    (VIM, "syntax keyword radlOperator ", "\n", " ", "operators but contains"),  # which is an option of Vim's command
    (VIM, "syntax keyword radlConditional ", "\n", " ", "conditions"),
    (EMACS, r'`((,(concat "\\_<\\(', r"\\)\\_>\\s-+", r"\\|", "named blocks"),
    (EMACS, """(,(regexp-opt '(\"""", """\") 'symbols)\n     . font-lock-keyword-face)""", '" "', "other blocks", "others", "conditions"),
    (EMACS, """     . font-lock-keyword-face)\n    (,(regexp-opt '(\"""", """\") 'symbols) . font-lock-builtin-face)""", '" "', "operators"),
    (VSCODE, r'"match": "\\b(', r")\\s+([A-Za-z_.][\\w.\\-]*)" + '",\n          "captures": { "1": { "name": "keyword.control.sentence.radl" }', "|",
     "named blocks but let"),
    (VSCODE, r'{ "match": "(?<![\\w.\\-])(', r')(?![\\w.\\-])", "name": "keyword.operator.logical.radl"', "|", "operators"),
    (VSCODE, r'{ "match": "(?<![\\w.\\-])(', r')(?![\\w.\\-])(?!\\s*=(?!=))", "name": "keyword.control.conditional.radl"', "|", "conditions"),
    (VSCODE, r'{ "match": "(?<![\\w.\\-])(', r')(?![\\w.\\-])(?!\\s*(<=|>=|=|<|>)(?!=))", "name": "keyword.other.radl"', "|", "others"),
)


def with_words(text, before, after, separator, words):
    """The text with the words in the one place that begins and ends so."""
    listed = re.compile("(%s)(?:[a-z]+%s)*[a-z]+(?=%s)" % tuple(map(re.escape, (before, separator, after))))
    assert len(listed.findall(text)) == 1, before + after
    return listed.sub(lambda found: found.group(1) + separator.join(words), text)


def main(root, write):
    grammar = root / "grammar" / "radl2.yy"
    page = root / "docs" / "language" / "syntax.md"
    wanted = {page: page.read_text()}
    for opening, closing, make in PARTS:
        begin = wanted[page].index(opening) + len(opening)
        wanted[page] = wanted[page][:begin] + make(grammar) + wanted[page][wanted[page].index(closing, begin):]
    found = groups(grammar)
    for name, before, after, separator, *which in EDITORS:
        path = root / name
        text = wanted.get(path) or path.read_text()
        wanted[path] = with_words(text, before, after, separator, [word for group in which for word in found[group]])
    differ = [path for path, text in wanted.items() if path.read_text() != text]
    for path in differ:
        if write:
            path.write_text(wanted[path])
        else:
            print("%s differs from grammar/radl2.yy: run tests/lint/grammar.py . --write" % path.relative_to(root))
    if not differ:
        print("the page and the editors have the grammar and its words")
    return 1 if differ and not write else 0


SAMPLE = """%token LET "let" EQ "=" COMMA ","
%token <ast::Number*> NUMBER "number"
%%
start: START_DOCUMENT lets ;
lets:
    %empty                { $$ = nullptr; }
  | lets let              { $$ = join($1, "}"); }  // one more
  | lets error SYNC       { yyerrok; }
  ;
let: LET NAME EQ value opt_unit ;
opt_unit: %empty | UNIT ;
value: NUMBER | value COMMA NUMBER | LET NUMBER COMMA | LET NUMBER ;
%%
"""
EXPECTED = """start = lets ;
lets  = { let } ;
let   = "let" NAME "=" value [ UNIT ] ;
value = ( NUMBER | "let" NUMBER "," | "let" NUMBER ) { "," NUMBER } ;
"""


def test():
    class Sample:
        def read_text(self):
            return SAMPLE
    made = ebnf(Sample())
    if made != EXPECTED:
        print(made)
        return 1
    if first_words(read(Sample()), "value") != {"let"}:
        print("a value of the sample begins with", first_words(read(Sample()), "value"))
        return 1
    if with_words("key old|words;", "key ", ";", "|", ["new", "ones"]) != "key new|ones;":
        print("words are not replaced in their place")
        return 1
    print("the sample's grammar is as expected")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        sys.exit(test())
    sys.exit(main(pathlib.Path(sys.argv[1]), "--write" in sys.argv))
