import { type LeaseScript, scriptOf } from '../script/lease-script.js'

/** The operations of a member of a quorum, in addition to those of a server that stands alone. */
const operationsLua = `
-- Takes back a claim on a member of a quorum that found no majority: the record is again as the last holder left it. The
-- floor stays above the token of the claim.
function operations.retract(record, id)
  if not is_last(record, id) then return with_holder({ 'unreleased' }, record) end
  local previous = redis.call('HGET', record.key, 'previous') or ''
  local token, metadata, reason = string.match(previous, '^(%d+) ([^\\n]*)\\n?(.*)$')
  record.token = tonumber(token or 0)
  redis.call('HSET', record.key, 'metadata', metadata or '{}', 'reason', reason or '')
  record.has_reason = reason ~= nil and reason ~= ''
  return free(record)
end

-- Gives the grant in force the token that the members of a quorum have agreed on.
function operations.agree(record, args)
  local id, token = string.match(args, '^(%S+) (%S+)$')
  if not is_in_force(record, id) then return with_holder({ 'refused', '', '' }, record) end
  local raised = math.max(record.token, tonumber(token))
  raise_floor(raised)
  record.token, record.is_changed = raised, true
  return { 'granted', whole(record.token), '' }
end

-- Restores the grant of a majority of a quorum, under the agreed token. The token in the record of this member may be
-- larger, if a claim found no majority. The floor keeps later tokens above it.
function operations.repair(record, args)
  local id, ttl, token, metadata, previous, owner = string.match(args, '^(%S+) (%S+) (%S+) ([^\\n]*)\\n([^\\n]*)\\n(.*)$')
  if record.locked and not is_in_force(record, id) then return with_holder({ 'refused', '', '' }, record) end
  raise_floor(record.token)
  return grant(record, id, owner, ttl, metadata, tonumber(token), previous)
end

function operations.floor() return { 'floor', floor and whole(floor) or '', whole(micros) } end

-- Raises the floor to that of the other members of a quorum.
function operations.learn(record, least)
  floor = math.max(floor or 0, tonumber(least))
  redis.call('HSET', floor_key, 'floor', whole(floor))
  return 'learned'
end
`

const floorLua = `local floor_key = KEYS[#KEYS]
local floor = tonumber(redis.call('HGET', floor_key, 'floor') or nil)`

/** For a member of a quorum: the last key of each call is the floor of its fencing tokens. */
export const memberScript = scriptOf(floorLua, operationsLua)

/** With the keys of another lock: see `compatLua`. */
export function memberScriptWith(compat: string): LeaseScript {
  return scriptOf(floorLua, operationsLua + compat, true)
}
