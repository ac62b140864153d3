-- wrk -s load.lua URL -- <kind> <nodes> <authorization or -> <query> [<mutation>]
-- Ids vary from request to request, and so does what stands for an @; with a mutation every tenth request is one.
-- One response of 101 is looked at for errors.
local types = {"person", "company", "document", "event", "place", "concept", "task", "message", "product", "metric"}
local kind, nodes, query, mutation, count, salt = "point", 1, "", nil, 0, ""
local by_type = {list = true, sorted = true, related = true, aggregate = true}
local seen, bad = 0, 0

function init(args)
  kind, nodes, query = args[1], tonumber(args[2]), args[4]:gsub('"', '\\"')
  mutation = args[5]
  math.randomseed(os.time())
  salt = tostring(os.time()) .. tostring(math.random(1e6))
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  if args[3] ~= "-" then wrk.headers["Authorization"] = args[3] end
end

local function variables(kind)
  if kind == "point" or kind == "cold" or kind == "mix" then return string.format('{"id":"n%07d"}', math.random(0, nodes - 1)) end
  if by_type[kind] then return string.format('{"type":"%s"}', types[math.random(#types)]) end
  if kind == "facts" then return string.format('{"name":"subject %d"}', math.random(0, 99)) end
  if kind == "nested" or kind == "readme" then return string.format('{"id":"n%07d"}', math.random(0, math.min(nodes, 1000) - 1)) end
  local made = '{"id":"w%s-%d","type":"person","properties":{"name":"new %d","score":1.5,"tags":["a","b"]},"data":{"source":"wrk"}}'
  return string.format(made, salt, count, count)
end

function request()
  count = count + 1
  if mutation and count % 10 == 0 then
    return wrk.format(nil, nil, nil, '{"query":"' .. mutation .. '","variables":' .. variables("add") .. '}')
  end
  local text = kind == "cold" and query:gsub("@", salt .. count) or query
  return wrk.format(nil, nil, nil, '{"query":"' .. text .. '","variables":' .. variables(kind) .. '}')
end

function response(status, headers, body)
  seen = seen + 1
  if seen % 101 ~= 1 then return end
  if status ~= 200 or not body:find('"data"', 1, true) or body:find('"errors"', 1, true) then
    bad = bad + 1
    io.stderr:write("BAD ", status, " ", body:sub(1, 300), "\n")
  end
end
