"""What a run is done with: the user's own interpreter, found by proof, and packages in environments of Stet's own.

`interpreter_detection` finds an interpreter for a workspace and proves it in the sandbox; `imported_modules` tells
which packages a code needs, `install_policy` which of them may be installed; `environment_store` builds and keeps them.
Nothing of a project is ever started outside a box: not its virtual environment's Python, not its `setup.py`, and no
package's either, for only wheels are unpacked.
"""
