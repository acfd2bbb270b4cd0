-- KEYS: session. ARGV: data, ttl.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'data', ARGV[1], 'version', time[1] .. string.format('%06d', time[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
