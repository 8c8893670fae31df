import { wallClock } from '../wall-clock.js'
import { identityIn, type Layout } from './layout.js'

/** How far ahead of our clock a time may be without a word in the log, in milliseconds. */
const ODDLY_AHEAD = 86_400_000

/**
 * The custom resources of Akka's and Pekko's Kubernetes leases: `spec.owner`, empty where it is free, and `spec.time`,
 * the wall clock of its last write in milliseconds. Neither says for how long the lease lasts: of what a JVM wrote,
 * that is `foreignDuration`, the `heartbeat-timeout` of its settings.
 */
export function jvmLayout(group: 'akka.io' | 'pekko.apache.org', foreignDuration: number): Layout {
  return {
    resource: { group, version: 'v1', plural: 'leases', kind: 'Lease' },
    manifest: `leases.${group}.yaml`,
    holderOf: (spec) => identityIn(spec.owner),
    durationOf: (_, noted) => noted ?? foreignDuration,
    transitionsOf: () => undefined,
    specOf: (previous, { holder, now }) => {
      // The server keeps the version of an object that is written unchanged, and a heartbeat must give it a new one.
      const time = previous?.time === now ? now + 1 : now
      return { ...previous, owner: holder, time }
    },
    odditiesOf: ({ time }) => {
      const isTime = typeof time === 'number' && time >= 0 && time <= wallClock() + ODDLY_AHEAD
      return isTime ? [] : [`time is ${JSON.stringify(time)}`]
    },
  }
}
