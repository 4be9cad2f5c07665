autocmd BufNewFile,BufRead *.radl setfiletype radl
