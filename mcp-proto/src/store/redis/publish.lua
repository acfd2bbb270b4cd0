-- KEYS: topic. ARGV: message, keep, ttl, channel, bell.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local place, first
if newest then
  place = string.format('%.0f', tonumber(string.match(newest[1], '^%d+')) + 1)
  first = newest[2][2]
else
  local time = redis.call('TIME')
  place = time[1] .. string.format('%06d', time[2])
  first = place
end
local ttl = math.max(tonumber(ARGV[3]), redis.call('PTTL', KEYS[1]))
redis.call('XADD', KEYS[1], 'MAXLEN', '=', ARGV[2], place .. '-0', 'first', first, 'message', ARGV[1])
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ttl))
redis.call('PUBLISH', ARGV[4], ARGV[5])
return place
