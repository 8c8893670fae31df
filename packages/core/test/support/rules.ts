import { TimeoutSettings } from '@leasehold/core'
import type { LeaseRules } from '../../src/engine/lease-rules.js'

const timeouts = { heartbeatTimeout: 10_000, heartbeatInterval: 1_000, operationTimeout: 1_000 }

/** The rules of a lease with a ttl of 10 s, a heartbeat every second and an operation timeout of one second. */
export const rules: LeaseRules = {
  name: 'job',
  owner: 'me',
  kind: 'test',
  ttl: 10_000,
  heartbeatInterval: 1_000,
  operationTimeout: 1_000,
  maxHold: Number.POSITIVE_INFINITY,
  fenceReserve: 0,
  plannedTimes: new TimeoutSettings(timeouts),
  manual: false,
  exact: false,
  watched: false,
  ordered: false,
  observed: false,
}
