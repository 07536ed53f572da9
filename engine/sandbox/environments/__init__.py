"""What a run is done with: the user's own interpreter, found by proof, and packages in environments of Stet's own.

`detect` finds an interpreter for a workspace and proves it in the box; `names` tells which packages a code needs and
`gate` which of them may be had; `store` builds and keeps them. Nothing of a project is ever started outside a box: not
its virtual environment's Python, not its `setup.py`, and no package's either, for only wheels are unpacked.
"""
