(* SPDX-License-Identifier: GPL-2.0-or-later *)
(* Effect handlers: fibers that perform effects at several depths, are continued from other depths, start fibers of their
   own, end by an exception and are discontinued; and their trees of calls. *)
open Effect
type _ Effect.t += Yield : int -> int Effect.t | Ask : int Effect.t

let log = ref []
let stack = ref 0
let stacks = ref 0
let depth = Array.make 4096 0
let enter name = log := (!stack, depth.(!stack), name) :: !log; depth.(!stack) <- depth.(!stack) + 1

(* Where an open call goes on after calls of others. *)
let here s d = stack := s; depth.(s) <- d
let [@inline never] leaf () = let s = !stack and d = depth.(!stack) in enter "leaf"; here s d
let [@inline never] yielding n = let s = !stack and d = depth.(!stack) in enter "yielding"; ignore (Sys.opaque_identity (perform (Yield n))); here s (d + 1); leaf (); here s d
let [@inline never] rec nested k n =
  let s = !stack and d = depth.(!stack) in
  enter "nested";
  (if k > 0 then nested (k - 1) n else yielding n);
  leaf ();
  here s d
let [@inline never] asking () = let s = !stack and d = depth.(!stack) in enter "asking"; ignore (Sys.opaque_identity (perform Ask)); here s (d + 1); leaf (); here s d
let [@inline never] rec deep k = let s = !stack and d = depth.(!stack) in enter "deep"; (if k > 0 then ignore (Sys.opaque_identity (deep (k - 1))) else asking ()); leaf (); here s d; k
let [@inline never] failing k = let s = !stack and d = depth.(!stack) in enter "failing"; leaf (); if k >= 0 then raise Not_found; here s d

type state = Done | Failed | Waits of (int, state) Deep.continuation
let again = ref (fun (_ : int) (_ : int) -> ())

(* The fiber's first function. *)
let [@inline never] body mine rounds below =
  stack := mine;
  enter "body";
  for i = 0 to rounds - 1 do
    leaf ();
    (if below > 0 then !again 2 (below - 1));
    nested i i;
    (if i = 1 then ignore (Sys.opaque_identity (deep 3)));
    (try failing i with Not_found -> here mine 1; leaf ())
  done;
  (if rounds = 3 then failing 1);
  here mine 0;
  Done

let handler = {
  Deep.retc = (fun state -> state);
  exnc = (fun _ -> Failed);
  effc = fun (type a) (e : a Effect.t) -> match e with
    | Yield _ -> Some (fun (k : (a, state) Deep.continuation) -> Waits k)
    | Ask -> Some (fun (k : (a, state) Deep.continuation) -> Deep.continue k 7)
    | _ -> None }

let [@inline never] rec start k rounds below =
  let s = !stack and d = depth.(!stack) in
  enter "start";
  let state =
    if k > 0 then start (k - 1) rounds below
    else (incr stacks; let mine = !stacks in Deep.match_with (fun () -> body mine rounds below) () handler) in
  here s (d + 1);
  leaf ();
  here s d;
  state

let [@inline never] rec resume k state =
  let s = !stack and d = depth.(!stack) in
  enter "resume";
  let state = if k > 0 then resume (k - 1) state else match state with
    | Waits fiber -> if !stacks mod 7 = 6 then Deep.discontinue fiber Exit else Deep.continue fiber 1
    | state -> state in
  here s (d + 1);
  leaf ();
  here s d;
  state

let [@inline never] drive width below =
  let s = !stack and d = depth.(!stack) in
  enter "drive";
  let all = Array.init width (fun i -> start i (i + 1) below) in
  here s (d + 1);
  for round = 0 to 40 do
    Array.iteri (fun i state -> match state with
      | Waits _ -> all.(i) <- resume ((i + round) mod 3) state; here s (d + 1)
      | _ -> ()) all
  done;
  here s d

let () =
  again := drive;
  drive 4 0;
  drive 3 1;
  drive 2 2;
  let calls = List.rev !log in
  for s = 0 to !stacks do
    print_endline "stack";
    List.iter (fun (of_, d, name) -> if of_ = s then Printf.printf "%s%s\n" (String.make (2 * d) ' ') name) calls
  done
