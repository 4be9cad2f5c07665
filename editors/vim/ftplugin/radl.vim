" RADL: comments, words, formatting and checking with radlc.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:# commentstring=#\ %s formatoptions-=t formatoptions+=croql
setlocal iskeyword=@,48-57,_,.,-,192-255
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal suffixesadd=.radl
if executable('radlc')
  setlocal formatprg=radlc\ fmt\ -
  setlocal makeprg=radlc\ check\ --format\ github\ %
  setlocal errorformat=%E::error\ file=%f\\,line=%l\\,col=%c\\,%.%#title=%m,%W::warning\ file=%f\\,line=%l\\,col=%c\\,%.%#title=%m,%-G%.%#
endif

let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< iskeyword< expandtab< shiftwidth< softtabstop<'
      \ . ' suffixesadd< formatprg< makeprg< errorformat<'
