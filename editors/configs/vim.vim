" Vim 9 with ALE: put this into vimrc. Actions: :ALECodeAction (on a selection too).
" ALE asks for a linter per language; repeat the two lines for each that you use.
call ale#linter#Define('python', {
\ 'name': 'stet', 'lsp': 'stdio', 'executable': 'stet', 'command': '%e --stdio',
\ 'project_root': {buffer -> getcwd()}})
let g:ale_linters = extend(get(g:, 'ale_linters', {}), {'python': ['stet']})
