" Actions, on the function at the cursor or on a range of lines:
"   :Stet refactor make it one line        :'<,'>Stet explain
" The file is saved first. Vim waits while Stet works; Ctrl-C stops it. u takes an edit back.
function! s:Stet(range, line1, line2, action, instruction) abort
  update
  let l:lines = a:range ? a:line1 .. '-' .. a:line2 : line('.')
  let l:command = ['stet', 'run', a:action, expand('%:p') .. ':' .. l:lines, '--apply']
  let l:command += empty(a:instruction) ? [] : ['--instruction', a:instruction]
  execute '!' .. join(map(l:command, 'shellescape(v:val, 1)'))
  edit
endfunction
command! -nargs=+ -range Stet call s:Stet(<range>, <line1>, <line2>, split(<q-args>)[0], join(split(<q-args>)[1:]))

" With the plugin ALE, explanations and analyses come from :ALECodeAction too. ALE takes no edits from a server.
" It asks for a linter per language; repeat the line for each that you use.
let g:ale_lsp_show_message_severity = 'information'
silent! call ale#linter#Define('python', {'name': 'stet', 'lsp': 'stdio', 'executable': 'stet',
      \ 'command': '%e --stdio', 'project_root': {buffer -> getcwd()}})

" With the plugin vim-lsp, :LspCodeAction has all actions: edits arrive, and a risky one is asked about.
autocmd User lsp_setup call lsp#register_server({
      \ 'name': 'stet', 'cmd': {info -> ['stet', '--stdio']}, 'allowlist': ['*']})
