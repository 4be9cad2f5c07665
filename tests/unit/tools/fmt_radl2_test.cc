// The formatter's layout of `radl 2`, rule by rule. Every expected text must be a fixed point.
#include <gtest/gtest.h>

#include "compiler/syntax/parser.h"
#include "tests/unit/tools/formatted.h"

namespace radl {
namespace {

using test::formatted;

void expect_radl2(const std::string& before, const std::string& after) {
  EXPECT_EQ(formatted("radl 2\n\n" + before), "radl 2\n\n" + after) << "of\n" << before;
  EXPECT_EQ(formatted("radl 2\n\n" + after), "radl 2\n\n" + after) << "not a fixed point";
}

TEST(FormatRadl2, EntriesOnLinesOfTheirOwnHaveNoSeparators) {
  expect_radl2("system a (\ncpu.count>=1 , memory.size>=512MB,\n    gpu.count = 1\n)",
               "system a (\n  cpu.count >= 1\n  memory.size >= 512MB\n  gpu.count = 1\n)\n");
  expect_radl2("system a (\n  cpu.count >= 1,  # one\n  # two\n\n  memory.size >= 1GB,  # three\n)",
               "system a (\n  cpu.count >= 1  # one\n  # two\n\n  memory.size >= 1GB  # three\n)\n");
  expect_radl2("system a (\n  cpu.count >= 1\n  , memory.size >= 1GB\n)",
               "system a (\n  cpu.count >= 1\n  memory.size >= 1GB\n)\n");
}

TEST(FormatRadl2, EntriesOnOneLineHaveCommas) {
  expect_radl2("network a( outbound=yes  ,outports = ['22/tcp'] )",
               "network a (outbound = yes, outports = ['22/tcp'])\n");
  expect_radl2("input n (type = integer,default = 1,)", "input n (type = integer, default = 1)\n");
}

TEST(FormatRadl2, FunctionsRecordsAndRepeatedFeatures) {
  expect_radl2("let cube( x )=x*x*x\nlet add(a,b)=a+b", "let cube(x) = x * x * x\nlet add(a, b) = a + b\n");
  expect_radl2("system s (count=1,networks=[lan,{network=out}],gpu={count=4})",
               "system s (count = 1, networks = [lan, { network = out }], gpu = { count = 4 })\n");
  expect_radl2("system s (\n each i,d in input.disks (\n'disk.${i + 1}.size'=d\n)\n count=1)",
               "system s (\n  each i, d in input.disks (\n    'disk.${i + 1}.size' = d\n  )\n  count = "
               "1\n)\n");
  expect_radl2("use 'm' as n (each k in ['a'] ('${k}'=1))",
               "use 'm' as n (\n  each k in ['a'] (\n    '${k}' = 1\n  )\n)\n");
}

TEST(FormatRadl2, AndAsAnOperatorStays) {
  expect_radl2(
      "input a (type = boolean)\noutput b (\n  value = input.a and not input.a\n  description = 'x'\n)",
      "input a (type = boolean)\n\noutput b (\n  value = input.a and not input.a\n  description = 'x'\n)\n");
}

TEST(FormatRadl2, AFeatureWhoseLineWouldGoOnWithTheOneBeforeKeepsItsComma) {
  expect_radl2("configure c (\n  thing 'x' (\n    a = 1,\n    or = 2\n  )\n)",
               "configure c (\n  thing 'x' (\n    a = 1,\n    or = 2\n  )\n)\n");
}

TEST(FormatRadl2, EachHoldsBlocksOfAllKinds) {
  expect_radl2(
      "each z in ['a','b'](\nsystem 'w-${z}'(cpu.count=1)\ndeploy 'w-${z}' 2 when=z=='a'\n"
      "each k, v in { x=1, 'y'=2 } (network 'n-${z}-${k}' ()\nconfigure 'c-${k}' (  package 'htop' ))\n)",
      "each z in ['a', 'b'] (\n  system 'w-${z}' (cpu.count = 1)\n  deploy 'w-${z}' 2 when = z == 'a'\n\n"
      "  each k, v in { x = 1, 'y' = 2 } (\n    network 'n-${z}-${k}' ()\n"
      "    configure 'c-${k}' (package 'htop')\n  )\n)\n");
}

TEST(FormatRadl2, LoopsInLoopsAndNamesThatArePutTogether) {
  expect_radl2("let a = [x*2   for y in [[1],[2]]   for x in y   if x>1]",
               "let a = [x * 2 for y in [[1], [2]] for x in y if x > 1]\n");
  expect_radl2("contextualize (system 'w-${z}'   configure c)",
               "contextualize (system 'w-${z}' configure c)\n");
}

TEST(FormatRadl2, EachHoldsResourcesAndItems) {
  expect_radl2(
      "configure c (\npackage ['git' , 'htop'],\neach f, t in input.files ( file f ( content=t,when=t!='' "
      "), "
      "package f )\n)",
      "configure c (\n  package ['git', 'htop']\n  each f, t in input.files (\n"
      "    file f (content = t, when = t != '')\n    package f\n  )\n)\n");
  expect_radl2(
      "contextualize (\nsystem [a,b] configure c\nsystem front configure nfs step 1 when=input.x\nsystem w "
      "configure x after nfs,c\neach s in input.l (\nsystem s configure c\nsystem long configure [c,d]\n)\n)",
      "contextualize (\n  system [a, b] configure c\n  system front configure nfs step 1 when = input.x\n"
      "  system w     configure x   after nfs, c\n  each s in input.l (\n    system s configure c\n"
      "    system long configure [c, d]\n  )\n)\n");
}

TEST(FormatRadl2, LetStaysWhereItIsInAnEach) {
  expect_radl2("system s (\neach i in l (\n'disk.${i}.size'=size , let size=i*1G\n)\ncount=1)",
               "system s (\n  each i in l (\n    'disk.${i}.size' = size\n    let size = i * 1G\n  )\n"
               "  count = 1\n)\n");
  expect_radl2(
      "configure c (\neach u in input.u (\nfile h (), let h='/${u}' , let g=1\n# last\npackage u\n)\n)",
      "configure c (\n  each u in input.u (\n    file h ()\n    let h = '/${u}'\n    let g = 1\n"
      "    # last\n    package u\n  )\n)\n");
  expect_radl2(
      "contextualize (\neach z in l (\nlet n='w-${z}'\nlet k =2\nsystem n configure c step k, system nn "
      "configure c\n)\n)",
      "contextualize (\n  each z in l (\n    let n = 'w-${z}'\n    let k = 2\n    system n  configure c "
      "step k\n    system nn configure c\n  )\n)\n");
}

TEST(FormatRadl2, LetAndAssert) {
  expect_radl2("let  x=1+2*( 3-input.n )\nassert(x>1,'too few: ${x}',)",
               "let x = 1 + 2 * (3 - input.n)\nassert (x > 1, 'too few: ${x}')\n");
  expect_radl2("moved( 'a','b' ,)\nmoved (\n 'c',\n   'd')",
               "moved ('a', 'b')\n\nmoved (\n  'c',\n  'd'\n)\n");
  expect_radl2("assert (\n  input.a >= 1 and\n    input.a < 9,\n  \"from 1 to 9\")",
               "assert (\n  input.a >= 1 and\n    input.a < 9,\n  \"from 1 to 9\"\n)\n");
  expect_radl2("let a = if input.n>1\nthen 'x'\n      else 'y'",
               "let a = if input.n > 1\n  then 'x'\n  else 'y'\n");
}

TEST(FormatRadl2, MapsAndComprehensions) {
  expect_radl2(
      "let m = {a=1 , 'b c'=[1,2],(input.k)=3}\nlet n={ }\nlet o = {\na=1\n'b'=2,\n\nc={d=1}\n}",
      "let m = { a = 1, 'b c' = [1, 2], (input.k) = 3 }\nlet n = {}\n\nlet o = {\n  a = 1\n  'b' = 2\n\n  c "
      "= { d = 1 }\n}\n");
  expect_radl2("let l=[x*2 for x in input.l if x>1]\nlet m = { k=v.size for k,v in input.m }",
               "let l = [x * 2 for x in input.l if x > 1]\nlet m = { k = v.size for k, v in input.m }\n");
  expect_radl2("let l = [\nx for x in input.l\nif (x > 1)\n]",
               "let l = [\n  x\n  for x in input.l\n  if (x > 1)\n]\n");
}

TEST(FormatRadl2, AComputedKeyMayBeginALine) {
  expect_radl2("let m = {\na=f,\n('k')=(1)\n(input.k) = { b=g\n(x)=2 } }",
               "let m = {\n  a = f\n  ('k') = (1)\n  (input.k) = {\n    b = g\n    (x) = 2\n  }\n}\n");
}

TEST(FormatRadl2, ACommentBeforeALineThatGoesOnStaysThere) {
  expect_radl2("assert (\n1 > 0 # a\n# b\nand 2 > 1,\n'x')",
               "assert (\n  1 > 0  # a\n    # b\n    and 2 > 1,\n  'x'\n)\n");
  expect_radl2("let a = b\n# c\nand d\n# e\nor f", "let a = b\n  # c\n  and d\n  # e\n  or f\n");
  expect_radl2("deploy a 1 when = b\n  # c\n  and d", "deploy a 1 when = b\n  # c\n  and d\n");
  expect_radl2("let m = {\na = 1\n# b\nand = 2, # c\nor = 3 }",
               "let m = {\n  a = 1\n  # b\n  and = 2,  # c\n  or = 3\n}\n");
}

TEST(FormatRadl2, TypesOverSeveralLines) {
  expect_radl2(
      "input n (\ntype = list(object(\nname = text,\ncpu=optional( integer , 1 ),\n))\n)",
      "input n (\n  type = list(object(\n    name = text,\n    cpu = optional(integer, 1)\n  ))\n)\n");
}

TEST(FormatRadl2, PathsStayInOnePiece) {
  expect_radl2("let a = split( input.x , ',' ) [ 0 ]\nlet b = ( input.a ).b\nlet c = w [ * ].ip",
               "let a = split(input.x, ',')[0]\nlet b = (input.a).b\nlet c = w[*].ip\n");
}

TEST(FormatRadl2, BlockTextsAreKeptByteForByte) {
  expect_radl2(
      "configure c (\nfile '/x' (content = <<END  \n   a\n     ${input.b}\n\n      END,\nmode = '0644',)\n"
      "file '/y' (content = <<-'E'\n${not this}\nE\n)\n)",
      "configure c (\n  file '/x' (\n    content = <<END  \n   a\n     ${input.b}\n\n      END\n    mode = "
      "'0644'\n  )\n"
      "  file '/y' (\n    content = <<-'E'\n${not this}\nE\n  )\n)\n");
  expect_radl2("let s = replace(<<A\n  x\nA,\n'x', \"\\ty\\u{20AC}\")",
               "let s = replace(\n  <<A\n  x\nA,\n  'x',\n  \"\\ty\\u{20AC}\"\n)\n");
}

// Only brackets and commas may follow the word that ends a text block.
TEST(FormatRadl2, WhatFollowsABlockTextStandsOnTheNextLine) {
  expect_radl2("let a = f(<<A\nx\nA\n)\nlet b = f(<<A\nx\nA\n)[0]",
               "let a = f(<<A\nx\nA)\n\nlet b = f(<<A\nx\nA\n    )[0]\n");
  expect_radl2("let a = if b then <<A\nx\nA\nelse c", "let a = if b then <<A\nx\nA\n  else c\n");
  expect_radl2("configure c (\ncommand <<A\nx\nA\n(when = b)\n)",
               "configure c (\n  command <<A\nx\nA (\n    when = b\n  )\n)\n");
  expect_radl2("let a = f(<<A\nx\nA,\n# b\nc)", "let a = f(\n  <<A\nx\nA,\n  # b\n  c\n)\n");
  expect_radl2("let a = (<<A\nx\nA)\n# b\nlet c = 1", "let a = (<<A\nx\nA)\n\n# b\nlet c = 1\n");
}

TEST(FormatRadl2, WordsAreNamesToo) {
  expect_radl2(
      "input each (type=text)\nsystem let (cpu.count = 1)\nconfigure c (\nfile when (with = "
      "{a=1},\nwhen=yes)\n)",
      "input each (type = text)\nsystem let (cpu.count = 1)\n\nconfigure c (\n"
      "  file when (\n    with = { a = 1 }\n    when = yes\n  )\n)\n");
}

TEST(FormatRadl2, CommentsStay) {
  expect_radl2(
      "each x in [1] ( # why\n# a\nsystem 's-${x}' () # b\n# c\n)\nlet m = { # d\na = 1 # e\n# f\n}",
      "each x in [1] (  # why\n  # a\n  system 's-${x}' ()  # b\n  # c\n)\n\nlet m = {  # d\n  a = 1  # "
      "e\n  # "
      "f\n}\n");
}

// What same_meaning does not look at could get lost without anybody knowing.
TEST(FormatRadl2, TextsThatDifferInOneThingDoNotSayTheSame) {
  const std::pair<const char*, const char*> kPairs[] = {
      {"let a = 1", "let a = 2"},
      {"moved ('a', 'b')", "moved ('a', 'c')"},
      {"moved ('a', 'b')", "moved ('c', 'b')"},
      {"assert (yes, 'a')", "assert (no, 'a')"},
      {"assert (yes, 'a')", "assert (yes, 'b')"},
      {"each x in [1] (system a ())", "each x in [1] (system b ())"},
      {"each x in [1] (system a ())", "each x, y in [1] (system a ())"},
      {"each x in [1] (system a ())", "each x in [2] (system a ())"},
      {"let a = { b = 1 }", "let a = { c = 1 }"},
      {"let a = { b = 1 }", "let a = { 'b' = 1 }"},
      {"let a = [x for x in l]", "let a = [x for x in l if x]"},
      {"let a = [x for x in l]", "let a = [y for x in l]"},
      {"let a = f(x)[0]", "let a = f(x)[1]"},
      {"let a = f(x)[0]", "let a = f(y)[0]"},
      {"let a = object(b = c)", "let a = object(b = d)"},
      {"deploy a 1", "deploy a 1 when = yes"},
      {"system 'a-${b}' ()", "system 'a-${c}' ()"},
      {"configure c (each x in l (package x))", "configure c (each x in l (package y))"},
      {"contextualize (system a configure c)", "contextualize (system a configure c when = yes)"},
      {"contextualize (system a[0] configure c)", "contextualize (system a[1] configure c)"},
      {"contextualize (each s in l (system s configure c))",
       "contextualize (each s in l (system s configure d))"},
      {"let a = \"b\\n\"", "let a = \"b\""},
  };
  for (const auto& [left, right] : kPairs) {
    Diagnostics diagnostics;
    SourceFile a(1, "a", "radl 2\n" + std::string(left)), b(2, "b", "radl 2\n" + std::string(right));
    auto x = parse(a, diagnostics), y = parse(b, diagnostics);
    EXPECT_FALSE(x->syntax_errors || y->syntax_errors) << left << "   " << right;
    EXPECT_FALSE(formatter::same_meaning(*x, *y)) << left << "   " << right;
    EXPECT_TRUE(formatter::same_meaning(*x, *x)) << left;
  }
}

}  // namespace
}  // namespace radl
