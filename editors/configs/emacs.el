;; Emacs 29 or newer (eglot is built in; on 28 install the package eglot): put this into init.el.
;; Actions: M-x eglot-code-actions. Eglot runs one server per buffer; this makes it Stet.
(require 'eglot)
(add-to-list 'eglot-server-programs '(prog-mode . ("stet" "--stdio")))
(add-hook 'prog-mode-hook #'eglot-ensure)
