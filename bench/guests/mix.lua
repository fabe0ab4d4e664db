-- SPDX-License-Identifier: GPL-2.0-or-later
-- A script as people write them: recursion, closures, strings, tables, a sort with a callback.
-- `mix.lua N` does it N times.
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function counter(step)
  local n = 0
  return function() n = n + step return n end
end

local function words(text)
  local seen = {}
  for w in text:gmatch("%a+") do
    w = w:lower()
    seen[w] = (seen[w] or 0) + 1
  end
  return seen
end

local function queens(n)
  local columns, up, down, found = {}, {}, {}, 0
  local function place(row)
    if row > n then found = found + 1 return end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c]) then
        columns[c], up[row + c], down[row - c] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return found
end

local text = string.rep("The quick brown fox jumps over the lazy dog; pack my box with jugs. ", 20)
local result = {}
for round = 1, tonumber(arg and arg[1]) or 1 do
  local list = {}
  for i = 1, 3000 do list[i] = {key = i * 7919 % 3001, name = "n" .. i} end
  table.sort(list, function(a, b) return a.key < b.key end)
  local parts, step = {}, counter(3)
  for i = 1, 3000 do parts[#parts + 1] = string.format("%d:%s", step(), list[i].name) end
  local joined = table.concat(parts, ",")
  result = {fib(18), #joined, words(text).fox, queens(6), (joined:gsub("1", "x")):sub(1, 5)}
end
print(table.concat(result, " "))
