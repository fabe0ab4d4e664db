(* SPDX-License-Identifier: GPL-2.0-or-later *)
(* Functions that are left by exceptions, nested, of recursive functions and raised again; and their tree of calls. *)
exception Out of int
let log = ref []
let depth = ref 0
let enter name = log := (!depth, name) :: !log; incr depth
let leave d = depth := d
let [@inline never] leaf () = let d = !depth in enter "leaf"; leave d
let [@inline never] rec fail n = let d = !depth in enter "fail"; leaf (); if n = 0 then raise (Out n); ignore (Sys.opaque_identity (fail (n - 1))); leave d
let [@inline never] rec nest n =
  let d = !depth in
  enter "nest";
  (try (if n > 0 then nest (n - 1)); fail n with Out _ -> leave (d + 1); leaf ());
  leave d
let [@inline never] again n =
  let d = !depth in
  enter "again";
  (try (try fail n with Out k -> leave (d + 1); leaf (); raise (Out (k + 1))) with Out _ -> leave (d + 1); leaf ());
  leaf ();
  leave d
let [@inline never] finish n =
  let d = !depth in
  enter "finish";
  (try Fun.protect ~finally:(fun () -> ()) (fun () -> fail n) with Out _ -> leave (d + 1); leaf ());
  leave d
let [@inline never] rec each n =
  let d = !depth in
  enter "each";
  (try List.iter (fun x -> if x = n then raise Exit else leaf ()) [1; 2; 3; 4] with Exit -> leave (d + 1); leaf ());
  (if n > 1 then try each (n - 1) with Not_found -> leaf ());
  leave d
let [@inline never] all () =
  let d = !depth in
  enter "all";
  for i = 0 to 19 do nest (i mod 5); again (i mod 3); finish 2; each (i mod 4 + 1) done;
  leave d
let () =
  all ();
  List.iter (fun (d, name) -> Printf.printf "%s%s\n" (String.make (2 * d) ' ') name) (List.rev !log)
