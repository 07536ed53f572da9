;; Actions: M-x eglot-code-actions. Eglot asks before it takes an edit; it runs one server per buffer, here Stet.
(require 'eglot)
(add-to-list 'eglot-server-programs '(prog-mode . ("stet" "--stdio")))
(add-hook 'prog-mode-hook #'eglot-ensure)
