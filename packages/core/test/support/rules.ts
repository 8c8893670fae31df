import type { LeaseRules } from '../../src/engine/lease-rules.js'

/** What the engine knows of a lease: a ttl of 10 s, a heartbeat every second, which has a second to be answered. */
export const rules: LeaseRules = {
  name: 'job',
  owner: 'me',
  kind: 'test',
  ttl: 10_000,
  heartbeatInterval: 1_000,
  operationTimeout: 1_000,
  maxHold: Number.POSITIVE_INFINITY,
  watched: false,
  ordered: false,
}
