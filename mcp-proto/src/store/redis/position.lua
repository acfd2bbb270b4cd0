-- KEYS: topic.
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return newest and string.match(newest[1], '^%d+') or '0'
