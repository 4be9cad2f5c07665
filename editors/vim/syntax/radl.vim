" Syntax of RADL 1 and `radl 2`, with YAML between @begin and @end.
if exists('b:current_syntax')
  finish
endif
syntax iskeyword @,48-57,_,.,-

syntax include @radlYaml syntax/yaml.vim
unlet! b:current_syntax

syntax match radlName /\%(description\|network\|system\|ansible\|input\|output\|let\|configure\|deploy\)\@<=\s\+\zs[A-Za-z_.][A-Za-z0-9_.-]*/ contained
syntax keyword radlSentence description network system ansible input output configure deploy nextgroup=radlName skipwhite
syntax match radlSentence /^\s*\zslet\ze\s\+[A-Za-z_]/ nextgroup=radlName skipwhite
syntax match radlSentence /^\s*\zs\%(assert\|moved\)\ze\s*(/
syntax match radlSentence /\<each\ze\s\+[A-Za-z_][A-Za-z0-9_-]*\%(\s*,\s*[A-Za-z_][A-Za-z0-9_-]*\)\?\s\+in\>/
syntax keyword radlSentence contextualize radl use as
syntax keyword radlKeyword step with option after
syntax match radlKeyword /\<when\ze\s*==\@!/
syntax keyword radlOperator let soft and or not
syntax match radlOperator /\<contains\>/
syntax keyword radlConditional in if then else for
syntax keyword radlBoolean yes no true false
syntax match radlFeature /\<[A-Za-z_.][A-Za-z0-9_.-]*\>\ze\s*\%(<=\|>=\|[=<>]\|contains\>\)/
syntax match radlResource /\<[a-z_]\+\>\ze\s\+'/ contains=radlOperator,radlSentence,radlKeyword,radlConditional
syntax match radlFunction /\<[a-z_]\+\ze(/
syntax match radlNumber /\<\d\+\%(\.\d*\)\?\s*\%(\%([KMGTkmgt]i\?[Bb]\?\|ECU\|GCEU\|HRZ\|ms\|[smhd]\)\>\)\?/
syntax match radlComparator /<=\|>=\|==\|!=\|[=<>]/
syntax match radlReference /\<\%(input\|system\|network\|env\)\.[A-Za-z_][A-Za-z0-9_.-]*/
syntax match radlComment /#.*$/ contains=radlTodo,@Spell
syntax keyword radlTodo TODO FIXME XXX contained
syntax match radlEscape /\\./ contained
syntax match radlPlaceholder /#N#\|@input\.[^@]\+@/ contained
syntax region radlInterpolation matchgroup=radlDelimiter start=/\${/ end=/}/ contained contains=radlFunction,radlNumber,radlReference,radlConditional,radlOperator
syntax region radlString start=/'/ skip=/\\./ end=/'/ contains=radlEscape,radlPlaceholder,radlInterpolation
syntax match radlDoubleEscape /\\\%(x\x\{2}\|u{\x\+}\|.\)/ contained
syntax region radlString start=/"/ skip=/\\./ end=/"/ contains=radlDoubleEscape,radlPlaceholder,radlInterpolation
syntax region radlString matchgroup=radlDelimiter start=/<<[-~]\?\z([A-Za-z0-9_]\+\)\s*$/ end=/^\s*\z1\ze[ \t()\]},]*$/ contains=radlPlaceholder,radlInterpolation
syntax region radlString matchgroup=radlDelimiter start=/<<[-~]\?'\z([A-Za-z0-9_]\+\)'\s*$/ end=/^\s*\z1\ze[ \t()\]},]*$/
syntax region radlRecipe matchgroup=radlDelimiter start=/@begin/ end=/^@end\>/ contains=@radlYaml keepend

syntax sync minlines=200

highlight default link radlSentence Keyword
highlight default link radlName Type
highlight default link radlKeyword Statement
highlight default link radlOperator Operator
highlight default link radlConditional Conditional
highlight default link radlBoolean Boolean
highlight default link radlFeature Identifier
highlight default link radlResource Function
highlight default link radlFunction Function
highlight default link radlNumber Number
highlight default link radlComparator Operator
highlight default link radlReference Special
highlight default link radlComment Comment
highlight default link radlTodo Todo
highlight default link radlEscape SpecialChar
highlight default link radlDoubleEscape SpecialChar
highlight default link radlPlaceholder SpecialChar
highlight default link radlInterpolation Normal
highlight default link radlString String
highlight default link radlDelimiter PreProc

let b:current_syntax = 'radl'
