"""The user's own interpreter, verified by running it, and packages in environments that Stet builds.

`interpreter_detection` finds an interpreter for a workspace and verifies it in the sandbox; `imported_modules` lists
the modules that code imports, `install_policy` decides which packages may be installed, `environment_store` builds
and keeps environments. Nothing of a project is started outside a sandbox: neither its virtual environment's Python nor
its `setup.py`. The same holds for packages, because only wheels are unpacked.
"""
