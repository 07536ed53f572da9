;; M-x stet lists the actions, M-x stet-refactor runs one; C-c s r does, too. An edit is shown as a diff before you are
;; asked. Stet runs with eglot or lsp-mode, which keep their servers.
(setq stet-command '("@STET@" "--stdio"))
(load "@EDITORS@/emacs/stet.el")
(global-set-key (kbd "C-c s") 'stet-command-map)

;; Without stet.el, with lsp-mode and its other servers:
;; (lsp-register-client (make-lsp-client :new-connection (lsp-stdio-connection '("stet" "--stdio"))
;;                                       :major-modes '(python-mode python-ts-mode) :add-on? t :server-id 'stet))
;; With eglot, which runs one server in a buffer, for a mode that has no other:
;; (add-to-list 'eglot-server-programs '(sh-mode . ("stet" "--stdio")))
