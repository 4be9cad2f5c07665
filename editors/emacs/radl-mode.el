;;; radl-mode.el --- Major mode for RADL files  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Highlighting and indentation of RADL 1 and `radl 2' files, formatting through `radlc fmt', and the language
;; server for eglot:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'radl-mode)
;;   (add-hook 'radl-mode-hook #'eglot-ensure)

;;; Code:

(defgroup radl nil
  "RADL files."
  :group 'languages)

(defcustom radl-program "radlc"
  "The compiler: formats buffers and serves eglot."
  :type 'string)

(defcustom radl-indent-offset 2
  "Columns that a group's inside stands further in."
  :type 'integer
  :safe #'integerp)

(defvar radl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?' "\"" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?. "_" table)
    (modify-syntax-entry ?- "_" table)
    table)
  "Texts are in single or double quotes, comments go from # to the line's end.")

(defconst radl--name "[A-Za-z_.][A-Za-z0-9_.-]*")

(defconst radl-font-lock-keywords
  `((,(concat "\\_<\\(description\\|network\\|system\\|ansible\\|input\\|output\\|let\\|configure\\|deploy\\)\\_>\\s-+\\("
              radl--name "\\)")
     (1 font-lock-keyword-face) (2 font-lock-type-face))
    (,(regexp-opt '("radl" "assert" "moved" "use" "each" "contextualize" "as" "option" "step" "with" "after" "when" "in" "if" "then" "else" "for") 'symbols)
     . font-lock-keyword-face)
    (,(regexp-opt '("let" "soft" "contains" "and" "or" "not") 'symbols) . font-lock-builtin-face)
    (,(regexp-opt '("yes" "no" "true" "false") 'symbols) . font-lock-constant-face)
    (,(concat "\\(" radl--name "\\)\\s-*\\(?:[<>]=?\\|==?\\|\\_<contains\\_>\\)") 1 font-lock-variable-name-face)
    ("\\_<\\([a-z_]+\\)(" 1 font-lock-function-name-face)
    ("^@end\\_>\\|@begin\\_>" 0 font-lock-preprocessor-face t))
  "What a word is, outside of texts, comments and recipes.")

(defun radl--recipe-p (position)
  "Is POSITION inside the recipe of a configure sentence?"
  (save-excursion
    (goto-char position)
    (and (re-search-backward "^@end\\_>\\|\\(?:^\\|(\\)[ \t]*\\(@begin\\)" nil t)
         (match-beginning 1)
         t)))

(defun radl--plain (begin end)
  "Make quotes, comment signs and brackets between BEGIN and END ordinary.
A recipe is YAML, and not for this mode to read."
  (save-excursion
    (goto-char begin)
    (while (re-search-forward "['#()\\]\\|\\[" end t)
      (put-text-property (1- (point)) (point) 'syntax-table '(1)))))

(defun radl-syntax-propertize (start end)
  "Take recipes between START and END out of the syntax of texts and comments."
  (goto-char start)
  (beginning-of-line)
  (let ((inside (radl--recipe-p (point))))
    (while (< (point) end)
      (if (not inside)
          (setq inside (re-search-forward "\\(?:^\\|(\\)[ \t]*@begin\\_>" end 'move))
        (let ((from (point)))
          (setq inside (not (re-search-forward "^@end\\_>" end 'move)))
          (radl--plain from (if inside end (match-beginning 0))))))))

(defun radl-indent-line ()
  "Indent by the groups that are open; leave recipes alone."
  (interactive)
  (let* ((begin (line-beginning-position))
         (state (save-excursion (syntax-ppss begin)))
         (closes (save-excursion (goto-char begin) (looking-at "[ \t]*[])]")))
         (depth (max 0 (- (car state) (if closes 1 0)))))
    (cond
     ((or (nth 3 state) (radl--recipe-p begin)) 'noindent)
     ((save-excursion (goto-char begin) (looking-at "[ \t]*@\\(begin\\|end\\)\\_>")) (indent-line-to 0))
     (t (let ((behind (> (current-column) (current-indentation))))
          (save-excursion (indent-line-to (* depth radl-indent-offset)))
          (unless behind (back-to-indentation)))))))

(defun radl-format-buffer ()
  "Lay the buffer out as `radlc fmt' does.
A buffer with syntax errors is left alone."
  (interactive)
  (let ((made (generate-new-buffer " *radl-fmt*"))
        (errors (make-temp-file "radl-fmt")))
    (unwind-protect
        (if (zerop (call-process-region nil nil radl-program nil (list made errors) nil "fmt" "-"))
            (replace-buffer-contents made)
          (message "%s" (with-temp-buffer (insert-file-contents errors) (buffer-string))))
      (kill-buffer made)
      (delete-file errors))))

;;;###autoload
(define-derived-mode radl-mode prog-mode "RADL"
  "Major mode for RADL files."
  (setq-local comment-start "# ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "#+[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'radl-indent-line)
  (setq-local syntax-propertize-function #'radl-syntax-propertize)
  (setq-local font-lock-defaults '(radl-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.radl\\'" . radl-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (list 'radl-mode radl-program "lsp")))

(provide 'radl-mode)
;;; radl-mode.el ends here
