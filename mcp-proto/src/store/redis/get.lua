-- KEYS: session. ARGV: ttl or 0, due.
local record = redis.call('HMGET', KEYS[1], 'data', 'version')
if not record[1] then return false end
if ARGV[1] ~= '0' and redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return record
