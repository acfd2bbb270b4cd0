-- KEYS: topics. ARGV: a place for each, page, bytes.
local time = redis.call('TIME')
local ceiling = time[1] .. string.format('%06d', time[2])
local page, bytes = ARGV[#KEYS + 1], tonumber(ARGV[#KEYS + 2])
local found = {}
for i, key in ipairs(KEYS) do
  local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  local first, last, flat = '0', '0', {}
  if newest then
    first, last = newest[2][2], string.match(newest[1], '^%d+')
    -- Nothing new is the common case.
    if last ~= ARGV[i] then
      local size = 0
      for _, entry in ipairs(redis.call('XRANGE', key, '(' .. ARGV[i] .. '-0', '+', 'COUNT', page)) do
        local message = entry[2][4]
        if message then
          if size >= bytes then break end
          flat[#flat + 1] = string.match(entry[1], '^%d+')
          flat[#flat + 1] = message
          size = size + #message
        end
      end
    end
  end
  found[i] = { first, last, ceiling, flat }
end
return found
