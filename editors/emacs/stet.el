;;; stet.el --- placeholder
