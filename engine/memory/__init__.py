"""Remembered solutions: stored by a separate process, searched by their purpose.

The journal is the source of truth; the table next to it can be rebuilt from it. `memory_client` is the clients' side;
`store/` and its dependencies (the table, the vectors, the embedder) are loaded in the worker process only. This
package does not depend on models, the sandbox or editors.
"""
