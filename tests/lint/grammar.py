#!/usr/bin/env python3
"""The grammar and the reserved words in docs/language/syntax.md are those that bison reads. Usage: grammar.py SOURCE-FOLDER [--write]

Makes EBNF of grammar/radl2.yy: without actions and recovery, left recursion as repetition, optional parts in brackets.
--write puts both into the page; without it, a page that differs fails.
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
            if "error" in words or LEXICAL & set(words):
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
    return {name: found for name, found in grammar.items() if name != "text_parts"}


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


def main(root, write):
    page = root / "docs" / "language" / "syntax.md"
    text = wanted = page.read_text()
    for opening, closing, make in PARTS:
        begin = wanted.index(opening) + len(opening)
        wanted = wanted[:begin] + make(root / "grammar" / "radl2.yy") + wanted[wanted.index(closing, begin):]
    if text == wanted:
        print("the page has the grammar and its words")
        return 0
    if write:
        page.write_text(wanted)
        return 0
    print("docs/language/syntax.md differs from grammar/radl2.yy: run tests/lint/grammar.py . --write")
    return 1


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
    print("the sample's grammar is as expected")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--test"]:
        sys.exit(test())
    sys.exit(main(pathlib.Path(sys.argv[1]), "--write" in sys.argv))
