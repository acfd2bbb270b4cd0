-- KEYS: topic. ARGV: ttl, channel, bell.
-- An entry without a message takes the next place, so that readers learn of it.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not newest or not newest[2][4] then return 0 end
local place = string.format('%.0f', tonumber(string.match(newest[1], '^%d+')) + 1)
redis.call('XADD', KEYS[1], 'MAXLEN', '=', 1, place .. '-0', 'first', newest[2][2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
