;; SPDX-License-Identifier: GPL-2.0-or-later
;; Functions that are left by throw, by a condition's handler and by a return out of a lambda, and that return several
;; values. None has a symbol, and calls go through a jump elsewhere in memory. Printed: where each may be entered, then
;; the tree of all calls.
(declaim (optimize (speed 1) (debug 0)))
(setf (sb-ext:bytes-consed-between-gcs) (* 400 1024 1024)) ; code is not moved
(defvar *log* nil)
(defvar *depth* 0)
(declaim (type fixnum *depth*))
(defvar *names* nil)
(defmacro logged (name args &body body)
  `(progn (declaim (notinline ,name))
          (defun ,name ,args
            (push (cons *depth* ',name) *log*)
            (let ((depth *depth*))
              (setf *depth* (1+ depth))
              (multiple-value-prog1 (macrolet ((came-back () '(setf *depth* (1+ depth)))) ,@body)
                (setf *depth* depth))))
          (push ',name *names*)))
(logged leaf () nil)
(logged thrower (k) (leaf) (if (= k 0) (throw 'out 1) (progn (thrower (1- k)) (leaf))))
(logged catches (k) (catch 'out (leaf) (thrower k)) (came-back) (leaf))
(define-condition oops (error) ())
(logged bad (k) (leaf) (if (= k 0) (error 'oops) (progn (bad (1- k)) (leaf))))
(logged handles (k) (handler-case (bad k) (oops () (came-back) (leaf))) (leaf))
(logged protects (k) (unwind-protect (thrower k) (leaf))) ; runs above those that are left
(logged both (k) (catch 'out (protects k)) (came-back) (leaf))
(logged nest (k) (catch 'out (when (> k 0) (nest (1- k))) (thrower k)) (came-back) (leaf))
(logged several (k) (leaf) (values-list (loop for i below k collect i)))
(logged takes (k) (multiple-value-call #'list (several k) (several 2)) (leaf))
(logged each (l) (block nil (mapc (lambda (x) (leaf) (when (= x 2) (return))) l)) (leaf))
(logged all-of-them ()
  (dotimes (i 10) (catches 3) (handles 3) (both 3) (nest 4) (takes 3) (each '(1 2 3))))
(all-of-them)
(dolist (name *names*)
  (let* ((entry (+ (- (sb-kernel:get-lisp-obj-address (fdefinition name)) sb-vm:fun-pointer-lowtag)
                   (* sb-vm:simple-fun-insts-offset 8)))
         (fdefn (ignore-errors (sb-kernel::find-fdefn name))) ; SBCL 2.5 has none, and calls go to the entry
         (jump (if fdefn (- (sb-kernel:get-lisp-obj-address fdefn) sb-vm:other-pointer-lowtag) entry)))
    (format t "= ~(~x ~x ~a~)~%" entry jump name)))
(dolist (call (reverse *log*))
  (dotimes (i (* 2 (car call))) (write-char #\Space))
  (format t "~(~a~)~%" (cdr call)))
