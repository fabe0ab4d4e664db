{ SPDX-License-Identifier: GPL-2.0-or-later }
{ Functions that are left by exceptions, nested, of recursive functions and raised again; and their tree of calls. }
program trees;
{$mode objfpc}{$H+}
uses sysutils;
type
  EOut = class(Exception);
var
  names: array[0..65535] of string[15];
  depths: array[0..65535] of longint;
  n, depth, i: longint;

procedure enter(const name: string);
begin
  names[n] := name; depths[n] := depth; inc(n); inc(depth);
end;

procedure leaf;
var d: longint;
begin
  d := depth; enter('leaf'); depth := d;
end;

procedure fail(k: longint);
var d: longint;
begin
  d := depth; enter('fail');
  leaf;
  if k = 0 then raise EOut.create('out');
  fail(k - 1);
  depth := d;
end;

procedure nest(k: longint);
var d: longint;
begin
  d := depth; enter('nest');
  try
    if k > 0 then nest(k - 1);
    fail(k);
  except
    on EOut do begin depth := d + 1; leaf; end;
  end;
  depth := d;
end;

procedure finish(k: longint);
var d: longint;
begin
  d := depth; enter('finish');
  try
    fail(k);
  finally
    depth := d + 1;
    leaf;
  end;
  depth := d;
end;

procedure again(k: longint);
var d: longint;
begin
  d := depth; enter('again');
  try
    try
      finish(k);
    except
      on EOut do begin depth := d + 1; leaf; raise; end;
    end;
  except
    depth := d + 1;
    leaf;
  end;
  depth := d;
end;

procedure all;
var d: longint;
begin
  d := depth; enter('all');
  for i := 0 to 19 do begin
    nest(i mod 5);
    again(i mod 3);
  end;
  depth := d;
end;

begin
  all;
  for i := 0 to n - 1 do writeln(stringofchar(' ', 2 * depths[i]), names[i]);
end.
