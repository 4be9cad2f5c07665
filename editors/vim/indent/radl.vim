" RADL: two blanks inside parentheses and brackets; recipes are left as they are.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=RadlIndent() indentkeys=!^F,o,O,0),0],0=@begin,0=@end
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*RadlIndent')
  finish
endif

function! s:InRecipe(line) abort
  let l:begin = search('^\s*@begin\|(\s*@begin', 'bnW')
  return l:begin > 0 && l:begin < a:line && search('^@end', 'nW') >= a:line && search('^@end', 'bnW') < l:begin
endfunction

function! RadlIndent() abort
  let l:line = getline(v:lnum)
  " An indented @end is a line of the recipe, as long as a real one follows.
  if s:InRecipe(v:lnum) && l:line !~# '^@end'
    return indent(v:lnum)
  endif
  if l:line =~# '^\s*@begin\|^\s*@end'
    return 0
  endif
  let l:before = prevnonblank(v:lnum - 1)
  if l:before == 0
    return 0
  endif
  let l:text = substitute(getline(l:before), "'\\%(\\\\.\\|[^'\\\\]\\)*'", '', 'g')
  let l:text = substitute(l:text, '#.*$', '', '')
  let l:opens = len(substitute(l:text, '[^(\[]', '', 'g')) - len(substitute(substitute(l:text, '^\s*[)\]]', '', ''), '[^)\]]', '', 'g'))
  let l:depth = indent(l:before) + (l:opens > 0 ? shiftwidth() : 0) - (l:opens < 0 ? shiftwidth() : 0)
  if l:line =~# '^\s*[)\]]'
    let l:depth -= shiftwidth()
  endif
  return l:depth < 0 ? 0 : l:depth
endfunction
