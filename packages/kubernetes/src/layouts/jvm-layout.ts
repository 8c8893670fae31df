import { identityIn, isOddlyLate, type Layout } from './layout.js'

/** The API group of the custom resources of Akka or of Pekko. */
export type JvmGroup = 'akka.io' | 'pekko.apache.org'

/**
 * The custom resources of Akka's and Pekko's Kubernetes leases: `spec.owner`, empty when free, and `spec.time`, the wall
 * clock of the last write in milliseconds. They have no duration: for a record of a JVM it is `foreignDuration`, the
 * `heartbeat-timeout` of its settings. A write by a JVM drops all annotations.
 */
export function jvmLayout(group: JvmGroup, foreignDuration: number): Layout {
  return {
    resource: { group, version: 'v1', plural: 'leases', kind: 'Lease', manifest: `leases.${group}.yaml` },
    losesAnnotations: true,
    heartbeatField: 'time',
    holderOf: (spec) => identityIn(spec.owner),
    durationOf: (_, noted) => noted ?? foreignDuration,
    transitionsOf: () => undefined,
    specOf: (previous, { holder, now }) => {
      // A heartbeat needs a new version, and the server keeps the version of an unchanged object.
      const time = previous?.time === now ? now + 1 : now
      return { ...previous, owner: holder, time }
    },
    odditiesOf: ({ time }) => {
      const isTime = typeof time === 'number' && time >= 0 && !isOddlyLate(time)
      return isTime ? [] : [`time is ${JSON.stringify(time)}`]
    },
  }
}
