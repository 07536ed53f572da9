;;; stet.el --- AI edits that are checked before they are offered -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: tools, languages

;;; Commentary:

;; A small client of the Stet language server.  It runs with eglot or lsp-mode, which keep their servers: Emacs sends
;; Stet a document when you use a command of this file, and its changes from then on.
;;
;; M-x stet lists the actions; M-x stet-refactor and so on run one.  An edit that needs your decision is shown as a
;; diff first: a applies it, q discards it, r asks for another instruction, e shows the evidence.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'url-util)
(require 'diff-mode)

(defgroup stet nil "AI edits that are checked before they are offered." :group 'tools :prefix "stet-")

(defcustom stet-command '("stet" "--stdio")
  "The command that starts the server."
  :type '(repeat string))

(defconst stet-actions
  '("generate" "debug" "refactor" "optimize" "test" "explain" "analyze" "task" "document")
  "The actions of Stet.")

(defconst stet--custom '("document")
  "Actions that are started by their name, as those of users, packages and projects are.")

(defconst stet--asked '("generate" "task")
  "Actions that ask for an instruction; the others do with a prefix argument.")

(defvar stet--process nil "The process of the server.")
(defvar stet--ready nil "Non-nil once the server has answered `initialize'.")
(defvar stet--waiting nil "What to do once the server is ready, the newest first.")
(defvar stet--serial 0 "The id of the last request.")
(defvar stet--pending (make-hash-table) "Functions that take the results of requests, by id.")
(defvar stet--progress nil "What runs: an alist of tokens and lines of text.")
(defvar stet--last nil "The last job: its id, buffer, action.")
(defvar stet-history nil "Instructions that were given.")

(defvar-local stet--version nil "The version of this buffer that the server has, nil if it is not open there.")
(defvar-local stet--tick nil "`buffer-chars-modified-tick' of that version.")

;;;; The wire

(defun stet--send (message)
  "Sends MESSAGE, a plist."
  (let ((body (encode-coding-string
               (json-serialize (append '(:jsonrpc "2.0") message) :null-object nil :false-object :json-false)
               'utf-8)))
    (process-send-string stet--process (format "Content-Length: %d\r\n\r\n%s" (string-bytes body) body))))

(defun stet--request (method params &optional on-result)
  "Sends a request; ON-RESULT gets its result.  An error is shown."
  (cl-incf stet--serial)
  (puthash stet--serial (or on-result #'ignore) stet--pending)
  (stet--send (list :id stet--serial :method method :params params)))

(defun stet--command (command argument &optional on-result)
  "Sends a command of the server with one ARGUMENT, a plist or nil."
  (stet--request "workspace/executeCommand"
                 (append (list :command command) (and argument (list :arguments (vector argument))))
                 on-result))

(defun stet--filter (process text)
  "Collects TEXT of PROCESS and takes whole messages out of it."
  (when (buffer-live-p (process-buffer process))
    (let (messages)
      (with-current-buffer (process-buffer process)
        (goto-char (point-max))
        (insert text)
        (goto-char (point-min))
        (while (and (re-search-forward "Content-Length: *\\([0-9]+\\)\r\n\\(?:.+\r\n\\)*\r\n" nil t)
                    (<= (+ (point) (string-to-number (match-string 1))) (point-max)))
          (let ((end (+ (point) (string-to-number (match-string 1)))))
            (push (json-parse-string (decode-coding-string (buffer-substring (point) end) 'utf-8)
                                     :object-type 'plist :null-object nil :false-object nil)
                  messages)
            (delete-region (point-min) end)))
        (goto-char (point-min)))
      (mapc #'stet--receive (nreverse messages)))))

(defun stet--receive (message)
  "Handles one MESSAGE of the server."
  (let ((id (plist-get message :id)) (method (plist-get message :method)))
    (cond
     ((and method (plist-member message :id)) (stet--asked-by-server id (intern method) (plist-get message :params)))
     (method (stet--notified (intern method) (plist-get message :params)))
     (t (let ((run (gethash id stet--pending)))
          (remhash id stet--pending)
          (if (plist-get message :error)
              (message "Stet: %s" (plist-get (plist-get message :error) :message))
            (when run (funcall run (plist-get message :result)))))))))

(defun stet--reply (id result)
  "Answers the request ID of the server."
  (stet--send (list :id id :result result)))

(defun stet--notified (method params)
  "Handles a notification of the server."
  (pcase method
    ('window/showMessage (message "Stet: %s" (plist-get params :message)))
    ('$/progress (stet--on-progress (plist-get params :token) (plist-get params :value)))))

(defun stet--asked-by-server (id method params)
  "Answers a request of the server; what needs the user is answered later."
  (pcase method
    ('workspace/applyEdit (stet--reply id (stet--apply params)))
    ('window/showDocument (stet--reply id (stet--show params)))
    ('window/showMessageRequest (run-at-time 0 nil #'stet--choose id params))
    ('stet/offer (run-at-time 0 nil #'stet--offer id params))
    ('workspace/configuration (stet--reply id (make-vector (length (plist-get params :items)) nil)))
    (_ (stet--reply id nil))))

;;;; The server

(defun stet--start ()
  "Starts the server."
  (unless (executable-find (car stet-command))
    (user-error "Stet: %s is not installed or not on PATH; set `stet-command'" (car stet-command)))
  (clrhash stet--pending)
  (setq stet--ready nil stet--progress nil
        stet--process
        (let ((process-adaptive-read-buffering nil))
          (make-process :name "stet" :command stet-command :coding 'no-conversion :connection-type 'pipe :noquery t
                        :buffer (with-current-buffer (get-buffer-create " *stet*")
                                  (set-buffer-multibyte nil) (erase-buffer) (current-buffer))
                        :stderr (get-buffer-create " *stet log*")
                        :filter #'stet--filter :sentinel #'stet--ended)))
  (let ((root (if-let ((project (locate-dominating-file default-directory ".git"))) project default-directory)))
    (stet--request
     "initialize"
     (list :processId (emacs-pid) :rootUri (stet--uri (expand-file-name root))
           :clientInfo (list :name "stet.el" :version emacs-version)
           :initializationOptions '(:plugin (:name "emacs" :reports t :offers t :diffs t))
           :capabilities
           '(:general (:positionEncodings ["utf-32"])
             :window (:workDoneProgress t :showDocument (:support t))
             :workspace (:applyEdit t :workspaceEdit (:documentChanges t :resourceOperations ["create"]))
             :textDocument (:publishDiagnostics (:relatedInformation :json-false))))
     (lambda (_)
       (stet--send '(:method "initialized" :params #s(hash-table)))
       (setq stet--ready t)
       (mapc #'funcall (nreverse (prog1 stet--waiting (setq stet--waiting nil))))))))

(defun stet--ended (process event)
  "Report that PROCESS has ended by itself."
  (unless (process-live-p process)
    (setq stet--progress nil stet--waiting nil)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (setq stet--version nil)))
    (unless (string-match-p "finished" event)
      (message "Stet: the server ended (%s); no text was changed.  The next command starts it again"
               (string-trim event)))))

(defun stet--when-ready (run)
  "Calls RUN when the server is ready; starts it if it does not run."
  (cond ((and (process-live-p stet--process) stet--ready) (funcall run))
        (t (push run stet--waiting)
           (unless (process-live-p stet--process) (stet--start)))))

(defun stet-restart ()
  "Ends the server; the next command starts it again."
  (interactive)
  (when (process-live-p stet--process) (kill-process stet--process))
  (message "Stet: the next command starts the server again"))

;;;; Documents

(defun stet--uri (file)
  "The URI of FILE."
  (concat "file://" (mapconcat #'url-hexify-string (split-string file "/") "/")))

(defun stet--file (uri)
  "The file of URI."
  (decode-coding-string (url-unhex-string (string-remove-prefix "file://" uri)) 'utf-8))

(defun stet--text () "The whole text of the buffer."
       (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max))))

(defun stet--language ()
  "The language of the buffer, by its mode."
  (let ((name (string-remove-suffix "-ts" (string-remove-suffix "-mode" (symbol-name major-mode)))))
    (pcase name ("js" "javascript") ("js2" "javascript") ("c++" "cpp") ("sh" "shellscript") (_ name))))

(defun stet--sync ()
  "Sends the buffer to the server, if it has changed."
  (let ((uri (stet--uri (buffer-file-name))))
    (cond
     ((null stet--version)
      (setq stet--version 0)
      (stet--send (list :method "textDocument/didOpen"
                        :params (list :textDocument (list :uri uri :languageId (stet--language) :version 0
                                                          :text (stet--text)))))
      (add-hook 'after-change-functions #'stet--changed nil t)
      (add-hook 'after-save-hook #'stet--saved nil t)
      (add-hook 'kill-buffer-hook #'stet--closed nil t))
     ((not (eql stet--tick (buffer-chars-modified-tick)))
      (cl-incf stet--version)
      (stet--send (list :method "textDocument/didChange"
                        :params (list :textDocument (list :uri uri :version stet--version)
                                      :contentChanges (vector (list :text (stet--text))))))))
    (setq stet--tick (buffer-chars-modified-tick))))

(defvar stet--timer nil "Sends changes of the buffers when typing rests for a moment.")

(defun stet--changed (&rest _)
  "The buffer has changed."
  (unless (timerp stet--timer)
    (setq stet--timer (run-with-timer 0.1 nil #'stet--sync-all))))

(defun stet--sync-all ()
  "Sends all changes."
  (setq stet--timer nil)
  (when (and (process-live-p stet--process) stet--ready)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (when (and stet--version (buffer-file-name)) (stet--sync))))))

(defun stet--saved ()
  "The buffer was saved."
  (when (and stet--version (process-live-p stet--process))
    (stet--sync)
    (stet--send (list :method "textDocument/didSave"
                      :params (list :textDocument (list :uri (stet--uri (buffer-file-name))))))))

(defun stet--closed ()
  "The buffer is killed."
  (when (and stet--version (process-live-p stet--process))
    (stet--send (list :method "textDocument/didClose"
                      :params (list :textDocument (list :uri (stet--uri (buffer-file-name))))))))

(defun stet--position (point)
  "POINT as the protocol has it."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char point)
      (list :line (1- (line-number-at-pos)) :character (- (point) (line-beginning-position))))))

(defun stet--point (position)
  "The buffer's position of POSITION."
  (goto-char (point-min))
  (forward-line (plist-get position :line))
  (min (+ (point) (plist-get position :character)) (line-end-position)))

;;;; Edits

(defun stet--apply (params)
  "Applies a workspace edit in one undo step per buffer, if all its versions are the buffers'."
  (stet--sync-all)
  (let* ((changes (append (plist-get (plist-get params :edit) :documentChanges) nil))
         (stale (seq-find #'stet--stale changes)))
    (if stale
        (list :applied :json-false :failureReason "the version of the document has changed")
      (mapc #'stet--apply-change changes)
      (stet--sync-all)
      '(:applied t))))

(defun stet--stale (change)
  "Whether CHANGE was made for another version of its document."
  (let* ((document (plist-get change :textDocument)) (version (plist-get document :version)))
    (when (and document version)
      (with-current-buffer (find-file-noselect (stet--file (plist-get document :uri)))
        (not (eql version (or stet--version 0)))))))

(defun stet--apply-change (change)
  "Applies CHANGE of one document, or creates its file."
  (let ((uri (or (plist-get change :uri) (plist-get (plist-get change :textDocument) :uri))))
    (with-current-buffer (find-file-noselect (stet--file uri))
      (if (equal (plist-get change :kind) "create")
          (progn (make-directory default-directory t) (display-buffer (current-buffer)))
        (undo-boundary)
        (save-excursion
          (save-restriction
            (widen)
            (atomic-change-group
              (dolist (edit (sort (append (plist-get change :edits) nil) #'stet--later))
                (let* ((range (plist-get edit :range))
                       (start (copy-marker (stet--point (plist-get range :start)))))
                  (delete-region start (stet--point (plist-get range :end)))
                  (goto-char start)
                  (insert (plist-get edit :newText)))))))
        (undo-boundary)))))

(defun stet--later (one other)
  "Whether edit ONE comes after OTHER in the text."
  (let ((a (plist-get (plist-get one :range) :start)) (b (plist-get (plist-get other :range) :start)))
    (or (> (plist-get a :line) (plist-get b :line))
        (and (= (plist-get a :line) (plist-get b :line)) (> (plist-get a :character) (plist-get b :character))))))

;;;; Questions

(defun stet--choose (id params)
  "Asks a question of the server with its buttons."
  (let* ((titles (mapcar (lambda (row) (plist-get row :title)) (append (plist-get params :actions) nil)))
         (title (condition-case nil
                    (completing-read (concat "Stet: " (plist-get params :message) " ") titles nil t)
                  (quit nil))))
    (stet--reply id (and (member title titles) (list :title title)))))

(defvar stet-offer-map
  (let ((map (make-sparse-keymap)))
    (define-key map "a" #'stet-apply)
    (define-key map "q" #'stet-discard)
    (define-key map "r" #'stet-try-again)
    (define-key map "e" #'stet-evidence)
    map)
  "The keys of an edit that waits for a decision.")

(define-derived-mode stet-offer-mode diff-mode "Stet"
  "Shows an edit that waits for a decision."
  (setq buffer-read-only t)
  (use-local-map (make-composed-keymap (list stet-offer-map diff-mode-shared-map)))
  (setq header-line-format " a Apply   q Discard   r Try again   e Evidence   n p Next and previous change"))

(defvar-local stet--answer nil "The request that waits for the decision, and its job.")

(defun stet--offer (id params)
  "Shows an edit as a diff below its verdict, and answers the request ID when the user has decided."
  (let ((buffer (generate-new-buffer "*Stet edit*")))
    (with-current-buffer buffer
      (let ((headline (plist-get params :headline)))
        (insert (if (string-empty-p headline) (plist-get params :question) headline) "\n\n"))
      (seq-doseq (file (plist-get params :files)) (stet--insert-diff file))
      (goto-char (point-min))
      (stet-offer-mode)
      (setq stet--answer (list id (plist-get params :job)))
      (add-hook 'kill-buffer-hook #'stet--discarded nil t))
    (pop-to-buffer buffer)))

(defun stet--insert-diff (file)
  "Inserts the difference between the texts of FILE."
  (let ((old (make-temp-file "stet-old")) (new (make-temp-file "stet-new")) (name (plist-get file :name)))
    (unwind-protect
        (let ((coding-system-for-write 'utf-8-unix) (coding-system-for-read 'utf-8-unix))
          (write-region (plist-get file :before) nil old nil 'quiet)
          (write-region (plist-get file :after) nil new nil 'quiet)
          (call-process "diff" nil t nil "-u" "--label" name "--label" name old new))
      (delete-file old)
      (delete-file new))))

(defun stet--decide (choice)
  "Answers the waiting request by CHOICE and closes its buffer."
  (let ((id (car stet--answer)))
    (setq stet--answer nil)
    (when (and id (process-live-p stet--process)) (stet--reply id choice))
    (quit-window t)))

(defun stet--discarded ()
  "The buffer is killed: its edit is discarded."
  (when (and stet--answer (process-live-p stet--process)) (stet--reply (car stet--answer) "Discard")))

(defun stet-apply () "Applies the edit." (interactive) (stet--decide "Apply"))
(defun stet-discard () "Discards the edit." (interactive) (stet--decide "Discard"))

(defun stet-try-again (instruction)
  "Discards the edit and runs its job again with another INSTRUCTION."
  (interactive (list (read-string "Try again, how? (empty: the same) " nil 'stet-history)))
  (let ((job (cadr stet--answer)))
    (stet--decide "Discard")
    (stet--job "stet.retry" (list :job job :instruction instruction))))

;;;; Actions

(defun stet--place ()
  "The region, else point."
  (if (use-region-p)
      (list :range (list :start (stet--position (region-beginning)) :end (stet--position (region-end))))
    (list :position (stet--position (point)))))

(defun stet--target (place run)
  "Calls RUN with what an action at PLACE works on, as text, and the instruction of a comment there."
  (stet--command "stet.target" (append (list :uri (stet--uri (buffer-file-name))) place)
                 (lambda (target)
                   (let ((unit (plist-get target :unit)) (first (plist-get target :first)))
                     (funcall run
                              (if first (format "%slines %d-%d" (if unit (format "%s, " unit) "")
                                                (1+ first) (1+ (plist-get target :last)))
                                "the file")
                              (plist-get target :instruction))))))

(defun stet--run (action asks)
  "Runs ACTION on the region or at point; asks for an instruction first if ASKS."
  (unless (buffer-file-name) (user-error "Stet: this buffer has no file"))
  (let ((buffer (current-buffer)) (place (stet--place)))
    (stet--when-ready
     (lambda ()
       (with-current-buffer buffer
         (stet--sync)
         (let ((start (lambda (instruction)
                        (with-current-buffer buffer
                          (stet--job (if (member action stet--custom) "stet.custom" (concat "stet." action))
                                     (append (list :uri (stet--uri (buffer-file-name))
                                                   :diagnostics (stet--diagnostics))
                                             (and (member action stet--custom) (list :action action))
                                             place
                                             (unless (string-empty-p instruction)
                                               (list :instruction instruction))))))))
           (if (not asks)
               (funcall start "")
             (stet--target place
                           (lambda (name comment)
                             (run-at-time 0 nil (lambda ()
                                                  (funcall start (read-string (format "%s (%s): " (capitalize action) name)
                                                                              comment 'stet-history)))))))))))))

(defun stet--diagnostics ()
  "What Flymake or Flycheck reports on the line of point."
  (let ((first (line-beginning-position)) (last (line-end-position)))
    (vconcat
     (mapcar (lambda (item)
               (list :range (list :start (stet--position (flymake-diagnostic-beg item))
                                  :end (stet--position (flymake-diagnostic-end item)))
                     :message (flymake-diagnostic-text item) :source "flymake"))
             (and (bound-and-true-p flymake-mode) (flymake-diagnostics first last)))
     (mapcar (lambda (item)
               (list :range (list :start (stet--position first) :end (stet--position last))
                     :message (flycheck-error-message item) :source "flycheck"))
             (and (bound-and-true-p flycheck-mode) (flycheck-overlay-errors-in first last))))))

(defun stet--job (command argument)
  "Starts a job by COMMAND and shows its report."
  (message "Stet: %s …" (string-remove-prefix "stet." command))
  (stet--command command argument
                 (lambda (started)
                   (setq stet--last (plist-get started :job))
                   (stet--command "stet.result" (list :job stet--last :wait t) #'stet--finished))))

(defvar stet-done-hook nil "Called with the result of each job.")

(defun stet--finished (result)
  "Shows the RESULT of a job: its report, or one sentence."
  (let ((markdown (plist-get result :markdown)))
    (if (and (equal (plist-get result :status) "done") (not (string-empty-p markdown)))
        (stet--report "*Stet*" markdown)
      (message "Stet: %s" (plist-get result :message))))
  (run-hook-with-args 'stet-done-hook result))

(defun stet--report (name text)
  "Shows TEXT in a buffer called NAME."
  (with-current-buffer (get-buffer-create name)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert text)
      (goto-char (point-min)))
    (when (fboundp 'markdown-view-mode) (markdown-view-mode))
    (visual-line-mode)
    (view-mode)
    (display-buffer (current-buffer))))

(defun stet--show (params)
  "Opens a document for the server."
  (display-buffer (find-file-noselect (stet--file (plist-get params :uri))))
  '(:success t))

;;;; Commands

(dolist (action stet-actions)
  (defalias (intern (concat "stet-" action))
    (lambda (asks)
      (interactive "P")
      (stet--run action (or asks (member action stet--asked))))
    (format "Runs the action %s on the region or at point.\nWith a prefix argument, asks for an instruction." action)))

(defun stet (action)
  "Asks for an ACTION and runs it on the region or at point."
  (interactive (list (completing-read "Stet: " stet-actions nil t)))
  (funcall (intern (concat "stet-" action)) current-prefix-arg))

(defun stet-evidence ()
  "Shows what was checked of the last job."
  (interactive)
  (stet--command "stet.evidence" (list :job (or (cadr stet--answer) stet--last))
                 (lambda (result) (stet--report "*Stet evidence*" (plist-get result :markdown)))))

(defun stet-retry (instruction)
  "Runs the last job again with another INSTRUCTION."
  (interactive (list (read-string "Again, how? (empty: the same) " nil 'stet-history)))
  (stet--job "stet.retry" (list :job stet--last :instruction instruction)))

(defun stet-cancel ()
  "Cancels a job; asks which if several run."
  (interactive)
  (stet--command
   "stet.jobs" nil
   (lambda (result)
     (let ((running (seq-filter (lambda (job) (equal (plist-get job :status) "running"))
                                (append (plist-get result :jobs) nil))))
       (run-at-time 0 nil #'stet--cancel-one running)))))

(defun stet--cancel-one (jobs)
  "Cancels one of JOBS."
  (let* ((rows (mapcar (lambda (job) (cons (format "%s %s, %.0f s" (plist-get job :action)
                                                   (file-name-nondirectory (plist-get job :uri))
                                                   (plist-get job :seconds))
                                           (plist-get job :job)))
                       jobs))
         (id (pcase (length rows)
               (0 nil)
               (1 (cdar rows))
               (_ (cdr (assoc (completing-read "Cancel: " rows nil t) rows))))))
    (if (null id) (message "Stet: nothing runs")
      (stet--command "stet.cancel" (list :job id)))))

(defun stet-setup ()
  "Asks which model to use."
  (interactive)
  (stet--when-ready
   (lambda () (stet--command "stet.setup" nil
                             (lambda (result) (when-let ((chosen (plist-get result :chosen)))
                                                (message "Stet: %s" chosen)))))))

(defun stet-health ()
  "Shows which model serves."
  (interactive)
  (stet--when-ready
   (lambda () (stet--command "stet.health" nil
                             (lambda (result)
                               (message "Stet: %s is %s" (or (plist-get result :model) "no model")
                                        (plist-get result :status)))))))

(defun stet--on-progress (token value)
  "Shows the progress VALUE of TOKEN in the mode line and the echo area."
  (let* ((row (assoc token stet--progress))
         (title (or (plist-get value :title) (cadr row) "Stet"))
         (line (string-join (delq nil (list title (plist-get value :message))) ": ")))
    (setq stet--progress (delq row stet--progress))
    (unless (equal (plist-get value :kind) "end")
      (push (list token title line) stet--progress)
      (unless (or (active-minibuffer-window) noninteractive)
        (let ((message-log-max nil)) (message "%s" line))))
    (force-mode-line-update t)))

(defun stet-status ()
  "What runs, for the mode line."
  (pcase (length stet--progress)
    (0 "")
    (1 (format " [%s]" (nth 2 (car stet--progress))))
    (count (format " [Stet: %d running]" count))))

(add-to-list 'mode-line-misc-info '(:eval (stet-status)) t)

(defvar stet-command-map
  (let ((map (make-sparse-keymap)))
    (dolist (row '(("s" . stet) ("g" . stet-generate) ("d" . stet-debug) ("r" . stet-refactor) ("o" . stet-optimize)
                   ("t" . stet-test) ("x" . stet-explain) ("a" . stet-analyze) ("k" . stet-task) ("m" . stet-document)
                   ("e" . stet-evidence) ("c" . stet-cancel) ("R" . stet-retry) ("h" . stet-health)))
      (define-key map (kbd (car row)) (cdr row)))
    map)
  "Keys of all commands, for a prefix of your own.")
(fset 'stet-command-map stet-command-map)

(provide 'stet)
;;; stet.el ends here
