"""Work that computes: programs that the model writes run in the sandbox until the task is done.

`computing_task.run_computing_task` is the entry. `turns` asks the model, turn by turn, with the prompts of
`conversation`; `program_run` runs one program in an overlay of the workspace, where `inside/run_program.py` collects
the files that it made. `inputs` says what the files are that the task names, `file_facts` what a file holds,
`criteria` what a machine can check of the result. It knows no editor and no command line.
"""
